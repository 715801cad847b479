//! A trace, line by line.

use std::io::{self, BufRead, Read};

use hopwise_core::{Network, NoSuchNode, ParseError};

use crate::line::{Header, NoLine, TraceLine, VERSION};

/// A line with more bytes is none: an event has some 300, and a line of a board's log not many more.
pub const LONGEST_LINE: usize = 1 << 16;

/// Nothing simulates or runs more nodes. Paths are compared node by node, so a number in a trace must not make them as long as it likes.
const MAX_NODES: u64 = 1_000_000;

#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct BadTrace {
    pub line: u64,
    pub fault: Fault,
}

#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("{0}")]
    Io(io::Error),
    #[error("a line of more than {LONGEST_LINE} bytes is not an event")]
    TooLong,
    #[error("{0}")]
    NoLine(#[from] NoLine),
    #[error(
        "the trace has version {0}, and this program reads versions up to {VERSION}: take the one that wrote it, or a later one"
    )]
    Version(u32),
    #[error("'{expression}' is not a network: {error}")]
    Network { expression: String, error: ParseError },
    #[error("{0} has more than {MAX_NODES} nodes, too many for a trace")]
    Nodes(String),
    #[error("{network}: {error}")]
    Node { network: String, error: NoSuchNode },
}

/// Reads a trace without holding more than a line of it. Of a trace whose writer was ended in the middle of a line, that line is
/// left out.
pub struct Reader<R> {
    input: R,
    header: Option<Header>,
    /// The first line, if it was no header.
    first: Option<String>,
    number: u64,
    buffer: Vec<u8>,
    cut: Option<u64>,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line. A trace without a header is one too.
    pub fn new(input: R) -> Result<Self, BadTrace> {
        let mut reader = Reader {
            input,
            header: None,
            first: None,
            number: 0,
            buffer: Vec::new(),
            cut: None,
        };
        let Some(text) = reader.text()? else { return Ok(reader) };
        match serde_json::from_str::<Header>(&text) {
            Ok(header) if header.version > VERSION => return Err(reader.bad(Fault::Version(header.version))),
            Ok(header) => reader.header = Some(header),
            Err(_) => {
                reader.first = Some(text);
                reader.number -= 1;
            }
        }
        Ok(reader)
    }

    /// The number of the last line, if it was left out because its end is missing. Known when all others have been read.
    pub fn cut(&self) -> Option<u64> {
        self.cut
    }

    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    pub fn network(&self) -> Result<Option<Network>, BadTrace> {
        let Some(header) = &self.header else { return Ok(None) };
        let expression = &header.network;
        let bad = |fault| BadTrace { line: 1, fault };
        let parsed = expression.parse::<Network>().map_err(|error| {
            let expression = expression.clone();
            bad(Fault::Network { expression, error })
        })?;
        match parsed.nodes() {
            ..=MAX_NODES => Ok(Some(parsed)),
            _ => Err(bad(Fault::Nodes(expression.clone()))),
        }
    }

    pub fn bad(&self, fault: Fault) -> BadTrace {
        let line = self.number;
        BadTrace { line, fault }
    }

    /// Whether the line that was read last has no end, and so is the last there is.
    fn is_without_end(&self) -> bool {
        self.buffer.last() != Some(&b'\n')
    }

    /// The next line of text; empty ones are passed over.
    fn text(&mut self) -> Result<Option<String>, BadTrace> {
        loop {
            self.number += 1;
            if let Some(first) = self.first.take() {
                return Ok(Some(first));
            }
            self.buffer.clear();
            let mut limited = self.input.by_ref().take(LONGEST_LINE as u64);
            match limited.read_until(b'\n', &mut self.buffer) {
                Err(error) => return Err(self.bad(Fault::Io(error))),
                Ok(0) => return Ok(None),
                Ok(LONGEST_LINE) if self.is_without_end() => return Err(self.bad(Fault::TooLong)),
                Ok(_) => {}
            }
            match std::str::from_utf8(&self.buffer) {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => return Ok(Some(text.to_string())),
                Err(_) if self.is_without_end() => {
                    self.cut = Some(self.number);
                    return Ok(None);
                }
                Err(error) => {
                    return Err(self.bad(Fault::Io(io::Error::new(io::ErrorKind::InvalidData, error))));
                }
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<TraceLine, BadTrace>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = match self.text().transpose()? {
            Ok(text) => text,
            Err(bad) => return Some(Err(bad)),
        };
        match TraceLine::from_json(&text) {
            Ok(line) => Some(Ok(line)),
            Err(_) if self.is_without_end() => {
                self.cut = Some(self.number);
                None
            }
            Err(error) => Some(Err(self.bad(error.into()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Record;
    use hopwise_node::link::Down;
    use hopwise_node::router::Event;
    use hopwise_testing::rows;

    fn read(text: &str) -> (Option<Header>, Vec<Result<TraceLine, BadTrace>>) {
        let reader = Reader::new(text.as_bytes()).unwrap();
        (reader.header().cloned(), reader.collect())
    }

    #[test]
    fn a_header_is_optional() {
        let down = r#"{"t":0.5,"node":3,"event":"link-down","link":1,"reason":"silent"}"#;
        let (header, lines) = read(&format!("{{\"network\":\"ring(4)\",\"baud\":115200}}\n\n{down}\n"));
        let header = header.unwrap();
        assert_eq!((header.network.as_str(), header.version), ("ring(4)", 1));
        let (none, same) = read(down);
        let line = lines[0].as_ref().unwrap();
        assert_eq!((none, same[0].as_ref().unwrap()), (None, line));
        let event = Event::LinkDown {
            link: 1,
            reason: Down::Silent,
        };
        let found = (line.at, line.node, &line.record);
        assert_eq!(found, (500_000_000, 3, &Record::Event(event)));
    }

    #[test]
    fn what_a_later_program_adds_is_passed_over() {
        for line in [
            r#"{"t":0,"node":1,"event":"sang","song":"la"}"#,
            r#"{"t":0,"node":1,"event":"damaged","link":0,"error":"tired"}"#,
        ] {
            assert_eq!(read(line).1[0].as_ref().unwrap().record, Record::Unknown, "{line}");
        }
        let (_, lines) = read(r#"{"t":0,"node":1,"event":"damaged","link":0,"error":"crc","mood":"good"}"#);
        assert_eq!(lines[0].as_ref().unwrap().record.name(), "damaged");
    }

    #[test]
    fn a_later_version_is_refused() {
        let trace = b"{\"version\":2,\"network\":\"ring(5)\"}\n";
        let error = Reader::new(&trace[..]).err().unwrap();
        let why = "line 1: the trace has version 2, and this program reads versions up to 1: take the one that wrote it, or a later one";
        assert_eq!(error.to_string(), why);
    }

    #[test]
    fn a_network_that_nobody_runs_is_refused() {
        let network = |header: &[u8]| {
            let network = Reader::new(header).unwrap().network();
            network.map_err(|error| error.to_string())
        };
        assert!(network(b"{\"network\":\"ring(1000000)\"}\n").is_ok());
        let why = "line 1: ring(1000001) has more than 1000000 nodes, too many for a trace";
        assert_eq!(network(b"{\"network\":\"ring(1000001)\"}\n"), Err(why.into()));
    }

    #[test]
    fn bad_lines_are_named() {
        let good = r#"{"t":0,"node":1,"event":"damaged","link":0,"error":"crc"}"#;
        for (bad, what) in rows(include_str!("bad-lines.txt")) {
            let (_, lines) = read(&format!("{good}\n{bad}\n{good}\n"));
            let sentence = lines[1].as_ref().unwrap_err().to_string();
            assert!(sentence.starts_with(&what), "{sentence}");
            assert!(lines[0].is_ok() && lines[2].is_ok());
        }
        assert!(Reader::new(&b"\xff\xfe\n"[..]).is_err());
    }

    /// Wherever the writer was ended, all lines before are read.
    #[test]
    fn a_trace_can_be_read_up_to_where_it_is_cut() {
        let event = r#"{"t":0,"node":1,"event":"log","level":"info","text":"é"}"#;
        let header = "{\"network\":\"ring(4)\"}\n";
        let text = format!("{header}{event}\n{event}\n");
        let first_end = header.len() + event.len();
        let second = first_end + 1..first_end + 1 + event.len();
        for length in 0..=text.len() {
            let mut reader = Reader::new(&text.as_bytes()[..length]).unwrap();
            let lines = reader.by_ref().map(Result::unwrap).count();
            // An end of line is not missed.
            let expected = usize::from(length >= first_end) + usize::from(length >= second.end);
            assert_eq!(lines, expected, "{length} bytes");
            let in_second = length > second.start && length < second.end;
            assert_eq!(reader.cut() == Some(3), in_second, "{length} bytes");
        }
        // With its end it is no cut line, but a bad one.
        let bad = format!("{event}\n{}\n", &event[..20]);
        assert!(read(&bad).1[1].is_err());
    }

    #[test]
    fn a_line_without_end_is_not_held() {
        let text = format!("{{\"t\":0,\"node\":1,\"event\":\"{}\"}}\n", "x".repeat(LONGEST_LINE));
        let error = Reader::new(text.as_bytes()).err().unwrap();
        let found = error.to_string();
        assert_eq!(found, "line 1: a line of more than 65536 bytes is not an event");
    }
}
