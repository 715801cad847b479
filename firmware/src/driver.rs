//! Carries bytes and time to the router: a task for each direction of each serial port, and one for the clock.
//!
//! All tasks share one router and never hold it across an await, and no interrupt touches it. So it needs no lock, and
//! interrupts run while it works.

use core::cell::{Cell, RefCell, RefMut};
use core::pin::pin;

use embassy_futures::poll_once;
use embassy_futures::select::select;
use embassy_stm32::mode::Async;
use embassy_stm32::usart::UartTx;
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Instant, Timer};
use hopwise_node::clock::Grains;
use hopwise_node::link::Micros;
use hopwise_node::router::ConfigError;
use hopwise_node::wire::{BoardState, Page, WIRE};
use hopwise_core::{Network, Node};

use crate::about::About;
use crate::answer::Deferred;
use crate::boards::{self, PORTS};
use crate::kept;
use crate::mesh::Mesh;
use crate::programs::Programs;
use crate::time::{self, now};
use crate::uart::{RING, Receiver};
use crate::unconfigured::Unconfigured;

/// Between two ticks at least this long: a port may be busy when its turn comes, and would be asked in vain.
const SHORTEST_WAIT: Micros = 200;

/// What the board is: part of a mesh, or not yet.
#[allow(clippy::large_enum_variant, reason = "a board has one of them, and it is either")]
pub(crate) enum Mode {
    Mesh(Mesh),
    Unconfigured(Unconfigured),
}

/// A task that must live, by its number: receivers by link, from 8 on transmitters by link, and then the others.
#[derive(Clone, Copy)]
pub(crate) struct Task(u32);

impl Task {
    pub(crate) const CLOCK: Task = Task(16);
    pub(crate) const BUTTON: Task = Task(17);
    pub(crate) const HOUSEKEEPING: Task = Task(18);

    pub(crate) fn receiver(link: u8) -> Self {
        Task(link.into())
    }

    pub(crate) fn transmitter(link: u8) -> Self {
        Task(8 + u32::from(link))
    }
}

pub(crate) struct Driver {
    mode: RefCell<Mode>,
    pub(crate) about: About,
    /// There may be something to send at a port.
    turn: [Signal<NoopRawMutex, ()>; PORTS],
    /// The next tick must come earlier than planned.
    earlier: Signal<NoopRawMutex, ()>,
    /// When the next tick is.
    alarm: Cell<Micros>,
    /// The tasks that must live, one bit each.
    tasks: Cell<u32>,
    /// Those that have not run since the last [call](Self::call_roll).
    missing: Cell<u32>,
    /// What to do soon, and since when.
    pub(crate) deferred: Cell<Option<(Deferred, Micros)>>,
}

impl Driver {
    /// A board that is part of no mesh yet.
    pub(crate) fn new(about: About) -> Self {
        Driver {
            mode: RefCell::new(Mode::Unconfigured(Unconfigured::new(&about, now()))),
            about,
            turn: [const { Signal::new() }; PORTS],
            earlier: Signal::new(),
            alarm: Cell::new(0),
            tasks: Cell::new(0),
            missing: Cell::new(0),
            deferred: Cell::new(None),
        }
    }

    /// Makes the board part of a mesh.
    // Not inlined: its stack frame, which holds a whole router, ends with it.
    #[inline(never)]
    pub(crate) fn join_mesh(
        &mut self,
        page: &Page,
        network: Network,
        programs: &mut dyn FnMut(Network, Node) -> &'static dyn Programs,
    ) -> Result<(), ConfigError> {
        let mode = self.mode.get_mut();
        // Swapped, not moved: that would take room for another router.
        match &mut in_mesh(page, network, &self.about, programs) {
            Ok(made) => core::mem::swap(mode, made),
            Err(error) => return Err(*error),
        }
        if let Mode::Mesh(mesh) = mode {
            mesh.begin(page, &self.about, now());
        }
        Ok(())
    }

    /// It is part of no mesh, and why.
    pub(crate) fn remain_alone(&mut self, state: BoardState) {
        self.about.state = state;
        *self.mode.get_mut() = Mode::Unconfigured(Unconfigured::new(&self.about, now()));
    }

    /// Says that a task must live from now on.
    pub(crate) fn add_task(&self, task: Task) {
        self.tasks.update(|tasks| tasks | 1 << task.0);
    }

    /// Called by every task whenever it runs.
    pub(crate) fn is_here(&self, task: Task) {
        kept::run_task(task.0);
        self.missing.update(|missing| missing & !(1 << task.0));
    }

    /// The tasks that have not run since the last call of the roll, one bit each.
    pub(crate) fn missing_tasks(&self) -> u32 {
        self.missing.get()
    }

    /// Has every task run that waits for something.
    pub(crate) fn call_roll(&self) {
        self.missing.set(self.tasks.get());
        boards::wake_receivers();
        self.turn.iter().for_each(|turn| turn.signal(()));
        self.earlier.signal(());
    }

    /// What the board is, for as long as nothing is awaited.
    pub(crate) fn mode(&self) -> RefMut<'_, Mode> {
        self.mode.borrow_mut()
    }

    /// Bytes of the stack that were never used, for whoever asks.
    pub(crate) fn set_stack_free(&self, bytes: u32) {
        self.about.stack_free.set(bytes);
        if let Mode::Mesh(mesh) = &mut *self.mode() {
            mesh.router.card_mut().stack_free = bytes;
        }
    }

    /// Its buffer is on the stack while it is used, and one for all ports.
    fn take_in(&self, link: u8, rx: &mut Receiver) {
        let (mut faults, idle_at) = rx.take_notes();
        match rx.read(&mut [0; RING]) {
            Some([]) => {}
            Some(bytes) => self.receive(link, bytes, idle_at),
            None => {
                defmt::warn!("link {}: bytes were overwritten before they were read", link);
                faults.overrun = true;
            }
        }
        if let Mode::Mesh(mesh) = &mut *self.mode() {
            mesh.router.note_line_faults(link, faults);
        }
    }

    fn receive(&self, link: u8, bytes: &[u8], idle_at: Option<u32>) {
        let now = now();
        let mut deferred = None;
        match &mut *self.mode() {
            Mode::Mesh(mesh) => {
                let ended = idle_at.and_then(|idle_at| time::ended(idle_at, self.about.baud, now));
                mesh.receive(link, bytes, ended, &self.about, now, &mut deferred);
                time::publish(mesh.router.mesh_time());
            }
            Mode::Unconfigured(board) => board.receive(bytes, &self.about, now, &mut deferred),
        }
        self.defer(deferred, now);
        self.wake_ports(now);
        self.set_alarm(self.deadline_after(link));
    }

    fn transmit(&self, link: u8, out: &mut [u8]) -> usize {
        let now = now();
        let length = match &mut *self.mode() {
            Mode::Mesh(mesh) => mesh.transmit(link, out, now),
            Mode::Unconfigured(board) => board.transmit(out, now),
        };
        if length > 0 {
            self.set_alarm(self.deadline_after(link));
        }
        length
    }

    /// Whether the frame just written is one whose start is to be noted.
    fn awaits_start(&self, link: u8) -> bool {
        matches!(&*self.mode(), Mode::Mesh(mesh) if mesh.router.awaits_start(link))
    }

    fn note_start(&self, link: u8, at: Grains, length: usize) {
        if let Mode::Mesh(mesh) = &mut *self.mode() {
            mesh.router.note_start(link, at, length);
        }
    }

    fn tick(&self) {
        let now = now();
        let mut deferred = None;
        match &mut *self.mode() {
            Mode::Mesh(mesh) => {
                mesh.tick(&self.about, now, &mut deferred);
                time::publish(mesh.router.mesh_time());
            }
            Mode::Unconfigured(board) => board.tick(now),
        }
        self.defer(deferred, now);
    }

    /// Neighbours are told that this board will hear and say nothing for up to so many units of a quarter of a second.
    pub(crate) fn pause(&self, units: u8) {
        if let Mode::Mesh(mesh) = &mut *self.mode() {
            mesh.router.pause(units);
        }
        self.has_changed();
    }

    /// It is here again.
    pub(crate) fn end_pause(&self) {
        if let Mode::Mesh(mesh) = &mut *self.mode() {
            mesh.router.end_pause(now());
        }
        self.has_changed();
    }

    /// Blocks of an image may be missing.
    pub(crate) fn repair(&self) {
        if let Mode::Mesh(mesh) = &mut *self.mode() {
            mesh.repair(&self.about, now());
        }
    }

    /// Programs want something.
    pub(crate) fn exchange(&self) {
        let now = now();
        let mut deferred = None;
        if let Mode::Mesh(mesh) = &mut *self.mode() {
            mesh.exchange(&self.about, now, &mut deferred);
        }
        self.defer(deferred, now);
        self.has_changed();
    }

    fn defer(&self, deferred: Option<Deferred>, now: Micros) {
        if let Some(deferred) = deferred {
            self.deferred.set(Some((deferred, now)));
        }
    }

    fn deadline(&self) -> Micros {
        match &*self.mode() {
            Mode::Mesh(mesh) => mesh.deadline(),
            Mode::Unconfigured(board) => board.deadline(),
        }
    }

    /// The same, if nothing but this link was used since the last call.
    fn deadline_after(&self, link: u8) -> Micros {
        match &*self.mode() {
            Mode::Mesh(mesh) => mesh.deadline_after(link),
            Mode::Unconfigured(board) => board.deadline(),
        }
    }

    /// To be called after a change of the router that no byte and no tick has made.
    pub(crate) fn has_changed(&self) {
        self.wake_ports(now());
        self.set_alarm(self.deadline());
    }

    /// Ports that may have something to send ask for it, once they are free.
    fn wake_ports(&self, now: Micros) {
        let mode = self.mode();
        for (link, turn) in (0..).zip(&self.turn) {
            let wanted = match &*mode {
                Mode::Mesh(mesh) => mesh.router.wants_to_transmit(link, now),
                Mode::Unconfigured(_) => true,
            };
            if wanted {
                turn.signal(());
            }
        }
    }

    fn set_alarm(&self, deadline: Micros) {
        if deadline < self.alarm.get() {
            self.earlier.signal(());
        }
    }
}

/// What a board in a mesh is.
// Not inlined, and made in one piece, so that there are no more copies of a router on the stack than need be.
#[inline(never)]
fn in_mesh(
    page: &Page,
    network: Network,
    about: &About,
    programs: &mut dyn FnMut(Network, Node) -> &'static dyn Programs,
) -> Result<Mode, ConfigError> {
    Ok(Mode::Mesh(Mesh::new(page, network, about, programs, now())?))
}

#[embassy_executor::task(pool_size = PORTS)]
pub(crate) async fn receive(driver: &'static Driver, link: u8, mut rx: Receiver) {
    loop {
        rx.interrupt().await;
        driver.is_here(Task::receiver(link));
        driver.take_in(link, &mut rx);
    }
}

#[embassy_executor::task(pool_size = PORTS)]
pub(crate) async fn transmit(driver: &'static Driver, link: u8, mut tx: UartTx<'static, Async>) {
    let mut frame = [0; WIRE];
    loop {
        driver.is_here(Task::transmitter(link));
        match driver.transmit(link, &mut frame) {
            0 => driver.turn[usize::from(link)].wait().await,
            length => {
                let mut write = pin!(tx.write(&frame[..length]));
                if driver.awaits_start(link) {
                    // Nothing comes between the time and the start.
                    let at = cortex_m::interrupt::free(|_| {
                        let _ = poll_once(write.as_mut());
                        time::started()
                    });
                    driver.note_start(link, at, length);
                }
                // A write by DMA has no errors.
                let _ = write.await;
            }
        }
    }
}

#[embassy_executor::task]
pub(crate) async fn keep_time(driver: &'static Driver) {
    loop {
        driver.is_here(Task::CLOCK);
        driver.tick();
        driver.wake_ports(now());
        let alarm = driver.deadline().max(now() + SHORTEST_WAIT);
        driver.alarm.set(alarm);
        driver.earlier.reset();
        select(Timer::at(Instant::from_micros(alarm)), driver.earlier.wait()).await;
    }
}
