//! A node of a mesh as a state machine: bytes and the time go in, bytes and events come out.
//!
//! A node knows its own address and the expression of its network, from which `hopwise-core` computes routes; this crate is
//! the rest of a board's network stack, and it does no I/O. Firmware, the simulator and a process on a host are shells around it.
//!
//! # The path of a packet
//!
//! 1. Bytes arrive on a cable. [`wire`] has every byte that leaves a board as a typed structure: here a frame, and in it a packet.
//! 2. [`link`] is one end of a cable: it reassembles frames, checks them, drops duplicates, acknowledges, and
//!    retransmits what the other end has missed.
//! 3. [`router`] takes the packet: one for this node goes to the application or to the node's own services, one for another node
//!    waits for the link of its next hop, a broadcast for several.
//! 4. [`Network`](hopwise_core::Network) computes the next hop.
//! 5. Then back: the router gives the packet to that link, the link writes it as a frame, and bytes go out.
//!
//! [`clock`] is the common time of all nodes: links carry time signals of neighbors, and the router provides the time.
//!
//! Besides the router there is [`endpoint`]: a single link that sends and answers requests, for a host or for a board without a config.
//! [`key`] has the secrets of a mesh, with which links authenticate each other, and [`authority`] authorizes commands.
//! [`store`] is what a board keeps in its flash, [`boot`] the choice between its two images, [`update`] how it gets the next one.
//! [`signature`] is what lets only its owner choose that image.
//! [`capacities`](mod@capacities) defines the sizes of a node, [`limits`] their defaults. Dependencies go one way: router and endpoint use
//! link, link uses wire.
//!
//! # Features
//!
//! All are on unless `default-features = false`; a disabled feature costs neither flash nor RAM.
//!
//! - `keys`: links authenticate each other, and commands that change a board need the management key. A node without it does
//!   not link up with one that has a key.
//! - `cipher`: payloads are encrypted end to end. A node without it forwards them, and can neither read nor send any.
//! - `clock`: all boards have a common time. A node without it has no time, and does not forward the time to others.
//! - `update`: the router keeps blocks of a new image for the board. Code in [`update`] itself runs only if it is called.
//! - `signed`: a board that has an owner takes only images that the owner has signed. A node without it takes any.
//! - `defmt`: events can be logged by defmt. `large-tables`: faster CRCs, for hosts.
//!
//! No function panics on any input. There is no recursion, no heap, and every queue and loop is bounded.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(
    not(all(feature = "cipher", feature = "clock", feature = "update", feature = "signed")),
    allow(
        dead_code,
        unreachable_code,
        unused_imports,
        reason = "shared code is compiled whether or not a feature that uses it is, and code after an uninhabited value is unreachable"
    )
)]

#[cfg(test)]
extern crate std;

pub mod authority;
#[cfg(feature = "keys")]
mod blake2s;
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
pub mod signature;
pub mod store;
pub mod update;
pub mod wire;
