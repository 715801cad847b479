//! Recursively expanded Heawood networks II, `re-heawood-2(n[,all|one])`.
//!
//! G. E. Jan, Y.-S. Hwang, M.-B. Lin, D. Liang, Novel Hierarchical Interconnection Networks for High-Performance
//! Multicomputer Systems.
//!
//! Like the expansion of the Heawood graph by itself, but each digit has three pivots, so that no single node is the only way
//! out. The paper leaves open whether each of the three is joined to all three neighboring copies (`all`) or to one
//! (`one`); both are here. With V_0 the position, digit i = 1 .. n-1 has the pivots i-1, i+2 and i-4 modulo 14.

use super::phase::Pivots;
use super::{Choice, Re};
use crate::arith::{Number, fits_short};
use crate::graph::{Base, Heawood, Kind};
use crate::limits::{BOARD_SEARCH_WORDS, MAX_FRAMES};
use crate::network::expression::{BrokenRule, Reader};

/// The three pivots of a phase, counted from 0: those of the edges plus, minus and distance, from an even digit.
fn ports(phase: Number) -> [u8; 3] {
    [0, 3, 14 - 4 + 1].map(|offset| ((phase + offset) % 14) as u8)
}

/// With all links at every pivot.
pub(super) fn every_port(phase: Number) -> Pivots {
    Pivots::Each(ports(phase).iter().fold(0, |set, port| set | 1 << port))
}

/// With one link at each pivot.
pub(super) fn one_port(phase: Number) -> Pivots {
    Pivots::Colored(ports(phase))
}

impl Re {
    pub(crate) fn parse_heawood_2(reader: &mut Reader<'_>) -> Option<Self> {
        const DIGITS: &str = "n of re-heawood-2(n)";
        const LINKS: &str = "the links of re-heawood-2(n,..)";
        reader.open(DIGITS)?;
        // Digit 15 would have the pivots of digit 1 again.
        let digits = reader.number(DIGITS, 2, 15)?;
        let nodes = (1..digits).try_fold(14, |nodes, _| reader.product(nodes, 14, DIGITS))?;
        let choice = if reader.accept(b',') {
            match reader.word() {
                "all" => Choice::EveryPort,
                "one" => Choice::OnePort,
                _ => return reader.refuse(LINKS, BrokenRule::Expected("all or one")),
            }
        } else {
            Choice::EveryPort
        };
        reader.close(LINKS)?;
        let heawood = Base(Kind::Heawood(Heawood));
        Some(Re {
            unit: heawood,
            frames: [heawood; MAX_FRAMES],
            same: true,
            phases: digits as u8 - 1,
            choice,
            pivot_stride: 1,
            unit_nodes: 14,
            frame_nodes: [14; MAX_FRAMES],
            is_short: fits_short(nodes),
            memory: BOARD_SEARCH_WORDS as u32,
        })
    }
}
