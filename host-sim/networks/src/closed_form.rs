//! Figures of a network by formula, where a formula is proven. What has none is `None`.

mod swapped;

use hopwise_core::graph::Shape;
use hopwise_core::network::{Exchanged, Hierarchy, Hypernet, Linkage, Rcr, Rdn, Re, Wk};
use hopwise_core::{Base, Family, Network};

use crate::base::Formulas;

/// Figures that are found by formula, or counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedForm {
    pub edges: u128,
    pub degree_min: u64,
    pub degree_max: u64,
    pub diameter: Option<u64>,
    /// The sum of the distances over ordered pairs.
    pub distance_sum: Option<u128>,
}

impl ClosedForm {
    /// Of edges, degrees and distances that were computed; core knows the diameter, where a formula is proven.
    fn of(network: &Network, edges: u128, degrees: (u64, u64), distance_sum: Option<u128>) -> Self {
        let (degree_min, degree_max) = degrees;
        ClosedForm {
            edges,
            degree_min,
            degree_max,
            diameter: network.diameter(),
            distance_sum,
        }
    }
}

/// The figures of a network by formula; `None` if not even the degrees have one.
pub fn figures(network: &Network) -> Option<ClosedForm> {
    match network.family() {
        // A lift has to be searched; that it can be as the base of another network is another matter.
        Family::Base(base) if matches!(base.shape(), Shape::Lift(_)) => None,
        Family::Base(base) => {
            let (edges, degrees) = (base.edges(), base.degree_range());
            Some(ClosedForm::of(network, edges, degrees, base.distance_sum()))
        }
        Family::Rdn(rdn) => Some(of_rdn(network, rdn)),
        Family::Re(re) => of_re(network, re),
        Family::Rcr(rcr) => Some(of_rcr(network, rcr)),
        Family::Hierarchy(hierarchy) => Some(of_hierarchy(network, hierarchy)),
        Family::Wk(wk) => Some(of_wk(network, wk)),
        Family::Hypernet(hypernet) => Some(of_hypernet(network, hypernet)),
        Family::Exchanged(exchanged) => Some(of_exchanged(network, exchanged)),
        Family::Rsn(rsn) => Some(swapped::of_rsn(network, rsn)),
        Family::Hsn(hsn) => Some(swapped::of_hsn(network, hsn)),
        Family::Hcn3(hcn3) => Some(swapped::of_hcn3(network, hcn3)),
        Family::PartialSwapped(_) => Some(swapped::of_partial_swapped(network)),
        _ => None,
    }
}

fn of_rdn(network: &Network, rdn: &Rdn) -> ClosedForm {
    let (least, most) = rdn.base().degree_range();
    let nodes = u128::from(network.nodes());
    let copies = nodes / u128::from(rdn.base().nodes());
    let edges = rdn.base().edges() * copies + nodes * u128::from(rdn.levels()) / 2;
    let degrees = (least + rdn.levels(), most + rdn.levels());
    ClosedForm::of(network, edges, degrees, rdn_distance_sum(rdn))
}

fn of_hierarchy(network: &Network, hierarchy: &Hierarchy) -> ClosedForm {
    let (edges, degrees) = (hierarchy_edges(network, hierarchy), hierarchy_degree_range(hierarchy));
    ClosedForm::of(network, edges, degrees, hierarchy_distance_sum(hierarchy))
}

/// S_k = 8 N^2 S_{k-1} + 6 N^4 - 4 N^3 with N the size of a cluster: same type, S twice where the cluster differs too, with
/// two crossings; other type, S twice with one crossing.
fn rdn_distance_sum(rdn: &Rdn) -> Option<u128> {
    let mut sum = rdn.base().distance_sum()?;
    let mut n = u128::from(rdn.base().nodes());
    for _ in 0..rdn.levels() {
        let cube = n.checked_mul(n)?.checked_mul(n)?;
        let crossings = cube.checked_mul(6 * n - 4)?;
        sum = sum.checked_mul(8 * n * n)?.checked_add(crossings)?;
        n = 2 * n * n;
    }
    Some(sum)
}

/// Those of the base, times its copies.
fn hierarchy_edges(network: &Network, hierarchy: &Hierarchy) -> u128 {
    let (nodes, size) = (u128::from(network.nodes()), u128::from(hierarchy.base().nodes()));
    let copies = match hierarchy.linkage() {
        Linkage::Folded => nodes / size * u128::from(hierarchy.digits()),
        // In a tree of blocks, each copy but the first brings all its nodes but the root.
        _ => (nodes - 1) / (size - 1),
    };
    copies * hierarchy.base().edges()
}

fn hierarchy_degree_range(hierarchy: &Hierarchy) -> (u64, u64) {
    let (least, most) = hierarchy.base().degree_range();
    let root = Network::from(*hierarchy.base()).unchecked().degree(0);
    let digits = hierarchy.digits();
    match hierarchy.linkage() {
        Linkage::Folded => (least * digits, most * digits),
        // No base of 3 nodes or more has its smallest degree at node 0 alone.
        Linkage::RootFolded => (least, most + (digits - 1) * root),
        Linkage::Flooded => (least, most + u64::from(digits > 1) * root),
    }
}

/// In `folded` each digit contributes alone. In the others, with what hangs at a node of a copy being of `size` nodes, `sum`
/// over its pairs and `depth` over the paths to its root, a copy of B nodes with the sum S over all pairs and R over the
/// paths to node 0 makes:
///
/// - all B nodes bearing: B sum + S size^2 + 2 B (B-1) size depth, and depth' = B depth + R size;
/// - all but node 0 bearing: (B-1) sum + (S - 2R) size^2 + 2 (B-1) (B-2) size depth + 2 depth', and
///   depth' = (B-1) depth + R size.
fn hierarchy_distance_sum(hierarchy: &Hierarchy) -> Option<u128> {
    let (base, digits) = (hierarchy.base(), hierarchy.digits());
    let nodes = u128::from(base.nodes());
    let pairs = base.distance_sum()?;
    let root = base.distance_sum_from_zero()?;
    if hierarchy.linkage() == Linkage::Folded {
        let others = nodes.checked_pow(digits as u32 - 1)?;
        return pairs
            .checked_mul(digits.into())?
            .checked_mul(others.checked_mul(others)?);
    }
    let (mut size, mut sum, mut depth) = (1u128, 0u128, 0u128);
    for digit in 0..digits {
        let first = digit + 1 == digits;
        let all_bear = first || hierarchy.linkage() == Linkage::RootFolded;
        let bearing = if all_bear { nodes } else { nodes - 1 };
        let between = if bearing == nodes { pairs } else { pairs - 2 * root };
        let deeper = bearing.checked_mul(depth)?.checked_add(root.checked_mul(size)?)?;
        let hanging = (2 * bearing * (bearing - 1)).checked_mul(size)?.checked_mul(depth)?;
        let to_bare_root = if bearing == nodes { 0 } else { 2 * deeper };
        sum = bearing
            .checked_mul(sum)?
            .checked_add(between.checked_mul(size.checked_mul(size)?)?)?
            .checked_add(hanging)?
            .checked_add(to_bare_root)?;
        size = size * bearing + (nodes - bearing);
        depth = deeper;
    }
    Some(sum)
}

/// The bits cost one hop each, and more needed bits never make the walk shorter: the farthest node needs all of them.
fn of_rcr(network: &Network, rcr: &Rcr) -> ClosedForm {
    /// Rings up to this size are tried place by place.
    const MAX_PLACES: u64 = 2048;
    let degree = network.unchecked().degree(0);
    let ring = rcr.ring();
    let farthest = || {
        let all_bits = (1u64 << rcr.word_bits()) - 1;
        let pairs = (0..ring).flat_map(|from| (0..ring).map(move |to| (from, all_bits * ring + to)));
        pairs
            .filter_map(|(from, to)| network.unchecked().distance(from, to))
            .max()
    };
    let edges = u128::from(network.nodes()) * u128::from(degree) / 2;
    let mut form = ClosedForm::of(network, edges, (degree, degree), rcr_distance_sum(network, rcr));
    if form.diameter.is_none() && ring <= MAX_PLACES {
        form.diameter = farthest();
    }
    form
}

/// Every node has one link between clusters, but the corners of the whole.
fn of_wk(network: &Network, wk: &Wk) -> ClosedForm {
    let (nodes, corners) = (u128::from(network.nodes()), u128::from(wk.nucleus().nodes()));
    let (degree, _) = wk.nucleus().degree_range();
    let edges = wk.nucleus().edges() * (nodes / corners) + (nodes - corners) / 2;
    let degrees = (degree, degree + u64::from(wk.digits() > 1));
    let distance_sum = (wk.digits() == 1).then(|| wk.nucleus().distance_sum());
    ClosedForm::of(network, edges, degrees, distance_sum.flatten())
}

/// Every two clusters of a level are joined by one link.
fn of_hypernet(network: &Network, hypernet: &Hypernet) -> ClosedForm {
    let (nodes, cube) = (u128::from(network.nodes()), hypernet.cube_bits());
    let links = |level: u64| {
        let bits = hypernet.level_bits(level);
        let clusters = 1u128 << (bits - hypernet.level_bits(level - 1));
        (nodes >> bits) * clusters * (clusters - 1) / 2
    };
    let edges = nodes * u128::from(cube) / 2 + (2..=hypernet.levels()).map(links).sum::<u128>();
    ClosedForm::of(network, edges, (cube, cube + u64::from(hypernet.levels() > 1)), None)
}

/// Every bit differs in half of all pairs. Besides, the last bit is flipped twice if it is the same, in half of the
/// pairs, and any of the bits of the other side is not.
fn of_exchanged(network: &Network, exchanged: &Exchanged) -> ClosedForm {
    let (first, second) = (exchanged.first_bits(), exchanged.second_bits());
    let nodes = u128::from(network.nodes());
    let pairs = nodes.checked_mul(nodes);
    let twice = |other_side: u64| pairs.map(|pairs| pairs / 2 - ((pairs / 2) >> other_side));
    let flips = pairs.and_then(|pairs| (pairs / 2).checked_mul(u128::from(first + second + 1)));
    let distance_sum = || flips?.checked_add(twice(first)?)?.checked_add(twice(second)?);
    let edges = nodes / 2 + nodes / 4 * u128::from(first + second);
    let degrees = (first.min(second) + 1, first.max(second) + 1);
    ClosedForm::of(network, edges, degrees, distance_sum())
}

/// Where every bit is in the window of just one place, the walk depends on the windows that hold a needed bit and on the
/// end alone: every set of windows is walked once, and counted for all words that need it.
fn rcr_distance_sum(network: &Network, rcr: &Rcr) -> Option<u128> {
    /// More windows make more sets than are worth walking through.
    const MAX_WINDOWS: u64 = 14;
    let (ring, word, window) = (rcr.ring(), rcr.word_bits(), rcr.window_bits());
    if window == 0 || ring > MAX_WINDOWS || ring * window != word {
        return None;
    }
    let mut sum = 0u128;
    for windows in 0u64..1 << ring {
        let places = (0..ring).filter(|place| windows >> place & 1 == 1);
        let one_bit_each: u64 = places.map(|place| 1 << (place * window)).sum();
        let flips = u64::from(windows.count_ones());
        let words = ((1u128 << window) - 1).checked_pow(windows.count_ones())?;
        for end in 0..ring {
            let walk = network.unchecked().distance(0, one_bit_each * ring + end)? - flips;
            sum = sum.checked_add(words.checked_mul(walk.into())?)?;
        }
    }
    // Half of all words need a given bit.
    let flips = u128::from(ring) * u128::from(word) * (1u128 << word) / 2;
    (sum + flips).checked_mul(network.nodes().into())
}

fn of_re(network: &Network, re: &Re) -> Option<ClosedForm> {
    let degrees = degrees(network, re)?;
    let copies = u128::from(network.nodes() / re.unit().nodes());
    let frame_edges: u128 = (0..re.phases())
        .map(|phase| {
            let times = re.pivots_of(phase).map_or(1, u64::count_ones);
            re.frame(phase).edges() * (copies / u128::from(re.frame(phase).nodes())) * u128::from(times)
        })
        .sum();
    let walks = re.routes_by_walk().then(|| Walks::find(network, re)).flatten();
    let edges = re.unit().edges() * copies + frame_edges;
    let distance_sum = walks.and_then(|walks| walks.distance_sum(re));

    Some(ClosedForm {
        diameter: re.routes_by_walk().then(|| diameter(network, re)).flatten(),
        ..ClosedForm::of(network, edges, degrees, distance_sum)
    })
}

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
    const MAX_DIGITS: u64 = 1 << 16;
    if (0..re.phases()).any(|phase| re.frame(phase).nodes() > MAX_DIGITS) {
        return None;
    }
    let topology = network.unchecked();
    let range = |position| {
        let zero = topology.degree(position);
        let (mut least, mut most) = (zero, zero);
        for (weight, phase) in weights(re).zip(0..) {
            let degrees = || (0..re.frame(phase).nodes()).map(|digit| topology.degree(position + digit * weight));
            least = least + degrees().min().unwrap_or(zero) - zero;
            most = most + degrees().max().unwrap_or(zero) - zero;
        }
        (least, most)
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
    let hops = |phase| Network::from(*re.frame(phase)).unchecked().distance(0, 1).unwrap_or(0);
    let frame_hops: u64 = (0..re.phases()).map(hops).sum();
    let farthest: u64 = (0..re.phases()).map(|phase| re.frame(phase).diameter()).sum();
    let positions = || 0..re.unit().nodes();
    let mut longest = 0;
    for (from, to) in positions().flat_map(|from| positions().map(move |to| (from, to))) {
        longest = longest.max(network.unchecked().distance(from, to + next_digits)? - frame_hops);
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
    const MAX_PIVOTS: usize = 16;

    fn find(network: &Network, re: &Re) -> Option<Walks> {
        let positions = re.unit().nodes();
        let pivots = (0..re.phases()).map(|phase| re.pivots_of(phase));
        let mut pivots: Vec<u64> = pivots.collect::<Option<_>>()?;
        pivots.sort_unstable();
        pivots.dedup();
        if pivots.len() > Self::MAX_PIVOTS || network.nodes() < positions {
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
        let whole = Network::from(*unit);
        let asked = whole.unchecked();
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
                for neighbor in (0..asked.degree(place)).filter_map(|port| asked.neighbor(place, port)) {
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
            let sizes = phases().map(|phase| u128::from(re.frame(phase).nodes()));
            let equal = sizes.product::<u128>();
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
