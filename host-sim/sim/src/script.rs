//! What happens to boards and cables, and when: the emulator's words, with ports by number.
//!
//! A script has one event a line, `TIME WHAT WHERE [HOW MUCH]`; `#` begins a comment, and `;` separates events on one line. A
//! place is a board, `3`, or one of its ports, `3.0`, by which the cable there and its direction towards that port are named:
//!
//! ```text
//! 1.5s   cut        3.0        # the cable is pulled
//! 2s     plug       3.0        # and plugged in again, whole whatever was wrong with it
//! 2s     one-way    3.0        # what is sent to this port is lost
//! 2.2s   both-ways  3.0        # it arrives again
//! 3s     stuck      3.0        # this port sees a low level; until both-ways or plug
//! 3s     break      3.0        # for two byte times only
//! 3s     noise      3.0 1e-4   # the chance of a bit to be inverted on the way to this port
//! 3.5s   quiet      3.0        # no longer
//! 4s     swap       3.0 4.1    # the plugs at two ports are exchanged
//! 5s     reset      3          # the board is off for 0.3 s
//! 6s     off        3          # the board is dead
//! 7s     on         3          # and comes back
//! ```

use std::fmt;

use hopwise_core::Network;

use super::settings::Time;
use super::wire::Nanos;
use super::world::End;

/// Something that happens to a board or a cable. A cable is named by one of its ends, a direction by where it leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// The cable is pulled.
    Cut(End),
    /// The cable is plugged in again, and whole.
    Plug(End),
    /// Nothing passes in this direction any more.
    OneWay(End),
    /// It does again.
    BothWays(End),
    /// The line is held low.
    Stuck(End),
    /// The line is low for two byte times.
    Break(End),
    /// Each bit is inverted with this chance.
    Noise(End, f64),
    /// No longer.
    Quiet(End),
    /// The plugs at two links are exchanged.
    Swap(End, End),
    /// The board restarts.
    Reset(u32),
    /// The board goes off.
    Off(u32),
    /// The board comes on.
    On(u32),
}

/// Actions in the order of their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script(Vec<(Nanos, Action)>);

/// A line that is no event of a network's boards and cables.
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
    /// Reads a script for a network.
    pub fn parse(text: &str, network: &Network) -> Result<Self, ScriptError> {
        let mut events = Vec::new();
        for (line, event) in events_of(text) {
            let words: Vec<&str> = event.split_whitespace().collect();
            events.push(parse_event(&words, network).map_err(|reason| ScriptError { line, reason })?);
        }
        Ok(Script::new(events))
    }

    /// Of events in any order; those of one time happen in the order given.
    pub fn new(mut events: Vec<(Nanos, Action)>) -> Self {
        events.sort_by_key(|&(at, _)| at);
        Script(events)
    }

    /// Both scripts as one.
    pub fn and(self, other: Script) -> Self {
        Script::new([self.0, other.0].concat())
    }

    /// Whether nothing happens.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all is done, for good, at a time.
    pub fn is_over_by(&self, time: Nanos) -> bool {
        let lasting = |action| !matches!(action, Action::Reset(_) | Action::Break(_));
        self.0.iter().all(|&(at, action)| at <= time && lasting(action))
    }

    /// What happens, and when.
    pub fn events(&self) -> &[(Nanos, Action)] {
        &self.0
    }
}

/// A script on one line.
pub fn on_one_line(text: &str) -> String {
    let events: Vec<&str> = events_of(text).map(|(_, event)| event).collect();
    events.join("; ")
}

/// The events of a text, with their lines.
fn events_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines());
    let uncommented = lines.map(|(number, line)| (number, line.split('#').next().unwrap_or("")));
    let events = uncommented.flat_map(|(number, line)| line.split(';').map(move |event| (number, event.trim())));
    events.filter(|(_, event)| !event.is_empty())
}

fn parse_event(words: &[&str], network: &Network) -> Result<(Nanos, Action), String> {
    let [time, what, place, how_much @ ..] = words else {
        return Err("an event is TIME WHAT WHERE [HOW MUCH]".into());
    };
    let Time(time) = time.parse()?;
    let board = || parse_board(place, network);
    let port = || parse_port(place, network);
    let action = match (*what, how_much) {
        ("cut", []) => Action::Cut(port()?),
        ("plug", []) => Action::Plug(port()?),
        ("one-way", []) => Action::OneWay(port()?),
        ("both-ways", []) => Action::BothWays(port()?),
        ("stuck", []) => Action::Stuck(port()?),
        ("break", []) => Action::Break(port()?),
        ("noise", [chance]) => Action::Noise(port()?, parse_chance(chance)?),
        ("quiet", []) => Action::Quiet(port()?),
        ("swap", [other]) => Action::Swap(port()?, parse_port(other, network)?),
        ("reset", []) => Action::Reset(board()?),
        ("off", []) => Action::Off(board()?),
        ("on", []) => Action::On(board()?),
        ("swap", _) => return Err("swap needs two ports".into()),
        ("noise", _) => return Err("noise needs a chance such as 1e-4".into()),
        (what, []) => return Err(format!("'{what}' is nothing that can happen")),
        (what, _) => return Err(format!("'{what}' with too many words")),
    };
    Ok((time, action))
}

fn parse_board(text: &str, network: &Network) -> Result<u32, String> {
    let board: u32 = text.parse().map_err(|_| format!("'{text}' is no board number"))?;
    let checked = network
        .check(u64::from(board))
        .map_err(|error| format!("{network}: {error}"));
    checked.map(|_| board)
}

fn parse_port(text: &str, network: &Network) -> Result<End, String> {
    let wrong = || format!("'{text}' is no port such as 3.0");
    let (board, port) = text.split_once('.').ok_or_else(wrong)?;
    let port: u8 = port.parse().map_err(|_| wrong())?;
    let board = parse_board(board, network)?;
    let ports = network.degree(u64::from(board)).unwrap_or(0);
    if u64::from(port) < ports {
        Ok((board, port))
    } else {
        Err(format!(
            "{network}: node {board} has ports 0 to {}, not {port}",
            ports.saturating_sub(1)
        ))
    }
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

    fn network() -> Network {
        "rdn(ring(3),1)".parse().unwrap()
    }

    #[test]
    fn events_are_read_and_ordered() {
        let text = "2s plug 3.2\n\n1.5s cut 3.2 # ouch; really\n10ms noise 0.1 1e-3; 3s off 17\n";
        let script = Script::parse(text, &network()).unwrap();
        let expected = [
            (10_000_000, Action::Noise((0, 1), 1e-3)),
            (1_500_000_000, Action::Cut((3, 2))),
            (2_000_000_000, Action::Plug((3, 2))),
            (3_000_000_000, Action::Off(17)),
        ];
        assert_eq!(script.events(), expected);
        assert_eq!(Script::parse(&on_one_line(text), &network()), Ok(script));
    }

    #[test]
    fn what_lasts_is_told_from_what_goes_on() {
        let over = |text: &str| Script::parse(text, &network()).unwrap().is_over_by(1_000_000_000);
        assert!(over("") && over("1s off 3") && over("0s cut 0.0; 1s swap 1.0 2.0"));
        assert!(!over("1.1s off 3") && !over("0s reset 3"));
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        for (text, reason) in [
            ("1s cut", "line 1: an event is TIME WHAT WHERE [HOW MUCH]"),
            ("\n1 cut 0.1", "line 2: '1' is no time such as 1.5s, 20ms or 300us"),
            ("1s cut 0.USART1", "line 1: '0.USART1' is no port such as 3.0"),
            ("1s cut 0", "line 1: '0' is no port such as 3.0"),
            ("1s cut 0.3", "line 1: rdn(ring(3),1): node 0 has ports 0 to 2, not 3"),
            (
                "1s cut 18.0",
                "line 1: rdn(ring(3),1): there is no node 18: the network has nodes 0 to 17",
            ),
            ("1s off 0.1", "line 1: '0.1' is no board number"),
            ("1s swap 0.1", "line 1: swap needs two ports"),
            ("1s cut 0.1 now", "line 1: 'cut' with too many words"),
            ("1s melt 0.1", "line 1: 'melt' is nothing that can happen"),
            ("1s noise 0.1 2", "line 1: '2' is no chance between 0 and 1"),
            ("-1s reset 0", "line 1: '-1s' is no time such as 1.5s, 20ms or 300us"),
        ] {
            assert_eq!(Script::parse(text, &network()).unwrap_err().to_string(), reason);
        }
    }
}
