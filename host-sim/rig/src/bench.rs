//! The bench of `hopwise bench`, whose emulated boards take the place of those at probes and serial ports.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::ports::BoardPort;

/// The variable that says where a bench is.
pub const VARIABLE: &str = "HOPWISE_BENCH";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bench(String);

#[derive(Debug, thiserror::Error)]
#[error("there is no bench at {address}: {error}; start one with `hopwise bench MESH.toml`, or `unset {VARIABLE}`")]
pub struct NoBench {
    pub address: String,
    pub error: io::Error,
}

impl Bench {
    /// The bench that the variable names, if it names one.
    pub fn named() -> Option<Self> {
        let address = std::env::var(VARIABLE).ok().filter(|address| !address.is_empty());
        address.map(Bench)
    }

    /// The boards whose USB cables are plugged in; the probes are as probe-rs selects them.
    pub fn boards(&self) -> Result<Vec<BoardPort>, NoBench> {
        let port = |board: &Value| {
            Some(BoardPort {
                path: board["tty"].as_str()?.into(),
                probe: board["probe"].as_str()?.into(),
            })
        };
        let state = self.ask("GET", "/state", &[]);
        let state = state.and_then(|state| Ok(serde_json::from_slice::<Value>(&state)?));

        let state = state.map_err(|error| NoBench {
            address: self.0.clone(),
            error,
        })?;
        let boards = state["boards"].as_array().into_iter().flatten();
        Ok(boards.filter_map(port).collect())
    }

    /// Asks for something. Why it is refused is the sentence of an error.
    pub fn ask(&self, method: &str, path: &str, body: &[u8]) -> io::Result<Vec<u8>> {
        let host = self.0.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(host)?;
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(&[head.as_bytes(), body].concat())?;
        let mut response = BufReader::new(stream);
        let (mut status, mut line) = (String::new(), String::from("-"));
        response.read_line(&mut status)?;
        while !line.trim_end().is_empty() {
            line.clear();
            response.read_line(&mut line)?;
        }
        let mut body = Vec::new();
        response.read_to_end(&mut body)?;
        match status.split(' ').nth(1) {
            Some("200") => Ok(body),
            _ => Err(io::Error::other(String::from_utf8_lossy(&body).trim_end())),
        }
    }
}
