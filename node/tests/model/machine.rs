//! All states that two ends and their wires can reach, breadth first, and what must hold in each.
//!
//! Each end has a clock of its own, which only its own timers move: so any delay, drift, or order of timers and frames is among the
//! paths. What an end does in a state is found out once, by the real link; all else is looking it up.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use hopwise_node::link::{FrameResult, Micros};

use crate::end::{End, Fact, Frame, Input, Packet, Setup, WINDOW};

/// Frames that a wire holds in each direction: one that is being sent, and others that wait to be heard.
const MOST_ON_WIRE: usize = 3;
/// No frame; no parent.
const NONE: u32 = u32::MAX;
const NOISE: u32 = u32::MAX - 1;
const HALF: u32 = 1 << 31;
/// Fault-free, every state leads to open ends and delivered packets within this time.
const RECOVERY: Micros = 5_000_000;
/// Packets that each user sends then.
const AFTERWARDS: u8 = 3;

/// What can happen at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Event {
    /// It sends what it has to say itself, or a packet of its user.
    Send,
    Offer,
    /// The next frame comes; or comes, and comes once more.
    Hear,
    HearTwice,
    Timer,
    Fetch,
    Room,
    Accept,
    Reset,
    Port,
}

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
pub(crate) type Step = (Event, Wire, usize);

/// What is true of the packets from one end to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Flow {
    life: u8,
    /// The oldest packet whose fate its sender does not know, and the number of those.
    first: u8,
    unsettled: u8,
    /// What became of each: two bits, of the oldest last.
    fates: u16,
    /// The next packet that the receiver's session may get.
    awaited: Option<Packet>,
    /// The lives of the sender before this one have been heard, or are over.
    heard_lives: u8,
}

const UNKNOWN: u16 = 0;
const TAKEN: u16 = 1;
const REFUSED: u16 = 2;

impl Flow {
    fn new() -> Self {
        Flow {
            life: 0,
            first: 0,
            unsettled: 0,
            fates: 0,
            awaited: None,
            heard_lives: 0,
        }
    }

    fn sent(&mut self) -> Result<(), String> {
        self.unsettled += 1;
        if self.unsettled > WINDOW {
            return Err("more packets are in flight than the window allows".into());
        }
        Ok(())
    }

    fn came(&mut self, packet: Option<Packet>, taken: bool) -> Result<(), String> {
        let packet = packet.ok_or("a packet that was never sent was accepted")?;
        let Packet { life, index } = packet;
        match self.awaited {
            Some(awaited) if awaited != packet => return Err(format!("{packet:?} was accepted instead of {awaited:?}")),
            None if index != 0 => return Err(format!("{packet:?} is the first that a session accepts")),
            None if life < self.heard_lives => return Err(format!("{packet:?} was accepted in two sessions")),
            _ => {}
        }
        (self.awaited, self.heard_lives) = (Some(packet.next()), life + 1);
        let place = packet.after(self.first);
        if life == self.life {
            if place >= self.unsettled || self.fates >> (2 * place) & 3 != UNKNOWN {
                return Err(format!("{packet:?} was accepted, and is not on its way"));
            }
            self.fates |= if taken { TAKEN } else { REFUSED } << (2 * place);
        } else if life > self.life {
            return Err(format!("{packet:?} was accepted before it was sent"));
        }
        Ok(())
    }

    /// The oldest packet ends. Returns its fate.
    fn pop(&mut self, token: u8) -> Result<u16, String> {
        if self.unsettled == 0 || token != self.first {
            return Err(format!("packet {token} is returned, and is not the oldest in flight"));
        }
        let fate = self.fates & 3;
        self.fates >>= 2;
        self.unsettled -= 1;
        self.first = Packet { life: 0, index: token }.next().index;
        Ok(fate)
    }

    fn settled(&mut self, token: u8, result: FrameResult) -> Result<(), String> {
        match (self.pop(token)?, result) {
            (TAKEN, FrameResult::Taken) | (REFUSED, FrameResult::Refused) => Ok(()),
            (UNKNOWN, _) => Err(format!("packet {token} is acknowledged, and has not come")),
            _ => Err(format!("packet {token} is said to be {result:?}, and is not")),
        }
    }

    /// The sender's session is over.
    fn over(&mut self) -> Result<(), String> {
        if self.unsettled > 0 {
            return Err(format!("{} packets are neither acknowledged nor returned", self.unsettled));
        }
        (self.life, self.first) = (self.life + 1, 0);
        Ok(())
    }
}

/// The packets from each end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Flows([Flow; 2]);

impl Flows {
    /// What an end's user learns must be true.
    fn learn(&mut self, place: usize, fact: Fact) -> Result<(), String> {
        let here = &mut self.0[place];
        match fact {
            Fact::Sent(_) => here.sent(),
            Fact::Came(packet, taken) => self.0[1 - place].came(packet, taken),
            Fact::Settled(token, result) => here.settled(token, result),
            Fact::Abandoned(token) => here.pop(token).map(|_| ()),
            Fact::Up => {
                self.0[1 - place].awaited = None;
                Ok(())
            }
            Fact::Over => {
                here.over()?;
                self.0[1 - place].awaited = None;
                Ok(())
            }
            Fact::Reset => {
                (here.unsettled, here.fates) = (0, 0);
                self.learn(place, Fact::Over)
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    ends: [u32; 2],
    /// The frames that each end has sent and that were not heard: a number, with [`HALF`] or [`NOISE`] if it does not arrive as it was.
    wires: [[u32; MOST_ON_WIRE]; 2],
    flows: Flows,
    faults: u8,
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
    /// Frames that a wire holds in each direction, at most [`MOST_ON_WIRE`].
    pub(crate) on_wire: usize,
    /// At most so many frames are lost, damaged, cut or doubled, and ends reset.
    pub(crate) faults: u8,
    pub(crate) depth: usize,
}

/// What was explored.
pub(crate) struct Explored {
    pub(crate) states: usize,
    pub(crate) slowest: Micros,
    pub(crate) is_all: bool,
}

struct Machine<'a> {
    scenario: &'a Scenario,
    /// Each with the end of the wire at which it is.
    ends: Vec<End>,
    end_ids: HashMap<u128, u32>,
    frames: Vec<Frame>,
    frame_ids: HashMap<Frame, u32>,
    reactions: HashMap<(u32, Input), Option<Reaction>>,
    /// How long states on the way to recovery still take, by their hashes.
    recoveries: HashMap<u64, Micros>,
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

    fn react(&mut self, place: usize, id: u32, input: Input) -> Option<&Reaction> {
        if !self.reactions.contains_key(&(id, input)) {
            let mut end = self.ends[id as usize].clone();
            let frame = match input {
                Input::Hear(frame) | Input::HearHalf(frame) => Some(&self.frames[frame as usize]),
                _ => None,
            };
            let reaction = end.step(&self.scenario.setup, place, input, frame);
            let reaction = reaction.map(|(frame, facts)| Reaction {
                end: self.end_id(end),
                frame: frame.map_or(NONE, |frame| self.frame_id(frame)),
                facts,
            });
            self.reactions.insert((id, input), reaction);
        }
        self.reactions[&(id, input)].as_ref()
    }

    /// The state after a step; `None` if it cannot be taken.
    fn step(&mut self, state: &State, (event, wire, place): Step) -> Result<Option<State>, String> {
        let mut next = *state;
        let heard = state.wires[1 - place][0];
        let input = match event {
            Event::Send => Input::Send,
            Event::Offer if place == 1 && !self.scenario.both_offer => return Ok(None),
            Event::Offer => Input::Offer,
            Event::Hear | Event::HearTwice => match heard {
                NONE => return Ok(None),
                NOISE => Input::Noise,
                half if half & HALF != 0 => Input::HearHalf(half ^ HALF),
                whole => Input::Hear(whole),
            },
            Event::Timer => Input::Timer,
            Event::Fetch => Input::Fetch,
            Event::Room => Input::Room,
            Event::Accept => Input::Accept,
            Event::Reset => Input::Reset,
            Event::Port => Input::Port,
        };
        next.faults += u8::from(matches!(event, Event::HearTwice | Event::Reset)) + u8::from(wire != Wire::Carries);
        if next.faults > self.scenario.faults {
            return Ok(None);
        }
        if event == Event::Hear {
            next.wires[1 - place].rotate_left(1);
            next.wires[1 - place][MOST_ON_WIRE - 1] = NONE;
        }
        let (mut input, mut has_sent) = (input, false);
        loop {
            let sends = matches!(input, Input::Send | Input::Offer);
            let free = next.wires[place][..self.scenario.on_wire].iter().position(|frame| *frame == NONE);
            let is_first = input != Input::Send || event == Event::Send && !has_sent;
            let reaction = match self.react(place, next.ends[place], input) {
                Some(reaction) if !sends || free.is_some() => reaction,
                _ if is_first => return Ok(None),
                _ => break,
            };
            next.ends[place] = reaction.end;
            if let Some(free) = free && reaction.frame != NONE {
                has_sent = true;
                next.wires[place][free] = match wire {
                    Wire::Carries => reaction.frame,
                    Wire::Loses => NONE,
                    Wire::Damages => NOISE,
                    Wire::Cuts => reaction.frame | HALF,
                };
            }
            for fact in &reaction.facts {
                next.flows.learn(place, *fact)?;
            }
            if !self.scenario.is_prompt {
                break;
            }
            input = Input::Send;
        }
        // If nothing was sent, nothing can have happened to it.
        Ok((has_sent || wire == Wire::Carries).then_some(next))
    }

    /// Nothing fails from now on, both users want each other and have packets: how long it takes until all have come, but at least `most`.
    fn recover(&mut self, state: &State, packets: u8, least: Micros) -> Result<(Micros, [End; 2], Flows), String> {
        let setup = self.scenario.setup;
        let mut flows = state.flows;
        let mut ends = state.ends.map(|id| self.ends[id as usize].clone());
        let mut wires: [Vec<(Input, Frame)>; 2] = state.wires.map(|wire| {
            let frames = wire.into_iter().filter(|frame| *frame != NONE);
            let frame = |id: u32| match id {
                NOISE => (Input::Noise, self.frames[0].clone()),
                half if half & HALF != 0 => (Input::HearHalf(0), self.frames[(half ^ HALF) as usize].clone()),
                whole => (Input::Hear(0), self.frames[whole as usize].clone()),
            };
            frames.map(frame).collect()
        });
        let mut left = [packets; 2];
        let mut passed = Vec::new();
        let mut elapsed = 0;
        loop {
            for place in [0, 1] {
                let mut facts = Vec::new();
                let mut act = |end: &mut End, input, frame: Option<&Frame>| {
                    let (frame, learned) = end.step(&setup, place, input, frame)?;
                    facts.extend(learned);
                    Some(frame)
                };
                let end = &mut ends[place];
                if !end.has_room {
                    act(end, Input::Room, None);
                }
                if !end.accepts {
                    act(end, Input::Accept, None);
                }
                for (input, frame) in std::mem::take(&mut wires[1 - place]) {
                    act(end, input, Some(&frame));
                }
                act(end, Input::Fetch, None);
                act(end, Input::Port, None);
                for input in [Input::Send, Input::Send, Input::Offer, Input::Send] {
                    if input == Input::Offer && left[place] == 0 {
                        continue;
                    }
                    if let Some(Some(frame)) = act(end, input, None) {
                        wires[place].push((Input::Hear(0), frame));
                    }
                }
                count(place, facts, &mut left, &mut flows)?;
            }
            let settled = |place: usize| left[place] == 0 && flows.0[place].unsettled == 0 && ends[place].link.is_open();
            let is_quiet = wires.iter().all(Vec::is_empty);
            let is_done = is_quiet && settled(0) && settled(1) && ends[0].port == ends[1].port && elapsed >= least;
            let mut more = 0;
            if least == 0 {
                let mut hasher = DefaultHasher::new();
                (ends.each_ref().map(End::fingerprint), &wires, left).hash(&mut hasher);
                let key = hasher.finish();
                let known = self.recoveries.get(&key);
                passed.push((key, elapsed));
                more = known.copied().unwrap_or(0);
            }
            if is_done || more > 0 {
                let all = elapsed + more;
                self.recoveries.extend(passed.into_iter().map(|(key, at)| (key, (all - at).max(1))));
                return Ok((all, ends, flows));
            }
            if elapsed > least + RECOVERY {
                let opens = [0, 1].map(|place| ends[place].link.is_open());
                return Err(format!("without faults it does not recover: open {opens:?}, packets left {left:?}"));
            }
            let time = ends.iter().map(|end| end.link.deadline().saturating_sub(end.now)).min().unwrap_or(0);
            let time = if is_quiet { time.clamp(1, 100_000) } else { 1 };
            let time = if elapsed < least { time.min(least - elapsed).max(1) } else { time };
            elapsed += time;
            for (place, end) in ends.iter_mut().enumerate() {
                let mut facts = Vec::new();
                end.wait(time, &setup, &mut facts);
                count(place, facts, &mut left, &mut flows)?;
            }
        }
    }
}

/// What has not come is to be sent anew.
fn count(place: usize, facts: Vec<Fact>, left: &mut [u8; 2], flows: &mut Flows) -> Result<(), String> {
    for fact in facts {
        match fact {
            Fact::Sent(_) => left[place] -= 1,
            Fact::Settled(_, FrameResult::Refused) | Fact::Abandoned(_) => left[place] += 1,
            _ => {}
        }
        flows.learn(place, fact)?;
    }
    Ok(())
}

/// Where the states of a scenario begin.
fn roots(machine: &mut Machine<'_>) -> Vec<State> {
    let setup = machine.scenario.setup;
    let cold = State {
        ends: [0, 1].map(|place| machine.end_id(End::new(&setup, place))),
        wires: [[NONE; MOST_ON_WIRE]; 2],
        flows: Flows([Flow::new(); 2]),
        faults: 0,
    };
    if machine.scenario.ages.is_empty() {
        return vec![cold];
    }
    // With no numbers used, and with three of four, so that the next but one is the first again.
    let ages = machine.scenario.ages.iter().flat_map(|age| [(0, *age), (3, *age)]);
    let up = |(packets, age)| {
        let (_, ends, flows) = machine.recover(&cold, packets, age).expect("ends come up without faults");
        State { ends: ends.map(|end| machine.end_id(end)), flows, ..cold }
    };
    ages.map(up).collect()
}

/// Visits all states of a scenario. Panics with the shortest way to one in which something is wrong.
pub(crate) fn explore(scenario: &Scenario) -> Explored {
    let mut machine = Machine {
        scenario,
        ends: Vec::new(),
        end_ids: HashMap::new(),
        frames: Vec::new(),
        frame_ids: HashMap::new(),
        reactions: HashMap::new(),
        recoveries: HashMap::new(),
    };
    // What a state was reached from, and how; and the hashes of all: two of a hundred million are the same with a probability of 1 in 3,000.
    let mut parents: Vec<(u32, Step)> = Vec::new();
    let mut seen = HashSet::new();
    let mut is_new = |state: &State| {
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        seen.insert(hasher.finish())
    };
    let mut level = roots(&mut machine);
    parents.resize(level.len(), (NONE, (Event::Hear, Wire::Carries, 0)));
    let mut slowest = 0;
    for depth in 0.. {
        let first = parents.len() - level.len();
        for (place, state) in level.iter().enumerate() {
            match machine.recover(state, AFTERWARDS, 0) {
                Ok((time, ..)) => slowest = slowest.max(time),
                Err(error) => panic!("{}", way(scenario, &parents, first + place, None, &error)),
            }
        }
        if depth == scenario.depth || level.is_empty() {
            break;
        }
        let steps = scenario.events.iter().flat_map(|event| scenario.wires.iter().map(|wire| (*event, *wire)));
        let steps: Vec<Step> = steps.flat_map(|(event, wire)| [(event, wire, 0), (event, wire, 1)]).collect();
        let mut next_level = Vec::new();
        for (place, state) in level.iter().enumerate() {
            for &step in &steps {
                match machine.step(state, step) {
                    Ok(Some(next)) if is_new(&next) => {
                        next_level.push(next);
                        parents.push(((first + place) as u32, step));
                    }
                    Ok(_) => {}
                    Err(error) => panic!("{}", way(scenario, &parents, first + place, Some(step), &error)),
                }
            }
        }
        level = next_level;
    }
    Explored { states: parents.len(), slowest, is_all: level.is_empty() }
}

/// The steps that lead to a state, and what is wrong there.
fn way(scenario: &Scenario, parents: &[(u32, Step)], place: usize, last: Option<Step>, error: &str) -> String {
    let mut steps: Vec<Step> = last.into_iter().collect();
    let mut place = place;
    while parents[place].0 != NONE {
        steps.push(parents[place].1);
        place = parents[place].0 as usize;
    }
    steps.reverse();
    format!("{error}\n{}, from state {place}, {} steps: {steps:?}", scenario.name, steps.len())
}
