//! Swapped networks.

use hopwise_core::Network;
use hopwise_core::network::{Hcn3, Hsn, Rsn};

use super::ClosedForm;
use crate::base::Formulas;

/// In each of the N / N_i parts of level i everyone but the N_{i-1} leaders has a swap; with diameter links the leaders are
/// paired, but for the middle one of an odd number.
pub(super) fn of_rsn(network: &Network, rsn: &Rsn) -> ClosedForm {
    let nodes = u128::from(network.nodes());
    let (least, most) = rsn.nucleus().degree_range();
    let mut size = u128::from(rsn.nucleus().nodes());
    let mut edges = rsn.nucleus().edges() * (nodes / size);
    for _ in 1..rsn.levels() {
        let leaders = if rsn.has_diameter_links() { size / 2 } else { 0 };
        let swaps = size * (size - 1) / 2;
        size *= size;
        edges += (swaps + leaders) * (nodes / size);
    }
    let crossings = rsn.levels() - 1;
    let middle = rsn.nucleus().nodes() / 2;
    let degree_min = if !rsn.has_diameter_links() {
        least
    } else if rsn.nucleus().nodes().is_multiple_of(2) {
        least + crossings
    } else {
        // The middle digit repeated has only its nucleus.
        (least + crossings).min(Network::from(*rsn.nucleus()).unchecked().degree(middle))
    };
    let distance_sum = match rsn.levels() {
        1 => rsn.nucleus().distance_sum(),
        _ => over_bit_cases(network, rsn),
    };
    ClosedForm::of(network, edges, (degree_min, most + crossings), distance_sum)
}

/// The distance sum of two levels over a hypercube, folded or not. Distances do not change if bits trade places or are
/// complemented everywhere: with a = 0, only how many bits of (b,c,e) are in each of 8 cases matters.
fn over_bit_cases(network: &Network, rsn: &Rsn) -> Option<u128> {
    /// More bits have more than 50,388 ways to fall into the cases.
    const MAX_BITS: u64 = 12;
    let bits = u64::from(rsn.nucleus().nodes().ilog2());
    if rsn.levels() != 2 || bits > MAX_BITS || !rsn.is_of_cubes() {
        return None;
    }
    // Bits not yet placed, the case to fill, the digits so far and in how many ways they come about.
    let mut open = vec![(bits, 0u64, [0u64; 3], 1u128)];
    let mut sum = 0u128;
    while let Some((rest, case, [b, c, e], ways)) = open.pop() {
        if case == 7 {
            let [b, c, e] = filled([b, c, e], case, bits - rest, rest);
            sum += ways * u128::from(network.unchecked().distance(b, c << bits | e)?);
            continue;
        }
        let mut chosen = 1u128;
        for count in 0..=rest {
            let digits = filled([b, c, e], case, bits - rest, count);
            open.push((rest - count, case + 1, digits, ways * chosen));
            chosen = chosen * u128::from(rest - count) / u128::from(count + 1);
        }
    }
    sum.checked_mul(u128::from(rsn.nucleus().nodes()))
}

/// The digits with `count` bits from `start` on as the case says.
fn filled(digits: [u64; 3], case: u64, start: u64, count: u64) -> [u64; 3] {
    let run = ((1 << count) - 1) << start;
    let mut place = 0;
    digits.map(|digit| {
        let set = case >> place & 1 == 1;
        place += 1;
        if set { digit | run } else { digit }
    })
}

/// At every level above the first one node in N_1 has no swap.
pub(super) fn of_hsn(network: &Network, hsn: &Hsn) -> ClosedForm {
    let nodes = u128::from(network.nodes());
    let nucleus = u128::from(hsn.nucleus().nodes());
    let (least, most) = hsn.nucleus().degree_range();
    let swaps = (nodes - nodes / nucleus) / 2;
    let edges = hsn.nucleus().edges() * (nodes / nucleus) + swaps * u128::from(hsn.levels() - 1);
    ClosedForm::of(network, edges, (least, most + hsn.levels() - 1), None)
}

pub(super) fn of_hcn3(network: &Network, hcn3: &Hcn3) -> ClosedForm {
    let nodes = u128::from(network.nodes());
    let bits = hcn3.bits();
    let without_level_3 = nodes >> bits;
    let edges = (nodes * u128::from(bits + 2) - without_level_3) / 2;
    ClosedForm::of(network, edges, (bits + 1, bits + 2), None)
}

/// 16 copies of `rsn(3,hypercube(2))`, each two joined by 8 links.
pub(super) fn of_partial_swapped(network: &Network) -> ClosedForm {
    let copy: Network = "rsn(3,hypercube(2))".parse().expect("it is a network");
    let copy = super::figures(&copy).expect("it has formulas");
    let edges = 16 * copy.edges + 16 * 15 / 2 * 8;
    ClosedForm::of(network, edges, (copy.degree_min, copy.degree_max + 1), None)
}
