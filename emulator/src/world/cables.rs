//! All wires: which port is connected to which, and how that changes.

use std::collections::{BTreeMap, BTreeSet};

use super::conductor::{Condition, Conductor, Port};
use super::script::{Action, Script};
use crate::chip::UARTS;
use crate::chip::wave::Wave;
use crate::time::Time;

/// A wire that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentences say what they are")]
pub enum BadWire {
    #[error("there is no port {0}")]
    NoSuchPort(Port),
    #[error("port {0} already has a wire")]
    Taken(Port),
    #[error("there is no wire at port {0}")]
    NoWire(Port),
    #[error("there is no board {0}")]
    NoSuchBoard(usize),
}

/// What arrives, with the port that sees it.
pub(super) type Arrivals = Vec<(Port, Wave)>;

/// The wires of a world. A wire is two conductors, one from each end; both know the other end.
#[derive(Default, Hash)]
pub(super) struct Cables {
    /// By the port that they begin at; `None` where no wire ever is.
    conductors: Vec<[Option<Conductor>; UARTS]>,
}

impl Cables {
    pub(super) fn add_board(&mut self) {
        self.conductors.push(Default::default());
    }

    fn conductor(&mut self, from: Port) -> Option<&mut Conductor> {
        self.conductors.get_mut(from.board)?.get_mut(from.uart)?.as_mut()
    }

    pub(super) fn far_end(&self, port: Port) -> Option<Port> {
        self.conductors.get(port.board)?.get(port.uart)?.as_ref()?.to
    }

    pub(super) fn ports(&self) -> impl Iterator<Item = Port> {
        let places = (0..self.conductors.len()).flat_map(|board| (0..UARTS).map(move |uart| Port { board, uart }));
        places.filter(|port| self.far_end(*port).is_some())
    }

    /// Lays a wire between two ports that exist and are free.
    pub(super) fn lay(&mut self, a: Port, b: Port) {
        for (from, to) in [(a, b), (b, a)] {
            self.conductors[from.board][from.uart] = Some(Conductor::new(Some(to)));
        }
    }

    /// Prepares a port for a wire that will be plugged in later.
    pub(super) fn prepare(&mut self, port: Port) {
        self.conductors[port.board][port.uart].get_or_insert_with(|| Conductor::new(None));
    }

    /// Whether a port is prepared for a wire, or has one.
    pub(super) fn is_prepared(&self, port: Port) -> bool {
        self.conductors[port.board][port.uart].is_some()
    }

    /// Takes what a port has put out. Returns where it arrives, if it does.
    pub(super) fn carry(&mut self, waves: &[(Port, Wave)], now: Time) -> Option<Port> {
        let conductor = self.conductor(waves.first()?.0)?;
        let arrives = conductor.carry(waves.iter().map(|(_, wave)| *wave), now);
        conductor.to.filter(|_| arrives)
    }

    /// Changes what the conductors toward a port and away from it do.
    pub(super) fn set(
        &mut self,
        port: Port,
        toward: Option<Condition>,
        away: Option<Condition>,
        now: Time,
        seen: &mut Arrivals,
    ) {
        let from_far = self.far_end(port).zip(toward);
        for (from, condition) in from_far.into_iter().chain(away.map(|condition| (port, condition))) {
            self.set_one(from, condition, now, seen);
        }
    }

    fn set_one(&mut self, from: Port, condition: Condition, now: Time, seen: &mut Arrivals) {
        if let Some(conductor) = self.conductor(from) {
            let (to, waves) = (conductor.to, conductor.set_condition(condition, now));
            seen.extend(to.into_iter().flat_map(|to| waves.iter().map(move |wave| (to, *wave))));
        }
    }

    /// Leads a conductor somewhere else; its old end is left with nothing, which is a high level.
    fn lead(&mut self, from: Port, to: Option<Port>, now: Time, seen: &mut Arrivals) {
        if let Some(conductor) = self.conductor(from) {
            let old = std::mem::replace(&mut conductor.to, to);
            seen.extend(old.map(|old| (old, Wave::level(now, true))));
        }
    }

    /// Exchanges the plugs at two ports: each wire keeps its other end and its faults.
    pub(super) fn swap(&mut self, a: Port, b: Port, now: Time, seen: &mut Arrivals) {
        let (Some(far_a), Some(far_b)) = (self.far_end(a), self.far_end(b)) else {
            return;
        };
        if far_a == b {
            return;
        }
        let condition =
            |cables: &mut Self, port| cables.conductor(port).map_or(Condition::Whole, |found| found.condition);
        let moved = [
            (a, far_b, condition(self, b)),
            (b, far_a, condition(self, a)),
            (far_a, b, condition(self, far_a)),
            (far_b, a, condition(self, far_b)),
        ];
        for (from, to, _) in moved {
            self.lead(from, Some(to), now, seen);
        }
        for (from, _, condition) in moved {
            self.set_one(from, condition, now, seen);
        }
    }

    /// Takes the far end of the wire at `port` to `to`, which is free; without a wire at `port` a new one is laid.
    pub(super) fn plug(&mut self, port: Port, to: Port, now: Time, seen: &mut Arrivals) {
        if let Some(far) = self.far_end(port).filter(|far| *far != to) {
            self.lead(far, None, now, seen);
        }
        for (from, to) in [(port, to), (to, port)] {
            self.lead(from, Some(to), now, seen);
        }
        for from in [port, to] {
            self.set_one(from, Condition::Whole, now, seen);
        }
    }

    /// Leads one conductor to a port, or away.
    pub(super) fn join(&mut self, from: Port, to: Option<Port>, now: Time, seen: &mut Arrivals) {
        self.lead(from, to, now, seen);
        self.set_one(from, Condition::Whole, now, seen);
    }

    /// Whether every event of a script is about a wire or board that there is at that time. Returns the ports that it
    /// plugs wires into.
    pub(super) fn check(&self, script: &Script, is_free: impl Fn(Port) -> bool) -> Result<Vec<Port>, BadWire> {
        let boards = self.conductors.len();
        let end = |port| Some((port, self.far_end(port)?));
        let mut ends: BTreeMap<Port, Port> = self.ports().filter_map(end).collect();
        // Ports that are or become free of wires; any other port that is in use is connected to the host.
        let mut known: BTreeSet<Port> = ends.keys().copied().collect();
        let mut plugged = Vec::new();
        for (_, action) in script.events() {
            match *action {
                Action::Press(board)
                | Action::Release(board)
                | Action::Reset(board)
                | Action::Brownout(board, _)
                | Action::Off(board)
                | Action::On(board) => {
                    if board >= boards {
                        return Err(BadWire::NoSuchBoard(board));
                    }
                }
                Action::PlugInto(port, to) => {
                    for end in [port, to] {
                        if end.board >= boards || end.uart >= UARTS || port == to {
                            return Err(BadWire::NoSuchPort(end));
                        }
                        if !known.contains(&end) && !is_free(end) {
                            return Err(BadWire::Taken(end));
                        }
                    }
                    if ends.get(&to).is_some_and(|far| *far != port) {
                        return Err(BadWire::Taken(to));
                    }
                    if let Some(far) = ends.get(&port).copied() {
                        ends.remove(&far);
                    }
                    ends.extend([(port, to), (to, port)]);
                    known.extend([port, to]);
                    plugged.extend([port, to]);
                }
                Action::Swap(a, b) => {
                    let (far_a, far_b) = (wired(&ends, a)?, wired(&ends, b)?);
                    if far_a != b {
                        ends.extend([(a, far_b), (far_b, a), (b, far_a), (far_a, b)]);
                    }
                }
                Action::Cut(port)
                | Action::Plug(port)
                | Action::Reverse(port)
                | Action::OneWay(port)
                | Action::BothWays(port)
                | Action::Stuck(port)
                | Action::Noise(port, _)
                | Action::NoiseAbove(port, ..)
                | Action::Quiet(port)
                | Action::Burst(port, _) => {
                    wired(&ends, port)?;
                }
            }
        }
        Ok(plugged)
    }
}

fn wired(ends: &BTreeMap<Port, Port>, port: Port) -> Result<Port, BadWire> {
    ends.get(&port).copied().ok_or(BadWire::NoWire(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(board: usize) -> Port {
        Port { board, uart: 0 }
    }

    /// Wires 0-1 and 2-3, and a free port 4.
    fn cables() -> Cables {
        let mut cables = Cables::default();
        (0..5).for_each(|_| cables.add_board());
        cables.lay(port(0), port(1));
        cables.lay(port(2), port(3));
        cables.prepare(port(4));
        cables
    }

    fn ends(cables: &Cables) -> Vec<(usize, usize)> {
        let boards = |port: Port| Some((port.board, cables.far_end(port)?.board));
        cables.ports().filter_map(boards).collect()
    }

    #[test]
    fn swapped_plugs_lead_to_the_other_board_and_back() {
        let mut cables = cables();
        let mut seen = Vec::new();
        cables.swap(port(0), port(2), 10, &mut seen);
        assert_eq!(ends(&cables), [(0, 3), (1, 2), (2, 1), (3, 0)]);
        let wave = Wave::level(20, false);
        assert_eq!(cables.carry(&[(port(0), wave)], 15), Some(port(3)));
        cables.swap(port(0), port(2), 30, &mut seen);
        assert_eq!(ends(&cables), [(0, 1), (1, 0), (2, 3), (3, 2)]);
        cables.swap(port(0), port(1), 40, &mut seen);
        let found = ends(&cables);
        assert_eq!(found, [(0, 1), (1, 0), (2, 3), (3, 2)], "the two ends of one wire");
    }

    #[test]
    fn a_cut_wire_stays_cut_wherever_its_plug_goes() {
        let mut cables = cables();
        let mut seen = Vec::new();
        let cut = Some(Condition::Cut);
        cables.set(port(0), cut, cut, 5, &mut seen);
        cables.swap(port(0), port(2), 10, &mut seen);
        // The cut wire is at 1 and now at 2; the whole one at 3 and now at 0.
        let wave = Wave::level(20, false);
        for (from, to, arrives) in [(0, 3, true), (3, 0, true), (1, 2, false), (2, 1, false)] {
            assert_eq!(cables.carry(&[(port(from), wave)], 15), arrives.then_some(port(to)));
        }
    }

    #[test]
    fn the_rest_of_a_frame_goes_to_the_new_place() {
        let mut cables = cables();
        let frame: Vec<_> = [(100, false), (200, true), (300, false), (400, true)]
            .map(|(at, level)| Wave::level(at, level))
            .to_vec();
        frame.iter().for_each(|wave| _ = cables.carry(&[(port(0), *wave)], 90));
        let mut seen = Vec::new();
        cables.plug(port(0), port(4), 150, &mut seen);
        assert_eq!(ends(&cables), [(0, 4), (2, 3), (3, 2), (4, 0)]);
        let at = |number| -> Vec<_> {
            let here = seen.iter().filter(|(to, _)| *to == port(number));
            here.map(|(_, wave)| *wave).collect()
        };
        assert_eq!(at(1), [Wave::level(150, true)], "the old end sees the wire go");
        let rest = [(150, false), (200, true), (300, false), (400, true)];
        assert_eq!(at(4), rest.map(|(at, level)| Wave::level(at, level)));
        assert_eq!(cables.carry(&[(port(1), frame[0])], 160), None);
    }

    #[test]
    fn a_script_is_checked_against_the_wires_of_its_time() {
        let cables = cables();
        let check = |actions: &[Action]| {
            let script = Script::new((1..).zip(actions.iter().copied()).collect());
            cables
                .check(&script, |port| port.board == 4)
                .map_err(|error| error.to_string())
        };
        let (swap, plug) = (Action::Swap(port(0), port(2)), Action::PlugInto(port(0), port(4)));
        assert_eq!(check(&[swap, Action::Cut(port(1))]), Ok(vec![]));
        assert_eq!(check(&[plug, Action::Cut(port(4))]), Ok(vec![port(0), port(4)]));
        let other = Port { board: 3, uart: 3 };
        for (actions, sentence) in [
            (
                &[plug, Action::BothWays(port(1))][..],
                "there is no wire at port 1.USART1",
            ),
            (
                &[Action::PlugInto(port(0), port(2))],
                "port 2.USART1 already has a wire",
            ),
            (&[Action::PlugInto(port(0), other)], "port 3.UART4 already has a wire"),
            (&[Action::Swap(port(0), port(4))], "there is no wire at port 4.USART1"),
            (&[Action::PlugInto(port(0), port(9))], "there is no port 9.USART1"),
            (&[Action::PlugInto(port(0), port(0))], "there is no port 0.USART1"),
            (&[Action::Reset(5)], "there is no board 5"),
        ] {
            assert_eq!(check(actions), Err(sentence.to_string()), "{actions:?}");
        }
    }
}
