//! Cables are pulled and boards die and restart while all boards make one call after the other, of every kind and two at once.

use embassy_futures::join::join;
use hopwise_app::{Mesh, Network, Node};
use hopwise_core::collective::{Mesh as Dimensions, Ring};
use hopwise_team::{Team, TeamError};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::support::{Log, PORT, compose, noted, settings};

const TIMEOUT: u64 = 300_000;
/// A call from board to board ends within four times that; and neighbors are told.
const LONGEST: u64 = 4 * TIMEOUT + 300_000;
const BLOCK: usize = 60;
const NETWORKS: [&str; 4] = ["rdn(ring(3),1)", "hypercube(3)", "torus(3,3)", "petersen"];

/// Three to six faults between 2 and 7 seconds; at 8 all is whole again.
fn script(network: &Network, rng: &mut Xoshiro256PlusPlus) -> String {
    let mut events = Vec::new();
    for _ in 0..rng.random_range(3..=6) {
        let (at, node) = (rng.random_range(2_000..7_000), rng.random_range(0..network.nodes()));
        let away = rng.random_range(1..1_000);
        events.push(match rng.random_range(0..3) {
            0 => {
                let port = rng.random_range(0..network.degree(node).unwrap());
                format!("{at}ms cut {node}.{port}; 8s plug {node}.{port}")
            }
            1 => format!("{at}ms off {node} for {away}ms"),
            _ => format!("{at}ms reset {node}"),
        });
    }
    events.join("; ")
}

fn value(tag: u32, node: Node) -> u32 {
    (tag.wrapping_mul(0x9e37_79b9) ^ (node as u32).wrapping_mul(0x85eb_ca6b)).rotate_left(13)
}

/// What the boards do by a tag; whether the result is right.
async fn one(team: &Team<'_>, tag: u32, network: &Network) -> Result<bool, TeamError> {
    let (place, nodes) = (team.place()?, network.nodes());
    let root = Node::from(tag) % nodes;
    let own = value(tag, place);
    let all: Vec<u32> = (0..nodes).map(|node| value(tag, node)).collect();
    let map = |node| (value(tag, node), node as u32);
    let mut got = vec![0; nodes as usize];
    let add = |_, own: &mut [u32; 1], theirs: &[u32; 1]| own[0] = own[0].wrapping_add(theirs[0]);
    Ok(match tag % 16 {
        0 => team.all_reduce(tag, map(place), compose).await? == (0..nodes).map(map).reduce(compose).unwrap(),
        1 => {
            let sum = team.all_reduce_any_order(tag, own, u32::wrapping_add).await?;
            sum == all.iter().copied().reduce(u32::wrapping_add).unwrap()
        }
        2 => team.exclusive_scan(tag, map(place), compose).await? == (0..place).map(map).reduce(compose),
        3 => {
            let total = team.reduce(tag, root, own, u32::wrapping_add).await?;
            total == (place == root).then(|| all.iter().copied().reduce(u32::wrapping_add).unwrap())
        }
        4 => team.broadcast(tag, root, own).await? == all[root as usize],
        5 => {
            team.gather(tag, root, own, &mut got).await?;
            place != root || got == all
        }
        6 => team.scatter(tag, root, &all).await? == own,
        7 => {
            team.all_gather(tag, own, &mut got).await?;
            got == all
        }
        8 => {
            let to = |from: Node| (0..nodes).map(move |node| value(tag, from) ^ node as u32);
            team.all_to_all(tag, &to(place).collect::<Vec<_>>(), &mut got).await?;
            got == all.iter().map(|value| value ^ place as u32).collect::<Vec<_>>()
        }
        9 => {
            let from = (place + nodes - root) % nodes;
            team.permute(tag, (place + root) % nodes, own).await? == all[from as usize]
        }
        10 => {
            let block = |node: Node| core::array::from_fn::<u32, BLOCK, _>(|index| value(index as u32, node ^ root));
            let mut own = block(place);
            team.sort(tag, &mut own).await?;
            let mut all: Vec<u32> = (0..nodes).flat_map(block).collect();
            all.sort_unstable();
            own == all[place as usize * BLOCK..][..BLOCK]
        }
        11 => {
            let before = (0..nodes).find(|&node| Ring::new(network).next(node) == Ok(place));
            team.shift(tag, own).await? == all[before.unwrap() as usize]
        }
        // The sum of all by a butterfly, from either end.
        which @ (12 | 13) if nodes.is_power_of_two() => {
            let mut sum = [own; 1];
            match which {
                12 => team.ascend(tag, &mut sum, add).await?,
                _ => team.descend(tag, &mut sum, add).await?,
            }
            sum[0] == all.iter().copied().reduce(u32::wrapping_add).unwrap()
        }
        14 if Dimensions::new(network).is_some() => {
            let mesh = Dimensions::new(network).unwrap();
            let dimension = root % mesh.dimensions();
            let before = (0..nodes).find(|&node| mesh.next(node, dimension) == Ok(Some(place)));
            let came = team.shift_along(tag, dimension, own).await?;
            came == before.map(|before| all[before as usize])
        }
        15 => team.scan(tag, map(place), compose).await? == (0..=place).map(map).reduce(compose).unwrap(),
        _ => {
            team.barrier(tag).await?;
            true
        }
    })
}

/// A board's program: call after call, every fourth together with the one after it.
async fn go_on(mesh: Mesh<'_>, log: Log<(u32, bool)>) {
    mesh.sleep(1_000_000).await;
    let mut team = Team::of_all(mesh, PORT).unwrap();
    team.set_timeout(TIMEOUT);
    let network = mesh.network();
    let mut tag = 1;
    loop {
        let begun = mesh.uptime();
        let write = |tag, result: Result<bool, TeamError>| {
            let took = mesh.uptime() - begun;
            let noted = result.map(|right| (tag, right));
            log.borrow_mut().push((mesh.address(), took, noted));
        };
        if tag % 4 == 0 {
            let (first, second) = join(one(&team, tag, network), one(&team, tag + 1, network)).await;
            write(tag, first);
            write(tag + 1, second);
            let next = |tag, result: Result<_, TeamError>| result.err().map_or(tag + 1, |broken| broken.next_tag(tag));
            tag = next(tag, first).max(next(tag + 1, second));
        } else {
            let result = one(&team, tag, network).await;
            write(tag, result);
            tag = result.err().map_or(tag + 1, |broken| broken.next_tag(tag));
        }
    }
}

/// One run: no result is wrong, no call takes too long, and in the end all boards have results again. How many calls broke.
fn trial(expression: &str, events: &str, seconds: u64) -> usize {
    let network: Network = expression.parse().unwrap();
    let shown = format!("{expression}, {events:?}");
    let settings = settings(expression, Some(events), seconds);
    let log = noted(&settings, &|mesh, log| Box::pin(go_on(mesh, log)));
    for (node, took, result) in &log {
        assert!(!matches!(result, Ok((_, false))), "{shown}: node {node} has {result:?}");
        assert!(*took <= LONGEST, "{shown}: node {node} took {took} us for {result:?}");
    }
    for node in 0..network.nodes() {
        let last: Vec<_> = log.iter().rev().filter(|(board, ..)| *board == node).take(5).collect();
        assert!(
            last.len() == 5 && last.iter().all(|(_, _, result)| result.is_ok()),
            "{shown}: node {node} ended with {last:?}"
        );
    }
    log.iter().filter(|(_, _, result)| result.is_err()).count()
}

pub(crate) fn all(seeds: std::ops::Range<u64>) {
    let mut broken = 0;
    for seed in seeds.clone() {
        let expression = NETWORKS[seed as usize % NETWORKS.len()];
        let events = script(
            &expression.parse().unwrap(),
            &mut Xoshiro256PlusPlus::seed_from_u64(seed),
        );
        broken += trial(expression, &events, 14);
    }
    println!("{broken} calls broke");
    assert!(
        broken > seeds.count(),
        "faults broke {broken} calls only: they do not come during calls"
    );
}

#[test]
fn without_faults_every_call_has_its_result() {
    for expression in [
        "rsn(2,hypercube(2))",
        "re(complete(2),complete(3),2)",
        "path(5)",
        "star(6)",
        "complete(2)",
    ] {
        assert_eq!(trial(expression, "", 6), 0, "{expression}");
    }
}

#[test]
fn faults_break_calls_in_time_and_never_results() {
    all(1..31);
}
