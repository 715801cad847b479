//! One link that asks and answers.

#![no_std]
#![no_main]

use core::hint::black_box;

use hopwise_node::endpoint::{Endpoint, Heard};
use hopwise_node::wire::{Query, WIRE};
use hopwise_panics::outside;

#[unsafe(no_mangle)]
extern "C" fn _start() {
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
