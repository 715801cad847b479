//! A host at the serial port of every emulated board.

use std::collections::{BTreeMap, VecDeque};

use hopwise_emulator::time::{MICROSECOND, Time};
use hopwise_emulator::world::{BadWire, Port, World};
use hopwise_node::authority::MeshKeys;
use hopwise_node::key::{Credentials, Key};
use hopwise_node::wire::{AppPort, AppStatus, VERSION, Verdict};

use hopwise_host::host_port::{HostPort, Incoming};
use hopwise_host::talk::{BoardRequest, Reply};

/// How often bytes go from board to host and back.
const SLICE: Time = 250 * MICROSECOND;
/// Requests of one host on their way at once.
const AT_ONCE: usize = 4;

/// A host at every board.
pub struct Hosts {
    ports: Vec<HostPort>,
    /// What became of confirmed packets, by their numbers.
    verdicts: Vec<Vec<(u32, Verdict)>>,
}

impl Hosts {
    /// Connects the serial ports of all boards, which run at this rate.
    pub fn connect(world: &mut World, baud: u32) -> Result<Self, BadWire> {
        let now = world.now() / MICROSECOND;
        let mut ports = Vec::new();
        for board in 0..world.boards().len() {
            let uart = world.boards()[board].kind().host();
            world.connect_host(Port { board, uart })?;
            world.boards_mut()[board].set_host_baud(uart, baud);
            ports.push(HostPort::new(1 + board as u32, baud, now));
        }
        let verdicts = vec![Vec::new(); ports.len()];
        Ok(Hosts { ports, verdicts })
    }

    /// From now on the hosts have the key of the mesh, and perhaps that for commands which change boards.
    pub fn lock(&mut self, keys: &MeshKeys, management: Option<Key>) {
        for (board, port) in self.ports.iter_mut().enumerate() {
            let credentials = Credentials {
                secret: keys.mesh,
                random: [board as u8; 16],
            };
            port.lock(&credentials, management);
        }
    }

    /// Boards of version 3 of the wire format may be updated: see [`HostPort::trust_version_3`].
    pub fn trust_version_3(&mut self) {
        self.ports.iter_mut().for_each(HostPort::trust_version_3);
    }

    pub fn wire_version(&self, board: usize) -> u8 {
        self.ports.get(board).map_or(VERSION, HostPort::wire_version)
    }

    /// The address of a board, if it answers.
    pub fn address(&self, board: usize) -> Option<u64> {
        let identity = self.ports.get(board)?.board()?;
        Some(identity.address)
    }

    /// Whether all boards answer.
    pub fn all_up(&self) -> bool {
        self.ports.iter().all(HostPort::is_up)
    }

    /// Runs the boards, and carries bytes to and from the hosts.
    pub fn run_until(&mut self, world: &mut World, end: Time) {
        while world.now() < end {
            world.run_until((world.now() + SLICE).min(end));
            let now = world.now() / MICROSECOND;
            for (port, board) in self.ports.iter_mut().zip(world.boards_mut()) {
                let uart = board.kind().host();
                port.receive(&board.take_bytes(uart), now);
                if !board.is_being_fed(uart) {
                    let bytes = port.transmit(now);
                    board.feed(uart, &bytes);
                }
            }
        }
    }

    /// Has the host at a board send a datagram to an application of a node.
    pub fn send(&mut self, board: usize, node: u64, port: AppPort, bytes: &[u8]) {
        if let Some(host) = self.ports.get_mut(board) {
            host.datagram(node, port, bytes);
        }
    }

    /// The same by a packet that the node confirms; returns its number.
    pub fn send_confirmed(&mut self, board: usize, node: u64, port: AppPort, bytes: &[u8]) -> u32 {
        let host = self.ports.get_mut(board);
        host.map_or(0, |host| host.confirmed(node, port, bytes))
    }

    /// What nodes have said of the confirmed packets of the host at a board since the last call, by their numbers.
    pub fn verdicts(&mut self, board: usize) -> Vec<(u32, Verdict)> {
        self.replies(board);
        self.verdicts.get_mut(board).map(std::mem::take).unwrap_or_default()
    }

    /// The replies to requests. Confirmed packets have numbers of their own, so what is said of those is kept apart.
    fn replies(&mut self, board: usize) -> Vec<(u32, Reply)> {
        let (Some(port), Some(verdicts)) = (self.ports.get_mut(board), self.verdicts.get_mut(board)) else {
            return Vec::new();
        };
        let mut replies = port.replies();
        replies.retain(|(number, reply)| match reply {
            Reply::Confirmed(verdict) => {
                verdicts.push((*number, *verdict));
                false
            }
            Reply::Response(_) | Reply::Undeliverable(_) => true,
        });
        replies
    }

    /// From now on requests come among the messages for the host at a board. Before, who asks is told that nobody serves that.
    pub fn take_requests(&mut self, board: usize) {
        if let Some(host) = self.ports.get_mut(board) {
            host.take_requests();
        }
    }

    /// Has the host at a board answer a request that came. What is none needs no response.
    pub fn respond(&mut self, board: usize, request: &Incoming, response: &[u8]) {
        if let (Some(host), Some(request)) = (self.ports.get_mut(board), &request.pending) {
            host.respond_with(request, AppStatus::Ok, response);
        }
    }

    /// What has come for the host at a board since the last call.
    pub fn messages(&mut self, board: usize) -> Vec<Incoming> {
        let port = self.ports.get_mut(board);
        port.map(|port| port.messages().into()).unwrap_or_default()
    }

    /// Has the host at a board broadcast payloads, as fast as the board takes them. Gives up when that has taken none for so long.
    pub fn stream(&mut self, world: &mut World, board: usize, port: AppPort, payloads: Vec<Vec<u8>>, timeout: Time) {
        let mut payloads = VecDeque::from(payloads);
        let mut give_up_at = world.now() + timeout;
        while world.now() < give_up_at {
            let host = self.ports.get_mut(board);
            let Some(host) = host else { return };
            if payloads.is_empty() && host.all_taken() {
                return;
            }
            let before = payloads.len();
            host.stream(port, &mut payloads);
            if payloads.len() < before {
                give_up_at = world.now() + timeout;
            }
            self.run_until(world, world.now() + SLICE);
        }
        self.ports[board].give_up_all();
    }

    /// Asks all requests, a few at once at each board, and returns the replies in the same order; `None` where there was
    /// none in time.
    pub fn ask(&mut self, world: &mut World, requests: &[BoardRequest], within: Time) -> Vec<Option<Reply>> {
        let end = world.now() + within;
        let mut replies = vec![None; requests.len()];
        let mut queues: Vec<Vec<usize>> = vec![Vec::new(); self.ports.len()];
        for (index, request) in requests.iter().enumerate().rev() {
            queues[request.at].push(index);
        }
        let mut open: Vec<BTreeMap<u32, usize>> = vec![BTreeMap::new(); self.ports.len()];
        while world.now() < end
            && (queues.iter().any(|queue| !queue.is_empty()) || open.iter().any(|map| !map.is_empty()))
        {
            let now = world.now() / MICROSECOND;
            for at in 0..self.ports.len() {
                for (number, reply) in self.replies(at) {
                    if let Some(index) = open[at].remove(&number) {
                        replies[index] = Some(reply);
                    }
                }
                let port = &mut self.ports[at];
                while open[at].len() < AT_ONCE {
                    let Some(index) = queues[at].pop() else { break };
                    let request = &requests[index];
                    open[at].insert(port.ask(request.dest, request.query, &request.more, now), index);
                }
            }
            self.run_until(world, (world.now() + SLICE).min(end));
        }
        replies
    }
}
