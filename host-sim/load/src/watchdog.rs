//! Packets that wait for each other for good, found while others still move.

use super::engine::Engine;
use super::wiring::NONE;

/// A cycle of channels, each waiting for the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The nodes on the cycle and the virtual channel, on the link into the node, whose first packet cannot move.
    pub cycle: Vec<(u32, u32)>,
}

impl std::fmt::Display for Deadlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "deadlock: ")?;
        for (node, channel) in &self.cycle {
            write!(f, "node {node} (channel {channel}) waits for ")?;
        }
        match self.cycle.first() {
            Some((node, channel)) => write!(f, "node {node} (channel {channel})"),
            None => write!(f, "nothing moves, and nobody waits for another"),
        }
    }
}

/// Looks for packets that can never move again, whatever the others do: all that they wait for waits too. O(channels).
///
/// Those that can move are struck off, then those that wait for one of them, and so on; what is left is locked. A flit or
/// credit on its way counts as a move to come, so that a lock may be seen only some cycles after it has closed, but nothing
/// is taken for a lock that is none.
pub(super) fn find_cycle(engine: &Engine<'_>) -> Option<Deadlock> {
    let locked = locked(engine);
    let start = locked.iter().position(|&locked| locked)? as u32;
    // Everything that a locked channel waits for is locked: following the first of them must come back.
    let first = |channel| {
        let others = engine.waits_for(channel).unwrap_or_default();
        others.first().copied().unwrap_or(channel)
    };
    let mut seen = vec![false; locked.len()];
    let mut here = start;
    while !std::mem::replace(&mut seen[here as usize], true) {
        here = first(here);
    }
    let (mut cycle, end) = (Vec::new(), here);
    loop {
        cycle.push(engine.place_of(here));
        here = first(here);
        if here == end {
            return Some(Deadlock { cycle });
        }
    }
}

fn locked(engine: &Engine<'_>) -> Vec<bool> {
    let count = engine.channels() as usize;
    let mut locked = vec![false; count];
    // Who waits for a channel, as lists in one array.
    let (mut first, mut links) = (vec![NONE; count], Vec::<(u32, u32)>::new());
    for channel in 0..count as u32 {
        let Some(others) = engine.waits_for(channel) else {
            continue;
        };
        locked[channel as usize] = true;
        for other in others {
            links.push((channel, first[other as usize]));
            first[other as usize] = links.len() as u32 - 1;
        }
    }
    let mut free: Vec<u32> = (0..count as u32).filter(|&channel| !locked[channel as usize]).collect();
    while let Some(channel) = free.pop() {
        let mut link = first[channel as usize];
        while link != NONE {
            let (waiter, next) = links[link as usize];
            if std::mem::replace(&mut locked[waiter as usize], false) {
                free.push(waiter);
            }
            link = next;
        }
    }
    locked
}

#[cfg(test)]
mod tests {
    use hopwise_core::Network;

    use super::*;
    use crate::engine::State;
    use crate::measure::Experiment;
    use crate::parameters::Parameters;

    /// With one class of buffers, some rings of a torus lock while the others go on: that is seen at once, and it is true, for
    /// the locked channels never change again.
    #[test]
    fn a_lock_is_seen_while_others_move() {
        let network: Network = "torus(8,8)".parse().unwrap();
        let experiment = Experiment {
            parameters: Parameters {
                class_limit: Some(1),
                packet_flits: 4,
                ..Parameters::BOOKSIM
            },
            rate: 0.12,
            ..Experiment::new(&network)
        };
        let mut engine = Engine::new(&experiment, None, 0).unwrap();
        let mut deadlock = None;
        for _ in 0..10_000 {
            engine.run(16).unwrap();
            deadlock = find_cycle(&engine);
            if deadlock.is_some() {
                break;
            }
        }
        let deadlock = deadlock.expect("a torus with one class locks");
        assert!(deadlock.cycle.len() >= 2, "{deadlock}");
        let locked = locked(&engine);
        let count = locked.iter().filter(|&&locked| locked).count();
        let is_busy = |&channel: &u32| engine.input(channel).filled > 0;
        let busy = (0..engine.channels()).filter(is_busy).count();
        let is_part = count < busy / 2;
        assert!(is_part, "{count} of {busy} busy channels are locked: not a part");
        let look = |engine: &Engine<'_>| -> Vec<(State, u16, u32)> {
            let mine = (0..engine.channels()).filter(|&channel| locked[channel as usize]);
            let inputs = mine.map(|channel| engine.input(channel));
            inputs.map(|input| (input.state, input.filled, input.own)).collect()
        };
        let (before, moved) = (look(&engine), engine.moved());
        engine.run(64).unwrap();
        assert!(engine.moved() > moved, "others move");
        engine.run(20_000).unwrap();
        assert_eq!(look(&engine).len(), before.len());
        // Channels fill up behind the first packet, but that one stays.
        for (after, before) in look(&engine).iter().zip(&before) {
            assert!(after.0 == before.0 && after.1 >= before.1 && after.2 == before.2);
        }
    }
}
