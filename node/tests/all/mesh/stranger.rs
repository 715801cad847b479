//! The bare end of a cable: it says it is whoever the test wants, sends what it is told, and notes what comes, byte by byte. So a test
//! can stand between two boards, or in place of one.

use std::collections::{BTreeMap, VecDeque};

use super::harness::APP;
use crate::support::*;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) channel: u8,
    pub(crate) header: Header,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Micros,
}

pub(crate) struct Stranger {
    pub(crate) link: Link<WIRE>,
    pub(crate) heard: Vec<Heard>,
    pub(crate) results: Vec<(Token, FrameResult)>,
    pub(crate) ups: Vec<Identity>,
    pub(crate) downs: Vec<Down>,
    /// Whether there is room for what comes.
    pub(crate) takes: bool,
    /// Whether it says hello and nothing else.
    pub(crate) mute: bool,
    outgoing: VecDeque<(u8, Vec<u8>)>,
    under_way: BTreeMap<Token, (u8, Vec<u8>)>,
    next_token: Token,
}

/// Where the port of an application is in a body. Tests say and hear bodies without it: it is always [`APP`].
fn port_at(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Datagram | Kind::Broadcast => Some(0),
        Kind::Confirmed => Some(2),
        _ => None,
    }
}

impl Stranger {
    pub(super) fn new(identity: Identity, baud: u32, now: Micros) -> Self {
        Stranger {
            link: Link::welcoming(identity, baud, now),
            heard: Vec::new(),
            results: Vec::new(),
            ups: Vec::new(),
            downs: Vec::new(),
            takes: true,
            mute: false,
            outgoing: VecDeque::new(),
            under_way: BTreeMap::new(),
            next_token: 0,
        }
    }

    /// Sends a packet in a virtual channel as soon as it may.
    pub(crate) fn send(&mut self, channel: u8, header: &Header, body: &[u8]) {
        let mut bytes = [0; MAX_HEADER];
        let length = header.write(&mut bytes).expect("room for any header");
        let (before, after) = body.split_at(port_at(header.kind).map_or(body.len(), |at| at.min(body.len())));
        let port = port_at(header.kind).map(|_| APP.0);
        self.send_bytes(channel, &[&bytes[..length], before, port.as_slice(), after].concat());
    }

    pub(crate) fn send_bytes(&mut self, channel: u8, bytes: &[u8]) {
        self.outgoing.push_back((channel, bytes.to_vec()));
    }

    /// Packets it was told to send whose fate it does not know.
    pub(crate) fn unsettled(&self) -> usize {
        self.outgoing.len() + self.under_way.len()
    }

    pub(crate) fn refused(&self) -> usize {
        let results = self.results.iter();
        results.filter(|(_, result)| *result == FrameResult::Refused).count()
    }

    pub(super) fn receive(&mut self, mut bytes: &[u8], now: Micros) {
        while let Some(received) = self.link.receive(&mut bytes, now) {
            match received {
                Received::Packet { channel, length } => {
                    let (header, body) = self.link.header(length).expect("a packet");
                    let mut body = body.to_vec();
                    if let Some(at) = port_at(header.kind).filter(|&at| at < body.len()) {
                        body.remove(at);
                    }
                    if self.takes {
                        self.heard.push(Heard {
                            channel,
                            header,
                            body,
                            at: now,
                        });
                        self.link.take();
                    }
                }
                Received::Up(peer) => self.ups.push(peer),
                Received::Down(reason) => self.downs.push(reason),
                Received::Frame | Received::Time(_) | Received::Changed | Received::Damaged(_) => {}
            }
            self.settle();
        }
    }

    pub(super) fn settle(&mut self) {
        while let Some((token, result)) = self.link.completed() {
            let packet = self.under_way.remove(&token).expect("it is under way");
            self.results.push((token, result));
            if result == FrameResult::Refused {
                self.outgoing.push_back(packet);
            }
        }
        while let Some(token) = self.link.abandoned() {
            let packet = self.under_way.remove(&token).expect("it is under way");
            self.outgoing.push_back(packet);
        }
    }

    pub(super) fn transmit(&mut self, now: Micros, out: &mut [u8]) -> Option<usize> {
        match self.link.turn(now) {
            Turn::New(_) if self.mute => None,
            Turn::Nothing | Turn::Time => None,
            Turn::Control => {
                let length = self.link.write_control(now, out);
                // A hello is a delimiter, and then the code of a 0.
                length.filter(|_| !self.mute || out.starts_with(&[0, 1]))
            }
            Turn::Retransmit(token) => {
                let (channel, bytes) = self.under_way.get(&token)?;
                self.link.write_packet(token, *channel, [bytes, &[]], now, out)
            }
            Turn::New(room) => {
                let open = self.outgoing.iter().position(|(channel, _)| room.takes(*channel));
                let Some((channel, bytes)) = open.and_then(|at| self.outgoing.remove(at)) else {
                    return self.link.write_control(now, out);
                };
                let token = self.next_token;
                self.next_token = token.wrapping_add(1);
                let length = self.link.write_packet(token, channel, [&bytes, &[]], now, out);
                self.under_way.insert(token, (channel, bytes));
                length
            }
        }
    }
}
