//! The cables of a world, and what happens to them.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Occasion, SimSizes, Watcher, WireEnd, World, only};
use crate::tap::Tap;
use crate::wire::{Direction, Nanos, Noise, PASSES_SOON};

pub(super) struct Cable {
    pub(super) ends: [WireEnd; 2],
    /// Where it was laid.
    laid: [WireEnd; 2],
    /// From each end to the other.
    pub(super) directions: [Direction; 2],
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) plugged: bool,
    pub(super) tap: Option<Box<Tap>>,
}

impl Cable {
    /// Its ends, that one first.
    pub(super) fn seen_from(&self, from: WireEnd) -> [WireEnd; 2] {
        let [a, b] = self.ends;
        if a == from { [a, b] } else { [b, a] }
    }

    fn is_bad(&self) -> bool {
        self.directions.iter().any(Direction::is_bad)
    }
}

impl<C: SimSizes, M: Copy + Ord> World<C, M> {
    pub(super) fn lay(&mut self, a: WireEnd, b: WireEnd) {
        let index = self.cables.len() as u32;
        let seed = self.build.seed ^ 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(u64::from(index) + 1);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let noise = &self.build.noise;
        self.cables.push(Cable {
            ends: [a, b],
            laid: [a, b],
            directions: [Direction::new(noise, &mut random), Direction::new(noise, &mut random)],
            random,
            plugged: true,
            tap: None,
        });
        for (board, link) in [a, b] {
            self.boards[board as usize].cables[usize::from(link)] = Some(index);
        }
    }

    pub fn plug(&mut self, cable: u32, plugged: bool, watcher: &mut impl Watcher) {
        if self.cables[cable as usize].plugged == plugged {
            return;
        }
        self.changes += 1;
        self.change_both(cable, watcher, |cable| cable.plugged = plugged);
    }

    /// Makes the direction of a cable that leads to `to` dead or live.
    pub fn set_dead(&mut self, to: WireEnd, dead: bool, watcher: &mut impl Watcher) {
        if let Some((cable, side)) = self.side(to) {
            self.changes += 1;
            self.change_both(cable, watcher, |cable| cable.directions[1 - side].dead = dead);
        }
    }

    /// Holds the line that leads to `to` low, or lets go of it.
    pub fn set_stuck(&mut self, to: WireEnd, stuck: bool, watcher: &mut impl Watcher) {
        if let Some((cable, side)) = self.side(to) {
            self.changes += 1;
            self.change_both(cable, watcher, |cable| cable.directions[1 - side].stuck_low = stuck);
        }
    }

    /// Gives the line that leads to `to` its own chance of a bit to be flipped; without one, that of all. What passes soon is no
    /// change of the mesh.
    pub fn set_noise(&mut self, to: WireEnd, bit_errors: Option<f64>, passes_soon: bool, watcher: &mut impl Watcher) {
        let noise = Noise {
            bit_errors: bit_errors.unwrap_or(self.build.noise.bit_errors),
            ..self.build.noise
        };
        if let Some((cable, side)) = self.side(to) {
            self.changes += u64::from(!passes_soon);
            self.change_both(cable, watcher, |cable| {
                cable.directions[1 - side].set_noise(noise, &mut cable.random);
            });
        }
    }

    /// Holds the line that leads to `to` low for a time: whatever bytes it touches arrive as zeros, and an idle line brings one.
    pub fn send_break(&mut self, to: WireEnd, length: Option<Nanos>, watcher: &mut impl Watcher) {
        let Some((cable, side)) = self.side(to) else { return };
        let length = length.unwrap_or(2 * self.byte_nanos);
        let until = self.now + length;
        self.changes += u64::from(length > PASSES_SOON);
        let from = self.cables[cable as usize].ends[1 - side];
        let idle = !self.is_sending(from);
        self.change_both(cable, watcher, |cable| {
            let direction = &mut cable.directions[1 - side];
            direction.low_until = direction.low_until.max(until);
            direction.long_break |= length > PASSES_SOON;
        });
        if idle && self.cables[cable as usize].plugged {
            self.deliver(to, &[0], watcher);
        }
        self.agenda.plan(until, Occasion::Released(cable, side as u8));
    }

    /// What a break has touched until its end arrives as zeros, with the byte that is under way.
    pub(super) fn release(&mut self, cable: u32, side: usize, watcher: &mut impl Watcher) {
        if self.cables[cable as usize].directions[1 - side].low_until == 0 {
            return; // It was restored meanwhile.
        }
        let from = self.cables[cable as usize].ends[1 - side];
        if self.is_sending(from) {
            let touched = self.passed(from) + 1;
            self.carry(from, touched, watcher);
        }
        let direction = &mut self.cables[cable as usize].directions[1 - side];
        if direction.low_until <= self.now {
            self.changes += u64::from(std::mem::take(&mut direction.long_break));
        }
    }

    /// Whether two boards that are on can talk to each other over a cable, and are neighbors.
    fn joins(&self, cable: &Cable) -> bool {
        let [a, b] = cable.ends.map(|(board, _)| board);
        let whole = cable.plugged && cable.directions.iter().all(|direction| direction.is_whole(self.now));
        let neighbors = || self.build.network.port_to(u64::from(a), u64::from(b));
        whole && self.node(a).is_some() && self.node(b).is_some() && neighbors().is_ok_and(|port| port.is_some())
    }

    /// Whether some cable damages more than every other of the longest frames.
    pub fn has_bad_cables(&self) -> bool {
        self.cables.iter().any(Cable::is_bad)
    }

    /// The parts of the mesh that are connected, by the lowest board of each: of every board, which part it is in. Bad cables count
    /// only if said so.
    pub fn parts(&self, with_bad: bool) -> Vec<u32> {
        let mut part: Vec<u32> = (0..self.boards()).collect();
        fn root(part: &mut [u32], mut board: u32) -> u32 {
            while part[board as usize] != board {
                let above = part[part[board as usize] as usize];
                part[board as usize] = above;
                board = above;
            }
            board
        }
        for cable in self.cables.iter().filter(|cable| with_bad || !cable.is_bad()) {
            if self.joins(cable) {
                let [a, b] = cable.ends.map(|(board, _)| root(&mut part, board));
                part[a.max(b) as usize] = a.min(b);
            }
        }
        (0..self.boards()).map(|board| root(&mut part, board)).collect()
    }

    pub fn swap(&mut self, a: WireEnd, b: WireEnd, watcher: &mut impl Watcher) {
        let (Some((cable_a, side_a)), Some((cable_b, side_b))) = (self.side(a), self.side(b)) else {
            return;
        };
        self.changes += 1;
        self.change_both(cable_a, watcher, |_| ());
        self.change_both(cable_b, watcher, |_| ());
        let far_ends = [(cable_a, side_a), (cable_b, side_b)].map(|(cable, side)| self.ends(cable)[1 - side]);
        self.cables[cable_a as usize].ends[side_a] = b;
        self.cables[cable_b as usize].ends[side_b] = a;
        self.boards[a.0 as usize].cables[usize::from(a.1)] = Some(cable_b);
        self.boards[b.0 as usize].cables[usize::from(b.1)] = Some(cable_a);
        // What has not left yet of the frames under way comes out elsewhere.
        for from in [a, b].into_iter().chain(far_ends) {
            if let Some((cable, side)) = self.side(from).filter(|_| self.is_sending(from)) {
                watcher.redirected(from, self.ends(cable)[1 - side]);
            }
        }
    }

    /// Undoes whatever was done to cables, and takes faulty nodes away. Returns the machines to start.
    pub fn restore(&mut self, watcher: &mut impl Watcher) -> Vec<u32> {
        self.build.noise = Noise::default();
        for cable in 0..self.cables.len() {
            for side in [0, 1] {
                let (end, laid) = (self.cables[cable].ends[side], self.cables[cable].laid[side]);
                if end != laid {
                    self.swap(end, laid, watcher);
                }
                self.set_dead(laid, false, watcher);
                self.set_stuck(laid, false, watcher);
                self.set_noise(laid, None, false, watcher);
            }
            for direction in &mut self.cables[cable].directions {
                (direction.low_until, direction.long_break) = (0, false);
            }
            self.changes += 1;
            self.cables[cable].tap = None;
            self.plug(cable as u32, true, watcher);
        }
        for faulty in std::mem::take(&mut self.build.faulty_boards) {
            self.stop(faulty.node as u32, watcher);
        }
        (0..self.boards.len() as u32)
            .filter(|&board| !self.is_on(board))
            .collect()
    }

    /// An end of a cable between boards whose link takes no packets: it is down, or went down too often.
    pub fn first_link_down(&self) -> Option<WireEnd> {
        let open = |&(board, link): &WireEnd| {
            let link = self.node(board).and_then(|node| node.links().get(usize::from(link)));
            link.is_some_and(|link| link.is_open())
        };
        let wires = self.cables.iter().take(self.wires as usize);
        wires.flat_map(|cable| cable.ends).find(|end| !open(end))
    }

    /// The cable at a link, and which of its ends that is.
    pub(super) fn side(&self, from: WireEnd) -> Option<(u32, usize)> {
        let cable = self.cable_at(from)?;
        let side = self.cables[cable as usize].ends.iter().position(|&end| end == from)?;
        Some((cable, side))
    }

    /// Changes a cable in the midst of what it carries: what has passed arrives, the rest fares as the change has it.
    fn change_both(&mut self, cable: u32, watcher: &mut impl Watcher, change: impl FnOnce(&mut Cable)) {
        let ends = self.cables[cable as usize].ends;
        for from in ends {
            let passed = self.passed(from);
            if passed > 0 {
                self.carry(from, passed, watcher);
            }
        }
        change(&mut self.cables[cable as usize]);
    }

    fn is_sending(&self, (board, link): WireEnd) -> bool {
        self.boards[board as usize].busy & only(link) != 0
    }

    /// Bytes of the frame in transit that have left and not arrived.
    fn passed(&self, from: WireEnd) -> usize {
        if !self.is_sending(from) {
            return 0;
        }
        let transmitter = &self.boards[from.0 as usize].transmitters[usize::from(from.1)];
        let passed = (self.now - transmitter.started) / self.byte_nanos;
        (passed as usize)
            .min(transmitter.length)
            .saturating_sub(transmitter.missed)
    }

    /// A board goes off: the rest of what it sends never comes.
    pub(super) fn break_off(&mut self, end: WireEnd) {
        if self.is_sending(end) {
            let transmitter = &mut self.boards[end.0 as usize].transmitters[usize::from(end.1)];
            let passed = ((self.now - transmitter.started) / self.byte_nanos) as usize;
            transmitter.length = transmitter.length.min(passed);
        }
    }
}
