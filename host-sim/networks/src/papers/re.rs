//! Recursive Expansion, by Shen and Back.

mod printed;

use hopwise_core::Base;

use super::claim::Case;
use super::{
    Claim, Claims, How, Measurement, Paper, Run, Verdict, base, built, by_formula, diameter, routed, searched,
};
use crate::base::Formulas;
use crate::distances::hops_from;
use crate::graph::Graph;
use crate::papers::CannotMeasure;
use crate::stretch::Stretch;

pub(super) const MEASUREMENTS: &[Measurement] = &[
    figures,
    theorem_1,
    theorem_2,
    theorem_3,
    theorem_4,
    theorem_5,
    symmetry,
    printed::relln,
    printed::routrcn,
    routing_delay,
    several_frames,
];

fn claim(text: &str) -> Claim {
    Claim::at(Paper::Re, text)
}

/// A frame, a unit, the number of phases, and how pivots are chosen: a network of the paper with what its formulas need.
struct Expansion {
    expression: String,
    frame: Base,
    unit: Base,
    phases: u64,
    /// Full rounds of single pivots before the last, lambda.
    rounds: u64,
}

impl Expansion {
    fn new(frame: &str, unit: &str, phases: u64, pivots: &str) -> Result<Expansion, CannotMeasure> {
        let (f, u) = (base(frame)?, base(unit)?);
        Ok(Expansion {
            expression: format!("re({frame},{unit},{phases},{pivots})"),
            rounds: phases.div_ceil(u.nodes()) - 1,
            frame: f,
            unit: u,
            phases,
        })
    }

    /// d_u + (lambda + 1) d_f, Theorem 2.2(a).
    fn degree_sk(&self) -> u64 {
        self.unit.degree_range().1 + (self.rounds + 1) * self.frame.degree_range().1
    }

    /// k_u (r + 1) + k_f r, Theorem 2.2(b).
    fn diameter_sk(&self) -> u64 {
        self.unit.diameter() * (self.phases + 1) + self.frame.diameter() * self.phases
    }

    /// d_u + lambda d_f + ceil(d_f / floor(n_u / (r - lambda n_u))), Theorem 2.3(a).
    fn degree_sd(&self) -> u64 {
        let frame = self.frame.degree_range().1;
        let last = self.unit.nodes() / (self.phases - self.rounds * self.unit.nodes());
        self.unit.degree_range().1 + self.rounds * frame + frame.div_ceil(last)
    }

    /// k_u (r + 1) + k_f (d_f r - (d_f - 1) lambda n_u) - (d_f - 1)(r - lambda n_u), Theorem 2.3(b).
    fn diameter_sd(&self) -> u64 {
        let frame = self.frame.degree_range().1;
        let singles = self.rounds * self.unit.nodes();
        let steps = frame * self.phases - (frame - 1) * singles;
        self.unit.diameter() * (self.phases + 1) + self.frame.diameter() * steps - (frame - 1) * (self.phases - singles)
    }
}

fn figures(run: &Run) -> Claims {
    let mut rows = Vec::new();
    for (text, (frame, unit, phases, pivots), said) in [
        (
            "Fig. 2: 4-node frame, 3-node unit, 3 phases",
            ("ring(4)", "complete(3)", 3, "sk"),
            (192, 4, 10),
        ),
        (
            "Fig. 6: (4,2,2)-T twice, 2 phases (sd)",
            ("ring(4)", "ring(4)", 2, "sd"),
            (64, 3, 10),
        ),
        (
            "Fig. 7: (4,2,2)-H twice, 4 phases",
            ("hypercube(2)", "hypercube(2)", 4, "sk"),
            (1024, 4, 18),
        ),
    ] {
        let figures = |(nodes, degree, hops)| format!("{nodes} nodes, degree {degree}, diameter {hops}");
        let expansion = Expansion::new(frame, unit, phases, pivots)?;
        let found = searched(run, &expansion.expression)?;
        let hops = diameter(&found)?;

        let sizes = (found.nodes, found.degree_max) == (said.0, said.1);
        let verdict = match hops {
            hops if sizes && hops == said.2 => Verdict::Holds,
            hops if sizes && hops < said.2 => Verdict::HoldsAsABound,
            _ => Verdict::False,
        };
        let mut also = String::new();
        if pivots == "sd" {
            let single = searched(run, &Expansion::new(frame, unit, phases, "sk")?.expression)?;
            let (degree, hops) = (single.degree_max, diameter(&single)?);
            also = format!("; with single pivots degree {degree}, diameter {hops}");
        }

        // The paper prints no diameter for Fig. 2: it is Theorem 2's.
        let is_of_theorem = text.starts_with("Fig. 2");
        let by = if is_of_theorem { " (by Theorem 2)" } else { "" };
        rows.push(
            claim(&format!("{text}: {}{by}", figures(said)))
                .judged(How::AllPairs, verdict)
                .measured(format!("{}{also}", figures((found.nodes, found.degree_max, hops))))
                .except((hops != said.2).then(|| format!("{}: diameter {hops}, not {}", found.expression, said.2))),
        );
    }
    Ok(rows)
}

/// Every way to choose disjoint sets of `size` nodes; whether `sets` of them can all be connected.
fn connected_sets_exist(graph: &Graph, size: usize, sets: usize) -> bool {
    let connected = |set: &u32| {
        let members: Vec<usize> = (0..graph.nodes()).filter(|node| set >> node & 1 == 1).collect();
        let place = |node: usize| members.iter().position(|&member| member == node);
        let links_of = |&u: &usize| graph.neighbors(u).iter().map(move |&v| (u, v as usize));
        let inner = members.iter().flat_map(links_of);
        let edges = inner.filter_map(|(u, v)| Some((place(u)?, place(v)?)));

        Graph::from_edges(members.len(), edges).parts() == 1
    };
    let all = (0..1u32 << graph.nodes()).filter(|set| set.count_ones() as usize == size);
    let candidates: Vec<u32> = all.filter(connected).collect();
    // Each round keeps every union of one more disjoint set.
    let mut unions = vec![0u32];
    for _ in 0..sets {
        let with_each = |&union: &u32| candidates.iter().map(move |&set| (union, set));
        let joined = unions.iter().flat_map(with_each);

        let disjoint = joined.filter(|(union, set)| union & set == 0);
        unions = disjoint.map(|(union, set)| union | set).collect();
        unions.sort_unstable();
        unions.dedup();
    }
    !unions.is_empty()
}

fn theorem_1(_: &Run) -> Claims {
    let mut possible = Vec::new();
    let mut impossible = Vec::new();
    for (unit, phases) in [
        ("ring(4)", 2),
        ("ring(6)", 2),
        ("complete(5)", 2),
        ("hypercube(3)", 2),
        ("petersen", 3),
        ("star(4)", 2),
        ("star(6)", 3),
    ] {
        // A frame of degree 3 or more: the sets are as large as the unit allows, at most 3.
        let graph = built(unit)?.1;
        let size = (graph.nodes() / phases).min(3);
        let case = format!("{unit} in {phases} sets of {size}");
        match connected_sets_exist(&graph, size, phases) {
            true => possible.push(case),
            false => impossible.push(case),
        }
    }
    let (can, cannot) = (possible.join(", "), impossible.join(", "));
    let example = impossible.first();
    let example = example.map(|case| format!("{case}: only one set can hold the center"));

    Ok(vec![
        claim(
            "Definition 4, Theorem 1: a unit has s_d disjoint connected pivot sets of min(n_u/s_d, \
             d_f) nodes each (frames of degree 3)",
        )
        .so(How::Exhaustive, impossible.is_empty())
        .measured(format!("possible for {can}; impossible for {cannot}"))
        .except(example),
    ])
}

/// Frames, units and phases within reach of a search of all pairs.
const SMALL: &[(&str, &str, u64)] = &[
    ("ring(4)", "complete(3)", 1),
    ("ring(4)", "complete(3)", 2),
    ("ring(4)", "complete(3)", 3),
    ("ring(3)", "ring(3)", 4),
    ("ring(3)", "ring(5)", 3),
    ("ring(4)", "ring(4)", 2),
    ("ring(4)", "ring(4)", 3),
    ("complete(2)", "ring(3)", 5),
    ("complete(2)", "ring(6)", 6),
    ("complete(2)", "complete(4)", 4),
    ("complete(3)", "ring(4)", 4),
    ("complete(4)", "ring(6)", 2),
    ("hypercube(2)", "hypercube(2)", 3),
    ("hypercube(3)", "hypercube(3)", 2),
    ("ring(5)", "petersen", 2),
    ("petersen", "ring(6)", 2),
    ("petersen", "petersen", 2),
    ("complete(4)", "star(5)", 2),
    ("path(3)", "path(4)", 4),
    ("torus(3,3)", "torus(3,3)", 2),
];

fn theorem_2(run: &Run) -> Claims {
    let mut sizes = Vec::new();
    let (mut degrees, mut diameters) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for &(frame, unit, phases) in SMALL {
        for (at, pivots) in ["sk", "sd"].into_iter().enumerate() {
            let expansion = Expansion::new(frame, unit, phases, pivots)?;
            let found = searched(run, &expansion.expression)?;
            let case = |said: u64, found: u64| Case::new(&expansion.expression, said, found);
            let (degree, hops) = match pivots {
                "sk" => (expansion.degree_sk(), expansion.diameter_sk()),
                _ => (expansion.degree_sd(), expansion.diameter_sd()),
            };
            let size = expansion.unit.nodes() * expansion.frame.nodes().pow(phases as u32);
            sizes.push(case(size, found.nodes));
            degrees[at].push(case(degree, found.degree_max));
            diameters[at].push(case(hops, diameter(&found)?));
        }
    }
    Ok(vec![
        claim("Theorem 2.1: n_r = n_u n_f^r").exactly(How::Counted, &sizes),
        claim("Theorem 2.2(a): single pivots: d_r <= d_u + (lambda+1) d_f").at_most(How::Counted, &degrees[0]),
        claim("Theorem 2.2(b): single pivots: k_r = k_u (r+1) + k_f r").exactly(How::AllPairs, &diameters[0]),
        claim("Theorem 2.3(a): pivot sets: d_r <= d_u + lambda d_f + ceil(d_f / floor(n_u/(r - lambda n_u)))")
            .at_most(How::Counted, &degrees[1]),
        claim(
            "Theorem 2.3(b): pivot sets: k_r = k_u (r+1) + k_f (d_f r - (d_f-1) lambda n_u) - \
             (d_f-1)(r - lambda n_u)",
        )
        .exactly(How::AllPairs, &diameters[1]),
    ])
}

fn theorem_3(run: &Run) -> Claims {
    let [mut first, mut second] = [const { [const { Vec::new() }; 3] }; 2];
    let at_most = |cases: &mut [Vec<Case>; 3], said: [u64; 3], expression: &str| -> Result<(), CannotMeasure> {
        let found = searched(run, expression)?;
        let found = [found.nodes, found.degree_max, diameter(&found)?];
        (0..3).for_each(|at| cases[at].push(Case::new(expression, said[at], found[at])));
        Ok(())
    };
    for &(frame, unit, phases) in SMALL {
        let expansion = Expansion::new(frame, unit, phases, "sk")?;
        let (f, u) = (&expansion.frame, &expansion.unit);
        let (positions, frame_degree) = (u.nodes(), f.degree_range().1);
        let most = |phases: u64| positions.saturating_mul(f.nodes().saturating_pow(phases as u32));
        if phases <= positions {
            let hops = u.diameter() * (positions + 1) + f.diameter() * positions;
            let degree = u.degree_range().1 + frame_degree;
            at_most(&mut first, [most(positions), degree, hops], &expansion.expression)?;
        }
        let rounds = positions / frame_degree;
        if frame_degree <= positions && phases <= rounds {
            let sd = Expansion::new(frame, unit, phases, "sd")?;
            let hops = u.diameter() * (rounds + 1) + f.diameter() * positions - positions / 2;
            let said = [most(rounds), u.degree_range().1 + 1, hops];
            at_most(&mut second, said, &sd.expression)?;
        }
    }

    Ok(vec![
        claim("Theorem 3.1(a): r <= n_u, single pivots: n_r <= n_u n_f^n_u").at_most(How::Counted, &first[0]),
        claim("Theorem 3.1(b): d_r <= d_u + d_f").at_most(How::Counted, &first[1]),
        claim("Theorem 3.1(c): k_r <= k_u (n_u + 1) + k_f n_u").at_most(How::AllPairs, &first[2]),
        claim("Theorem 3.2(a): r <= floor(n_u/d_f), pivot sets: n_r <= n_u n_f^floor(n_u/d_f)")
            .at_most(How::Counted, &second[0]),
        claim("Theorem 3.2(b): d_r <= d_u + 1").at_most(How::Counted, &second[1]),
        claim("Theorem 3.2(c): k_r <= k_u (floor(n_u/d_f) + 1) + k_f n_u - n_u/2").at_most(How::AllPairs, &second[2]),
    ])
}

fn theorem_4(run: &Run) -> Claims {
    let (nodes, degree, hops) = by_formula("re(torus(3,3),torus(3,3),9)")?;
    let figures = |nodes, degree, hops| format!("{nodes} nodes, degree {degree}, diameter {hops}");
    let whole = claim("Theorem 4.1: torus in torus, r = n, single pivots: n_r = n^(n+1) and d_r = 8");
    let sets = searched(run, "re(torus(3,3),torus(3,3),2,sd)")?;
    let small = claim("Theorem 4.2: r = floor(n/4), pivot sets: n_r = n^(floor(n/4)+1) and d_r = 5");
    let (little_nodes, _, little_hops) = by_formula("re(torus(2,2),torus(2,2),4)")?;
    // log n_r / log n is n + 1.
    let growth = |hops: u64, n: f64| hops as f64 / (n + 1.0).powf(1.5);
    let (torus_side, torus_degree) = (3u64.pow(10), 4);
    let torus_cost = torus_degree * 2 * (torus_side / 2);
    let sets_figures = figures(sets.nodes, sets.degree_max, diameter(&sets)?);
    let (little, large) = (growth(little_hops, 4.0), growth(hops, 9.0));
    Ok(vec![
        whole
            .so(How::ClosedForm, nodes == 9u64.pow(10) && degree == 8)
            .measured(format!("n = 9: {}", figures(nodes, degree, hops))),
        small
            .so(How::Counted, sets.nodes == 9u64.pow(3) && sets.degree_max == 5)
            .measured(format!("n = 9: {sets_figures}")),
        claim("Theorem 4(c): k_r = O((log n_r / log n)^(3/2)) (measured: at most 2 times that)")
            // A constant that covers both sizes: sqrt(n) for the frame's diameter, as much for the unit's.
            .so(How::ClosedForm, little <= 2.0 && large <= 2.0)
            .measured(format!(
                "k_r over that: {little:.2} for n = 4 ({little_nodes} nodes), {large:.2} for n = 9 ({nodes} nodes)"
            ))
            .growth(),
        claim("Theorem 4, Corollary: the cost is far below that of a torus of the same size")
            .so(How::ClosedForm, degree * hops < torus_cost)
            .measured(format!(
                "n = 9: degree x diameter {} against {torus_cost} of torus({torus_side},{torus_side}), \
                 {:.0} times less",
                degree * hops,
                torus_cost as f64 / (degree * hops) as f64
            ))
            .growth(),
    ])
}

fn theorem_5(_: &Run) -> Claims {
    let mut found = Vec::new();
    let (mut sizes, mut degrees, mut diameters, mut costs) = (true, true, true, true);
    for (n, phases) in [(2u32, 4u64), (3, 8), (4, 8)] {
        let (nodes, degree, hops) = by_formula(&format!("re(hypercube({n}),hypercube({n}),{phases})"))?;
        let bits = f64::from(nodes.ilog2());
        sizes &= u64::from(nodes.ilog2()) == u64::from(n) * (phases + 1);
        degrees &= degree as f64 <= 2.0 * bits.log2();
        diameters &= hops as f64 <= 2.0 * bits;
        costs &= ((degree * hops) as f64) < bits * bits;
        let size = 1u64 << n;
        found.push(format!("n = {size}: 2^{bits} nodes, degree {degree}, diameter {hops}"));
    }
    let measured = found.join("; ");
    let row = |text, so| {
        let row = claim(text).so(How::ClosedForm, so).measured(measured.clone());
        row.growth()
    };
    Ok(vec![
        row(
            "Theorem 5.1: hypercube in hypercube, r = O(n): n_r = n^O(n) (here n^(r+1))",
            sizes,
        ),
        row(
            "Theorem 5.2: d_r = O(log log n_r) (measured: at most 2 times that)",
            degrees,
        ),
        row(
            "Theorem 5.3: k_r = O(log n_r) (measured: at most 2 times that)",
            diameters,
        ),
        row(
            "Theorem 5, Corollary: the cost is below that of a hypercube of the same size, (log n_r)^2",
            costs,
        ),
    ])
}

fn symmetry(_: &Run) -> Claims {
    let mut found = Vec::new();
    let mut counter = None;
    for expression in "re(ring(4),complete(3),3) re(hypercube(2),hypercube(2),4) re(ring(4),ring(4),2)".split(' ') {
        let (_, graph) = built(expression)?;
        let (least, most) = graph.degree_range();
        let sum = |node| hops_from(&graph, node).iter().map(|&hops| u64::from(hops)).sum::<u64>();
        let mut sums: Vec<u64> = (0..graph.nodes()).map(sum).collect();
        sums.sort_unstable();
        sums.dedup();
        let count = sums.len();
        found.push(format!(
            "{expression}: degrees {least} to {most}, {count} different distance sums"
        ));
        if sums.len() > 1 {
            let (first, last) = (sums[0], sums[sums.len() - 1]);
            counter = Some(format!("{expression} has nodes of distance sums {first} and {last}"));
        }
    }
    Ok(vec![
        claim("Section 3: the topologies are symmetric, and in many cases regular")
            // "Symmetric" is not defined in the paper; in the usual sense, all nodes alike, it fails.
            .judged(How::AllPairs, Verdict::of_reading(counter.is_none()))
            .measured(found.join("; "))
            .except(counter),
    ])
}

fn routing_delay(run: &Run) -> Claims {
    let mut cases = Vec::new();
    let mut stretch = Vec::new();
    for &(frame, unit, phases) in SMALL {
        let expansion = Expansion::new(frame, unit, phases, "sk")?;
        let (network, found) = routed(run, &expansion.expression)?;

        stretch.push(found);
        cases.push(Case::new(network, expansion.diameter_sk(), found.longest));
    }
    let mut row = claim(
        "Section 6: highest phase first: no route is longer than k_u (r+1) + k_f r, of order \
         (k_u + k_f) d_f r",
    )
    .at_most(How::AllPairs, &cases);
    let means = || stretch.iter().map(Stretch::mean);
    let worst = stretch.iter().map(|stretch| stretch.worst.ratio()).fold(1.0, f64::max);
    let (least, most) = (means().fold(f64::MAX, f64::min), means().fold(0.0, f64::max));
    row.measured = format!(
        "longest route {}; against shortest paths {least:.2} to {most:.2} times as long on \
         average, {worst:.2} at worst",
        row.measured
    );
    Ok(vec![row])
}

fn several_frames(run: &Run) -> Claims {
    let mut cases = Vec::new();
    for (frames, unit) in [
        (&["ring(3)", "ring(4)"][..], "ring(5)"),
        (&["complete(4)", "path(3)", "ring(5)"][..], "complete(3)"),
    ] {
        let unit_base = base(unit)?;
        let mut said = unit_base.diameter() * (frames.len() as u64 + 1);
        for frame in frames {
            said += base(frame)?.diameter();
        }
        let expression = format!("re([{}],{unit})", frames.join(","));
        cases.push(Case::new(&expression, said, diameter(&searched(run, &expression)?)?));
    }
    Ok(vec![
        claim("Section 7: frames may differ from phase to phase (then k_r <= k_u (r+1) + sum of k_f)")
            .at_most(How::AllPairs, &cases),
    ])
}
