//! The rounds of a collective, as the page plays them: a trace in which a round takes a second.

use hopwise_core::Network;

use super::data::{MAX_HOPS, Mark, NoPage, PageData, Replay, Rounds};

/// A round, in microseconds of the page, and the part of it in which messages are seen to move.
const ROUND: f64 = 1e6;
const MOVES: f64 = 0.85 * ROUND;

impl PageData {
    /// Of a network and the rounds of a collective on it.
    pub fn of_rounds(network: &Network, rounds: Rounds) -> Result<PageData, NoPage> {
        let messages: usize = rounds.sent.iter().map(Vec::len).sum();
        if messages > MAX_HOPS {
            return Err(NoPage::TooManyMessages {
                operation: rounds.operation,
                messages,
            });
        }
        let data = PageData::new(network)?;
        Ok(PageData {
            trace: Some(replay(&rounds)),
            rounds: Some(rounds),
            ..data
        })
    }
}

/// Every message is a packet of one hop.
fn replay(rounds: &Rounds) -> Replay {
    let mut replay = Replay {
        length: ROUND * rounds.sent.len() as f64,
        kinds: vec!["message"],
        ..Replay::default()
    };
    let all = (0..).zip(&rounds.sent);
    for (round, &(from, to, _)) in all.flat_map(|(round, sent)| sent.iter().map(move |message| (round, message))) {
        let (begin, packet) = (ROUND * f64::from(round), replay.packets.len());
        let end = begin + MOVES;
        replay.packets.push((from, Some(to), 0, round, Some(begin), None));
        replay.hops.push((packet, from, to, begin, Some(end), 0));
        replay.marks.push((begin, Mark::Accepted, from, -1, packet as i64));
        replay.marks.push((end, Mark::Delivered, to, -1, packet as i64));
    }
    replay.marks.sort_by(|one, other| one.0.total_cmp(&other.0));
    replay.packets_in_all = replay.packets.len();
    replay
}
