//! The claim tables: verdicts and figures must not change unless someone means it.

use hopwise_networks::papers::{Claim, Paper, Run, Verdict, measure};
use rayon::prelude::*;

fn table(paper: Paper) -> String {
    let run = Run {
        long: false,
        progress: &|_| (),
    };
    let claims = measure(paper, &run, || ()).expect("every network of the papers can be read and searched");
    let line = |claim: &Claim| {
        let counter = claim.counterexample.as_ref();
        let counter = counter.map_or(String::new(), |counter| format!("\n    ✗ {counter}"));
        let (place, says, how) = (&claim.place, &claim.says, claim.how.name());
        let head = format!("{}: {place}: {says}", claim.verdict.name());
        format!("{head}\n    {} ({how}){counter}\n", claim.measured)
    };
    explained(&claims);
    claims.iter().map(line).collect()
}

/// A claim that is not simply true says where it fails.
fn explained(claims: &[Claim]) {
    let holds = |claim: &&Claim| matches!(claim.verdict, Verdict::Holds | Verdict::Consistent | Verdict::Finding);
    for claim in claims.iter().filter(|claim| !holds(claim)) {
        let is_explained = claim.counterexample.is_some();
        assert!(is_explained, "{}: {} has no counterexample", claim.place, claim.says);
    }
}

#[test]
fn claims_of_the_papers() {
    Paper::ALL.into_par_iter().for_each(|paper| {
        insta::assert_snapshot!(format!("claims_of_the_{}_paper", paper.name()), table(paper));
    });
}
