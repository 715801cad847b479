//! The wiring plan: every cable once, in an order that lets one test while wiring.
//!
//! Boards are taken in breadth-first order from node 0. With each board come all its cables to boards that are already
//! there, so that after each board the part wired so far is whole: its links can be checked, and every board in it can be
//! asked through the first.

use std::collections::VecDeque;

use serde::Serialize;

use super::boards::Pin;
use super::mesh::{Mesh, NodePort};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CableEnd {
    pub node: u64,
    pub port: u64,
    pub uart: &'static str,
    pub tx: &'static str,
    pub rx: &'static str,
    /// Where the pin that sends is on the board's connectors.
    pub tx_header: &'static str,
    pub rx_header: &'static str,
}

impl CableEnd {
    fn new(mesh: &Mesh, end: NodePort) -> Self {
        let uart = mesh.uart(end);
        CableEnd {
            node: end.node,
            port: end.port,
            uart: uart.name,
            tx: uart.tx.name,
            rx: uart.rx.name,
            tx_header: uart.tx.header,
            rx_header: uart.rx.header,
        }
    }

    pub fn node_port(&self) -> NodePort {
        NodePort {
            node: self.node,
            port: self.port,
        }
    }
}

/// A cable of three wires: TX to RX, RX to TX, and ground to ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cable {
    /// Its number in the plan, from 1.
    pub number: usize,
    pub from: CableEnd,
    /// The end at the board that comes new.
    pub to: CableEnd,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WiringStep {
    pub node: u64,
    /// How many cables are plugged in after this step: what `hopwise check --cables` is told.
    pub cables: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WiringPlan {
    /// In the order of wiring.
    pub cables: Vec<Cable>,
    pub steps: Vec<WiringStep>,
}

impl WiringPlan {
    /// The plan of a mesh. O(nodes + links).
    pub fn new(mesh: &Mesh) -> Self {
        let mut cables = Vec::new();
        let mut steps = Vec::new();
        let mut there = vec![false; mesh.network.nodes() as usize];
        for node in wiring_order(mesh) {
            for port in 0..mesh.degree(node) {
                let end = NodePort { node, port };
                if let Some(far) = mesh.far_end(end).filter(|far| there[far.node as usize]) {
                    cables.push(Cable {
                        number: cables.len() + 1,
                        from: CableEnd::new(mesh, far),
                        to: CableEnd::new(mesh, end),
                    });
                }
            }
            there[node as usize] = true;
            steps.push(WiringStep {
                node,
                cables: cables.len(),
            });
        }
        WiringPlan { cables, steps }
    }
}

/// Breadth-first from node 0; further parts of a network that is not connected follow.
fn wiring_order(mesh: &Mesh) -> Vec<u64> {
    let mut order = Vec::new();
    let mut met = vec![false; mesh.network.nodes() as usize];
    for first in mesh.nodes() {
        let mut waiting = VecDeque::from([first]);
        while let Some(node) = waiting.pop_front() {
            if std::mem::replace(&mut met[node as usize], true) {
                continue;
            }
            order.push(node);
            let ends = (0..mesh.degree(node)).map(|port| NodePort { node, port });
            waiting.extend(ends.filter_map(|end| mesh.far_end(end)).map(|far| far.node));
        }
    }
    order
}

/// A pin as a person looks for it.
pub fn describe(pin: &Pin) -> String {
    match pin.arduino {
        _ if pin.header == pin.name => pin.name.into(),
        "" => format!("{} {}", pin.name, pin.header),
        arduino => format!("{} {} ({arduino})", pin.name, pin.header),
    }
}
