//! A small web server for the pages of `hopwise play` and `hopwise bench`, on this machine alone.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::error::CliError;

/// A browser that says nothing for so long is gone.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_HEAD: u64 = 16 << 10;
const MAX_BODY: u64 = 64 << 20;
const MAX_CONNECTIONS: usize = 64;

/// Status, kind of contents, and these.
pub(super) type Response = (&'static str, &'static str, Vec<u8>);

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";

pub(super) fn refusal(status: &'static str, sentence: impl std::fmt::Display) -> Response {
    (status, TEXT, format!("{sentence}\n").into())
}

pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// A listener at a port, of which 0 is any that is free; and the address to open in a browser.
pub(super) fn listen(port: u16) -> Result<(TcpListener, String), CliError> {
    let opened = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|listener| {
        let address = format!("http://{}", listener.local_addr()?);
        Ok((listener, address))
    });
    opened.map_err(|error| {
        CliError::new(format_args!(
            "cannot serve at port {port}: {error}; choose another one with --port, or --port 0 for any that is free"
        ))
    })
}

/// Responds to whoever asks, for ever; to several at once.
pub(super) fn serve(listener: &TcpListener, respond: impl Fn(&Request) -> Response + Sync) {
    let (connected, respond) = (&AtomicUsize::new(0), &respond);
    std::thread::scope(|connections| {
        for stream in listener.incoming().flatten() {
            if connected.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
                continue;
            }
            connected.fetch_add(1, Ordering::Relaxed);
            connections.spawn(move || {
                // A browser that has gone needs no response.
                let _ = converse(&stream, respond);
                connected.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

fn converse(mut stream: &TcpStream, respond: &impl Fn(&Request) -> Response) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let (status, kind, body) = match read(stream)? {
        Ok(request) => respond(&request),
        Err(refusal) => refusal,
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(&body)
}

fn read(stream: &TcpStream) -> io::Result<Result<Request, Response>> {
    let mut reader = BufReader::new(stream);
    let lines = reader.by_ref().take(MAX_HEAD).lines();
    let head = lines.take_while(|line| !line.as_ref().is_ok_and(String::is_empty));
    let head: Vec<String> = head.collect::<Result<_, _>>()?;
    let value = |name: &str| {
        let mut fields = head.iter().skip(1).filter_map(|line| line.split_once(':'));
        let field = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.trim())
    };
    if !is_ours(value("Host"), value("Origin")) {
        return Ok(Err(refusal(
            "403 Forbidden",
            "only pages of this server may ask it for anything",
        )));
    }
    let length = value("Content-Length").map_or(Ok(0), str::parse);
    let Some(length) = length.ok().filter(|length| *length <= MAX_BODY) else {
        return Ok(Err(refusal("413 Content Too Large", "that is too much at once")));
    };
    let mut words = head.first().map_or("", String::as_str).split(' ').map(String::from);
    let mut next = || words.next().unwrap_or_default();
    let (method, path, mut body) = (next(), next(), Vec::new());
    reader.take(length).read_to_end(&mut body)?;
    Ok(Ok(Request { method, path, body }))
}

/// Pages from elsewhere must not drive boards: neither as themselves, nor under a name of theirs that leads here.
fn is_ours(host: Option<&str>, origin: Option<&str>) -> bool {
    let host = host.unwrap_or_default();
    let name = host.split(':').next().unwrap_or_default();
    ["127.0.0.1", "localhost"].contains(&name) && origin.is_none_or(|origin| origin == format!("http://{host}"))
}
