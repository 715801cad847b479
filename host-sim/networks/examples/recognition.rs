//! How often networks are recognised
#[path = "../tests/networks/recognition.rs"]
mod recognition;
use recognition::*;
use hopwise_testing::Random;
use std::time::{Duration, Instant};
use hopwise_networks::almost::almost;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let num = |i: usize| args[i].parse::<usize>().unwrap();
    let (b, c, m, most, limit) = (num(0), num(1), num(2), num(3), num(4));
    let only = args.get(5);
    let mut random = Random(b as u64 * 100 + c as u64 * 10 + m as u64);
    let (mut found, mut all) = (0, 0);
    for (name, graph) in table(most) {
        if only.is_some_and(|o| o != name) { continue; }
        let Some(d) = damaged(&graph, Damage { boards: b, cables: c, moved: m }, &mut random) else { println!("{name:<40} cut"); continue };
        let t = Instant::now();
        let f = almost(&d, Duration::from_secs(limit as u64));
        let s = t.elapsed().as_secs_f64();
        all += 1;
        found += usize::from(f.is_some());
        match f {
            Some(f) => { check(&d, &f); println!("{name:<40} {:>4}/{:<4} {s:>6.2} {} b{} c{} w{} also {}", d.nodes(), graph.nodes(), f.network, f.missing_boards.len(), f.missing_cables.len(), f.wrong_cables.len(), f.also.len()) }
            None => println!("{name:<40} {:>4}/{:<4} {s:>6.2} -", d.nodes(), graph.nodes()),
        }
    }
    println!("{found} of {all}");
}
