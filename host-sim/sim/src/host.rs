//! A host at the serial port of a board: it asks nodes what they answer, and keeps what comes back.

use hopwise_core::Node;
use hopwise_node::endpoint::{Endpoint, Heard};
use hopwise_node::key::Credentials;
use hopwise_node::limits::BODY;
use hopwise_node::link::Micros;
use hopwise_node::router::{Event, Observer};
use hopwise_node::wire::{Packet, PacketId, Query};

/// Maximum number of requests that wait for the link or are in flight.
const SLOTS: usize = 4;

pub struct Host {
    pub(crate) endpoint: Endpoint<SLOTS>,
    heard: Vec<Packet<BODY>>,
}

impl Host {
    /// One that has just been plugged in.
    pub fn new(epoch: u32, baud: u32, credentials: Option<Credentials>, now: Micros) -> Self {
        let mut endpoint = Endpoint::host(epoch, baud, now);
        credentials.iter().for_each(|credentials| endpoint.lock(credentials));
        Host {
            endpoint,
            heard: Vec::new(),
        }
    }

    /// Asks a node something. Returns the name of the request; `None` if too many wait.
    pub fn ask(&mut self, dest: Node, query: Query, payload: &[u8], now: Micros) -> Option<PacketId> {
        if !self.endpoint.has_room() {
            return None;
        }
        let request = self.endpoint.request(dest, query, payload, now)?;
        let id = request.header.id();
        self.endpoint.send(request).ok().map(|()| id)
    }

    /// What has come for it since this was last asked.
    pub fn heard(&mut self) -> Vec<Packet<BODY>> {
        std::mem::take(&mut self.heard)
    }

    pub fn receive(&mut self, mut bytes: &[u8], now: Micros, observer: &mut impl Observer) {
        while let Some(heard) = self.endpoint.receive(&mut bytes, now) {
            if let Heard::Packet(packet) | Heard::Request(packet) = heard {
                observer.note(Event::Received {
                    link: 0,
                    packet: packet.header.id(),
                    dest: packet.header.dest,
                });
                self.heard.push(packet);
            }
        }
    }
}
