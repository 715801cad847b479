//! A board with a configuration: its router, and what the board does beyond routing.

use hopwise_core::link::Micros;
use hopwise_core::router::{Config, ConfigError, Message, MessageKind, Router};
use hopwise_core::wire::{AppPort, Command, Done, Page, computers_anywhere, packet_logging, paper_rule};
use hopwise_core::{Network, Rule, limits};

use crate::about::About;
use crate::answer::{self, Answer, Deferred};
use crate::boards::{LINKS, PORTS};
use crate::observer::BoardObserver;
use crate::traffic::Generator;

/// Traffic by configuration begins this long after the start: by then the neighbours are there.
const LINKS_COME_UP: Micros = 1_000_000;

/// A router and what it serves.
pub(crate) struct Mesh {
    pub(crate) router: Router<PORTS>,
    pub(crate) observer: BoardObserver,
    traffic: Generator,
}

impl Mesh {
    pub(crate) fn new(page: &Page, network: Network, about: &About, now: Micros) -> Result<Self, ConfigError> {
        let config = Config {
            network,
            address: page.address,
            epoch: about.epoch,
            baud: page.baud,
            links: PORTS as u8,
            computers: if computers_anywhere(page.options) {
                u32::MAX
            } else {
                1 << LINKS
            },
            rule: if paper_rule(page.options) {
                Rule::Paper
            } else {
                Rule::Exact
            },
        };
        let mut router = Router::new(&config, now)?;
        *router.card_mut() = about.card();
        let mut traffic = Generator::new(u64::from(about.epoch) << 32 | page.address);
        if let Some(order) = page.traffic {
            traffic.start(order, now.saturating_add(LINKS_COME_UP));
        }
        Ok(Mesh {
            router,
            observer: BoardObserver::new(packet_logging(page.options)),
            traffic,
        })
    }

    pub(crate) fn receive(
        &mut self,
        link: u8,
        bytes: &[u8],
        about: &About,
        now: Micros,
        deferred: &mut Option<Deferred>,
    ) {
        self.router.receive(link, bytes, now, &mut self.observer);
        self.read_messages(about, now, deferred);
    }

    pub(crate) fn transmit(&mut self, link: u8, out: &mut [u8], now: Micros) -> usize {
        self.router.transmit(link, now, out, &mut self.observer)
    }

    pub(crate) fn tick(&mut self, now: Micros) {
        self.router.tick(now, &mut self.observer);
        self.traffic.run(&mut self.router, now, &mut self.observer);
    }

    pub(crate) fn deadline(&self) -> Micros {
        self.router.deadline().min(self.traffic.deadline())
    }

    pub(crate) fn deadline_after(&self, link: u8) -> Micros {
        self.router.deadline_after(link).min(self.traffic.deadline())
    }

    /// What the button does.
    pub(crate) fn broadcast_ping(&mut self, now: Micros) {
        match self.router.broadcast(AppPort::TEXT, b"ping", now, &mut self.observer) {
            Ok(number) => defmt::info!("button: broadcast {}", number),
            Err(_) => defmt::warn!("button: the buffers are full"),
        }
    }

    fn read_messages(&mut self, about: &About, now: Micros, deferred: &mut Option<Deferred>) {
        // No more than the inbox holds: nothing comes in meanwhile.
        for _ in 0..limits::INBOX {
            let Some(message) = self.router.next_message() else {
                break;
            };
            match message.kind {
                MessageKind::Question { number } => {
                    let from_afar = message.source != self.router.address();
                    let answer = self.obey(number, &message.payload, from_afar, about, now, deferred);
                    if self.router.reply(&message, &answer, now, &mut self.observer).is_err() {
                        defmt::warn!("no room to answer node {}", message.source);
                    }
                }
                MessageKind::Datagram | MessageKind::Broadcast | MessageKind::Confirmed => self.take_in(&message),
                MessageKind::Undeliverable { number, dest, reason } => {
                    defmt::warn!("packet {} did not reach {}: {}", number, dest, reason);
                }
                MessageKind::Request | MessageKind::Answer(_) => {}
            }
        }
    }

    fn take_in(&mut self, message: &Message<{ limits::BODY }>) {
        if message.port == AppPort::TRAFFIC {
            self.traffic.count(&message.payload);
        } else if message.kind == MessageKind::Broadcast {
            defmt::info!("broadcast {} from node {}", message.number, message.source);
        } else {
            defmt::info!("{} bytes from node {}", message.payload.len(), message.source);
        }
    }

    fn obey(
        &mut self,
        number: u8,
        payload: &[u8],
        from_afar: bool,
        about: &About,
        now: Micros,
        deferred: &mut Option<Deferred>,
    ) -> Answer {
        let done = match Command::read(number, payload) {
            None => Done::Unknown,
            Some(Command::Broadcast(payload)) => {
                let sent = self.router.broadcast(AppPort::TEXT, payload, now, &mut self.observer);
                sent.map_or(Done::Busy, |_| Done::Done)
            }
            Some(Command::StartTraffic(order)) => {
                self.traffic.start(order, now);
                Done::Done
            }
            Some(Command::Traffic) => return answer::encode(&self.traffic.report),
            Some(Command::LogPackets(on)) => {
                self.observer.log_packets = on;
                Done::Done
            }
            Some(other) => return answer::without_mesh(other, from_afar, about, now, deferred),
        };
        answer::encode(&done)
    }
}
