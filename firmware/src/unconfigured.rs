//! A board without a usable configuration: in no mesh, but a computer can talk to it.

use hopwise_core::board::{Command, Done};
use hopwise_core::limits::{BODY, WIRE};
use hopwise_core::link::{Fate, Identity, Link, Micros, Received, Role, Turn};
use hopwise_core::node::{Header, Kind, MAX_HEADER, NodeReport, Packet, Query};

use crate::about::About;
use crate::answer::{self, Deferred};
use crate::boards::PORTS;

/// The number by which the link knows the one answer that is on its way.
const ANSWER: u8 = 0;

/// The link to the computer, and one answer.
pub(crate) struct Unconfigured {
    link: Link<WIRE>,
    answer: Option<Packet<BODY>>,
    /// The link has the answer.
    under_way: bool,
}

impl Unconfigured {
    pub(crate) fn new(about: &About, now: Micros) -> Self {
        let identity = Identity {
            role: Role::Node,
            // No expression has this number but by chance.
            network: 0,
            address: 0,
            port: PORTS as u8 - 1,
            epoch: about.epoch,
            largest: (BODY + MAX_HEADER) as u16,
        };
        Unconfigured {
            link: Link::new(identity, about.baud, now),
            answer: None,
            under_way: false,
        }
    }

    pub(crate) fn receive(&mut self, mut bytes: &[u8], about: &About, now: Micros, deferred: &mut Option<Deferred>) {
        while let Some(received) = self.link.receive(&mut bytes, now) {
            let packet = match received {
                Received::Packet { packet, .. } => Packet::read(packet),
                Received::Up(_) => {
                    defmt::info!("a computer is there");
                    None
                }
                _ => None,
            };
            if let Some(packet) = packet.filter(|_| self.answer.is_none()) {
                self.link.take();
                self.answer = Self::understand(&packet, about, now, deferred);
            }
            self.settle();
        }
    }

    fn settle(&mut self) {
        while let Some((_, fate)) = self.link.settled() {
            self.under_way = false;
            if fate == Fate::Taken {
                self.answer = None;
            }
        }
        while self.link.abandoned().is_some() {
            self.under_way = false;
            self.answer = None;
        }
    }

    fn understand(
        packet: &Packet<BODY>,
        about: &About,
        now: Micros,
        deferred: &mut Option<Deferred>,
    ) -> Option<Packet<BODY>> {
        let &[query, a0, a1, a2, a3, ref more @ ..] = packet.body.as_slice() else {
            return None;
        };
        if packet.header.kind != Kind::Request {
            return None;
        }
        let query = Query::from_number(query)?;
        let number = packet.header.number;
        let asked = u32::from_le_bytes([a0, a1, a2, a3]);
        let answer = match query {
            Query::Board(board) => match Command::read(board, more) {
                Some(command) => answer::without_mesh(command, about, now, deferred),
                None => answer::encode(&Done::Unknown),
            },
            Query::Ping => answer::copy_of(more),
            Query::Identity => answer::encode(&report(about, now)),
            _ => return None,
        };
        let header = Header {
            kind: Kind::Response,
            to_host: true,
            from_host: false,
            epoch: about.epoch as u16,
            traced: false,
            age: 0,
            ..packet.header
        };
        let body = Query::write_answer(query, number, asked, &answer)?;
        Some(Packet { header, body })
    }

    pub(crate) fn transmit(&mut self, out: &mut [u8], now: Micros) -> usize {
        let written = match (self.link.turn(now), &self.answer) {
            (Turn::Nothing, _) => None,
            (Turn::Again(_), Some(answer)) => write(&mut self.link, answer, now, out),
            (Turn::New(room), Some(answer)) if room.takes(0) && !self.under_way => {
                self.under_way = true;
                write(&mut self.link, answer, now, out)
            }
            _ => self.link.write_control(now, out),
        };
        written.unwrap_or(0)
    }

    pub(crate) fn tick(&mut self, now: Micros) {
        if self.link.tick(now).is_some() {
            self.settle();
        }
    }

    pub(crate) fn deadline(&self) -> Micros {
        self.link.deadline()
    }
}

fn write(link: &mut Link<WIRE>, answer: &Packet<BODY>, now: Micros, out: &mut [u8]) -> Option<usize> {
    let mut header = [0; MAX_HEADER];
    let length = answer.header.write(&mut header)?;
    link.write_packet(ANSWER, 0, [header.get(..length)?, &answer.body], now, out)
}

/// A node that is none: in no network, with no neighbours.
fn report(about: &About, now: Micros) -> NodeReport {
    NodeReport {
        network: 0,
        address: 0,
        epoch: about.epoch,
        uptime_ms: now / 1_000,
        links: PORTS as u8,
        neighbors: 0,
        neighbors_up: 0,
        card: about.card(),
    }
}
