//! What is written down while a simulation runs.

use hopwise_figures::Histogram;

/// Latencies below this many cycles are told apart.
const TOLD_APART: usize = 1 << 16;

/// The packets made in the cycles `from..to`, and what became of them.
#[derive(Default)]
pub(super) struct Recorder {
    from: u32,
    to: u32,
    /// Cycles of a batch, as a power of two.
    batch_bits: u32,
    /// Of the measured packets.
    pub(super) latencies: Histogram,
    /// Sum of latencies and number of packets, by the time of making.
    pub(super) batches: Vec<(u64, u64)>,
    /// How many of the measured packets took how many hops.
    pub(super) hops: Vec<u64>,
    /// Packets made in the window: by sources, and with the copies of broadcasts.
    pub(super) offered: u64,
    pub(super) expected: u64,
    pub(super) measured: u64,
    /// Packets made in the window that were lost.
    pub(super) lost: u64,
    /// Packets delivered in the window, whenever made.
    pub(super) accepted: u64,
    /// All packets ever delivered, and when the last of them was.
    pub(super) delivered: u64,
    pub(super) last_delivery: u32,
    /// Sum and number of the latencies delivered since the last [`take_recent`](Self::take_recent).
    recent: (u64, u64),
}

impl Recorder {
    pub(super) fn new() -> Self {
        Self {
            from: u32::MAX,
            to: u32::MAX,
            latencies: Histogram::new(TOLD_APART),
            ..Self::default()
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

    pub(super) fn window(&self) -> std::ops::Range<u32> {
        self.from..self.to
    }

    fn counts(&self, cycle: u32) -> bool {
        self.window().contains(&cycle)
    }

    pub(super) fn lost(&mut self, born: u32) {
        self.lost += u64::from(self.counts(born));
    }

    /// Whether it is known of every packet what became of it.
    pub(super) fn is_complete(&self) -> bool {
        self.measured + self.lost == self.expected
    }

    pub(super) fn delivered(&mut self, born: u32, at: u32, hops: u32) {
        let latency = at - born;
        self.delivered += 1;
        self.last_delivery = self.last_delivery.max(at);
        self.recent.0 += u64::from(latency);
        self.recent.1 += 1;
        self.accepted += u64::from(self.counts(at));
        if !self.counts(born) {
            return;
        }
        self.measured += 1;
        if hops as usize >= self.hops.len() {
            self.hops.resize(hops as usize + 1, 0);
        }
        self.hops[hops as usize] += 1;
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
