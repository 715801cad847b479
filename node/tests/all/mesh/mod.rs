//! A small mesh in virtual time: who gets what, in which order, and how often.

mod applications;
#[cfg(feature = "update")]
mod blocks;
mod broadcasts;
mod cables;
mod confirmed;
mod datagrams;
mod detours;
#[cfg(feature = "keys")]
mod encrypted;
mod harness;
mod other_paths;
mod requests;
mod rogues;
mod stranger;
mod virtual_channels;
mod wires;
mod wraps;
