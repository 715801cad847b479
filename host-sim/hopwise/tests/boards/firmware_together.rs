//! Programs that all boards work on together: `firmware/examples/together`, `picture` and `reduce`, on emulated boards and in the simulator.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use hopwise_app::{AppPort, Mesh};
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_sim::{Settings, simulate_programs};
use hopwise_team::{Team, TeamError};
use serde::de::DeserializeOwned;

use crate::firmware_programs::{example, lines};
use crate::firmware_support::{Firmware, Rig};

#[path = "../../../../firmware/examples/together/fourier.rs"]
mod fourier;
#[path = "../../../../firmware/examples/reduce/groups.rs"]
mod groups;
#[path = "../../../../firmware/examples/picture/heat.rs"]
mod heat;
#[allow(dead_code, reason = "the boards' image uses the rest")]
#[path = "../../../../firmware/examples/picture/mandelbrot.rs"]
mod mandelbrot;
#[path = "../../../../firmware/examples/reduce/means.rs"]
mod means;
#[path = "../../../../firmware/examples/together/sorting.rs"]
mod sorting;
#[path = "../../../../firmware/examples/reduce/timing.rs"]
mod timing;

const ORDERS: AppPort = AppPort(16);
const RESULTS: AppPort = AppPort(17);
const TEAM: AppPort = AppPort(18);
const NAIVE: AppPort = AppPort(19);
const GROUPS: AppPort = AppPort(20);

/// Boards with a program of several, and how often it was ordered.
struct Bench {
    rig: Rig,
    runs: u8,
}

impl Bench {
    fn new(firmware: &'static Firmware, network: &str) -> Self {
        let rig = Rig::new(firmware, network).linked();
        Bench { rig, runs: 0 }
    }

    /// Orders a program at board 0, and runs until all boards have done it; how long each took, in microseconds, and all that was logged.
    fn order(&mut self, program: u8, within: Time) -> (Vec<u64>, Vec<(usize, String)>) {
        self.runs += 1;
        self.rig.hosts.send(0, 0, ORDERS, &[program, self.runs]);
        let boards = self.rig.world.boards().len();
        let (end, done) = (self.rig.world.now() + within, format!("run {} done in ", self.runs));
        let (mut all, mut took) = (Vec::new(), BTreeMap::new());
        while took.len() < boards {
            let in_time = self.rig.world.now() < end;
            assert!(in_time, "program {program}: only {took:?} are done; {all:?}");
            self.rig.run_for(20 * MILLISECOND);
            for (board, text) in lines(&mut self.rig) {
                assert!(!text.contains("broke"), "program {program}, board {board}: {text}");
                let micros = text.strip_prefix(&done).and_then(|rest| rest.strip_suffix(" us"));
                took.extend(micros.map(|micros| (board, micros.parse::<u64>().unwrap())));
                all.push((board, text));
            }
        }
        // What is still under way to the host.
        self.rig.run_for(100 * MILLISECOND);
        (took.into_values().collect(), all)
    }

    fn results(&mut self) -> Vec<Vec<u8>> {
        let messages = self.rig.hosts.messages(0).into_iter();
        let results = messages.filter(|message| message.port == RESULTS);
        results.map(|message| message.bytes).collect()
    }

    /// What the boards have shown: the values of all, in node order.
    fn shown<T: DeserializeOwned>(&mut self) -> Vec<T> {
        let mut pieces = BTreeMap::new();
        for bytes in self.results() {
            let (board, first, values): (u16, u16, Vec<T>) = postcard::from_bytes(&bytes).expect("values");
            pieces.insert((board, first), values);
        }
        pieces.into_values().flatten().collect()
    }
}

/// What the boards of a simulated mesh come to with a program, in node order.
fn simulated<T: 'static>(
    network: &str,
    program: impl AsyncFn(Mesh<'_>, &Team<'_>) -> Result<T, TeamError> + 'static,
) -> Vec<T> {
    let settings = Settings {
        network: Some(network.into()),
        duration: Some("30s".parse().unwrap()),
        ..Settings::default()
    };
    let results: Rc<RefCell<BTreeMap<u64, T>>> = Rc::default();
    let (written, program) = (results.clone(), Rc::new(program));
    let account = simulate_programs(&settings.run().unwrap(), &move |mesh| {
        let (results, program) = (written.clone(), program.clone());
        Box::pin(async move {
            mesh.sleep(1_000_000).await;
            let team = Team::of_all(mesh, TEAM).unwrap();
            let result = program(mesh, &team).await;
            results.borrow_mut().insert(mesh.address(), result.unwrap());
        })
    });
    assert_eq!(account.unwrap().violation, None);
    results.take().into_values().collect()
}

fn check_sorted(nodes: u64, sorted: &[u16]) {
    let mut all: Vec<u16> = (0..nodes).flat_map(sorting::values).collect();
    all.sort_unstable();
    assert_eq!(sorted, all);
}

/// Against the sum that defines it.
fn check_transform(terms: &[fourier::Complex]) {
    let points = fourier::POINTS;
    assert_eq!(terms.len(), points);
    let signal: Vec<f64> = (0..points).map(|n| f64::from(fourier::signal(n))).collect();
    for (place, &(re, im)) in terms.iter().enumerate() {
        let k = (place as u32).reverse_bits() as usize >> (32 - points.ilog2());
        let turn = |n: usize| -std::f64::consts::TAU * (k * n % points) as f64 / points as f64;
        let term = |part: fn(f64) -> f64| -> f64 { signal.iter().enumerate().map(|(n, x)| x * part(turn(n))).sum() };
        let (right_re, right_im) = (term(f64::cos), term(f64::sin));
        let off = (f64::from(re) - right_re).hypot(f64::from(im) - right_im);
        assert!(off < 0.02, "term {k}: {re} {im} instead of {right_re} {right_im}");
    }
}

/// Against all tiles in one.
fn check_heat(cells: &[i32]) {
    const SIDE: usize = heat::BOARDS * heat::SIDE;
    let mut plane = [[0; SIDE]; SIDE];
    let of = |x: usize, y: usize| {
        (
            y / heat::SIDE * heat::BOARDS + x / heat::SIDE,
            y % heat::SIDE,
            x % heat::SIDE,
        )
    };
    let all = || (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
    for (x, y) in all() {
        let (board, row, column) = of(x, y);
        plane[y][x] = heat::begin(board)[row][column];
    }
    for _ in 0..heat::STEPS {
        let before = plane;
        for (x, y) in all() {
            let (up, down) = ((y + SIDE - 1) % SIDE, (y + 1) % SIDE);
            let (left, right) = ((x + SIDE - 1) % SIDE, (x + 1) % SIDE);
            let near = [before[up][x], before[down][x], before[y][left], before[y][right]];
            plane[y][x] = heat::next(before[y][x], near);
        }
    }
    assert!(plane[9][9] > 0, "the heat has not come round the torus");
    for (x, y) in all() {
        let (board, row, column) = of(x, y);
        let cell = cells[(board * heat::SIDE + row) * heat::SIDE + column];
        assert_eq!(cell, plane[y][x], "cell {x} {y}");
    }
}

fn check_centres(nodes: usize, centers: &[means::Point]) {
    let points: Vec<means::Point> = (0..nodes).flat_map(means::points).collect();
    let right = (0..means::STEPS).fold(means::BEGIN, |centers, _| {
        means::moved(centers, means::sums(&points, &centers))
    });
    assert_ne!(right, means::BEGIN);
    assert_eq!(centers, right.repeat(nodes));
}

/// Of the cluster, and of those with the same place in theirs.
fn check_groups(nodes: u64, sums: &[u32]) {
    let sum = |together: &dyn Fn(u64) -> bool| (0..nodes).filter(|&node| together(node)).sum::<u64>() as u32;
    let expected = (0..nodes).flat_map(|node| {
        let cluster = sum(&|other| other / groups::CLUSTER == node / groups::CLUSTER);
        [cluster, sum(&|other| other % groups::CLUSTER == node % groups::CLUSTER)]
    });
    assert!(expected.eq(sums.iter().copied()), "{sums:?}");
}

#[test]
fn simulated_boards_sort_transform_and_compute_together() {
    let cubes = "rsn(2,hypercube(2))";
    let sorted = simulated(cubes, async |_, team| sorting::run(team, 1).await);
    check_sorted(16, sorted.as_flattened());
    check_transform(simulated(cubes, async |_, team| fourier::run(team, 1).await).as_flattened());
    let sorted = simulated("rdn(ring(3),1)", async |_, team| sorting::run(team, 1).await);
    check_sorted(18, sorted.as_flattened());
    let centers = simulated("rdn(ring(3),1)", async |_, team| means::run(team, 1).await);
    check_centres(18, centers.as_flattened());
    let sums = simulated("rdn(ring(3),1)", async |mesh, _| groups::run(mesh, GROUPS, 1).await);
    check_groups(18, sums.as_flattened());
    let tiles = simulated("torus(3,3)", async |_, team| heat::run(team, 1).await);
    check_heat(tiles.as_flattened().as_flattened());
}

#[test]
fn boards_sort_and_transform_1024_points() {
    let firmware = example("together");
    let Some(firmware) = firmware else { return };
    let mut bench = Bench::new(firmware, "rsn(2,hypercube(2))");
    bench.order(0, 3 * SECOND);
    check_sorted(16, &bench.shown::<u16>());
    bench.order(1, 3 * SECOND);
    check_transform(&bench.shown::<fourier::Complex>());
    bench.rig.assert_healthy();
}

#[test]
fn boards_solve_the_heat_equation_on_a_torus() {
    let firmware = example("picture");
    let Some(firmware) = firmware else { return };
    let mut bench = Bench::new(firmware, "torus(3,3)");
    bench.order(2, 3 * SECOND);
    check_heat(&bench.shown::<i32>());
    bench.rig.assert_healthy();
}

/// Eighteen boards draw a picture at least 14 times as fast as one; the host makes a PGM file of it.
#[test]
fn eighteen_boards_draw_the_mandelbrot_set_14_times_as_fast_as_one() {
    let firmware = example("picture");
    let Some(firmware) = firmware else { return };
    let mut bench = Bench::new(firmware, "rdn(ring(3),1)");
    let mut picture = |program| {
        let took = bench.order(program, 30 * SECOND).0.into_iter().max().unwrap();
        let rows: BTreeMap<u8, Vec<u8>> = bench.results().iter().map(|row| (row[0], row[1..].to_vec())).collect();
        assert_eq!(rows.len(), mandelbrot::HEIGHT);
        (took, rows)
    };
    let (together, drawn) = picture(0);
    let (alone, drawn_alone) = picture(1);
    assert_eq!(drawn, drawn_alone);
    let shades: Vec<u8> = drawn.into_values().flatten().collect();
    let inside = shades.iter().filter(|&&shade| shade == 0).count();
    assert!((2_000..6_000).contains(&inside), "{inside} points are inside");
    let header = format!("P5 {} {} 255\n", mandelbrot::WIDTH, mandelbrot::HEIGHT);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("mandelbrot.pgm");
    std::fs::write(&path, [header.as_bytes(), &shades].concat()).unwrap();
    let times = alone as f64 / together as f64;
    println!(
        "alone {alone} us, together {together} us: {times:.1} times as fast; {}",
        path.display()
    );
    assert!(times >= 14.0, "{times}");
    bench.rig.assert_healthy();
}

/// Boards and simulator agree on how long an all-reduce takes. Among so few boards it takes about as long as the naive
/// way.
#[test]
fn an_all_reduce_takes_as_long_on_boards_as_in_the_simulator() {
    let firmware = example("reduce");
    let Some(firmware) = firmware else { return };
    const NETWORK: &str = "rdn(ring(3),1)";
    let mut bench = Bench::new(firmware, NETWORK);
    let said = bench.order(1, 20 * SECOND).1;
    let line = said.iter().find_map(|(_, text)| text.strip_prefix("all-reduce "));
    let line = line.expect("times");
    let boards: Vec<u64> = line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let times = simulated(NETWORK, async |mesh, team| timing::run(mesh, team, NAIVE, 1).await)[0];
    let simulator = [times.team, times.naive].concat();
    println!(
        "{NETWORK}: all-reduce of 4 and 1,024 bytes, then the naive way, in us: boards {boards:?}, simulator {simulator:?}"
    );
    for (boards, simulator) in boards[..2].iter().zip(&simulator) {
        let ratio = *boards as f64 / *simulator as f64;
        assert!((0.7..2.0).contains(&ratio), "{ratio}");
    }
    // Among so few boards the naive way is as fast.
    for (team, naive) in boards[..2].iter().zip(&boards[2..]) {
        assert!(team * 2 < naive * 3, "the naive way is much faster: {boards:?}");
    }
    // With the same boards: k-means.
    bench.order(0, 3 * SECOND);
    check_centres(18, &bench.shown::<means::Point>());
    bench.order(2, 3 * SECOND);
    check_groups(18, &bench.shown::<u32>());
    bench.rig.assert_healthy();
}
