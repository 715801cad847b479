//! A program that uses every service once, at times when nobody else speaks. It runs on boards and in the simulator, where the same must be delivered.

use embassy_futures::join::join5;
use embedded_io_async::{Read, Write};
use hopwise_app::{AppPort, Mesh, Micros, Node, Outcome, Service, Stream};

const MESSAGES: AppPort = AppPort(16);
const REQUESTS: AppPort = AppPort(17);
const LARGE: AppPort = AppPort(18);
const STREAMS: AppPort = AppPort(19);
/// Bytes of a large message, and of a stream.
const LONG: usize = 1_000;
/// When the first node begins, and the time that each has.
const BEGIN: Micros = 1_000_000;
const TURN: Micros = 100_000;

/// Something that was delivered, or a response: what, from which node, how many bytes and their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Note {
    pub(crate) what: &'static str,
    pub(crate) from: Node,
    pub(crate) length: usize,
    pub(crate) sum: u32,
}

/// Runs the script on a node. `note` hears of everything that is delivered there.
pub(crate) async fn run(mesh: Mesh<'_>, note: impl Fn(Note)) {
    let tell = |what, from, bytes: &[u8]| {
        note(Note {
            what,
            from,
            length: bytes.len(),
            sum: bytes.iter().map(|&byte| u32::from(byte)).sum(),
        });
    };
    let messages = async {
        let Ok(mut receiver) = mesh.receiver(MESSAGES) else {
            return;
        };
        loop {
            let message = receiver.recv().await;
            let what = match message.service {
                Service::Datagram => "datagram",
                Service::Broadcast => "broadcast",
                Service::Confirmed => "confirmed",
                Service::Request => "request",
            };
            tell(what, message.source, message.bytes());
        }
    };
    let requests = async {
        let _ = mesh.serve(REQUESTS, |number: u32| number.wrapping_mul(3)).await;
    };
    let large = async {
        let Ok(mut receiver) = mesh.large_receiver(LARGE) else {
            return;
        };
        let mut buffer = [0; LONG];
        loop {
            let message = receiver.recv_large(&mut buffer).await;
            tell("large", message.source, message.bytes);
        }
    };
    let streams = async {
        let Ok(mut listener) = mesh.listener(STREAMS) else {
            return;
        };
        loop {
            let mut stream: Stream<'_> = listener.accept().await;
            let mut buffer = [0; LONG];
            let whole = stream.read_exact(&mut buffer).await.is_ok() && stream.read(&mut [0]).await == Ok(0);
            if whole && stream.close().await.is_ok() {
                tell("stream", stream.peer(), &buffer);
            }
        }
    };
    join5(messages, requests, large, streams, speak(mesh, &tell)).await;
}

/// Sends something by every service, to different nodes, when it is this node's turn.
async fn speak(mesh: Mesh<'_>, tell: &impl Fn(&'static str, Node, &[u8])) {
    let (here, nodes) = (mesh.address(), mesh.network().nodes());
    let node = |ahead| (here + ahead) % nodes;
    mesh.sleep_until(BEGIN + TURN * here).await;
    let bytes: [u8; LONG] = core::array::from_fn(|place| (place as u8).wrapping_mul(7) ^ here as u8);
    let _ = mesh.send(node(1), MESSAGES, &bytes[..20]).await;
    let outcome = mesh.send_confirmed(node(2), MESSAGES, &bytes[..200]).await;
    tell("outcome", node(2), &[(outcome == Ok(Outcome::Delivered)).into()]);
    let _ = mesh.broadcast(MESSAGES, &bytes[..50]).await;
    let answer: Result<u32, _> = mesh.request(node(3), REQUESTS, &(here as u32)).await;
    tell("answer", node(3), &answer.unwrap_or(0).to_le_bytes());
    let sent = mesh.send_large(node(4), LARGE, &bytes).await;
    tell("sent", node(4), &[sent.is_ok().into()]);
    if let Ok(mut stream) = mesh.connect::<512>(node(5), STREAMS).await {
        let written = stream.write_all(&bytes).await.is_ok() && stream.close().await.is_ok();
        tell("written", node(5), &[written.into()]);
    }
}
