//! A board without a usable config: in no mesh, but reachable for a host, at its own port or through other boards without a config.
//!
//! All its links accept anyone. What comes from a neighbor is either [relayed](relay_step) or ignored: nothing else is forwarded, and at
//! most [`WAITING`] packets wait at each link.

use hopwise_node::capacities::{Capacities, List};
use hopwise_node::endpoint::{Endpoint, Heard};
use hopwise_node::limits::BODY;
use hopwise_node::link::Micros;
use hopwise_node::wire::{
    BoardConfig, BoardState, Command, CommandResult, Content, LinkReport, Packet, Query, RelayStep, relay_response,
    relay_step, relayed,
};

use crate::about::About;
use crate::platform::Platform;
use crate::response::{self, Response};

/// Packets that wait at a link. With one, a link that is joined to itself could not send back what has just come.
const WAITING: usize = 2;

/// The links to neighbors, in order, and the one to the host.
pub(crate) struct Unconfigured<C: Capacities> {
    links: C::Links<Endpoint<WAITING>>,
}

impl<C: Capacities> Unconfigured<C> {
    /// A board that is silent as yet.
    pub(crate) fn silent() -> Self {
        let links = C::Links::default();
        Unconfigured { links }
    }

    /// Says hello on all links. They are made where they stay, one by one, as together they would take too much of the stack.
    pub(crate) fn open<P: Platform>(&mut self, about: &About<P>, now: Micros) {
        for link in 0..=about.links {
            let mut endpoint = Endpoint::board(link, about.links + 1, about.epoch, about.rate(link), now);
            if let Some(credentials) = about.credentials() {
                endpoint.lock(&credentials);
            }
            // Cannot fail: there are as many links.
            let _ = self.links.push(endpoint);
        }
    }

    pub(crate) fn receive<P: Platform>(&mut self, link: u8, mut bytes: &[u8], about: &About<P>, now: Micros) {
        let is_host_port = link == about.links;
        while let Some(end) = self.links.get_mut(usize::from(link)) {
            if is_host_port {
                *end.card_mut() = about.card();
            }
            let Some(heard) = end.receive(&mut bytes, now) else {
                return;
            };
            match heard {
                Heard::Up(_) if is_host_port => log!(info, "a host is there"),
                Heard::Up(_) => log!(info, "link {}: a neighbor is there", link),
                Heard::Request(packet) | Heard::Packet(packet) => match direct(&packet).filter(|_| is_host_port) {
                    Some((number, payload)) => {
                        let response = obey(number, payload, None, about, now);
                        if !end.reply(&packet, &response) {
                            log!(warn, "no room to answer");
                        }
                    }
                    None => self.relay(packet, link, about, now),
                },
                Heard::Down(_) => {}
            }
        }
    }

    /// Passes a relayed packet on, or answers it. Where there is no room, or no neighbor, it is dropped, and the host asks again.
    fn relay<P: Platform>(&mut self, mut packet: Packet<BODY>, arrival: u8, about: &About<P>, now: Micros) {
        let Some(step) = relay_step(&mut packet, arrival) else {
            return;
        };
        let port = match step {
            RelayStep::Forward(port) => port,
            RelayStep::Answer => {
                let Some(Content::Request(request)) = packet.content() else {
                    return;
                };
                let answer = self.answer(request.payload, arrival, about, now);
                let response: Option<Response> = relay_response(request.payload, &answer);
                if let (Some(end), Some(response)) = (self.links.get_mut(usize::from(arrival)), response) {
                    end.reply(&packet, &response);
                }
                return;
            }
        };
        let end = self.links.get_mut(usize::from(port)).filter(|end| end.is_up());
        if end.is_none_or(|end| end.send(packet).is_err()) {
            log!(debug, "link {}: cannot relay a packet", port);
        }
    }

    /// The response to a request that was relayed to this board. A command that changes the board must begin with its unique ID, as cables may
    /// have been moved since it was sent.
    fn answer<P: Platform>(&self, payload: &[u8], arrival: u8, about: &About<P>, now: Micros) -> Response {
        match relayed(payload) {
            Some((Query::Link, link)) => {
                let end = link.first().and_then(|link| self.links.get(usize::from(*link)));
                let report: Option<LinkReport> = end.map(Endpoint::report);
                response::encode(&report)
            }
            Some((Query::Board(number), payload)) => {
                let own = match Command::changes(number) {
                    true => payload.strip_prefix(about.unique_id()),
                    false => Some(payload),
                };
                match own {
                    Some(payload) => obey(number, payload, Some(arrival), about, now),
                    None => response::encode(&CommandResult::OtherBoard),
                }
            }
            _ => response::encode(&CommandResult::Unknown),
        }
    }

    pub(crate) fn transmit(&mut self, link: u8, now: Micros, out: &mut [u8]) -> usize {
        let end = self.links.get_mut(usize::from(link));
        end.map_or(0, |end| end.transmit(now, out))
    }

    pub(crate) fn tick(&mut self, now: Micros) {
        for end in self.links.iter_mut() {
            end.tick(now);
        }
    }

    pub(crate) fn deadline(&self) -> Micros {
        let deadlines = self.links.iter().map(Endpoint::deadline);
        deadlines.min().unwrap_or(Micros::MAX)
    }
}

/// The number and payload of a command that was not relayed.
fn direct(packet: &Packet<BODY>) -> Option<(u8, &[u8])> {
    match packet.content()? {
        Content::Request(request) => match request.query {
            Query::Board(number) => Some((number, request.payload)),
            _ => None,
        },
        _ => None,
    }
}

/// Executes a command. Without keys, a board takes a config from a neighbor only if it has none at all, and one that was relayed on trial, as any
/// that comes over a mesh.
fn obey<P: Platform>(number: u8, payload: &[u8], relayed_from: Option<u8>, about: &About<P>, now: Micros) -> Response {
    let is_from_neighbor = relayed_from.is_some_and(|link| link != about.links);
    let from_afar = is_from_neighbor && about.state != BoardState::NoConfig;
    let lengthened;
    let command = match response::admit(number, payload, from_afar, about) {
        None => Err(CommandResult::NotAllowed),
        Some(config) if number == Command::WRITE_CONFIG => {
            lengthened = BoardConfig::lengthen(config);
            lengthened
                .as_ref()
                .map(Command::WriteConfig)
                .ok_or(CommandResult::Unknown)
        }
        Some(payload) => Command::read(number, payload).ok_or(CommandResult::Unknown),
    };
    let mut response = match command {
        Ok(command) => response::without_mesh(command, relayed_from.is_some(), about, now),
        Err(result) => response::encode(&result),
    };
    response::prove(number, payload, &mut response, about);
    response
}
