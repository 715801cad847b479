//! Boards' clocks made one, from the packets that went from board to board.
//!
//! Each clock differs from the common time by an offset and a drift. A packet that one board sent and the next received says
//! what the two clocks showed, up to the time on the way, which is taken to be the same for all packets of a kind. All of that
//! is one linear system over the graph of boards, solved by least squares: O(n³) time and O(n²) space for n clocks. Offset and time
//! on the way are told apart where packets go both ways, or round a cycle; elsewhere the time on the way is taken to be about
//! that of a frame on the wire. Pairs that fit badly count less (Huber 1964): a frame may be noticed late by a busy board.

/// Clocks beyond this are not aligned: the system would take too long.
pub const MAX_CLOCKS: usize = 1000;

/// How exactly boards tell the time of a frame, in seconds. Residuals beyond it count less.
const TYPICAL: f64 = 30e-6;
/// Crystals are about this good.
const TYPICAL_DRIFT: f64 = 50e-6;
/// How well the time of a frame on the wire is known beforehand.
const TYPICAL_DELAY_ERROR: f64 = 500e-6;
const ROUNDS: usize = 6;

/// A packet that went from one board to another. Times are in seconds, of either board's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub from: usize,
    pub to: usize,
    pub sent: f64,
    pub received: f64,
    /// Packets of the same class take the same time.
    pub class: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// Added at `middle`.
    offset: f64,
    /// Seconds a second.
    drift: f64,
    middle: f64,
    /// Clocks of one group can be compared with each other; group 0 is the largest.
    pub group: usize,
}

impl Clock {
    /// The common time of what the clock shows.
    pub fn common(&self, shown: f64) -> f64 {
        shown + self.offset + self.drift * (shown - self.middle)
    }

    /// The same clock, later.
    pub fn shifted(mut self, by: f64) -> Self {
        self.offset += by;
        self
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    /// In the order of their numbers.
    pub clocks: Vec<Clock>,
    /// Packets that were compared.
    pub pairs: usize,
    /// Half of the packets are off by no more than this many seconds.
    pub residual_median: f64,
    /// 95 of 100 packets are off by no more than this.
    pub residual_95: f64,
    pub residual_worst: f64,
}

/// Aligns `count` clocks. `delay` is about how long a packet of each class takes.
pub fn align(count: usize, pairs: &[Pair], delay: &[f64]) -> Alignment {
    let groups = groups(count, pairs);
    let mut clocks = unaligned(&groups, pairs);
    if pairs.is_empty() || count > MAX_CLOCKS {
        let clocks = clocks.into_iter().enumerate();
        let clocks = clocks.map(|(group, clock)| Clock { group, ..clock });
        return Alignment {
            clocks: clocks.collect(),
            ..Alignment::default()
        };
    }
    let mut delays = delay.to_vec();
    let mut weights = vec![1.0; pairs.len()];
    for _ in 0..ROUNDS {
        solve(&mut clocks, &mut delays, delay, pairs, &weights);
        for (weight, pair) in weights.iter_mut().zip(pairs) {
            let off = residual(&clocks, &delays, pair).abs();
            *weight = (TYPICAL / off.max(TYPICAL)).min(1.0);
        }
    }
    let off = pairs.iter().map(|pair| residual(&clocks, &delays, pair).abs());
    let mut off: Vec<f64> = off.collect();
    off.sort_by(f64::total_cmp);
    let at = |share: f64| off[((off.len() - 1) as f64 * share) as usize];
    Alignment {
        pairs: pairs.len(),
        residual_median: at(0.5),
        residual_95: at(0.95),
        residual_worst: at(1.0),
        clocks,
    }
}

fn residual(clocks: &[Clock], delays: &[f64], pair: &Pair) -> f64 {
    clocks[pair.to].common(pair.received) - clocks[pair.from].common(pair.sent) - delays[pair.class]
}

/// Clocks about which nothing is known but when they were used.
fn unaligned(groups: &[usize], pairs: &[Pair]) -> Vec<Clock> {
    let mut sums = vec![(0.0, 0u32); groups.len()];
    let shown = |pair: &Pair| [(pair.from, pair.sent), (pair.to, pair.received)];
    for (clock, time) in pairs.iter().flat_map(shown) {
        sums[clock].0 += time;
        sums[clock].1 += 1;
    }
    let clock = |(group, (sum, count)): (&usize, (f64, u32))| Clock {
        middle: sum / f64::from(count.max(1)),
        group: *group,
        ..Clock::default()
    };
    groups.iter().zip(sums).map(clock).collect()
}

/// Which clocks are connected by packets, the largest group first.
fn groups(count: usize, pairs: &[Pair]) -> Vec<usize> {
    let mut leader: Vec<usize> = (0..count).collect();
    let find = |leader: &[usize], mut clock: usize| {
        while leader[clock] != clock {
            clock = leader[clock];
        }
        clock
    };
    for pair in pairs {
        let (a, b) = (find(&leader, pair.from), find(&leader, pair.to));
        leader[a.max(b)] = a.min(b);
    }
    let leaders: Vec<usize> = (0..count).map(|clock| find(&leader, clock)).collect();
    let size = |leader: usize| leaders.iter().filter(|other| **other == leader).count();
    let mut order: Vec<usize> = (0..count).filter(|clock| leaders[*clock] == *clock).collect();
    order.sort_by_key(|leader| (std::cmp::Reverse(size(*leader)), *leader));
    let place = |leader: &usize| order.iter().position(|other| other == leader).unwrap_or(0);
    leaders.iter().map(place).collect()
}

/// One round of weighted least squares. The unknowns are offset and drift of every clock, and the time of every class. The first
/// clock of each group is the common time of the group.
fn solve(clocks: &mut [Clock], delays: &mut [f64], usual: &[f64], pairs: &[Pair], weights: &[f64]) {
    let count = clocks.len();
    let size = 2 * count + delays.len();
    let mut system = System {
        size,
        matrix: vec![0.0; size * size],
        right: vec![0.0; size],
    };

    for (pair, weight) in pairs.iter().zip(weights) {
        let at = |clock: usize, shown: f64| shown - clocks[clock].middle;
        let row = [
            (pair.to, 1.0),
            (count + pair.to, at(pair.to, pair.received)),
            (pair.from, -1.0),
            (count + pair.from, -at(pair.from, pair.sent)),
            (2 * count + pair.class, -1.0),
        ];
        system.add(&row, pair.sent - pair.received, weight / TYPICAL.powi(2));
    }
    let mut met = Vec::new();
    for (number, clock) in clocks.iter().enumerate() {
        let first = !met.contains(&clock.group);
        met.push(clock.group);
        // What is fixed, or known beforehand: without it the system would have no single solution.
        let (offset, drift): (f64, f64) = if first { (1e-9, 1e-12) } else { (1e9, TYPICAL_DRIFT) };
        system.add(&[(number, 1.0)], 0.0, offset.powi(-2));
        system.add(&[(count + number, 1.0)], 0.0, drift.powi(-2));
    }
    for (class, usual) in usual.iter().enumerate() {
        system.add(&[(2 * count + class, 1.0)], *usual, TYPICAL_DELAY_ERROR.powi(-2));
    }
    let solution = system.solve();
    for (number, clock) in clocks.iter_mut().enumerate() {
        clock.offset = solution[number];
        clock.drift = solution[count + number];
    }
    delays.copy_from_slice(&solution[2 * count..]);
}

/// Normal equations, solved by Cholesky's method.
struct System {
    size: usize,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl System {
    /// The sum of these unknowns, each times its factor, should be `value`.
    fn add(&mut self, row: &[(usize, f64)], value: f64, weight: f64) {
        for (i, a) in row {
            for (j, b) in row {
                self.matrix[i * self.size + j] += weight * a * b;
            }
            self.right[*i] += weight * a * value;
        }
    }

    /// Unknowns are scaled to a diagonal of ones first: offsets and drifts differ by many orders of magnitude.
    fn solve(mut self) -> Vec<f64> {
        let n = self.size;
        let scale = |i: usize| self.matrix[i * n + i].max(f64::MIN_POSITIVE).sqrt().recip();
        let scale: Vec<f64> = (0..n).map(scale).collect();
        for i in 0..n {
            for j in 0..n {
                self.matrix[i * n + j] *= scale[i] * scale[j];
            }
            self.right[i] *= scale[i];
        }
        let m = &mut self.matrix;
        for j in 0..n {
            for i in j..n {
                let dot: f64 = (0..j).map(|k| m[i * n + k] * m[j * n + k]).sum();
                let left = m[i * n + j] - dot;
                m[i * n + j] = if i == j {
                    left.max(1e-14).sqrt()
                } else {
                    left / m[j * n + j]
                };
            }
        }
        let mut x = self.right;
        for i in 0..n {
            let dot: f64 = (0..i).map(|k| m[i * n + k] * x[k]).sum();
            x[i] = (x[i] - dot) / m[i * n + i];
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|k| m[k * n + i] * x[k]).sum();
            x[i] = (x[i] - dot) / m[i * n + i];
        }
        x.iter().zip(&scale).map(|(x, scale)| x * scale).collect()
    }
}
