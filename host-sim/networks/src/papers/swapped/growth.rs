//! How diameters grow.

use super::super::{Claims, How, Run, by_formula};
use super::claim;

/// The diameter against log N / log d, below which no network of degree d can be by more than a constant.
pub(in super::super) fn optimal_diameter(_: &Run) -> Claims {
    let mut rows = Vec::new();
    for (text, most, networks) in [
        (
            "Section 4.1: the diameter of RSN(l,K) is optimal for its degree up to a constant, for N_1 = Omega(log log N) \
             (measured: at most 2.5 log N / log d)",
            2.5,
            "rsn(2,complete(4)) rsn(3,complete(4)) rsn(4,complete(8)) rsn(5,complete(8)) rsn(3,complete(1000))",
        ),
        (
            "Section 4.2: over generalized hypercubes it can be optimal, too (measured: at most 3.5 log N / log d over two dimensions)",
            3.5,
            "rsn(2,ghc(4,4)) rsn(3,ghc(4,4)) rsn(3,ghc(8,8)) rsn(4,ghc(8,8)) rsn(3,ghc(100,100))",
        ),
    ] {
        let (mut found, mut example) = (Vec::new(), None);
        for expression in networks.split(' ') {
            let (nodes, degree, diameter) = by_formula(expression)?;
            let ratio = diameter as f64 * (degree as f64).ln() / (nodes as f64).ln();
            if ratio > most {
                example.get_or_insert(format!("{expression}: {ratio:.2}"));
            }
            found.push(format!("{expression}: D {diameter}, degree {degree}, {ratio:.2}"));
        }
        let row = claim(text)
            .so(How::ClosedForm, example.is_none())
            .measured(found.join("; "))
            .except(example);
        rows.push(row.growth());
    }
    Ok(rows)
}
