//! What an experiment finds.

use serde::{Deserialize, Serialize};

use crate::parameters::Paths;

/// What a flit counts in [`Point::buffer_bytes`].
pub const FLIT_BYTES: u64 = 8;

/// The result of an experiment. Rates are packets a node a cycle, times are cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The network, as an expression.
    pub network: String,
    pub nodes: u64,
    pub rule: String,
    pub paths: Paths,
    pub traffic: String,
    pub process: String,
    pub packet_flits: u32,
    /// The rate asked for.
    pub rate: f64,
    pub seed: u64,
    /// Mean latency from making to the delivery of the last flit; waiting at the source counts.
    pub latency_mean: f64,
    /// Half the width of its 95% confidence interval; unknown if the load is not carried, if too little was measured, or if a tenth of
    /// the measurement is shorter than ten mean latencies.
    pub latency_ci95: Option<f64>,
    pub latency_p50: u64,
    pub latency_p95: u64,
    pub latency_p99: u64,
    pub latency_max: u64,
    pub hops_mean: f64,
    /// How many packets took 0, 1, 2, .. links.
    pub hops_histogram: Vec<u64>,
    /// The share of cycles in which a link carries a flit, of one direction, on average.
    pub link_load_mean: f64,
    /// The same of the busiest.
    pub link_load_max: f64,
    /// How many directions of links are busy for up to a 20th of the cycles, up to two 20ths, and so on.
    pub link_histogram: Vec<u64>,
    /// Measured packets that failures made undeliverable.
    pub lost: u64,
    /// Links out of action in the end.
    pub failed_links: u64,
    /// Routers out of action in the end.
    pub failed_routers: u64,
    /// Of a schedule: messages that could not be sent, because what their senders waited for was lost.
    pub unsent: u64,
    /// Of a schedule: the cycle in which its last message arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<u64>,
    /// Packets that were made.
    pub offered_rate: f64,
    /// Packets that were delivered.
    pub accepted_rate: f64,
    pub saturated: bool,
    /// The cycle of waiting channels, if packets block each other for good.
    pub deadlock: Option<String>,
    /// Cycles simulated, with warm-up and drain.
    pub cycles: u64,
    /// Packets delivered, with warm-up and drain.
    pub packets: u64,
    pub packets_measured: u64,
    /// Flits that crossed a switch, with warm-up and drain.
    pub flit_hops: u64,
    /// Buffer classes in use.
    pub classes: u32,
    pub virtual_channels: u32,
    /// Bytes of buffers at an end of a link, a flit being [`FLIT_BYTES`].
    pub buffer_bytes: u64,
    /// Memory of the simulation, a node.
    pub bytes_per_node: u64,
    /// Time to lay out the network and its routes.
    pub setup_seconds: f64,
    pub wall_seconds: f64,
    pub node_cycles_per_second: f64,
    pub packets_per_second: f64,
}
