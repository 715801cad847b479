//! Results on every kind of network, groups, a board that dies and comes back, calls that differ.

use embassy_futures::join::join5;
use hopwise_app::{Mesh, Network, Node};
use hopwise_team::{Folded, Group, Team, TeamError};

use crate::support::{Log, PORT, compose, noted, of, settings};

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
        let log = noted(&settings(network, None, 20), &|mesh: Mesh<'_>, log: Log<_>| {
            Box::pin(async move {
                // Not all at the same time.
                mesh.sleep(1_000_000 + 77_000 * (mesh.address() % 5)).await;
                let team = Team::of_all(mesh, PORT).unwrap();
                for tag in 1..=2 {
                    team.barrier(2 * tag).await.unwrap();
                    let folded = team.fold(2 * tag + 1, map(mesh.address()), compose).await;
                    log.borrow_mut().push((mesh.address(), mesh.uptime(), folded));
                }
            })
        });
        let total = (0..nodes).map(map).reduce(compose).unwrap();
        assert_eq!(log.len() as u64, 2 * nodes, "{network}");
        for (node, _, folded) in &log {
            let before = (0..*node).map(map).reduce(compose);
            assert_eq!(*folded, Ok(Folded { before, total }), "{network}, node {node}");
        }
    }
}

/// The boards of a group work together, and those of another do not notice.
fn check_groups(network: &'static str, group: impl Fn(Node) -> Group + Copy + 'static) {
    let log = noted(&settings(network, None, 10), &move |mesh: Mesh<'_>, log: Log<u64>| {
        Box::pin(async move {
            mesh.sleep(1_000_000).await;
            let group = group(mesh.address());
            let team = Team::of_group(mesh, PORT, group).unwrap();
            let sum = team.all_reduce(1, mesh.address(), |a, b| a + b).await;
            log.borrow_mut().push((mesh.address(), mesh.uptime(), sum));
            let second = team.broadcast(2, 1, 100 + mesh.address()).await;
            log.borrow_mut().push((mesh.address(), mesh.uptime(), second));
            let mut sorted = [1000 + group.network.nodes() - team.place().unwrap()];
            let sorted = team.sort(3, &mut sorted).await.map(|()| sorted[0]);
            log.borrow_mut().push((mesh.address(), mesh.uptime(), sorted));
        })
    });
    let nodes = network.parse::<Network>().unwrap().nodes();
    assert_eq!(log.len() as u64, 3 * nodes, "{network}");
    for node in 0..nodes {
        let group = group(node);
        let boards: Vec<Node> = (0..nodes).filter(|&board| group.place(board).is_some()).collect();
        let found = of(node, &log);
        let place = group.place(node).unwrap();
        let expected = [boards.iter().sum(), 100 + boards[1], 1001 + place];
        assert_eq!(found, expected.map(Ok), "{network}, node {node}");
    }
}

/// A cluster, a column, a cube of rings' cube, the pivots of a phase: digits of the address.
#[test]
fn groups_are_sub_networks() {
    let group = |first, step, network: &str| Group {
        first,
        step,
        network: network.parse().unwrap(),
    };
    check_groups("rdn(ring(3),1)", move |board| group(board / 3 * 3, 1, "ring(3)"));
    check_groups("torus(3,4)", move |board| group(board % 3, 3, "ring(4)"));
    check_groups("rcr(2,2,2)", move |board| match board % 2 {
        0 => group(board % 8, 8, "hypercube(2)"),
        _ => group(board / 8 * 8 + 1, 2, "hypercube(2)"),
    });
    check_groups("re(ring(4),complete(3),2)", move |board| {
        group(board % 12, 12, "ring(4)")
    });
}

/// A board dies during calls that follow each other, comes back, and joins. Nobody hangs, and nobody has a wrong sum.
#[test]
fn a_board_that_dies_breaks_calls_within_a_bounded_time_and_joins_again() {
    let nodes = 18;
    for victim in [1u64, 9, 17] {
        let events = format!("5s off {victim} for 3s");
        let settings = settings("rdn(ring(3),1)", Some(&events), 30);
        let log = noted(&settings, &|mesh: Mesh<'_>, log: Log<(u32, u64)>| {
            Box::pin(async move {
                mesh.sleep(1_000_000).await;
                let mut team = Team::of_all(mesh, PORT).unwrap();
                team.set_timeout(500_000);
                let mut tag = 0;
                loop {
                    tag += 1;
                    let begun = mesh.uptime();
                    let found = team.all_reduce(tag, mesh.address() + 1, |a, b| a + b).await;
                    let took = mesh.uptime() - begun;
                    if let Err(TeamError::Behind(newest)) = found {
                        // The next call is the one that the others are at.
                        tag = newest - 1;
                    }
                    log.borrow_mut()
                        .push((mesh.address(), took, found.map(|sum| (tag, sum))));
                    mesh.sleep(100_000).await;
                }
            })
        });
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

/// Boards that make different calls by one tag all hear of it.
#[test]
fn a_call_that_differs_has_no_result() {
    let log = noted(&settings("ring(4)", None, 10), &|mesh: Mesh<'_>, log: Log<u64>| {
        Box::pin(async move {
            mesh.sleep(1_000_000).await;
            let team = Team::of_all(mesh, PORT).unwrap();
            let result = match mesh.address() {
                2 => team.barrier(1).await.map(|()| 0),
                _ => team.all_reduce(1, mesh.address(), |a, b| a + b).await,
            };
            log.borrow_mut().push((mesh.address(), mesh.uptime(), result));
            // By the next tag all is well.
            let result = team.all_reduce(2, mesh.address(), |a, b| a + b).await;
            log.borrow_mut().push((mesh.address(), mesh.uptime(), result));
        })
    });
    let of = |right: bool| log.iter().filter(|(_, _, result)| result.is_ok() == right).count();
    assert_eq!((of(false), of(true)), (4, 4), "{log:?}");
    assert!(
        log.iter()
            .any(|(_, _, result)| matches!(result, Err(TeamError::Differs(_)))),
        "{log:?}"
    );
    assert!(
        log.iter().all(|(_, _, result)| result.is_err() || *result == Ok(6)),
        "{log:?}"
    );
}

#[test]
fn tags_grow_and_only_so_many_calls_are_under_way() {
    let log = noted(&settings("path(2)", None, 10), &|mesh: Mesh<'_>, log: Log<()>| {
        Box::pin(async move {
            mesh.sleep(1_000_000).await;
            let team = Team::of_all(mesh, PORT).unwrap();
            let five = join5(
                team.barrier(1),
                team.barrier(2),
                team.barrier(3),
                team.barrier(4),
                team.barrier(5),
            );
            let results = <[_; 5]>::from(five.await);
            for result in results.into_iter().chain([team.barrier(4).await]) {
                log.borrow_mut().push((mesh.address(), mesh.uptime(), result));
            }
        })
    });
    for node in 0..2 {
        let results = of(node, &log);
        let expected = [
            Ok(()),
            Ok(()),
            Ok(()),
            Ok(()),
            Err(TeamError::TooMany),
            Err(TeamError::Behind(5)),
        ];
        assert_eq!(results, expected, "node {node}");
    }
}
