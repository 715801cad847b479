//! What carries bytes and time to the node: a task for each direction of each wire, and one for the clock.
//!
//! All tasks share one node and never hold it across a wait, and no interrupt touches it: so it needs no lock, and
//! interrupts run while it works.

use core::cell::{Cell, RefCell, RefMut};

use embassy_futures::select::select;
use embassy_stm32::mode::Async;
use embassy_stm32::usart::UartTx;
use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Instant, Timer};
use hopwise_core::link::Micros;
use hopwise_core::wire;

use crate::about::About;
use crate::answer::Order;
use crate::boards::WIRES;
use crate::lobby::Lobby;
use crate::mesh::Mesh;
use crate::wire::{RING, Receiver};

/// Between two looks at the clock at least this long: a wire may be busy when its turn comes, and would be asked in vain.
const SHORTEST_WAIT: Micros = 200;

/// What the board is: part of a mesh, or not yet.
#[allow(clippy::large_enum_variant, reason = "there is one, and it is either")]
pub(crate) enum Brain {
    Mesh(Mesh),
    Lobby(Lobby),
}

pub(crate) struct Shell {
    brain: RefCell<Brain>,
    pub(crate) about: About,
    /// Something may be there to be sent on a wire.
    turn: [Signal<NoopRawMutex, ()>; WIRES],
    /// The clock must look earlier than it meant to.
    earlier: Signal<NoopRawMutex, ()>,
    /// When the clock will look.
    alarm: Cell<Micros>,
    /// What to do soon, and since when.
    pub(crate) order: Cell<Option<(Order, Micros)>>,
}

pub(crate) fn now() -> Micros {
    Instant::now().as_micros()
}

impl Shell {
    pub(crate) fn new(brain: Brain, about: About) -> Self {
        Shell {
            brain: RefCell::new(brain),
            about,
            turn: [const { Signal::new() }; WIRES],
            earlier: Signal::new(),
            alarm: Cell::new(0),
            order: Cell::new(None),
        }
    }

    /// The brain, for as long as nothing is waited for. The one place where it could be found borrowed.
    #[inline(never)]
    pub(crate) fn brain(&self) -> RefMut<'_, Brain> {
        self.brain.borrow_mut()
    }

    fn receive(&self, link: u8, bytes: &[u8]) {
        let now = now();
        let mut order = None;
        match &mut *self.brain() {
            Brain::Mesh(mesh) => mesh.receive(link, bytes, &self.about, now, &mut order),
            Brain::Lobby(lobby) => lobby.receive(bytes, &self.about, now, &mut order),
        }
        if let Some(order) = order {
            self.order.set(Some((order, now)));
        }
        self.wake_wires(now);
        self.set_alarm(self.deadline_after(link));
    }

    fn transmit(&self, link: u8, out: &mut [u8]) -> usize {
        let now = now();
        let length = match &mut *self.brain() {
            Brain::Mesh(mesh) => mesh.transmit(link, out, now),
            Brain::Lobby(lobby) => lobby.transmit(out, now),
        };
        if length > 0 {
            self.set_alarm(self.deadline_after(link));
        }
        length
    }

    fn tick(&self) {
        let now = now();
        match &mut *self.brain() {
            Brain::Mesh(mesh) => mesh.tick(now),
            Brain::Lobby(lobby) => lobby.tick(now),
        }
    }

    fn deadline(&self) -> Micros {
        match &*self.brain() {
            Brain::Mesh(mesh) => mesh.deadline(),
            Brain::Lobby(lobby) => lobby.deadline(),
        }
    }

    /// The same after no other link was used, if it is earlier than before.
    fn deadline_after(&self, link: u8) -> Micros {
        match &*self.brain() {
            Brain::Mesh(mesh) => mesh.deadline_after(link),
            Brain::Lobby(lobby) => lobby.deadline(),
        }
    }

    /// The node has changed.
    pub(crate) fn look_around(&self) {
        self.wake_wires(now());
        self.set_alarm(self.deadline());
    }

    /// Wires that may have something to send ask for it, once they are free.
    fn wake_wires(&self, now: Micros) {
        let brain = self.brain();
        for (link, turn) in (0..).zip(&self.turn) {
            let wanted = match &*brain {
                Brain::Mesh(mesh) => mesh.node.wants_to_transmit(link, now),
                Brain::Lobby(_) => true,
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

#[embassy_executor::task(pool_size = WIRES)]
pub(crate) async fn receive(shell: &'static Shell, link: u8, mut rx: Receiver) {
    let mut buffer = [0; RING];
    loop {
        match rx.read(&mut buffer).await {
            Some(count) => shell.receive(link, &buffer[..count]),
            None => defmt::warn!("link {}: bytes were overwritten before they were read", link),
        }
    }
}

#[embassy_executor::task(pool_size = WIRES)]
pub(crate) async fn transmit(shell: &'static Shell, link: u8, mut tx: UartTx<'static, Async>) {
    let mut frame = [0; wire::WIRE];
    loop {
        match shell.transmit(link, &mut frame) {
            0 => shell.turn[usize::from(link)].wait().await,
            // A write by DMA has no errors.
            length => drop(tx.write(&frame[..length]).await),
        }
    }
}

#[embassy_executor::task]
pub(crate) async fn keep_time(shell: &'static Shell) {
    loop {
        shell.tick();
        shell.wake_wires(now());
        let alarm = shell.deadline().max(now() + SHORTEST_WAIT);
        shell.alarm.set(alarm);
        shell.earlier.reset();
        select(Timer::at(Instant::from_micros(alarm)), shell.earlier.wait()).await;
    }
}
