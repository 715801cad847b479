//! Programs in a thread of their own: whatever they do, and whenever, nothing tears and nothing is lost.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use embassy_futures::select::select;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use hopwise_app::{AppPort, Clock, MAX_MESSAGE, Mesh, Micros, Network, Outcome, Shared};
use hopwise_node::clock::clock_ticks;
use hopwise_node::router::{Config, Router};
use hopwise_node::wire::WIRE;

const PORT: AppPort = AppPort(16);
const BACK: AppPort = AppPort(17);
const MESSAGES: u32 = 1_000;
const LOOKS: u32 = 2_000;

/// How far the time goes on from one look at the router to the next.
const STEP: Micros = 500;

/// By then all is done.
const LIMIT: Micros = 200_000_000;

/// The time of the mesh differs by less from the clock of both its nodes.
const ALIKE: Micros = 1_000_000;

type Locked = Shared<4, 6, 2, CriticalSectionRawMutex>;

/// The time, which the thread of the node sets.
static NOW: AtomicU64 = AtomicU64::new(1_000_000);

fn now() -> Micros {
    NOW.load(Ordering::Relaxed)
}

const CLOCK: Clock = Clock::Local {
    now,
    wake_at: |_, _| false,
};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        assert!(now() < LIMIT, "nothing goes on");
        thread::park_timeout(Duration::from_millis(10));
    }
}

/// A message all of whose bytes say which it is: one that is torn is not of one kind.
fn message(number: u32) -> Vec<u8> {
    let length = 4 + number as usize % (MAX_MESSAGE - 4);
    let mut bytes = vec![number as u8; length];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes
}

/// Sends numbered messages to the other node, and begins many more that it gives up at some point.
async fn send(mesh: Mesh<'_>) {
    mesh.all_links_up().await;
    for number in 0..MESSAGES {
        let bytes = message(number);
        let given_up = mesh.send_confirmed(0, BACK, b"given up");
        select(given_up, std::future::ready(())).await;
        assert_eq!(mesh.send_confirmed(0, PORT, &bytes).await, Ok(Outcome::Delivered));
    }
}

/// Checks that each of them comes once, whole and in order; what was given up may come or not.
async fn receive(mesh: Mesh<'_>) {
    let (mut receiver, mut others) = (mesh.receiver(PORT).unwrap(), mesh.receiver(BACK).unwrap());
    let drain = async {
        loop {
            assert_eq!(others.recv().await.bytes(), b"given up");
        }
    };
    let check = async {
        for number in 0..MESSAGES {
            assert_eq!(receiver.recv().await.bytes(), message(number));
        }
    };
    select(check, drain).await;
}

/// Looks at the time of the mesh again and again, once there is one, and sleeps between.
async fn watch(mesh: Mesh<'_>) {
    let (mut uptime, mut shown) = (0, None);
    let mut looks = 0;
    while looks < LOOKS {
        let (before, now, after) = (mesh.uptime(), mesh.now(), mesh.uptime());
        assert!(uptime <= before && shown <= now, "the time has gone back");
        // The clocks of the two nodes are one: so the time differs by little, unless half of it was read.
        if let Some(now) = now {
            let near = before.saturating_sub(ALIKE)..after + ALIKE;
            assert!(near.contains(&now), "{now} between {before} and {after}");
            looks += 1;
        }
        (uptime, shown) = (after, now);
        mesh.sleep(u64::from(before as u8)).await;
    }
}

#[test]
fn programs_in_threads_of_their_own_lose_nothing() {
    let network: Network = "path(2)".parse().unwrap();
    let shared = [0, 1].map(|address| Locked::new(network, address, CLOCK));
    let [there, here] = &shared;
    let mut routers = [0, 1].map(|address| {
        let config = Config::new(network, address, 1, 6);
        let mut router = Box::new(<Router>::new(&config, now()).unwrap());
        router.serve_nothing();
        router
    });
    let mut step = || {
        let now = NOW.fetch_add(STEP, Ordering::Relaxed) + STEP;
        let [other, router] = &mut routers;
        carry(other, router, now);
        carry(router, other, now);
        // The time must not run ahead of the threads.
        match there.take_work() | here.take_work() {
            true => thread::yield_now(),
            false => thread::sleep(Duration::from_micros(100)),
        }
        there.exchange(other, now, &mut (), |_, (), _| ());
        here.exchange(router, now, &mut (), |_, (), _| ());
    };
    thread::scope(|scope| {
        let receiver = scope.spawn(|| block_on(receive(Mesh::new(there))));
        let sender = scope.spawn(|| block_on(send(Mesh::new(here))));
        let watcher = scope.spawn(|| block_on(watch(Mesh::new(here))));
        while [&receiver, &sender, &watcher]
            .iter()
            .any(|program| !program.is_finished())
        {
            step();
        }
    });
}

/// Carries what a node has to say to its neighbor, which gets it before the next step.
fn carry(from: &mut Router, to: &mut Router, now: Micros) {
    from.tick(now, &mut ());
    let mut frame = [0; WIRE];
    let length = from.transmit(0, now, &mut frame, &mut ());
    if from.awaits_start(0) {
        from.note_start(0, clock_ticks(now - 10 * length as Micros), length);
    }
    to.receive_timed(0, &frame[..length], Some(clock_ticks(now)), now, &mut ());
}
