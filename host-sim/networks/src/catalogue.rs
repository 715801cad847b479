//! All networks of a given size: every family, every choice of parameters.

use std::collections::{BTreeMap, BTreeSet};

use hopwise_core::limits::{MAX_DIMENSIONS, MAX_UNIT};
use hopwise_core::{Base, Family, Network};

use crate::base::Formulas;

/// RE networks up to this size are listed with frames of more links than a node has ports, which pivots share, and with the dimensions of
/// products in every order. Larger ones would be tens of thousands.
const MAX_COMPLETE: u64 = 1_024;

/// The networks with exactly `nodes` nodes in which no node has more than `ports` links, in order of their spelling.
///
/// Up to `MAX_COMPLETE` nodes every such graph is listed, under one name or several, except RE networks with frames that differ from phase
/// to phase, which are too many, and lifts other than those with a name of their own.
pub fn networks(nodes: u64, ports: u64) -> Vec<Network> {
    let mut names: Vec<String> = bases(nodes, ports).iter().map(ToString::to_string).collect();
    names.extend(NAMED_LIFTS.split(' ').map(String::from));
    names.extend(dual_nets(nodes, ports));
    names.extend(cubes_of_rings(nodes, ports));
    names.extend(hierarchies(nodes, ports));
    names.extend(swapped(nodes, ports));
    names.extend(by_number(nodes));
    let parsed = names.iter().filter_map(|name| name.parse::<Network>().ok());
    let fits = |network: &Network| network.nodes() == nodes && largest_degree(network) <= ports;
    let fitting = parsed.filter(fits).chain(expansions(nodes, ports));
    let by_name: BTreeMap<String, Network> = fitting.map(|network| (network.to_string(), network)).collect();
    let fitting = by_name.into_values();
    fitting.map(|network| network.with_search_memory(usize::MAX)).collect()
}

/// The lifts with a name of their own, as graphs and as bases of dual-nets.
const NAMED_LIFTS: &str =
    "moebius-kantor pappus mcgee tutte-coxeter hoffman-singleton cage(3,12) cage(4,6) cage(5,5) cage(5,6) cage(6,6)";

/// Of several names of one graph the least is preferred: a base graph's, then a family's, then a lift's, which no person can read; of these
/// the shortest, then the first of the alphabet.
pub fn preference(network: &Network) -> (bool, bool, usize, String) {
    let name = network.to_string();
    let built_up = !matches!(network.family(), Family::Base(_));
    (name.starts_with("lift("), built_up, name.len(), name)
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
fn bases(nodes: u64, ports: u64) -> Vec<Base> {
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
    names.extend(products(nodes, true));
    fitting(names, nodes, ports)
}

/// Base graphs as units of an RE network, and as frames whose links are spread: there the numbers of the nodes matter, and with them the
/// order of dimensions, and whether the middle of three nodes is the first.
fn numbered_bases(nodes: u64, ports: u64) -> Vec<Base> {
    let others = products(nodes, false)
        .into_iter()
        .chain(["star(3)", "nstar(3)"].map(String::from));
    let mut found = bases(nodes, ports);
    let others = fitting(others, nodes, ports)
        .into_iter()
        .filter(|other| !found.contains(other));
    found.extend(others.collect::<Vec<_>>());
    found
}

fn products(nodes: u64, descending: bool) -> Vec<String> {
    // A line, a ring and a complete graph of two nodes are one, so are a ring and a complete graph of three.
    let kinds = [("mesh", 3), ("torus", 3), ("ghc", 4)];
    let named = |sizes: Vec<u64>| {
        let list = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let most = sizes.into_iter().max();
        let of_kind = kinds.into_iter().filter(move |kind| most >= Some(kind.1));
        of_kind.map(move |(name, _)| format!("{name}({list})"))
    };
    factorings(nodes, descending).into_iter().flat_map(named).collect()
}

fn fitting(names: impl IntoIterator<Item = String>, nodes: u64, ports: u64) -> Vec<Base> {
    let parsed = names.into_iter().filter_map(|name| name.parse::<Base>().ok());
    parsed
        .filter(|base| base.nodes() == nodes && base.degree_range().1 <= ports)
        .collect()
}

/// The ways to write a number as a product of two or more numbers above 1, in descending order or in every order.
fn factorings(number: u64, descending: bool) -> Vec<Vec<u64>> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), number)];
    while let Some((begun, rest)) = open.pop() {
        let most = begun.last().copied().filter(|_| descending).unwrap_or(number - 1);
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
        let half = Some(size / 2).filter(|_| size.is_multiple_of(2));
        let Some(cluster) = half.and_then(|half| root(half, 2)) else {
            break;
        };

        size = cluster;
        let lifts = fitting(NAMED_LIFTS.split(' ').map(String::from), size, ports);
        let bases = bases(size, ports).into_iter().chain(lifts);
        names.extend(bases.map(|base| format!("rdn({base},{levels})")));
    }
    names
}

fn expansions(nodes: u64, ports: u64) -> Vec<Network> {
    let mut found = Vec::new();
    for positions in divisors(nodes).into_iter().filter(|&size| size <= MAX_UNIT.into()) {
        // Pivots can share the links of a frame.
        let (parts, most): (fn(u64, u64) -> Vec<Base>, _) = match nodes {
            0..=MAX_COMPLETE => (numbered_bases, ports * positions),
            _ => (bases, ports),
        };
        let units = parts(positions, ports).into_iter().map(|unit| {
            let network = Network::from(unit);
            let links = (0..positions).map(|position| network.unchecked().degree(position));
            (unit, links.collect::<Vec<_>>())
        });
        let units: Vec<_> = units.collect();
        for phases in 1..64 {
            let Some(size) = root(nodes / positions, phases) else {
                continue;
            };
            let plain = bases(size, ports);
            let frames = parts(size, most).into_iter();
            let frames: Vec<_> = frames.map(|frame| (frame, frame.degree_range().1)).collect();
            let phases = u64::from(phases);
            // In the last round of phases through the unit each may have a set of pivots; sets of one pivot are as good as none.
            let spread = 2 * ((phases - 1) % positions + 1) <= positions && size > 2;
            for ((unit, links), (frame, most)) in units.iter().flat_map(|unit| frames.iter().map(move |f| (unit, f))) {
                let pivots = |position| phases / positions + u64::from(position < phases % positions);
                let mut sums = (0..)
                    .zip(links)
                    .map(|(position, links)| links + pivots(position) * most);
                if sums.all(|sum| sum <= ports) && plain.contains(frame) {
                    found.extend(format!("re({frame},{unit},{phases})").parse::<Network>());
                }
                if spread && links.iter().sum::<u64>() + phases * most <= positions * ports {
                    let parsed = format!("re({frame},{unit},{phases},sd)").parse::<Network>();
                    let fits = |network: &Network| busiest(network, positions, frame) <= ports;
                    found.extend(parsed.ok().filter(fits));
                }
            }
        }
    }
    found
}

/// The largest degree of an expansion: that of the nodes all of whose digits have as many links as any.
fn busiest(network: &Network, positions: u64, frame: &Base) -> u64 {
    let most = frame.degree_range().1;
    let degree = |digit: &u64| Network::from(*frame).unchecked().degree(*digit) == most;
    let digit = (0..frame.nodes()).find(degree).unwrap_or(0);
    let weights = std::iter::successors(Some(positions), |weight| Some(weight * frame.nodes()));
    let weights = weights.take_while(|&weight| weight < network.nodes());
    let node: u64 = weights.map(|weight| weight * digit).sum();
    let degrees = (node..node + positions).map(|node| network.unchecked().degree(node));
    degrees.max().unwrap_or(0)
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
            let families = ["cor", "symmetric-hypernet", "hypernet", "exchanged-hypercube"];
            names.extend(families.map(|name| format!("{name}({n},{m})")));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::isomorphism::{Found, Sorted, search};

    #[test]
    fn eighteen_boards_with_three_ports() {
        let found: Vec<String> = networks(18, 3).iter().map(ToString::to_string).collect();
        for expected in "rdn(ring(3),1) ring(18) torus(9,2) re(ring(9),complete(2),1,sd)".split(' ') {
            let is_found = found.iter().any(|name| name == expected);
            assert!(is_found, "{expected} is not among {found:?}");
        }
        let has_torus = found.iter().any(|name| name == "torus(6,3)");
        assert!(!has_torus, "four links a node are too many");
    }

    #[test]
    fn frames_of_many_links_that_pivots_share_and_bases_with_names() {
        let has = |nodes, ports, name: &str| {
            let spelled = name.parse::<Network>().unwrap().to_string();
            networks(nodes, ports).iter().any(|found| found.to_string() == spelled)
        };
        assert!(has(196, 5, "re(complete(7),ring(4),2,sd)"));
        assert!(has(512, 4, "re(folded-hypercube(7),hypercube(2),1,sd)"));
        assert!(has(512, 4, "rdn(moebius-kantor,1)"));
        // Two graphs: the pivots are at other corners.
        assert!(has(96, 5, "re(ring(4),mesh(2,3),2)") && has(96, 5, "re(ring(4),mesh(3,2),2)"));
    }

    /// Lists of up to `length` numbers with a product of at most `most`, with commas.
    fn lists(length: usize, most: u64) -> Vec<String> {
        let mut all = Vec::new();
        let mut last = vec![(String::new(), most)];
        for _ in 0..length {
            let longer = |(list, room): &(String, u64)| {
                let (list, room) = (list.clone(), *room);
                (0..=room).map(move |number| (format!("{list},{number}"), room / number.max(1)))
            };
            last = last.iter().flat_map(longer).collect();
            all.extend(last.iter().map(|list| list.0[1..].to_string()));
        }
        all
    }

    /// Every text that the grammar of the language allows, tried one by one: what is a network of the size is listed, perhaps under another
    /// name.
    #[test]
    fn every_expression_is_listed() {
        for (nodes, ports) in [(12, 3), (18, 3), (24, 4), (32, 3), (36, 5)] {
            let (numbers, lists) = (lists(3, nodes), lists(5, nodes));
            let is_ruled = |word: &&&str| !["graph", "lift"].contains(*word);
            let words = Base::WORDS.iter().filter(is_ruled);
            let mut bases: Vec<Base> = Vec::new();
            for word in words {
                bases.extend(word.parse::<Base>());
                let base = |list: &String| format!("{word}({list})").parse::<Base>().ok();
                bases.extend(lists.iter().filter_map(base));
            }
            bases.retain(|base| base.nodes() <= nodes);
            let mut texts: Vec<String> = bases.iter().map(ToString::to_string).collect();
            for word in Family::WORDS.iter().filter(is_ruled) {
                texts.push(word.to_string());
                let tails = ["", ",diameter", ",all", ",one"];
                let written = |list: &String| tails.map(|tail| format!("{word}({list}{tail})"));
                texts.extend(numbers.iter().flat_map(written));

                for base in &bases {
                    texts.push(format!("{word}({base})"));
                    for n in 0..=6 {
                        texts.push(format!("{word}({base},{n})"));
                        texts.extend(tails.map(|tail| format!("{word}({n},{base}{tail})")));
                    }
                    for unit in bases.iter().filter(|unit| base.nodes() * unit.nodes() <= nodes) {
                        let phases = (1..=6).map(|n| format!("{word}({base},{unit},{n}"));
                        texts.extend(phases.flat_map(|text| [format!("{text})"), format!("{text},sd)")]));
                    }
                }
            }
            let parsed = texts.iter().filter_map(|text| text.parse::<Network>().ok());
            let fits = |network: &Network| network.nodes() == nodes && largest_degree(network) <= ports;
            let sorted = |network: &Network| Sorted::new(Graph::build(network).unwrap(), false);
            let listed: Vec<Sorted> = networks(nodes, ports).iter().map(sorted).collect();
            let mut count = 0;
            for network in parsed.filter(fits) {
                let own = sorted(&network);
                let mut alike = listed.iter().filter(|other| other.fingerprint() == own.fingerprint());
                let is_listed = alike.any(|other| matches!(search(other, &own, &[]), Found::Renumbering(_)));
                assert!(is_listed, "{network} is not listed");
                count += 1;
            }
            assert!(count > 50, "{count} expressions of {nodes} nodes");
        }
    }

    #[test]
    fn numbers_are_factored_in_every_way() {
        let mut found = factorings(12, true);
        found.sort();
        assert_eq!(found, [vec![3, 2, 2], vec![4, 3], vec![6, 2]]);
        assert_eq!(root(81, 4), Some(3));
        assert_eq!(root(80, 4), None);
    }
}
