//! Buffer classes: if a node has at least one buffer of every class, store-and-forward cannot deadlock.
//!
//! A scheme for each family, for the load simulator and the deadlock command; boards use the router's virtual channels instead. Most
//! networks count valleys ahead: nodes whose number is lower than both the one before and the one after. Between two
//! valleys a route climbs and then descends, so the links of one class cannot wait for each other in a cycle, and the class
//! never rises: free of deadlock on any topology and any deterministic rule. Some families have a cheaper scheme.

use hopwise_core::graph::{Factor, Shape};
use hopwise_core::limits::MAX_PERMUTED;
use hopwise_core::network::{Hierarchy, Hsn, Linkage, Rdn, Rsn};
use hopwise_core::{Base, Family, Method, Network, Node, Rule};

use crate::base::Formulas;

/// A route is followed at most this many hops ahead.
const MAX_HOPS: u32 = 4_096;

/// Whether [`class`] counts the valleys ahead. A packet can then carry its class and lower it at each valley, at no cost,
/// instead of having it computed afresh.
pub fn counts_valleys(network: &Network) -> bool {
    match network.family() {
        Family::Base(base) => matches!(base.shape(), Shape::Lift(_)),
        Family::Rdn(_) | Family::Hierarchy(_) => false,
        Family::Rsn(rsn) => !counts_crossings(network, rsn),
        Family::Hsn(hsn) => !counts_swaps(network, hsn),
        _ => true,
    }
}

/// Number of classes that make the routing function deadlock-free; all classes are below it. An upper bound: small networks may use fewer.
pub fn count(network: &Network, rule: Rule) -> u64 {
    match network.family() {
        Family::Base(base) => base_count(base),
        Family::Rdn(rdn) => base_count(rdn.base()) << rdn.levels(),
        Family::Hierarchy(hierarchy) => {
            let has_roots = hierarchy.linkage() != Linkage::Folded && hierarchy.digits() > 1;
            base_count(hierarchy.base()) + u64::from(has_roots)
        }
        Family::Rsn(rsn) if counts_crossings(network, rsn) => crossing_classes(network, rsn, rule),
        Family::Hsn(hsn) if counts_swaps(network, hsn) => swap_classes(hsn, rule),
        // A route over complete graphs only climbs or only descends in each of its 2 t parts, and a valley takes two.
        Family::Wk(wk) if wk.digits() > 1 && wk.nucleus().diameter() == 1 => wk.digits() + 1,
        _ => valleys_bound(network, rule),
    }
}

/// The class of buffers in which a packet for `dest` waits for the link out of `here`; `None` if the route is longer than
/// 4,096 hops. Both nodes must exist.
pub fn class(network: &Network, here: Node, dest: Node, rule: Rule) -> Option<u64> {
    match network.family() {
        Family::Base(base) => base_class(base, here, dest),
        Family::Rdn(rdn) => rdn_class(rdn, here, dest),
        Family::Hierarchy(hierarchy) => hierarchy_class(hierarchy, here, dest),
        Family::Rsn(rsn) if counts_crossings(network, rsn) => crossings_class(network, rsn.nucleus(), here, dest, rule),
        Family::Hsn(hsn) if counts_swaps(network, hsn) => crossings_class(network, hsn.nucleus(), here, dest, rule),
        _ => valleys_ahead(network, here, dest, rule),
    }
}

/// A valley takes two hops.
fn valleys_bound(network: &Network, rule: Rule) -> u64 {
    network.longest_route(rule) / 2 + 1
}

fn valleys_ahead(network: &Network, mut here: Node, dest: Node, rule: Rule) -> Option<u64> {
    let mut valleys = 0;
    let mut descending = false;
    for _ in 0..MAX_HOPS {
        if here == dest {
            return Some(valleys);
        }
        let next = network.unchecked().next(here, dest, rule);
        valleys += u64::from(descending && next > here);
        descending = next < here;
        here = next;
    }
    None
}

/// A ring whose routes are longer than one hop closes a cycle of waiting links; it is cut at the wrap.
fn is_cut(factor: Factor, n: u64) -> bool {
    factor == Factor::Ring && n > 3
}

/// Along one axis: 0 while the wrap is ahead, 1 after it.
fn axis_class(factor: Factor, n: u64, here: u64, dest: u64) -> u64 {
    if !is_cut(factor, n) {
        return 0;
    }
    let upwards = (dest + n - here) % n <= n / 2;
    u64::from(upwards == (here < dest))
}

fn base_count(base: &Base) -> u64 {
    match base.shape() {
        Shape::Line(factor, n) => 1 + u64::from(is_cut(factor, n)),
        Shape::Product(factor, sizes) => 1 + u64::from(sizes.iter().any(|&size| is_cut(factor, size.into()))),
        // Routes of one hop, a tree, dimension order, and dimension order after the complement: no cycles.
        Shape::Star(_) | Shape::Hypercube(_) | Shape::FoldedHypercube(_) => 1,
        Shape::NStar(_) | Shape::Petersen | Shape::Heawood | Shape::Lift(_) => base.diameter() / 2 + 1,
    }
}

fn base_class(base: &Base, here: Node, dest: Node) -> Option<u64> {
    match base.shape() {
        Shape::Line(factor, n) => Some(axis_class(factor, n, here, dest)),
        Shape::Product(factor, sizes) => {
            // Dimension order cannot come back to a dimension, so the classes of the one being traveled are enough.
            let (mut here, mut dest) = (here, dest);
            for size in sizes.iter().map(|&size| u64::from(size)) {
                if here % size != dest % size {
                    return Some(axis_class(factor, size, here % size, dest % size));
                }
                (here, dest) = (here / size, dest / size);
            }
            Some(0)
        }
        Shape::Star(_) | Shape::Hypercube(_) | Shape::FoldedHypercube(_) => Some(0),
        Shape::NStar(_) | Shape::Petersen | Shape::Heawood | Shape::Lift(_) => {
            valleys_ahead(&Network::from(*base), here, dest, Rule::Exact)
        }
    }
}

/// One bit a level, set in the destination's cluster and on the link into it, times the classes of the base.
fn rdn_class(rdn: &Rdn, here: Node, dest: Node) -> Option<u64> {
    let base_classes = base_count(rdn.base());
    let mut sizes = vec![rdn.base().nodes()];
    for level in 1..rdn.levels() {
        sizes.push(2 * sizes[level as usize - 1].pow(2));
    }
    let triple = |node: Node, size: u64| (node / (size * size), node / size % size, node % size);
    let (mut from, mut to) = (here, dest);
    let mut class = 0;
    for (level, &size) in sizes.iter().enumerate().take(rdn.levels() as usize).rev() {
        let ((kind, cluster, node), (wanted_kind, wanted_cluster, wanted)) = (triple(from, size), triple(to, size));
        let weight = base_classes << level;
        if (kind, cluster) == (wanted_kind, wanted_cluster) {
            class += weight;
            to = wanted;
        } else if kind != wanted_kind && node != wanted_cluster {
            to = wanted_cluster;
        } else {
            return Some(class + if kind != wanted_kind { weight } else { 0 });
        }
        from = node;
    }
    Some(class + base_class(rdn.base(), from, to)?)
}

/// In `folded` the classes of the base: the order of the digits never comes back to one. In the others one more, for the path
/// out. On it a packet only comes closer to a root or goes on to a copy further out; across and in it never goes on to a
/// copy further out; and it turns once.
fn hierarchy_class(hierarchy: &Hierarchy, here: Node, dest: Node) -> Option<u64> {
    let (from, to) = (hierarchy_digits(hierarchy, here), hierarchy_digits(hierarchy, dest));
    let Some(place) = (0..from.len()).find(|&place| from[place] != to[place]) else {
        return Some(0);
    };
    let outwards = hierarchy.linkage() != Linkage::Folded && from[place + 1..].iter().any(|&digit| digit != 0);
    if outwards {
        Some(base_count(hierarchy.base()))
    } else {
        base_class(hierarchy.base(), from[place], to[place])
    }
}

/// The digits of a node, the outermost first. Below a 0, `flooded` has only zeros, and leaves their numbers out.
fn hierarchy_digits(hierarchy: &Hierarchy, node: Node) -> Vec<u64> {
    let (size, flooded) = (hierarchy.base().nodes(), hierarchy.linkage() == Linkage::Flooded);
    let mut weights = vec![1];
    for place in 1..hierarchy.digits() as usize {
        weights.push(weights[place - 1] * if flooded { size - 1 } else { size } + u64::from(flooded));
    }
    let mut rest = node;
    let mut digits = Vec::new();
    for (index, &weight) in weights.iter().rev().enumerate() {
        let is_short = flooded && index > 0 && rest > 0;
        let saved = if is_short { weight - 1 } else { 0 };

        digits.push((rest + saved) / weight);
        rest = (rest + saved) % weight;
    }
    digits
}

/// A quantity that grows from level to level to `legs` times its value plus the crossings.
fn crossed(rsn: &Rsn, legs: u64, crossings: u64) -> u64 {
    (1..rsn.levels()).fold(0, |all: u64, _| all.saturating_mul(legs).saturating_add(crossings))
}

/// Whether counting the links between clusters ahead needs fewer classes than counting valleys. Not where leaders are left
/// out: there a packet may change its mind within a nucleus.
fn counts_crossings(network: &Network, rsn: &Rsn) -> bool {
    let all_tried = network.method(0, network.nodes() - 1, Rule::Exact) == Ok(Method::Shortest);
    all_tried && crossing_classes(network, rsn, Rule::Exact) < valleys_bound(network, Rule::Exact)
}

fn crossing_classes(network: &Network, rsn: &Rsn, rule: Rule) -> u64 {
    let crossings = match rule {
        Rule::Paper => crossed(rsn, 2, 1),
        Rule::Exact if rsn.has_diameter_links() => crossed(rsn, 4, 3),
        Rule::Exact => crossed(rsn, 2, 2),
    };
    (crossings.min(network.longest_route(rule)) + 1).saturating_mul(base_count(rsn.nucleus()))
}

/// Counting the swaps ahead takes fewer classes than counting valleys, and all orders are tried, so that a packet keeps its
/// path.
fn counts_swaps(network: &Network, hsn: &Hsn) -> bool {
    hsn.levels() <= MAX_PERMUTED as u64 + 1 && swap_classes(hsn, Rule::Exact) < valleys_bound(network, Rule::Exact)
}

fn swap_classes(hsn: &Hsn, rule: Rule) -> u64 {
    // By the paper's rule a digit is right after one swap; else every wrong digit may be a cycle by itself.
    let swaps = match rule {
        Rule::Paper => hsn.levels() - 1,
        Rule::Exact => 2 * (hsn.levels() - 1),
    };
    (swaps + 1).saturating_mul(base_count(hsn.nucleus()))
}

/// The links between nuclei still ahead, times the classes of the nucleus, and the class within it: the count falls with
/// every such link, and between two of them a packet stays in one nucleus, whose own classes do the rest.
fn crossings_class(network: &Network, nucleus: &Base, here: Node, dest: Node, rule: Rule) -> Option<u64> {
    let size = nucleus.nodes();
    let mut crossings = 0;
    // Where the packet leaves the nucleus that it is in now.
    let mut exit = None;
    let mut at = here;
    for _ in 0..MAX_HOPS {
        if at == dest {
            let within = base_class(nucleus, here % size, exit.unwrap_or(dest) % size)?;
            return Some(crossings * base_count(nucleus) + within);
        }
        let next = network.unchecked().next(at, dest, rule);
        if at / size != next / size {
            crossings += 1;
            exit.get_or_insert(at);
        }
        at = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_testing::networks;

    #[test]
    fn classes_fall_along_routes_and_keep_to_their_bound() {
        for expression in networks("with_classes") {
            let network: Network = expression.parse().unwrap();
            for rule in [Rule::Exact, Rule::Paper] {
                let bound = count(&network, rule);
                for (from, to) in (0..network.nodes()).flat_map(|from| (0..network.nodes()).map(move |to| (from, to))) {
                    let found = class(&network, from, to, rule).unwrap();
                    assert!(found < bound, "{expression} {rule:?}: {from} to {to} has class {found}");
                }
            }
        }
    }
}
