//! The expression language: what it accepts, how it prints, and that nothing makes it panic.

#[cfg(not(feature = "huge-networks"))]
use crate::support::network;
use hopwise_core::network::expression::BrokenRule;
use hopwise_core::{Base, Network, ParseError};
use proptest::prelude::*;

fn refused(text: &str) -> ParseError {
    text.parse::<Network>()
        .map(|network| network.to_string())
        .expect_err(text)
}

#[test]
fn expressions_print_in_their_canonical_spelling() {
    for (written, printed) in [
        (" ring ( 7 ) ", "ring(7)"),
        ("ring(007)", "ring(7)"),
        ("torus(4, 3,\t2)", "torus(4,3,2)"),
        ("rdn( ring(3) , 2 )", "rdn(ring(3),2)"),
        ("re(ring(4),ring(4),2,sk)", "re(ring(4),ring(4),2)"),
        ("re(ring(4),ring(4),2,sd)", "re(ring(4),ring(4),2,sd)"),
        ("re([ring(3),ring(4)],complete(3))", "re([ring(3),ring(4)],complete(3))"),
        ("re([ring(3),ring(3)],complete(3))", "re(ring(3),complete(3),2)"),
        ("rcr(2,2,1)", "rcr(2,2,1)"),
        ("folded-hypercube(4)", "folded-hypercube(4)"),
        ("ccc( 5 )", "ccc(5)"),
        ("cor(2, 3)", "cor(2,3)"),
        ("dualcube(4 )", "dualcube(4)"),
        ("bsw( petersen )", "bsw(petersen)"),
        ("wk(4 ,3)", "wk(4,3)"),
        ("symmetric-hypernet(2, 4)", "symmetric-hypernet(2,4)"),
        ("hypernet(3, 2)", "hypernet(3,2)"),
        ("exchanged-hypercube(3, 2)", "exchanged-hypercube(3,2)"),
        ("petersen", "petersen"),
        ("folded( heawood, 2)", "folded(heawood,2)"),
        ("root-folded(ring(3),4)", "root-folded(ring(3),4)"),
        ("flooded(petersen,3)", "flooded(petersen,3)"),
        ("re-heawood-2(3,all)", "re-heawood-2(3)"),
        ("re-heawood-2(3,one)", "re-heawood-2(3,one)"),
    ] {
        let network: Network = written.parse().unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!(network.to_string(), printed);
        assert_eq!(printed.parse(), Ok(network));
    }
}

#[test]
fn errors_name_the_position_the_parameter_and_the_rule() {
    for (text, message) in [
        ("", "byte 0: the expression must be the name of a network"),
        ("rong(3)", "byte 0: the expression must be the name of a network"),
        ("ring", "byte 4: n of ring(n) must be followed by '('"),
        ("ring(2)", "byte 5: n of ring(n) must be at least 3"),
        ("ring(-3)", "byte 5: n of ring(n) must be a whole number"),
        ("ring(3.5)", "byte 5: n of ring(n) must be a whole number"),
        ("ring(3", "byte 6: n of ring(n) must be followed by ')'"),
        (
            "ring(3))",
            "byte 7: the expression must be all of the text: nothing may follow it",
        ),
        ("torus(4,1)", "byte 8: a dimension of torus(a,b,..) must be at least 2"),
        (
            "mesh(2,2,2,2,2,2,2,2,2)",
            "byte 21: a dimension of mesh(a,b,..) may list at most 8",
        ),
        (
            "rdn(rdn(ring(3),1),1)",
            "byte 4: BASE of rdn(BASE,k) must be a base graph",
        ),
        (
            "folded(complete(2),3)",
            "byte 17: BASE of folded(BASE,n) must have at least 3 nodes",
        ),
        (
            "root-folded(ring(3),0)",
            "byte 20: n of root-folded(BASE,n) must be at least 1",
        ),
        ("re-heawood-2(1)", "byte 13: n of re-heawood-2(n) must be at least 2"),
        ("re-heawood-2(16)", "byte 13: n of re-heawood-2(n) must be at most 15"),
        (
            "re-heawood-2(3,two)",
            "byte 15: the links of re-heawood-2(n,..) must be all or one",
        ),
        ("rdn(ring(3))", "byte 11: k of rdn(BASE,k) must be preceded by ','"),
        (
            "re(ring(4),ring(65),2)",
            "byte 18: UNIT of re(FRAME,UNIT,r) must have 2 to 64 nodes",
        ),
        (
            "re(ring(4),ring(4),0)",
            "byte 19: r of re(FRAME,UNIT,r) must be at least 1",
        ),
        (
            "re(ring(4),ring(4),2,sx)",
            "byte 21: the pivot choice of re(..) must be sk or sd",
        ),
        ("rcr(2,0,1)", "byte 6: r of rcr(k,r,j) must be at least 1"),
        ("rcr(0,1,0)", "byte 8: r of rcr(k,r,j) makes a network of a single node"),
        (
            "rcr(0,3,2)",
            "byte 8: j of rcr(k,r,j) must be 0 when k is 0: there are no cube links to expand",
        ),
        (
            "rcr(2,2,5)",
            "byte 8: r of rcr(k,r,j) is too small, r*k must be at least k+j: disconnected: 2^3 components",
        ),
    ] {
        assert_eq!(refused(text).to_string(), message, "{text}");
    }
    assert_eq!(refused("ring(2)").rule, BrokenRule::AtLeast(3));
}

#[test]
#[cfg(feature = "huge-networks")]
fn larger_networks_are_refused() {
    for (text, message) in [
        (
            "ring(99999999999999999999999)",
            "byte 5: n of ring(n) must be at most 9223372036854775808",
        ),
        ("hypercube(64)", "byte 10: n of hypercube(n) must be at most 63"),
        ("nstar(21)", "byte 6: n of nstar(n) must be at most 20"),
        (
            "torus(4294967295,4294967295)",
            "byte 17: a dimension of torus(a,b,..) makes more than 2^63 nodes",
        ),
        ("rdn(ring(3),7)", "byte 12: k of rdn(BASE,k) makes more than 2^63 nodes"),
        (
            "folded(heawood,17)",
            "byte 15: n of folded(BASE,n) makes more than 2^63 nodes",
        ),
        (
            "flooded(ring(3),62)",
            "byte 16: n of flooded(BASE,n) makes more than 2^63 nodes",
        ),
        (
            "re(ring(4),ring(4),31)",
            "byte 19: r of re(FRAME,UNIT,r) makes more than 2^63 nodes",
        ),
    ] {
        assert_eq!(refused(text).to_string(), message, "{text}");
    }
}

/// Programs for boards compute with 32 bits.
#[test]
#[cfg(not(feature = "huge-networks"))]
fn sizes_go_up_to_two_to_the_31() {
    for text in [
        "hypercube(31)",
        "rdn(complete(2),4)",
        "ring(2147483648)",
        "torus(65536,32768)",
    ] {
        assert_eq!(network(text).nodes(), 1 << 31, "{text}");
    }
    for text in [
        "hypercube(32)",
        "rdn(complete(2),5)",
        "ring(2147483649)",
        "torus(65536,32769)",
        "nstar(13)",
        "wk(4,16)",
        "ring(99999999999999999999999)",
    ] {
        let rule = refused(text).rule;
        assert!(
            matches!(rule, BrokenRule::AtMost(_) | BrokenRule::TooManyNodes),
            "{text}: {rule:?}"
        );
    }
    assert_eq!(network("nstar(12)").nodes(), 479_001_600);
}

#[test]
#[cfg(feature = "huge-networks")]
fn sizes_go_up_to_two_to_the_63() {
    let limit = 1u64 << 63;
    for text in [
        "hypercube(63)",
        "rdn(complete(2),5)",
        "ring(9223372036854775808)",
        "rcr(3,1152921504606846976,0)",
    ] {
        assert_eq!(text.parse::<Network>().unwrap().nodes(), limit, "{text}");
    }
    assert_eq!(
        "re(complete(2),complete(2),62)".parse::<Network>().unwrap().nodes(),
        limit
    );
    assert_eq!(refused("re(complete(2),complete(2),63)").rule, BrokenRule::TooManyNodes);
}

#[test]
#[cfg(feature = "huge-networks")]
fn the_largest_rings_are_walked_without_overflow() {
    for (text, distance) in [("rcr(0,9223372036854775808,0)", 1), ("rcr(1,4611686018427387904,0)", 2)] {
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
    assert!(
        size_of::<Network>() <= 1024,
        "a network takes {} bytes",
        size_of::<Network>()
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*") {
        let _ = text.parse::<Network>();
        let _ = text.parse::<Base>();
    }

    #[test]
    fn nothing_made_of_its_own_tokens_makes_the_reader_panic(tokens in prop::collection::vec(
        prop::sample::select(vec![
            "ring", "torus", "rdn", "re", "rcr", "heawood", "nstar", "star", "(", ")", "[", "]", ",", " ", "0", "1", "2", "3",
            "20", "63", "64", "18446744073709551615", "sd", "sk", "-", "é", "folded", "root-folded", "flooded",
            "re-heawood-2", "all", "one",
        ]),
        0..24,
    )) {
        let text = tokens.concat();
        if let Ok(network) = text.parse::<Network>() {
            prop_assert_eq!(network.to_string().parse(), Ok(network));
        }
    }
}
