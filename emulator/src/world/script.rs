//! What happens to wires and boards, and when: given as a list, or drawn from a seed.

use super::conductor::Port;
use crate::hash::mix;
use crate::time::{MILLISECOND, SECOND, Time};

/// What can happen to wires, boards and their power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Both conductors of the wire at a port break.
    Cut(Port),
    /// The wire at a port is whole again.
    Plug(Port),
    /// The conductor toward a port breaks.
    OneWay(Port),
    /// It is whole again.
    BothWays(Port),
    /// The far end of the wire at the first port goes to the second, which is free.
    PlugInto(Port, Port),
    /// The plugs at two ports are exchanged.
    Swap(Port, Port),
    /// The wire is plugged in the wrong way round.
    Reverse(Port),
    /// The conductor toward a port is held low.
    Stuck(Port),
    /// Each bit toward a port is inverted with this chance.
    Noise(Port, f64),
    /// The same at rates above this one only: the wire is too long for them.
    NoiseAbove(Port, f64, u32),
    /// The noise ends.
    Quiet(Port),
    /// Each bit toward a port is random for a time.
    Burst(Port, Time),
    /// The button of a board is pressed.
    Press(usize),
    /// The button of a board is let go.
    Release(usize),
    /// The reset button of a board.
    Reset(usize),
    /// The supply of a board begins to fall, to nothing within a time. It runs until its power is switched off.
    Brownout(usize, Time),
    /// The power of a board fails.
    Off(usize),
    /// The power of a board comes back.
    On(usize),
}

/// Events in the order of their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    events: Vec<(Time, Action)>,
}

impl Script {
    /// Events in any order; those of one time happen in the order given.
    pub fn new(mut events: Vec<(Time, Action)>) -> Self {
        events.sort_by_key(|event| event.0);
        Script { events }
    }

    /// Faults drawn from a seed: every port is cut, disturbed or held low about `per_second` times in each second up
    /// to `until`, for 1 to 100 ms each.
    pub fn random(seed: u64, ports: &[Port], per_second: f64, until: Time) -> Self {
        let mut state = mix(seed);
        let mut draw = |below: u64| {
            state = mix(state);
            state % below.max(1)
        };
        let wanted = per_second * ports.len() as f64 * until as f64 / SECOND as f64;
        let mut events = Vec::new();
        for _ in 0..wanted.clamp(0.0, 1e6) as u64 {
            let port = ports[draw(ports.len() as u64) as usize];
            let begin = draw(until);
            let end = begin + MILLISECOND + draw(99 * MILLISECOND);
            let (fault, undo) = match draw(5) {
                0 => (Action::Cut(port), Action::Plug(port)),
                1 => (Action::OneWay(port), Action::Plug(port)),
                2 => (Action::Stuck(port), Action::Plug(port)),
                3 => (Action::Noise(port, 1e-3), Action::Quiet(port)),
                _ => (Action::Burst(port, (end - begin) / 10), Action::Quiet(port)),
            };
            events.extend([(begin, fault), (end, undo)]);
        }
        Script::new(events)
    }

    /// All events by time.
    pub fn events(&self) -> &[(Time, Action)] {
        &self.events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered() {
        let port = Port { board: 3, uart: 0 };
        let events = [
            (20, Action::Plug(port)),
            (10, Action::Cut(port)),
            (20, Action::Reset(3)),
        ];
        let ordered = [events[1], events[0], events[2]];
        assert_eq!(Script::new(events.to_vec()).events(), ordered);
    }

    #[test]
    fn a_seed_gives_one_script() {
        let ports = [Port { board: 0, uart: 0 }, Port { board: 1, uart: 2 }];
        let script = |seed| Script::random(seed, &ports, 5.0, 2 * SECOND);
        assert_eq!(script(1), script(1));
        assert_ne!(script(1), script(2));
        assert_eq!(script(1).events().len(), 40);
    }
}
