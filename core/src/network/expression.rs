//! The language of networks in commands, mesh files, board configs and logs.
//!
//! ```text
//! base   ring(n) path(n) complete(n) star(n) hypercube(n) folded-hypercube(n) torus(a,b,..) mesh(a,b,..) ghc(a,b,..)
//!        nstar(n) petersen heawood lift(m,LINKS,..)
//! named lifts
//!        moebius-kantor pappus mcgee tutte-coxeter hoffman-singleton cage(d,g) generalized-petersen(n,s) circulant(n,s,..)
//!        chordal-ring(n,c)
//! RDN    rdn(BASE,k)
//! RE     re(FRAME,UNIT,r[,sk|sd])   re([F1,F2,..],UNIT[,sk|sd])
//! RCR    rcr(k,r,j)
//! Heawood hierarchies
//!        folded(BASE,n) root-folded(BASE,n) flooded(BASE,n) re-heawood-2(n[,all|one])
//! Swapped networks
//!        rsn(l,G[,diameter]) hcn(n) hfn(n) hsn(l,G) hcn3(n) partial-swapped wk(N,t) symmetric-hypernet(n,t) hypernet(n,l)
//! file   graph:FILE
//! others ccc(n) cor(k,r) dualcube(n) bsw(BASE) exchanged-hypercube(s,t)
//! ```
//!
//! A graph from a file is routed by tables, on hosts only. BASE, FRAME and UNIT are base graphs; families do not nest, so a parser needs no
//! stack. Lower case; blanks between tokens are ignored. Printing gives the one canonical spelling.

use core::fmt;
use core::str::FromStr;

use crate::arith::{MAX_NODES, Number, wide};
#[cfg(feature = "lift")]
use crate::graph::Lift;
#[cfg(feature = "names")]
use crate::graph::lift;
use crate::graph::{
    Base, Factor, FoldedHypercube, Graph, Heawood, Hypercube, Kind, Line, NStar, Petersen, Product, Star,
};
use crate::limits::{MAX_BITS, MAX_DEGREE, MAX_DIMENSIONS, MAX_SYMBOLS};

/// The reason why a text is not a network. Without the feature `reasons` only that its family was [not built](BrokenRule::NotBuilt).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParseError {
    /// The byte at which the offending part begins, from 0.
    pub position: usize,
    /// The parameter, as the language's definition names it.
    pub parameter: &'static str,
    /// The rule it breaks.
    pub rule: BrokenRule,
}

/// A rule of the language that a text breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BrokenRule {
    /// Another token was expected.
    Expected(&'static str),
    /// The number is too small.
    AtLeast(u64),
    /// The number is too large.
    AtMost(u64),
    /// The graph has too few nodes.
    AtLeastNodes(u64),
    /// The list has too many items.
    AtMostItems(u64),
    /// The network would have more than [`MAX_NODES`](crate::limits::MAX_NODES).
    TooManyNodes,
    /// A node would have more links than [`MAX_DEGREE`].
    TooManyLinksOfANode,
    /// The network would have only one node.
    OneNode,
    /// The unit must have at least 2 and at most [`MAX_UNIT`](crate::limits::MAX_UNIT) nodes.
    UnitSize,
    /// `rcr(0,r,j)` must have j = 0: without cube links nothing joins the rings.
    NoCubeLinks,
    /// The network would fall into 2^n parts.
    Disconnected(u64),
    /// A link of a lift leads to an orbit before its own, or its shift is out of range.
    OrbitLink,
    /// The links of a lift do not fit its encoding.
    TooManyLinks,
    /// The lift has more nodes than a search has memory for.
    TooManyForLift,
    /// The file of a graph cannot be read.
    Unreadable(&'static str),
    /// The network's family was not compiled in: see the crate's features.
    NotBuilt,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {} ", self.position, self.parameter)?;
        match self.rule {
            BrokenRule::Expected(what) => write!(f, "must be {what}"),
            BrokenRule::AtLeast(least) => write!(f, "must be at least {least}"),
            BrokenRule::AtMost(most) => write!(f, "must be at most {most}"),
            BrokenRule::AtLeastNodes(least) => write!(f, "must have at least {least} nodes"),
            BrokenRule::AtMostItems(most) => write!(f, "may list at most {most}"),
            BrokenRule::TooManyNodes if cfg!(feature = "huge-networks") => {
                write!(f, "makes more than 2^{MAX_BITS} nodes")
            }
            BrokenRule::TooManyNodes => write!(
                f,
                "makes more than 2^{MAX_BITS} nodes: this program was built without huge networks"
            ),
            BrokenRule::TooManyLinksOfANode => write!(
                f,
                "makes nodes of more than {MAX_DEGREE} links, more than any board or simulation has"
            ),
            BrokenRule::OneNode => f.write_str("makes a network of a single node"),
            BrokenRule::UnitSize => f.write_str("must have 2 to 64 nodes"),
            BrokenRule::NoCubeLinks => f.write_str("must be 0 when k is 0: there are no cube links to expand"),
            BrokenRule::Disconnected(exponent) => {
                write!(
                    f,
                    "is too small, r*k must be at least k+j: disconnected: 2^{exponent} components"
                )
            }
            BrokenRule::OrbitLink => f.write_str(
                "must lead to their own orbit or a later one, by a shift below m, to their own by 1 to m/2, and differ",
            ),
            BrokenRule::TooManyForLift => {
                f.write_str("makes more nodes than a lift can have, which is 1024 or some more")
            }
            BrokenRule::TooManyLinks => f.write_str("are more than there is room for"),
            BrokenRule::Unreadable(why) => write!(f, "cannot be read: {why}"),
            BrokenRule::NotBuilt => f.write_str("is of a family that was left out when this program was built"),
        }
    }
}

impl core::error::Error for ParseError {}

/// A tokenizer.
///
/// A parse failure is `None`, and the reader keeps the reason: a family's parser passes `None` on in a register, where an
/// error of its own would be copied at every step.
pub(crate) struct Reader<'a> {
    text: &'a str,
    /// The start of the next token, or of blanks before it.
    position: usize,
    /// The start of the last token.
    last: usize,
    pub(crate) refusal: ParseError,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Reader {
            text,
            position: 0,
            last: 0,
            refusal: ParseError {
                position: 0,
                parameter: "the expression",
                rule: BrokenRule::Expected("a network"),
            },
        }
    }

    /// Rejects the last token.
    // Inlined, so that reasons that are not kept are not in the program either.
    #[inline(always)]
    pub(crate) fn refuse<T>(&mut self, parameter: &'static str, rule: BrokenRule) -> Option<T> {
        if cfg!(feature = "reasons") || matches!(rule, BrokenRule::NotBuilt) {
            self.refusal = ParseError {
                position: self.last,
                parameter,
                rule,
            };
        }
        None
    }

    /// The longest run of bytes that `belongs` accepts, after blanks.
    #[inline(never)]
    fn take(&mut self, belongs: fn(u8) -> bool) -> &'a str {
        let bytes = self.text.as_bytes();
        let blank = |byte: &&u8| byte.is_ascii_whitespace();
        let rest = bytes.get(self.position..).unwrap_or_default();
        self.last = self.position + rest.iter().take_while(blank).count();
        let rest = bytes.get(self.last..).unwrap_or_default();
        self.position = self.last + rest.iter().take_while(|byte| belongs(**byte)).count();
        // Tokens are ASCII, so this is always a character boundary.
        self.text.get(self.last..self.position).unwrap_or_default()
    }

    /// A name: letters, digits and hyphens. Empty if the next token is something else.
    pub(crate) fn word(&mut self) -> &'a str {
        self.take(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    }

    /// Consumes a punctuation mark if it is next, and returns whether it was.
    pub(crate) fn accept(&mut self, mark: u8) -> bool {
        let before = self.position;
        self.take(|_| false);
        let found = self.text.as_bytes().get(self.position) == Some(&mark);
        self.position = if found { self.position + 1 } else { before };
        found
    }

    pub(crate) fn expect(&mut self, mark: u8, parameter: &'static str, what: &'static str) -> Option<()> {
        if self.accept(mark) {
            Some(())
        } else {
            self.refuse(parameter, BrokenRule::Expected(what))
        }
    }

    pub(crate) fn open(&mut self, parameter: &'static str) -> Option<()> {
        self.expect(b'(', parameter, "followed by '('")
    }

    pub(crate) fn comma(&mut self, parameter: &'static str) -> Option<()> {
        self.expect(b',', parameter, "preceded by ','")
    }

    pub(crate) fn close(&mut self, parameter: &'static str) -> Option<()> {
        self.expect(b')', parameter, "followed by ')'")
    }

    /// Requires the end of the text, after blanks.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.take(|_| false);
        if self.position == self.text.len() {
            Some(())
        } else {
            self.refuse(
                "the expression",
                BrokenRule::Expected("all of the text: nothing may follow it"),
            )
        }
    }

    /// The first parameter, a number, after its bracket.
    pub(crate) fn first_number(&mut self, parameter: &'static str, least: Number, most: Number) -> Option<Number> {
        self.open(parameter)?;
        self.number(parameter, least, most)
    }

    /// A further parameter, a number, after its comma.
    pub(crate) fn next_number(&mut self, parameter: &'static str, least: Number, most: Number) -> Option<Number> {
        self.comma(parameter)?;
        self.number(parameter, least, most)
    }

    /// A whole number within limits.
    pub(crate) fn number(&mut self, parameter: &'static str, least: Number, most: Number) -> Option<Number> {
        let number = self.digits();
        let next = self.text.as_bytes().get(self.position);
        let ends = !next.is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'.');
        let Some(number) = number.filter(|_| ends) else {
            return self.refuse(parameter, BrokenRule::Expected("a whole number"));
        };
        if number < least {
            self.refuse(parameter, BrokenRule::AtLeast(wide(least)))
        } else if number > most {
            self.refuse(parameter, BrokenRule::AtMost(wide(most)))
        } else {
            Some(number)
        }
    }

    /// The rest of the text, trimmed.
    #[cfg(feature = "tables")]
    pub(crate) fn rest(&mut self) -> &'a str {
        self.take(|_| true).trim_ascii_end()
    }

    /// A number, regardless of what follows; `None` if there are no digits.
    pub(crate) fn digits(&mut self) -> Option<Number> {
        let digits = self.take(|byte| byte.is_ascii_digit());
        let number = digits.bytes().fold(0, |number: Number, digit| {
            number.saturating_mul(10).saturating_add(Number::from(digit & 15))
        });
        (!digits.is_empty()).then_some(number)
    }

    /// A single letter, counted from 0.
    #[cfg(feature = "lift")]
    pub(crate) fn letter(&mut self) -> Option<u8> {
        self.take(|_| false);
        let byte = self.text.as_bytes().get(self.position).copied()?;
        let letter = byte.checked_sub(b'a').filter(|_| byte.is_ascii_lowercase())?;
        self.position += 1;
        Some(letter)
    }

    pub(crate) fn base(&mut self, parameter: &'static str) -> Option<Base> {
        let word = self.word();
        self.base_named(word, parameter, "a base graph")
    }

    /// The base graph whose name was just read.
    pub(crate) fn base_named(&mut self, word: &str, parameter: &'static str, expected: &'static str) -> Option<Base> {
        Some(Base(match word {
            "petersen" => Kind::Petersen(Petersen),
            "heawood" => Kind::Heawood(Heawood),
            #[cfg(feature = "lift")]
            "lift" => Kind::Lift(Lift::parse(self)?),
            #[cfg(not(feature = "lift"))]
            "lift" => return self.refuse(parameter, BrokenRule::NotBuilt),
            "ring" => self.line(Factor::Ring, "n of ring(n)", 3)?,
            "path" => self.line(Factor::Path, "n of path(n)", 2)?,
            "complete" => Kind::Line(Line {
                factor: Factor::Complete,
                nodes: self.hub("n of complete(n)")?,
            }),
            "torus" => self.product_of(Factor::Ring, "a dimension of torus(a,b,..)")?,
            "mesh" => self.product_of(Factor::Path, "a dimension of mesh(a,b,..)")?,
            "ghc" => self.product_of(Factor::Complete, "a dimension of ghc(a,b,..)")?,
            "star" => Kind::Star(Star {
                nodes: self.hub("n of star(n)")?,
            }),
            "hypercube" => Kind::Hypercube(Hypercube {
                bits: self.size("n of hypercube(n)", 1, MAX_BITS.into())? as u8,
            }),
            "folded-hypercube" => Kind::FoldedHypercube(FoldedHypercube {
                bits: self.size("n of folded-hypercube(n)", 2, MAX_BITS.into())? as u8,
            }),
            "nstar" => Kind::NStar(NStar {
                symbols: self.size("n of nstar(n)", 2, MAX_SYMBOLS as Number)? as u8,
            }),
            #[cfg(feature = "names")]
            _ if lift::WORDS.contains(&word) => Kind::Lift(Lift::named(word, self)?),
            _ => return self.refuse(parameter, BrokenRule::Expected(expected)),
        }))
    }

    fn line(&mut self, factor: Factor, parameter: &'static str, least: Number) -> Option<Kind> {
        let nodes = self.size(parameter, least, MAX_NODES)?;
        Some(Kind::Line(Line { factor, nodes }))
    }

    fn product_of(&mut self, factor: Factor, parameter: &'static str) -> Option<Kind> {
        self.open(parameter)?;
        let mut graph = Product::new(factor);
        let (mut nodes, mut degree) = (1, 0);
        loop {
            let size = self.number(parameter, 2, Number::from(u32::MAX))?;
            nodes = self.product(nodes, size, parameter)?;
            degree += Line { factor, nodes: size }.degree(0);
            self.check_degree(degree, parameter)?;
            if !graph.push(size as u32) {
                return self.refuse(parameter, BrokenRule::AtMostItems(MAX_DIMENSIONS as u64));
            }
            if !self.accept(b',') {
                self.close(parameter)?;
                return Some(Kind::Product(graph));
            }
        }
    }

    /// The size of a graph that has a node linked to all others.
    fn hub(&mut self, parameter: &'static str) -> Option<Number> {
        self.open(parameter)?;
        let nodes = self.hub_number(parameter)?;
        self.close(parameter)?;
        Some(nodes)
    }

    pub(crate) fn hub_number(&mut self, parameter: &'static str) -> Option<Number> {
        let nodes = self.number(parameter, 2, MAX_NODES)?;
        self.check_degree(nodes - 1, parameter)?;
        Some(nodes)
    }

    fn check_degree(&mut self, degree: Number, parameter: &'static str) -> Option<()> {
        if wide(degree) > MAX_DEGREE {
            return self.refuse(parameter, BrokenRule::TooManyLinksOfANode);
        }
        Some(())
    }

    pub(crate) fn size(&mut self, parameter: &'static str, least: Number, most: Number) -> Option<Number> {
        self.open(parameter)?;
        let size = self.number(parameter, least, most)?;
        self.close(parameter)?;
        Some(size)
    }

    /// The product of two sizes, if a network may have that many nodes.
    pub(crate) fn product(&mut self, a: Number, b: Number, parameter: &'static str) -> Option<Number> {
        let nodes = a.checked_mul(b).filter(|&nodes| nodes <= MAX_NODES);
        nodes.or_else(|| self.refuse(parameter, BrokenRule::TooManyNodes))
    }
}

impl FromStr for Base {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text);
        let base = reader.base("the expression");
        base.filter(|_| reader.end().is_some()).ok_or(reader.refusal)
    }
}
