//! Cables are pulled, and boards reset, under requests, large messages and streams: nothing comes twice, streams come in order, and every call ends with a
//! result that is true.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use embassy_futures::select::select;
use embedded_io_async::{Read, Write};
use hopwise_app::{AppPort, LargeError, Mesh, RequestError, Stream, StreamError};
use hopwise_sim::simulate_programs;
use rayon::prelude::*;

use super::{flag, on};

const NETWORKS: [&str; 5] = ["rdn(ring(3),1)", "torus(3,3)", "ring(6)", "hypercube(3)", "wk(3,2)"];
const REQUESTS: AppPort = AppPort(16);
const LARGE: AppPort = AppPort(17);
const STREAMS: AppPort = AppPort(18);
/// Who serves them: a request, a large message and a stream go to different nodes.
const SERVER: u64 = 0;
const RECEIVER: u64 = 1;
const READER: u64 = 2;
/// Bytes of a large message and of a stream, without the name before them.
const LONG: usize = 2_000;

/// Who sends, and when it began: the same never twice, after a reset neither.
type Name = (u64, u64);

fn name_bytes((node, began): Name) -> [u8; 16] {
    (u128::from(node) << 64 | u128::from(began)).to_le_bytes()
}

fn read_name(bytes: &[u8]) -> Name {
    let number = u128::from_le_bytes(bytes[..16].try_into().unwrap());
    ((number >> 64) as u64, number as u64)
}

/// What follows a name: it depends on that and on the place.
fn rest_of(name: Name) -> Vec<u8> {
    let byte = |place: u64| (place * 5 + (place >> 8) + name.0 * 17 + name.1) as u8;
    (0..LONG as u64).map(byte).collect()
}

/// What was read of a stream, and how it ended.
type Heard = (Vec<u8>, Result<(), StreamError>);

#[derive(Default)]
struct Book {
    /// Programs that have something to send.
    open: Cell<u32>,
    carried_out: RefCell<BTreeMap<Name, u32>>,
    received: RefCell<BTreeMap<Name, u32>>,
    /// Streams that were accepted, with what was read of each, and how it ended.
    read: RefCell<BTreeMap<Name, Heard>>,
    /// What the calls of senders returned.
    asked: RefCell<BTreeMap<Name, Option<Result<(), RequestError>>>>,
    sent: RefCell<BTreeMap<Name, Option<Result<(), LargeError>>>>,
    written: RefCell<BTreeMap<Name, Option<Result<(), StreamError>>>>,
}

impl Book {
    async fn serve(&self, mesh: Mesh<'_>) {
        match mesh.address() {
            SERVER => {
                let double = |name: Name| {
                    *self.carried_out.borrow_mut().entry(name).or_default() += 1;
                    (name, 2_u32)
                };
                let Err(error) = mesh.serve(REQUESTS, double).await;
                panic!("{error}");
            }
            RECEIVER => {
                let mut receiver = mesh.large_receiver(LARGE).unwrap();
                let mut buffer = vec![0; 16 + LONG];
                loop {
                    let message = receiver.recv_large(&mut buffer).await;
                    let name = read_name(message.bytes);
                    assert_eq!(message.source, name.0);
                    assert!(message.bytes[16..] == rest_of(name), "{name:?} is damaged");
                    *self.received.borrow_mut().entry(name).or_default() += 1;
                }
            }
            READER => {
                let mut listener = mesh.listener(STREAMS).unwrap();
                loop {
                    let stream = listener.accept().await;
                    self.read_stream(stream).await;
                }
            }
            _ => {}
        }
    }

    async fn read_stream(&self, mut stream: Stream<'_>) {
        let mut name = [0; 16];
        // One that ends before its name has come is nobody's.
        if stream.read_exact(&mut name).await.is_err() {
            return;
        }
        let name = read_name(&name);
        assert_eq!(stream.peer(), name.0);
        let mut all = Vec::new();
        let mut buffer = [0; 97];
        let end = loop {
            match stream.read(&mut buffer).await {
                Ok(0) => break Ok(()),
                Ok(more) => all.extend(&buffer[..more]),
                Err(error) => break Err(error),
            }
        };
        let before = self.read.borrow_mut().insert(name, (all, end));
        assert!(before.is_none(), "{name:?} is there twice");
        // An end that only reads closes as well.
        let _ = stream.close().await;
    }

    async fn speak(&self, mesh: Mesh<'_>) {
        mesh.sleep(500_000 + 7_000 * mesh.address()).await;
        for _ in 0..5 {
            let name = (mesh.address(), mesh.uptime());
            self.asked.borrow_mut().insert(name, None);
            let response = mesh.request::<_, (Name, u32)>(SERVER, REQUESTS, &name).await;
            if let Ok(response) = response {
                assert_eq!(response, (name, 2));
            }
            self.asked.borrow_mut().insert(name, Some(response.map(drop)));
            mesh.sleep(50_000).await;
        }
        let name = (mesh.address(), mesh.uptime());
        let message = [&name_bytes(name)[..], &rest_of(name)].concat();
        self.sent.borrow_mut().insert(name, None);
        let sent = mesh.send_large(RECEIVER, LARGE, &message).await;
        self.sent.borrow_mut().insert(name, Some(sent));
        // Streams are accepted one after the other: who is not is too early.
        for _ in 0..20 {
            let Ok(mut stream) = mesh.connect::<512>(READER, STREAMS).await else {
                continue;
            };
            let name = (mesh.address(), mesh.uptime());
            self.written.borrow_mut().insert(name, None);
            let written = async {
                stream.write_all(&name_bytes(name)).await?;
                stream.write_all(&rest_of(name)).await?;
                stream.close().await
            };
            let written = written.await;
            self.written.borrow_mut().insert(name, Some(written));
            break;
        }
    }

    async fn run(&self, mesh: Mesh<'_>) {
        if mesh.address() > READER {
            let _speaking = Speaking::begin(&self.open);
            return self.speak(mesh).await;
        }
        let all_done = async {
            mesh.sleep(2_000_000).await;
            while self.open.get() > 0 {
                mesh.sleep(500_000).await;
            }
            // What is read last is still on its way, or being missed.
            mesh.sleep(6_000_000).await;
        };
        select(self.serve(mesh), all_done).await;
    }

    /// Whether all that was guaranteed was kept. Where boards reset, a receiver may have had what it then forgot.
    fn check(&self, resets: bool) {
        let once = |book: &BTreeMap<Name, u32>, what: &str| {
            let twice = book.iter().find(|&(_, &times)| times > 1);
            assert_eq!(twice, None, "{what} twice");
        };
        once(&self.carried_out.borrow(), "carried out");
        once(&self.received.borrow(), "received");
        for (name, result) in &*self.asked.borrow() {
            let times = self.carried_out.borrow().get(name).copied().unwrap_or(0);
            match result {
                None => assert!(resets, "{name:?} has no response and no error"),
                Some(Ok(())) => assert_eq!(times, 1, "{name:?}"),
                Some(Err(RequestError::TimedOut | RequestError::Undeliverable { .. })) => {}
                Some(Err(RequestError::Busy | RequestError::PortUnreachable)) => assert_eq!(times, 0, "{name:?}"),
                Some(Err(error)) => panic!("{name:?}: {error}"),
            }
        }
        for (name, result) in &*self.sent.borrow() {
            let times = self.received.borrow().get(name).copied().unwrap_or(0);
            match result {
                None => assert!(resets, "{name:?} has neither arrived nor failed"),
                Some(Ok(())) => assert_eq!(times, 1, "{name:?}"),
                Some(Err(LargeError::Uncertain)) => {}
                Some(Err(error)) => assert_eq!(times, 0, "{name:?}: {error}"),
            }
        }
        for (name, (bytes, end)) in &*self.read.borrow() {
            let are_right = rest_of(*name).starts_with(bytes);
            assert!(are_right, "{name:?}: {} bytes are wrong", bytes.len());
            if end.is_ok() {
                assert_eq!(bytes.len(), LONG, "{name:?} ends early");
            }
        }
        for (name, result) in &*self.written.borrow() {
            match result {
                None => assert!(resets, "{name:?} has neither arrived nor failed"),
                // The reader may have lost it by a reset.
                Some(Ok(())) if resets => {}
                Some(Ok(())) => {
                    let read = self.read.borrow();
                    let (bytes, end) = read.get(name).unwrap_or_else(|| panic!("{name:?} was not read"));
                    assert_eq!((bytes.len(), *end), (LONG, Ok(())), "{name:?}");
                }
                Some(Err(_)) => {}
            }
        }
    }
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

/// How many requests were answered, and how many large messages and streams arrived whole; each of how many.
type Successes = [(usize, usize); 3];

/// Runs seeds, of which at least so many tenths of all requests are answered, and nine tenths of all else arrives.
pub(crate) fn assert_seeds(seeds: &[u64], tenths_of_requests: usize) {
    let all: Vec<Successes> = seeds.par_iter().map(|&seed| run_a_seed(seed)).collect();
    let least = [tenths_of_requests, 9, 9];
    for (place, (what, least)) in ["requests", "large messages", "streams"].iter().zip(least).enumerate() {
        let done: usize = all.iter().map(|of| of[place].0).sum();
        let tried: usize = all.iter().map(|of| of[place].1).sum();
        println!("{done} of {tried} {what}");
        // Where pulled cables leave no path for long nothing can be done, so a seed alone may have few.
        assert!(
            done * 10 >= tried * least || seeds.len() == 1,
            "{done} of {tried} {what}"
        );
    }
}

/// Runs a seed, in which all guarantees must be kept.
fn run_a_seed(seed: u64) -> Successes {
    let resets = seed.is_multiple_of(4);
    let network = NETWORKS[seed as usize % NETWORKS.len()];
    let pulls = ["300ms", "150ms"][seed as usize % 2];
    let all_the_time = seed.is_multiple_of(8);
    let every = ["--reset-every 3s", "--reset-every 700ms"][usize::from(all_the_time)];
    let often = flag(every, resets);
    let settings = on(&format!(
        "{network} --pull-every {pulls} {often} --seed {seed} --for 400s"
    ));
    // Whatever fails below, this is how to see it again.
    let again = Again(seed);
    let book = Rc::new(Book::default());
    let of_programs = book.clone();
    let account = simulate_programs(&settings.run().unwrap(), &move |mesh| {
        let book = of_programs.clone();
        Box::pin(async move { book.run(mesh).await })
    });
    assert_eq!(account.unwrap().violation, None);
    book.check(resets);
    std::mem::forget(again);
    if all_the_time {
        // Programs that begin anew all the time seldom come to an end: it is enough that all guarantees are kept.
        return Successes::default();
    }
    let (asked, sent, written) = (book.asked.borrow(), book.sent.borrow(), book.written.borrow());
    [
        (successes(&asked), asked.len()),
        (successes(&sent), sent.len()),
        (successes(&written), sent.len()),
    ]
}

fn successes<E: PartialEq>(results: &BTreeMap<Name, Option<Result<(), E>>>) -> usize {
    results.values().filter(|result| **result == Some(Ok(()))).count()
}

/// Says, when a test fails, which seed it was.
struct Again(u64);

impl Drop for Again {
    fn drop(&mut self) {
        eprintln!(
            "again: HOPWISE_SEED={} cargo test -p hopwise-sim --test sim pulls",
            self.0
        );
    }
}
