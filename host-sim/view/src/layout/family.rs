//! How each family is nested: its levels from the outermost, and a node's digit on each.

use hopwise_core::network::{Linkage, Rdn};
use hopwise_core::{Base, Family, Network, Node};
use hopwise_networks::base::Formulas;

use super::point::{Point, centerd};
use super::{shapes, stress};

/// An arrangement of clusters, or of the nodes in the innermost ones.
pub struct Level {
    /// By digit.
    pub places: Vec<Point>,
    /// Whether clusters are turned so that their first place looks to the middle.
    pub faces_middle: bool,
}

type Digits = Box<dyn Fn(Node) -> Vec<usize>>;
type KindOf = Box<dyn Fn(Node, Node, &[usize], &[usize]) -> usize>;

pub struct Nesting {
    /// From the outermost.
    pub levels: Vec<Level>,
    /// A node's digit on each level.
    pub digits: Digits,
    pub kinds: Vec<String>,
    /// Which kind a link is, from its ends and their digits.
    pub kind: KindOf,
}

/// More clusters than this are not put on a circle.
const MAX_ON_A_CIRCLE: usize = 20;

/// A graph without a shape of its own is drawn by its distances up to here, which takes time with their number.
const MAX_WITHOUT_SHAPE: u64 = 512;

pub fn nesting(network: &Network) -> Nesting {
    match *network.family() {
        Family::Base(base) => of_base(base),
        Family::Rdn(rdn) => of_rdn(&rdn),
        Family::Re(re) => {
            let frames = (0..re.phases()).rev().map(|phase| shapes::base(re.frame(phase)));
            let names = (1..=re.phases()).map(|phase| format!("frame, phase {phase}"));
            let kinds = std::iter::once("unit".into()).chain(names).collect();
            by_digits(frames.chain([shapes::base(re.unit())]).map(still).collect(), kinds)
        }
        Family::Rcr(rcr) => {
            let words = still(cubes(rcr.word_bits() as u32));
            let rings = still(shapes::circle(rcr.ring() as usize));
            by_digits(vec![words, rings], vec!["ring".into(), "cube".into()])
        }
        Family::Hierarchy(hierarchy) => {
            let faces_middle = hierarchy.linkage() != Linkage::Folded;
            let level = || Level {
                places: shapes::base(hierarchy.base()),
                faces_middle,
            };
            let count = hierarchy.digits();
            let kinds = (0..count).map(|digit| format!("digit {digit}")).collect();
            let nesting = by_digits((0..count).map(|_| level()).collect(), kinds);
            let network = *network;
            // A flooded network leaves tuples out, so its digits are read from the address.
            let digits = move |node| {
                let address = network.address(node).map(|address| address.to_string());
                let address = address.unwrap_or_default();
                let numbers = address.split(|c: char| !c.is_ascii_digit());
                numbers.filter_map(|number| number.parse().ok()).collect()
            };
            Nesting {
                digits: Box::new(digits),
                ..nesting
            }
        }
        Family::Rsn(rsn) => {
            let mut sizes = vec![rsn.nucleus().nodes()];
            for level in 2..rsn.levels() {
                sizes.push(sizes[level as usize - 2].pow(2));
            }
            let sizes = sizes.iter().rev().copied().filter(|_| rsn.levels() > 1);
            swapped(rsn.nucleus(), sizes.collect())
        }
        Family::Hsn(hsn) => swapped(hsn.nucleus(), vec![hsn.nucleus().nodes(); hsn.levels() as usize - 1]),
        Family::Hcn3(hcn3) => {
            let clusters = still(around(1 << hcn3.bits()));
            let again = still(around(1 << hcn3.bits()));
            let nucleus = still(shapes::cube(hcn3.bits() as u32));
            by_digits(vec![clusters, again, nucleus], swap_kinds(3))
        }
        Family::Wk(wk) => {
            let levels = (0..wk.digits()).map(|_| still(shapes::base(wk.nucleus())));
            by_digits(levels.collect(), swap_kinds(wk.digits()))
        }
        Family::Hypernet(hypernet) => {
            let clusters = (2..=hypernet.levels()).rev().map(|level| {
                let bits = hypernet.level_bits(level) - hypernet.level_bits(level - 1);
                still(around(1 << bits))
            });
            let cube = still(shapes::cube(hypernet.cube_bits() as u32));
            by_digits(clusters.chain([cube]).collect(), swap_kinds(hypernet.levels()))
        }
        Family::Exchanged(exchanged) => of_exchanged(exchanged.first_bits() as u32, exchanged.second_bits() as u32),
        Family::Table(_) if network.nodes() <= MAX_WITHOUT_SHAPE => flat(stress::places(network), vec!["link".into()]),
        // Families of later versions, and the one that is too large for a page.
        _ => flat(shapes::grid(network.nodes() as usize), vec!["link".into()]),
    }
}

/// A level whose clusters all look the same way.
fn still(places: Vec<Point>) -> Level {
    Level {
        places,
        faces_middle: false,
    }
}

/// Clusters that are all linked with each other.
fn around(count: usize) -> Vec<Point> {
    match count {
        ..=MAX_ON_A_CIRCLE => shapes::circle(count),
        _ => shapes::grid(count),
    }
}

/// Clusters at the corners of a hypercube; above three bits in rows and columns by the Gray code, so that most links are short.
fn cubes(bits: u32) -> Vec<Point> {
    if bits <= 3 {
        return shapes::cube(bits);
    }
    let low = bits.div_ceil(2);
    // Where a number stands in the Gray code.
    let place = |word: usize| (0..usize::BITS).fold(0, |sum, shift| sum ^ (word >> shift)) as f64;
    let points = (0..1usize << bits).map(|word| Point::new(place(word & ((1 << low) - 1)), place(word >> low)));
    centerd(points.collect())
}

/// All on one level.
fn flat(places: Vec<Point>, kinds: Vec<String>) -> Nesting {
    by_digits(vec![still(places)], kinds)
}

/// A number split into digits, the innermost level least significant. Kinds are named from the innermost: a link is
/// of the outermost level on which its ends differ.
fn by_digits(levels: Vec<Level>, kinds: Vec<String>) -> Nesting {
    let sizes: Vec<usize> = levels.iter().map(|level| level.places.len()).collect();
    let digits = move |node: Node| {
        let mut rest = node as usize;
        let mut digits = vec![0; sizes.len()];
        for (digit, size) in digits.iter_mut().zip(&sizes).rev() {
            (*digit, rest) = (rest % size, rest / size);
        }
        digits
    };
    Nesting {
        levels,
        digits: Box::new(digits),
        kinds,
        kind: Box::new(|_, _, one, other| {
            let differs = one.iter().zip(other).position(|(a, b)| a != b);
            one.len() - 1 - differs.unwrap_or(0)
        }),
    }
}

/// Nuclei, and links between clusters from level 2 up.
fn swap_kinds(levels: u64) -> Vec<String> {
    let swaps = (2..=levels).map(|level| format!("between clusters, level {level}"));
    std::iter::once("nucleus".into()).chain(swaps).collect()
}

/// Clusters of clusters, by how many there are on each level from the outermost, of nuclei.
fn swapped(nucleus: &Base, clusters: Vec<u64>) -> Nesting {
    let kinds = swap_kinds(clusters.len() as u64 + 1);
    let levels = clusters.into_iter().map(|count| still(around(count as usize)));
    by_digits(levels.chain([still(shapes::base(nucleus))]).collect(), kinds)
}

/// The dimensions of a product and the bits of a hypercube are told apart; other graphs have one kind of link.
fn of_base(base: Base) -> Nesting {
    let (name, numbers) = shapes::written(&base);
    let places = shapes::base(&base);
    let (word, sizes) = match (name.as_str(), &numbers[..]) {
        ("torus" | "mesh" | "ghc", [_, _, ..]) => ("dimension", numbers),
        ("hypercube", &[bits]) if bits > 1 => ("bit", vec![2; bits as usize]),
        ("lift", &[m, ..]) => {
            let kinds = vec!["within an orbit".into(), "between orbits".into()];
            return Nesting {
                kind: Box::new(move |a, b, _, _| usize::from(a / m != b / m)),
                ..flat(places, kinds)
            };
        }
        _ => return flat(places, vec!["link".into()]),
    };
    let first = usize::from(word == "dimension");
    let axes = first..first + sizes.len();
    let kinds = axes.map(|axis| format!("{word} {axis}")).collect();
    let kind = move |a: Node, b: Node, _: &[usize], _: &[usize]| {
        let (mut a, mut b) = (a, b);
        let differs = |&size: &u64| {
            let differs = a % size != b % size;
            (a, b) = (a / size, b / size);
            differs
        };
        sizes.iter().position(differs).unwrap_or(0)
    };
    Nesting {
        kind: Box::new(kind),
        ..flat(places, kinds)
    }
}

/// Two sets of clusters that face each other, level in level.
fn of_rdn(rdn: &Rdn) -> Nesting {
    let mut size = rdn.base().nodes() as usize;
    let mut levels = vec![still(shapes::base(rdn.base()))];
    let mut kinds = vec!["base".to_string()];
    for level in 1..=rdn.levels() {
        levels.push(facing(size, size));
        kinds.push(format!("cross link, level {level}"));
        size = 2 * size * size;
    }
    levels.reverse();
    by_digits(levels, kinds)
}

fn facing(left: usize, right: usize) -> Level {
    if left + right <= MAX_ON_A_CIRCLE {
        Level {
            places: shapes::halves(left, right),
            faces_middle: true,
        }
    } else {
        still(shapes::blocks(left, right))
    }
}

/// Where the last bit is 0 the first bits are a place in a cluster and the others its number, else the other way round.
fn of_exchanged(first: u32, second: u32) -> Nesting {
    let levels = vec![facing(1 << second, 1 << first), still(shapes::cube(first.max(second)))];
    let digits = move |node: Node| {
        let a = (node >> (second + 1)) as usize;
        let b = (node >> 1) as usize & ((1 << second) - 1);
        let (even, odd) = (vec![b, a], vec![(1 << second) + a, b]);
        if node & 1 == 0 { even } else { odd }
    };
    Nesting {
        digits: Box::new(digits),
        ..by_digits(levels, vec!["within a cluster".into(), "cross link".into()])
    }
}
