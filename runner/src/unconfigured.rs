//! A board without a usable config: in no mesh, but reachable for a host.

use hopwise_node::endpoint::{Endpoint, Heard};
use hopwise_node::limits::BODY;
use hopwise_node::link::Micros;
use hopwise_node::wire::{Command, CommandResult, Content, Packet, Query};

use crate::about::About;
use crate::platform::Platform;
use crate::response::{self, Response};

/// The link to the host, with room for one response.
pub(crate) struct Unconfigured {
    pub(crate) endpoint: Endpoint<1>,
}

impl Unconfigured {
    pub(crate) fn new<P: Platform>(about: &About<P>, now: Micros) -> Self {
        let mut endpoint = Endpoint::board(about.links + 1, about.epoch, about.rate(about.links), now);
        if let Some(credentials) = about.credentials() {
            endpoint.lock(&credentials);
        }
        Unconfigured { endpoint }
    }

    pub(crate) fn receive<P: Platform>(&mut self, mut bytes: &[u8], about: &About<P>, now: Micros) {
        *self.endpoint.card_mut() = about.card();
        while let Some(heard) = self.endpoint.receive(&mut bytes, now) {
            match heard {
                Heard::Up(_) => log!(info, "a host is there"),
                Heard::Request(request_packet) => {
                    let response = obey(&request_packet, about, now);
                    if !self.endpoint.reply(&request_packet, &response) {
                        log!(warn, "no room to answer");
                    }
                }
                Heard::Down(_) | Heard::Packet(_) => {}
            }
        }
    }
}

fn obey<P: Platform>(request_packet: &Packet<BODY>, about: &About<P>, now: Micros) -> Response {
    let Some(Content::Request(request)) = request_packet.content() else {
        return response::encode(&CommandResult::Unknown);
    };
    let Query::Board(number) = request.query else {
        return response::encode(&CommandResult::Unknown);
    };
    let admitted = response::admit(number, request.payload, false, about);
    let mut response = match admitted.map(|payload| Command::read(number, payload)) {
        None => response::encode(&CommandResult::NotAllowed),
        Some(None) => response::encode(&CommandResult::Unknown),
        Some(Some(command)) => response::without_mesh(command, false, about, now),
    };
    response::prove(number, request.payload, &mut response, about);
    response
}
