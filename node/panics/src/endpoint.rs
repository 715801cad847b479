//! One link that asks and answers.

use core::hint::black_box;

use crate::outside;
use hopwise_node::endpoint::{Endpoint, Heard};
use hopwise_node::wire::{Query, WIRE};

pub fn run() {
    let mut endpoint = Endpoint::<2>::board(black_box(1), black_box(1), black_box(1), black_box(0));
    let mut out = [0; WIRE];
    let mut input = outside();
    while black_box(true) {
        let now = black_box(0);
        match endpoint.receive(&mut input, now) {
            Some(Heard::Request(question)) => {
                black_box(endpoint.reply(&question, outside()));
            }
            heard => {
                black_box(heard);
            }
        }
        if let Some(packet) = endpoint.request(black_box(0), black_box(Query::Trace), outside(), now) {
            let _ = black_box(endpoint.send(packet));
        }
        black_box(endpoint.tick(now));
        black_box(endpoint.deadline());
        black_box(endpoint.transmit(now, black_box(&mut out)));
    }
}
