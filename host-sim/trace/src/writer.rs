//! Writes traces.

use std::io::{self, Write};

use hopwise_core::Node;
use hopwise_node::router::Event;

use crate::line::{Header, Nanos, Record, TraceLine};

/// Writes a trace, line by line. It does not buffer.
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        let header = serde_json::to_string(header)?;
        out.write_all(header.as_bytes())?;
        out.write_all(b"\n")?;
        Ok(Writer { out })
    }

    /// Writes one line. A record that is unknown cannot be written, and is left out.
    pub fn write(&mut self, line: &TraceLine) -> io::Result<()> {
        match line.to_json() {
            Some(mut text) => {
                text.push('\n');
                self.out.write_all(text.as_bytes())
            }
            None => Ok(()),
        }
    }

    pub fn event(&mut self, at: Nanos, node: Node, event: &Event) -> io::Result<()> {
        self.write(&TraceLine {
            at,
            node,
            record: Record::Event(*event),
        })
    }

    /// Ends the trace; all of it is written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
