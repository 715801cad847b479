//! Teams on simulated boards: results on every kind of network, boards that die, restart and come late.

use std::cell::RefCell;
use std::rc::Rc;

use heapless::Vec as Fixed;
use hopwise_app::{AppPort, Mesh, Network, Node};
use hopwise_sim::programs::Program;
use hopwise_sim::{Settings, simulate_programs};
use hopwise_team::{Broken, Folded, Group, Team};

const PORT: AppPort = AppPort(20);

/// What came to pass: board, time, result.
type Log<T> = Rc<RefCell<Vec<(Node, u64, Result<T, Broken>)>>>;

fn settings(network: &str, events: Option<&str>, seconds: u64) -> Settings {
    Settings {
        network: Some(network.into()),
        events: events.map(Into::into),
        duration: Some(format!("{seconds}s").parse().unwrap()),
        ..Settings::default()
    }
}

/// Maps x -> a x + b: they do not commute.
fn compose(first: (u32, u32), second: (u32, u32)) -> (u32, u32) {
    let factor = first.0.wrapping_mul(second.0);
    (factor, second.0.wrapping_mul(first.1).wrapping_add(second.1))
}

fn map(node: Node) -> (u32, u32) {
    (2 * node as u32 + 3, 7 * node as u32 + 1)
}

#[test]
fn values_are_folded_in_node_order_on_every_kind_of_network() {
    for network in [
        "rdn(ring(3),1)",
        "wk(3,2)",
        "re(complete(2),complete(3),2)",
        "hypercube(4)",
        "rcr(1,3,2)",
        "petersen",
    ] {
        let nodes = network.parse::<Network>().unwrap().nodes();
        let log: Log<Folded<(u32, u32)>> = Rc::default();
        let written = log.clone();
        let run = settings(network, None, 20).run().unwrap();
        let account = simulate_programs(&run, &move |mesh: Mesh<'_>| {
            let log = written.clone();
            Box::pin(async move {
                // Not all at the same time.
                mesh.sleep(1_000_000 + 77_000 * (mesh.address() % 5)).await;
                let mut team = Team::of_all(mesh, PORT).unwrap();
                for tag in 1..=2 {
                    team.barrier(2 * tag).await.unwrap();
                    let folded = team.fold(2 * tag + 1, map(mesh.address()), compose).await;
                    log.borrow_mut().push((mesh.address(), mesh.now(), folded));
                }
                std::future::pending().await
            })
        });
        assert_eq!(account.unwrap().violation, None, "{network}");
        let total = (0..nodes).map(map).reduce(compose).unwrap();
        let log = log.borrow();
        assert_eq!(log.len() as u64, 2 * nodes, "{network}");
        for (node, _, folded) in log.iter() {
            let before = (0..*node).map(map).reduce(compose);
            assert_eq!(*folded, Ok(Folded { before, total }), "{network}, node {node}");
        }
    }
}

/// Boards of one cluster work together, and those of another do not notice.
#[test]
fn groups_are_sub_networks() {
    let log: Log<u64> = Rc::default();
    let written = log.clone();
    let run = settings("rdn(ring(3),1)", None, 10).run().unwrap();
    simulate_programs(&run, &move |mesh: Mesh<'_>| {
        let log = written.clone();
        Box::pin(async move {
            mesh.sleep(1_000_000).await;
            let group = Group {
                first: mesh.address() / 3 * 3,
                network: "ring(3)".parse().unwrap(),
            };
            let mut team = Team::of_group(mesh, PORT, group).unwrap();
            let sum = team.all_reduce(1, mesh.address(), |a, b| a + b).await;
            log.borrow_mut().push((mesh.address(), mesh.now(), sum));
            let first = team.broadcast(2, 1, 100 + mesh.address()).await;
            log.borrow_mut().push((mesh.address(), mesh.now(), first));
            std::future::pending().await
        })
    })
    .unwrap();
    let log = log.borrow();
    assert_eq!(log.len(), 36);
    for (node, _, found) in log.iter() {
        let first = node / 3 * 3;
        assert!(
            *found == Ok(3 * first + 3) || *found == Ok(100 + first + 1),
            "{node}: {found:?}"
        );
    }
}

/// A board dies during calls that follow each other, comes back, and joins. Nobody hangs, and nobody has a wrong sum.
#[test]
fn a_board_that_dies_breaks_calls_within_a_bounded_time_and_joins_again() {
    let nodes = 18;
    for victim in [1u64, 9, 17] {
        let log: Log<(u32, u64)> = Rc::default();
        let written = log.clone();
        let events = format!("5s off {victim} for 3s");
        let run = settings("rdn(ring(3),1)", Some(&events), 30).run().unwrap();
        simulate_programs(&run, &move |mesh: Mesh<'_>| {
            let log = written.clone();
            Box::pin(async move {
                mesh.sleep(1_000_000).await;
                let mut team = Team::of_all(mesh, PORT).unwrap();
                team.set_patience(500_000);
                let mut tag = 0;
                loop {
                    tag += 1;
                    let begun = mesh.now();
                    let found = team.all_reduce(tag, mesh.address() + 1, |a, b| a + b).await;
                    let took = mesh.now() - begun;
                    if let Err(Broken::Behind(newest)) = found {
                        // The next call is the one that the others are at.
                        tag = newest - 1;
                    }
                    log.borrow_mut()
                        .push((mesh.address(), took, found.map(|sum| (tag, sum))));
                    mesh.sleep(100_000).await;
                }
            })
        })
        .unwrap();
        let log = log.borrow();
        let expected = nodes * (nodes + 1) / 2;
        let sums = log.iter().filter_map(|(_, _, found)| found.ok());
        assert!(sums.clone().all(|(_, sum)| sum == expected), "victim {victim}");
        assert!(
            log.iter().any(|(_, _, found)| found.is_err()),
            "victim {victim}: nobody noticed"
        );
        let longest = log.iter().map(|(_, took, _)| *took).max().unwrap();
        assert!(longest <= 1_500_000, "victim {victim}: a call took {longest} us");
        for node in 0..nodes {
            let last = log.iter().rev().find(|(board, ..)| *board == node).unwrap();
            assert!(last.2.is_ok(), "victim {victim}: node {node} ended with {:?}", last.2);
        }
    }
}

/// What is added up: 1,024 bytes a board, eight messages.
const PARTS: u32 = 8;
type Part = Fixed<u8, 128>;

fn part(node: Node, number: u32) -> Part {
    (0..128u32).map(|index| (index + number + node as u32) as u8).collect()
}

fn add(mut a: Part, b: Part) -> Part {
    a.iter_mut().zip(&b).for_each(|(a, b)| *a = a.wrapping_add(*b));
    a
}

/// The times at which boards had the sums, of a program that begins at one second and is watched for so many microseconds.
fn ends(network: &str, watched: u64, program: &Program<'_>, ends: &Rc<RefCell<Vec<u64>>>) -> Vec<u64> {
    let settings = Settings {
        duration: Some(format!("{}us", BEGIN + watched).parse().unwrap()),
        ..settings(network, None, 0)
    };
    simulate_programs(&settings.run().unwrap(), program).unwrap();
    ends.take().iter().map(|end| end - BEGIN).collect()
}

const BEGIN: u64 = 1_000_000;

/// Against everyone sending to node 0, and node 0 to everyone.
#[test]
fn sums_of_1024_bytes_are_at_least_three_times_as_fast_as_the_naive_way() {
    let network = "rdn(ring(3),2)";
    const NODES: Node = 648;
    let expected = |number| (0..NODES).map(|node| part(node, number)).reduce(add).unwrap();
    let done: Rc<RefCell<Vec<u64>>> = Rc::default();
    let written = done.clone();
    let team = ends(
        network,
        4_000_000,
        &move |mesh: Mesh<'_>| {
            let ends = written.clone();
            Box::pin(async move {
                mesh.sleep_until(BEGIN).await;
                let mut team = Team::of_all(mesh, PORT).unwrap();
                team.set_patience(20_000_000);
                for number in 0..PARTS {
                    let sum = team
                        .all_reduce_any_order(number, part(mesh.address(), number), add)
                        .await;
                    assert_eq!(sum, Ok(expected(number)));
                }
                ends.borrow_mut().push(mesh.now());
                std::future::pending().await
            })
        },
        &done,
    );
    assert_eq!(team.len() as Node, NODES, "not all boards have the sums");
    let team = team.into_iter().max().unwrap();
    println!("{network}, 1,024 bytes a board: {team} us");
    let written = done.clone();
    let naive = ends(
        network,
        3 * team,
        &move |mesh: Mesh<'_>| {
            let ends = written.clone();
            Box::pin(async move {
                let mut receiver = mesh.receiver(PORT).unwrap();
                mesh.sleep_until(BEGIN).await;
                let labelled = |number: u32, part: &Part| {
                    let mut message: Fixed<u8, 129> = Fixed::new();
                    message.push(number as u8).unwrap();
                    message.extend_from_slice(part).unwrap();
                    message
                };
                if mesh.address() > 0 {
                    for number in 0..PARTS {
                        let message = labelled(number, &part(mesh.address(), number));
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
                        mesh.broadcast(PORT, &labelled(number, sum)).await.unwrap();
                    }
                }
                ends.borrow_mut().push(mesh.now());
                std::future::pending().await
            })
        },
        &done,
    );
    assert!(
        (naive.len() as Node) < NODES,
        "within {} us the naive way is done, too",
        3 * team
    );
}
