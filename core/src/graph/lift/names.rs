//! Lifts that have names: classical graphs, each read as the lift it is.

use heapless::Vec;

use super::{Lift, MAX_LINKS, MAX_PLACES, OrbitLink};
use crate::arith::{Number, sub_mod};
use crate::network::expression::{BrokenRule, Reader};

/// Graphs of one size, with the text that follows `lift`.
const FIXED: [(&str, &str); 5] = [
    ("moebius-kantor", "(8,a1b,b3)"),
    ("pappus", "(9,bb6b8)"),
    ("mcgee", "(8,bcc2,b4c7)"),
    ("tutte-coxeter", "(10,a5bc,b3,c1)"),
    ("hoffman-singleton", HOFFMAN_SINGLETON),
];

const HOFFMAN_SINGLETON: &str = "(5,a1fghij,b1fg1h2i3j4,c1fg2h4i1j3,d1fg3h1i4j2,e1fg4h3i2j1,f2,g2,h2,i2,j2)";

/// `cage(d,g)`: a smallest graph of degree d and girth g, where it is a lift.
const CAGES: [(Number, Number, &str); 10] = [
    (3, 5, "(5,a1b,b2)"),
    (3, 6, "(7,bb1b3)"),
    (3, 7, "(8,bcc2,b4c7)"),
    (3, 8, "(10,a5bc,b3,c1)"),
    (3, 12, "(7,brr6,ck,dh,eq,ff5,g,h1n,i,jj4,k5,l,mo,n2p,o4,p5,q1,r3)"),
    (4, 6, "(13,bb1b3b9)"),
    (5, 5, "(10,a1bcc3,b2c6c7,c5)"),
    (5, 6, "(21,bb1b4b14b16)"),
    (6, 6, "(31,bb1b3b8b12b18)"),
    (7, 5, HOFFMAN_SINGLETON),
];

pub(crate) const WORDS: [&str; 9] = [
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

impl Lift {
    /// Parses the lift of a name; `None` without a refusal of its own if the word is not a name.
    pub(crate) fn named(word: &str, reader: &mut Reader<'_>) -> Option<Self> {
        match word {
            "cage" => cage(reader),
            "generalized-petersen" => generalized_petersen(reader),
            "circulant" => circulant(reader),
            "chordal-ring" => chordal_ring(reader),
            _ => FIXED
                .iter()
                .find(|named| named.0 == word)
                .and_then(|named| written(named.1)),
        }
    }
}

fn written(links: &str) -> Option<Lift> {
    Lift::parse(&mut Reader::new(links))
}

fn cage(reader: &mut Reader<'_>) -> Option<Lift> {
    const CAGE: &str = "(d,g) of cage(d,g)";
    let degree = reader.first_number(CAGE, 3, 7)?;
    let girth = reader.next_number(CAGE, 5, 12)?;
    reader.close(CAGE)?;
    match CAGES.iter().find(|cage| (cage.0, cage.1) == (degree, girth)) {
        Some(cage) => written(cage.2),
        None => reader.refuse(
            CAGE,
            BrokenRule::Expected("(3,5) to (3,8), (3,12), (4,6), (5,5), (5,6), (6,6) or (7,5)"),
        ),
    }
}

/// `generalized-petersen(n,s)`: an outer cycle of n, spokes, and an inner one of steps of s.
fn generalized_petersen(reader: &mut Reader<'_>) -> Option<Lift> {
    const PLACES: &str = "n of generalized-petersen(n,s)";
    const STEP: &str = "s of generalized-petersen(n,s)";
    let places = reader.first_number(PLACES, 3, MAX_PLACES)?;
    let step = reader.next_number(STEP, 1, places / 2)?;
    reader.close(STEP)?;
    let links = [link(0, 0, 1), link(0, 1, 0), link(1, 1, step)];
    Lift::joined(reader, PLACES, places, &links)
}

/// `circulant(n,s1,s2,..)`: node x is joined with x + s and x - s for every s.
fn circulant(reader: &mut Reader<'_>) -> Option<Lift> {
    const PLACES: &str = "n of circulant(n,s,..)";
    const STEP: &str = "s of circulant(n,s,..)";
    let places = reader.first_number(PLACES, 2, MAX_PLACES)?;
    let mut links = Vec::<OrbitLink, MAX_LINKS>::new();
    while reader.accept(b',') {
        let step = reader.number(STEP, 1, places / 2)?;
        if links.contains(&link(0, 0, step)) || links.push(link(0, 0, step)).is_err() {
            return reader.refuse(STEP, BrokenRule::OrbitLink);
        }
    }
    reader.close(STEP)?;
    Lift::joined(reader, PLACES, places, &links)
}

/// `chordal-ring(n,c)`: a ring of n in which every odd node x is joined with x + c. The even nodes are orbit a.
fn chordal_ring(reader: &mut Reader<'_>) -> Option<Lift> {
    const NODES: &str = "n of chordal-ring(n,c)";
    const CHORD: &str = "c of chordal-ring(n,c)";
    let nodes = reader.first_number(NODES, 6, 2 * MAX_PLACES)?;
    if !nodes.is_multiple_of(2) {
        return reader.refuse(NODES, BrokenRule::Expected("even"));
    }
    let chord = reader.next_number(CHORD, 3, nodes - 3)?;
    if chord.is_multiple_of(2) {
        return reader.refuse(CHORD, BrokenRule::Expected("odd"));
    }
    reader.close(CHORD)?;
    let places = nodes / 2;
    let back = |steps: Number| sub_mod(0, steps, places);
    let links = [0, back(1), back(chord.div_ceil(2))].map(|shift| link(0, 1, shift));
    Lift::joined(reader, NODES, places, &links)
}

fn link(from: u8, to: u8, shift: Number) -> OrbitLink {
    OrbitLink {
        from,
        to,
        shift: shift as u16,
    }
}
