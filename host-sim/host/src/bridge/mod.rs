//! Lines of JSON for programs in any language: through a pipe, or at a loopback socket for several at once. `docs/bridge.md` has the protocol.

mod line;
mod outbox;
mod requests;

use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;

use crate::mesh::Mesh;
use crate::worker::{Interest, News};
use line::{BadLine, Errand, Wish};
pub use line::{Filter, from_hex, to_hex};
use outbox::{AT_ONCE, Outbox};
use requests::Requests;

/// Maximum length of a line, in bytes.
const LONGEST_LINE: usize = 4096;
const MAX_CLIENTS: usize = 16;

#[derive(Clone, Debug)]
pub struct Bridge {
    mesh: Mesh,
    clients: Arc<AtomicUsize>,
}

/// A client's subscriptions; none at first.
#[derive(Default)]
struct Wishes {
    messages: Option<Filter>,
    requests: Requests,
}

type Wanted = Mutex<Wishes>;

impl Bridge {
    pub fn new(mesh: Mesh) -> Self {
        Bridge {
            mesh,
            clients: Arc::default(),
        }
    }

    /// Serves one client. Returns at the end of its input, after all responses, or when it disconnects.
    pub fn serve(&self, input: impl Read + Send + 'static, output: impl Write) {
        let outbox = Arc::new(Outbox::default());
        outbox.say(line::hello(&self.mesh));
        let wanted: Arc<Wanted> = Arc::default();
        self.pass_on_messages(&outbox, &wanted);
        let (mesh, heard) = (self.mesh.clone(), outbox.clone());
        std::thread::spawn(move || {
            read_lines(input, &mut |line| obey(&mesh, &heard, &wanted, line));
            heard.end_input();
        });
        outbox.write(output);
    }

    fn pass_on_messages(&self, outbox: &Arc<Outbox>, wanted: &Arc<Wanted>) {
        let (outbox, wanted) = (outbox.clone(), wanted.clone());
        self.mesh.subscribe(Box::new(move |news| {
            let incoming = match news {
                News::Message(incoming) => incoming,
                News::Gone(fault) => {
                    outbox.say_last(line::error(&Value::Null, "port-gone", &fault.to_string()));
                    return Interest::Over;
                }
            };
            if !outbox.is_open() {
                return Interest::Over;
            }
            let mut wanted = wanted.lock().unwrap_or_else(PoisonError::into_inner);
            if wanted.requests.are_for(incoming) {
                return match wanted.requests.keep(incoming, Instant::now()) {
                    Some(number) if outbox.offer(|| line::request(number, incoming)) => Interest::Took,
                    Some(number) => {
                        wanted.requests.take(number);
                        Interest::Full
                    }
                    None => Interest::Full,
                };
            }
            if incoming.pending.is_none() && wanted.messages.is_some_and(|filter| filter.passes(incoming)) {
                outbox.message(|| line::message(incoming));
            }
            Interest::Left
        }));
    }

    /// Starts serving clients at a local socket, and returns its address.
    pub fn listen(&self, address: SocketAddr) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let bridge = self.clone();
        std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| bridge.welcome(stream)));
        Ok(address)
    }

    fn welcome(&self, stream: TcpStream) {
        if self.clients.fetch_add(1, Ordering::Relaxed) >= MAX_CLIENTS {
            self.clients.fetch_sub(1, Ordering::Relaxed);
            let sentence = format!("there are {MAX_CLIENTS} clients already");
            // A client that does not wait for the response misses it.
            let _ = writeln!(&stream, "{}", line::error(&Value::Null, "too-many", &sentence));
            return;
        }
        let bridge = self.clone();
        std::thread::spawn(move || {
            if let Ok(input) = stream.try_clone() {
                bridge.serve(input, &stream);
            }
            // A reader that still waits on it ends.
            let _ = stream.shutdown(Shutdown::Both);
            bridge.clients.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// A piece of a client's input.
enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
}

/// Passes lines of input to a callback until it returns `false` or the input ends. A line that is too long is discarded.
fn read_lines(input: impl Read, take: &mut dyn FnMut(Line<'_>) -> bool) {
    let mut line = Vec::new();
    let mut too_long = false;
    for byte in BufReader::new(input).bytes().map_while(Result::ok) {
        match byte {
            b'\n' => {
                let line = std::mem::take(&mut line);
                let line = if too_long { Line::TooLong } else { Line::Whole(&line) };
                if !take(line) {
                    return;
                }
                too_long = false;
            }
            _ if line.len() == LONGEST_LINE => too_long = true,
            byte => line.push(byte),
        }
    }
    if !line.is_empty() {
        take(if too_long { Line::TooLong } else { Line::Whole(&line) });
    }
}

/// Whether a line is the first of an HTTP request: a web page must not become a client.
fn is_of_browser(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let words = text.trim_end().rsplit_once(' ');
    words.is_some_and(|(_, last)| last.starts_with("HTTP/"))
}

/// Handles a line; returns whether to continue.
fn obey(mesh: &Mesh, outbox: &Arc<Outbox>, wanted: &Wanted, line: Line<'_>) -> bool {
    let line = match line {
        Line::TooLong => {
            let sentence = format!("a line has at most {LONGEST_LINE} bytes");
            return outbox.say(line::error(&Value::Null, "bad-line", &sentence));
        }
        Line::Whole(line) if is_of_browser(line) => {
            outbox.say(line::error(&Value::Null, "bad-line", "this is not a web server"));
            return false;
        }
        // Empty lines are ignored.
        Line::Whole(line) if line.trim_ascii().is_empty() => return true,
        Line::Whole(line) => line,
    };
    let (id, wish) = match line::read(line) {
        Ok(read) => read,
        Err(BadLine { id, reason }) => return outbox.say(line::error(&id, "bad-line", &reason)),
    };
    let mut wanted = wanted.lock().unwrap_or_else(PoisonError::into_inner);
    // An errand, or what is said at once.
    let errand = match wish {
        Wish::Errand(errand) => Ok(errand),
        Wish::Hear(what) => {
            wanted.messages = what;
            Err(line::done(&id, if what.is_some() { "listening" } else { "quiet" }))
        }
        Wish::Serve(port) => {
            wanted.requests.serve(port);
            Err(line::done(&id, "serving"))
        }
        Wish::Leave(port) => {
            wanted.requests.leave(port);
            Err(line::done(&id, "left"))
        }
        Wish::Respond(number, response) => wanted.requests.take(number).map_or_else(
            || {
                let sentence = format!("there is no request {number}, or it has been answered, or nobody waits for it");
                Err(line::error(&id, "no-request", &sentence))
            },
            |request| Ok(Errand::Respond(request, response)),
        ),
    };
    drop(wanted);
    let errand = match errand {
        Ok(errand) => errand,
        Err(said) => return outbox.say(said),
    };

    if !outbox.begin() {
        let sentence = format!("{AT_ONCE} requests are under way: wait for a response");
        return outbox.say(line::error(&id, "too-many", &sentence));
    }
    let (mesh, outbox) = (mesh.clone(), outbox.clone());
    std::thread::spawn(move || outbox.complete(line::carry_out(&mesh, &id, &errand)));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<Option<usize>> {
        let mut found = Vec::new();
        read_lines(input, &mut |line| {
            found.push(match line {
                Line::Whole(line) => Some(line.len()),
                Line::TooLong => None,
            });
            true
        });
        found
    }

    #[test]
    fn lines_are_bounded_and_the_one_after_a_long_one_is_read() {
        assert_eq!(lines(b"ab\n\ncd"), [Some(2), Some(0), Some(2)]);
        let long = [&[b'x'; LONGEST_LINE + 1][..], b"\nab\n"].concat();
        assert_eq!(lines(&long), [None, Some(2)]);
        let just = [&[b'x'; LONGEST_LINE][..], b"\n"].concat();
        assert_eq!(lines(&just), [Some(LONGEST_LINE)]);
    }

    #[test]
    fn a_browser_is_known_by_its_first_line() {
        assert!(is_of_browser(b"POST / HTTP/1.1\r"));
        assert!(!is_of_browser(br#"{"do":"send","text":"HTTP/1.1"}"#));
    }
}
