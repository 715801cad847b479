//! When the nodes make packets.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::parameters::Process;

/// The sources of all nodes. A cycle costs what is made in it: the random numbers say how long nothing happens.
pub(super) enum Sources {
    Silent,
    /// The coins of all nodes and cycles are one row of coins, cycle by cycle; `next` is the next that shows heads.
    Bernoulli {
        next: u64,
        nodes: u64,
        rate: f64,
    },
    /// Every node's next packet, in a calendar of `CALENDAR` days a year.
    Bursty {
        calendar: Vec<Vec<u32>>,
        nodes: Vec<Burst>,
        chances: Chances,
    },
}

const CALENDAR: usize = 1_024;

pub(super) struct Burst {
    next: u64,
    end: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Chances {
    make: f64,
    stop: f64,
    start: f64,
}

impl Sources {
    pub(super) fn new(process: Process, rate: f64, nodes: u32, rng: &mut Xoshiro256PlusPlus) -> Self {
        if rate <= 0.0 {
            return Sources::Silent;
        }
        match process {
            Process::Bernoulli => Sources::Bernoulli {
                next: gap(rate, rng),
                nodes: u64::from(nodes),
                rate,
            },
            Process::Bursty { length, peak } => {
                // The share of time in bursts makes up for the peak; a peak below the rate is raised to it.
                let make = peak.max(rate);
                let active = rate / make;
                let stop = if active < 1.0 { 1.0 / length } else { 0.0 };
                let chances = Chances {
                    make,
                    stop,
                    start: stop * active / (1.0 - active).max(f64::MIN_POSITIVE),
                };
                let mut calendar = vec![Vec::new(); CALENDAR];
                let mut begin = |node: u32| {
                    let is_active = rng.random::<f64>() < active;
                    let end = if is_active { gap(chances.stop, rng) } else { 0 };

                    let mut burst = Burst { next: 0, end };
                    burst.advance(0, chances, rng);
                    calendar[burst.next as usize % CALENDAR].push(node);
                    burst
                };
                let nodes = (0..nodes).map(&mut begin).collect();
                Sources::Bursty {
                    calendar,
                    nodes,
                    chances,
                }
            }
        }
    }

    /// Adds the nodes that make a packet in this cycle.
    pub(super) fn cycle(&mut self, now: u32, rng: &mut Xoshiro256PlusPlus, made: &mut Vec<u32>) {
        let now = u64::from(now);
        match self {
            Sources::Silent => (),
            Sources::Bernoulli { next, nodes, rate } => {
                let start = now * *nodes;
                while *next < start + *nodes {
                    made.push((*next - start) as u32);
                    *next += 1 + gap(*rate, rng);
                }
            }
            Sources::Bursty {
                calendar,
                nodes,
                chances,
            } => {
                let mut day = std::mem::take(&mut calendar[now as usize % CALENDAR]);
                day.retain(|&node| {
                    let burst = &mut nodes[node as usize];
                    if burst.next != now {
                        return true;
                    }
                    made.push(node);
                    burst.advance(now + 1, *chances, rng);
                    if burst.next as usize % CALENDAR == now as usize % CALENDAR {
                        return true;
                    }
                    calendar[burst.next as usize % CALENDAR].push(node);
                    false
                });
                calendar[now as usize % CALENDAR] = day;
            }
        }
    }
}

impl Burst {
    fn advance(&mut self, from: u64, chances: Chances, rng: &mut Xoshiro256PlusPlus) {
        let mut at = from.saturating_add(gap(chances.make, rng));
        while at >= self.end {
            let begin = self.end.max(from).saturating_add(gap(chances.start, rng));
            self.end = begin.saturating_add(1).saturating_add(gap(chances.stop, rng));
            at = begin.saturating_add(gap(chances.make, rng));
            if begin == u64::MAX {
                break;
            }
        }
        self.next = at;
    }
}

/// How many coins that show heads with this chance show tails before the first head.
fn gap(chance: f64, rng: &mut Xoshiro256PlusPlus) -> u64 {
    if chance >= 1.0 {
        return 0;
    }
    // 1 - u is in (0, 1]; a chance of 0 gives infinity, which the conversion turns into the largest number.
    let gap = ((1.0 - rng.random::<f64>()).ln() / (-chance).ln_1p()).floor();
    if gap.is_finite() {
        (gap as u64).min(1 << 62)
    } else {
        1 << 62
    }
}
