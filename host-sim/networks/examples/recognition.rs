//! How often networks are recognised from their cables, and how long that takes, on networks of all families up to a size.
//!
//! `cargo run --release -p hopwise-networks --example recognition -- WHAT COUNT MOST_NODES`, where WHAT is
//!
//! - `relabeled`: each network that often with other numbers for its nodes;
//! - `moved`: each that often with one cable moved, which must not be called equal to it;
//! - `damaged`: each that often without up to a tenth of its boards and cables, and with up to two cables moved.
//!
//! Every answer is checked link by link; a wrong one ends it with a panic.

#[path = "../tests/networks/recognition.rs"]
mod recognition;

use std::time::{Duration, Instant};

use hopwise_networks::graph::Graph;
use hopwise_networks::recognise::{recognise, recognise_nearly};
use hopwise_testing::Random;
use recognition::{Damage, MOVED, checked, damaged, relabeled, table};

const LIMIT: Duration = Duration::from_secs(60);

/// Percent of the boards, percent of the cables, cables moved.
const DAMAGES: [(usize, usize, usize); 7] = [
    (0, 1, 0),
    (1, 1, 0),
    (2, 2, 0),
    (5, 5, 0),
    (10, 10, 0),
    (1, 2, 1),
    (1, 3, 2),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let parsed = args
        .get(1..)
        .map(|numbers| numbers.iter().filter_map(|text| text.parse().ok()).collect());
    let (Some(what), Some([count, most])) = (args.first(), parsed.as_ref().map(|numbers: &Vec<usize>| &numbers[..]))
    else {
        eprintln!("usage: recognition relabeled|moved|damaged COUNT MOST_NODES");
        std::process::exit(2);
    };
    let mut random = Random(1);
    let networks = table(*most);
    match &what[..] {
        "relabeled" => {
            let mut row = Row::default();
            for (name, graph) in &networks {
                for _ in 0..*count {
                    let graph = relabeled(graph, &mut random);
                    let found = row.time(|| recognise(graph.clone()));
                    assert!(checked(&graph, &found).is_some(), "{name} is not recognised");
                    row.found += 1;
                }
            }
            row.print("relabeled");
        }
        "moved" => {
            let mut row = Row::default();
            for (_, graph) in &networks {
                let moved = (0..*count).filter_map(|_| damaged(graph, MOVED, &mut random));
                for graph in moved.collect::<Vec<Graph>>() {
                    let found = row.time(|| recognise(graph.clone()));
                    row.found += usize::from(checked(&graph, &found).is_some());
                }
            }
            row.print("moved");
        }
        _ => {
            for (boards, cables, moved) in DAMAGES {
                let damage = Damage { boards, cables, moved };
                let mut row = Row::default();
                for (name, graph) in &networks {
                    let all = (0..*count).filter_map(|_| damaged(graph, damage, &mut random));
                    for damaged in all.collect::<Vec<Graph>>() {
                        let found = row.time(|| recognise_nearly(damaged.clone(), LIMIT));
                        match checked(&damaged, &found) {
                            Some(_) => row.found += 1,
                            None => eprintln!("{name} with {damage:?} is not found"),
                        }
                    }
                }
                row.print(&format!("{boards}% boards, {cables}% cables, {moved} moved"));
            }
        }
    }
}

#[derive(Default)]
struct Row {
    found: usize,
    seconds: Vec<f64>,
}

impl Row {
    fn time<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let result = run();
        self.seconds.push(begun.elapsed().as_secs_f64());
        result
    }

    fn print(mut self, title: &str) {
        self.seconds.sort_unstable_by(f64::total_cmp);
        let graphs = self.seconds.len();
        let at = |percent: usize| self.seconds.get((graphs * percent / 100).min(graphs.saturating_sub(1)));
        let [median, most] = [50, 100].map(|percent| at(percent).copied().unwrap_or(0.0));
        let found = self.found;
        println!(
            "{title:<36} {found:>4} of {graphs:<4} are a network; {median:.2} s in the median, {most:.2} s at most"
        );
    }
}
