//! Instructions for one next hop, counted by valgrind: `cargo bench -p hopwise-core --bench next_hop`.
//!
//! Runs itself under `valgrind --tool=callgrind`, which counts only inside [`route_all`]. The same count every time,
//! whatever else the machine does.

use std::hint::black_box;
use std::process::{Command, ExitCode};

use hopwise_core::{Network, Rule};

/// What is measured, and the aim; none where a search is needed.
const EXPRESSIONS: [(&str, Option<u64>); 11] = [
    ("rdn(ring(3),2)", Some(150)),
    ("rdn(torus(5,5),2)", Some(150)),
    ("rdn(ring(5),3)", Some(150)),
    ("re(ring(4),ring(4),4)", Some(400)),
    ("re(heawood,heawood,4)", None),
    ("rcr(2,5,3)", Some(400)),
    ("rcr(4,20,40)", Some(400)),
    ("lift(8,bcc2,b4c7)", None),
    ("lift(16,bb12cd,c10d2,c7,d5)", None),
    ("lift(64,bb55cc59d,c10d2d23,d27d30)", None),
    ("lift(128,bc5d9e,c70d31f,d99g,e77h,f45g12,g61h,h33,h9)", None),
];

/// Pairs of nodes that one run goes through.
const PAIRS: u64 = 2_000;

/// Tells the copy under valgrind which network to route on.
const INSIDE: &str = "HOPWISE_BENCH_NETWORK";

fn main() -> ExitCode {
    if let Ok(expression) = std::env::var(INSIDE) {
        let (network, pairs) = pairs(&expression);
        println!("{}", route_all(&network, &pairs));
        return ExitCode::SUCCESS;
    }
    println!("{:<56} {:>16} {:>6}", "exact rule", "instructions/hop", "aim");
    let mut missed = false;
    for (expression, aim) in EXPRESSIONS {
        match count(expression) {
            Ok(instructions) => {
                let aim_text = aim.map_or("-".to_string(), |aim| aim.to_string());
                println!("{expression:<56} {instructions:>16} {aim_text:>6}");
                missed |= aim.is_some_and(|aim| instructions > aim);
            }
            Err(error) => {
                eprintln!("{expression}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Instructions per pair, the loop's own few included.
fn count(expression: &str) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--toggle-collect=*route_all*",
        ])
        .arg(program)
        .env(INSIDE, expression)
        .output()
        .map_err(|error| format!("valgrind does not start ({error}): install the package valgrind"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let collected = log
        .lines()
        .find_map(|line| line.split("Collected :").nth(1)?.trim().parse::<u64>().ok());
    collected
        .map(|all| all / PAIRS)
        .ok_or(format!("valgrind counted nothing: {log}"))
}

/// Pairs of different nodes from a fixed linear congruential sequence.
fn pairs(expression: &str) -> (Network, Vec<(u64, u64)>) {
    let network: Network = expression.parse().expect("the expressions above are right");
    let mut state = 1u64;
    let mut draw = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 1) % network.nodes()
    };
    let pairs = (0..PAIRS).map(|_| {
        let (from, to) = (draw(), draw());
        let other = if from == to { (to + 1) % network.nodes() } else { to };
        (from, other)
    });
    let pairs = pairs.collect();
    (network, pairs)
}

#[inline(never)]
fn route_all(network: &Network, pairs: &[(u64, u64)]) -> u64 {
    let next = |pair: &(u64, u64)| black_box(network).next_hop(pair.0, pair.1, Rule::Exact).unwrap_or(0);
    pairs
        .iter()
        .map(|pair| black_box(next(black_box(pair))))
        .fold(0, |mixed, next| mixed ^ next)
}
