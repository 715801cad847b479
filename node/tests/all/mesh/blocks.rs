//! Blocks of an image: for all boards, as fast as the slowest of them writes.

use super::datagrams::header;
use super::harness::Mesh;
use crate::support::*;

type Written = Vec<Vec<u8>>;

fn boards(mut mesh: Mesh) -> Mesh {
    for node in 0..mesh.boards().count() as Node {
        mesh.board_mut(node).act(|router, _| router.take_blocks());
    }
    mesh
}

fn write(mesh: &mut Mesh, node: Node, written: &mut Written) {
    mesh.board_mut(node).act(|router, note| {
        router.write_block(note, |block| {
            written.push(block.to_vec());
            true
        });
    });
}

#[test]
fn a_host_sends_blocks_to_its_own_board_too() {
    let mut mesh = boards(Mesh::up("path(3)"));
    let host = mesh.host(1);
    for (number, port) in [(1, AppPort::UPDATE), (2, AppPort::TEXT)] {
        let mut bytes = [0; MAX_HEADER];
        let length = header(Kind::Broadcast, 1, 1, number).write(&mut bytes).unwrap();
        let packet = [&bytes[..length], &[port.0], b"block"].concat();
        mesh.stranger_mut(host).send_bytes(0, &packet);
    }
    mesh.run(50 * MILLISECOND);
    for node in 0..3 {
        let mut written = Written::new();
        // It is given until it is done with, and then no more.
        mesh.board_mut(node).act(|router, note| {
            router.write_block(note, |block| {
                assert_eq!(block, b"block");
                false
            });
        });
        write(&mut mesh, node, &mut written);
        write(&mut mesh, node, &mut written);
        assert_eq!(written, [b"block".to_vec()], "node {node}");
        assert!(!mesh.board(node).router.has_block());
        let found = mesh.board(node).got.len();
        assert_eq!(found, usize::from(node != 1), "text is for the others");
    }
    mesh.assert_at_rest();
}

/// One board takes five milliseconds for a block, which has 2.3 on the wire.
fn write_slowly(mut mesh: Mesh, slow: Node) {
    const BLOCKS: u16 = 200;
    let nodes = mesh.boards().count();
    let mut written = vec![Written::new(); nodes];
    let mut next = 0_u16;
    for round in 0..1_200 {
        let block = [&next.to_le_bytes()[..], &[7; 194]].concat();
        let send = |router: &mut Router, now, note: &mut _| router.broadcast(AppPort::UPDATE, &block, now, note);
        if next < BLOCKS && mesh.act(0, send).is_ok() {
            next += 1;
        }
        // What has nothing to do with it goes on meanwhile.
        if round % 20 == 0 {
            mesh.send(1, slow, b"meanwhile").unwrap();
        }
        for (node, written) in (0..).zip(&mut written) {
            if node != slow || round % 5 == 0 {
                write(&mut mesh, node, written);
            }
        }
        mesh.run(MILLISECOND);
    }
    for (node, written) in written.iter_mut().enumerate() {
        written.sort();
        written.dedup();
        assert_eq!(written.len(), usize::from(BLOCKS), "node {node}");
        let counters = mesh.board(node as Node).router.counters();
        assert_eq!(counters.dropped.iter().sum::<u32>(), 0, "node {node}: {counters:?}");
    }
    assert_eq!(mesh.board(slow).got.len(), 60);
    mesh.assert_at_rest();
}

#[test]
fn blocks_wait_for_a_board_that_writes_slowly() {
    write_slowly(boards(Mesh::up("path(4)")), 3);
    write_slowly(boards(Mesh::up("ring(5)")), 2);
    #[cfg(feature = "cipher")]
    write_slowly(boards(Mesh::keyed("path(3)", true)), 2);
}
