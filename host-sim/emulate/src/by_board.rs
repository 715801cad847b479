//! What each board of a run has done.

use hopwise_emulator::chip::UARTS;
use hopwise_emulator::time::{SECOND, Time};
use hopwise_emulator::world::{Board, Port, World};
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::wire::{Command, LinkReport, Query, RATE_STEPS, RouterCounters, TrafficReport};
use serde::Serialize;

use crate::hosts::Hosts;

/// Bits on the wire for a byte: a start bit and a stop bit around it.
const BITS: f64 = 10.0;
/// A rate that is off by less than this is the one that was wanted: dividers are whole numbers.
const RATE_TOLERANCE: f64 = 0.03;
const ANSWERED: Time = SECOND;

fn is_near(rate: u32, wanted: u32) -> bool {
    (f64::from(rate) / f64::from(wanted) - 1.0).abs() < RATE_TOLERANCE
}

/// What a board has done. The names are those of the JSON keys of `hopwise emulate`; what it does not tell is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BoardFigures {
    pub address: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Those that it executes in the same time without traffic and checks.
    pub idle_instructions: u64,
    /// Packets that came from neighbors, and were not for this board.
    pub forwarded: Option<u32>,
    /// Packets of its own traffic that it sent.
    pub sent: Option<u32>,
    /// Packets of the traffic of others that it received.
    pub received: Option<u32>,
    /// Its links, by port.
    pub links: Vec<LinkFigures>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkFigures {
    pub port: u64,
    pub baud: Option<u32>,
    /// How much of what the line could carry this board has sent, in the second half of the run.
    pub line_share: f64,
    pub retransmitted: Option<u32>,
    pub came_up: Option<bool>,
    /// The rate that the board says, which must be the one on its wire.
    #[serde(skip)]
    pub says_baud: Option<u32>,
}

impl LinkFigures {
    /// The rate on its wire and the one that the board says, if these are not the same.
    pub fn lies(&self) -> Option<(u32, u32)> {
        self.baud
            .zip(self.says_baud)
            .filter(|(rate, said)| !is_near(*rate, *said))
    }
}

/// What the serial ports of all boards had sent at a time.
pub(crate) struct Sent {
    at: Time,
    bytes: Vec<[u64; UARTS]>,
}

impl Sent {
    pub(crate) fn by(world: &World) -> Self {
        let of_board = |board: &Board| std::array::from_fn(|uart| board.traffic(uart).sent);
        Sent {
            at: world.now(),
            bytes: world.boards().iter().map(of_board).collect(),
        }
    }

    /// How much of what a line could carry has been sent since an earlier time.
    fn share_since(&self, earlier: &Sent, port: Port, baud: u32) -> f64 {
        let sent = |then: &Sent| then.bytes.get(port.board).map_or(0, |bytes| bytes[port.uart]);
        let seconds = (self.at - earlier.at) as f64 / SECOND as f64;
        let most = f64::from(baud) / BITS * seconds;
        let share = (sent(self) - sent(earlier)) as f64 / most;
        if most > 0.0 { share } else { 0.0 }
    }
}

/// The figures that can be seen from outside. `links` are the serial ports of the boards' ports with the rates that they are said to have.
pub(crate) fn seen(world: &World, half: &Sent, links: &[Vec<(Port, u32)>]) -> Vec<BoardFigures> {
    let now = Sent::by(world);
    let boards = world.boards().iter().enumerate().zip(links);
    let of_link = |board: &Board, (port, (place, baud)): (usize, &(Port, u32))| {
        let rate = board.baud(place.uart);
        let rate = rate.map(|rate| {
            let mut known = [*baud].into_iter().chain(RATE_STEPS);
            known.find(|wanted| is_near(rate, *wanted)).unwrap_or(rate)
        });
        LinkFigures {
            port: port as u64,
            baud: rate,
            line_share: rate.map_or(0.0, |rate| now.share_since(half, *place, rate)),
            ..LinkFigures::default()
        }
    };
    boards
        .map(|((number, board), links)| BoardFigures {
            address: number as u64,
            instructions: board.cpu.instructions,
            idle_instructions: board.cpu.instructions,
            links: links.iter().enumerate().map(|link| of_link(board, link)).collect(),
            ..BoardFigures::default()
        })
        .collect()
}

/// Adds what the boards answer to the hosts at their serial ports.
pub(crate) fn ask(world: &mut World, hosts: &mut Hosts, figures: &mut [BoardFigures]) {
    let mut requests = Vec::new();
    for board in figures.iter() {
        let at = board.address as usize;
        // First: while it is answered, only this is in the board of what the host sent.
        requests.push(BoardRequest::new(at, board.address, Query::Counters));
        requests.push(BoardRequest::command(at, &Command::Traffic));
        for link in &board.links {
            requests.push(BoardRequest::new(at, board.address, Query::Link).with(vec![link.port as u8]));
        }
    }
    let mut replies = hosts.ask(world, &requests, ANSWERED);
    // A board that is busy may have dropped one.
    let again = replies.iter().zip(&requests).filter(|(reply, _)| reply.is_none());
    let again: Vec<BoardRequest> = again.map(|(_, request)| request.clone()).collect();
    let late = hosts.ask(world, &again, ANSWERED);
    let missing = replies.iter_mut().filter(|reply| reply.is_none());
    missing.zip(late).for_each(|(reply, late)| *reply = late);
    let mut replies = replies.into_iter();
    let mut reply = || replies.next().flatten();
    for board in figures {
        let counters: Option<RouterCounters> = reply().as_ref().and_then(Reply::read);
        board.forwarded = counters.map(|counters| counters.received.saturating_sub(counters.delivered + 1));
        let traffic: Option<TrafficReport> = reply().as_ref().and_then(Reply::read);
        board.sent = traffic.map(|traffic| traffic.sent);
        board.received = traffic.map(|traffic| traffic.received);
        for link in &mut board.links {
            let reply = reply();
            let report: Option<Option<LinkReport>> = reply.as_ref().and_then(Reply::read);
            let report = report.flatten();
            link.says_baud = report.as_ref().map(|report| report.baud).filter(|baud| *baud > 0);
            let counters = report.map(|report| report.counters);
            link.retransmitted = counters.as_ref().map(|counters| counters.resent);
            // A board that is in no mesh answers, and has no links.
            link.came_up = reply.map(|_| counters.is_some_and(|counters| counters.sessions > 0));
        }
    }
}
