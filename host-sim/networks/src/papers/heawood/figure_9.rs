//! Fig. 9: nodes, degrees, diameters and costs of all networks side by side.

use super::super::claim::Case;
use super::super::{Claim, Claims, How, Run, Verdict, built, by_formula, diameter, network, searched};
use super::claim;
use crate::papers::CannotMeasure;

/// A line of Fig. 9: the network by n, and its diameter as said.
struct FigureLine {
    name: &'static str,
    base: &'static str,
    size: u64,
    diameter: fn(u64) -> u64,
}

const LINES: &[FigureLine] = &[
    FigureLine::new("folded", "petersen", 10, |n| 2 * n),
    FigureLine::new("root-folded", "petersen", 10, |n| 4 * n - 2),
    FigureLine::new("re", "petersen", 10, |n| 4 * n - 2),
    FigureLine::new("folded", "heawood", 14, |n| 3 * n),
    FigureLine::new("root-folded", "heawood", 14, |n| 6 * n - 3),
    FigureLine::new("re", "heawood", 14, |n| 6 * n - 3),
    FigureLine::new("flooded", "heawood", 14, |n| 6 * n - 3),
];

impl FigureLine {
    const fn new(name: &'static str, base: &'static str, size: u64, diameter: fn(u64) -> u64) -> Self {
        FigureLine {
            name,
            base,
            size,
            diameter,
        }
    }

    fn expression(&self, n: u64) -> String {
        match (self.name, n) {
            ("re", 1) => self.base.into(),
            ("re", _) => format!("re({0},{0},{1})", self.base, n - 1),
            _ => format!("{}({},{n})", self.name, self.base),
        }
    }

    fn title(&self) -> String {
        let expanded = "recursively expanded";
        let kind = if self.name == "re" { expanded } else { self.name };
        format!("{kind} {}", if self.base == "heawood" { "Heawood" } else { "Petersen" })
    }
}

/// The definition of RE Heawood networks ends here; all others are within 2^63 nodes.
const MAX_DIGITS: u64 = 15;

pub(in super::super) fn nodes(_: &Run) -> Claims {
    let mut rows = Vec::new();
    for line in LINES {
        let mut cases = Vec::new();
        for n in 1..=4 {
            let expression = line.expression(n);
            let nodes = network(&expression)?.nodes();
            cases.push(Case::new(&expression, line.size.pow(n as u32), nodes));
        }
        let row = claim(&format!("Fig. 9: {}: {}^n nodes", line.title(), line.size));
        // Fewer nodes than claimed is not a useful bound.
        rows.push(row.exactly(How::Counted, &cases).no_bound());
    }
    Ok(rows)
}

pub(in super::super) fn degrees(_: &Run) -> Claims {
    let mut rows = Vec::new();
    for line in LINES {
        let said = match (line.name, line.base) {
            ("folded", _) => "3n",
            ("re", _) => "6",
            (_, "petersen") => "3.3",
            _ => "3.2",
        };
        let mut found = Vec::new();
        let (mut largest_fits, mut mean_fits) = (true, true);
        for n in 2..=4u64 {
            let (_, graph) = built(&line.expression(n))?;
            let most = graph.degree_range().1;
            let mean = 2.0 * graph.edges() as f64 / graph.nodes() as f64;
            found.push(format!("n = {n}: {most} at most, {mean:.2} on average"));
            let number = || said.parse().unwrap_or(0.0);
            let value = if said == "3n" { 3.0 * n as f64 } else { number() };
            largest_fits &= (most as f64 - value).abs() < 1e-9;
            mean_fits &= n < 4 || (mean - value).abs() < 0.05;
        }
        rows.push(
            claim(&format!("Fig. 9: {}: degree {said}", line.title()))
                .judged(
                    How::Counted,
                    match (largest_fits, mean_fits) {
                        (true, _) => Verdict::Holds,
                        // Called the degree, which the paper defines as the maximum.
                        (false, true) => Verdict::Ambiguous,
                        (false, false) => Verdict::False,
                    },
                )
                .measured(found.join("; "))
                .except(
                    (!largest_fits)
                        .then(|| format!("{said} is an average; the paper defines the degree as the maximum")),
                ),
        );
    }
    Ok(rows)
}

pub(in super::super) fn diameters(run: &Run) -> Claims {
    let mut rows = vec![hypercube(run)?];
    for line in LINES {
        let (mut measured, mut formula) = (Vec::new(), Vec::new());
        for n in 1..=4 {
            let expression = line.expression(n);
            let found = diameter(&searched(run, &expression)?)?;
            measured.push(Case::new(&expression, (line.diameter)(n), found));
        }
        for n in 2..=MAX_DIGITS {
            let expression = line.expression(n);
            (run.progress)(&expression);
            formula.push(Case::new(&expression, (line.diameter)(n), by_formula(&expression)?.2));
        }
        let said = match (line.name, line.base) {
            ("folded", "petersen") => "2n",
            ("folded", _) => "3n",
            (_, "petersen") => "4n - 2",
            _ => "6n - 3",
        };
        let row = claim(&format!("Fig. 9: {}: diameter {said}", line.title()));
        rows.push(row.clone().exactly(How::AllPairs, &measured));
        let mut exact = row.exactly(How::ClosedForm, &formula);
        let list: Vec<String> = formula.iter().map(|case| case.found.to_string()).collect();
        exact.measured = format!("n = 2 to {}: {}", MAX_DIGITS, list.join(", "));
        rows.push(exact);
    }
    Ok(rows)
}

fn hypercube(run: &Run) -> Result<Claim, CannotMeasure> {
    let mut cases = Vec::new();
    for n in 1..=12 {
        let found = searched(run, &format!("hypercube({n})"))?;
        let so = found.nodes == 1 << n && found.degree_min == n && found.degree_max == n;
        let hops = if so { diameter(&found)? } else { u64::MAX };
        cases.push(Case::new(&found.expression, n, hops));
    }
    Ok(claim("Fig. 9: hypercube: 2^n nodes, degree n, diameter n").exactly(How::AllPairs, &cases))
}

pub(in super::super) fn cost(_: &Run) -> Claims {
    let mut rows = Vec::new();
    for (line, said, cost) in [
        (0, "6n^2", (|n| 6.0 * n * n) as fn(f64) -> f64),
        (1, "13.2n", |n| 13.2 * n),
        (2, "24n", |n| 24.0 * n),
        (3, "9n^2", |n| 9.0 * n * n),
        (4, "19.2n", |n| 19.2 * n),
        (5, "36n", |n| 36.0 * n),
        (6, "19.2n", |n| 19.2 * n),
    ] {
        let line = &LINES[line];
        let mut found = Vec::new();
        let (mut equal, mut below) = (true, true);
        for n in [2u64, 4, 8, 15] {
            let (_, degree, hops) = by_formula(&line.expression(n))?;
            let (real, said) = ((degree * hops) as f64, cost(n as f64));
            equal &= (real - said).abs() < 1e-9;
            below &= real <= said;
            found.push(format!("n = {n}: {real}, said {said:.1}"));
        }
        rows.push(
            claim(&format!("Fig. 9: {}: cost {said}", line.title()))
                .judged(How::ClosedForm, Verdict::of_equality(equal, below))
                .except((!equal).then(|| format!("{}, {}", line.expression(2), found[0])))
                .measured(format!("largest degree x diameter, {}", found.join("; "))),
        );
    }
    Ok(rows)
}
