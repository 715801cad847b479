//! One end of a wire.

use core::hint::black_box;

use crate::outside;
use hopwise_node::key::{Credentials, Key, Secret};
use hopwise_node::link::Link;
use hopwise_node::wire::{Header, Identity, Offer, Role, WIRE};

pub fn run() {
    let identity = Identity {
        role: Role::Node,
        network: black_box(1),
        address: black_box(1),
        port: 0,
        epoch: black_box(1),
        mtu: 255,
    };
    let mut link = Link::<WIRE>::welcoming(identity, black_box(1), black_box(0));
    if black_box(true) {
        link.lock(&Credentials {
            secret: Secret::new(Key::new(black_box([1; 16])), black_box(false)),
            random: black_box([2; 16]),
        });
    }
    let mut out = [0; WIRE];
    let mut input = outside();
    while black_box(true) {
        if let Some(received) = link.receive(&mut input, black_box(0)) {
            black_box(received);
        }
        if let Some((header, body)) = link.header(black_box(9)) {
            black_box((header, body.len()));
        }
        link.take();
        link.offer(black_box(Offer::new(0, 0)));
        black_box(link.completed());
        black_box(link.abandoned());
        black_box(link.tick(black_box(0)));
        black_box(link.deadline());
        black_box(link.turn(black_box(0)));
        black_box(link.write_control(black_box(0), black_box(&mut out)));
        if let Some((header, body)) = Header::read(outside()) {
            black_box(link.write(black_box(0), black_box(0), &header, body, 0, black_box(&mut out)));
        }
    }
}
