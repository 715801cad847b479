//! Two links, the wire between them in virtual time, and an account of every packet.

use std::collections::{HashMap, VecDeque};

use hopwise_node::key::Credentials;
use hopwise_node::link::{Down, FrameResult, Link, Micros, Received, Token, Turn};
use hopwise_node::wire::{Header, Identity, Kind, Role, StepSet, TimeSignal, WIRE};

use crate::support::START;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Flip(u8),
    Lose,
    Insert(u8),
    Double,
}

/// Faults of one direction: each after so many good bytes.
pub(crate) type Faults = VecDeque<(u16, Fault)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    Up,
    Down(Down),
}

/// One end, and the direction of the wire that leaves it.
pub(crate) struct End {
    pub(crate) link: Link<WIRE>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) left: usize,
    /// The serial number of what each token stands for.
    on_the_way: HashMap<Token, u64>,
    next_token: Token,
    /// Every packet that is given to the link anew has the next one.
    next_serial: u64,
    /// Of this end's packets, what the other end did with each: took it, or had no room.
    arrived: HashMap<u64, bool>,
    last_arrived: Option<u64>,
    /// One in so many packets finds no room here.
    refuse_every: u64,
    pub(crate) dead: bool,
    /// It stands still: it hears and says nothing, and what comes waits.
    pub(crate) stands_still: bool,
    pub(crate) faults: Faults,
    free_at: Micros,
    /// When each arrives, at which rate and since when it is sent.
    flying: VecDeque<(Micros, u32, Micros, Vec<u8>)>,
    pub(crate) port: SerialPort,
    epoch: u32,
    credentials: Option<Credentials>,
}

/// The serial port of an end that may change its rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SerialPort {
    pub(crate) steps: StepSet,
    pub(crate) baud: u32,
    pub(crate) changes: u32,
    since: Micros,
    /// It changes its rate so much later than it should; never if that is the largest number.
    pub(crate) late: Micros,
    wanted: Option<(u32, Micros)>,
    /// When the last packet came, and the longest time between two.
    packet_at: Option<Micros>,
    pub(crate) longest_gap: Micros,
}

impl SerialPort {
    /// The rate of the next frame.
    fn follow(&mut self, link: &mut Link<WIRE>, now: Micros) -> bool {
        if let Some(baud) = link.take_baud() {
            self.wanted = Some((baud, now.saturating_add(self.late)));
        }
        if let Some((baud, at)) = self.wanted.filter(|(_, at)| *at <= now) {
            (self.baud, self.since, self.wanted) = (baud, at, None);
            self.changes += 1;
        }
        self.wanted.is_none() || self.late == Micros::MAX
    }
}

/// Whether a frame is damaged that this end sends, at a rate and a time.
pub(crate) type Cable = dyn FnMut(usize, u32, Micros) -> bool;

/// Someone on the wire: what comes out of it, given the end that sent something and what it sent.
pub(crate) type Tamper = dyn FnMut(usize, Vec<u8>) -> Vec<u8>;

pub(crate) struct Pair {
    /// What each end has sent, once that is wanted.
    pub(crate) record: Option<Vec<(usize, Vec<u8>)>>,
    pub(crate) tamper: Option<Box<Tamper>>,
    pub(crate) cable: Option<Box<Cable>>,
    pub(crate) now: Micros,
    pub(crate) ends: [End; 2],
    baud: u32,
}

pub(crate) fn identity(end: usize, epoch: u32) -> Identity {
    Identity {
        role: Role::Node,
        network: 77,
        address: end as u64,
        port: 0,
        epoch,
        mtu: 250,
    }
}

pub(crate) fn host_identity(end: usize, epoch: u32) -> Identity {
    Identity {
        role: Role::Host,
        ..identity(end, epoch)
    }
}

pub(crate) fn time_signal() -> TimeSignal {
    TimeSignal {
        number: 1,
        sent: Some(1),
        mesh: Some(1),
        rate: 0,
        root: 0,
        round: 1,
        hops: 0,
    }
}

/// Gives what one end has to say of its own accord to the other.
pub(crate) fn control(from: &mut Link<WIRE>, to: &mut Link<WIRE>, now: u64) {
    let mut out = [0; WIRE];
    let length = from.write_control(now, &mut out).unwrap_or(0);
    to.receive(&mut &out[..length], now);
}

/// The content of a packet follows from its number, so that any damage shows.
fn content(from: usize, serial: u64) -> Vec<u8> {
    let mut bytes = vec![from as u8];
    bytes.extend(serial.to_le_bytes());
    bytes.extend((0..serial * 7 % 150).map(|place| (serial ^ (place * 3)) as u8));
    bytes
}

/// Five sources, with confirmed packets and hosts beside them, more than a link remembers; they restart now and then, and their numbers pass a
/// multiple of 65,536, and wrap.
fn header(serial: u64) -> Header {
    let kind = [Kind::Datagram, Kind::Datagram, Kind::Confirmed][serial as usize / 3 % 3];
    Header {
        epoch: 7 + (serial / 50) as u16,
        number: 0xffff_fff0_u32.wrapping_add(serial as u32 / 2),
        hops_left: 200 + serial as u16 % 100,
        from_host: serial.is_multiple_of(11),
        ..Header::new(kind, serial / 4 % 5, 1 << 40)
    }
}

fn channel(serial: u64) -> u8 {
    (serial % 4) as u8
}

impl Pair {
    pub(crate) fn new(baud: u32, packets: [usize; 2], refuse_every: u64) -> Pair {
        let end = |place: usize| End {
            link: Link::welcoming(identity(place, 1), baud, START),
            notices: Vec::new(),
            left: packets[place],
            on_the_way: HashMap::new(),
            next_token: 0,
            next_serial: 0,
            arrived: HashMap::new(),
            last_arrived: None,
            refuse_every,
            dead: false,
            stands_still: false,
            faults: Faults::new(),
            free_at: 0,
            flying: VecDeque::new(),
            port: SerialPort {
                baud,
                ..SerialPort::default()
            },
            epoch: 1,
            credentials: None,
        };
        Pair {
            record: None,
            tamper: None,
            cable: None,
            now: START,
            ends: [end(0), end(1)],
            baud,
        }
    }

    /// The same, each end with a key, or without.
    #[cfg(feature = "keys")]
    pub(crate) fn locked(mut self, credentials: [Option<Credentials>; 2]) -> Pair {
        for (end, credentials) in self.ends.iter_mut().zip(credentials) {
            end.credentials = credentials;
            end.lock();
        }
        self
    }

    /// An end begins anew, with a new epoch. It still has to send what it does not know to have come.
    pub(crate) fn restart(&mut self, place: usize) {
        let end = &mut self.ends[place];
        end.epoch += 1;
        end.link = Link::welcoming(identity(place, end.epoch), self.baud, self.now);
        end.lock();
        end.link.allow_steps(end.port.steps);
        (end.port.baud, end.port.since, end.port.wanted) = (self.baud, self.now, None);
        end.left += end.on_the_way.len();
        end.on_the_way.clear();
        // What it was sending breaks off.
        end.flying.clear();
    }

    /// The ports of both ends may change their rates.
    pub(crate) fn with_steps(mut self, steps: [StepSet; 2]) -> Pair {
        for (end, steps) in self.ends.iter_mut().zip(steps) {
            end.port.steps = steps;
            end.link.allow_steps(steps);
        }
        self
    }

    /// Bytes that an end has sent and that have not been heard.
    pub(crate) fn waiting_from(&self, place: usize) -> usize {
        self.ends[place].flying.iter().map(|(.., bytes)| bytes.len()).sum()
    }

    pub(crate) fn both_up(&self) -> bool {
        self.ends.iter().all(|end| end.link.is_open())
    }

    /// Every packet has come, and its sender knows.
    pub(crate) fn all_sent(&self) -> bool {
        self.ends.iter().all(|end| end.left == 0 && end.on_the_way.is_empty())
    }

    /// Goes on until `done` or for so long; says whether it was done.
    pub(crate) fn run(&mut self, micros: Micros, done: impl Fn(&Pair) -> bool) -> bool {
        let end = self.now + micros;
        while !done(self) {
            for place in 0..2 {
                if !self.ends[place].stands_still {
                    self.arrive(place);
                    self.look_at_the_clock(place);
                    self.send(place);
                }
            }
            let awake = self.ends.iter().filter(|end| !end.stands_still);
            let next = awake.map(|end| end.next_moment(self.now)).min().unwrap_or(end + 1);
            if next > end {
                self.now = end;
                return done(self);
            }
            self.now = next;
        }
        true
    }

    fn look_at_the_clock(&mut self, place: usize) {
        let end = &mut self.ends[place];
        if let Some(Received::Down(reason)) = end.link.tick(self.now) {
            end.notices.push(Notice::Down(reason));
        }
        end.settle();
    }

    fn arrive(&mut self, place: usize) {
        let [zero, one] = &mut self.ends;
        let (here, there) = if place == 0 { (zero, one) } else { (one, zero) };
        while there.flying.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, baud, since, mut bytes)) = there.flying.pop_front() else {
                break;
            };
            let is_damaged = self
                .cable
                .as_mut()
                .is_some_and(|cable| cable(1 - place, baud, self.now));
            if baud != here.port.baud || since < here.port.since || is_damaged {
                bytes
                    .iter_mut()
                    .step_by(3)
                    .for_each(|byte| *byte = byte.rotate_left(3) ^ 0x5a);
            }
            let mut bytes = &bytes[..];
            while let Some(received) = here.link.receive(&mut bytes, self.now) {
                match received {
                    Received::Packet { channel, length } => {
                        let serial = check_packet(1 - place, channel, here.link.header(length), there);
                        let taken = !(serial + 1).is_multiple_of(here.refuse_every);
                        there.arrived.insert(serial, taken);
                        there.last_arrived = Some(serial);
                        let before = here.port.packet_at.replace(self.now).unwrap_or(self.now);
                        here.port.longest_gap = here.port.longest_gap.max(self.now - before);
                        if taken {
                            here.link.take();
                        }
                    }
                    Received::Up(peer) => {
                        assert_eq!(peer.address, 1 - place as u64);
                        here.notices.push(Notice::Up);
                    }
                    Received::Down(reason) => here.notices.push(Notice::Down(reason)),
                    Received::Frame | Received::Time(_) | Received::Changed | Received::Damaged(_) => {}
                }
                here.settle();
            }
        }
    }

    fn send(&mut self, place: usize) {
        let now = self.now;
        let end = &mut self.ends[place];
        if end.free_at > now {
            return;
        }
        if !end.port.follow(&mut end.link, now) {
            return;
        }
        let mut out = [0; WIRE];
        let length = match end.link.turn(now) {
            Turn::Nothing | Turn::Time => None,
            Turn::Control => end.link.write_control(now, &mut out),
            Turn::Retransmit(token) => {
                let serial = end.on_the_way[&token];
                let (header, body) = (header(serial), content(place, serial));
                end.link.write(token, channel(serial), &header, &body, now, &mut out)
            }
            Turn::New(room) if end.left > 0 && room.takes(channel(end.next_serial)) => {
                let (token, serial) = (end.next_token, end.next_serial);
                let (header, body) = (header(serial), content(place, serial));
                end.on_the_way.insert(token, serial);
                end.next_token = token.wrapping_add(1);
                end.next_serial += 1;
                end.left -= 1;
                end.link.write(token, channel(serial), &header, &body, now, &mut out)
            }
            Turn::New(_) => end.link.write_control(now, &mut out),
        };
        if let Some(length) = length {
            let bits = 10_000_000 * length as u64;
            end.free_at = now + bits.div_ceil(end.port.baud.into());
            let mut bytes = end.carried(&out[..length]);
            if let Some(record) = &mut self.record {
                record.push((place, bytes.clone()));
            }
            if let Some(tamper) = &mut self.tamper {
                bytes = tamper(place, bytes);
            }
            if !end.dead {
                end.flying.push_back((end.free_at, end.port.baud, now, bytes));
            }
        }
    }
}

/// A packet came: it was sent, is as it was, and comes after all that came before. Returns its number.
fn check_packet(from: usize, found_channel: u8, packet: Option<(Header, &[u8])>, sender: &End) -> u64 {
    let (found_header, body) = packet.expect("a packet");
    let number = body
        .get(1..9)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u64::from_le_bytes);
    let serial = number.expect("a packet has a number");
    assert!(serial < sender.next_serial, "packet {serial} was not sent");
    assert_eq!((body, found_channel), (&content(from, serial)[..], channel(serial)));
    assert_eq!(found_header, header(serial), "packet {serial}");
    let last = sender.last_arrived;
    assert!(
        last.is_none_or(|last| last < serial),
        "packet {serial} came after {last:?}"
    );
    serial
}

impl End {
    fn lock(&mut self) {
        if let Some(credentials) = &self.credentials {
            self.link.lock(credentials);
        }
    }

    /// Learns the fate of packets; what did not come is to be retransmitted as a new one.
    fn settle(&mut self) {
        while let Some((token, result)) = self.link.completed() {
            let serial = self.on_the_way.remove(&token).expect("a token on the way");
            let taken = self.arrived.remove(&serial);
            assert_eq!(
                taken,
                Some(result == FrameResult::Taken),
                "packet {serial} is said to be {result:?}"
            );
            if result == FrameResult::Refused {
                self.left += 1;
            }
        }
        let mut before = None;
        while let Some(token) = self.link.abandoned() {
            let serial = self.on_the_way.remove(&token).expect("a token on the way");
            assert!(before < Some(serial), "the oldest is abandoned first");
            before = Some(serial);
            self.left += 1;
        }
        if !self.link.is_up() {
            assert!(self.on_the_way.is_empty(), "all packets come back when a session ends");
        }
    }

    fn carried(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for &byte in bytes {
            let fault = match self.faults.front_mut() {
                Some((0, _)) => self.faults.pop_front().map(|(_, fault)| fault),
                Some((wait, _)) => {
                    *wait -= 1;
                    None
                }
                None => None,
            };
            match fault {
                None => out.push(byte),
                Some(Fault::Flip(bit)) => out.push(byte ^ 1 << (bit % 8)),
                Some(Fault::Lose) => {}
                Some(Fault::Insert(extra)) => out.extend([extra, byte]),
                Some(Fault::Double) => out.extend([byte, byte]),
            }
        }
        out
    }

    fn next_moment(&self, now: Micros) -> Micros {
        let free = Some(self.free_at).filter(|&at| at > now);
        // What the other end does not fetch is nothing to wait for.
        let arrival = self.flying.front().map(|&(at, ..)| at).filter(|&at| at > now);
        let deadline = self.link.deadline();
        let change = self.port.wanted.map(|(_, at)| at).filter(|&at| at > now);
        let waits = [free, arrival, change, Some(deadline)].into_iter().flatten();
        waits.min().unwrap_or(deadline).max(now + 1)
    }
}
