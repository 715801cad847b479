//! The whole router.

use core::hint::black_box;

use crate::outside;
use hopwise_core::{Network, Rule};
use hopwise_node::capacities::Board;
use hopwise_node::router::{Config, Router};
use hopwise_node::wire::{AppPort, AppStatus, Query, WIRE};

pub fn run() {
    let Ok(network) = black_box("").parse::<Network>() else {
        return;
    };
    let config = Config {
        network,
        address: black_box(0),
        epoch: black_box(1),
        baud: black_box(1),
        links: black_box(1),
        hosts: black_box(1),
        rule: black_box(Rule::Exact),
    };
    let Ok(mut router) = Router::<Board>::new(&config, black_box(0)) else {
        return;
    };
    let mut out = [0; WIRE];
    while black_box(true) {
        let now = black_box(0);
        router.receive(black_box(0), outside(), now, &mut ());
        black_box(router.transmit(black_box(0), now, black_box(&mut out), &mut ()));
        router.tick(now, &mut ());
        black_box(router.deadline());
        let _ = black_box(router.send(black_box(0), AppPort(black_box(20)), outside(), now, &mut ()));
        let _ = black_box(router.send_confirmed(black_box(0), AppPort(black_box(20)), outside(), now, &mut ()));
        let _ = black_box(router.broadcast(AppPort(black_box(20)), outside(), now, &mut ()));
        let _ = black_box(router.ask(black_box(0), black_box(Query::Trace), outside(), now, &mut ()));
        let _ = black_box(router.send_to_host(black_box(0), AppPort(black_box(20)), outside(), now, &mut ()));
        let _ = black_box(router.serve(AppPort(black_box(20)), black_box(1)));
        router.close(AppPort(black_box(20)));
        if let Some(message) = black_box(router.next_message()) {
            let _ = black_box(router.respond(&message, black_box(AppStatus::Ok), outside(), now, &mut ()));
        }
        router.take_blocks();
        router.write_block(&mut (), |block| {
            black_box(block);
            black_box(true)
        });
        black_box(router.next_outcome());
        router.clear_counters();
        black_box(router.held());
    }
}
