//! A node of a mesh as a state machine: bytes and the time go in, bytes and events come out.
//!
//! A node knows its own address and the expression of its network. `hopwise-core` computes from that where a packet goes; this crate is
//! what stands around it on a board, and it does no I/O of its own. Firmware, the simulator and a process on a host are shells around it.
//!
//! # The tour of a packet
//!
//! 1. Bytes come off a cable. [`wire`] has every byte that leaves a board as a typed form: here a frame, and in it a packet.
//! 2. [`link`] is one end of a cable: it puts the bytes of a frame together, checks it, drops what came twice, acknowledges, and
//!    retransmits what the other end has missed.
//! 3. [`router`] takes the packet: for this node it goes to the application or to the node's own services, for another one it
//!    waits for the link that leads on, a broadcast for several.
//! 4. [`Network`](hopwise_core::Network) says who is next.
//! 5. Then back: the router gives the packet to that link, the link writes it as a frame, and bytes go out.
//!
//! [`clock`] is the time that all nodes agree on: links carry what neighbors say of it, and the router tells it to whoever asks.
//!
//! Beside the router stands [`endpoint`]: one link that asks and answers, for a host, or for a board without a configuration.
//! [`key`] has the secrets of a mesh, with which links prove who they are, and [`authority`] who may change a board.
//! [`store`] is what a board keeps in its flash, [`boot`] which of its two images it starts with, [`update`] how it gets the next one.
//! [`capacities`](mod@capacities) is how much a node has room for, [`limits`] the default of each size. Arrows go one way: router and endpoint use link, link uses wire.
//!
//! # Features
//!
//! All are on unless `default-features = false`; what is switched off costs neither flash nor RAM.
//!
//! - `keys`: links prove that they belong to the mesh, and commands that change a board need the management key. A node without it does
//!   not link up with one that has a key.
//! - `cipher`: payloads are encrypted from end to end. A node without it forwards them, and can neither read nor send any.
//! - `clock`: all boards agree on the time. A node without it has no time, and others do not learn it through this node.
//! - `update`: the router keeps blocks of a new image for the board. [`update`] itself is code that nothing runs unless it is called.
//! - `defmt`: events can be logged by defmt. `large-tables`: faster CRCs, for hosts.
//!
//! No function here panics, whatever it is given. There is no recursion, no heap, and every queue and loop has a bound.

#![no_std]
#![forbid(unsafe_code)]
// What features share is there whether or not one that uses it is built, and nothing follows where a type has no value.
#![cfg_attr(
    not(all(feature = "cipher", feature = "clock", feature = "update")),
    allow(dead_code, unreachable_code, unused_imports)
)]

#[cfg(test)]
extern crate std;

pub mod authority;
pub mod boot;
pub mod capacities;
pub mod cipher;
pub mod clock;
pub mod endpoint;
pub mod key;
pub mod limits;
pub mod link;
pub mod router;
mod service;
pub mod store;
pub mod update;
pub mod wire;
