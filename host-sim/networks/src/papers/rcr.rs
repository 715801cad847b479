//! Recursive Cube of Rings, by Sun, Cheung and Lin.

mod embedding;
mod routing;

use hopwise_core::Network;

use super::claim::Case;
use super::{
    Claim, Claims, How, Measurement, Paper, Run, Verdict, base, built, diameters, network, node_at, searched_diameter,
};
use crate::base::Formulas;
use crate::bisection;
use crate::connectivity::vertex_connectivity;
use crate::distances::hops_from;
use crate::graph::Graph;
use crate::isomorphism::{TooLong, isomorphic, unlike_node_0};
use crate::papers::CannotMeasure;

pub(super) const MEASUREMENTS: &[Measurement] = &[
    examples,
    property_1,
    bisection_width,
    embedding::table_1_bisection,
    property_2,
    sizes,
    property_3,
    property_4,
    property_5,
    property_6,
    star_graph,
    routing::theorem_1_shortest,
    routing::theorem_1_deadlock,
    embedding::lemma_1,
    routing::theorem_2,
];

fn claim(text: &str) -> Claim {
    Claim::at(Paper::Rcr, text)
}

/// The parameters of a connected network.
#[derive(Clone, Copy)]
struct Cube {
    k: u64,
    r: u64,
    j: u64,
}

impl Cube {
    fn name(self) -> String {
        format!("rcr({},{},{})", self.k, self.r, self.j)
    }

    fn bits(self) -> u64 {
        self.k + self.j
    }

    /// The steps of Theorem 2.
    fn broadcast_steps(self) -> u64 {
        self.bits() + u64::from(self.r.next_power_of_two().ilog2()) + self.r / 2
    }

    /// Whether the windows fit together where the ring closes; then all nodes are alike.
    fn fits(self) -> bool {
        (self.r * self.j).is_multiple_of(self.bits())
    }
}

/// All connected networks with a cube and a ring, up to these numbers of nodes and ring places.
fn all(most_nodes: u64, most_places: u64) -> Vec<Cube> {
    let mut cubes = Vec::new();
    for k in 1..=6 {
        for j in 0..=8 {
            for r in 1..=most_places {
                let cube = Cube { k, r, j };
                let nodes = r << (k + j);
                if nodes <= most_nodes && r * k >= k + j && nodes > 2 {
                    cubes.push(cube);
                }
            }
        }
    }
    cubes
}

fn examples(_: &Run) -> Claims {
    let linked = |expression: &str, a: &str, b: &str| -> Result<bool, CannotMeasure> {
        let (network, graph) = built(expression)?;
        Ok(graph.linked(node(&network, a), node(&network, b)))
    };
    let before = linked("rcr(2,2,1)", "[000;0]", "[010;0]")?;
    let after = linked("rcr(2,2,2)", "[0000;0]", "[0010;0]")?;
    let plane = linked("rcr(2,2,2)", "[0000;0]", "[1000;0]")?;
    let ring = linked("rcr(2,2,2)", "[1100;0]", "[1100;1]")?;
    let other = linked("rcr(2,2,2)", "[1100;1]", "[1110;1]")?;
    let yes = |so: bool| if so { "linked" } else { "not linked" };
    let (before_is, after_is) = (yes(before), yes(after));
    Ok(vec![
        claim(
            "Figs. 2, 3: RCR(2,2,1) links [000;0] and [010;0]; RCR(2,2,2) no longer links [0000;0] and \
                 [0010;0]",
        )
        .so(How::Counted, before && !after)
        .measured(format!(
            "[000;0] and [010;0] {before_is}; [0000;0] and [0010;0] {after_is}"
        )),
        claim("Fig. 5: RCR(2,2,2): plane [--00;0] joins plane [11--;1] by [1100;0] and [1100;1]")
            .so(How::Counted, plane && ring && other)
            .measured(format!(
                "[0000;0]-[1000;0] {}, [1100;0]-[1100;1] {}, [1100;1]-[1110;1] {}",
                yes(plane),
                yes(ring),
                yes(other)
            )),
    ])
}

fn node(network: &Network, address: &str) -> usize {
    node_at(network, address).unwrap_or(0) as usize
}

fn property_1(_: &Run) -> Claims {
    let (mut nodes, mut degrees, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    for cube in all(2048, 8) {
        let (_, graph) = built(&cube.name())?;
        let degree = if cube.r > 2 { cube.k + 2 } else { cube.k + cube.r - 1 };
        let size = cube.r << cube.bits();
        let case = |said: u64, found: usize| Case::new(cube.name(), said, found as u64);
        nodes.push(case(size, graph.nodes()));
        // Regular: where the degrees differ, one of them is not the claimed one.
        let (least, most) = graph.degree_range();
        degrees.push(case(degree, if most as u64 == degree { least } else { most }));
        let ring = [0, 0, 1, 2][cube.r.min(3) as usize];
        edges.push(case(size * (ring + cube.k) / 2, graph.edges()));
    }

    Ok(vec![
        claim("P1.1: r 2^(k+j) nodes").exactly(How::Counted, &nodes),
        claim("P1.2: every node has degree k+2 for r > 2, k+r-1 for r <= 2").exactly(How::Counted, &degrees),
        claim("P1.3: r 2^(k+j) (1 + k/2) links for r > 2, (1/2 + k/2) for r = 2, k/2 for r = 1")
            .exactly(How::Counted, &edges),
    ])
}

/// Num(k,r,j) of P1.4: how many places have one given bit in their window.
fn places_of_a_bit(network: &Network, cube: Cube) -> u64 {
    let highest = 1u64 << (cube.bits() - 1);
    let linked = |place: u64| network.unchecked().port_to(place, highest * cube.r + place).is_some();
    (0..cube.r).filter(|&place| linked(place)).count() as u64
}

fn bisection_width(run: &Run) -> Claims {
    let (mut cases, mut corollary) = (Vec::new(), Vec::new());
    let mut corollary_empty = 0;
    for cube in all(256, 8) {
        (run.progress)(&cube.name());
        let (network, graph) = built(&cube.name())?;
        let Some(found) = bisection::bounds(&graph) else {
            continue;
        };
        let unit = 1 << (cube.bits() - 1);
        let said = places_of_a_bit(&network, cube) * unit;
        cases.push(Case::new(cube.name(), said, found.most));
        let most = unit * (cube.j * (cube.r - 1) / cube.bits());
        corollary_empty += u64::from(most < unit);
        corollary.push((cube.name(), unit, most, found));
    }
    // A smaller cut refutes an equality of a minimum; that the formula bounds it from above is no merit.
    let mut row = claim(
        "P1.4: the bisection width is Num(k,r,j) 2^(k+j-1), Num the places whose window holds the highest \
         bit",
    )
    .exactly(How::BestCut, &cases)
    .no_bound();
    row.measured = format!("best cut into halves {}", row.measured);
    let outside = corollary
        .iter()
        .filter(|(_, least, most, found)| found.most < *least || found.least > *most);
    let count = outside.clone().count();
    let example = outside.clone().next();
    let corollary =
        claim("Corollary 1: 2^(k+j-1) <= B <= 2^(k+j-1) floor(j(r-1)/(j+k)) (our reading of a damaged line)")
            // A line that cannot be read for certain refutes nothing.
            .judged(How::BestCut, Verdict::of_reading(count == 0))
            .measured(format!(
                "outside the bounds on {count} of {} networks; on {corollary_empty} the bounds exclude each other",
                corollary.len()
            ))
            .except(example.map(|(name, least, most, found)| format!("{name}: {found}, read as {least} to {most}")));
    Ok(vec![row, corollary])
}

/// The network of any parameters, connected or not, by the neighbors that the paper defines.
fn by_definition(k: u64, r: u64, j: u64) -> Graph {
    let bits = k + j;
    let id = |word: u64, place: u64| (word * r + place) as usize;
    let mut edges = Vec::new();
    for word in 0..1u64 << bits {
        for place in 0..r {
            if r > 1 {
                edges.push((id(word, place), id(word, (place + 1) % r)));
            }
            for x in 1..=k {
                // f(bj + x, k + j), with f(a, m) = m - a: counted down from the highest bit.
                let bit = (bits - (place * j + x) % bits) % bits;
                edges.push((id(word, place), id(word ^ 1 << bit, place)));
            }
        }
    }
    Graph::from_edges((r << bits) as usize, edges)
}

fn property_2(_: &Run) -> Claims {
    let same = |graph: &Graph, expression: &str| -> Result<bool, CannotMeasure> {
        Ok(isomorphic(graph, &built(expression)?.1) == Some(true))
    };
    let ring_parts: Vec<String> = (0..4)
        .map(|j| format!("j = {j}: {}", by_definition(0, 5, j).parts()))
        .collect();
    let ring = same(&by_definition(0, 5, 0), "ring(5)")? && by_definition(0, 5, 1).parts() == 1;
    let cube_parts: Vec<String> = (0..4)
        .map(|j| format!("j = {j}: {}", by_definition(2, 1, j).parts()))
        .collect();
    let cube = same(&by_definition(2, 1, 1), "hypercube(3)")?;
    let mut cubes = Vec::new();
    for n in 2..=5 {
        cubes.push(same(&by_definition(n, 1, 0), &format!("hypercube({n})"))?);
    }
    let mut cycles = Vec::new();
    for n in 3..=5 {
        let expansion = format!("re(complete(2),ring({n}),{n})");
        cycles.push(same(&by_definition(1, n, n - 1), &expansion)?);
    }
    let (equal, all) = (cycles.iter().filter(|&&same| same).count(), cycles.len());
    Ok(vec![
        claim("P2.1: rings are RCR(0,r,j) for any r and j")
            .so(How::AsPrinted, ring)
            .measured(format!("RCR(0,5,j) falls into parts, {}", ring_parts.join(", ")))
            .except((!ring).then(|| "RCR(0,5,1) is two rings; only j = 0 is one".into())),
        claim("P2.2: the n-cube is RCR(2,1,j)")
            .so(How::AsPrinted, cube)
            .measured(format!(
                "RCR(2,1,j) falls into parts, {}; RCR(n,1,0) is the n-cube: {cubes:?} for n = 2..5",
                cube_parts.join(", ")
            ))
            .except((!cube).then(|| "RCR(2,1,1) is not connected, so not the 3-cube".into())),
        claim("Introduction: cube-connected cycles are special RCRs")
            .so(How::Exhaustive, cycles.iter().all(|&same| same))
            .measured(format!(
                "RCR(1,n,n-1) is CCC(n) up to numbering: {equal} of {all} for n = 3 to 5"
            )),
    ])
}

fn sizes(_: &Run) -> Claims {
    let possible = |nodes: u64| (0..64).any(|bits| nodes.is_multiple_of(1 << bits) && nodes >> bits <= 16);
    let example = network("rcr(5,625,0)")?;
    let near = |target: u64| {
        (18_400..18_450)
            .filter(|&nodes| possible(nodes))
            .find(|&nodes| nodes != target)
    };
    let printed = possible(18_422);
    Ok(vec![
        claim("Section 3.1: an RCR of 18,422 nodes has match ratio 0.92")
            .so(How::Exhaustive, printed)
            .measured(format!(
                "of 18,400 to 18,450 only {} = r 2^m with r up to 16",
                (18_400..18_450)
                    .filter(|&nodes| possible(nodes))
                    .map(|nodes| nodes.to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            ))
            .except(
                near(18_422).map(|nodes| format!("{nodes} = 9 * 2^11 must be meant, ratio {:.2}", nodes as f64 / 2e4)),
            ),
        claim("Section 2: the closest RCR to 20,000 nodes has 20,480")
            .so(How::Counted, example.nodes() != 20_000)
            .measured(format!("{example} has {} nodes", example.nodes()))
            .except(Some(format!("{example}, match ratio 1"))),
    ])
}

fn property_3(_: &Run) -> Claims {
    let mut cases = Vec::new();
    let mut with_ring = Vec::new();
    for cube in all(512, 6).into_iter().filter(|cube| cube.k >= 2) {
        let (_, graph) = built(&cube.name())?;
        let place = |node: usize| node as u64 % cube.r;
        // Cycles of four cube links: two nodes apart have two common neighbors; each cycle shows at both its diagonals.
        let mut cycles = 0u64;
        for node in 0..graph.nodes() {
            let cube_links = || {
                let near = graph.neighbors(node).iter();
                near.filter(|&&next| place(next as usize) == place(node))
            };
            for &a in cube_links() {
                for &b in cube_links().filter(|&&b| b > a) {
                    let common = graph.neighbors(a as usize).iter().filter(|&&end| {
                        end as usize != node
                            && place(end as usize) == place(node)
                            && graph.linked(end as usize, b as usize)
                    });
                    cycles += common.count() as u64;
                }
            }
        }
        let pairs = cube.k * (cube.k - 1) / 2;
        let said = pairs * (1 << (cube.bits() - 2));
        cases.push(Case::new(cube.name(), said, cycles / 4));
        with_ring.push(Case::new(cube.name(), said * cube.r, cycles / 4));
    }

    let figure = with_ring.iter().filter(|case| case.network == "rcr(2,2,2)");
    let figure: Vec<Case> = figure.map(|case| Case::new(&case.network, 8u64, case.found)).collect();
    Ok(vec![
        claim("P3: there are C(k,2) 2^(k+j-2) cube planes of four nodes").exactly(How::Counted, &cases),
        claim("P3, proof: there are C(k,2) r 2^(k+j-2) of them").exactly(How::Counted, &with_ring),
        claim("Fig. 5: RCR(2,2,2) has eight cube planes").exactly(How::Counted, &figure),
    ])
}

fn property_4(run: &Run) -> Claims {
    let (mut alike, mut unlike, mut fitting_unlike, mut open) = (0, Vec::new(), 0, 0);
    for cube in all(256, 8) {
        (run.progress)(&cube.name());
        let (_, graph) = built(&cube.name())?;
        // Different distance sums settle it quickly; equal ones need a renumbering.
        let sum = |node| hops_from(&graph, node).iter().map(|&hops| u64::from(hops)).sum::<u64>();
        let first = sum(0);
        let other = (1..cube.r as usize).find(|&place| sum(place) != first);
        let differs = match other {
            Some(place) => Some(format!(
                "{}: distance sums {first} at [0;0], {} at [0;{place}]",
                cube.name(),
                sum(place)
            )),
            None => match unlike_node_0(&graph) {
                Ok(None) => None,
                Err(TooLong) => {
                    open += 1;
                    continue;
                }
                Ok(Some(node)) => Some(format!("{}: nothing carries node 0 to node {node}", cube.name())),
            },
        };
        match differs {
            None => alike += 1,
            Some(why) => {
                fitting_unlike += u64::from(cube.fits());
                unlike.push(why);
            }
        }
    }
    let rule = claim("P4 with a condition: an RCR is symmetric if r j is a multiple of k + j (not in the paper)")
        .so(How::Exhaustive, fitting_unlike == 0)
        .measured(format!(
            "of the networks with unlike nodes, {fitting_unlike} have r j divisible by k + j"
        ))
        .finding();
    let all = alike + unlike.len() + open;
    Ok(vec![
        claim("P4: an RCR is a Cayley graph and therefore symmetric")
            .so(How::Exhaustive, unlike.is_empty())
            .measured(format!("all nodes alike on {alike} of {all} networks, {open} open"))
            .except(unlike.first().cloned()),
        rule,
    ])
}

fn property_5(run: &Run) -> Claims {
    let mut cases = Vec::new();
    let mut formula = Vec::new();
    for cube in all(4096, 12) {
        let found = searched_diameter(run, &cube.name())?;
        // Rounded up, the reading that is kinder to the claim.
        let said = (cube.r - 1).div_ceil(2) + cube.bits() - 1;
        cases.push(Case::new(cube.name(), said, found));
        if cube.fits() {
            let by_formula = network(&cube.name())?.diameter().unwrap_or(0);
            formula.push(Case::new(cube.name(), by_formula, found));
        }
    }
    Ok(vec![
        claim("P5: the diameter is at most ceil((r-1)/2) + k + j - 1").at_most(How::AllPairs, &cases),
        claim(
            "P5 corrected: for r j = 0 mod m = k + j: D = m + max over e <= r/2 of min(g(e), g(r-e)), q = \
             ceil(m/k), g(t) = t if t >= q-1 else 2(q-1) - t (not in the paper)",
        )
        .exactly(How::AllPairs, &formula)
        .finding(),
    ])
}

fn property_6(run: &Run) -> Claims {
    let mut best = 0;
    let mut worse = Vec::new();
    for cube in all(160, 8) {
        (run.progress)(&cube.name());
        let (_, graph) = built(&cube.name())?;
        let (degree, found) = (graph.degree_range().0, vertex_connectivity(&graph));
        if found == degree {
            best += 1;
        } else {
            worse.push(format!("{}: {found} nodes cut it, its degree is {degree}", cube.name()));
        }
    }
    let all = best + worse.len();
    Ok(vec![
        claim("P6: an RCR is optimally fault tolerant: any degree - 1 nodes can fail")
            .so(How::Exhaustive, worse.is_empty())
            .measured(format!("connectivity equals the degree on {best} of {all} networks"))
            .except(worse.first().cloned()),
        seed_is_cube_of_rings()?,
    ])
}

/// The step of P6's proof that its induction starts from.
fn seed_is_cube_of_rings() -> Result<Claim, CannotMeasure> {
    let (seed, rings) = (network("rcr(2,3,0)")?, network("rcr(2,3,4)")?);
    Ok(claim("P6, proof: the generation seed GS(k,r) is equal to COR(k,r)")
        .so(How::Counted, seed.nodes() == rings.nodes())
        .measured(format!(
            "k = 2, r = 3: {seed} has {} nodes, COR(2,3) = {rings} has r 2^(kr) = {}",
            seed.nodes(),
            rings.nodes()
        ))
        .except(Some("they differ in size for every r > 1".into())))
}

fn star_graph(run: &Run) -> Claims {
    let cases = diameters(run, (3..=7).map(|n| (format!("nstar({n})"), 3 * (n - 1) / 2)))?;
    let size = |star: &str, said: u64| Ok::<_, CannotMeasure>(Case::new(star, said, base(star)?.nodes()));
    let sizes = [size("nstar(7)", 5_040)?, size("nstar(8)", 40_320)?];
    Ok(vec![
        claim("Section 3.3: the n-star has diameter floor(3(n-1)/2)").exactly(How::AllPairs, &cases),
        claim("Section 3.3: the 7-star has 5,040 nodes, the 8-star 40,320").exactly(How::Counted, &sizes),
    ])
}
