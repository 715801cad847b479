//! A few routers, the wires between them, and an executor for their programs, in virtual time.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use hopwise_app::{Clock, Mesh, Micros, Network, Node, Shared};
use hopwise_node::router::{Config, MessageKind, Router};
use hopwise_node::wire::WIRE;

pub(crate) const MILLISECOND: Micros = 1_000;
pub(crate) const SECOND: Micros = 1_000_000;

const LINKS: usize = 6;
/// A step of time. Whatever a wire is given is at its other end in the next.
const STEP: Micros = 250;
/// A wire carries so many bytes in a step, at 1 Mbaud.
const BYTES_A_STEP: usize = 25;

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Program {
    future: Pin<Box<dyn Future<Output = ()>>>,
    woken: Arc<Flag>,
    waker: Waker,
    ended: bool,
}

struct Board {
    router: Box<Router>,
    shared: &'static Shared,
    /// What leaves each link, and is not yet at the other end.
    wires: [Vec<u8>; LINKS],
}

pub(crate) struct World {
    now: Micros,
    boards: Vec<Board>,
    programs: Vec<Program>,
    cut: BTreeSet<(Node, Node)>,
}

impl World {
    /// A mesh whose links are up.
    pub(crate) fn new(expression: &str) -> Self {
        let mut world = World::cold(expression);
        world.run(SECOND);
        world
    }

    /// A mesh that is switched on.
    pub(crate) fn cold(expression: &str) -> Self {
        let network: Network = expression.parse().expect("a network");
        let board = |address| {
            let config = Config::new(network, address, 1, LINKS as u8);
            let mut router = Box::new(Router::new(&config, 0).expect("a node"));
            router.serve_nothing();
            Board {
                router,
                // Programs hold on to it; it is there until the tests end.
                shared: Box::leak(Box::new(Shared::new(network, address, Clock::LastExchange))),
                wires: std::array::from_fn(|_| Vec::new()),
            }
        };
        World {
            now: 0,
            boards: (0..network.nodes()).map(board).collect(),
            programs: Vec::new(),
            cut: BTreeSet::new(),
        }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.boards.len()
    }

    pub(crate) fn mesh(&self, node: Node) -> Mesh<'static> {
        Mesh::new(self.boards[node as usize].shared)
    }

    pub(crate) fn start<F: Future<Output = ()> + 'static>(
        &mut self,
        node: Node,
        program: impl FnOnce(Mesh<'static>) -> F,
    ) {
        let woken = Arc::new(Flag(AtomicBool::new(true)));
        self.programs.push(Program {
            future: Box::pin(program(self.mesh(node))),
            waker: Waker::from(woken.clone()),
            woken,
            ended: false,
        });
    }

    pub(crate) fn cut(&mut self, one: Node, other: Node) {
        self.cut.extend([(one, other), (other, one)]);
    }

    pub(crate) fn restore(&mut self, one: Node, other: Node) {
        self.cut.remove(&(one, other));
        self.cut.remove(&(other, one));
    }

    /// Ends a program, as a reset does.
    pub(crate) fn end(&mut self, program: usize) {
        self.programs[program].future = Box::pin(async {});
        self.programs[program].ended = true;
    }

    pub(crate) fn ended(&self) -> usize {
        self.programs.iter().filter(|program| program.ended).count()
    }

    pub(crate) fn run(&mut self, micros: Micros) {
        let end = self.now + micros;
        while self.now < end {
            self.step();
        }
    }

    /// Runs until all programs have ended, which they must within a time.
    pub(crate) fn run_until_done(&mut self, within: Micros) {
        let end = self.now + within;
        while self.ended() < self.programs.len() {
            assert!(self.now < end, "{} of {} have ended", self.ended(), self.programs.len());
            self.step();
        }
    }

    fn step(&mut self) {
        self.now += STEP;
        let now = self.now;
        self.carry();
        for board in &mut self.boards {
            board.router.tick(now, &mut ());
            for (link, wire) in board.wires.iter_mut().enumerate() {
                if wire.is_empty() {
                    let mut frame = [0; WIRE];
                    let length = board.router.transmit(link as u8, now, &mut frame, &mut ());
                    wire.extend(&frame[..length]);
                }
            }
        }
        self.exchange();
        for program in self.programs.iter_mut().filter(|program| !program.ended) {
            if program.woken.0.swap(false, Ordering::Relaxed) {
                let mut context = Context::from_waker(&program.waker);
                program.ended = program.future.as_mut().poll(&mut context).is_ready();
            }
        }
        self.exchange();
    }

    fn exchange(&mut self) {
        for board in &mut self.boards {
            board.shared.take_work();
            board
                .shared
                .exchange(&mut board.router, self.now, &mut (), |_, (), message| {
                    // Someone may have asked, and no longer wait.
                    let is_report = matches!(message.kind, MessageKind::Undeliverable { .. });
                    assert!(is_report, "nobody wants {message:?}");
                });
        }
    }

    /// Moves the bytes of a step to the other ends of the wires.
    fn carry(&mut self) {
        for node in 0..self.boards.len() {
            for link in 0..LINKS {
                let wire = &mut self.boards[node].wires[link];
                let bytes: Vec<u8> = wire.drain(..wire.len().min(BYTES_A_STEP)).collect();
                let here = node as Node;
                let network = self.boards[node].router.network();
                let Ok(Some(there)) = network.neighbor(here, link as u64) else {
                    continue;
                };
                let Ok(Some(port)) = network.port_to(there, here) else {
                    continue;
                };
                if !self.cut.contains(&(here, there)) {
                    let router = &mut self.boards[there as usize].router;
                    router.receive(port as u8, &bytes, self.now, &mut ());
                }
            }
        }
    }
}
