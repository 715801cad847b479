//! I/O and timers for the router: one task for all serial ports and the clock, or one for each direction of each port and one for the clock;
//! and one for programs.
//!
//! All tasks share one router, run on one executor and never hold the router across an await, and no interrupt touches it. So it needs
//! no lock, and interrupts run while it works.

use core::cell::{Cell, RefCell, RefMut};
use core::convert::Infallible;
use core::future::poll_fn;
use core::pin::pin;
use core::task::{Context, Poll};

use embassy_futures::poll_once;
use embassy_futures::select::select;
use embassy_sync::waitqueue::MultiWakerRegistration;
use embedded_io_async::{Read, Write};
use hopwise_core::Network;
use hopwise_node::capacities::Capacities;
use hopwise_node::clock::ClockTicks;
use hopwise_node::link::{LinkOf, Micros};
use hopwise_node::router::{Attention, CheckedConfig, ConfigError};
use hopwise_node::store::Start;
use hopwise_node::wire::{BoardConfig, BoardState, LineFaults, WIRE};

use crate::about::{About, Board};
use crate::configuration;
use crate::mesh::{self, MakePrograms, Mesh};
use crate::platform::Platform;
use crate::programs::Programs;
use crate::serial::{Arrival, PortEvents, SerialPorts, bits, read, send};
use crate::task::Task;
use crate::unconfigured::Unconfigured;

/// Minimum time between two ticks: a port may be busy when its turn comes, and would be polled in vain.
const SHORTEST_WAIT: Micros = 200;

/// The mode of the board: part of a mesh, or not yet.
#[allow(clippy::large_enum_variant, reason = "a board has one of them, and it is either")]
pub(crate) enum Mode<C: Capacities> {
    Mesh(Mesh<C>),
    Unconfigured(Unconfigured<C>),
}

/// Maximum number of serial ports of a node: a set of tasks is one word.
const MAX_PORTS: usize = 8;
/// The bit that tells that the next tick must come earlier than planned.
const EARLIER: u32 = 1 << MAX_PORTS;

/// A node with as many serial ports as its [capacities](Capacities) have links: the links to neighbors in order, then the one to a host.
pub struct Runner<P: Platform, C: Capacities> {
    mode: RefCell<Mode<C>>,
    pub(crate) about: About<P>,
    pub(crate) platform: P,
    /// The ports that may have something to send, one bit each, and [`EARLIER`].
    wanted: Cell<u32>,
    /// The tasks that wait for some of these bits.
    waiting: RefCell<MultiWakerRegistration<{ MAX_PORTS + 1 }>>,
    /// When the next tick is.
    alarm: Cell<Micros>,
    /// The tasks that are checked for hangs, one bit each.
    tasks: Cell<u32>,
    /// Those that have not run since the last [check](Self::check_tasks).
    missing: Cell<u32>,
}

impl<P: Platform, C: Capacities> Runner<P, C> {
    /// The links to neighbors.
    const LINKS: u8 = {
        assert!(
            0 < C::SIZES.links && C::SIZES.links <= MAX_PORTS,
            "a node has one port for a host, and up to seven for neighbors"
        );
        (C::SIZES.links - 1) as u8
    };

    /// The set of all ports.
    const PORTS: u32 = (1 << C::SIZES.links) - 1;

    /// Starts a board according to its config, and has it put into its final place. If it is part of a mesh, `programs` makes room for the
    /// state shared with its programs.
    pub fn start(
        platform: P,
        board: Board,
        images: P::Images,
        start: &Start,
        place: impl FnOnce(Self) -> &'static mut Self,
        programs: MakePrograms<'_, C>,
    ) -> &'static Self {
        // The config may be the cause of the crashes.
        let found = match board.crashes_again {
            true => Err(BoardState::CrashLoop),
            false => configuration::understand_start::<P>(start, Self::LINKS),
        };
        let state = found.as_ref().err().copied().unwrap_or(BoardState::Configured);
        let board_config = found.as_ref().ok().map(|(board_config, _)| board_config);
        let about = About::new(board, Self::LINKS, images, start, state, board_config);
        let runner = Self::put(platform, about, place);
        let joined = found.and_then(|(board_config, network)| {
            let joined = runner.join_mesh(&board_config, network, programs);
            joined.map_err(|error| match error {
                ConfigError::NoSuchNode(_) | ConfigError::EpochZero => BoardState::BadAddress,
                ConfigError::TooFewLinks { .. } | ConfigError::TooFewVirtualChannels { .. } => BoardState::TooFewLinks,
            })
        });
        if let Err(state) = joined {
            runner.remain_alone(state);
        }
        runner.about.log();
        runner
    }

    /// Has a board that is part of no mesh yet put into its final place.
    // Not inlined: its stack frame, which holds room for a whole router, ends with it.
    #[inline(never)]
    fn put(platform: P, about: About<P>, place: impl FnOnce(Self) -> &'static mut Self) -> &'static mut Self {
        place(Runner {
            mode: RefCell::new(Mode::Unconfigured(Unconfigured::silent())),
            about,
            platform,
            wanted: Cell::new(0),
            waiting: RefCell::new(MultiWakerRegistration::new()),
            alarm: Cell::new(0),
            tasks: Cell::new(0),
            missing: Cell::new(0),
        })
    }

    /// The speed of the wire at a port.
    pub fn baud(&self, port: u8) -> u32 {
        self.about.rate(port)
    }

    /// The fastest speed that the wire at a port may have.
    pub fn fastest_baud(&self, port: u8) -> u32 {
        let fastest = self.with_mesh(|mesh| mesh.router.links().get(usize::from(port)).map(LinkOf::fastest_baud));
        fastest.flatten().unwrap_or(self.baud(port))
    }

    /// The epoch of this boot.
    pub fn epoch(&self) -> u32 {
        self.about.epoch
    }

    /// Whether it is part of a mesh, or why not.
    pub fn state(&self) -> BoardState {
        self.about.state
    }

    pub(crate) fn now(&self) -> Micros {
        self.platform.now()
    }

    /// Makes the board part of a mesh.
    // Not inlined: its stack frame, which holds a whole router, ends with it.
    #[inline(never)]
    fn join_mesh(
        &mut self,
        board_config: &BoardConfig,
        network: Network,
        programs: MakePrograms<'_, C>,
    ) -> Result<(), ConfigError> {
        let now = self.now();
        let mode = self.mode.get_mut();
        let config = mesh::config(board_config, network, &self.about)?;
        *mode = in_mesh(&config, board_config, network, &self.about, programs, now);
        if let Mode::Mesh(mesh) = mode {
            mesh.begin(board_config, &self.about, now);
        }
        Ok(())
    }

    fn remain_alone(&mut self, state: BoardState) {
        self.about.state = state;
        let now = self.platform.now();
        if let Mode::Unconfigured(board) = self.mode.get_mut() {
            board.open(&self.about, now);
        }
    }

    /// Registers a task to be checked for hangs.
    pub fn add_task(&self, task: Task) {
        self.tasks.update(|tasks| tasks | task.bit());
    }

    /// The heartbeat of a task, called whenever it runs.
    pub fn heartbeat(&self, task: Task) {
        self.platform.note_task(task);
        self.missing.update(|missing| missing & !task.bit());
    }

    /// The tasks that have not run since the last check, one bit each.
    pub(crate) fn missing_tasks(&self) -> u32 {
        self.missing.get()
    }

    /// Wakes every waiting task, for the check.
    pub(crate) fn check_tasks(&self) {
        self.missing.set(self.tasks.get());
        self.want(u32::MAX);
    }

    /// Wakes the tasks that wait for some of these bits.
    fn want(&self, bits: u32) {
        if bits != 0 {
            self.wanted.update(|wanted| wanted | bits);
            self.waiting.borrow_mut().wake();
        }
    }

    /// Waits until one of these bits is set, and clears them.
    async fn wait(&self, bits: u32) {
        poll_fn(|context| {
            let wanted = self.wanted.get();
            if wanted & bits != 0 {
                self.wanted.set(wanted & !bits);
                return Poll::Ready(());
            }
            self.waiting.borrow_mut().register(context.waker());
            Poll::Pending
        })
        .await;
    }

    /// The mode of the board; must not be held across an await.
    pub(crate) fn mode(&self) -> RefMut<'_, Mode<C>> {
        self.mode.borrow_mut()
    }

    /// Does something with the mesh that the board is part of, if it is.
    fn with_mesh<T>(&self, act: impl FnOnce(&mut Mesh<C>) -> T) -> Option<T> {
        match &mut *self.mode() {
            Mode::Mesh(mesh) => Some(act(mesh)),
            Mode::Unconfigured(_) => None,
        }
    }

    /// Sets the unused stack in bytes, for reports.
    pub(crate) fn set_stack_free(&self, bytes: u32) {
        self.about.stack_free.set(bytes);
        self.with_mesh(|mesh| mesh.router.card_mut().stack_free = bytes);
    }

    // Not inlined, as its counterpart: addresses and quotients that all their branches may need would be computed for every port.
    #[inline(never)]
    fn take_in(&self, link: u8, arrival: Arrival<'_>, now: Micros) {
        let mut faults = arrival.faults;
        if arrival.is_lost {
            log!(warn, "link {}: bytes were overwritten before they were read", link);
            faults.overrun = true;
        }
        if !arrival.bytes.is_empty() {
            self.take_bytes(link, &arrival, now);
        }
        if faults != LineFaults::default() {
            self.with_mesh(|mesh| mesh.router.note_line_faults(link, faults));
        }
    }

    fn take_bytes(&self, link: u8, arrival: &Arrival<'_>, now: Micros) {
        match &mut *self.mode() {
            Mode::Mesh(mesh) => {
                let end = mesh.router.links().get(usize::from(link));
                let ended = end.and_then(|end| arrival.ended(end.byte_nanos(), now));
                mesh.receive(link, arrival.bytes, ended, &self.about, now);
            }
            Mode::Unconfigured(board) => board.receive(link, arrival.bytes, &self.about, now),
        }
    }

    /// The rate of a port that has changed.
    fn new_baud(&self, port: u8) -> Option<u32> {
        self.with_mesh(|mesh| mesh.router.take_baud(port)).flatten()
    }

    #[inline(never)]
    fn next_frame(&self, link: u8, out: &mut [u8], now: Micros) -> usize {
        match &mut *self.mode() {
            Mode::Mesh(mesh) => mesh.router.transmit(link, now, out, &mut mesh.observer),
            Mode::Unconfigured(board) => board.transmit(link, now, out),
        }
    }

    /// Whether the start of the frame just written is to be noted.
    fn awaits_start(&self, link: u8) -> bool {
        matches!(&*self.mode(), Mode::Mesh(mesh) if mesh.router.awaits_start(link))
    }

    fn note_start(&self, link: u8, at: ClockTicks, length: usize) {
        self.with_mesh(|mesh| mesh.router.note_start(link, at, length));
    }

    fn tick(&self) {
        let now = self.now();
        match &mut *self.mode() {
            Mode::Mesh(mesh) => mesh.tick(&self.about, now),
            Mode::Unconfigured(board) => board.tick(now),
        }
    }

    /// Sets whether the button is held down.
    pub fn set_button(&self, is_pressed: bool) {
        self.about.is_pressed.set(is_pressed);
    }

    /// The button is pressed: tells the programs, and broadcasts a ping.
    pub fn press_button(&self) {
        self.with_mesh(|mesh| mesh.press_button(self.now()));
        self.has_changed();
    }

    /// Announces to the neighbors a pause of up to this many quarters of a second.
    pub(crate) fn pause(&self, units: u8) {
        self.with_mesh(|mesh| mesh.router.pause(units));
        self.has_changed();
    }

    pub(crate) fn end_pause(&self) {
        self.with_mesh(|mesh| mesh.router.end_pause(self.now()));
        self.has_changed();
    }

    /// Requests missing blocks of an image, if any.
    pub(crate) fn repair(&self) {
        self.with_mesh(|mesh| mesh.repair(&self.about, self.now()));
    }

    pub(crate) fn exchange(&self) {
        let now = self.now();
        self.with_mesh(|mesh| mesh.exchange(&self.about, now));
        self.has_changed();
    }

    fn deadline(&self) -> Micros {
        match &*self.mode() {
            Mode::Mesh(mesh) => mesh.deadline(),
            Mode::Unconfigured(board) => board.deadline(),
        }
    }

    /// Must be called after a change of the router that neither a byte nor a tick has made.
    pub(crate) fn has_changed(&self) {
        self.want(self.attention(self.now()));
    }

    /// The ports that may have something to send, and whether the next tick must come [earlier](EARLIER).
    fn attention(&self, now: Micros) -> u32 {
        let (mut due, deadline) = match &mut *self.mode() {
            Mode::Mesh(mesh) => {
                let Attention { due, deadline, time } = mesh.attention(now);
                if time {
                    self.platform.publish(mesh.router.mesh_time());
                }
                (due, deadline)
            }
            Mode::Unconfigured(board) => (!EARLIER, board.deadline()),
        };
        let deadline = deadline.max(now + SHORTEST_WAIT);
        if deadline < self.alarm.get() {
            self.alarm.set(deadline);
            due |= EARLIER;
        }
        due
    }

    // The next two are not `async fn`s, since those store their arguments twice, for each port.

    /// Receives at a port, through a buffer of `N` bytes.
    #[allow(clippy::manual_async_fn, reason = "see above")]
    pub fn receive<const N: usize>(&self, link: u8, rx: &mut impl Read) -> impl Future<Output = Infallible> {
        async move {
            let mut buffer = [0; N];
            loop {
                read(rx, &mut buffer, |arrival| self.take_in(link, arrival, self.now())).await;
                self.has_changed();
            }
        }
    }

    /// Sends at a port. Written bytes must leave without a flush.
    #[allow(clippy::manual_async_fn, reason = "see above")]
    pub fn transmit(&self, link: u8, tx: &mut impl Write) -> impl Future<Output = Infallible> {
        async move {
            self.add_task(Task::transmitter(link));
            let mut frame = [0; WIRE];
            loop {
                self.wait(1u32.unbounded_shl(link.into())).await;
                self.heartbeat(Task::transmitter(link));
                let length = self.next_frame(link, &mut frame, self.now());
                if length == 0 {
                    continue;
                }
                self.has_changed();
                let mut write = pin!(send(tx, frame.get(..length).unwrap_or(&[])));
                let mut is_written = false;
                if self.awaits_start(link) {
                    let started = P::time_start(|| is_written = poll_once(write.as_mut()).is_ready());
                    if let Some(at) = started {
                        self.note_start(link, at, length);
                    }
                }
                if !is_written {
                    write.await;
                }
            }
        }
    }

    /// Runs the ticks.
    pub async fn keep_time(&self) -> ! {
        self.add_task(Task::CLOCK);
        loop {
            self.heartbeat(Task::CLOCK);
            self.tick();
            // What follows may move it to an earlier time, and never to a later one.
            self.alarm.set(self.deadline().max(self.now() + SHORTEST_WAIT));
            self.has_changed();
            while self.now() < self.alarm.get() {
                select(self.platform.wait_until(self.alarm.get()), self.wait(EARLIER)).await;
            }
        }
    }

    /// Sends and receives at all ports.
    pub async fn drive(&self, ports: &mut impl SerialPorts) -> ! {
        self.add_task(Task::PORTS);
        // Not a loop in here: a task takes longer to find what it has put aside than a function does.
        let never: Infallible = poll_fn(|context| self.poll_ports(ports, context)).await;
        match never {}
    }

    /// Handles what has happened at the ports. Whatever happens meanwhile wakes the task again.
    fn poll_ports(&self, ports: &mut impl SerialPorts, context: &mut Context<'_>) -> Poll<Infallible> {
        let now = self.now();
        let PortEvents { received, freed } = ports.poll(context);
        for port in bits(received & Self::PORTS) {
            self.platform.note_task(Task::receiver(port));
            ports.take(port, |arrival| self.take_in(port, arrival, now));
        }
        self.heartbeat(Task::PORTS);
        self.send_wanted(freed, ports, now);
        self.waiting.borrow_mut().register(context.waker());
        Poll::Pending
    }

    /// Sends at all ports that may have something to send, among them these, and are free.
    fn send_wanted(&self, among: u32, ports: &mut impl SerialPorts, now: Micros) {
        let mut wanted = among;
        loop {
            wanted |= self.wanted.get() | self.attention(now);
            if wanted & EARLIER != 0 {
                self.want(EARLIER);
            }
            self.wanted.update(|others| others & EARLIER);
            let mut has_sent = false;
            for port in bits(core::mem::take(&mut wanted) & Self::PORTS) {
                // Where there is no free buffer, there is an event when there is one.
                let buffer = ports.free_buffer(port, || self.new_baud(port));
                let length = buffer.map_or(0, |buffer| self.next_frame(port, buffer, now));
                if length == 0 {
                    continue;
                }
                has_sent = true;
                if self.awaits_start(port) {
                    if let Some(at) = P::time_start(|| ports.send(port, length)) {
                        self.note_start(port, at, length);
                    }
                } else {
                    ports.send(port, length);
                }
            }
            if !has_sent {
                return;
            }
        }
    }

    /// Serves the programs whenever one of them has work.
    pub async fn serve(&self, programs: &dyn Programs<C>) -> ! {
        loop {
            poll_fn(|context| programs.poll_work(context)).await;
            self.exchange();
        }
    }
}

/// The mode of a board in a mesh.
// Not inlined, and made in one piece, so that there are no needless copies of a router on the stack.
#[inline(never)]
fn in_mesh<P: Platform, C: Capacities>(
    config: &CheckedConfig<C>,
    board_config: &BoardConfig,
    network: Network,
    about: &About<P>,
    programs: MakePrograms<'_, C>,
    now: Micros,
) -> Mode<C> {
    Mode::Mesh(Mesh::new(config, board_config, network, about, programs, now))
}
