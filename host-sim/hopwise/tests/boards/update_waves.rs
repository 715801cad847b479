//! Updates with `--rolling`: boards switch one after the other, and the mesh goes on working.

use std::time::Duration;

use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Action, Script};
use hopwise_host::talk::{BoardRequest, Reply, Talk};
use hopwise_node::store::Slot;
use hopwise_node::wire::{AppPort, Command, Verdict};
use hopwise_rig::update::{Boards, CannotUpdate, update};

use crate::update::{HostEnd, images};

const PORT: AppPort = AppPort::TEXT;
/// Between two packets.
const INTERVAL: Time = 100 * MILLISECOND;
/// A confirmed packet has been confirmed or given up by then.
const SETTLED: Time = 13 * SECOND;

/// A confirmed packet that has not been confirmed.
struct Sent {
    from: usize,
    to: usize,
    number: u32,
    at: Time,
}

/// A mesh whose hosts send confirmed packets to each other's boards all the time, and someone who looks on.
struct Busy<'a> {
    host_end: &'a mut HostEnd,
    next_at: Time,
    /// Packets so far, and those of them that came.
    packets: usize,
    delivered: usize,
    /// Those that were sent once more because an end of theirs had restarted.
    again: usize,
    open: Vec<Sent>,
    /// Boards in the order in which they were told to switch, and when.
    switched: Vec<(usize, Time)>,
    /// This board loses all its cables when it has been told to switch.
    loses_cables: Option<usize>,
}

impl<'a> Busy<'a> {
    fn new(host_end: &'a mut HostEnd) -> Self {
        Busy {
            next_at: host_end.rig.world.now(),
            host_end,
            packets: 0,
            delivered: 0,
            again: 0,
            open: Vec::new(),
            switched: Vec::new(),
            loses_cables: None,
        }
    }

    fn boards(&self) -> usize {
        self.host_end.rig.world.boards().len()
    }

    fn send(&mut self, from: usize, to: usize) {
        let hosts = &mut self.host_end.rig.hosts;
        let number = hosts.send_confirmed(from, to as u64, PORT, b"while it updates");
        let at = self.host_end.rig.world.now();
        self.open.push(Sent { from, to, number, at });
    }

    /// Sends the next packet if it is time, every board to every other in turn.
    fn send_next(&mut self) {
        if self.host_end.rig.world.now() < self.next_at {
            return;
        }
        let boards = self.boards();
        let (from, step) = (self.packets % boards, 1 + self.packets / boards % (boards - 1));
        self.send(from, (from + step) % boards);
        self.packets += 1;
        self.next_at = self.host_end.rig.world.now() + INTERVAL;
    }

    /// Takes what was said of packets. One with an end that has restarted meanwhile may be lost, as its sender knows, and is retransmitted;
    /// any other must come.
    fn settle(&mut self) {
        for board in 0..self.boards() {
            for (number, verdict) in self.host_end.rig.hosts.verdicts(board) {
                let mut open = self.open.iter();
                let place = open.position(|sent| (sent.from, sent.number) == (board, number));
                if let Some(place) = place.filter(|_| verdict == Verdict::Delivered) {
                    self.open.remove(place);
                    self.delivered += 1;
                }
            }
        }
        let now = self.host_end.rig.world.now();
        let (late, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|sent| now > sent.at + SETTLED);
        self.open = open;
        for Sent { from, to, at, .. } in late {
            let restarted = |end| {
                self.switched
                    .iter()
                    .any(|(board, when)| *board == end && *when + 2 * SECOND > at)
            };
            let milliseconds = at / MILLISECOND;
            let excused = restarted(from) || restarted(to);
            assert!(excused, "from {from} to {to} at {milliseconds} ms");
            self.again += 1;
            self.send(from, to);
        }
    }

    /// A board is about to be told to switch: all others are there, with all their links, and those before it run the new image and keep it.
    fn before_switch(&mut self, board: usize) {
        if self.switched.iter().any(|(other, _)| *other == board) {
            return;
        }
        for other in (0..self.boards()).filter(|other| *other != board) {
            let report = self.host_end.rig.identity(other);
            let all_up = report.neighbors_up == report.neighbors;
            assert!(all_up, "board {other} is away when {board} is to go");
            let has_switched = self.switched.iter().any(|(before, _)| *before == other);
            let state = self.host_end.state(other);
            let expected = if has_switched { Slot::Second } else { Slot::First };
            assert_eq!((state.slot, state.on_trial), (expected, false), "board {other}");
            let found = self.host_end.rig.world.boards()[other].resets();
            assert_eq!(found, u64::from(has_switched), "board {other}");
        }
        let now = self.host_end.rig.world.now();
        self.switched.push((board, now));
    }

    fn cables(&mut self, board: usize, what: fn(hopwise_emulator::world::Port) -> Action) {
        let world = &mut self.host_end.rig.world;
        let ports = world.wired_ports().into_iter().filter(|port| port.board == board);
        let events = ports.map(|port| (world.now(), what(port))).collect();
        world.set_script(Script::new(events)).expect("wires");
    }
}

impl Talk for Busy<'_> {
    fn entrances(&self) -> Vec<u64> {
        self.host_end.entrances()
    }

    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        let switch = Command::SwitchImage(&[0; 32]).query();
        let switches = requests.iter().filter(|request| request.query == switch);
        let switches: Vec<usize> = switches.map(|request| request.dest as usize).collect();
        switches.iter().for_each(|board| self.before_switch(*board));
        self.send_next();
        let replies = self.host_end.ask(requests);
        if let Some(board) = self.loses_cables.take_if(|board| switches.contains(board)) {
            self.cables(board, Action::Cut);
        }
        self.settle();
        replies
    }
}

impl Boards for Busy<'_> {
    fn wait(&mut self, time: Duration) {
        self.send_next();
        self.host_end.wait(time);
        self.settle();
    }

    fn elapsed(&self) -> Duration {
        self.host_end.elapsed()
    }

    fn stream(&mut self, blocks: Vec<Vec<u8>>) {
        for some in blocks.chunks(20) {
            self.send_next();
            self.host_end.stream(some.to_vec());
            self.settle();
        }
    }
}

/// One board after the other, as `--rolling` does it.
fn waves(boards: u64) -> Vec<Vec<u64>> {
    (0..boards).rev().map(|node| vec![node]).collect()
}

#[test]
fn boards_switch_one_after_the_other_and_every_confirmed_packet_comes() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::mesh(images, "ring(4)");
    let mut busy = Busy::new(&mut host_end);
    let report = update(&mut busy, &images.package, &waves(4)).expect("an update");
    assert_eq!((report.boards, report.bricked), (4, 0));
    while !busy.open.is_empty() {
        busy.host_end.rig.run_for(INTERVAL);
        busy.settle();
    }
    let Busy {
        packets,
        delivered,
        again,
        ..
    } = busy;
    println!("{report:?}: {packets} confirmed packets, {again} of them retransmitted");
    assert!(packets > 50 && again < packets / 5, "{again} of {packets}");
    assert_eq!(delivered, packets);
    let order: Vec<usize> = busy.switched.iter().map(|(board, _)| *board).collect();
    assert_eq!(order, [3, 2, 1, 0]);
    for board in 0..4 {
        let state = host_end.state(board);
        assert_eq!((state.slot, state.on_trial), (Slot::Second, false), "board {board}");
        assert_eq!(host_end.rig.world.boards()[board].resets(), 1, "board {board}");
    }
    host_end.rig.wait_for_links(SECOND);
    host_end.rig.assert_healthy();
}

/// The second board to switch is not heard of any more. It goes back after its minute; those before it keep the new image, those after it the
/// one they have.
#[test]
fn a_board_that_does_not_come_back_ends_a_rolling_update() {
    let Some(images) = images() else { return };
    let mut host_end = HostEnd::mesh(images, "ring(3)");
    let mut busy = Busy::new(&mut host_end);
    busy.loses_cables = Some(1);
    busy.next_at = Time::MAX;
    let result = update(&mut busy, &images.package, &waves(3));
    assert_eq!(result, Err(CannotUpdate::Gone(vec![1])));
    let order: Vec<usize> = busy.switched.iter().map(|(board, _)| *board).collect();
    assert_eq!(order, [2, 1]);
    busy.cables(1, Action::Plug);
    host_end.rig.run_for(2 * SECOND);
    host_end.rig.wait_for_links(SECOND);
    for (board, slot, resets) in [(2, Slot::Second, 1), (1, Slot::First, 2), (0, Slot::First, 0)] {
        let state = host_end.state(board);
        assert_eq!((state.slot, state.on_trial), (slot, false), "board {board}");
        assert_eq!(host_end.rig.world.boards()[board].resets(), resets, "board {board}");
    }
    // Nothing of that stands in the way of the next one, which each board takes for its own slot.
    let report = host_end.update(&images.package).expect("an update");
    assert_eq!((report.boards, report.bricked), (3, 0));
    let slots: Vec<Slot> = (0..3).map(|board| host_end.state(board).slot).collect();
    assert_eq!(slots, [Slot::Second, Slot::Second, Slot::First]);
    host_end.rig.assert_healthy();
}
