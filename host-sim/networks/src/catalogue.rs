//! All networks of a given size: every family, every choice of parameters.

use std::collections::BTreeSet;

use hopwise_core::{Base, Network};

use crate::base::Formulas;

const MAX_DIMENSIONS: usize = 6;

/// The networks with exactly `nodes` nodes in which no node has more than `ports` links, in order of their spelling.
///
/// RE networks with frames that differ from phase to phase are left out: they are too many.
pub fn networks(nodes: u64, ports: u64) -> Vec<Network> {
    let mut names = BTreeSet::new();
    names.extend(bases(nodes, ports));
    names.extend(dual_nets(nodes, ports));
    names.extend(expansions(nodes, ports));
    names.extend(cubes_of_rings(nodes, ports));
    names.extend(hierarchies(nodes, ports));
    names.extend(swapped(nodes, ports));
    names.extend(by_number(nodes));
    let parsed = names.iter().filter_map(|name| name.parse::<Network>().ok());
    let fits = |network: &Network| network.nodes() == nodes && largest_degree(network) <= ports;
    let fitting = parsed.filter(fits);
    fitting.map(|network| network.with_search_memory(usize::MAX)).collect()
}

/// Asked of every node, or by formula where there are too many to ask.
fn largest_degree(network: &Network) -> u64 {
    const MAX_ASKED: u64 = 1 << 16;
    let asked = || (0..network.nodes()).map(|node| network.unchecked().degree(node)).max();
    let formula = || super::closed_form::figures(network).map(|form| form.degree_max);
    let is_small = network.nodes() <= MAX_ASKED;
    let most = if is_small { asked() } else { formula().or_else(asked) };
    most.unwrap_or(0)
}

/// Base graphs of a size, none with more links at a node than there are ports, each only under its plainest name.
fn bases(nodes: u64, ports: u64) -> Vec<String> {
    let mut names = Vec::new();
    if nodes != 3 {
        names.push(format!("complete({nodes})"));
    }
    if nodes > 2 {
        names.extend(["ring", "path"].map(|name| format!("{name}({nodes})")));
    }
    if nodes > 3 {
        names.push(format!("star({nodes})"));
    }
    if nodes.is_power_of_two() && nodes > 2 {
        names.push(format!("hypercube({})", nodes.ilog2()));
    }
    if nodes.is_power_of_two() && nodes > 4 {
        names.push(format!("folded-hypercube({})", nodes.ilog2()));
    }
    names.extend(["petersen".into(), "heawood".into()]);
    names.extend((4..=12).map(|n| format!("nstar({n})")));
    for sizes in factorings(nodes) {
        // A line, a ring and a complete graph of two nodes are one, so are a ring and a complete graph of three.
        let of_kind = [("mesh", 3), ("torus", 3), ("ghc", 4)]
            .into_iter()
            .filter(|kind| sizes[0] >= kind.1);
        let list = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        names.extend(of_kind.map(|(name, _)| format!("{name}({list})")));
    }
    let fits = |name: &String| {
        let base: Result<Base, _> = name.parse();
        base.is_ok_and(|base| base.nodes() == nodes && base.degree_range().1 <= ports)
    };
    names.into_iter().filter(fits).collect()
}

/// The ways to write a number as a product of two or more numbers above 1, in descending order.
fn factorings(number: u64) -> Vec<Vec<u64>> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), number)];
    while let Some((begun, rest)) = open.pop() {
        let most = begun.last().copied().unwrap_or(number - 1);
        if begun.len() > 1 && rest == 1 {
            found.push(begun);
            continue;
        }
        if begun.len() < MAX_DIMENSIONS {
            for factor in divisors(rest).into_iter().filter(|&factor| factor <= most) {
                let mut more: Vec<u64> = begun.clone();
                more.push(factor);
                open.push((more, rest / factor));
            }
        }
    }
    found
}

/// The divisors above 1.
fn divisors(number: u64) -> Vec<u64> {
    let small: Vec<u64> = (1..=number.isqrt()).filter(|d| number.is_multiple_of(*d)).collect();
    let large = small.iter().map(|d| number / d);
    let all: BTreeSet<u64> = small.iter().copied().chain(large).filter(|&d| d > 1).collect();
    all.into_iter().collect()
}

/// The number whose `power`-th power it is, if there is one.
fn root(number: u64, power: u32) -> Option<u64> {
    let guess = (number as f64).powf(1.0 / f64::from(power)).round() as u64;
    (guess.saturating_sub(1)..=guess + 1).find(|root| root.checked_pow(power) == Some(number) && *root > 1)
}

fn dual_nets(nodes: u64, ports: u64) -> Vec<String> {
    let mut names = Vec::new();
    let mut size = nodes;
    for levels in 1.. {
        let Some(cluster) = Some(size / 2)
            .filter(|_| size.is_multiple_of(2))
            .and_then(|half| root(half, 2))
        else {
            break;
        };
        size = cluster;
        let bases = bases(size, ports.saturating_sub(levels));
        names.extend(bases.iter().map(|base| format!("rdn({base},{levels})")));
    }
    names
}

fn expansions(nodes: u64, ports: u64) -> Vec<String> {
    let mut names = Vec::new();
    for positions in divisors(nodes).into_iter().filter(|&positions| positions <= 64) {
        for phases in 1..64 {
            let size = root(nodes / positions, phases);
            let Some(size) = size else { continue };
            for unit in bases(positions, ports.saturating_sub(1)) {
                for frame in bases(size, ports) {
                    names.push(format!("re({frame},{unit},{phases})"));
                    // Where each phase has but one pivot, the sets are the pivots.
                    if u64::from(phases) * 2 <= positions && size > 2 {
                        names.push(format!("re({frame},{unit},{phases},sd)"));
                    }
                }
            }
        }
    }
    names
}

fn cubes_of_rings(nodes: u64, ports: u64) -> Vec<String> {
    let mut names = Vec::new();
    for bits in 1..=nodes.trailing_zeros() {
        let ring = nodes >> bits;
        let windows = 1..=u64::from(bits).min(ports);
        names.extend(windows.map(|window| format!("rcr({window},{ring},{})", u64::from(bits) - window)));
    }
    names
}

fn hierarchies(nodes: u64, ports: u64) -> Vec<String> {
    let mut names = Vec::new();
    for digits in 2..=20 {
        if let Some(size) = root(nodes, digits) {
            for base in bases(size, ports) {
                names.extend(["folded", "root-folded"].map(|name| format!("{name}({base},{digits})")));
            }
        }
        // A flooded network of base size B has B ((B-1)^n - 1)/(B-2) nodes.
        let flooded = |size: u64| {
            let grown = (size - 1).checked_pow(digits)?.checked_sub(1)?;
            grown.checked_mul(size).map(|grown| grown / (size - 2))
        };
        let sizes = (3..=nodes).take_while(|&size| flooded(size).is_some_and(|found| found <= nodes));
        for size in sizes.filter(|&size| flooded(size) == Some(nodes)) {
            let bases = bases(size, ports);
            names.extend(bases.iter().map(|base| format!("flooded({base},{digits})")));
        }
        names.extend(["all", "one"].map(|ports| format!("re-heawood-2({digits},{ports})")));
    }
    names
}

fn swapped(nodes: u64, ports: u64) -> Vec<String> {
    let mut names = Vec::new();
    for levels in 2..=6 {
        for nucleus in root(nodes, 1 << (levels - 1)).map_or(Vec::new(), |size| bases(size, ports)) {
            let plain = format!("rsn({levels},{nucleus}");
            names.extend([format!("{plain})"), format!("{plain},diameter)")]);
        }
        for nucleus in root(nodes, levels).map_or(Vec::new(), |size| bases(size, ports)) {
            names.push(format!("hsn({levels},{nucleus})"));
        }
    }
    for digits in 2..=63 {
        names.extend(root(nodes, digits).map(|radix| format!("wk({radix},{digits})")));
    }
    names
}

/// Families of one or two small numbers: all of them, those of other sizes are dropped when they are read.
fn by_number(nodes: u64) -> Vec<String> {
    let mut names = vec!["partial-swapped".to_string()];
    let bits = u64::from(nodes.ilog2());
    for n in 1..=bits {
        names.extend(["ccc", "dualcube", "hcn", "hfn", "hcn3"].map(|name| format!("{name}({n})")));
        for m in 1..=bits {
            names.extend(
                ["cor", "symmetric-hypernet", "hypernet", "exchanged-hypercube"].map(|name| format!("{name}({n},{m})")),
            );
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eighteen_boards_with_three_ports() {
        let found: Vec<String> = networks(18, 3).iter().map(ToString::to_string).collect();
        for expected in [
            "rdn(ring(3),1)",
            "ring(18)",
            "torus(9,2)",
            "re(ring(9),complete(2),1,sd)",
        ] {
            let is_found = found.iter().any(|name| name == expected);
            assert!(is_found, "{expected} is not among {found:?}");
        }
        let has_torus = found.iter().any(|name| name == "torus(6,3)");
        assert!(!has_torus, "four links a node are too many");
    }

    #[test]
    fn numbers_are_factored_in_every_way() {
        let mut found = factorings(12);
        found.sort();
        assert_eq!(found, [vec![3, 2, 2], vec![4, 3], vec![6, 2]]);
        assert_eq!(root(81, 4), Some(3));
        assert_eq!(root(80, 4), None);
    }
}
