//! Services without a mesh: packets are handed to them one by one.

use super::*;
use crate::capacities::Board;
use crate::wire::{Addressed, Content, Header};

type Packet = PacketOf<<Board as Capacities>::Body>;

fn packet(content: Content<'_>) -> Packet {
    Packet {
        header: Header::new(content.kind(), 2, 0),
        body: content.write().unwrap(),
    }
}

#[test]
fn a_board_that_wants_blocks_has_them_one_after_the_other() {
    let mut services: Services<Board> = Services::new(0, 1_000_000, 0);
    let addressed = Addressed::new(AppPort::UPDATE, b"hello");
    let block = packet(Content::Broadcast(addressed));
    services.ports.close_all();
    assert_eq!(services.deliver(1, &block, true), Err(DropReason::PortUnreachable));
    services.blocks.take();
    // The inbox is not asked.
    assert_eq!(services.deliver(2, &block, false), Ok(ReadBy::Board));
    assert_eq!(services.deliver(3, &block, false), Ok(ReadBy::Board));
    assert_eq!(services.blocks.waiting(), Some(2), "the first one stays the next");
    services.blocks.written(Some(3));
    assert_eq!(services.blocks.waiting(), Some(3));
    services.blocks.written(None);
    assert_eq!((services.blocks.waiting(), services.blocks.is_wanted()), (None, true));
    let no_block = packet(Content::Datagram(addressed));
    assert_eq!(services.deliver(4, &no_block, true), Err(DropReason::PortUnreachable));
}
