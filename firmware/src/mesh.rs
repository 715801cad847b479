//! A configured board: its node, and what the board does beyond it.

use hopwise_core::link::Micros;
use hopwise_core::router::{Config, ConfigError, Message, MessageKind, Router};
use hopwise_core::wire::{Command, Done, Page, Traffic, packet_logging, paper_rule};
use hopwise_core::{Network, Rule, limits};

use crate::about::About;
use crate::answer::{Answer, Order};
use crate::boards::WIRES;
use crate::traffic::Generator;
use crate::watch::Watch;

/// Traffic by configuration begins so long after the start: by then the neighbours are there.
const LINKS_COME_UP: Micros = 1_000_000;

/// The router of this board.
pub(crate) type BoardRouter = Router<WIRES>;

/// A node and its application.
pub(crate) struct Mesh {
    pub(crate) node: BoardRouter,
    pub(crate) watch: Watch,
    traffic: Generator,
}

impl Mesh {
    pub(crate) fn new(page: &Page, network: Network, about: &About, now: Micros) -> Result<Self, ConfigError> {
        let config = Config {
            network,
            address: page.address,
            epoch: about.epoch,
            baud: page.baud,
            links: WIRES as u8,
            rule: if paper_rule(page.options) {
                Rule::Paper
            } else {
                Rule::Exact
            },
        };
        let mut node = BoardRouter::new(&config, now)?;
        *node.card_mut() = about.card();
        let mut traffic = Generator::new(u64::from(about.epoch) << 32 | page.address);
        if let Some(order) = page.traffic {
            traffic.start(order, now.saturating_add(LINKS_COME_UP));
        }
        Ok(Mesh {
            node,
            watch: Watch::new(packet_logging(page.options)),
            traffic,
        })
    }

    pub(crate) fn receive(&mut self, link: u8, bytes: &[u8], about: &About, now: Micros, order: &mut Option<Order>) {
        self.node.receive(link, bytes, now, &mut self.watch);
        self.read_messages(about, now, order);
    }

    pub(crate) fn transmit(&mut self, link: u8, out: &mut [u8], now: Micros) -> usize {
        self.node.transmit(link, now, out, &mut self.watch)
    }

    pub(crate) fn tick(&mut self, now: Micros) {
        self.node.tick(now, &mut self.watch);
        self.traffic.run(&mut self.node, now, &mut self.watch);
    }

    pub(crate) fn deadline(&self) -> Micros {
        self.node.deadline().min(self.traffic.deadline())
    }

    pub(crate) fn deadline_after(&self, link: u8) -> Micros {
        self.node.deadline_after(link).min(self.traffic.deadline())
    }

    /// What the button does.
    pub(crate) fn broadcast_ping(&mut self, now: Micros) {
        match self.node.broadcast(b"ping", now, &mut self.watch) {
            Ok(number) => defmt::info!("button: broadcast {}", number),
            Err(_) => defmt::warn!("button: the buffers are full"),
        }
    }

    fn read_messages(&mut self, about: &About, now: Micros, order: &mut Option<Order>) {
        // As many as there are: each takes one out, and nothing comes in meanwhile.
        for _ in 0..limits::INBOX {
            let Some(message) = self.node.next_message() else { break };
            match message.kind {
                MessageKind::Question { number, .. } => {
                    let answer = self.obey(number, &message.payload, about, now, order);
                    if self.node.reply(&message, &answer, now, &mut self.watch).is_err() {
                        defmt::warn!("no room to answer node {}", message.source);
                    }
                }
                MessageKind::Datagram | MessageKind::Broadcast | MessageKind::Confirmed => self.take(&message),
                MessageKind::Undeliverable { number, dest, reason } => {
                    defmt::warn!("packet {} did not reach {}: {}", number, dest, reason);
                }
                MessageKind::Answer(_) => {}
            }
        }
    }

    fn take(&mut self, message: &Message<{ limits::BODY }>) {
        if message.payload.first() == Some(&Traffic::MARK) {
            self.traffic.count(&message.payload);
        } else if message.kind == MessageKind::Broadcast {
            defmt::info!("broadcast {} from node {}", message.number, message.source);
        } else {
            defmt::info!("{} bytes from node {}", message.payload.len(), message.source);
        }
    }

    fn obey(&mut self, number: u8, payload: &[u8], about: &About, now: Micros, order: &mut Option<Order>) -> Answer {
        let done = match Command::read(number, payload) {
            None => Done::Unknown,
            Some(Command::Broadcast(payload)) => {
                let sent = self.node.broadcast(payload, now, &mut self.watch);
                sent.map_or(Done::Busy, |_| Done::Done)
            }
            Some(Command::StartTraffic(order)) => {
                self.traffic.start(order, now);
                Done::Done
            }
            Some(Command::Traffic) => return Answer::of(&self.traffic.report),
            Some(Command::LogPackets(on)) => {
                self.watch.log_packets = on;
                Done::Done
            }
            Some(other) => return Answer::without_mesh(other, about, now, order),
        };
        Answer::of(&done)
    }
}
