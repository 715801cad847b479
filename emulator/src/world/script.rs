//! What happens to wires and boards, and when: read from a script or drawn from a seed.
//!
//! A script has one event a line, `TIME WHAT WHERE [HOW MUCH]`; `#` begins a comment:
//!
//! ```text
//! 1.5s   cut      3.USART1        # both conductors of the wire at that port
//! 2s     plug     3.USART1        # whole again
//! 2s     one-way  3.USART1        # what is sent to this port is lost
//! 2.2s   swap     3.USART1 4.UART5   # the plugs at two ports are exchanged
//! 2.3s   plug     3.USART1 5.USART6  # the far end of the wire at 3.USART1 goes to the free port 5.USART6
//! 2.5s   reverse  3.USART1        # TX on TX and RX on RX: nothing arrives anywhere
//! 3s     stuck    3.USART1        # this port sees a low level
//! 3s     noise    3.USART1 1e-4   # the chance of a bit to be inverted on the way to this port
//! 3.5s   quiet    3.USART1        # no longer
//! 4s     burst    3.USART1 2ms    # nothing but noise for that time
//! 5s     press    3               # the button
//! 5.1s   release  3
//! 5.5s   press    3 for 100ms     # both
//! 6s     reset    3
//! ```

use std::fmt;

use super::conductor::Port;
use crate::chip::UART_NAMES;
use crate::hash::mix;
use crate::time::{MICROSECOND, MILLISECOND, SECOND, Time};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Both conductors of the wire at a port break.
    Cut(Port),
    /// The wire at a port is whole again.
    Plug(Port),
    /// The conductor towards a port breaks.
    OneWay(Port),
    /// The far end of the wire at the first port goes to the second, which is free.
    PlugInto(Port, Port),
    /// The plugs at two ports are exchanged.
    Swap(Port, Port),
    /// The wire is plugged in the wrong way round.
    Reverse(Port),
    /// The conductor towards a port is held low.
    Stuck(Port),
    /// Each bit towards a port is inverted with this chance.
    Noise(Port, f64),
    /// No longer.
    Quiet(Port),
    /// Each bit towards a port is random for a time.
    Burst(Port, Time),
    /// The button of a board is pressed.
    Press(usize),
    /// And let go.
    Release(usize),
    /// The reset button of a board.
    Reset(usize),
}

/// Events in the order of their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    events: Vec<(Time, Action)>,
}

/// A line that is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Events in any order; those of one time happen in the order given.
    pub fn new(mut events: Vec<(Time, Action)>) -> Self {
        events.sort_by_key(|event| event.0);
        Script { events }
    }

    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut events = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or("");
            let words: Vec<&str> = line.split_whitespace().collect();
            if !words.is_empty() {
                events.extend(parse_event(&words).map_err(|reason| ScriptError { line: number, reason })?);
            }
        }
        Ok(Script::new(events))
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

/// Reads a time such as `1.5s`, `20ms` or `300us`.
pub fn parse_time(text: &str) -> Result<Time, String> {
    let wrong = || format!("'{text}' is no time such as 1.5s, 20ms or 300us");
    let units = [("ms", MILLISECOND), ("us", MICROSECOND), ("s", SECOND)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
        .ok_or_else(wrong)?;
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let time = number * unit as f64;
    if time.is_finite() && (0.0..1e18).contains(&time) {
        Ok(time as Time)
    } else {
        Err(wrong())
    }
}

fn parse_board(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("'{text}' is no board number"))
}

/// Reads a port such as `3.USART1`.
pub fn parse_port(text: &str) -> Result<Port, String> {
    let wrong = || format!("'{text}' is no port such as 3.USART1");
    let (board, name) = text.split_once('.').ok_or_else(wrong)?;
    let uart = UART_NAMES
        .iter()
        .position(|known| known.eq_ignore_ascii_case(name))
        .ok_or_else(wrong)?;
    Ok(Port {
        board: parse_board(board)?,
        uart,
    })
}

/// The events of one line.
fn parse_event(words: &[&str]) -> Result<Vec<(Time, Action)>, String> {
    let [time, what, place, how_much @ ..] = words else {
        return Err("an event is TIME WHAT WHERE [HOW MUCH]".into());
    };
    let time = parse_time(time)?;
    let action = match (*what, how_much) {
        ("cut", []) => Action::Cut(parse_port(place)?),
        ("plug", []) => Action::Plug(parse_port(place)?),
        ("one-way", []) => Action::OneWay(parse_port(place)?),
        ("plug", [to]) => Action::PlugInto(parse_port(place)?, parse_port(to)?),
        ("swap", [other]) => Action::Swap(parse_port(place)?, parse_port(other)?),
        ("reverse", []) => Action::Reverse(parse_port(place)?),
        ("stuck", []) => Action::Stuck(parse_port(place)?),
        ("quiet", []) => Action::Quiet(parse_port(place)?),
        ("noise", [chance]) => Action::Noise(parse_port(place)?, parse_chance(chance)?),
        ("burst", [length]) => Action::Burst(parse_port(place)?, parse_time(length)?),
        ("press", ["for", length]) => {
            let board = parse_board(place)?;
            let end = time.saturating_add(parse_time(length)?);
            return Ok(vec![(time, Action::Press(board)), (end, Action::Release(board))]);
        }
        ("press", []) => Action::Press(parse_board(place)?),
        ("release", []) => Action::Release(parse_board(place)?),
        ("reset", []) => Action::Reset(parse_board(place)?),
        ("swap", _) => return Err("swap needs two ports".into()),
        ("noise", _) => return Err("noise needs a chance such as 1e-4".into()),
        ("burst", _) => return Err("burst needs a length such as 2ms".into()),
        (what, []) => return Err(format!("'{what}' is nothing that can happen")),
        (what, _) => return Err(format!("'{what}' with too many words")),
    };
    Ok(vec![(time, action)])
}

fn parse_chance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(chance) if (0.0..=1.0).contains(&chance) => Ok(chance),
        _ => Err(format!("'{text}' is no chance between 0 and 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_and_ordered() {
        let script = Script::parse("2s plug 3.usart1\n\n1.5s cut 3.USART1 # ouch\n10ms noise 0.UART5 1e-3\n").unwrap();
        let port = Port { board: 3, uart: 0 };
        assert_eq!(
            script.events(),
            [
                (10 * MILLISECOND, Action::Noise(Port { board: 0, uart: 4 }, 1e-3)),
                (1500 * MILLISECOND, Action::Cut(port)),
                (2 * SECOND, Action::Plug(port)),
            ]
        );
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        for (text, reason) in [
            ("1s cut", "line 1: an event is TIME WHAT WHERE [HOW MUCH]"),
            ("\n1 cut 0.USART1", "line 2: '1' is no time such as 1.5s, 20ms or 300us"),
            ("1s cut 0.USART9", "line 1: '0.USART9' is no port such as 3.USART1"),
            ("1s swap 0.USART1", "line 1: swap needs two ports"),
            (
                "1s press 0 for ever",
                "line 1: 'ever' is no time such as 1.5s, 20ms or 300us",
            ),
            ("1s cut 0.USART1 now", "line 1: 'cut' with too many words"),
            ("1s melt 0.USART1", "line 1: 'melt' is nothing that can happen"),
            ("1s noise 0.USART1 2", "line 1: '2' is no chance between 0 and 1"),
            ("-1s reset 0", "line 1: '-1s' is no time such as 1.5s, 20ms or 300us"),
            ("infs reset 0", "line 1: 'infs' is no time such as 1.5s, 20ms or 300us"),
        ] {
            assert_eq!(Script::parse(text).unwrap_err().to_string(), reason);
        }
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
