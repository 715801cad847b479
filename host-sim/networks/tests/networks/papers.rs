//! The claim tables: verdicts and figures must not change unless someone means it.

use hopwise_networks::papers::{Claim, Paper, Run, Verdict, measure};

fn table(paper: Paper) -> (Vec<Claim>, String) {
    let run = Run {
        long: false,
        progress: &|_| (),
    };
    let claims = measure(paper, &run, || ()).expect("every network of the papers can be read and searched");
    let line = |claim: &Claim| {
        let counter = claim
            .counterexample
            .as_ref()
            .map(|counter| format!("\n    ✗ {counter}"));
        let (place, says, how) = (&claim.place, &claim.says, claim.how.name());
        let head = format!("{}: {place}: {says}", claim.verdict.name());
        format!(
            "{head}\n    {} ({how}){}\n",
            claim.measured,
            counter.unwrap_or_default()
        )
    };
    let text = claims.iter().map(line).collect();
    (claims, text)
}

/// A claim that is not simply true says where it fails.
fn explained(claims: &[Claim]) {
    let holds = |claim: &&Claim| matches!(claim.verdict, Verdict::Holds | Verdict::Consistent | Verdict::Finding);
    for claim in claims.iter().filter(|claim| !holds(claim)) {
        assert!(
            claim.counterexample.is_some(),
            "{}: {} has no counterexample",
            claim.place,
            claim.says
        );
    }
}

#[test]
fn claims_of_the_re_paper() {
    let (claims, text) = table(Paper::Re);
    explained(&claims);
    insta::assert_snapshot!(text);
}

#[test]
fn claims_of_the_rcr_paper() {
    let (claims, text) = table(Paper::Rcr);
    explained(&claims);
    insta::assert_snapshot!(text);
}

#[test]
fn claims_of_the_heawood_paper() {
    let (claims, text) = table(Paper::Heawood);
    explained(&claims);
    insta::assert_snapshot!(text);
}

#[test]
fn claims_of_the_swapped_paper() {
    let (claims, text) = table(Paper::Swapped);
    explained(&claims);
    insta::assert_snapshot!(text);
}

#[test]
fn claims_of_the_rdn_paper() {
    let (claims, text) = table(Paper::Rdn);
    explained(&claims);
    insta::assert_snapshot!(text);
}
