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
        ("lift( 5 , a1 b , b2 )", "lift(5,a1b,b2)"),
        ("lift(7,b0b1b003)", "lift(7,bb1b3)"),
        ("lift(3,bc,,c1)", "lift(3,bc,,c1)"),
        ("folded( heawood, 2)", "folded(heawood,2)"),
        ("root-folded(ring(3),4)", "root-folded(ring(3),4)"),
        ("flooded(petersen,3)", "flooded(petersen,3)"),
        ("re-heawood-2(3,all)", "re-heawood-2(3)"),
        ("re-heawood-2(3,one)", "re-heawood-2(3,one)"),
    ] {
        assert_prints(written, printed);
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
    for (written, printed) in [
        ("moebius-kantor", "lift(8,a1b,b3)"),
        ("generalized-petersen(8, 3)", "lift(8,a1b,b3)"),
        ("pappus", "lift(9,bb6b8)"),
        ("mcgee", "lift(8,bcc2,b4c7)"),
        ("tutte-coxeter", "lift(10,a5bc,b3,c1)"),
        ("cage(3,8)", "lift(10,a5bc,b3,c1)"),
        ("circulant(13, 1,5)", "lift(13,a1a5)"),
        ("chordal-ring(14,5)", "lift(7,bb6b4)"),
        ("rdn(pappus,1)", "rdn(lift(9,bb6b8),1)"),
    ] {
        assert_prints(written, printed);
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
    for (text, message) in rows(
        r#"
        => byte 0: the expression must be the name of a network
        rong(3) => byte 0: the expression must be the name of a network
        ring => byte 4: n of ring(n) must be followed by '('
        ring(2) => byte 5: n of ring(n) must be at least 3
        ring(-3) => byte 5: n of ring(n) must be a whole number
        ring(3.5) => byte 5: n of ring(n) must be a whole number
        ring(3 => byte 6: n of ring(n) must be followed by ')'
        ring(3)) => byte 7: the expression must be all of the text: nothing may follow it
        ring(99999999999999999999999) => byte 5: n of ring(n) must be at most 9223372036854775808
        hypercube(64) => byte 10: n of hypercube(n) must be at most 63
        lift(0,a1) => byte 5: m of lift(m,LINKS,..) must be at least 1
        lift(5) => byte 6: LINKS of lift(m,LINKS,..) must be enough to join all nodes
        lift(1,) => byte 7: m of lift(m,LINKS,..) makes a network of a single node
        lift(6,a2) => byte 9: LINKS of lift(m,LINKS,..) must be enough to join all nodes
        lift(5,a3b,b2) => byte 8: LINKS of lift(m,LINKS,..) must lead to their own orbit or a later one, by a shift below m, to their own by 1 to m/2, and differ
        lift(5,b,,,) => byte 11: LINKS of lift(m,LINKS,..) may list at most 2
        lift(1025,ba1,b3) => byte 16: m of lift(m,LINKS,..) makes more nodes than a lift can have, which is 1024 or some more
        lift(5,a1b,b2 => byte 13: LINKS of lift(m,LINKS,..) must be followed by ')'
        nstar(21) => byte 6: n of nstar(n) must be at most 20
        torus(4,1) => byte 8: a dimension of torus(a,b,..) must be at least 2
        mesh(2,2,2,2,2,2,2,2,2) => byte 21: a dimension of mesh(a,b,..) may list at most 8
        rdn(ring(3),7) => byte 12: k of rdn(BASE,k) makes more than 2^63 nodes
        rdn(rdn(ring(3),1),1) => byte 4: BASE of rdn(BASE,k) must be a base graph
        folded(complete(2),3) => byte 17: BASE of folded(BASE,n) must have at least 3 nodes
        root-folded(ring(3),0) => byte 20: n of root-folded(BASE,n) must be at least 1
        folded(heawood,17) => byte 15: n of folded(BASE,n) makes more than 2^63 nodes
        flooded(ring(3),62) => byte 16: n of flooded(BASE,n) makes more than 2^63 nodes
        re-heawood-2(1) => byte 13: n of re-heawood-2(n) must be at least 2
        re-heawood-2(16) => byte 13: n of re-heawood-2(n) must be at most 15
        re-heawood-2(3,two) => byte 15: the links of re-heawood-2(n,..) must be all or one
        rdn(ring(3)) => byte 11: k of rdn(BASE,k) must be preceded by ','
        re(ring(4),ring(65),2) => byte 18: UNIT of re(FRAME,UNIT,r) must have 2 to 64 nodes
        re(ring(4),ring(4),0) => byte 19: r of re(FRAME,UNIT,r) must be at least 1
        re(ring(4),ring(4),31) => byte 19: r of re(FRAME,UNIT,r) makes more than 2^63 nodes
        re(ring(4),ring(4),2,sx) => byte 21: the pivot choice of re(..) must be sk or sd
        rcr(2,0,1) => byte 6: r of rcr(k,r,j) must be at least 1
        rcr(0,1,0) => byte 8: r of rcr(k,r,j) makes a network of a single node
        rcr(0,3,2) => byte 8: j of rcr(k,r,j) must be 0 when k is 0: there are no cube links to expand
        rcr(2,2,5) => byte 8: r of rcr(k,r,j) is too small, r*k must be at least k+j: disconnected: 2^3 components
        "#,
    ) {
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
fn nodes_of_more_links_than_anyone_has_are_refused() {
    for text in [
        "complete(1025)",
        "star(1025)",
        "ghc(1000,26)",
        "wk(1025,2)",
        "torus(1000,1000)",
    ] {
        assert!(text.parse::<Network>().is_ok(), "{text}");
    }
    const WHY: &str = "makes nodes of more than 1024 links, more than any board or simulation has";
    for (text, what) in [
        ("complete(1026)", "byte 9: n of complete(n)"),
        ("star(1026)", "byte 5: n of star(n)"),
        ("ghc(1000,27)", "byte 9: a dimension of ghc(a,b,..)"),
        ("ghc(65535,9)", "byte 4: a dimension of ghc(a,b,..)"),
        ("wk(1026,2)", "byte 3: N of wk(N,t)"),
        ("rdn(complete(2000),1)", "byte 13: n of complete(n)"),
    ] {
        assert_eq!(refused(text).to_string(), format!("{what} {WHY}"));
    }
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
