//! The numbers that describe a router and its links.

use std::fmt;
use std::str::FromStr;

use hopwise_language::{Traffic, as_text};
use serde::{Deserialize, Serialize};

use crate::bad::{BadLoad, bad};

/// How long each step of a router takes, in cycles, and how much it can hold.
///
/// A head flit that arrives in cycle `a` at an idle router is routed in `a`, asks for a virtual channel `routing` cycles
/// later, for the switch `vc_alloc` after that, and is at the next router `switch_alloc + traversal + channel` cycles after
/// the switch was granted. With every step 1, a hop takes 5 cycles, and entering and leaving the network 7.
/// A stage that takes [batches](Stages::Batch) may begin later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// From the arrival of a head flit to its request for a virtual channel.
    pub routing: u32,
    /// Allocation of a virtual channel.
    pub vc_alloc: u32,
    /// Allocation of the switch.
    pub switch_alloc: u32,
    /// Traversal of the switch.
    pub traversal: u32,
    /// A link, in either direction: flits one way, credits the other.
    pub channel: u32,
    /// Extra delay of a credit at the router that receives it.
    pub credit: u32,
    /// Flits that a virtual channel holds at the receiving end of a link.
    pub buffers: u32,
    /// Flits that all virtual channels at the receiving end of a link hold together, each the same; instead of `buffers`. So networks
    /// that need different numbers of channels are given equal memory.
    pub link_buffers: Option<u32>,
    /// Virtual channels of a link for each buffer class. With several there are none for all packets.
    pub class_channels: u32,
    /// Virtual channels of a link that every packet may use, beside those of the buffer classes. Balanced rings have none.
    pub shared_channels: u32,
    pub packet_flits: u32,
    /// Use no more buffer classes than this, whatever deadlock freedom asks for: an experiment.
    pub class_limit: Option<u32>,
    /// What rings do at a tie, and with their two classes.
    pub rings: Rings,
    pub stages: Stages,
    pub paths: Paths,
}

/// What routing and the traversal of the switch do when they take several cycles. With one cycle both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Stages {
    /// A stage takes new flits in every cycle.
    Pipelined,
    /// A stage of a router takes all flits that wait, and the next ones when it is done with these, as in BookSim 2.
    Batch,
}

/// How packets get to their destinations.
///
/// The first two of these need the channels of the routing function: classes in an order that no packet goes back in. Adaptive packets are free
/// to take the channels for all of any port on a shortest path; the channel of their class on the routing function's port is their escape, and
/// packets that wait there wait for no more than packets of the routing function do. So they need a channel for all, and buffers for a whole packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Paths {
    /// By the routing function, hop by hop.
    #[default]
    Rule,
    /// By the routing function to a random node, drawn for each packet, then by the routing function to its destination. Each half has classes of its own. L. G. Valiant, A
    /// scheme for fast parallel communication, SIAM Journal on Computing 11(2), 1982.
    Valiant,
    /// On shortest paths, to where there is most room.
    Adaptive,
}

impl Paths {
    /// Whether packets choose between ports.
    pub fn is_adaptive(self) -> bool {
        self == Paths::Adaptive
    }

    /// Parts of a way that need classes of their own.
    pub fn phases(self) -> u32 {
        match self {
            Paths::Valiant => 2,
            _ => 1,
        }
    }
}

/// How rings and tori are routed where there is a choice. Other networks have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Rings {
    /// As the routing function says: a tie goes +1, the class changes at the wrap.
    Core,
    /// A tie is random; a packet keeps the class with which it enters a ring.
    Balanced,
}

impl Parameters {
    /// The parameters of the reference simulator BookSim 2 with two virtual channels of eight flits and every step one cycle.
    ///
    /// There a packet has the choice of two channels on every link, or, on a torus, of one, the other being for the other
    /// class; so it has here, but where a network needs classes to be free of deadlock, they come on top.
    pub const BOOKSIM: Self = Self {
        routing: 1,
        vc_alloc: 1,
        switch_alloc: 1,
        traversal: 1,
        channel: 1,
        credit: 0,
        buffers: 8,
        link_buffers: None,
        shared_channels: 1,
        packet_flits: 1,
        class_limit: None,
        class_channels: 1,
        rings: Rings::Balanced,
        stages: Stages::Batch,
        paths: Paths::Rule,
    };

    /// With the buffers of a link shared out among so many channels, at least one flit each.
    pub(super) fn shared_out(self, channels: u32) -> Self {
        let each = |flits: u32| (flits / channels.max(1)).max(1);
        let buffers = self.link_buffers.map_or(self.buffers, each);

        Self { buffers, ..self }
    }

    /// From the grant of the switch to the arrival at the next router.
    pub fn flight(&self) -> u32 {
        self.switch_alloc + self.traversal + self.channel
    }

    /// Whether a stage of so many cycles takes batches.
    pub(super) fn batches(&self, delay: u32) -> bool {
        self.stages == Stages::Batch && delay > 1
    }

    /// The flight at most: a batch begins after the one before, and sends its flits through a port one after the other.
    fn longest_flight(&self) -> u32 {
        let wait = 2 * (self.traversal.max(1) - 1);
        self.flight() + wait * u32::from(self.batches(self.traversal))
    }

    /// From the grant of the switch to the credit at the router before; at a source, which adds nothing, without `credit`.
    pub fn credit_return(&self) -> u32 {
        self.switch_alloc + self.channel + self.credit
    }

    /// From the arrival of a flit at its node to the credit at the router; `None` where the node's buffers never run out.
    pub(super) fn sink_return(&self) -> Option<u32> {
        let delay = self.entry() + self.credit;
        (self.buffers < self.longest_flight() + delay).then_some(delay)
    }

    /// From the source to the first router.
    pub fn entry(&self) -> u32 {
        self.channel + 1
    }

    /// The latency of a packet that meets no other on `hops` hops.
    pub fn zero_load_latency(&self, hops: f64) -> f64 {
        let router = f64::from(self.routing + self.vc_alloc + self.flight());
        f64::from(self.entry()) + router * (hops + 1.0) + f64::from(self.packet_flits - 1)
    }

    /// The longest of the delays, for the size of the time wheel.
    pub(super) fn longest_delay(&self) -> u32 {
        [
            self.longest_flight() + self.sink_return().unwrap_or(0),
            self.credit_return(),
            self.entry(),
            self.vc_alloc,
            2 * self.routing + 1,
        ]
        .into_iter()
        .max()
        .unwrap_or(1)
    }

    pub fn check(&self) -> Result<(), BadLoad> {
        let positive = [
            ("vc-alloc", self.vc_alloc),
            ("switch-alloc", self.switch_alloc),
            ("buffers", self.buffers),
            ("link-buffers", self.link_buffers.unwrap_or(1)),
            ("packet-flits", self.packet_flits),
            ("class-limit", self.class_limit.unwrap_or(1)),
            ("class-channels", self.class_channels),
        ];
        if let Some((name, _)) = positive.into_iter().find(|&(_, value)| value == 0) {
            return Err(bad(format!("{name} has to be at least 1")));
        }
        let delays = [
            self.routing,
            self.vc_alloc,
            self.switch_alloc,
            self.traversal,
            self.channel,
            self.credit,
        ];
        if delays.into_iter().any(|delay| delay > MAX_DELAY) {
            return Err(bad(format!("a delay is at most {MAX_DELAY} cycles")));
        }
        let flits = [self.buffers, self.packet_flits, self.link_buffers.unwrap_or(0)];
        if flits.into_iter().any(|flits| flits > MAX_FLITS) {
            return Err(bad(format!("buffers and packets have at most {MAX_FLITS} flits")));
        }
        if self.shared_channels.max(self.class_channels) > MAX_SHARED {
            let most = format!("a link has at most {MAX_SHARED} virtual channels for all or for a class");
            return Err(bad(most));
        }
        if self.paths.is_adaptive() && (self.shared_channels == 0 || self.class_channels > 1) {
            return Err(bad("adaptive routing needs a virtual channel for all packets"));
        }
        if self.paths.is_adaptive() && self.packet_flits > self.buffers {
            return Err(bad("adaptive routing needs buffers that hold a whole packet"));
        }
        Ok(())
    }
}

const MAX_DELAY: u32 = 10_000;
const MAX_FLITS: u32 = 60_000;
const MAX_SHARED: u32 = 1_000;

/// Named sets of parameters, with the traffic that goes with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Preset {
    /// BookSim 2: one cycle per step, two virtual channels of eight flits, and by default its uniform traffic, in which nodes also
    /// send to themselves: uniform-with-self
    #[default]
    Booksim,
}

impl Preset {
    pub fn parameters(self) -> Parameters {
        match self {
            Preset::Booksim => Parameters::BOOKSIM,
        }
    }

    /// Who sends to whom unless said otherwise.
    pub fn traffic(self) -> Traffic {
        match self {
            Preset::Booksim => Traffic::UniformWithSelf,
        }
    }
}

/// When packets are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Process {
    /// Every node tosses a coin every cycle.
    Bernoulli,
    /// A node is silent, or makes packets at `peak` a cycle; both last a random (geometric) time.
    Bursty {
        /// Mean length of the active time, in cycles.
        length: f64,
        /// Packets a cycle while active.
        peak: f64,
    },
}

impl FromStr for Process {
    type Err = BadLoad;

    fn from_str(text: &str) -> Result<Self, BadLoad> {
        if text == "bernoulli" {
            return Ok(Process::Bernoulli);
        }
        let inner = text.strip_prefix("bursty(").and_then(|rest| rest.strip_suffix(')'));
        let numbers = inner.and_then(|inner| inner.split_once(','));
        let numbers = numbers.and_then(|(length, peak)| Some((length.trim().parse().ok()?, peak.trim().parse().ok()?)));
        let (length, peak): (f64, f64) =
            numbers.ok_or_else(|| bad(format!("'{text}' is not a source: bernoulli or bursty(LENGTH,PEAK)")))?;
        let makes_sense = length >= 1.0 && length.is_finite() && peak > 0.0 && peak <= 1.0;
        let process = makes_sense.then_some(Process::Bursty { length, peak });
        process.ok_or_else(|| bad("a burst lasts at least 1 cycle and has a peak above 0 and at most 1"))
    }
}

as_text!(Process);

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Process::Bernoulli => write!(f, "bernoulli"),
            Process::Bursty { length, peak } => write!(f, "bursty({length},{peak})"),
        }
    }
}
