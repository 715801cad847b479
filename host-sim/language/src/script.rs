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
//! 7s     off        3,4,5      # several; also on and reset
//! 7.5s   on         all        # every board; also off and reset
//! 8s     press      3          # the button
//! 8.1s   release    3
//! 8.5s   press      3 for 100ms    # both
//! ```
//!
//! Who plays a script does what there is to do it to and [refuses](Script::resolve) the rest.

use std::fmt;
use std::str::FromStr;

use hopwise_core::{Network, NoSuchNode, Node};

use crate::{BadTime, Time};

/// A port of a board as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PortName {
    /// The board.
    pub node: Node,
    /// Which of its ports.
    pub port: PortOf,
}

/// Which port of a board.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PortOf {
    /// By its number in the network: `3.0`.
    Number(u64),
    /// By the name of a serial port of the board, in capitals: `3.USART1`.
    Uart(String),
}

/// Text that is no port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is no port such as 3.0")]
pub struct BadPort {
    /// As it was written.
    pub text: String,
}

impl FromStr for PortName {
    type Err = BadPort;

    fn from_str(text: &str) -> Result<Self, BadPort> {
        let wrong = || BadPort { text: text.into() };
        let (node, port) = text.split_once('.').ok_or_else(wrong)?;
        let node = node.parse().map_err(|_| wrong())?;
        let is_name = port.starts_with(|first: char| first.is_ascii_alphabetic())
            && port.chars().all(|letter| letter.is_ascii_alphanumeric());
        let port = match port.parse() {
            Ok(number) => PortOf::Number(number),
            Err(_) if is_name => PortOf::Uart(port.to_ascii_uppercase()),
            Err(_) => return Err(wrong()),
        };
        Ok(PortName { node, port })
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.port {
            PortOf::Number(number) => write!(f, "{}.{number}", self.node),
            PortOf::Uart(name) => write!(f, "{}.{name}", self.node),
        }
    }
}

/// Something that happens to a board or a cable. A cable is named by one of its ends, a direction by where it leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action<P> {
    /// The cable is pulled.
    Cut(P),
    /// The cable is plugged in again, and whole.
    Plug(P),
    /// The far end of the cable at the first port goes to the second, which is free.
    PlugInto(P, P),
    /// Nothing passes in this direction any more.
    OneWay(P),
    /// It does again.
    BothWays(P),
    /// The cable is plugged in the wrong way round: nothing passes.
    Reverse(P),
    /// The line is held low.
    Stuck(P),
    /// The line is low for a time, two byte times unless said otherwise.
    Break(P, Option<Time>),
    /// Each bit is inverted with this chance.
    Noise(P, f64),
    /// No longer.
    Quiet(P),
    /// Each bit is random for a time.
    Burst(P, Time),
    /// The plugs at two ports are exchanged.
    Swap(P, P),
    /// The board restarts.
    Reset(Node),
    /// The board goes off.
    Off(Node),
    /// The board comes on.
    On(Node),
    /// The same happens to every board. Who plays a script sees it board by board.
    All(Power),
    /// The button of the board is pressed.
    Press(Node),
    /// And let go.
    Release(Node),
}

/// What can happen to every board at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// [`Action::Reset`]
    Reset,
    /// [`Action::Off`]
    Off,
    /// [`Action::On`]
    On,
}

impl Power {
    /// The same at one board.
    fn at<P>(self, node: Node) -> Action<P> {
        match self {
            Power::Reset => Action::Reset(node),
            Power::Off => Action::Off(node),
            Power::On => Action::On(node),
        }
    }
}

/// Everything that can happen, somewhere.
const EVERY: [Action<()>; 17] = [
    Action::Cut(()),
    Action::Plug(()),
    Action::PlugInto((), ()),
    Action::OneWay(()),
    Action::BothWays(()),
    Action::Reverse(()),
    Action::Stuck(()),
    Action::Break((), None),
    Action::Noise((), 0.0),
    Action::Quiet(()),
    Action::Burst((), Time::from_nanos(0)),
    Action::Swap((), ()),
    Action::Reset(0),
    Action::Off(0),
    Action::On(0),
    Action::Press(0),
    Action::Release(0),
];

impl<P> Action<P> {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Action::Cut(_) => "cut",
            Action::Plug(_) | Action::PlugInto(..) => "plug",
            Action::OneWay(_) => "one-way",
            Action::BothWays(_) => "both-ways",
            Action::Reverse(_) => "reverse",
            Action::Stuck(_) => "stuck",
            Action::Break(..) => "break",
            Action::Noise(..) => "noise",
            Action::Quiet(_) => "quiet",
            Action::Burst(..) => "burst",
            Action::Swap(..) => "swap",
            Action::Reset(_) | Action::All(Power::Reset) => "reset",
            Action::Off(_) | Action::All(Power::Off) => "off",
            Action::On(_) | Action::All(Power::On) => "on",
            Action::Press(_) => "press",
            Action::Release(_) => "release",
        }
    }

    /// The board that it happens to, if it is one.
    pub fn board(&self) -> Option<Node> {
        match *self {
            Action::Reset(node)
            | Action::Off(node)
            | Action::On(node)
            | Action::Press(node)
            | Action::Release(node) => Some(node),
            _ => None,
        }
    }

    /// The same elsewhere.
    fn at<Q, E>(self, mut place: impl FnMut(P) -> Result<Q, E>) -> Result<Action<Q>, E> {
        Ok(match self {
            Action::Cut(port) => Action::Cut(place(port)?),
            Action::Plug(port) => Action::Plug(place(port)?),
            Action::PlugInto(port, to) => Action::PlugInto(place(port)?, place(to)?),
            Action::OneWay(port) => Action::OneWay(place(port)?),
            Action::BothWays(port) => Action::BothWays(place(port)?),
            Action::Reverse(port) => Action::Reverse(place(port)?),
            Action::Stuck(port) => Action::Stuck(place(port)?),
            Action::Break(port, length) => Action::Break(place(port)?, length),
            Action::Noise(port, chance) => Action::Noise(place(port)?, chance),
            Action::Quiet(port) => Action::Quiet(place(port)?),
            Action::Burst(port, length) => Action::Burst(place(port)?, length),
            Action::Swap(a, b) => Action::Swap(place(a)?, place(b)?),
            Action::Reset(node) => Action::Reset(node),
            Action::Off(node) => Action::Off(node),
            Action::On(node) => Action::On(node),
            Action::All(power) => Action::All(power),
            Action::Press(node) => Action::Press(node),
            Action::Release(node) => Action::Release(node),
        })
    }
}

impl<P: fmt::Display> fmt::Display for Action<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Action::Cut(port) | Action::Plug(port) | Action::OneWay(port) | Action::BothWays(port) => {
                write!(f, "{word} {port}")
            }
            Action::Reverse(port) | Action::Stuck(port) | Action::Break(port, None) | Action::Quiet(port) => {
                write!(f, "{word} {port}")
            }
            Action::PlugInto(a, b) | Action::Swap(a, b) => write!(f, "{word} {a} {b}"),
            Action::Noise(port, chance) => write!(f, "{word} {port} {chance}"),
            Action::Burst(port, length) | Action::Break(port, Some(length)) => write!(f, "{word} {port} {length}"),
            Action::All(_) => write!(f, "{word} all"),
            Action::Reset(node)
            | Action::Off(node)
            | Action::On(node)
            | Action::Press(node)
            | Action::Release(node) => {
                write!(f, "{word} {node}")
            }
        }
    }
}

/// An event of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptEvent<P> {
    /// When.
    pub at: Time,
    /// What.
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

/// A line of a script that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ScriptError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: BadEvent,
}

/// What is wrong with an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEvent {
    /// It has too few words.
    #[error("an event is TIME WHAT WHERE [HOW MUCH]")]
    TooShort,
    /// It has too many.
    #[error("'{0}' with too many words")]
    TooLong(&'static str),
    /// It does not begin with a time, or its length is none.
    #[error(transparent)]
    Time(#[from] BadTime),
    /// There is no such word.
    #[error("'{0}' is nothing that can happen")]
    Word(String),
    /// Who plays the script cannot do it.
    #[error("'{word}' cannot happen {stage}; what can is {able}")]
    Unable {
        /// What it cannot do.
        word: &'static str,
        /// Where.
        stage: &'static str,
        /// What it can do.
        able: String,
    },
    /// The place is no board.
    #[error("'{0}' is no board number")]
    Board(String),
    /// The place is no port.
    #[error(transparent)]
    Port(#[from] BadPort),
    /// The place is not in the network, or not on the board.
    #[error(transparent)]
    Place(#[from] NoSuchPlace),
    /// What is needed after the place is not there.
    #[error("{0} needs {1}")]
    Missing(&'static str, &'static str),
    /// A chance that is none.
    #[error("'{0}' is no chance between 0 and 1")]
    Chance(String),
}

/// A place that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchPlace {
    /// The network has no such board.
    #[error("{network}: {error}")]
    Node {
        /// The network.
        network: String,
        /// Which board.
        error: NoSuchNode,
    },
    /// The board has no such port in the network.
    #[error("{network}: node {node} has ports 0 to {last}, not {port}")]
    Port {
        /// The network.
        network: String,
        /// The board.
        node: Node,
        /// Its last port.
        last: u64,
        /// The port.
        port: u64,
    },
    /// Boards have no serial ports with names here.
    #[error("'{0}' is no port such as 3.0")]
    Unnamed(PortName),
    /// The board has no such serial port.
    #[error("'{port}' is no port such as 3.0 or 3.{example}")]
    Uart {
        /// The port.
        port: PortName,
        /// One that there is.
        example: &'static str,
    },
    /// The port is in the network, but not on the boards.
    #[error("{0}")]
    NotOnBoard(String),
}

/// Checks that a network has a board.
pub fn check_board(network: &Network, node: Node) -> Result<Node, NoSuchPlace> {
    let checked = network.check(node);
    checked.map(|_| node).map_err(|error| NoSuchPlace::Node {
        network: network.to_string(),
        error,
    })
}

/// Checks that a network has a port.
pub fn check_port(network: &Network, node: Node, port: u64) -> Result<(Node, u64), NoSuchPlace> {
    check_board(network, node)?;
    let ports = network.degree(node).unwrap_or(0);
    if port < ports {
        return Ok((node, port));
    }
    Err(NoSuchPlace::Port {
        network: network.to_string(),
        node,
        last: ports.saturating_sub(1),
        port,
    })
}

/// Who plays a script.
pub trait Stage {
    /// How it knows a port.
    type Port;

    /// Where that is: "in a simulation".
    const NAME: &'static str;

    /// Whether it can do something.
    fn can<P>(action: &Action<P>) -> bool;

    /// The network whose boards and ports there are.
    fn network(&self) -> &Network;

    /// The port of a name.
    fn port(&self, name: PortName) -> Result<Self::Port, NoSuchPlace>;
}

impl Script {
    /// Reads a script.
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
                return Err(wrong(BadEvent::Unable {
                    word: action.word(),
                    stage: S::NAME,
                    able: able::<S>(),
                }));
            }
            if let Some(node) = action.board() {
                check_board(stage.network(), node).map_err(|place| wrong(place.into()))?;
            }
            let action = action
                .at(|name| stage.port(name))
                .map_err(|place| wrong(place.into()))?;
            Ok(ScriptEvent { at, action, line })
        };
        let nodes = stage.network().nodes();
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
        let events = self
            .events
            .into_iter()
            .flat_map(each)
            .map(resolved)
            .collect::<Result<_, _>>()?;
        Ok(Script { events })
    }
}

impl<P> Script<P> {
    /// The same with other ports.
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
        Script::sorted(
            events
                .map(|(line, (at, action))| ScriptEvent { at, action, line })
                .collect(),
        )
    }

    fn sorted(mut events: Vec<ScriptEvent<P>>) -> Self {
        events.sort_by_key(|event| event.at);
        Script { events }
    }

    /// Both scripts as one.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.events.extend(other.events);
        Script::sorted(self.events)
    }

    /// Whether nothing happens.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// What happens, and when.
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

/// A script's text on one line, without comments.
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

type At = (Time, Action<PortName>);

/// What an event says: one action, or two if it lasts, or one for each of several boards.
fn parse_event(words: &[&str]) -> Result<Vec<At>, BadEvent> {
    let [time, what, place, how_much @ ..] = words else {
        return Err(BadEvent::TooShort);
    };
    let time: Time = time.parse()?;
    let word = EVERY.iter().map(Action::word).find(|word| word == what);
    let word = word.ok_or_else(|| BadEvent::Word((*what).into()))?;
    let port = || place.parse::<PortName>();
    let board = || place.parse::<Node>().map_err(|_| BadEvent::Board((*place).into()));
    let power = match word {
        "reset" => Some(Power::Reset),
        "off" => Some(Power::Off),
        "on" => Some(Power::On),
        _ => None,
    };
    if let (Some(power), []) = (power, how_much) {
        if *place == "all" {
            return Ok(vec![(time, Action::All(power))]);
        }
        let board = |text: &str| text.parse::<Node>().map_err(|_| BadEvent::Board((*place).into()));
        let boards = place.split(',').map(board);
        return boards.map(|board| Ok((time, power.at(board?)))).collect();
    }
    let action = match (word, how_much) {
        ("cut", []) => Action::Cut(port()?),
        ("plug", []) => Action::Plug(port()?),
        ("plug", [to]) => Action::PlugInto(port()?, to.parse()?),
        ("one-way", []) => Action::OneWay(port()?),
        ("both-ways", []) => Action::BothWays(port()?),
        ("reverse", []) => Action::Reverse(port()?),
        ("stuck", []) => Action::Stuck(port()?),
        ("break", []) => Action::Break(port()?, None),
        ("break", [length]) => Action::Break(port()?, Some(length.parse()?)),
        ("noise", [chance]) => Action::Noise(port()?, parse_chance(chance)?),
        ("quiet", []) => Action::Quiet(port()?),
        ("burst", [length]) => Action::Burst(port()?, length.parse()?),
        ("swap", [other]) => Action::Swap(port()?, other.parse()?),
        ("press", []) => Action::Press(board()?),
        ("press", ["for", length]) => {
            let (board, end) = (board()?, time.after(length.parse()?));
            return Ok(vec![(time, Action::Press(board)), (end, Action::Release(board))]);
        }
        ("release", []) => Action::Release(board()?),
        ("swap", []) => return Err(BadEvent::Missing("swap", "two ports")),
        ("noise", []) => return Err(BadEvent::Missing("noise", "a chance such as 1e-4")),
        ("burst", []) => return Err(BadEvent::Missing("burst", "a length such as 2ms")),
        (word, _) => return Err(BadEvent::TooLong(word)),
    };
    Ok(vec![(time, action)])
}

fn parse_chance(text: &str) -> Result<f64, BadEvent> {
    match text.parse() {
        Ok(chance) if (0.0..=1.0).contains(&chance) => Ok(chance),
        _ => Err(BadEvent::Chance(text.into())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
                PortOf::Uart(_) => Err(NoSuchPlace::Unnamed(name)),
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
        let both = Script::new([(Time::from_millis(5), Action::On(1))]).and(script);
        assert_eq!(both.events().len(), 7);
        assert_eq!(both.events()[0].action, Action::On(1));
    }

    #[test]
    fn every_word_is_read_as_it_is_written() {
        let text = "0s cut 3.0; 1s plug 3.0; 2s plug 3.0 5.USART6; 3s one-way 3.0; 4s both-ways 3.0; 5s reverse 3.0; \
                    6s stuck 3.0; 7s break 3.0; 8s noise 3.0 0.001; 9s quiet 3.0; 10s burst 3.0 2ms; 11s swap 3.0 4.1; \
                    12s reset 3; 13s off 3; 14s on 3; 15s press 3; 16s release 3";
        let script = Script::parse(text).unwrap();
        assert_eq!(script.to_string(), text);
        let kinds: Vec<_> = script
            .events()
            .iter()
            .map(|event| std::mem::discriminant(&event.action))
            .collect();
        assert_eq!(kinds.len(), EVERY.len());
        assert!(
            kinds
                .iter()
                .enumerate()
                .all(|(place, kind)| !kinds[..place].contains(kind))
        );
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        for (text, reason) in [
            ("1s cut", "line 1: an event is TIME WHAT WHERE [HOW MUCH]"),
            ("\n1 cut 0.1", "line 2: '1' is no time such as 1.5s, 20ms or 300us"),
            ("1s cut 0", "line 1: '0' is no port such as 3.0"),
            ("1s cut 0.", "line 1: '0.' is no port such as 3.0"),
            ("1s cut 0.-1", "line 1: '0.-1' is no port such as 3.0"),
            ("1s off 0.1", "line 1: '0.1' is no board number"),
            ("1s swap 0.1", "line 1: swap needs two ports"),
            ("1s burst 0.1", "line 1: burst needs a length such as 2ms"),
            ("1s noise 0.1", "line 1: noise needs a chance such as 1e-4"),
            ("1s noise 0.1 2", "line 1: '2' is no chance between 0 and 1"),
            (
                "1s press 0 for ever",
                "line 1: 'ever' is no time such as 1.5s, 20ms or 300us",
            ),
            ("1s press 0 gently", "line 1: 'press' with too many words"),
            ("1s cut 0.1 now", "line 1: 'cut' with too many words"),
            ("1s melt 0.1", "line 1: 'melt' is nothing that can happen"),
            ("1s melt 0.1 now", "line 1: 'melt' is nothing that can happen"),
            ("-1s reset 0", "line 1: '-1s' is no time such as 1.5s, 20ms or 300us"),
        ] {
            assert_eq!(Script::parse(text).unwrap_err().to_string(), reason);
        }
    }

    #[test]
    fn who_plays_a_script_refuses_what_cannot_happen() {
        let resolve = |text: &str| Script::parse(text).unwrap().resolve(&mesh());
        let script = resolve("1s off 3; 0s cut 17.2").unwrap();
        assert_eq!(pairs(&script), [(0, Action::Cut((17, 2))), (1_000, Action::Off(3))]);
        for (text, reason) in [
            (
                "1s cut 0.0\n1s press 0",
                "line 2: 'press' cannot happen here; what can is cut, noise, off",
            ),
            ("1s cut 0.USART1", "line 1: '0.USART1' is no port such as 3.0"),
            ("1s cut 0.3", "line 1: rdn(ring(3),1): node 0 has ports 0 to 2, not 3"),
            (
                "1s cut 18.0",
                "line 1: rdn(ring(3),1): there is no node 18: the network has nodes 0 to 17",
            ),
            (
                "1s off 18",
                "line 1: rdn(ring(3),1): there is no node 18: the network has nodes 0 to 17",
            ),
        ] {
            assert_eq!(resolve(text).unwrap_err().to_string(), reason);
        }
    }

    #[test]
    fn several_boards_and_all_are_named_at_once() {
        let resolve = |text: &str| Script::parse(text).unwrap().resolve(&mesh()).unwrap();
        let off = |boards: &[Node]| -> Vec<_> { boards.iter().map(|&board| (1_000, Action::Off(board))).collect() };
        assert_eq!(pairs(&resolve("1s off 3,0,17")), off(&[3, 0, 17]));
        assert_eq!(pairs(&resolve("1s off all")), off(&(0..18).collect::<Vec<_>>()));
        let script = Script::parse("1s off 3,4; 2s on all; 3s reset all; 4s break 1.0 3ms").unwrap();
        assert_eq!(
            script.to_string(),
            "1s off 3; 1s off 4; 2s on all; 3s reset all; 4s break 1.0 3ms"
        );
        let refusal = |text: &str| Script::parse(text).unwrap().resolve(&mesh()).unwrap_err().to_string();
        assert_eq!(
            refusal("1s on all"),
            "line 1: 'on' cannot happen here; what can is cut, noise, off"
        );
        let wrong = Script::parse("1s off 3,x").unwrap_err().to_string();
        assert_eq!(wrong, "line 1: '3,x' is no board number");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([0-9]{0,3}(s|ms)? ?(cut|noise|press|swap)? ?[0-9.A-Z]{0,6} ?[a-z0-9.]{0,4}[;#\n]?){0,4}") {
            if let Ok(script) = Script::parse(&text) {
                let again = Script::parse(&script.to_string());
                prop_assert_eq!(again.map(|script| pairs(&script)), Ok(pairs(&script)));
            }
        }
    }
}
