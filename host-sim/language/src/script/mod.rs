//! What happens to boards and cables, and when.
//!
//! A script has one event a line, `TIME WHAT WHERE [HOW MUCH]`; `#` begins a comment, and `;` separates events on one line. A
//! place is a board, `3`, or one of its ports, by which the cable there and its direction towards that port are named: by
//! number, `3.0`, or, where boards have serial ports, by name, `3.USART1`.
//!
//! ```text
//! 1.5s   cut        3.0        # the cable is pulled
//! 2s     plug       3.0        # and plugged in again, whole whatever was wrong with it
//! 2s     one-way    3.0        # what is sent to this port is lost
//! 2.2s   both-ways  3.0        # it arrives again
//! 2.3s   plug       3.0 5.USART6   # the far end of the cable at 3.0 goes to a free serial port
//! 2.5s   reverse    3.0        # TX on TX and RX on RX: nothing arrives anywhere
//! 3s     stuck      3.0        # this port sees a low level; until both-ways or plug
//! 3s     break      3.0        # for two byte times only
//! 3s     break      3.0 2ms    # or for that time
//! 3s     noise      3.0 1e-4   # the chance of a bit to be inverted on its way to this port
//! 3.5s   quiet      3.0        # no longer
//! 3.6s   burst      3.0 2ms    # nothing but noise for that time
//! 4s     swap       3.0 4.1    # the plugs at two ports are exchanged
//! 5s     reset      3          # the board restarts
//! 6s     off        3          # the board is dead
//! 7s     on         3          # and comes back
//! 6s     off        3 for 200ms    # both
//! 7s     off        3,4,5      # several; also on and reset
//! 7.5s   on         all        # every board; also off and reset
//! 8s     press      3          # the button
//! 8.1s   release    3
//! 8.5s   press      3 for 100ms    # both
//! ```
//!
//! Who plays a script does what there is to do it to and [refuses](Script::resolve) the rest.

mod action;
mod place;
mod read;

use std::fmt;

use action::EVERY;
pub use action::{Action, Power};
use hopwise_core::Network;
pub use place::{NoSuchPlace, PortName, PortOf, check_board, check_port};
pub use read::{ScriptError, on_one_line};
use read::{events_of, parse_event};

use crate::Time;

/// A word is an event for each of a million boards.
const MAX_EVENTS: u64 = 4_000_000;

#[derive(Clone, Debug, PartialEq)]
pub struct ScriptEvent<P> {
    pub at: Time,
    pub action: Action<P>,
    /// The line that says so, from 1.
    line: usize,
}

/// Events in the order of their times, those of one time as they were given. Ports are names until they are
/// [resolved](Self::resolve).
#[derive(Clone, Debug, PartialEq)]
pub struct Script<P = PortName> {
    events: Vec<ScriptEvent<P>>,
}

impl<P> Default for Script<P> {
    fn default() -> Self {
        Script { events: Vec::new() }
    }
}

/// Who plays a script.
pub trait Stage {
    type Port;

    /// Where that is: "in a simulation".
    const NAME: &'static str;

    fn can<P>(action: &Action<P>) -> bool;

    fn network(&self) -> &Network;

    fn port(&self, name: PortName) -> Result<Self::Port, NoSuchPlace>;
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut events = Vec::new();
        for (line, event) in events_of(text) {
            let words: Vec<&str> = event.split_whitespace().collect();
            let parsed = parse_event(&words).map_err(|reason| ScriptError { line, reason })?;
            events.extend(parsed.into_iter().map(|(at, action)| ScriptEvent { at, action, line }));
        }
        Ok(Script::sorted(events))
    }

    /// The script for who plays it, who must be able to do what it says where it says so.
    pub fn resolve<S: Stage>(self, stage: &S) -> Result<Script<S::Port>, ScriptError> {
        let resolved = |ScriptEvent { at, action, line }: ScriptEvent<PortName>| {
            let wrong = |reason| ScriptError { line, reason };
            if !S::can(&action) {
                let (word, stage, able) = (action.word(), S::NAME, able::<S>());
                return Err(wrong(format!("'{word}' cannot happen {stage}; what can is {able}")));
            }
            if let Some(node) = action.board() {
                check_board(stage.network(), node).map_err(|place| wrong(place.0))?;
            }
            let action = action.at(|name| stage.port(name)).map_err(|place| wrong(place.0))?;
            Ok(ScriptEvent { at, action, line })
        };
        let nodes = stage.network().nodes();
        let mut left = MAX_EVENTS;
        for event in &self.events {
            let is_all = matches!(event.action, Action::All(_));
            let count = if is_all { nodes } else { 1 };

            left = left.checked_sub(count).ok_or_else(|| ScriptError {
                line: event.line,
                reason: format!("a script has at most {MAX_EVENTS} events, of which 'all' is one for each board"),
            })?;
        }
        let each = |event: ScriptEvent<PortName>| match event.action {
            Action::All(power) => {
                let at_node = |node| ScriptEvent {
                    action: power.at(node),
                    ..event.clone()
                };
                (0..nodes).map(at_node).collect()
            }
            _ => vec![event],
        };
        let events = self.events.into_iter().flat_map(each).map(resolved);
        let events = events.collect::<Result<_, _>>()?;
        Ok(Script { events })
    }
}

impl<P> Script<P> {
    pub fn with_ports<Q, E>(self, mut place: impl FnMut(P) -> Result<Q, E>) -> Result<Script<Q>, E> {
        let moved = |ScriptEvent { at, action, line }: ScriptEvent<P>| {
            let action = action.at(&mut place)?;
            Ok(ScriptEvent { at, action, line })
        };
        let events = self.events.into_iter().map(moved).collect::<Result<_, E>>()?;
        Ok(Script { events })
    }

    /// Of events in any order.
    pub fn new(events: impl IntoIterator<Item = (Time, Action<P>)>) -> Self {
        let events = (1..).zip(events);
        let event = |(line, (at, action))| ScriptEvent { at, action, line };
        Script::sorted(events.map(event).collect())
    }

    fn sorted(mut events: Vec<ScriptEvent<P>>) -> Self {
        events.sort_by_key(|event| event.at);
        Script { events }
    }

    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.events.extend(other.events);
        Script::sorted(self.events)
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub fn events(&self) -> &[ScriptEvent<P>] {
        &self.events
    }
}

impl<P: fmt::Display> fmt::Display for Script<P> {
    /// On one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, event) in self.events.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(f, "{separator}{} {}", event.at, event.action)?;
        }
        Ok(())
    }
}

/// The words for what someone can do.
fn able<S: Stage>() -> String {
    let mut words: Vec<&str> = EVERY.iter().filter(|action| S::can(action)).map(Action::word).collect();
    words.dedup();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use hopwise_core::Node;
    use hopwise_testing::rows;

    use super::*;

    /// A mesh whose boards have ports by number only, and that can be cut and switched off.
    struct Plain(Network);

    impl Stage for Plain {
        type Port = (Node, u64);

        const NAME: &'static str = "here";

        fn can<P>(action: &Action<P>) -> bool {
            matches!(action, Action::Cut(_) | Action::Noise(..) | Action::Off(_))
        }

        fn network(&self) -> &Network {
            &self.0
        }

        fn port(&self, name: PortName) -> Result<(Node, u64), NoSuchPlace> {
            match name.port {
                PortOf::Number(port) => check_port(&self.0, name.node, port),
                PortOf::Uart(_) => Err(NoSuchPlace::unnamed(name)),
            }
        }
    }

    fn mesh() -> Plain {
        Plain("rdn(ring(3),1)".parse().unwrap())
    }

    fn port(node: Node, port: u64) -> PortName {
        PortName {
            node,
            port: PortOf::Number(port),
        }
    }

    fn uart(node: Node, name: &str) -> PortName {
        PortName {
            node,
            port: PortOf::Uart(name.into()),
        }
    }

    fn pairs<P: Clone>(script: &Script<P>) -> Vec<(u64, Action<P>)> {
        let pair = |event: &ScriptEvent<P>| (event.at.nanos() / 1_000_000, event.action.clone());
        script.events().iter().map(pair).collect()
    }

    #[test]
    fn events_are_read_and_ordered() {
        let text =
            "2s plug 3.usart1\n\n1.5s cut 3.2 # ouch; really\n10ms noise 0.UART5 1e-3; 3s off 17\n1s press 4 for 20ms";
        let script = Script::parse(text).unwrap();
        let expected = [
            (10, Action::Noise(uart(0, "UART5"), 1e-3)),
            (1_000, Action::Press(4)),
            (1_020, Action::Release(4)),
            (1_500, Action::Cut(port(3, 2))),
            (2_000, Action::Plug(uart(3, "USART1"))),
            (3_000, Action::Off(17)),
        ];
        assert_eq!(pairs(&script), expected);
        assert_eq!(pairs(&Script::parse(&on_one_line(text)).unwrap()), expected);
        let cut = Script::parse("1s off 3 for 200ms").unwrap();
        assert_eq!(pairs(&cut), [(1_000, Action::Off(3)), (1_200, Action::On(3))]);
        let both = Script::new([(Time::from_millis(5), Action::On(1))]).and(script);
        assert_eq!(both.events().len(), 7);
        assert_eq!(both.events()[0].action, Action::On(1));
    }

    #[test]
    fn every_word_is_read_as_it_is_written() {
        let text = "0s cut 3.0; 1s plug 3.0; 2s plug 3.0 5.USART6; 3s one-way 3.0; 4s both-ways 3.0; 5s reverse 3.0; \
                    6s stuck 3.0; 7s break 3.0; 8s noise 3.0 0.001; 9s quiet 3.0; 10s burst 3.0 2ms; 11s swap 3.0 4.1; \
                    12s reset 3; 13s off 3; 14s on 3; 15s press 3; 16s release 3; 17s brownout 3 50ms";
        let script = Script::parse(text).unwrap();
        assert_eq!(script.to_string(), text);
        let events = script.events().iter();
        let kinds: Vec<_> = events.map(|event| std::mem::discriminant(&event.action)).collect();
        assert_eq!(kinds.len(), EVERY.len());
        let is_new = |(place, kind)| !kinds[..place].contains(kind);
        assert!(kinds.iter().enumerate().all(is_new));
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        for (text, reason) in rows(include_str!("nonsense.txt")) {
            assert_eq!(Script::parse(&text).unwrap_err().to_string(), reason);
        }
    }

    #[test]
    fn who_plays_a_script_refuses_what_cannot_happen() {
        let resolve = |text: &str| Script::parse(text).unwrap().resolve(&mesh());
        let script = resolve("1s off 3; 0s cut 17.2").unwrap();
        assert_eq!(pairs(&script), [(0, Action::Cut((17, 2))), (1_000, Action::Off(3))]);
        for (text, reason) in rows(
            r#"
            1s cut 0.0\n1s press 0 => line 2: 'press' cannot happen here; what can is cut, noise, off
            1s cut 0.USART1 => line 1: '0.USART1' is not a port such as 3.0
            1s cut 0.3 => line 1: rdn(ring(3),1): node 0 has ports 0 to 2, not 3
            1s cut 18.0 => line 1: rdn(ring(3),1): there is no node 18: the network has nodes 0 to 17
            1s off 18 => line 1: rdn(ring(3),1): there is no node 18: the network has nodes 0 to 17
            "#,
        ) {
            assert_eq!(resolve(&text).unwrap_err().to_string(), reason);
        }
    }

    #[test]
    fn several_boards_and_all_are_named_at_once() {
        let resolve = |text: &str| Script::parse(text).unwrap().resolve(&mesh()).unwrap();
        let off = |boards: &[Node]| -> Vec<_> { boards.iter().map(|&board| (1_000, Action::Off(board))).collect() };
        assert_eq!(pairs(&resolve("1s off 3,0,17")), off(&[3, 0, 17]));
        assert_eq!(pairs(&resolve("1s off all")), off(&(0..18).collect::<Vec<_>>()));
        let script = Script::parse("1s off 3,4; 2s on all; 3s reset all; 4s break 1.0 3ms").unwrap();
        let found = script.to_string();
        assert_eq!(found, "1s off 3; 1s off 4; 2s on all; 3s reset all; 4s break 1.0 3ms");
        let refusal = |text: &str| Script::parse(text).unwrap().resolve(&mesh()).unwrap_err().to_string();
        let found = refusal("1s on all");
        assert_eq!(found, "line 1: 'on' cannot happen here; what can is cut, noise, off");
        let large = Plain("ring(1000000)".parse().unwrap());
        let found = Script::parse(&"1s off all\n".repeat(5)).unwrap();
        let found = found.resolve(&large).unwrap_err();
        let why = "line 5: a script has at most 4000000 events, of which 'all' is one for each board";
        assert_eq!(found.to_string(), why);
        let wrong = Script::parse("1s off 3,x").unwrap_err().to_string();
        assert_eq!(wrong, "line 1: '3,x' is not a board number");
    }
}
