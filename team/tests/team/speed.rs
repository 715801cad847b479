//! How long it takes, against the naive way.

use embassy_futures::join::join4;
use heapless::Vec as Fixed;
use hopwise_app::{Mesh, Node};
use hopwise_sim::Settings;
use hopwise_team::Team;

use crate::support::{Log, Noting, PORT, noted, settings};

/// What is added up: 1,024 bytes a board, eight messages.
const PARTS: u32 = 8;
const AT_ONCE: usize = 4;
type Part = Fixed<u8, 128>;

fn part(node: Node, number: u32) -> Part {
    (0..128u32).map(|index| (index + number + node as u32) as u8).collect()
}

fn add(mut a: Part, b: Part) -> Part {
    a.iter_mut().zip(&b).for_each(|(a, b)| *a = a.wrapping_add(*b));
    a
}

/// The times at which boards had the sums, of a program that begins at one second and is watched for so many microseconds.
fn ends(network: &str, watched: u64, program: &Noting<'_, ()>) -> Vec<u64> {
    let settings = Settings {
        duration: Some(format!("{}us", BEGIN + watched).parse().unwrap()),
        ..settings(network, None, 0)
    };
    let ends = noted(&settings, program);
    ends.iter().map(|(_, end, _)| end - BEGIN).collect()
}

const BEGIN: u64 = 1_000_000;

/// Against everyone sending to node 0, and node 0 to everyone.
#[test]
fn sums_of_1024_bytes_are_at_least_three_times_as_fast_as_the_naive_way() {
    let network = "rdn(ring(3),2)";
    const NODES: Node = 648;
    let expected = |number| (0..NODES).map(|node| part(node, number)).reduce(add).unwrap();
    let team = ends(network, 4_000_000, &|mesh: Mesh<'_>, log: Log<()>| {
        Box::pin(async move {
            mesh.sleep_until(BEGIN).await;
            let mut team = Team::of_all(mesh, PORT).unwrap();
            team.set_timeout(20_000_000);
            let sum = |number| team.all_reduce_any_order(number, part(mesh.address(), number), add);
            for first in (0..PARTS).step_by(AT_ONCE) {
                let at_once = join4(sum(first), sum(first + 1), sum(first + 2), sum(first + 3)).await;
                for (number, sum) in (first..).zip(<[_; AT_ONCE]>::from(at_once)) {
                    assert_eq!(sum, Ok(expected(number)));
                }
            }
            log.borrow_mut().push((mesh.address(), mesh.uptime(), Ok(())));
        })
    });
    assert_eq!(team.len() as Node, NODES, "not all boards have the sums");
    let team = team.into_iter().max().unwrap();
    println!("{network}, 1,024 bytes a board: {team} us");
    let naive = ends(network, 3 * team, &|mesh: Mesh<'_>, log: Log<()>| {
        Box::pin(async move {
            let mut receiver = mesh.receiver(PORT).unwrap();
            mesh.sleep_until(BEGIN).await;
            let labeled = |number: u32, part: &Part| {
                let mut message: Fixed<u8, 129> = Fixed::new();
                message.push(number as u8).unwrap();
                message.extend_from_slice(part).unwrap();
                message
            };
            if mesh.address() > 0 {
                for number in 0..PARTS {
                    let message = labeled(number, &part(mesh.address(), number));
                    mesh.send_confirmed(0, PORT, &message).await.unwrap();
                }
                for _ in 0..PARTS {
                    receiver.recv().await;
                }
            } else {
                let mut sums: Vec<Part> = (0..PARTS).map(|number| part(0, number)).collect();
                for _ in 0..PARTS * (NODES as u32 - 1) {
                    let incoming = receiver.recv().await;
                    let number = usize::from(incoming.bytes()[0]);
                    sums[number] = add(sums[number].clone(), Part::from_slice(&incoming.bytes()[1..]).unwrap());
                }
                for (number, sum) in (0..).zip(&sums) {
                    assert_eq!(*sum, expected(number));
                    mesh.broadcast(PORT, &labeled(number, sum)).await.unwrap();
                }
            }
            log.borrow_mut().push((mesh.address(), mesh.uptime(), Ok(())));
        })
    });
    assert!(
        (naive.len() as Node) < NODES,
        "within {} us the naive way is done, too",
        3 * team
    );
}
