//! Requests, streams and large messages of applications: programs on all boards, and a book of what both ends saw, by which they are checked.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::rc::Rc;

use embassy_futures::join::join;
use embassy_futures::select::{select, select3};
use embedded_io_async::{Read, Write as _};
use hopwise_app::{AppPort, LargeError, MAX_MESSAGE, Mesh, RequestError, Service, Stream};
use hopwise_language::Destinations;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::oracle::{Broken, Tally, Violation};
use super::programs::{self, Program, Programs};
use super::run::{Account, RunError, SimRun};
use super::shell::Honest;
use super::sizes::play;

/// What applications send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum AppService {
    Request,
    Stream,
    Large,
    /// Any of them, drawn each time.
    Any,
}

const REQUESTS: AppPort = AppPort(16);
const LARGE: AppPort = AppPort(17);
const STREAMS: AppPort = AppPort(18);

/// Streams and large messages are so many times as long as requests.
const LONG: usize = 20;
/// The number of a call, which is before its payload.
const NUMBER: usize = 4;
/// Programs end when nobody has had anything to send for so many looks of each board.
const LOOK_EVERY: u64 = 500_000;
const LOOKS: u64 = 16;
/// A run in which boards never rest ends so long after the last call should have begun, in nanoseconds.
const ENDS_WITHIN: u64 = 300_000_000_000;

/// What the sender of a call was told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// It has arrived.
    Done,
    /// It has not, and never will.
    Failed,
    Uncertain,
}

struct Call {
    service: AppService,
    source: u64,
    dest: u64,
    bytes: Vec<u8>,
    /// How often all of it arrived.
    arrivals: u32,
    told: Option<Told>,
}

struct Book {
    service: AppService,
    payload: usize,
    /// Microseconds between two calls of a board.
    interval: u64,
    to_send: Cell<u64>,
    /// Boards that have something to send, and for how many looks there have been none.
    open: Cell<u32>,
    quiet: Cell<u32>,
    random: RefCell<Xoshiro256PlusPlus>,
    destinations: RefCell<Destinations>,
    calls: RefCell<Vec<Call>>,
    broken: RefCell<Option<(u64, Broken, String)>>,
}

impl Book {
    fn new(what: &SimRun, service: AppService, to_send: u64) -> Result<Self, RunError> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(what.build.seed ^ 0x6170_7073);
        Ok(Book {
            service,
            payload: what.payload,
            interval: (1e6 / what.rate) as u64,
            to_send: Cell::new(to_send),
            open: Cell::new(0),
            quiet: Cell::new(0),
            destinations: RefCell::new(Destinations::new(what.traffic, &what.build.network, &mut random)?),
            random: RefCell::new(random),
            calls: RefCell::default(),
            broken: RefCell::default(),
        })
    }

    fn broken(&self, node: u64, kind: Broken, what: String) {
        self.broken.borrow_mut().get_or_insert((node, kind, what));
    }

    /// Begins the next call of a board: its number, service, destination and bytes.
    fn begin(&self, source: u64) -> Option<(usize, AppService, u64, Vec<u8>)> {
        self.to_send.set(self.to_send.get().checked_sub(1)?);
        let mut random = self.random.borrow_mut();
        let dest = u64::from(self.destinations.borrow_mut().next(source as u32, &mut *random)?);
        let all = [AppService::Request, AppService::Stream, AppService::Large];
        let service = match self.service {
            AppService::Any => all[random.random_range(0..all.len())],
            one => one,
        };
        let mut calls = self.calls.borrow_mut();
        let number = calls.len();
        let mut bytes = (number as u32).to_le_bytes().to_vec();
        bytes.resize(self.payload * if service == AppService::Request { 1 } else { LONG }, 0);
        random.fill_bytes(&mut bytes[NUMBER..]);
        calls.push(Call {
            service,
            source,
            dest,
            bytes: bytes.clone(),
            arrivals: 0,
            told: None,
        });
        Some((number, service, dest, bytes))
    }

    fn told(&self, number: usize, told: Told) {
        self.calls.borrow_mut()[number].told = Some(told);
    }

    /// Bytes have come from a node: all of a call, or as much of it as came before its end failed.
    fn arrived(&self, service: AppService, here: u64, source: u64, bytes: &[u8], is_whole: bool) {
        let mut calls = self.calls.borrow_mut();
        let number = bytes.first_chunk().map(|number| u32::from_le_bytes(*number));
        let call = number.and_then(|number| calls.get_mut(number as usize));
        let is_it = |call: &&mut Call| {
            let right = if is_whole {
                call.bytes == bytes
            } else {
                call.bytes.starts_with(bytes)
            };
            right && (call.service, call.source, call.dest) == (service, source, here)
        };
        let Some(call) = call.filter(is_it) else {
            let what = format!(
                "{} bytes said to be from node {source} are not what was sent",
                bytes.len()
            );
            return self.broken(here, Broken::Corrupted, what);
        };
        call.arrivals += u32::from(is_whole);
        if call.arrivals > 1 {
            let what = format!("{} of node {source} arrived twice", name(number.unwrap_or(0), service));
            self.broken(here, Broken::Twice, what);
        }
    }

    async fn serve_requests(&self, mesh: Mesh<'_>) {
        let Ok(mut receiver) = mesh.receiver(REQUESTS) else {
            return;
        };
        loop {
            let request = receiver.recv().await;
            if request.service == Service::Request {
                self.arrived(
                    AppService::Request,
                    mesh.address(),
                    request.source,
                    request.bytes(),
                    true,
                );
                // Its sender may be gone.
                let _ = mesh.respond(&request, REQUESTS, &response_to(request.bytes())).await;
            }
        }
    }

    async fn receive_large(&self, mesh: Mesh<'_>) {
        let Ok(mut receiver) = mesh.large_receiver(LARGE) else {
            return;
        };
        let mut buffer = vec![0; LONG * MAX_MESSAGE];
        loop {
            let message = receiver.recv_large(&mut buffer).await;
            self.arrived(AppService::Large, mesh.address(), message.source, message.bytes, true);
        }
    }

    async fn read_streams(&self, mesh: Mesh<'_>) {
        let Ok(mut listener) = mesh.listener(STREAMS) else {
            return;
        };
        loop {
            let mut stream: Stream<'_> = listener.accept().await;
            let (mut bytes, mut buffer) = (Vec::new(), [0; 97]);
            let is_whole = loop {
                match stream.read(&mut buffer).await {
                    Ok(0) => break true,
                    Ok(more) => bytes.extend(&buffer[..more]),
                    Err(_) => break false,
                }
            };
            // One that ends before its number has come is nobody's.
            if bytes.len() >= NUMBER {
                self.arrived(AppService::Stream, mesh.address(), stream.peer(), &bytes, is_whole);
            }
            // An end that only reads closes as well.
            let _ = stream.close().await;
        }
    }

    async fn request(&self, mesh: Mesh<'_>, dest: u64, bytes: &[u8]) -> Told {
        match mesh.request_bytes(dest, REQUESTS, bytes).await {
            Ok(response) => {
                if response[..] != response_to(bytes) {
                    let what = format!("node {dest} did not send the response that came");
                    self.broken(mesh.address(), Broken::Corrupted, what);
                }
                Told::Done
            }
            Err(RequestError::TimedOut | RequestError::Undeliverable { .. }) => Told::Uncertain,
            Err(_) => Told::Failed,
        }
    }

    async fn speak(&self, mesh: Mesh<'_>) {
        mesh.sleep(500_000 + self.wait()).await;
        while let Some((number, service, dest, bytes)) = self.begin(mesh.address()) {
            let told = match service {
                AppService::Request | AppService::Any => self.request(mesh, dest, &bytes).await,
                AppService::Large => match mesh.send_large(dest, LARGE, &bytes).await {
                    Ok(()) => Told::Done,
                    Err(LargeError::Uncertain) => Told::Uncertain,
                    Err(_) => Told::Failed,
                },
                AppService::Stream => match mesh.connect::<512>(dest, STREAMS).await {
                    Ok(stream) => write(stream, &bytes).await,
                    Err(_) => Told::Failed,
                },
            };
            self.told(number, told);
            mesh.sleep(self.wait()).await;
        }
    }

    fn wait(&self) -> u64 {
        self.interval / 2 + self.random.borrow_mut().random_range(0..self.interval.max(1))
    }

    async fn run(&self, mesh: Mesh<'_>) {
        let speak = async {
            let _speaking = Speaking::begin(&self.open);
            self.speak(mesh).await;
        };
        let all_done = async {
            while u64::from(self.quiet.get()) < LOOKS * mesh.network().nodes() {
                mesh.sleep(LOOK_EVERY).await;
                self.quiet
                    .set(if self.open.get() == 0 { self.quiet.get() + 1 } else { 0 });
            }
        };
        let serve = select3(
            self.serve_requests(mesh),
            self.receive_large(mesh),
            self.read_streams(mesh),
        );
        select(join(speak, all_done), serve).await;
    }

    /// Whether what senders were told is so. Where boards restart, a program may have had what it then forgot, and nobody is told.
    fn check(&self, restarts: bool, tally: &mut Tally) {
        for (number, call) in (0..).zip(&*self.calls.borrow()) {
            let may_be_forgotten = restarts && call.service == AppService::Stream;
            let wrong = match call.told {
                None if !restarts => Some((Broken::Lost, "neither arrived nor failed")),
                Some(Told::Done) if call.arrivals == 0 && !may_be_forgotten => {
                    Some((Broken::Outcome, "did not arrive, but its sender was told so"))
                }
                Some(Told::Failed) if call.arrivals > 0 => {
                    Some((Broken::Outcome, "arrived, but its sender was told that it did not"))
                }
                _ => None,
            };
            if let Some((kind, what)) = wrong {
                let what = format!("{} to node {} {what}", name(number, call.service), call.dest);
                self.broken(call.source, kind, what);
            }
            let arrived = call.arrivals > 0;
            tally.sent += 1;
            tally.delivered += u64::from(arrived);
            tally.undeliverable += u64::from(!arrived && call.told.is_some());
            tally.interrupted += u64::from(!arrived && call.told.is_none());
        }
        (tally.innocent_sent, tally.innocent_delivered) = (tally.sent, tally.delivered);
    }
}

fn name(number: u32, service: AppService) -> String {
    let service = format!("{service:?}").to_lowercase();
    format!("call {number} ({service})")
}

fn response_to(request: &[u8]) -> Vec<u8> {
    // Its status takes one byte.
    request.iter().rev().take(MAX_MESSAGE - 1).copied().collect()
}

async fn write(mut stream: Stream<'_, 512>, bytes: &[u8]) -> Told {
    let written = async {
        stream.write_all(bytes).await?;
        stream.close().await
    };
    written.await.map_or(Told::Uncertain, |()| Told::Done)
}

/// Someone has something to send, until this is dropped: by a reset, too.
struct Speaking<'a>(&'a Cell<u32>);

impl<'a> Speaking<'a> {
    fn begin(open: &'a Cell<u32>) -> Self {
        open.set(open.get() + 1);
        Speaking(open)
    }
}

impl Drop for Speaking<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Simulates a run whose traffic is of applications.
pub(super) fn simulate_services(
    what: &SimRun,
    service: AppService,
    trace: Option<&mut (dyn Write + '_)>,
) -> Result<Account, RunError> {
    let nodes = what.build.network.nodes();
    let per_second = what.rate * nodes as f64;
    let to_send = what
        .duration
        .map_or(what.packets, |time| (time as f64 / 1e9 * per_second).ceil() as u64);
    let to_send = to_send.min(what.packets);
    let book = Rc::new(Book::new(what, service, to_send)?);
    let run = SimRun {
        duration: Some((to_send as f64 / per_second * 1e9) as u64 + ENDS_WITHIN),
        ..what.clone()
    };
    let restarts = what.reset_every.is_some() || !what.script.is_empty();
    let of_programs = Rc::clone(&book);
    let shared = programs::shared(&run.build.network);
    let program: &Program<'_> = &move |mesh| {
        let book = Rc::clone(&of_programs);
        Box::pin(async move { book.run(mesh).await })
    };
    let trace = trace.map(|trace| trace as &mut dyn Write);
    let programs = Programs::new(program, &shared);
    let mut account = play(&run, Honest, trace, Some(programs), &mut |_| ())?;
    book.check(restarts, &mut account.tally);
    let at = (account.virtual_seconds * 1e9) as u64;
    let broken = book.broken.take().map(|(node, kind, what)| Violation {
        at,
        node: node as u32,
        kind,
        what,
    });
    account.violation = account.violation.or(broken);
    Ok(account)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    /// What is broken if a node gets `bytes` of a stream to it, some times, and the sender is told that.
    fn broken(bytes: impl Fn(&[u8]) -> Vec<u8>, times: u32, told: Option<Told>) -> Option<Broken> {
        let settings = Settings {
            network: Some("ring(4)".into()),
            ..Settings::default()
        };
        let book = Book::new(&settings.run().unwrap(), AppService::Stream, 1).unwrap_or_else(|error| panic!("{error}"));
        let (number, _, dest, sent) = book.begin(2).unwrap();
        (0..times).for_each(|_| book.arrived(AppService::Stream, dest, 2, &bytes(&sent), true));
        told.into_iter().for_each(|told| book.told(number, told));
        book.check(false, &mut Tally::default());
        book.broken.take().map(|broken| broken.1)
    }

    #[test]
    fn calls_that_do_not_end_as_their_senders_were_told_are_found() {
        let whole = |sent: &[u8]| sent.to_vec();
        for (times, told, kind) in [
            (1, Some(Told::Done), None),
            (0, Some(Told::Failed), None),
            (0, Some(Told::Uncertain), None),
            (1, Some(Told::Uncertain), None),
            (2, Some(Told::Done), Some(Broken::Twice)),
            (0, Some(Told::Done), Some(Broken::Outcome)),
            (1, Some(Told::Failed), Some(Broken::Outcome)),
            (1, None, Some(Broken::Lost)),
        ] {
            assert_eq!(broken(whole, times, told), kind, "{times}");
        }
        let short = |sent: &[u8]| sent[..sent.len() - 1].to_vec();
        assert_eq!(broken(short, 1, Some(Told::Done)), Some(Broken::Corrupted));
        let other = |sent: &[u8]| [&sent[..99], &[!sent[99]], &sent[100..]].concat();
        assert_eq!(broken(other, 1, Some(Told::Done)), Some(Broken::Corrupted));
    }
}
