//! The expression language: what it accepts, how it prints, and that nothing makes it panic.

use hopwise_core::limits::{MAX_BITS, MAX_NODES};
use hopwise_core::network::expression::BrokenRule;
use hopwise_core::{Base, Family, Network, ParseError};
use hopwise_testing::rows;

fn refused(text: &str) -> ParseError {
    text.parse::<Network>()
        .map(|network| network.to_string())
        .expect_err(text)
}

fn assert_prints(written: &str, printed: &str) {
    let network: Network = written.parse().unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(network.to_string(), printed);
    assert_eq!(printed.parse(), Ok(network));
}

#[test]
fn expressions_print_in_their_canonical_spelling() {
    assert_prints(" ring ( 7 ) ", "ring(7)");
    for (written, printed) in rows(include_str!("../cases/spellings.txt")) {
        assert_prints(&written, &printed);
    }
}

/// Of lifts; boards do not know them.
const NAMES: [&str; 9] = [
    "moebius-kantor",
    "pappus",
    "mcgee",
    "tutte-coxeter",
    "hoffman-singleton",
    "cage",
    "generalized-petersen",
    "circulant",
    "chordal-ring",
];

#[cfg(feature = "names")]
#[test]
fn names_of_lifts_print_as_the_lifts_they_are() {
    assert_eq!(Base::NAMES, NAMES);
    for (written, printed) in rows(include_str!("../cases/names.txt")) {
        assert_prints(&written, &printed);
    }
    assert_eq!("hoffman-singleton".parse::<Network>(), "cage(7,5)".parse());
}

/// The words are those of the language as its module describes it.
#[test]
fn every_word_of_the_language_is_listed() {
    let module = include_str!("../../src/network/expression.rs");
    let table: String = module
        .lines()
        .skip_while(|line| !line.contains("```text"))
        .skip(1)
        .take_while(|line| !line.contains("```"))
        // In the first columns stands what a line is about, or all of a heading.
        .map(|line| match line.trim_start_matches("//!").split_at_checked(8) {
            Some((about, words)) if about.ends_with(' ') => words,
            _ => "",
        })
        .flat_map(|line| [line, " "])
        .collect();
    fn word(expression: &str) -> &str {
        expression.split(['(', ':']).next().unwrap_or("")
    }
    let mut described: Vec<&str> = table.split(' ').map(word).filter(|word| !word.is_empty()).collect();
    described.sort_unstable();
    described.dedup();
    let mut listed: Vec<&str> = [Family::WORDS, Base::WORDS].concat();
    if cfg!(feature = "names") {
        listed.extend(NAMES);
    } else {
        described.retain(|word| !NAMES.contains(word));
    }
    if cfg!(not(feature = "tables")) {
        described.retain(|word| *word != "graph");
    }
    listed.sort_unstable();
    assert_eq!(listed, described);
}

/// The message without the feature `huge-networks`, if the program has not got it.
fn in_this_width(message: &str) -> String {
    if cfg!(feature = "huge-networks") {
        return message.to_string();
    }
    message
        .replace("2^63 nodes", "2^31 nodes: this program was built without huge networks")
        .replace("at most 9223372036854775808", "at most 2147483648")
        .replace("at most 63", "at most 31")
        .replace("at most 20", "at most 12")
}

#[test]
fn errors_name_the_position_the_parameter_and_the_rule() {
    for (text, message) in rows(include_str!("../cases/refused.txt")) {
        assert_eq!(refused(&text).to_string(), in_this_width(&message), "{text}");
    }
    let byte = if MAX_BITS == 63 { 28 } else { 17 };
    assert_eq!(
        refused("torus(2000000000,2000000000,2000000000)").to_string(),
        in_this_width(&format!(
            "byte {byte}: a dimension of torus(a,b,..) makes more than 2^63 nodes"
        ))
    );
    assert_eq!(refused("ring(2)").rule, BrokenRule::AtLeast(3));
}

#[test]
fn sizes_go_up_to_the_limit() {
    let levels = if MAX_BITS == 63 { 5 } else { 4 };
    for text in [
        format!("hypercube({MAX_BITS})"),
        format!("rdn(complete(2),{levels})"),
        format!("ring({MAX_NODES})"),
        format!("rcr(3,{},0)", MAX_NODES / 8),
        format!("re(complete(2),complete(2),{})", MAX_BITS - 1),
    ] {
        assert_eq!(text.parse::<Network>().unwrap().nodes(), MAX_NODES, "{text}");
    }
    for text in [
        format!("re(complete(2),complete(2),{MAX_BITS})"),
        format!("rdn(complete(2),{})", levels + 1),
        format!("wk(2,{})", MAX_BITS + 1),
        format!("cor(1,{MAX_BITS})"),
        format!("ccc({MAX_BITS})"),
        "folded(heawood,17)".to_string(),
    ] {
        assert_eq!(refused(&text).rule, BrokenRule::TooManyNodes, "{text}");
    }
}

#[test]
#[cfg(not(feature = "huge-networks"))]
fn a_network_for_64_bits_is_refused_with_32() {
    for text in ["re-heawood-2(9)", "hcn(16)", "hsn(32,path(2))", "torus(65536,32769)"] {
        assert_eq!(refused(text).rule, BrokenRule::TooManyNodes, "{text}");
    }
}

#[test]
fn the_largest_rings_are_walked_without_overflow() {
    let largest = [
        (format!("rcr(0,{MAX_NODES},0)"), 1),
        (format!("rcr(1,{},0)", MAX_NODES / 2), 2),
    ];
    for (text, distance) in largest {
        let network: Network = text.parse().unwrap();
        assert_eq!(network.distance(0, network.nodes() - 1), Ok(Some(distance)), "{text}");
    }
}

#[test]
fn nodes_that_do_not_exist_are_refused() {
    let network: Network = "rdn(ring(3),1)".parse().unwrap();
    let error = network.next_hop(0, 18, Default::default()).unwrap_err();
    assert_eq!(error.to_string(), "there is no node 18: the network has nodes 0 to 17");
    assert!(network.degree(u64::MAX).is_err());
    assert!(network.fanout(18, 0).is_err() && network.fanout(0, 18).is_err());
}

#[test]
fn a_network_is_a_small_value() {
    // A node on a board keeps one: it is part of its RAM budget.
    let size = size_of::<Network>();
    assert!(size <= 1024, "a network takes {size} bytes");
}
