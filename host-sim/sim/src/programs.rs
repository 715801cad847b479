//! Programs on simulated boards: the same async functions that run on real ones, each with a handle of its node.
//!
//! ```
//! use std::cell::Cell;
//! use std::rc::Rc;
//!
//! use hopwise_app::AppPort;
//! use hopwise_sim::{Settings, simulate_programs};
//!
//! const PORT: AppPort = AppPort(16);
//!
//! // Every node tells node 0 its address, though a cable is cut.
//! let settings = Settings {
//!     network: Some("rdn(ring(3),1)".into()),
//!     events: Some("1s cut 3.0".into()),
//!     duration: Some("5s".parse()?),
//!     ..Settings::default()
//! };
//! let sum = Rc::new(Cell::new(0));
//! let shown = sum.clone();
//! let account = simulate_programs(&settings.run()?, &move |mesh| {
//!     let sum = sum.clone();
//!     Box::pin(async move {
//!         if mesh.address() > 0 {
//!             mesh.sleep(2_000_000).await;
//!             mesh.send_confirmed(0, PORT, &[mesh.address() as u8]).await.unwrap();
//!         } else {
//!             let mut receiver = mesh.receiver(PORT).unwrap();
//!             loop {
//!                 sum.set(sum.get() + u32::from(receiver.recv().await.bytes()[0]));
//!             }
//!         }
//!     })
//! })?;
//! assert_eq!(account.violation, None);
//! assert_eq!(shown.get(), (1..18).sum::<u32>());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use hopwise_app::{Clock, Mesh, Micros, Shared};
use hopwise_core::Network;

use super::run::{Player, Task};
use super::wire::Nanos;
use super::world::SimSizes;

pub type Running<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// What starts the program of a board, each time the board is switched on.
pub type Program<'p> = dyn for<'a> Fn(Mesh<'a>) -> Running<'a> + 'p;

/// Has a program that wants to run been woken?
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Place<'a> {
    shared: &'a Shared,
    running: Option<Running<'a>>,
    woken: Arc<Woken>,
    waker: Waker,
    wake_at: Nanos,
}

pub(super) struct Programs<'a> {
    program: &'a Program<'a>,
    places: Vec<Place<'a>>,
}

/// What the boards of a network share with their programs.
pub(super) fn shared(network: &Network) -> Vec<Shared> {
    (0..network.nodes())
        .map(|address| Shared::new(*network, address, Clock::LastExchange))
        .collect()
}

impl<'a> Programs<'a> {
    pub(super) fn new(program: &'a Program<'a>, shared: &'a [Shared]) -> Self {
        let places = shared.iter().map(|shared| {
            let woken = Arc::new(Woken(AtomicBool::new(false)));
            Place {
                shared,
                running: None,
                waker: Waker::from(woken.clone()),
                woken,
                wake_at: Nanos::MAX,
            }
        });
        Programs {
            program,
            places: places.collect(),
        }
    }

    pub(super) fn run_on(&self) -> bool {
        self.places.iter().any(|place| place.running.is_some())
    }
}

impl<C: SimSizes> Player<'_, C> {
    pub(super) fn start_program(&mut self, board: u32) {
        let Some(programs) = &mut self.programs else { return };
        let place = programs.places.get_mut(board as usize);
        let Some(place) = place else { return };
        if self
            .world
            .with_node(board, &mut self.notes, |node, _, _| node.serve_nothing())
            .is_none()
        {
            return;
        }
        place.woken.0.store(true, Ordering::Relaxed);
        place.running = Some((programs.program)(Mesh::new(place.shared)));
        self.run_program(board);
    }

    pub(super) fn end_program(&mut self, board: u32) {
        if let Some(programs) = &mut self.programs
            && let Some(place) = programs.places.get_mut(board as usize)
        {
            place.running = None;
        }
    }

    /// Gives a program what has come for it, lets it run, and takes what it wants to send. Returns whether there are programs.
    pub(super) fn run_program(&mut self, board: u32) -> bool {
        let Some(programs) = &mut self.programs else {
            return false;
        };
        let Some(place) = programs.places.get_mut(board as usize) else {
            return true;
        };
        let due = loop {
            place.shared.take_work();
            let exchanged = self.world.with_node(board, &mut self.notes, |node, now, note| {
                let mut observer = |event| note(event);
                // There is no other receiver of messages.
                place.shared.exchange(node, now, &mut observer, |_, _, _| ())
            });
            let Some(due) = exchanged else { return true };
            if let Some(running) = &mut place.running
                && place.woken.0.swap(false, Ordering::Relaxed)
                && running.as_mut().poll(&mut Context::from_waker(&place.waker)).is_ready()
            {
                place.running = None;
            }
            if !place.shared.take_work() && !place.woken.0.load(Ordering::Relaxed) {
                break due;
            }
        };
        let at = match due.deadline {
            Micros::MAX => Nanos::MAX,
            deadline => self.world.when(board, deadline),
        };
        let now = self.world.now();
        if at != Nanos::MAX && (at < place.wake_at || place.wake_at <= now) {
            place.wake_at = at.max(now);
            self.world.mark(place.wake_at, Task::Program(board));
        }
        true
    }
}
