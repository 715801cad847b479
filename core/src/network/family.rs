//! The enumeration of all families.

use core::fmt;

use crate::arith::{Number, Vertex};
use crate::expr_writer::{self, ExprWriter, WriteExpr};
use crate::graph::Base;
use crate::network::expression::{BrokenRule, Reader};
use crate::topology::{Method, Rule, Topology, dispatched};

/// Defines [`Family`] from a list: for each family its documentation, type, module and feature, and the words of the language with the
/// function that parses what follows them.
macro_rules! families {
    ($($(#[$doc:meta])* $Name:ident in $module:ident of $feature:literal: $($word:literal => $parse:ident),+;)+) => {
        $(
            #[cfg(feature = $feature)]
            pub use super::$module::$Name;

            #[cfg(feature = $feature)]
            impl fmt::Display for $Name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    expr_writer::display(self, f)
                }
            }
        )+

        /// The families of networks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant, reason = "there is no heap to box the largest into")]
        pub enum Family {
            /// A base graph by itself.
            Base(Base),
            $($(#[$doc])* #[cfg(feature = $feature)] $Name($Name),)+
        }

        /// Dispatches a method to the family. Unlike a trait object, this leaves methods that are never called out of the program.
        macro_rules! of_family {
            ($family:expr, $network:ident => $call:expr) => {
                match $family {
                    Family::Base($network) => $call,
                    $(#[cfg(feature = $feature)] Family::$Name($network) => $call,)+
                }
            };
        }

        /// The words of families that are not compiled in.
        const LEFT_OUT: &[&str] = &[$($(
            #[cfg(not(feature = $feature))]
            $word,
        )+)+];

        type Parser = fn(&mut Reader<'_>) -> Option<Family>;

        /// What parses the parameters after each word. A table takes less code than comparisons one by one.
        const PARSERS: &[(&str, Parser)] = &[$($(
            #[cfg(feature = $feature)]
            ($word, |reader| $Name::$parse(reader).map(Family::$Name)),
        )+)+];

        impl Family {
            /// The words with which expressions of families begin; for base graphs see [`Base::WORDS`].
            pub const WORDS: &'static [&'static str] = &[$($(
                #[cfg(feature = $feature)]
                $word,
            )+)+];

            /// The feature of this crate that has the family; `None` for base graphs.
            pub fn feature(&self) -> Option<&'static str> {
                match self {
                    Family::Base(_) => None,
                    $(#[cfg(feature = $feature)] Family::$Name(_) => Some($feature),)+
                }
            }

            /// Parses a network up to the end of the text.
            pub(super) fn parse(reader: &mut Reader<'_>) -> Option<Family> {
                let word = reader.word();
                let family = match PARSERS.iter().find(|(known, _)| *known == word) {
                    Some((_, parse)) => parse(reader)?,
                    None if LEFT_OUT.contains(&word) => return reader.refuse("the network", BrokenRule::NotBuilt),
                    None => Family::Base(reader.base_named(word, "the expression", "the name of a network")?),
                };
                reader.end()?;
                Some(family)
            }
        }

        impl WriteExpr for Family {
            fn write_expr(&self, out: &mut ExprWriter<'_>) {
                of_family!(self, network => network.write_expr(out))
            }
        }

        impl fmt::Display for Family {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                expr_writer::display(self, f)
            }
        }
    };
}

families! {
    /// Recursive Dual-Net, dual-cube, biswapped network.
    Rdn in rdn of "rdn": "rdn" => parse, "dualcube" => parse_dualcube, "bsw" => parse_biswapped;
    /// Recursive Expansion.
    Re in re of "re": "re" => parse, "re-heawood-2" => parse_heawood_2;
    /// Recursive Cube of Rings, Cube of Rings, Cube-Connected Cycles.
    Rcr in rcr of "rcr": "rcr" => parse, "cor" => parse_cor, "ccc" => parse_ccc;
    /// WK-recursive network, symmetric hypernet.
    Wk in wk of "wk": "wk" => parse, "symmetric-hypernet" => parse_hypernet;
    /// Hypernet.
    Hypernet in hypernet of "hypernet": "hypernet" => parse;
    /// Exchanged hypercube.
    Exchanged in exchanged of "exchanged": "exchanged-hypercube" => parse;
    /// Folded, root-folded and flooded networks.
    Hierarchy in hierarchy of "hierarchy": "folded" => parse_folded, "root-folded" => parse_root_folded, "flooded" => parse_flooded;
    /// Recursive swapped network, hierarchical cubic network, hierarchical folded-hypercube network.
    Rsn in rsn of "rsn": "rsn" => parse, "hcn" => parse_hcn, "hfn" => parse_hfn;
    /// Hierarchical swapped network.
    Hsn in hsn of "hsn": "hsn" => parse;
    /// Three-level hierarchical cubic network.
    Hcn3 in hcn3 of "hcn3": "hcn3" => parse;
    /// The partially linked swapped network.
    PartialSwapped in partial_swapped of "partial-swapped": "partial-swapped" => parse;
    /// Any graph, routed by tables.
    Table in table of "tables": "graph" => parse;
}

/// [`Topology::next`] of one family. Never inlined: in one function with all others, the shortest routing function would pay for the
/// registers and the stack of the longest.
#[inline(never)]
fn next_in<T: Topology>(network: &T, here: Vertex, dest: Vertex, rule: Rule) -> Vertex {
    network.next(here, dest, rule)
}

impl Topology for Family {
    fn next(&self, here: Vertex, dest: Vertex, rule: Rule) -> Vertex {
        of_family!(self, network => next_in(network, here, dest, rule))
    }

    dispatched! { of_family:
        nodes() -> Number;
        degree(node: Vertex) -> Number;
        neighbor(node: Vertex, port: Number) -> Option<Vertex>;
        distance(from: Vertex, to: Vertex) -> Option<Number>;
        longest_route(rule: Rule) -> Number;
        known_diameter() -> Option<Number>;
        vertex_transitive() -> bool;
        write_address(node: Vertex, out: &mut fmt::Formatter<'_>) -> fmt::Result;
        method(here: Vertex, dest: Vertex, rule: Rule) -> Method;
        port_to(node: Vertex, neighbor: Vertex) -> Option<Number>;
        passes_on_directly(here: Vertex, port: Number, source: Vertex) -> Option<bool>;
        send_priority(here: Vertex, port: Number, source: Vertex) -> u64;
        fewest_steps_send_priority(here: Vertex, port: Number, source: Vertex) -> Option<u64>;
        serves_in_fewest_steps(here: Vertex, port: Number, source: Vertex) -> bool;
    }
}
