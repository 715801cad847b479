//! What the paper says of routes and broadcasts.

use hopwise_core::Rule;

use super::super::{Claims, How, Run, Verdict, built, diameters, routed};
use super::{all, claim};
use crate::dependency::{self, Scheme};
use crate::stretch::Stretch;

const ROUTED: &str = "rcr(1,3,2) rcr(1,4,3) rcr(1,5,4) rcr(2,2,2) rcr(2,3,1) rcr(2,3,2) rcr(2,3,4) rcr(2,4,2) rcr(3,3,3) \
                      rcr(2,6,2) rcr(1,6,5)";

pub(super) fn theorem_1_shortest(run: &Run) -> Claims {
    let (mut pairs, mut longer, mut mean) = (0, 0, Vec::new());
    let mut worst: Option<(&str, Stretch)> = None;
    for name in ROUTED.split(' ') {
        let (_, found) = routed(run, name)?;
        pairs += found.pairs;
        longer += found.longer();
        mean.push(found.mean());
        let is_worse = |(_, worst): &(_, Stretch)| found.worst.ratio() > worst.worst.ratio();
        if worst.as_ref().is_none_or(is_worse) {
            worst = Some((name, found));
        }
    }
    let most = mean.iter().copied().fold(0.0, f64::max);
    let example = worst.filter(|_| longer > 0).map(|(name, found)| {
        let pair = found.worst;
        format!(
            "{name}: {} to {} takes {} hops, the distance is {}",
            pair.from, pair.to, pair.hops, pair.distance
        )
    });
    Ok(vec![
        claim("Theorem 1: hop-plane routing always finds a shortest path (the figure is lost; nearest plane first)")
            // The algorithm itself is lost: another reading might do better.
            .judged(How::AllPairs, Verdict::of_reading(longer == 0))
            .measured(format!(
                "{longer} of {pairs} routes on {} networks are longer, up to {most:.2} times on average",
                mean.len()
            ))
            .except(example),
    ])
}

pub(super) fn theorem_1_deadlock(run: &Run) -> Claims {
    let (mut cycles, mut example) = (0, None);
    let all = ROUTED.split(' ').count();

    for name in ROUTED.split(' ') {
        (run.progress)(name);
        let (network, graph) = built(name)?;

        // A link is always taken up or always down: with one channel for each, a link in one direction is one channel.
        let found = dependency::build(&network, &graph, Rule::Paper, Scheme::One, |_| ())?;
        cycles += u64::from(found.cycle.is_some());
        if let (None, Some(cycle)) = (&example, found.cycle) {
            let nodes: Vec<String> = cycle.iter().map(|channel| channel.from.to_string()).collect();
            example = Some(format!("{name}: {} wait in a cycle", nodes.join(", ")));
        }
    }
    Ok(vec![
        claim(
            "Theorem 1: one virtual channel for ascending links and one for descending makes it deadlock-free (the \
             figure is lost; nearest plane first)",
        )
        .judged(How::AllPairs, Verdict::of_reading(cycles == 0))
        .measured(format!("a cycle of waiting channels on {cycles} of {all} networks"))
        .except(example),
    ])
}

pub(super) fn theorem_2(run: &Run) -> Claims {
    let cubes = all(4096, 12).into_iter();
    let cases = diameters(run, cubes.map(|cube| (cube.name(), cube.broadcast_steps())))?;
    Ok(vec![
        claim(
            "Theorem 2: a broadcast takes at most k + j + ceil(log2 r) + floor(r/2) steps (never less than the \
         diameter)",
        )
        .at_most(How::AllPairs, &cases),
    ])
}
