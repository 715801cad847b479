//! `hopwise send`, `request`, `listen` and `bridge`: the host as a neighbor of the boards, with messages to and from their applications.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use hopwise_figures::printable;
use hopwise_host::bridge::{Bridge, Filter, from_hex, to_hex};
use hopwise_host::{AppPort, Incoming, Mesh, RESPONSE_TIMEOUT, RequestError, SendError, SendResult, check_length};
use hopwise_language::Time;
use serde_json::{Value, json};

use super::error::CliError;
use super::output::{Outcome, print, print_json, say, stop_on_ctrl_c};
use super::talk::{PortArg, check_node};

/// How long to wait for something before looking whether the command is to end.
const LOOK: Duration = Duration::from_millis(50);
/// What is still to be written when the serial port has failed is written within this.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The bytes of a message.
#[derive(Args)]
struct PayloadArg {
    /// The text to send [default: nothing]
    text: Option<String>,
    /// The bytes to send, two hexadecimal digits each
    #[arg(long, value_name = "DIGITS", conflicts_with = "text")]
    hex: Option<String>,
    /// A file with the bytes to send
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "hex"])]
    file: Option<PathBuf>,
}

impl PayloadArg {
    /// The bytes, if a packet carries them.
    fn bytes(&self) -> Result<Vec<u8>, CliError> {
        let bytes = match (&self.hex, &self.file) {
            (Some(hex), _) => from_hex(hex).ok_or_else(|| {
                CliError::new(format_args!(
                    "'{hex}' is not a list of bytes, two hexadecimal digits each"
                ))
            })?,
            (None, Some(path)) => {
                hopwise_files::read(path, hopwise_files::MAX_TEXT).map_err(|error| CliError::file(path, error))?
            }
            (None, None) => self.text.clone().unwrap_or_default().into_bytes(),
        };
        check_length(&bytes)?;
        Ok(bytes)
    }
}

#[derive(Args)]
pub(super) struct SendArgs {
    /// The node it is for
    node: u64,
    #[command(flatten)]
    payload: PayloadArg,
    #[command(flatten)]
    at: PortArg,
    /// Wait until the node confirms the message
    #[arg(long)]
    confirmed: bool,
    /// For the host at that node, not for the node
    #[arg(long, alias = "to-computer", conflicts_with = "confirmed")]
    to_host: bool,
    /// The application that it is for, by the number of its port
    #[arg(long, value_name = "PORT", default_value_t = AppPort::TEXT.0)]
    service: u8,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn send(args: &SendArgs) -> Result<Outcome, CliError> {
    let bytes = args.payload.bytes()?;
    let mesh = args.at.connect()?;
    check_node(&mesh, args.node)?;
    let port = AppPort(args.service);
    let sent = match args.confirmed {
        true => mesh.send_confirmed(args.node, port, &bytes),
        false => mesh
            .send_and_hear(args.node, args.to_host, port, &bytes)
            .map(|bad_news| bad_news.map_or(SendResult::Delivered, SendResult::Undeliverable)),
    };
    let result = match sent {
        Err(SendError::NoRoom) => {
            let board = mesh.board();
            return Ok(Outcome::CheckFailed(format!(
                "board {board} has no room for the packet"
            )));
        }
        sent => sent?,
    };
    let (outcome, failed) = match result {
        SendResult::Delivered if args.confirmed => ("delivered", None),
        // Nothing bad was heard: that is all one knows of a datagram.
        SendResult::Delivered => ("sent", None),
        SendResult::Busy => ("busy", Some("the node takes no more at present")),
        SendResult::Interrupted => ("interrupted", Some("the node has restarted")),
        SendResult::Undeliverable(reason) => ("undeliverable", Some(reason.name())),
        SendResult::Unknown => ("unknown", Some("no response")),
    };
    if args.json {
        print_json(&json!({"node": args.node, "bytes": bytes.len(), "outcome": outcome}))?;
    } else if failed.is_none() {
        print(|out| writeln!(out, "{} bytes to node {}: {outcome}", bytes.len(), args.node))?;
    }
    Ok(match failed {
        None => Outcome::Done,
        Some(why) => Outcome::CheckFailed(format!("the packet to node {}: {outcome} ({why})", args.node)),
    })
}

#[derive(Args)]
#[command(after_help = "\
Programs that answer with `serve` speak postcard: 21 is --hex 15. The exit status is 1 if there is no response; a sentence says why.")]
pub(super) struct RequestArgs {
    /// The node to ask
    node: u64,
    #[command(flatten)]
    payload: PayloadArg,
    #[command(flatten)]
    at: PortArg,
    /// The application to ask, by the number of its port
    #[arg(long, value_name = "PORT")]
    service: u8,
    /// Ask the host at that node, not the node
    #[arg(long, alias = "to-computer")]
    to_host: bool,
    /// How long to wait for the response [default: 15s]
    #[arg(long, value_name = "TIME")]
    within: Option<Time>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn request(args: &RequestArgs) -> Result<Outcome, CliError> {
    let bytes = args.payload.bytes()?;
    let mesh = args.at.connect()?;
    check_node(&mesh, args.node)?;
    let within = args.within.map_or(RESPONSE_TIMEOUT, Duration::from);
    let (node, service) = (args.node, args.service);
    let response = match args.to_host {
        true => mesh.request_host_bytes(node, AppPort(service), &bytes, within),
        false => mesh.request_bytes(node, AppPort(service), &bytes, within),
    };
    match response {
        Ok(response) if args.json => {
            print_json(&with_bytes(json!({"node": node, "service": service}), &response))?;
            Ok(Outcome::Done)
        }
        Ok(response) => {
            print(|out| writeln!(out, "{}", shown(&response)))?;
            Ok(Outcome::Done)
        }
        Err(RequestError::NotSent(error @ SendError::Gone(_))) => Err(error.into()),
        Err(why) => {
            if args.json {
                print_json(&json!({"node": node, "service": service, "kind": why.name(), "error": why.to_string()}))?;
            }
            Ok(Outcome::CheckFailed(format!(
                "the request to service {service} of node {node}: {why}"
            )))
        }
    }
}

#[derive(Args)]
#[command(after_help = "\
Boards send to a host with `Mesh::send_to_host`, other hosts with `hopwise send --to-host`. Ctrl-C ends the command.")]
pub(super) struct ListenArgs {
    #[command(flatten)]
    at: PortArg,
    /// Only what comes from this node
    #[arg(long, value_name = "N")]
    from: Option<u64>,
    /// Only what is for this application, by the number of its port
    #[arg(long, value_name = "PORT")]
    service: Option<u8>,
    /// Stop after this many messages; the exit status is 1 if fewer arrive in time
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// How long [default: until Ctrl-C]
    #[arg(long = "for", value_name = "TIME")]
    duration: Option<Time>,
    /// Print a JSON object for each message
    #[arg(long)]
    json: bool,
}

pub(super) fn listen(args: &ListenArgs) -> Result<Outcome, CliError> {
    let stop = stop_on_ctrl_c()?;
    let mesh = args.at.connect()?;
    args.from.map_or(Ok(0), |node| check_node(&mesh, node))?;
    let filter = Filter {
        node: args.from,
        port: args.service.map(AppPort),
    };
    let begin = Instant::now();
    let is_over = || {
        args.duration
            .is_some_and(|time| begin.elapsed() >= Duration::from(time))
    };
    let mut receiver = mesh.listen();
    say(&format!(
        "listening through node {} of {}",
        mesh.board(),
        mesh.network()
    ));
    let (mut heard, mut missed) = (0, 0);
    while args.count.is_none_or(|count| heard < count) {
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Done);
        }
        if is_over() {
            return Ok(match args.count {
                None => Outcome::Done,
                Some(count) => Outcome::CheckFailed(format!("{heard} of {count} messages came in time")),
            });
        }
        let message = receiver.recv(LOOK).map_err(|_| gone(&mesh))?;
        if let Some(message) = message.filter(|message| filter.passes(message)) {
            heard += 1;
            show_message(args.json, begin.elapsed(), &message)?;
        }
        let lost = receiver.missed() - missed;
        if lost > 0 {
            missed += lost;
            say(&format!(
                "hopwise: {lost} messages came faster than they could be shown"
            ));
        }
    }
    Ok(Outcome::Done)
}

fn show_message(as_json: bool, at: Duration, message: &Incoming) -> Result<(), CliError> {
    let Incoming {
        source,
        from_host,
        port,
        bytes,
        // `listen` leaves requests alone.
        pending: _,
    } = message;
    if as_json {
        let about = json!({
            "seconds": at.as_secs_f64(),
            "node": source,
            "from_host": from_host,
            "service": port.0,
        });
        return print_json(&with_bytes(about, bytes));
    }
    let who = if *from_host { "the host at node" } else { "node" };
    let (time, service) = (at.as_secs_f64(), port.0);
    print(|out| writeln!(out, "{time:12.6} {who} {source}, service {service}: {}", shown(bytes)))
}

/// Their digits, and their text if they are one without control characters.
fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok("") => "nothing".into(),
        Ok(text) if printable(text) == text => format!("{} {text:?}", to_hex(bytes)),
        _ => to_hex(bytes),
    }
}

fn with_bytes(mut object: Value, bytes: &[u8]) -> Value {
    object["hex"] = to_hex(bytes).into();
    if let Ok(text) = std::str::from_utf8(bytes) {
        object["text"] = text.into();
    }
    object
}

/// The serial port has failed.
fn gone(mesh: &Mesh) -> CliError {
    match mesh.fault() {
        Some(fault) => SendError::Gone(fault).into(),
        None => SendError::NoRoom.into(),
    }
}

#[derive(Args)]
#[command(after_help = "\
Each line of standard input is a request, each line of standard output a response or a message: docs/bridge.md. The command ends with its
input, or, with --listen, by Ctrl-C.")]
pub(super) struct BridgeArgs {
    #[command(flatten)]
    at: PortArg,
    /// Also serve clients at this address of this host, such as 127.0.0.1:7000; with port 0 the system chooses a port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

pub(super) fn bridge(args: &BridgeArgs) -> Result<Outcome, CliError> {
    if let Some(address) = args.listen.filter(|address| !address.ip().is_loopback()) {
        return Err(CliError::new(format_args!(
            "--listen takes an address of this host only, such as 127.0.0.1:7000, not {address}"
        )));
    }
    let stop = stop_on_ctrl_c()?;
    let mesh = args.at.connect()?;
    let bridge = Bridge::new(mesh.clone());
    if let Some(address) = args.listen {
        let address = bridge
            .listen(address)
            .map_err(|error| CliError::new(format_args!("--listen {address}: {error}")))?;
        say(&format!("clients are served at {address}"));
    }
    let pipe = std::thread::spawn(move || bridge.serve(std::io::stdin(), std::io::stdout()));
    while !stop.load(Ordering::Relaxed) && (args.listen.is_some() || !pipe.is_finished()) {
        std::thread::sleep(LOOK);
        if mesh.fault().is_some() {
            std::thread::sleep(LAST_WORDS);
            return Err(gone(&mesh));
        }
    }
    Ok(Outcome::Done)
}
