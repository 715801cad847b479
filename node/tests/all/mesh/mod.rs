//! A small mesh in virtual time: who gets what, in which order, and how often.

#[cfg(feature = "update")]
mod blocks;
mod broadcasts;
mod cables;
mod confirmed;
mod datagrams;
#[cfg(feature = "keys")]
mod encrypted;
mod harness;
mod requests;
mod rogues;
mod scripts;
mod stranger;
mod wires;
mod wraps;
