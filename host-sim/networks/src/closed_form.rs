//! Figures of a network by formula, where a formula is proven. What has none is `None`.

mod swapped;

use hopwise_core::network::{Exchanged, Hierarchy, Hypernet, Rcr, Rdn, Re, Wk};
use hopwise_core::{Base, Family, Network, Topology};

/// Figures found by formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedForm {
    /// How many edges there are.
    pub edges: u128,
    /// The smallest degree.
    pub degree_min: u64,
    /// The largest degree.
    pub degree_max: u64,
    /// The largest distance.
    pub diameter: Option<u64>,
    /// The sum of the distances over ordered pairs.
    pub distance_sum: Option<u128>,
}

/// The figures of a network by formula; `None` if not even the degrees have one.
pub fn figures(network: &Network) -> Option<ClosedForm> {
    match network.family() {
        Family::Base(base) => Some(of_base(base)),
        Family::Rdn(rdn) => Some(of_rdn(rdn)),
        Family::Re(re) => of_re(network, re),
        Family::Rcr(rcr) => Some(of_rcr(network, rcr)),
        Family::Hierarchy(hierarchy) => Some(of_hierarchy(hierarchy)),
        Family::Wk(wk) => Some(of_wk(wk)),
        Family::Hypernet(hypernet) => Some(of_hypernet(hypernet)),
        Family::Exchanged(exchanged) => Some(of_exchanged(exchanged)),
        Family::Rsn(rsn) => Some(swapped::of_rsn(rsn)),
        Family::Hsn(hsn) => Some(swapped::of_hsn(hsn)),
        Family::Hcn3(hcn3) => Some(swapped::of_hcn3(hcn3)),
        Family::PartialSwapped(partial) => Some(swapped::of_partial_swapped(partial)),
        _ => None,
    }
}

fn of_base(base: &Base) -> ClosedForm {
    let (degree_min, degree_max) = base.degree_range();
    ClosedForm {
        edges: base.edges(),
        degree_min,
        degree_max,
        diameter: Some(base.diameter()),
        distance_sum: base.distance_sum(),
    }
}

fn of_rdn(rdn: &Rdn) -> ClosedForm {
    let (degree_min, degree_max) = rdn.base().degree_range();
    let nodes = u128::from(rdn.nodes());
    let copies = nodes / u128::from(rdn.base().nodes());
    ClosedForm {
        edges: rdn.base().edges() * copies + nodes * u128::from(rdn.levels()) / 2,
        degree_min: degree_min + rdn.levels(),
        degree_max: degree_max + rdn.levels(),
        diameter: Some(rdn.diameter()),
        distance_sum: rdn.distance_sum(),
    }
}

fn of_hierarchy(hierarchy: &Hierarchy) -> ClosedForm {
    let (degree_min, degree_max) = hierarchy.degree_range();
    ClosedForm {
        edges: hierarchy.edges(),
        degree_min,
        degree_max,
        diameter: Some(hierarchy.diameter()),
        distance_sum: hierarchy.distance_sum(),
    }
}

/// The bits cost one hop each, and more needed bits never make the walk shorter: the farthest node needs all of them.
fn of_rcr(network: &Network, rcr: &Rcr) -> ClosedForm {
    /// Rings up to this size are tried place by place.
    const MOST_PLACES: u64 = 2048;
    let degree = rcr.degree(0);
    let ring = rcr.ring();
    let farthest = || {
        let all_bits = (1u64 << rcr.word_bits()) - 1;
        let pairs = (0..ring).flat_map(|from| (0..ring).map(move |to| (from, all_bits * ring + to)));
        pairs
            .filter_map(|(from, to)| network.topology().distance(from, to))
            .max()
    };
    ClosedForm {
        edges: u128::from(network.nodes()) * u128::from(degree) / 2,
        degree_min: degree,
        degree_max: degree,
        diameter: rcr
            .diameter()
            .or_else(|| if ring <= MOST_PLACES { farthest() } else { None }),
        distance_sum: rcr_distance_sum(network, rcr),
    }
}

/// Every node has one link between clusters, but the corners of the whole.
fn of_wk(wk: &Wk) -> ClosedForm {
    let (nodes, corners) = (u128::from(wk.nodes()), u128::from(wk.nucleus().nodes()));
    let (degree, _) = wk.nucleus().degree_range();
    ClosedForm {
        edges: wk.nucleus().edges() * (nodes / corners) + (nodes - corners) / 2,
        degree_min: degree,
        degree_max: degree + u64::from(wk.digits() > 1),
        diameter: Some(wk.diameter()),
        distance_sum: if wk.digits() == 1 {
            wk.nucleus().distance_sum()
        } else {
            None
        },
    }
}

/// Every two clusters of a level are joined by one link.
fn of_hypernet(hypernet: &Hypernet) -> ClosedForm {
    let (nodes, cube) = (u128::from(hypernet.nodes()), hypernet.cube_bits());
    let links = |level: u64| {
        let bits = hypernet.level_bits(level);
        let clusters = 1u128 << (bits - hypernet.level_bits(level - 1));
        (nodes >> bits) * clusters * (clusters - 1) / 2
    };
    ClosedForm {
        edges: nodes * u128::from(cube) / 2 + (2..=hypernet.levels()).map(links).sum::<u128>(),
        degree_min: cube,
        degree_max: cube + u64::from(hypernet.levels() > 1),
        diameter: hypernet.diameter(),
        distance_sum: None,
    }
}

/// Every bit differs in half of all pairs. Besides, the last bit is flipped twice if it is the same, in half of the
/// pairs, and any of the bits of the other side is not.
fn of_exchanged(exchanged: &Exchanged) -> ClosedForm {
    let (first, second) = (exchanged.first_bits(), exchanged.second_bits());
    let nodes = u128::from(exchanged.nodes());
    let pairs = nodes.checked_mul(nodes);
    let twice = |other_side: u64| pairs.map(|pairs| pairs / 2 - ((pairs / 2) >> other_side));
    let flips = pairs.and_then(|pairs| (pairs / 2).checked_mul(u128::from(first + second + 1)));
    let distance_sum = flips.zip(twice(first)).zip(twice(second));
    ClosedForm {
        edges: nodes / 2 + nodes / 4 * u128::from(first + second),
        degree_min: first.min(second) + 1,
        degree_max: first.max(second) + 1,
        diameter: Some(exchanged.diameter()),
        distance_sum: distance_sum.and_then(|((flips, a), b)| flips.checked_add(a)?.checked_add(b)),
    }
}

/// Where every bit is in the window of just one place, the walk depends on the windows that hold a needed bit and on the
/// end alone: every set of windows is walked once, and counted for all words that need it.
fn rcr_distance_sum(network: &Network, rcr: &Rcr) -> Option<u128> {
    /// More windows make more sets than are worth walking through.
    const MOST_WINDOWS: u64 = 14;
    let (ring, word, window) = (rcr.ring(), rcr.word_bits(), rcr.window_bits());
    if window == 0 || ring > MOST_WINDOWS || ring * window != word {
        return None;
    }
    let mut sum = 0u128;
    for windows in 0u64..1 << ring {
        let one_bit_each: u64 = (0..ring)
            .filter(|place| windows >> place & 1 == 1)
            .map(|place| 1 << (place * window))
            .sum();
        let flips = u64::from(windows.count_ones());
        let words = ((1u128 << window) - 1).checked_pow(windows.count_ones())?;
        for end in 0..ring {
            let walk = network.topology().distance(0, one_bit_each * ring + end)? - flips;
            sum = sum.checked_add(words.checked_mul(walk.into())?)?;
        }
    }
    // Half of all words need a given bit.
    let flips = u128::from(ring) * u128::from(word) * (1u128 << word) / 2;
    (sum + flips).checked_mul(network.nodes().into())
}

fn of_re(network: &Network, re: &Re) -> Option<ClosedForm> {
    let (degree_min, degree_max) = degrees(network, re)?;
    let copies = u128::from(network.nodes() / re.unit().nodes());
    let frame_edges: u128 = (0..re.phases())
        .map(|phase| {
            let times = re.pivots_of(phase).map_or(1, u64::count_ones);
            re.frame(phase).edges() * (copies / u128::from(re.frame(phase).nodes())) * u128::from(times)
        })
        .sum();
    let walks = if re.routes_by_walk() {
        Walks::find(network, re)
    } else {
        None
    };
    Some(ClosedForm {
        edges: re.unit().edges() * copies + frame_edges,
        degree_min,
        degree_max,
        diameter: if re.routes_by_walk() {
            diameter(network, re)
        } else {
            None
        },
        distance_sum: walks.and_then(|walks| walks.distance_sum(re)),
    })
}

/// What one step of each digit adds to a node's number.
fn weights(re: &Re) -> impl Iterator<Item = u64> + '_ {
    (0..re.phases()).scan(re.unit().nodes(), |weight, phase| {
        let this = *weight;
        *weight = weight.wrapping_mul(re.frame(phase).nodes());
        Some(this)
    })
}

/// The digits contribute to a node's degree independently of each other.
fn degrees(network: &Network, re: &Re) -> Option<(u64, u64)> {
    /// Frames up to this size are tried digit by digit.
    const MOST_DIGITS: u64 = 1 << 16;
    if (0..re.phases()).any(|phase| re.frame(phase).nodes() > MOST_DIGITS) {
        return None;
    }
    let topology = network.topology();
    let range = |position| {
        let zero = topology.degree(position);
        weights(re)
            .zip(0..)
            .fold((zero, zero), |(least, most), (weight, phase)| {
                let degrees = || (0..re.frame(phase).nodes()).map(|digit| topology.degree(position + digit * weight));
                (
                    least + degrees().min().unwrap_or(zero) - zero,
                    most + degrees().max().unwrap_or(zero) - zero,
                )
            })
    };
    let ranges = || (0..re.unit().nodes()).map(range);
    Some((
        ranges().map(|range| range.0).min()?,
        ranges().map(|range| range.1).max()?,
    ))
}

/// All digits as far apart as they can be, and the longest walk by way of all pivots.
fn diameter(network: &Network, re: &Re) -> Option<u64> {
    let next_digits: u64 = weights(re).sum();
    let frame_hops: u64 = (0..re.phases())
        .map(|phase| re.frame(phase).distance(0, 1).unwrap_or(0))
        .sum();
    let farthest: u64 = (0..re.phases()).map(|phase| re.frame(phase).diameter()).sum();
    let positions = || 0..re.unit().nodes();
    let mut longest = 0;
    for (from, to) in positions().flat_map(|from| positions().map(move |to| (from, to))) {
        longest = longest.max(network.topology().distance(from, to + next_digits)? - frame_hops);
    }
    Some(farthest + longest)
}

/// For every choice of phases that differ, the lengths of the shortest walks by way of their pivots, summed over all pairs of
/// positions. Phases with the same pivots count as one.
struct Walks {
    /// The pivots of a phase, as a set of positions.
    pivots: Vec<u64>,
    sums: Vec<u128>,
}

impl Walks {
    /// More pivots make more sets than are worth walking through.
    const MOST_PIVOTS: usize = 16;

    fn find(network: &Network, re: &Re) -> Option<Walks> {
        let positions = re.unit().nodes();
        let mut pivots: Vec<u64> = (0..re.phases())
            .map(|phase| re.pivots_of(phase))
            .collect::<Option<_>>()?;
        pivots.sort_unstable();
        pivots.dedup();
        if pivots.len() > Self::MOST_PIVOTS || network.nodes() < positions {
            return None;
        }
        let mut sums = vec![0u128; 1 << pivots.len()];
        for from in 0..positions {
            let lengths = Self::lengths_from(re.unit(), &pivots, from);
            for (set, row) in lengths.iter().enumerate() {
                sums[set] += row.iter().map(|&length| u128::from(length)).sum::<u128>();
            }
        }
        Some(Walks { pivots, sums })
    }

    /// By set and end, the hops of the shortest walk that visits at least that set: breadth-first search over what was
    /// visited, then every set takes the best of its supersets.
    fn lengths_from(unit: &Base, pivots: &[u64], from: u64) -> Vec<Vec<u8>> {
        let positions = unit.nodes() as usize;
        let mark = |place: u64| {
            let numbered = pivots.iter().enumerate();
            numbered.fold(0, |met, (index, group)| met | ((group >> place & 1) as usize) << index)
        };
        let mut lengths = vec![vec![u8::MAX; positions]; 1 << pivots.len()];
        let mut front = vec![(mark(from), from)];
        lengths[mark(from)][from as usize] = 0;
        for length in 1.. {
            let mut next = Vec::new();
            for (set, place) in front {
                for neighbor in (0..unit.degree(place)).filter_map(|port| unit.neighbor(place, port)) {
                    let visited: usize = set | mark(neighbor);
                    let slot = &mut lengths[visited][neighbor as usize];
                    if *slot == u8::MAX {
                        *slot = length;
                        next.push((visited, neighbor));
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            front = next;
        }
        for bit in 0..pivots.len() {
            for set in (0..lengths.len()).filter(|set| set >> bit & 1 == 0) {
                let (below, above) = lengths.split_at_mut(set | 1 << bit);
                for (length, with_bit) in below[set].iter_mut().zip(&above[0]) {
                    *length = (*length).min(*with_bit);
                }
            }
        }
        lengths
    }

    /// Walks weighted by how many pairs of digits need just that set of pivots, plus the hops in the frames.
    fn distance_sum(&self, re: &Re) -> Option<u128> {
        let pairs = |phase: u64| u128::from(re.frame(phase).nodes()).checked_pow(2);
        let at_pivots = |pivots: &u64| -> Option<(u128, u128)> {
            let phases = || (0..re.phases()).filter(|&phase| re.pivots_of(phase) == Some(*pivots));
            let all = phases().try_fold(1u128, |all, phase| all.checked_mul(pairs(phase)?))?;
            let equal = phases()
                .map(|phase| u128::from(re.frame(phase).nodes()))
                .product::<u128>();
            Some((equal, all - equal))
        };
        let choices: Vec<(u128, u128)> = self.pivots.iter().map(at_pivots).collect::<Option<_>>()?;
        let mut sum = 0u128;
        for (set, walks) in self.sums.iter().enumerate() {
            let weight = choices
                .iter()
                .enumerate()
                .try_fold(1u128, |weight, (bit, (equal, differ))| {
                    weight.checked_mul(if set >> bit & 1 == 1 { *differ } else { *equal })
                })?;
            sum = sum.checked_add(walks.checked_mul(weight)?)?;
        }
        let positions = u128::from(re.unit().nodes());
        for phase in 0..re.phases() {
            let mut others = (0..re.phases()).filter(|&other| other != phase);
            let others = others.try_fold(positions * positions, |all, other| all.checked_mul(pairs(other)?))?;
            sum = sum.checked_add(re.frame(phase).distance_sum()?.checked_mul(others)?)?;
        }
        Some(sum)
    }
}
