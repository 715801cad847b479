//! Packets that wait for each other in a circle.

use super::engine::{Engine, NONE, State};

/// A circle of full channels, each waiting for the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The nodes on the circle and the virtual channel, on the link into the node, whose first packet cannot move.
    pub circle: Vec<(u32, u32)>,
}

impl std::fmt::Display for Deadlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "deadlock: ")?;
        for (node, channel) in &self.circle {
            write!(f, "node {node} (channel {channel}) waits for ")?;
        }
        match self.circle.first() {
            Some((node, channel)) => write!(f, "node {node} (channel {channel})"),
            None => write!(f, "nothing"),
        }
    }
}

/// Looks for a circle. Every channel waits for at most one other, so following them finds it; O(channels).
///
/// A channel waits for the owner of the output channel that it seeks, or for a full channel at the next node. If that one
/// is not full, a credit is on its way. A channel that could also use one of the channels for all counts as waiting for that
/// of its class; the circle is one only if nothing else moves either, which is when the watchdog asks.
pub(super) fn find_circle(engine: &Engine<'_>, buffers: u32) -> Option<Deadlock> {
    let mut seen = vec![0u32; engine.inputs.len()];
    for start in 0..engine.inputs.len() as u32 {
        let mut here = start;
        let mark = start + 1;
        while here != NONE && seen[here as usize] == 0 {
            seen[here as usize] = mark;
            here = waits_for(engine, here, buffers);
        }
        if here != NONE && seen[here as usize] == mark {
            return Some(describe(engine, here, buffers));
        }
    }
    None
}

fn waits_for(engine: &Engine<'_>, channel: u32, buffers: u32) -> u32 {
    let input = &engine.inputs[channel as usize];
    match input.state {
        State::Seeking => {
            let owner = engine.outputs[input.own as usize].owner;
            if owner == channel { NONE } else { owner }
        }
        State::Starved => match engine.behind(input.out) {
            Some(next) if u32::from(engine.inputs[next as usize].filled) == buffers => next,
            _ => NONE,
        },
        State::Idle | State::Active => NONE,
    }
}

fn describe(engine: &Engine<'_>, start: u32, buffers: u32) -> Deadlock {
    let mut circle = Vec::new();
    let mut here = start;
    loop {
        circle.push(engine.place(here));
        here = waits_for(engine, here, buffers);
        if here == start {
            return Deadlock { circle };
        }
    }
}
