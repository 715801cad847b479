//! The whole node.

#![no_std]
#![no_main]

use core::hint::black_box;

use hopwise_core::limits::WIRE;
use hopwise_core::node::{Config, Node, Query};
use hopwise_core::{Network, Rule};
use hopwise_panics::outside;

#[unsafe(no_mangle)]
extern "C" fn _start() {
    let Ok(network) = black_box("").parse::<Network>() else { return };
    let config = Config {
        network,
        address: black_box(0),
        epoch: black_box(1),
        baud: black_box(1),
        links: black_box(1),
        rule: black_box(Rule::Exact),
    };
    let Ok(mut node) = Node::<6>::new(&config, black_box(0)) else { return };
    let mut out = [0; WIRE];
    while black_box(true) {
        let now = black_box(0);
        node.receive(black_box(0), outside(), now, &mut ());
        black_box(node.transmit(black_box(0), now, black_box(&mut out), &mut ()));
        node.tick(now, &mut ());
        black_box(node.deadline());
        let _ = black_box(node.send(black_box(0), outside(), now, &mut ()));
        let _ = black_box(node.send_confirmed(black_box(0), outside(), now, &mut ()));
        let _ = black_box(node.broadcast(outside(), now, &mut ()));
        let _ = black_box(node.ask(black_box(0), black_box(Query::Trace), outside(), now, &mut ()));
        black_box(node.next_message());
        black_box(node.next_outcome());
        node.clear_counters();
        black_box(node.held());
    }
}
