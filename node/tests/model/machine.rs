//! All states that two ends and their wires can reach, breadth first, and what must hold in each.
//!
//! Each end has a clock of its own, which only its own timers move: so any delay, drift, or order of timers and frames is among the
//! paths. What an end does in a state is found out once, by the real link; after that it is looked up.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use hopwise_node::link::{FrameResult, Micros};

use crate::end::{End, Event, Fact, Frame, NO_FRAME, Packet, Setup, WINDOW};

/// Frames that a wire holds in each direction: one that is being sent, and one that waits to be heard. No wire changes their order.
const ON_WIRE: usize = 2;
/// More frames than an end may send without an event.
const SENT_AT_ONCE: usize = 16;
/// No frame; no parent.
const NONE: u32 = u32::MAX;
/// Without faults every state leads to open ends at one rate and nothing in flight, and then to so many more packets of each end.
const AFTERWARDS: u8 = 3;

/// What becomes of the frames that are sent then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wire {
    Carries,
    Loses,
    Damages,
    /// Only the first half is carried.
    Cuts,
}

/// What happens at which end.
type Step = (Event, Wire, usize);

/// What is true of the packets from one end to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Flow {
    /// The sender's session.
    life: u8,
    /// The oldest packet whose fate its sender does not know, the number of those, and what became of each: two bits, of the oldest last.
    first: u8,
    unsettled: u8,
    fates: u16,
    /// The next packet that the receiver's session may get, if it has had one.
    awaited: Option<Packet>,
    /// The sender's sessions before this one have been heard, or are over.
    heard_lives: u8,
}

const UNKNOWN: u16 = 0;
const TAKEN: u16 = 1;
const REFUSED: u16 = 2;

impl Flow {
    fn came(&mut self, packet: Option<Packet>, taken: bool) -> Result<(), String> {
        let packet = packet.ok_or("a packet that was never sent was accepted")?;
        let is_awaited = match self.awaited {
            Some(awaited) => packet == awaited,
            None => packet.index == 0 && packet.life >= self.heard_lives,
        };
        if !is_awaited || packet.life > self.life {
            return Err(format!("{packet:?} was accepted instead of {:?}", self.awaited));
        }
        (self.awaited, self.heard_lives) = (Some(packet.next()), packet.life + 1);
        let place = packet.after(self.first);
        if packet.life == self.life {
            if place >= self.unsettled || self.fates >> (2 * place) & 3 != UNKNOWN {
                return Err(format!("{packet:?} was accepted, and is not on its way"));
            }
            self.fates |= if taken { TAKEN } else { REFUSED } << (2 * place);
        }
        Ok(())
    }

    /// The oldest packet ends. Returns its fate.
    fn pop(&mut self, token: u8) -> Result<u16, String> {
        if self.unsettled == 0 || token != self.first {
            return Err(format!("packet {token} is returned, and is not the oldest in flight"));
        }
        let fate = self.fates & 3;
        let first = Packet { life: 0, index: token }.next().index;
        (self.first, self.unsettled, self.fates) = (first, self.unsettled - 1, self.fates >> 2);
        Ok(fate)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    ends: [u32; 2],
    /// The frames that each end has sent and that were not heard, as they arrive.
    wires: [[u32; ON_WIRE]; 2],
    /// The packets from each end.
    flows: [Flow; 2],
    faults: u8,
}

impl State {
    /// What an end's user learns must be true.
    fn learn(&mut self, place: usize, fact: Fact) -> Result<(), String> {
        let [here, there] = [place, 1 - place];
        match fact {
            Fact::Sent => {
                self.flows[here].unsettled += 1;
                if self.flows[here].unsettled > WINDOW {
                    return Err("more packets are in flight than the window allows".into());
                }
            }
            Fact::Came(packet, taken) => self.flows[there].came(packet, taken)?,
            Fact::Settled(token, result) => match (self.flows[here].pop(token)?, result) {
                (TAKEN, FrameResult::Taken) | (REFUSED, FrameResult::Refused) => {}
                (fate, _) => {
                    return Err(format!(
                        "packet {token} is said to be {result:?}, and its fate is {fate}"
                    ));
                }
            },
            Fact::Abandoned(token) => {
                self.flows[here].pop(token)?;
            }
            Fact::Up => self.flows[there].awaited = None,
            Fact::Over | Fact::Reset => {
                if fact == Fact::Over && self.flows[here].unsettled > 0 {
                    return Err("packets are neither acknowledged nor returned".into());
                }
                let Flow {
                    life,
                    awaited,
                    heard_lives,
                    ..
                } = self.flows[here];
                self.flows[here] = Flow {
                    life: life + 1,
                    awaited,
                    heard_lives,
                    ..Flow::default()
                };
                self.flows[there].awaited = None;
            }
        }
        Ok(())
    }
}

/// What an end does: its next state, the frame that it sends, and what its user learns.
struct Reaction {
    end: u32,
    frame: u32,
    facts: Vec<Fact>,
}

/// What is explored.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) setup: Setup,
    /// For how long the ends have been up at the beginning; if there is no such time, they begin then.
    pub(crate) ages: &'static [Micros],
    pub(crate) events: &'static [Event],
    pub(crate) wires: &'static [Wire],
    /// Ends send what they have to say at once if the wire is free, not at any time later.
    pub(crate) is_prompt: bool,
    /// Whether the second end has packets to send, as the first has.
    pub(crate) both_offer: bool,
    /// At most so many frames are lost, damaged, cut or doubled, and ends reset.
    pub(crate) faults: u8,
    /// The longest recovery.
    pub(crate) within: Micros,
    pub(crate) depth: usize,
}

struct Machine<'a> {
    scenario: &'a Scenario,
    /// By their numbers, and their numbers.
    ends: Vec<End>,
    end_ids: HashMap<u128, u32>,
    frames: Vec<Frame>,
    frame_ids: HashMap<Frame, u32>,
    /// What an end does if something happens and this frame comes.
    reactions: HashMap<(u32, Event, u32), Option<Reaction>>,
    /// How long states on the way to recovery still take, by their hashes.
    recoveries: HashMap<u64, Micros>,
    /// Packets of each end that were acknowledged as taken, in all states.
    taken: [u8; 2],
}

fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Machine<'_> {
    fn end_id(&mut self, end: End) -> u32 {
        *self.end_ids.entry(end.fingerprint()).or_insert_with(|| {
            self.ends.push(end);
            self.ends.len() as u32 - 1
        })
    }

    fn frame_id(&mut self, frame: Frame) -> u32 {
        *self.frame_ids.entry(frame).or_insert_with_key(|frame| {
            self.frames.push(frame.clone());
            self.frames.len() as u32 - 1
        })
    }

    fn react(&mut self, place: usize, id: u32, event: Event, heard: u32) -> Option<&Reaction> {
        let key = (id, event, heard);
        if !self.reactions.contains_key(&key) {
            let mut end = self.ends[id as usize].clone();
            let heard = self.frames.get(heard as usize).unwrap_or(&self.frames[0]);
            let reaction = end.step(&self.scenario.setup, place, event, heard);
            let reaction = reaction.map(|(frame, facts)| Reaction {
                end: self.end_id(end),
                frame: frame.map_or(NONE, |frame| self.frame_id(frame)),
                facts,
            });
            self.reactions.insert(key, reaction);
        }
        self.reactions[&key].as_ref()
    }

    /// A frame as it arrives.
    fn carried(&mut self, frame: u32, wire: Wire) -> u32 {
        let Frame { mut bytes, baud } = self.frames[frame as usize].clone();
        match wire {
            Wire::Carries => return frame,
            Wire::Loses => return NONE,
            Wire::Damages => bytes = NO_FRAME.to_vec(),
            Wire::Cuts => bytes.truncate(bytes.len() / 2),
        }
        self.frame_id(Frame { bytes, baud })
    }

    /// The state after a step; `None` if it cannot be taken.
    fn step(&mut self, state: &State, (event, wire, place): Step) -> Result<Option<State>, String> {
        let mut next = *state;
        let heard = state.wires[1 - place][0];
        if matches!(event, Event::Hear | Event::HearTwice) && heard == NONE {
            return Ok(None);
        }
        next.faults += u8::from(matches!(event, Event::HearTwice | Event::Reset)) + u8::from(wire != Wire::Carries);
        if next.faults > self.scenario.faults {
            return Ok(None);
        }
        if event == Event::Hear {
            next.wires[1 - place] = [state.wires[1 - place][1], NONE];
        }
        let has_sent = self.act(&mut next, place, event, heard, wire)?;
        // If nothing was sent, nothing can have happened to it.
        Ok(has_sent
            .is_some_and(|sent| sent || wire == Wire::Carries)
            .then_some(next))
    }

    /// Something happens at an end, and it sends if it is prompt. Whether it has sent; `None` if that cannot happen.
    fn act(
        &mut self,
        state: &mut State,
        place: usize,
        event: Event,
        heard: u32,
        wire: Wire,
    ) -> Result<Option<bool>, String> {
        let mut has_sent = None;
        let then = std::iter::repeat_n(Event::Send, if self.scenario.is_prompt { SENT_AT_ONCE } else { 0 });
        for (sent, event) in std::iter::once(event).chain(then).enumerate() {
            // A wire that loses them is never full.
            if sent == SENT_AT_ONCE {
                return Err(format!("an end sends {SENT_AT_ONCE} frames at once, and goes on"));
            }
            let free = state.wires[place].iter().position(|frame| *frame == NONE);
            if free.is_none() && matches!(event, Event::Send | Event::Offer) {
                break;
            }
            let heard = if matches!(event, Event::Hear | Event::HearTwice) {
                heard
            } else {
                NONE
            };
            let Some(reaction) = self.react(place, state.ends[place], event, heard) else {
                break;
            };
            state.ends[place] = reaction.end;
            let (frame, mut taken) = (reaction.frame, 0);
            for &fact in &reaction.facts {
                state.learn(place, fact)?;
                taken += u8::from(matches!(fact, Fact::Settled(_, FrameResult::Taken)));
            }
            self.taken[place] = self.taken[place].wrapping_add(taken);
            if let Some(free) = free.filter(|_| frame != NONE) {
                state.wires[place][free] = self.carried(frame, wire);
            }
            has_sent = Some(has_sent.unwrap_or(false) | (frame != NONE));
        }
        Ok(has_sent)
    }

    /// From now on nothing fails, frames take no time, both users have room and want each other: how long it takes until so many packets of
    /// each have come, but at least some time, and the state then.
    fn recover(&mut self, from: &State, packets: u8, least: Micros) -> Result<(Micros, State), String> {
        let mut state = *from;
        let before = self.taken;
        let (mut elapsed, mut passed) = (0, Vec::new());
        loop {
            for place in [0, 1] {
                let End { has_room, accepts, .. } = self.ends[state.ends[place] as usize];
                let events = [(!has_room, Event::Room), (!accepts, Event::Accept)];
                let events = events
                    .into_iter()
                    .filter_map(|(is_wanted, event)| is_wanted.then_some(event));
                for event in events.chain([Event::Hear, Event::Hear, Event::Fetch, Event::Port, Event::Send]) {
                    state = self.step(&state, (event, Wire::Carries, place))?.unwrap_or(state);
                }
                let [taken, unsettled] = [
                    self.taken[place].wrapping_sub(before[place]),
                    state.flows[place].unsettled,
                ];
                if taken + unsettled < packets {
                    self.act(&mut state, place, Event::Offer, NONE, Wire::Carries)?;
                }
            }
            let left = [0, 1].map(|place| packets.saturating_sub(self.taken[place].wrapping_sub(before[place])));
            let [one, other] = state.ends.map(|id| &self.ends[id as usize]);
            let is_quiet = state.wires == [[NONE; ON_WIRE]; 2] && state.flows.iter().all(|flow| flow.unsettled == 0);
            let opens = [one.link.is_open(), other.link.is_open()];
            let is_done = is_quiet && opens == [true; 2] && one.port == other.port && left == [0; 2];
            let key = hash_of((state.ends, state.wires, left));
            let known = self.recoveries.get(&key).filter(|_| least == 0).copied();
            if is_done && elapsed >= least || known.is_some() {
                let all = elapsed + known.unwrap_or(0);
                self.recoveries
                    .extend(passed.into_iter().map(|(key, at)| (key, all - at)));
                return Ok((all, state));
            }
            if elapsed > least + self.scenario.within {
                return Err(format!(
                    "without faults it does not recover: open {opens:?}, packets left {left:?}"
                ));
            }
            if least == 0 {
                passed.push((key, elapsed));
            }
            let next = [one, other].map(|end| end.link.deadline().saturating_sub(end.now));
            let time = if state.wires == [[NONE; ON_WIRE]; 2] {
                next[0].min(next[1]).clamp(1, 100_000)
            } else {
                1
            };
            elapsed += time;
            for place in [0, 1] {
                self.act(&mut state, place, Event::Wait(time), NONE, Wire::Carries)?;
            }
        }
    }
}

/// Where the states of a scenario begin.
fn roots(machine: &mut Machine<'_>) -> Vec<State> {
    let setup = machine.scenario.setup;
    let cold = State {
        ends: [0, 1].map(|place| machine.end_id(End::new(&setup, place))),
        wires: [[NONE; ON_WIRE]; 2],
        flows: [Flow::default(); 2],
        faults: 0,
    };
    if machine.scenario.ages.is_empty() {
        return vec![cold];
    }
    // With no numbers used, and with three of four, so that the next but one is the first again.
    let ages = machine.scenario.ages.iter().flat_map(|age| [(0, *age), (3, *age)]);
    let up = |(packets, age)| {
        machine
            .recover(&cold, packets, age)
            .expect("ends come up without faults")
            .1
    };
    ages.map(up).collect()
}

/// Visits all states of a scenario. Returns their number, and the longest recovery from any of them. Panics with the shortest way to one in
/// which something is wrong.
pub(crate) fn explore(scenario: &Scenario) -> (usize, Micros) {
    let mut machine = Machine {
        scenario,
        ends: Vec::new(),
        end_ids: HashMap::new(),
        // One that is never sent, since there must be one.
        frames: vec![Frame {
            bytes: NO_FRAME.to_vec(),
            baud: 0,
        }],
        frame_ids: HashMap::new(),
        reactions: HashMap::new(),
        recoveries: HashMap::new(),
        taken: [0; 2],
    };
    let steps = scenario
        .events
        .iter()
        .flat_map(|event| scenario.wires.iter().map(|wire| (*event, *wire)));
    let steps = steps.flat_map(|(event, wire)| [(event, wire, 0), (event, wire, 1)]);
    let steps: Vec<Step> = steps
        .filter(|step| scenario.both_offer || (step.0, step.2) != (Event::Offer, 1))
        .collect();
    let mut level = roots(&mut machine);
    // What each state was reached from, and how. Of the states themselves only hashes are kept: that two of ten million have the same is as
    // likely as 1 in 300,000.
    let mut parents: Vec<(u32, Step)> = level.iter().map(|_| (NONE, steps[0])).collect();
    let mut seen: HashSet<u64> = level.iter().map(hash_of).collect();
    let mut slowest = 0;
    for depth in 0.. {
        let first = parents.len() - level.len();
        let mut next_level = Vec::new();
        for (place, state) in level.iter().enumerate() {
            let fail = |parents: &[_], last, error| panic!("{error}\n{}", way(scenario, parents, first + place, last));
            let settled = machine.recover(state, 0, 0);
            match settled.and_then(|(time, state)| Ok(time.max(machine.recover(&state, AFTERWARDS, 0)?.0))) {
                Ok(time) => slowest = slowest.max(time),
                Err(error) => fail(&parents, None, error),
            }
            for &step in steps.iter().filter(|_| depth < scenario.depth) {
                match machine.step(state, step) {
                    Ok(Some(next)) if seen.insert(hash_of(next)) => {
                        next_level.push(next);
                        parents.push(((first + place) as u32, step));
                    }
                    Ok(_) => {}
                    Err(error) => fail(&parents, Some(step), error),
                }
            }
        }
        if next_level.is_empty() {
            break;
        }
        level = next_level;
    }
    (parents.len(), slowest)
}

/// The steps that lead to a state, and one more.
fn way(scenario: &Scenario, parents: &[(u32, Step)], mut place: usize, last: Option<Step>) -> String {
    let mut steps: Vec<Step> = last.into_iter().collect();
    while parents[place].0 != NONE {
        steps.push(parents[place].1);
        place = parents[place].0 as usize;
    }
    steps.reverse();
    format!(
        "{}, from state {place}, {} steps: {steps:?}",
        scenario.name,
        steps.len()
    )
}
