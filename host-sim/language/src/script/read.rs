//! Reads the events of a script, and says what is wrong with one.

use hopwise_core::Node;

use super::action::{Action, EVERY, Power};
use super::place::PortName;
use crate::Time;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ScriptError {
    pub line: usize,
    pub reason: String,
}

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
pub(super) fn parse_event(words: &[&str]) -> Result<Vec<At>, String> {
    let [time, what, place, how_much @ ..] = words else {
        return Err("an event is TIME WHAT WHERE [HOW MUCH]".into());
    };
    let length = |text: &str| text.parse::<Time>().map_err(|error| error.to_string());
    let time = length(time)?;
    let word = EVERY.iter().map(Action::word).find(|word| word == what);
    let word = word.ok_or_else(|| format!("'{what}' is not an event; events are {}", known_words()))?;
    let port_at = |text: &str| text.parse::<PortName>().map_err(|error| error.to_string());
    let port = || port_at(place);
    let no_board = || format!("'{place}' is not a board number");
    let board_at = |text: &str| text.parse::<Node>().map_err(|_| no_board());

    let board = || board_at(place);
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
        let boards = place.split(',').map(board_at);
        return boards.map(|board| Ok((time, power.at(board?)))).collect();
    }
    let action = match (word, how_much) {
        ("cut", []) => Action::Cut(port()?),
        ("plug", []) => Action::Plug(port()?),
        ("plug", [to]) => Action::PlugInto(port()?, port_at(to)?),
        ("one-way", []) => Action::OneWay(port()?),
        ("both-ways", []) => Action::BothWays(port()?),
        ("reverse", []) => Action::Reverse(port()?),
        ("stuck", []) => Action::Stuck(port()?),
        ("break", []) => Action::Break(port()?, None),
        ("break", [time]) => Action::Break(port()?, Some(length(time)?)),
        ("noise", [chance]) => Action::Noise(port()?, parse_chance(chance)?),
        ("quiet", []) => Action::Quiet(port()?),
        ("burst", [time]) => Action::Burst(port()?, length(time)?),
        ("swap", [other]) => Action::Swap(port()?, port_at(other)?),
        ("press", []) => Action::Press(board()?),
        ("press", ["for", held]) => {
            let (board, end) = (board()?, time.after(length(held)?));
            return Ok(vec![(time, Action::Press(board)), (end, Action::Release(board))]);
        }
        ("brownout", [within]) => Action::Brownout(board()?, length(within)?),
        ("off", ["for", held]) => {
            let (board, end) = (board()?, time.after(length(held)?));
            return Ok(vec![(time, Action::Off(board)), (end, Action::On(board))]);
        }
        ("release", []) => Action::Release(board()?),
        ("brownout", []) => return Err("brownout needs a time such as 50ms".into()),
        ("swap", []) => return Err("swap needs two ports".into()),
        ("noise", []) => return Err("noise needs a chance such as 1e-4".into()),
        ("burst", []) => return Err("burst needs a length such as 2ms".into()),
        (word, _) => return Err(format!("'{word}' with too many words")),
    };
    Ok(vec![(time, action)])
}

fn parse_chance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(chance) if (0.0..=1.0).contains(&chance) => Ok(chance),
        _ => Err(format!("'{text}' is not a probability between 0 and 1")),
    }
}
