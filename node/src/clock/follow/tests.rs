//! Boards in a row or a cycle, each with a crystal of its own, that exchange signals over wires without errors.

use std::vec::Vec;

use super::*;
use crate::capacities;
use hopwise_testing::Random;

const SECOND: u64 = 1_000_000_000;
/// The time of a signal on the wire.
const ON_THE_WIRE: u64 = 300_000;
const STEP: u64 = 500_000;
const BAUD: u32 = 1_000_000;

struct Board {
    clock: MeshClock<capacities::Board>,
    /// The excess of its local clock in nanoseconds per second, and its first reading.
    ppb: i64,
    first: u64,
    alive: bool,
    before: Option<Micros>,
}

impl Board {
    /// The local clock at a true time, in nanoseconds.
    fn nanos(&self, now: u64) -> u64 {
        self.first + (now as i128 * (1_000_000_000 + i128::from(self.ppb)) / 1_000_000_000) as u64
    }

    fn micros(&self, now: u64) -> Micros {
        self.nanos(now) / 1_000
    }

    /// The timestamp of a frame, in whole microseconds.
    fn stamp(&self, now: u64) -> ClockTicks {
        clock_ticks(self.micros(now)) + TICKS_PER_MICRO / 2
    }
}

/// The effect of a faulty board on its signals.
type Lie = fn(u64, &mut TimeSignal);

struct Mesh {
    boards: Vec<Board>,
    /// The links at both ends of each cable.
    cables: Vec<((usize, u8), (usize, u8))>,
    now: u64,
    /// Arrival time, destination and content.
    under_way: Vec<(u64, usize, u8, TimeSignal)>,
    liar: Option<(usize, Lie)>,
    signals: u64,
}

impl Mesh {
    /// Wires board n to the next, and the last to the first if it is a cycle.
    fn row(nodes: usize, is_cycle: bool, seed: u64) -> Self {
        let mut random = Random(seed);
        let boards = (0..nodes).map(|node| {
            let first = random.below(100 * SECOND);
            Board {
                clock: MeshClock::new(node as Node, BAUD, first / 1_000),
                ppb: random.below(100_001) as i64 - 50_000,
                first,
                alive: true,
                before: None,
            }
        });
        let cables = (0..nodes - usize::from(!is_cycle)).map(|node| ((node, 1), ((node + 1) % nodes, 0)));
        let mut mesh = Mesh {
            boards: boards.collect(),
            cables: cables.collect(),
            now: 0,
            under_way: Vec::new(),
            liar: None,
            signals: 0,
        };
        // The numbers of rounds wrap soon.
        mesh.boards[0].clock.round = u16::MAX - 5;
        for cable in 0..mesh.cables.len() {
            mesh.plug(cable, true);
        }
        mesh
    }

    fn plug(&mut self, cable: usize, plugged: bool) {
        let (a, b) = self.cables[cable];
        for (board, link) in [a, b] {
            let board = &mut self.boards[board];
            let now = board.micros(self.now);
            if plugged {
                board.clock.link_up(link, now);
            } else {
                board.clock.link_down(link);
            }
        }
    }

    /// A ring of eight with shortcuts, so that each board has three neighbors.
    fn with_shortcuts(seed: u64) -> Self {
        let mut mesh = Mesh::row(8, true, seed);
        for board in 0..4 {
            mesh.cables.push(((board, 2), (board + 4, 2)));
            mesh.plug(mesh.cables.len() - 1, true);
        }
        mesh
    }

    /// Removes a board; its neighbors notice.
    fn kill(&mut self, board: usize) {
        self.boards[board].alive = false;
        self.cables_of(board).for_each(|cable| self.plug(cable, false));
    }

    fn cables_of(&self, board: usize) -> impl Iterator<Item = usize> + use<> {
        let cables = self.cables.clone().into_iter().enumerate();
        cables.filter_map(move |(cable, (a, b))| [a.0, b.0].contains(&board).then_some(cable))
    }

    /// Restarts a board without state.
    fn restart(&mut self, board: usize) {
        let now = self.boards[board].micros(self.now);
        self.boards[board].clock = MeshClock::new(board as Node, BAUD, now);
        self.boards[board].before = None;
        self.boards[board].alive = true;
        for cable in self.cables_of(board) {
            self.plug(cable, false);
            self.plug(cable, true);
        }
    }

    fn run(&mut self, seconds: f64) {
        let end = self.now + (seconds * SECOND as f64) as u64;
        while self.now < end {
            self.now += STEP;
            let (due, later) = self.under_way.drain(..).partition(|signal| signal.0 <= self.now);
            self.under_way = later;
            let due: Vec<_> = due;
            let nodes = self.boards.len() as u64;
            for (at, board, link, signal) in due {
                let board = &mut self.boards[board];
                if board.alive && board.clock.open >> link & 1 == 1 {
                    let came = board.stamp(at);
                    board
                        .clock
                        .hear(link, &signal, Some(came), nodes, board.micros(self.now));
                }
            }
            for number in 0..self.boards.len() {
                self.serve(number);
            }
        }
    }

    fn serve(&mut self, number: usize) {
        let now = self.now;
        let board = &mut self.boards[number];
        if !board.alive {
            return;
        }
        let micros = board.micros(now);
        board.clock.tick(micros);
        let shown = board.clock.time.at(micros);
        assert!(shown >= board.before, "board {number} went back");
        board.before = shown;
        if !board.clock.take_speech() {
            return;
        }
        for link in 0..4 {
            if board.clock.open >> link & 1 == 0 {
                continue;
            }
            let mut signal = board.clock.signal(link, micros).unwrap();
            let began = board.stamp(now);
            board.clock.left(link, began + clock_ticks(ON_THE_WIRE / 1_000));
            self.signals += 1;
            if let Some((liar, lie)) = self.liar
                && liar == number
            {
                lie(now, &mut signal);
            }
            let to = self.cables.iter().find_map(|&(a, b)| match (number, link) {
                end if a == end => Some(b),
                end if b == end => Some(a),
                _ => None,
            });
            let to = to.unwrap();
            self.under_way.push((now + ON_THE_WIRE, to.0, to.1, signal));
        }
    }

    /// The times that live boards show, in microseconds, and their roots.
    fn shown(&self) -> Vec<(Option<f64>, Node)> {
        let alive = self.boards.iter().filter(|board| board.alive);
        let shown = alive.map(|board| {
            let local = board.nanos(self.now) * 32 / 125;
            let shown = board.clock.time.at_tick(local);
            (
                shown.map(|shown| shown as f64 / TICKS_PER_MICRO as f64),
                board.clock.root,
            )
        });
        shown.collect()
    }

    fn time(&self, place: usize) -> f64 {
        self.shown()[place].0.unwrap()
    }

    /// So many seconds have passed since the time that another board showed.
    fn assert_passed(&self, place: usize, before: f64, seconds: f64, within: f64) {
        let passed = self.time(place) - before;
        assert!((passed - seconds * 1e6).abs() < within, "{passed} us in {seconds} s");
    }

    /// The maximum difference between the clocks of some boards, in microseconds.
    fn spread_of(&self, boards: &[usize]) -> f64 {
        let shown: Vec<_> = self.shown();
        let shown: Vec<f64> = boards.iter().map(|&board| shown[board].0.expect("a time")).collect();
        let fold = |f: fn(f64, f64) -> f64| shown.iter().copied().reduce(f).unwrap();
        fold(f64::max) - fold(f64::min)
    }

    fn assert_agreement(&self, root: Node, within: f64) {
        let shown = self.shown();
        assert!(
            shown.iter().all(|(shown, of)| shown.is_some() && *of == root),
            "{shown:?}"
        );
        let all: Vec<usize> = (0..shown.len()).collect();
        let spread = self.spread_of(&all);
        assert!(spread <= within, "{spread} us: {shown:?}");
    }
}

#[test]
fn boards_in_a_row_agree() {
    for seed in 1..=10 {
        let mut mesh = Mesh::row(16, false, seed);
        mesh.run(5.0);
        mesh.assert_agreement(0, 6.0);
        mesh.run(5.0);
        mesh.assert_agreement(0, 4.0);
    }
}

#[test]
fn a_root_that_dies_is_followed_by_the_next_and_time_goes_on() {
    for seed in 1..=4 {
        let mut mesh = Mesh::row(12, true, seed);
        mesh.run(5.0);
        mesh.assert_agreement(0, 6.0);
        let before = mesh.time(5);
        mesh.kill(0);
        mesh.run(2.5);
        mesh.assert_agreement(1, 6.0);
        mesh.assert_passed(4, before, 2.5, 500.0);
        mesh.kill(1);
        mesh.run(5.0);
        mesh.assert_agreement(2, 6.0);
    }
}

/// Without rounds the boards of the cycle would propagate the dead root forever.
#[test]
fn nobody_follows_a_root_that_is_only_remembered() {
    let mut mesh = Mesh::row(9, true, 3);
    mesh.run(5.0);
    mesh.kill(0);
    mesh.run(1.8);
    assert!(mesh.shown().iter().all(|(_, root)| *root == 1), "{:?}", mesh.shown());
}

#[test]
fn a_board_that_comes_later_takes_over_the_time_and_then_the_lead() {
    let mut mesh = Mesh::row(6, true, 5);
    mesh.kill(0);
    mesh.run(5.0);
    mesh.assert_agreement(1, 6.0);
    let before = mesh.time(0);
    mesh.restart(0);
    mesh.run(5.0);
    mesh.assert_agreement(0, 6.0);
    mesh.assert_passed(1, before, 5.0, 1_000.0);
}

#[test]
fn a_root_that_restarts_goes_on_with_what_the_others_remember() {
    let mut mesh = Mesh::row(6, true, 6);
    mesh.run(5.0);
    let before = mesh.time(3);
    mesh.restart(0);
    mesh.run(3.0);
    mesh.assert_agreement(0, 6.0);
    let root = &mesh.boards[0].clock;
    assert_eq!((root.parent, root.hops), (None, 0), "it follows nobody");
    mesh.assert_passed(3, before, 3.0, 1_000.0);
}

#[test]
fn a_cable_that_is_cut_changes_nothing_but_the_path() {
    let mut mesh = Mesh::row(10, true, 7);
    mesh.run(5.0);
    mesh.plug(0, false);
    mesh.run(0.5);
    mesh.assert_agreement(0, 6.0);
    mesh.run(5.0);
    mesh.assert_agreement(0, 6.0);
}

/// Two separate meshes have drifted apart; the one with the worse root adopts the time of the other, and never goes back.
#[test]
fn two_meshes_become_one() {
    for seed in 8..=11 {
        let mut mesh = Mesh::row(8, true, seed);
        // Boards 0 to 3, and 4 to 7.
        mesh.plug(3, false);
        mesh.plug(7, false);
        mesh.run(20.0);
        let roots: Vec<Node> = mesh.shown().iter().map(|(_, root)| *root).collect();
        assert_eq!(roots, [0, 0, 0, 0, 4, 4, 4, 4]);
        mesh.plug(3, true);
        mesh.plug(7, true);
        let ahead = mesh.time(5) - mesh.time(2);
        mesh.run(4.0);
        let roots: Vec<Node> = mesh.shown().iter().map(|(_, root)| *root).collect();
        assert_eq!(roots, [0; 8], "seed {seed}");
        // At half speed a clock that is ahead waits for the rest.
        mesh.run(ahead.max(0.0) * 2.1 / 1e6);
        mesh.assert_agreement(0, 6.0);
    }
}

/// All boards but the faulty one and those with no other neighbor agree, and time runs as before.
fn withstands(name: &str, liar: usize, lie: Lie, from: f64) {
    let mut mesh = Mesh::with_shortcuts(12);
    mesh.run(from);
    mesh.liar = Some((liar, lie));
    if from == 0.0 {
        mesh.run(5.0);
    }
    let honest: Vec<usize> = (0..8).filter(|&board| board != liar).collect();
    mesh.run(1.0);
    let before: Vec<f64> = honest.iter().map(|&board| mesh.time(board)).collect();
    mesh.run(10.0);
    let spread = mesh.spread_of(&honest);
    assert!(spread < 10.0, "{liar} {name}: {spread} us: {:?}", mesh.shown());
    for (&board, before) in honest.iter().zip(before) {
        let passed = mesh.time(board) - before;
        // 250 parts per million of ten seconds.
        let is_right = (passed - 10e6).abs() < 2_500.0;
        assert!(is_right, "{liar} {name}: board {board}: {passed} us in 10 s");
    }
}

const HOUR: ClockTicks = 3_600_000_000 * TICKS_PER_MICRO;

/// Clock ticks that are a thousandth of the time since five seconds.
fn gained(now: u64) -> ClockTicks {
    (now - 5 * SECOND) / 1_000_000 * TICKS_PER_MICRO
}

#[test]
fn a_liar_drags_nobody() {
    let far: Lie = |_, signal| signal.mesh = signal.mesh.map(|mesh| mesh + HOUR);
    let jumps: Lie = |now, signal| {
        let by = if now / 300_000_000 % 2 == 0 { 700 } else { 0 };
        signal.mesh = signal.mesh.map(|mesh| mesh + by * TICKS_PER_MICRO);
    };
    let fast: Lie = |now, signal| {
        signal.mesh = signal.mesh.map(|mesh| mesh + 2 * gained(now));
        signal.sent = signal.sent.map(|sent| sent.wrapping_add(2 * gained(now) as u32));
    };
    // A neighbor's local clock gives the rate of one's own.
    let fast_itself: Lie = |now, signal| signal.sent = signal.sent.map(|sent| sent.wrapping_add(gained(now) as u32));
    for (name, lie, liars) in [
        ("is from the far future", far, &[0, 3, 7][..]),
        ("jumps", jumps, &[0, 2, 6]),
        ("runs too fast", fast, &[0, 4]),
        ("lies about its own clock", fast_itself, &[0, 4]),
    ] {
        liars.iter().for_each(|&liar| withstands(name, liar, lie, 5.0));
    }
    let next_to_the_root: Lie = |now, signal| {
        signal.mesh = Some(now / 1_000 * TICKS_PER_MICRO + HOUR);
        (signal.root, signal.hops) = (0, 0);
    };
    withstands("is from the far future from the beginning", 5, next_to_the_root, 0.0);
}

/// A board that boots beside a faulty one receives its signals as soon as the others.
#[test]
fn a_board_that_starts_takes_the_time_that_most_have() {
    for wait in 0..8 {
        let mut mesh = Mesh::with_shortcuts(20 + wait);
        mesh.run(5.0 + 0.013 * wait as f64);
        mesh.liar = Some((5, |_, signal| signal.mesh = signal.mesh.map(|mesh| mesh + HOUR)));
        mesh.restart(4);
        mesh.run(3.0);
        let spread = mesh.spread_of(&[0, 1, 2, 3, 4, 6, 7]);
        assert!(spread < 6.0, "{spread} us: {:?}", mesh.shown());
    }
}

/// The signal of the root, or of a follower, in a round.
fn of_round(root: Node, round: u16, now: Micros) -> TimeSignal {
    TimeSignal {
        number: round as u8,
        sent: Some(clock_ticks(now - 100) as u32),
        mesh: Some(clock_ticks(now - 100)),
        rate: 0,
        root,
        round,
        hops: 0,
    }
}

/// A board that receives a round every millisecond, the last at the returned time.
fn follower(speeches: &mut u32) -> (MeshClock<capacities::Board>, Micros) {
    let mut clock: MeshClock<capacities::Board> = MeshClock::new(3, BAUD, 0);
    clock.link_up(0, 0);
    clock.link_up(1, 0);
    let mut now = 0;
    for round in 1..=1_000 {
        now = u64::from(round) * 1_000;
        clock.hear(0, &of_round(0, round, now), Some(clock_ticks(now + 900)), 9, now);
        clock.tick(now);
        *speeches += u32::from(clock.take_speech());
    }
    assert_eq!((clock.root, clock.parent, clock.round), (0, Some(0), 1_000));
    (clock, now)
}

#[test]
fn rounds_that_come_too_fast_make_no_storm() {
    let mut speeches = 0;
    follower(&mut speeches);
    assert!((50..=81).contains(&speeches), "{speeches} signals in a second");
}

#[test]
fn of_a_dead_root_only_new_rounds_are_accepted() {
    let (mut clock, mut now) = follower(&mut 0);
    now += 1_500_000;
    clock.tick(now);
    assert_eq!((clock.root, clock.lost), (3, 0));
    let mut hear = |round: u16, more: Micros| {
        let now = now + more;
        for number in [round as u8, round as u8 + 1] {
            let signal = TimeSignal {
                number,
                ..of_round(0, round, now)
            };
            clock.hear(1, &signal, Some(clock_ticks(now - 100)), 9, now);
        }
        clock.root
    };
    assert_eq!((hear(999, 10), hear(1_000, 20), hear(2_000, 30)), (3, 3, 3));
    assert_eq!(hear(1_001, 40), 0);
}

#[test]
fn any_signal_is_borne() {
    let mut clock: MeshClock<capacities::Board> = MeshClock::new(3, 0, 0);
    clock.link_up(0, 0);
    clock.link_up(200, 0);
    let mut random = Random(1);
    let mut draw = || random.number();
    let (mut now, mut before) = (0, None);
    for _ in 0..200_000 {
        let random = draw();
        let signal = TimeSignal {
            number: (random >> 1) as u8 & 3,
            sent: (random & 1 == 0).then_some(draw() as u32),
            mesh: (random & 6 != 0).then_some(if random & 64 == 0 { draw() } else { clock_ticks(now) }),
            rate: draw() as i32,
            root: draw() % 5,
            round: draw() as u16 & 63,
            hops: draw() as u8,
        };
        now += draw() % 200_000;
        let came = (random & 128 == 0).then_some(clock_ticks(now));
        clock.hear((random >> 8) as u8 & 1, &signal, came, 5, now);
        clock.tick(now);
        let _ = clock.signal((random >> 9) as u8 & 3, now);
        clock.left((random >> 10) as u8 & 3, draw());
        let shown = clock.time().at(now);
        // A time 2^55 microseconds ahead wraps around, which is out of reach in practice.
        if let (Some(shown), Some(before)) = (shown, before) {
            assert!(shown >= before || before > 1 << 50, "{shown} after {before}");
        }
        before = shown;
    }
    clock.hear(
        0,
        &clock.clone().signal(0, Micros::MAX).unwrap(),
        Some(ClockTicks::MAX),
        5,
        Micros::MAX,
    );
    clock.tick(Micros::MAX);
}
