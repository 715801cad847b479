//! The tasks of a node on one thread: each wake-up polls all of them, which are few. Its program has another, so that it may compute.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use hopwise_app::Micros;
use hopwise_runner::{NoImages, Platform};

pub(crate) type Task<T> = Pin<Box<dyn Future<Output = T>>>;

/// The time since a node started.
#[derive(Clone)]
pub(crate) struct Clock {
    begin: Instant,
    /// The earliest time that a task waits for.
    next: Rc<Cell<Micros>>,
}

impl Default for Clock {
    fn default() -> Self {
        Clock {
            begin: Instant::now(),
            next: Rc::new(Cell::new(Micros::MAX)),
        }
    }
}

impl Platform for Clock {
    type Images = NoImages;

    const NAME: &'static str = hopwise_host::PROCESS;

    // The system runs others as well.
    const MAY_STALL: bool = true;

    fn now(&self) -> Micros {
        self.begin.elapsed().as_micros() as Micros
    }

    async fn wait_until(&self, at: Micros) {
        poll_fn(|_| {
            if self.now() >= at {
                return Poll::Ready(());
            }
            self.next.set(self.next.get().min(at));
            Poll::Pending
        })
        .await;
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs tasks until one of them is done.
pub(crate) fn run<T>(clock: &Clock, mut tasks: Vec<Task<T>>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        clock.next.set(Micros::MAX);
        for task in &mut tasks {
            if let Poll::Ready(result) = task.as_mut().poll(&mut context) {
                return result;
            }
        }
        thread::park_timeout(Duration::from_micros(clock.next.get().saturating_sub(clock.now())));
    }
}

/// The program of a node on a thread of its own. It ends with this, the next time that it waits for something.
pub(crate) struct ProgramThread {
    thread: Thread,
    is_over: Arc<AtomicBool>,
}

impl ProgramThread {
    pub(crate) fn start<F: Future<Output = ()>>(program: impl FnOnce() -> F + Send + 'static) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = is_over.clone();
        let run = move || {
            let waker = Waker::from(Arc::new(Unpark(thread::current())));
            let mut context = Context::from_waker(&waker);
            let mut program = pin!(program());
            while !ends.load(Ordering::Relaxed) && program.as_mut().poll(&mut context).is_pending() {
                thread::park();
            }
        };
        ProgramThread {
            thread: thread::spawn(run).thread().clone(),
            is_over,
        }
    }
}

impl Drop for ProgramThread {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}
