//! The networks of tests: tables of expressions in groups.

const AUDITED: &str = include_str!("../audited.txt");
const OTHERS: &str = include_str!("../networks.txt");

pub fn networks(group: &str) -> Vec<&'static str> {
    let title = format!("[{group}]");
    let mut lines = AUDITED.lines().chain(OTHERS.lines());
    assert!(lines.any(|line| line == title), "there is no group {title}");
    let own = lines.take_while(|line| !line.starts_with('['));
    let expressions: Vec<_> = own
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .collect();
    assert!(!expressions.is_empty(), "the group {title} is empty");
    expressions
}

/// The expressions of a group with the figures behind each: `rcr(1,3,2)=3,2,2,2`.
pub fn figures(group: &str) -> Vec<(&'static str, Vec<u64>)> {
    let entry = |entry: &'static str| {
        let (expression, figures) = entry.split_once('=').expect("figures");
        let figures = figures.split(',').map(|figure| figure.parse().expect("a figure"));
        (expression, figures.collect())
    };
    networks(group).into_iter().map(entry).collect()
}

/// The names of the groups whose networks keep every guarantee.
pub fn audited_groups() -> impl Iterator<Item = &'static str> {
    let title = |line: &'static str| line.strip_prefix('[')?.strip_suffix(']');
    AUDITED.lines().filter_map(title)
}

/// A test for each group whose networks keep every guarantee, which hands its expressions to a function.
#[macro_export]
macro_rules! audit_groups {
    ($audit:path) => {
        $crate::audit_groups! {
            $audit:
            base_graphs recursive_dual_nets recursive_expansions_with_one_pivot recursive_expansions_with_pivot_sets
            recursive_cubes_of_rings cubes_of_rings dual_cubes wk_networks symmetric_hypernets hypernets
            exchanged_hypercubes lifts networks_of_lifts folded_networks root_folded_networks
            flooded_networks heawood_expansions swapped_networks swapped_networks_with_diameter_links
            hierarchical_swapped_networks hcn3_networks partially_linked_swapped_network
        }
    };
    ($audit:path: $($group:ident)+) => {
        $(#[test]
        fn $group() {
            $audit($crate::networks(stringify!($group)));
        })+

        #[test]
        fn no_group_is_forgotten() {
            assert!($crate::audited_groups().eq([$(stringify!($group)),+]));
        }
    };
}
