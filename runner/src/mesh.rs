//! A board with a config: its router, and what the board does beyond routing.

use hopwise_app::Due;
use hopwise_core::{Network, Node, Rule};
use hopwise_node::capacities::Capacities;
use hopwise_node::clock::ClockTicks;
use hopwise_node::link::Micros;
use hopwise_node::router::{Attention, CheckedConfig, Config, ConfigError, MessageKind, MessageOf, Router};
use hopwise_node::wire::{
    AppPort, BoardConfig, Bytes, Command, CommandResult, Query, hosts_anywhere, packet_logging, paper_rule,
};

use crate::about::About;
use crate::observer::BoardObserver;
use crate::platform::Platform;
use crate::programs::Programs;
use crate::response::{self, Response};
use crate::traffic::Generator;

/// Delay of configured traffic after boot: by then the links are up.
const LINKS_COME_UP: Micros = 1_000_000;

/// Makes room for the state shared with programs, once the node is known.
pub type MakePrograms<'a, C> = &'a mut dyn FnMut(Network, Node) -> &'static dyn Programs<C>;

/// A router and what it serves.
pub(crate) struct Mesh<C: Capacities> {
    pub(crate) router: Router<C>,
    pub(crate) observer: BoardObserver,
    traffic: Generator,
    pub(crate) programs: &'static dyn Programs<C>,
    /// When programs must be served next.
    due: Due,
    /// Whether they may have more room than the router knows.
    may_have_room: bool,
    /// How often a neighbor was asked for blocks.
    asked: u8,
    /// Whether its own deadline may be earlier than when that was last asked for.
    stirred: bool,
}

/// What the router is made of, if there can be such a node.
pub(crate) fn config<P: Platform, C: Capacities>(
    board_config: &BoardConfig,
    network: Network,
    about: &About<P>,
) -> Result<CheckedConfig<C>, ConfigError> {
    Config {
        network,
        address: board_config.address,
        epoch: about.epoch,
        baud: board_config.baud,
        links: C::SIZES.links as u8,
        hosts: if hosts_anywhere(board_config.options) {
            u32::MAX
        } else {
            1 << about.links
        },
        rule: if paper_rule(board_config.options) {
            Rule::Paper
        } else {
            Rule::Exact
        },
    }
    .checked()
}

impl<C: Capacities> Mesh<C> {
    #[inline(always)]
    pub(crate) fn new<P: Platform>(
        config: &CheckedConfig<C>,
        board_config: &BoardConfig,
        network: Network,
        about: &About<P>,
        programs: MakePrograms<'_, C>,
        now: Micros,
    ) -> Self {
        Mesh {
            observer: BoardObserver::new(packet_logging(board_config.options)),
            traffic: Generator::new(u64::from(about.epoch) << 32 | board_config.address),
            programs: programs(network, board_config.address),
            due: Due::NEVER,
            may_have_room: false,
            asked: 0,
            stirred: true,
            // Last, so that it is made where it stays.
            router: Router::from_checked(config, now),
        }
    }

    /// Starts what the config asks for.
    pub(crate) fn begin<P: Platform>(&mut self, board_config: &BoardConfig, about: &About<P>, now: Micros) {
        *self.router.card_mut() = about.card();
        (0..=about.links).for_each(|port| self.router.set_baud(port, about.rate(port)));
        for link in (0..about.links).filter(|link| board_config.may_change_rate(*link)) {
            self.router.allow_steps(link, P::rate_steps(link, about.rate(link)));
        }
        if P::MAY_STALL {
            self.router.expect_stalls();
        }
        if let Some(credentials) = about.credentials() {
            self.router.lock(&credentials);
        }
        self.router.serve_nothing();
        serve_own(&mut self.router);
        if let Some(order) = board_config.traffic {
            self.traffic.start(order, now.saturating_add(LINKS_COME_UP));
        }
    }

    pub(crate) fn receive<P: Platform>(
        &mut self,
        link: u8,
        bytes: &[u8],
        ended: Option<ClockTicks>,
        about: &About<P>,
        now: Micros,
    ) {
        if self.may_have_room {
            self.may_have_room = !self.programs.tell_room(&mut self.router);
        }
        self.router.receive_timed(link, bytes, ended, now, &mut self.observer);
        self.exchange_if_need_be(about, now);
    }

    fn exchange_if_need_be<P: Platform>(&mut self, about: &About<P>, now: Micros) {
        if self.router.has_news() || self.due.is_waiting || self.due.deadline <= now {
            self.exchange(about, now);
        }
    }

    pub(crate) fn tick<P: Platform>(&mut self, about: &About<P>, now: Micros) {
        self.router
            .write_block(&mut self.observer, |block| about.next_image.take(block));
        self.router.tick(now, &mut self.observer);
        self.exchange_if_need_be(about, now);
        self.traffic.run(&mut self.router, now, &mut self.observer);
        self.stirred = true;
    }

    pub(crate) fn deadline(&self) -> Micros {
        self.router.deadline().min(self.own_deadline())
    }

    /// What has changed since the last call.
    pub(crate) fn attention(&mut self, now: Micros) -> Attention {
        let attention = self.router.attention(now);
        if core::mem::take(&mut self.stirred) || self.router.has_block() {
            let deadline = attention.deadline.min(self.own_deadline());
            return Attention { deadline, ..attention };
        }
        attention
    }

    fn own_deadline(&self) -> Micros {
        if self.router.has_block() {
            return 0;
        }
        self.traffic.deadline().min(self.due.deadline)
    }

    /// Requests a block of an image from a neighbor, if blocks are missing: each time from another connected one.
    pub(crate) fn repair<P: Platform>(&mut self, about: &About<P>, now: Micros) {
        let Some(block) = about.next_image.look() else { return };
        let Mesh {
            router,
            observer,
            asked,
            ..
        } = self;
        let heartbeat = |link: u8| {
            router
                .links()
                .get(usize::from(link))
                .is_some_and(|end| !end.is_paused(now))
        };
        let there = || router.neighbors().filter(|(_, link)| link.is_some_and(heartbeat));
        *asked = asked.wrapping_add(1);
        let place = usize::from(*asked).checked_rem(there().count());
        if let Some((neighbor, _)) = place.and_then(|place| there().nth(place)) {
            ask(router, neighbor, &block, now, observer);
        }
    }

    pub(crate) fn has_hung_program(&self, now: Micros) -> bool {
        self.programs.watched_until() <= now
    }

    pub(crate) fn press_button(&mut self, now: Micros) {
        self.programs.press_button();
        match self.router.broadcast(AppPort::TEXT, b"ping", now, &mut self.observer) {
            Ok(number) => log!(info, "button: broadcast {}", number),
            Err(_) => log!(warn, "button: the buffers are full"),
        }
    }

    /// Delivers received messages to programs and board, and the programs' messages to the router.
    pub(crate) fn exchange<P: Platform>(&mut self, about: &About<P>, now: Micros) {
        let Mesh {
            router,
            observer,
            traffic,
            programs,
            due,
            may_have_room,
            stirred,
            ..
        } = self;
        *may_have_room |= router.has_news();
        *stirred = true;
        *due = programs.exchange(
            router,
            now,
            observer,
            &mut |router, observer, message| match message.kind {
                MessageKind::BoardRequest { number } => {
                    let from_afar = message.source != router.address();
                    let mut own = Own {
                        router: &mut *router,
                        observer: &mut *observer,
                        traffic,
                    };
                    let mut response = own.obey(number, &message.payload, from_afar, about, now);
                    response::prove(number, &message.payload, &mut response, about);
                    if router.reply(message, &response, now, observer).is_err() {
                        log!(warn, "no room to answer node {}", message.source);
                    }
                }
                MessageKind::Datagram | MessageKind::Broadcast | MessageKind::Confirmed => take_in(message, traffic),
                MessageKind::Undeliverable { number, dest, reason } => {
                    log!(warn, "packet {} did not reach {}: {}", number, dest, reason);
                }
                MessageKind::Response(Query::Board(Command::READ_BLOCK)) => {
                    if let Some(next) = about.next_image.take_response(&message.payload) {
                        ask(router, message.source, &next, now, observer);
                    }
                }
                MessageKind::Request | MessageKind::Response(_) => {}
            },
        );
    }
}

/// Requests a block from a neighbor. If there is no room, it is requested later.
fn ask<C: Capacities>(
    router: &mut Router<C>,
    neighbor: Node,
    block: &[u8; 4],
    now: Micros,
    observer: &mut BoardObserver,
) {
    let _ = router.ask(neighbor, Query::Board(Command::READ_BLOCK), block, now, observer);
}

fn serve_own<C: Capacities>(router: &mut Router<C>) {
    for port in [AppPort::TRAFFIC, AppPort::TEXT] {
        // Cannot fail: nothing else is served yet. Messages are read at once.
        let _ = router.serve(port, u8::MAX);
    }
    #[cfg(feature = "update")]
    router.take_blocks();
}

fn take_in<B: Bytes>(message: &MessageOf<B>, traffic: &mut Generator) {
    if message.port == AppPort::TRAFFIC {
        traffic.count(&message.payload);
    } else if message.kind == MessageKind::Broadcast {
        log!(info, "broadcast {} from node {}", message.number, message.source);
    } else {
        log!(info, "{} bytes from node {}", message.payload.len(), message.source);
    }
}

/// The state that a board's commands act on.
struct Own<'a, C: Capacities> {
    router: &'a mut Router<C>,
    observer: &'a mut BoardObserver,
    traffic: &'a mut Generator,
}

impl<C: Capacities> Own<'_, C> {
    fn obey<P: Platform>(
        &mut self,
        number: u8,
        payload: &[u8],
        from_afar: bool,
        about: &About<P>,
        now: Micros,
    ) -> Response {
        let Some(payload) = response::admit(number, payload, from_afar, about) else {
            return response::encode(&CommandResult::NotAllowed);
        };
        let done = match Command::read(number, payload) {
            None => CommandResult::Unknown,
            Some(Command::Broadcast(payload)) => {
                let sent = self.router.broadcast(AppPort::TEXT, payload, now, self.observer);
                sent.map_or(CommandResult::Busy, |_| CommandResult::Done)
            }
            Some(Command::SendBlock(block)) => {
                let sent = self.router.broadcast(AppPort::UPDATE, block, now, self.observer);
                sent.map_or(CommandResult::Busy, |_| CommandResult::Done)
            }
            Some(Command::StartTraffic(order)) => {
                self.traffic.start(order, now);
                CommandResult::Done
            }
            Some(Command::Traffic) => return response::encode(&self.traffic.report),
            Some(Command::LogPackets(on)) => {
                self.observer.log_packets = on;
                CommandResult::Done
            }
            Some(other) => return response::without_mesh(other, from_afar, about, now),
        };
        response::encode(&done)
    }
}
