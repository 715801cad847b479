//! Reads the events of a script, and says what is wrong with one.

use hopwise_core::Node;

use super::action::{Action, EVERY, Power};
use super::place::{BadPort, NoSuchPlace, PortName};
use crate::{BadTime, Time};

/// A line of a script that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ScriptError {
    pub line: usize,
    pub reason: BadEvent,
}

/// What is wrong with an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEvent {
    #[error("an event is TIME WHAT WHERE [HOW MUCH]")]
    TooShort,
    #[error("'{0}' with too many words")]
    TooLong(&'static str),
    /// It does not begin with a time, or its length is none.
    #[error(transparent)]
    Time(#[from] BadTime),
    #[error("'{0}' is not an event; events are {known}", known = known_words())]
    Word(String),
    #[error("'{word}' cannot happen {stage}; what can is {able}")]
    Unable {
        word: &'static str,
        stage: &'static str,
        able: String,
    },
    #[error("'{0}' is not a board number")]
    Board(String),
    #[error(transparent)]
    Port(#[from] BadPort),
    /// The place is not in the network, or not on the board.
    #[error(transparent)]
    Place(#[from] NoSuchPlace),
    #[error("{0} needs {1}")]
    Missing(&'static str, &'static str),
    #[error("'{0}' is not a probability between 0 and 1")]
    Chance(String),
}

/// All words for what can happen.
fn known_words() -> String {
    let mut words: Vec<&str> = EVERY.iter().map(Action::word).collect();
    words.dedup();
    words.join(", ")
}

/// A script's text on one line, without comments.
pub fn on_one_line(text: &str) -> String {
    let events: Vec<&str> = events_of(text).map(|(_, event)| event).collect();
    events.join("; ")
}

/// The events of a text, with their lines.
pub(super) fn events_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines());
    let uncommented = lines.map(|(number, line)| (number, line.split('#').next().unwrap_or("")));
    let events = uncommented.flat_map(|(number, line)| line.split(';').map(move |event| (number, event.trim())));
    events.filter(|(_, event)| !event.is_empty())
}

pub(super) type At = (Time, Action<PortName>);

/// What an event says: one action, or two if it lasts, or one for each of several boards.
pub(super) fn parse_event(words: &[&str]) -> Result<Vec<At>, BadEvent> {
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
        ("off", ["for", length]) => {
            let (board, end) = (board()?, time.after(length.parse()?));
            return Ok(vec![(time, Action::Off(board)), (end, Action::On(board))]);
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
