//! Nodes whose serial ports are pipes in memory, in virtual time: every step each of them goes on as far as it can.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use embedded_io_async::{ErrorType, Read, Write};
use hopwise_app::{Clock, Mesh, Micros, Shared};
use hopwise_node::capacities::Sizes;
use hopwise_node::store::{Flash, FlashFailed, Slot, Start, Store};
use hopwise_node::wire::{BoardConfig, BoardState, CONFIG_BYTES, WIRE};
use hopwise_runner::{Arrival, Board, NoImages, Platform, PortEvents, Restart, Runner, SerialPorts, Upkeep};

pub(crate) const SECOND: Micros = 1_000_000;
const STEP: Micros = 250;

/// Two links, and the port of a host.
pub(crate) const PORTS: usize = 3;

hopwise_node::capacities! {
    pub(crate) struct ThreePorts { links: PORTS, ..Sizes::BOARD }
}

pub(crate) const HOST_PORT: usize = PORTS - 1;

/// The clock of all nodes of a test.
#[derive(Clone, Default)]
pub(crate) struct Time(Rc<Cell<Micros>>);

impl Time {
    pub(crate) fn now(&self) -> Micros {
        self.0.get()
    }
}

impl Platform for Time {
    type Images = NoImages;

    const NAME: &'static str = "pipes";

    fn now(&self) -> Micros {
        self.0.get()
    }

    async fn wait_until(&self, at: Micros) {
        poll_fn(|_| {
            if self.now() < at {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }
}

/// One direction of a cable.
#[derive(Clone, Default)]
pub(crate) struct Pipe {
    bytes: Rc<RefCell<VecDeque<u8>>>,
    is_cut: Rc<Cell<bool>>,
}

impl Pipe {
    pub(crate) fn cut(&self, is_cut: bool) {
        self.is_cut.set(is_cut);
    }

    /// Bytes that nobody sent.
    pub(crate) fn inject(&self, bytes: impl IntoIterator<Item = u8>) {
        self.bytes.borrow_mut().extend(bytes);
    }

    pub(crate) fn drain(&self) -> Vec<u8> {
        self.bytes.borrow_mut().drain(..).collect()
    }
}

impl ErrorType for Pipe {
    type Error = Infallible;
}

impl Read for Pipe {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        poll_fn(|_| {
            let mut bytes = self.bytes.borrow_mut();
            let count = bytes.len().min(buffer.len());
            if count == 0 {
                return Poll::Pending;
            }
            buffer
                .iter_mut()
                .zip(bytes.drain(..count))
                .for_each(|(place, byte)| *place = byte);
            Poll::Ready(Ok(count))
        })
        .await
    }
}

impl Write for Pipe {
    /// A few at a time, so that what is written in pieces is seen to arrive.
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let count = bytes.len().min(48);
        if !self.is_cut.get() {
            self.inject(bytes[..count].iter().copied());
        }
        Ok(count)
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Pipes as the ports of a driver, each of which is busy for a step after each frame.
struct Driver {
    cables: Cables,
    frames: [[u8; WIRE]; PORTS],
    busy: u32,
}

impl SerialPorts for Driver {
    fn poll(&mut self, _: &mut Context<'_>) -> PortEvents {
        let has_bytes = |port: &usize| !self.cables[*port].0.bytes.borrow().is_empty();
        PortEvents {
            received: (0..PORTS).filter(has_bytes).fold(0, |set, port| set | 1 << port),
            freed: std::mem::take(&mut self.busy),
        }
    }

    fn take(&mut self, port: u8, give: impl FnOnce(Arrival<'_>)) {
        let bytes = self.cables[usize::from(port)].0.drain();
        give(Arrival {
            bytes: &bytes,
            ..Arrival::default()
        });
    }

    fn free_buffer(&mut self, port: u8, _: impl FnOnce() -> Option<u32>) -> Option<&mut [u8]> {
        (self.busy >> port & 1 == 0).then(|| &mut self.frames[usize::from(port)][..])
    }

    fn send(&mut self, port: u8, length: usize) {
        self.busy |= 1 << port;
        let port = usize::from(port);
        if !self.cables[port].1.is_cut.get() {
            self.cables[port].1.inject(self.frames[port][..length].iter().copied());
        }
    }
}

/// Slots that are as lasting as the test.
#[derive(Clone)]
pub(crate) struct Slots(Rc<RefCell<[[u8; 1_024]; 2]>>);

impl Slots {
    pub(crate) fn blank() -> Self {
        Slots(Rc::new(RefCell::new([[0xff; 1_024]; 2])))
    }

    /// As flashed from outside.
    #[cfg(feature = "keys")]
    pub(crate) fn holding(bytes: &[u8]) -> Self {
        let slots = Slots::blank();
        slots.0.borrow_mut()[0][..bytes.len()].copy_from_slice(bytes);
        slots
    }

    /// With a configuration that counts.
    pub(crate) fn configured(board_config: &[u8; CONFIG_BYTES]) -> Self {
        let slots = Slots::blank();
        Store::new(slots.clone())
            .write_config(board_config, false, 1)
            .expect("memory");
        slots
    }
}

impl Flash for Slots {
    fn slot_bytes(&self) -> usize {
        1_024
    }

    fn read(&self, slot: Slot, at: usize, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.borrow()[slot as usize][at..at + bytes.len()]);
    }

    fn erase(&mut self, slot: Slot) -> Result<(), FlashFailed> {
        self.0.borrow_mut()[slot as usize].fill(0xff);
        Ok(())
    }

    fn write(&mut self, slot: Slot, at: usize, bytes: &[u8]) -> Result<(), FlashFailed> {
        self.0.borrow_mut()[slot as usize][at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) heartbeats: Rc<Cell<u32>>,
    pub(crate) is_lit: Rc<Cell<bool>>,
    pub(crate) restart: Rc<RefCell<Option<Restart>>>,
}

impl Upkeep for Seen {
    fn heartbeat(&mut self) {
        self.heartbeats.set(self.heartbeats.get() + 1);
    }

    fn show(&mut self, lit: bool) {
        self.is_lit.set(lit);
    }
}

/// The ends of a node's cables: what it hears, and what it says.
pub(crate) type Cables = [(Pipe, Pipe); PORTS];

#[derive(Default)]
pub(crate) struct World {
    pub(crate) time: Time,
    /// Those of the first node begin with receiver and transmitter of its first link.
    tasks: Vec<Pin<Box<dyn Future<Output = ()>>>>,
}

impl World {
    pub(crate) fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.tasks.push(Box::pin(task));
    }

    /// Starts a node with what its slots hold, and on it a program, if it is part of a mesh.
    pub(crate) fn start<F: Future<Output = ()>>(
        &mut self,
        slots: &Slots,
        cables: Cables,
        program: impl FnOnce(Mesh<'static>) -> F + 'static,
    ) -> Seen {
        self.start_board(Board::default(), slots, cables, program)
    }

    pub(crate) fn start_board<F: Future<Output = ()>>(
        &mut self,
        board: Board,
        slots: &Slots,
        cables: Cables,
        program: impl FnOnce(Mesh<'static>) -> F + 'static,
    ) -> Seen {
        let start: Start = Store::new(slots.clone()).start(1);
        let mut shared: Option<&'static Shared> = None;
        let node: &'static Runner<Time, ThreePorts> = Runner::start(
            self.time.clone(),
            board,
            NoImages,
            &start,
            |node| Box::leak(Box::new(node)),
            &mut |network, address| {
                let room = Shared::new(network, address, Clock::LastExchange);
                *shared.insert(Box::leak(Box::new(room)))
            },
        );
        // Of two nodes of a mesh one has a task for each direction of each port, and the other one for all.
        if node.state() != BoardState::Configured || shared.is_some_and(|shared| Mesh::new(shared).address() == 1) {
            let (frames, busy) = ([[0; WIRE]; PORTS], 0);
            let mut driver = Driver { cables, frames, busy };
            self.spawn(async move { node.drive(&mut driver).await });
        } else {
            for (port, (mut rx, mut tx)) in (0..).zip(cables) {
                self.spawn(async move { match node.receive::<64>(port, &mut rx).await {} });
                self.spawn(async move { match node.transmit(port, &mut tx).await {} });
            }
        }
        self.spawn(async { node.keep_time().await });
        if let Some(shared) = shared {
            self.spawn(async { node.serve(shared).await });
            self.spawn(async { program(Mesh::new(shared)).await });
        }
        let (seen, mut store) = (Seen::default(), Store::new(slots.clone()));
        let mut noted = seen.clone();
        self.spawn(async move {
            let restart = node.keep_house(&mut noted, &mut store).await;
            *noted.restart.borrow_mut() = Some(restart);
        });
        seen
    }

    /// The transmitter of the first node's first link is never run again.
    pub(crate) fn stop_transmitter(&mut self) {
        drop(self.tasks.remove(1));
    }

    pub(crate) fn run(&mut self, micros: Micros) {
        let end = self.time.now() + micros;
        while self.time.now() < end {
            self.step();
        }
    }

    /// Runs until something is so, which it must be within a time.
    pub(crate) fn run_until(&mut self, within: Micros, is_so: impl Fn() -> bool) {
        let end = self.time.now() + within;
        while !is_so() {
            assert!(self.time.now() < end, "that did not happen in time");
            self.step();
        }
    }

    fn step(&mut self) {
        self.time.0.set(self.time.now() + STEP);
        // Twice, so that what one says is heard in the same step.
        for _ in 0..2 {
            let mut context = Context::from_waker(Waker::noop());
            self.tasks
                .retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
        }
    }
}

/// A config of a node of `path(2)`.
pub(crate) fn board_config(address: u64) -> [u8; CONFIG_BYTES] {
    BoardConfig::new("path(2)", address).expect("a config").write()
}
