//! What is written down while a simulation runs.

use hopwise_figures::Histogram;

/// Latencies below this many cycles are told apart.
const TOLD_APART: usize = 1 << 16;

/// The packets made in the cycles `from..to`, and what became of them.
pub(super) struct Recorder {
    from: u32,
    to: u32,
    /// Cycles of a batch, as a power of two.
    batch_bits: u32,
    /// Of the measured packets.
    pub(super) latencies: Histogram,
    /// Sum of latencies and number of packets, by the time of making.
    pub(super) batches: Vec<(u64, u64)>,
    pub(super) hops: u64,
    /// Packets made in the window: by sources, and with the copies of broadcasts.
    pub(super) offered: u64,
    pub(super) expected: u64,
    pub(super) measured: u64,
    /// Packets delivered in the window, whenever made.
    pub(super) accepted: u64,
    /// All packets ever delivered.
    pub(super) delivered: u64,
    /// Sum and number of the latencies delivered since the last [`take_recent`](Self::take_recent).
    recent: (u64, u64),
}

impl Recorder {
    pub(super) fn new() -> Self {
        Self {
            from: u32::MAX,
            to: u32::MAX,
            batch_bits: 0,
            latencies: Histogram::new(TOLD_APART),
            batches: Vec::new(),
            hops: 0,
            offered: 0,
            expected: 0,
            measured: 0,
            accepted: 0,
            delivered: 0,
            recent: (0, 0),
        }
    }

    /// Packets count from this cycle on, in batches of so many cycles (as a power of two); what counted before is forgotten.
    pub(super) fn open(&mut self, from: u32, batch_bits: u32) {
        *self = Self {
            from,
            batch_bits,
            delivered: self.delivered,
            recent: self.recent,
            ..Self::new()
        };
    }

    /// Packets made from this cycle on do not count.
    pub(super) fn close(&mut self, to: u32) {
        self.to = to;
    }

    fn counts(&self, cycle: u32) -> bool {
        (self.from..self.to).contains(&cycle)
    }

    /// A source has made a packet.
    pub(super) fn made(&mut self, now: u32) {
        self.offered += u64::from(self.counts(now));
    }

    /// A packet will be delivered some time.
    pub(super) fn expect(&mut self, born: u32) {
        self.expected += u64::from(self.counts(born));
    }

    pub(super) fn delivered(&mut self, born: u32, at: u32, hops: u32) {
        let latency = at - born;
        self.delivered += 1;
        self.recent.0 += u64::from(latency);
        self.recent.1 += 1;
        self.accepted += u64::from(self.counts(at));
        if !self.counts(born) {
            return;
        }
        self.measured += 1;
        self.hops += u64::from(hops);
        let batch = ((born - self.from) >> self.batch_bits) as usize;
        if batch >= self.batches.len() {
            self.batches.resize(batch + 1, (0, 0));
        }
        self.batches[batch].0 += u64::from(latency);
        self.batches[batch].1 += 1;
        self.latencies.add(u64::from(latency));
    }

    /// Mean latency of what was delivered since the last call.
    pub(super) fn take_recent(&mut self) -> Option<f64> {
        let (sum, count) = std::mem::take(&mut self.recent);
        (count > 0).then(|| sum as f64 / count as f64)
    }
}
