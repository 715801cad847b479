//! One end of the wire: what it does next depends on its state and one input.

use std::hash::{DefaultHasher, Hash, Hasher};

use hopwise_node::capacities::LinkSizes;
use hopwise_node::link::{FrameResult, LinkOf, Micros, Received, Token, Turn};
use hopwise_node::wire::{Header, Identity, Kind, Offer, Role, StepSet};

/// The longest encoded frame; frames in flight; sequence numbers, which wrap with every fourth packet.
const WIRE: usize = 96;
pub(crate) const WINDOW: u8 = 2;
type Sizes = LinkSizes<WIRE, { WINDOW as usize }, 4>;

/// The number of packets is told modulo this, which is more than can be mistaken for one another.
const INDEXES: u8 = 8;
/// What is no frame.
pub(crate) const NO_FRAME: [u8; 8] = [0x21, 7, 7, 7, 7, 7, 7, 0];
/// An end that is to send and cannot looks at its clock so much later.
const LATE: Micros = 10_000;

/// What all ends of a model have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    #[cfg_attr(not(feature = "keys"), allow(dead_code, reason = "there are no keys"))]
    pub(crate) is_keyed: bool,
    pub(crate) roles: [Role; 2],
    pub(crate) baud: u32,
    pub(crate) steps: [StepSet; 2],
    /// What was acknowledged is fetched by an input of its own, not at once.
    pub(crate) fetches_late: bool,
}

/// A packet: how many sessions its sender had before, and how many packets in this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Packet {
    pub(crate) life: u8,
    pub(crate) index: u8,
}

impl Packet {
    pub(crate) fn next(self) -> Self {
        let index = (self.index + 1) % INDEXES;
        Packet { index, ..self }
    }

    /// How many packets after another of the same session.
    pub(crate) fn after(self, first: u8) -> u8 {
        self.index.wrapping_sub(first) % INDEXES
    }

    /// The high half of the numbers changes in between.
    fn header(self) -> Header {
        let number = 0x1_0000 - u32::from(INDEXES / 2) + u32::from(self.index);
        Header::new(Kind::Datagram, 1, 2).numbered(7, number)
    }

    fn of(header: &Header, body: &[u8]) -> Option<Self> {
        let &[life, index] = body else { return None };
        let packet = Packet { life, index };
        (*header == packet.header()).then_some(packet)
    }
}

/// What can happen at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Event {
    /// It sends what it has to say itself, or a packet of its user.
    Send,
    Offer,
    /// The next frame comes; or comes, and comes once more.
    Hear,
    HearTwice,
    /// It looks at its clock when it wanted to, or some time later.
    Timer,
    Wait(Micros),
    /// Its user fetches what was acknowledged; has room for packets or no longer has; wants the other end or no longer does.
    Fetch,
    Room,
    Accept,
    Reset,
    /// The serial port takes its new rate.
    Port,
}

/// What its user learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    Sent,
    /// A packet came, and there was room for it or not. `None` if it is none that was ever sent.
    Came(Option<Packet>, bool),
    Settled(Token, FrameResult),
    Abandoned(Token),
    Up,
    /// The session is over, and all is returned.
    Over,
    Reset,
}

/// A frame, and the rate at which it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    pub(crate) baud: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) link: LinkOf<Sizes>,
    pub(crate) now: Micros,
    /// The rate of its serial port.
    pub(crate) port: u32,
    pub(crate) epoch: u32,
    pub(crate) has_room: bool,
    pub(crate) accepts: bool,
    next: Packet,
}

impl End {
    pub(crate) fn new(setup: &Setup, place: usize) -> Self {
        let now = (1 << 32) * 1_000 - 1_000_000;
        End {
            link: link(setup, place, 1, now),
            now,
            port: setup.baud,
            epoch: 1,
            has_room: true,
            accepts: true,
            next: Packet { life: 0, index: 0 },
        }
    }

    /// What its future depends on, as a number of 128 bits.
    pub(crate) fn fingerprint(&self) -> u128 {
        let state = (self.port, self.epoch, self.has_room, self.accepts, self.next);
        let canonical = self.link.canonical(self.now);
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, state, &canonical).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(1) << 64 | half(2)
    }

    /// The frame to send, and what the user learns. `None` if that cannot happen now. `heard` is what comes if something is heard.
    pub(crate) fn step(
        &mut self,
        setup: &Setup,
        place: usize,
        event: Event,
        heard: &Frame,
    ) -> Option<(Option<Frame>, Vec<Fact>)> {
        let mut facts = Vec::new();
        let mut sent = None;
        match event {
            Event::Send | Event::Offer => sent = self.send(event == Event::Offer, &mut facts)?,
            Event::Hear | Event::HearTwice if heard.baud != self.port => self.hear(setup, &NO_FRAME, &mut facts),
            Event::Hear | Event::HearTwice => self.hear(setup, &heard.bytes, &mut facts),
            Event::Wait(time) => self.wait(time, setup, &mut facts),
            Event::Timer => match self.link.deadline() {
                Micros::MAX => return None,
                at if at <= self.now => self.wait(LATE, setup, &mut facts),
                at => self.wait(at - self.now, setup, &mut facts),
            },
            Event::Fetch => self.fetch(&mut facts),
            Event::Room => {
                self.has_room = !self.has_room;
                self.tell_room();
            }
            Event::Accept => {
                self.accepts = !self.accepts;
                self.link.accept(self.accepts, self.now);
            }
            Event::Reset => {
                self.epoch += 1;
                self.link = link(setup, place, self.epoch, self.now);
                self.link.accept(self.accepts, self.now);
                self.tell_room();
                self.port = setup.baud;
                self.begin_life();
                facts.push(Fact::Reset);
            }
            Event::Port => self.port = self.link.take_baud()?,
        }
        Some((sent, facts))
    }

    fn tell_room(&mut self) {
        self.link
            .offer(if self.has_room { Offer::ALL } else { Offer::new(0, 0) });
    }

    /// Time passes, which the link notices.
    fn wait(&mut self, time: Micros, setup: &Setup, facts: &mut Vec<Fact>) {
        self.now += time;
        let was_up = self.link.is_up();
        self.link.tick(self.now);
        self.settle(setup, was_up, facts);
    }

    /// The outer `None` if there is nothing to send, the inner if its user has only found that out.
    fn send(&mut self, offers: bool, facts: &mut Vec<Fact>) -> Option<Option<Frame>> {
        if self.link.clone().take_baud().is_some() {
            return None;
        }
        let mut out = [0; WIRE];
        let now = self.now;
        let turn = self.link.turn(now);
        let length = match turn {
            Turn::Retransmit(token) if !offers => {
                let packet = Packet {
                    index: token,
                    ..self.next
                };
                self.link
                    .write(token, 0, &packet.header(), &[packet.life, token], now, &mut out)?
            }
            Turn::New(room) if offers && room.takes(0) => {
                let packet @ Packet { life, index } = self.next;
                let length = self
                    .link
                    .write(index, 0, &packet.header(), &[life, index], now, &mut out)?;
                self.next = packet.next();
                facts.push(Fact::Sent);
                length
            }
            Turn::New(_) if offers => {
                self.link.starves(now);
                return Some(None);
            }
            Turn::Control | Turn::New(_) if !offers => self.link.write_control(now, &mut out)?,
            _ => return None,
        };
        let bytes = out[..length].to_vec();
        Some(Some(Frame { bytes, baud: self.port }))
    }

    fn hear(&mut self, setup: &Setup, mut bytes: &[u8], facts: &mut Vec<Fact>) {
        loop {
            let was_up = self.link.is_up();
            let Some(received) = self.link.receive(&mut bytes, self.now) else {
                break;
            };
            if let Received::Packet { length, .. } = received {
                let packet = self
                    .link
                    .header(length)
                    .and_then(|(header, body)| Packet::of(&header, body));
                if self.has_room {
                    self.link.take();
                }
                facts.push(Fact::Came(packet, self.has_room));
            }
            self.settle(setup, was_up, facts);
        }
    }

    /// What became of packets, and of the session.
    fn settle(&mut self, setup: &Setup, was_up: bool, facts: &mut Vec<Fact>) {
        let is_up = self.link.is_up();
        if is_up && !was_up {
            facts.push(Fact::Up);
        }
        if !(is_up && setup.fetches_late) {
            self.fetch(facts);
        }
        if was_up && !is_up {
            while let Some(token) = self.link.abandoned() {
                facts.push(Fact::Abandoned(token));
            }
            facts.push(Fact::Over);
            self.begin_life();
        }
    }

    fn fetch(&mut self, facts: &mut Vec<Fact>) {
        while let Some((token, result)) = self.link.completed() {
            facts.push(Fact::Settled(token, result));
        }
    }

    fn begin_life(&mut self) {
        self.next = Packet {
            life: self.next.life + 1,
            index: 0,
        };
    }
}

fn link(setup: &Setup, place: usize, epoch: u32, now: Micros) -> LinkOf<Sizes> {
    let identity = Identity {
        role: setup.roles[place],
        network: 77,
        address: place as u64,
        port: 0,
        epoch,
        mtu: 40,
    };
    let mut link = LinkOf::welcoming(identity, setup.baud, now);
    #[cfg(feature = "keys")]
    if setup.is_keyed {
        use hopwise_node::key::{Credentials, Key, Secret};
        let secret = Secret::new(Key::new([5; 16]), false);
        link.lock(&Credentials {
            secret,
            random: [0; 16],
        });
    }
    link.allow_steps(setup.steps[place]);
    link
}
