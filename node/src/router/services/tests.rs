//! Services without a mesh: packets are handed to them one by one.

use super::*;
use crate::capacities::Board;
use crate::wire::{Addressed, Content, Header};

type Packet = PacketOf<<Board as Capacities>::Body>;

fn services() -> Services<Board> {
    Services::new(0, 1_000_000, 0)
}

fn packet(port: AppPort, broadcast: bool) -> Packet {
    let addressed = Addressed::new(port, b"hello");
    let content = match broadcast {
        true => Content::Broadcast(addressed),
        false => Content::Datagram(addressed),
    };
    Packet {
        header: Header::new(content.kind(), 2, 0),
        body: content.write().unwrap(),
    }
}

#[test]
fn applications_read_in_order_what_comes_to_the_ports_they_serve() {
    let mut services = services();
    let (served, other) = (packet(AppPort(20), false), packet(AppPort(21), false));
    assert_eq!(
        services.deliver(4, &other, true),
        Ok(ReadBy::Application),
        "nobody was listed"
    );
    services.ports.open(AppPort(20), 1).unwrap();
    assert_eq!(services.deliver(5, &served, true), Ok(ReadBy::Application));
    assert_eq!(
        services.deliver(6, &served, true),
        Err(DropReason::InboxFull),
        "there was room for one"
    );
    assert_eq!(services.deliver(7, &other, true), Err(DropReason::PortUnreachable));
    services.ports.open(AppPort(20), 9).unwrap();
    assert_eq!(services.deliver(8, &served, false), Err(DropReason::InboxFull));
    assert_eq!(services.admission(AppPort(20), false), Admission::Busy);
    assert_eq!(services.admission(AppPort(20), true), Admission::Open);
    assert!(services.has_message());
    let read = [(); 3].map(|()| services.next_message());
    assert_eq!(read, [Some(4), Some(5), None]);
}

#[cfg(feature = "update")]
#[test]
fn a_board_that_wants_blocks_has_them_one_after_the_other() {
    let mut services = services();
    let block = packet(AppPort::UPDATE, true);
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
    let no_block = packet(AppPort::UPDATE, false);
    assert_eq!(services.deliver(4, &no_block, true), Err(DropReason::PortUnreachable));
}
