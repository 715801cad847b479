//! One link that asks, answers and relays.

use core::hint::black_box;

use crate::outside;
use hopwise_node::endpoint::{Endpoint, Heard};
use hopwise_node::limits::BODY;
use hopwise_node::wire::{
    BoardConfig, Body, Query, WIRE, relay_arrivals, relay_request, relay_response, relay_step, relayed,
};

pub fn run() {
    let mut endpoint = Endpoint::<2>::board(black_box(0), black_box(1), black_box(1), black_box(1), black_box(0));
    let mut out = [0; WIRE];
    let mut input = outside();
    while black_box(true) {
        let now = black_box(0);
        match endpoint.receive(&mut input, now) {
            Some(Heard::Request(mut question)) => {
                black_box(endpoint.reply(&question, outside()));
                black_box(relay_step(&mut question, black_box(0)));
                black_box(relayed(outside()));
                black_box(relay_arrivals(outside()).map(|(arrivals, _)| arrivals.count()));
                let answer: Option<Body<BODY>> = relay_response(outside(), outside());
                black_box(answer);
                let asked: Option<Body<BODY>> = relay_request(outside(), black_box(Query::Link), outside());
                black_box(asked);
                if let Some(config) = BoardConfig::lengthen(outside()) {
                    black_box(BoardConfig::shorten(&config));
                }
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
