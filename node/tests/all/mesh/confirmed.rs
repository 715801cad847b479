//! Confirmed packets: delivered once, and the sender learns what became of each.

use super::harness::{Got, Mesh};
use crate::support::*;

/// The number of the first confirmed packet in the first life of a board, which depends on its epoch, 1.
const FIRST: u32 = 0x9e37_79b9_u32.rotate_left(16);

/// What became of packets, by their number after the [`FIRST`].
fn outcomes(mesh: &Mesh, node: Node) -> Vec<(u32, Outcome)> {
    let outcomes = mesh.board(node).outcomes.iter();
    outcomes
        .map(|&(number, outcome)| (number.wrapping_sub(FIRST), outcome))
        .collect()
}

#[test]
fn each_is_delivered_once_and_confirmed() {
    for expression in ["path(4)", "ring(5)", "rdn(ring(3),1)", "hypercube(3)"] {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        for round in 0..3 {
            for from in 0..nodes {
                let to = (from + nodes / 2) % nodes;
                let number = mesh.confirmed(from, to, &[round, from as u8]).unwrap();
                assert_eq!(number, FIRST + u32::from(round));
            }
            mesh.run(200 * MILLISECOND);
        }
        for from in 0..nodes {
            let to = (from + nodes / 2) % nodes;
            let delivered = [0, 1, 2].map(|number| (number, Outcome::Delivered));
            assert_eq!(outcomes(&mesh, from), delivered, "{expression}");
            let payloads = [0, 1, 2].map(|round| (from, vec![round, from as u8]));
            let got = mesh.board(to).got.iter();
            let got: Vec<_> = got.map(|got| (got.source, got.payload.clone())).collect();
            assert_eq!(got, payloads, "{expression}");
            assert!(mesh.board(to).got.iter().all(|got| got.kind == MessageKind::Confirmed));
            assert_eq!(mesh.board(from).router.counters().retried, 0, "{expression}");
        }
        mesh.assert_at_rest();
    }
}

#[test]
fn one_that_nobody_answers_is_unknown() {
    let mut mesh = Mesh::up("path(3)");
    let two = mesh.impersonate(1, 2);
    mesh.run(SECOND);
    let began = mesh.now;
    mesh.confirmed(1, 2, b"hear me").unwrap();
    assert!(mesh.run_until(20 * SECOND, |mesh| !mesh.board(1).outcomes.is_empty()));
    assert_eq!(outcomes(&mesh, 1), [(0, Outcome::Unknown)]);
    let took = mesh.now - began;
    let end = times::CONFIRM_WITHIN + 3 * SECOND;
    assert!((times::CONFIRM_WITHIN..end).contains(&took), "{took}");
    // The time between two attempts doubles, up to two seconds.
    let heard = &mesh.stranger(two).heard;
    let gaps: Vec<_> = heard.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    assert!((60 * MILLISECOND..100 * MILLISECOND * 2).contains(&gaps[0]), "{gaps:?}");
    for pair in gaps.windows(2) {
        let expected = (2 * pair[0]).min(times::LONGEST_RETRY);
        assert!(pair[1].abs_diff(expected) < 5 * MILLISECOND, "{gaps:?}");
    }
    assert_eq!(mesh.board(1).router.counters().retried as usize, heard.len() - 1);
    // What is retransmitted may be a copy, and is as it was otherwise.
    for (attempt, heard) in heard.iter().enumerate() {
        let Header {
            kind, copied, number, ..
        } = heard.header;
        if attempt < 5 {
            assert_eq!((kind, copied, number), (Kind::Confirmed, attempt > 0, FIRST));
            assert_eq!(heard.body, b"\0\0hear me");
        } else {
            // Nobody answers: it goes by every path.
            let inner = Flooded {
                kind: Kind::Confirmed,
                number: FIRST,
                body: b"\0\0\x14hear me",
            };
            assert_eq!((kind, copied), (Kind::Flooded, true));
            assert_eq!(Flooded::read(&heard.body), Some(inner));
        }
        assert_eq!(heard.header.hops_left, heard.header.hops_left.max(100));
        let age = u64::from(heard.header.age) * AGE_UNIT;
        assert!(age < 20 * MILLISECOND, "each attempt is young");
    }
    mesh.assert_at_rest();
}

/// Everyone to everyone while cables are cut and restored and bits are flipped: whatever is said to be delivered was, once, and
/// nothing came twice.
#[test]
fn whatever_happens_to_cables_nothing_comes_twice() {
    for seed in 0..u64::from(cases(6)) {
        let mut mesh = Mesh::up(["ring(5)", "torus(3,3)", "petersen"][seed as usize % 3]);
        let mut random = Random(seed);
        let nodes = mesh.network.nodes();
        mesh.noise(seed, 20_000);
        let mut serial = 0_u32;
        for _ in 0..40 {
            let one = random.below(nodes);
            let port = random.below(mesh.network.degree(one).unwrap());
            let (other, _) = mesh.beyond(one, port);
            match random.below(4) {
                0 => mesh.cut(one, other),
                1 | 2 => mesh.restore(one, other),
                _ => {}
            }
            for from in 0..nodes {
                let to = random.below(nodes);
                let payload = serial.to_le_bytes();
                serial += 1;
                let _ = match random.below(3) {
                    0 => mesh.send(from, to, &payload),
                    1 => mesh.broadcast(from, &payload),
                    _ => mesh.confirmed(from, to, &payload),
                };
            }
            mesh.run(random.below(200) * MILLISECOND);
        }
        for one in 0..nodes {
            for port in 0..mesh.network.degree(one).unwrap() {
                let (other, _) = mesh.beyond(one, port);
                mesh.restore(one, other);
            }
        }
        mesh.noise(seed, 0);
        mesh.run(14 * SECOND);
        mesh.assert_at_rest();
        for node in 0..nodes {
            let board = mesh.board(node);
            let is_report = |got: &Got| matches!(got.kind, MessageKind::Undeliverable { .. });
            let got = board.got.iter().filter(|got| !is_report(got));
            let mut payloads: Vec<_> = got.map(|got| got.payload.clone()).collect();
            let all = payloads.len();
            payloads.sort_unstable();
            payloads.dedup();
            assert_eq!(payloads.len(), all, "seed {seed}: node {node} got something twice");
            assert!(board.router.all_links_up(), "seed {seed}: node {node}");
            let outcomes = board.outcomes.iter();
            let unknown = outcomes.filter(|(_, outcome)| *outcome == Outcome::Unknown).count();
            assert_eq!(unknown, 0, "seed {seed}: node {node}");
        }
    }
}
