//! The packet parser and writer, and every form of a body.

use core::hint::black_box;

use crate::outside;
use hopwise_node::limits::BODY;
use hopwise_node::wire::{BoardConfig, Body, Command, Content, Header, Kind, MAX_HEADER, Packet, trace_records};

pub fn run() {
    if let Some(mut packet) = Packet::<BODY>::read(outside()) {
        black_box(packet.content());
        packet.remove_trail();
        black_box(packet);
    }
    if let Some((header, _)) = Header::read(outside()) {
        black_box(header.write(&mut black_box([0; MAX_HEADER])));
    }
    if let Some(content) = Content::read(black_box(Kind::Request), outside()) {
        black_box(content.write::<Body<BODY>>());
    }
    black_box(trace_records(outside()).count());
    if let Some(command) = Command::read(black_box(0), outside()) {
        black_box(command.payload());
    }
    if let Ok(config) = BoardConfig::read(black_box(&[0; 192])) {
        black_box(config.write());
    }
}
