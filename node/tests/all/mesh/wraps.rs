//! Numbers of packets that wrap.

use super::harness::Mesh;
use crate::support::*;

/// The epoch of a boot whose first number is this: an epoch times an odd number.
fn epoch_that_begins_with(number: u32) -> u32 {
    let factor = 0x9e37_79b9_u32;
    let inverse = (0..5).fold(factor, |inverse, _| {
        inverse.wrapping_mul(2_u32.wrapping_sub(factor.wrapping_mul(inverse)))
    });
    number.wrapping_mul(inverse)
}

/// Confirmed packets have their own numbers, which begin with those of the others turned by half a word.
#[test]
fn numbers_that_wrap_are_delivered_once_and_in_order() {
    for first in [u32::MAX - 4, (u32::MAX - 4).rotate_right(16)] {
        let mut mesh = Mesh::up("ring(5)");
        mesh.restart_as(0, epoch_that_begins_with(first));
        mesh.come_up();
        mesh.run(100 * MILLISECOND);
        for round in 0..10_u8 {
            mesh.send(0, 2, &[round, 0]).unwrap();
            mesh.confirmed(0, 2, &[round, 1]).unwrap();
            mesh.broadcast(0, &[round, 2]).unwrap();
            mesh.ask(0, 3, Query::Ping, &[]).unwrap();
            if round == 4 {
                mesh.cut(0, 1);
            }
            mesh.run(200 * MILLISECOND);
        }
        let numbers: Vec<u32> = mesh.board(2).got.iter().map(|got| got.number).collect();
        let has = |near: u32| numbers.iter().any(|number| number.wrapping_sub(near) < 30);
        assert!(has(u32::MAX - 29) && has(0), "{numbers:?}");
        for kind in 0..3 {
            let got = mesh.board(2).payloads().into_iter().map(|(_, payload)| payload);
            let rounds = got.filter(|payload| payload[1] == kind).map(|payload| payload[0]);
            assert!(rounds.eq(0..10), "kind {kind} after {first}");
        }
        assert_eq!(mesh.board(0).got.len(), 10, "responses");
        let delivered = mesh.board(0).outcomes.iter().map(|&(_, outcome)| outcome);
        assert_eq!(Vec::from_iter(delivered), [Outcome::Delivered; 10]);
        mesh.assert_at_rest();
    }
}
