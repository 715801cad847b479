//! A trace, line by line.

use std::io::BufRead;

use super::line::{Header, Line};

/// What is wrong with a trace, and in which line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadLine {
    /// Counted from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
}

/// Reads a trace without holding more than a line of it.
pub struct Reader<R> {
    lines: R,
    header: Option<Header>,
    /// The first line, if it was no header.
    first: Option<String>,
    number: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line. A trace without a header is one too.
    pub fn new(lines: R) -> Result<Self, BadLine> {
        let mut reader = Reader {
            lines,
            header: None,
            first: None,
            number: 0,
        };
        if let Some(text) = reader.text()? {
            match serde_json::from_str(&text) {
                Ok(header) => reader.header = Some(header),
                Err(_) => {
                    reader.first = Some(text);
                    reader.number = 0;
                }
            }
        }
        Ok(reader)
    }

    /// Whose trace it is, if it says so.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The number of the line that was read last.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line of text; empty ones are passed over.
    fn text(&mut self) -> Result<Option<String>, BadLine> {
        loop {
            self.number += 1;
            if let Some(first) = self.first.take() {
                return Ok(Some(first));
            }
            let mut text = String::new();
            let bad = |error: std::io::Error| BadLine {
                line: self.number,
                what: error.to_string(),
            };
            if self.lines.read_line(&mut text).map_err(bad)? == 0 {
                return Ok(None);
            }
            if !text.trim().is_empty() {
                return Ok(Some(text));
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Line, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.text().transpose()?;
        Some(text.and_then(|text| {
            serde_json::from_str(&text).map_err(|error| {
                // The position that serde adds is one within the line.
                let what = error.to_string();
                let what = what.split(" at line ").next().unwrap_or_default();
                BadLine {
                    line: self.number,
                    what: format!("this is no event: {what}"),
                }
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Event;
    use super::*;

    fn read(text: &str) -> (Option<Header>, Vec<Result<Line, BadLine>>) {
        let reader = Reader::new(text.as_bytes()).unwrap();
        (reader.header().cloned(), reader.collect())
    }

    #[test]
    fn a_header_is_optional() {
        let down = r#"{"t":0.5,"node":3,"event":"link-down","link":1,"reason":"silent"}"#;
        let (header, lines) = read(&format!("{{\"network\":\"ring(4)\",\"baud\":115200}}\n\n{down}\n"));
        assert_eq!(header.unwrap().network, "ring(4)");
        let (none, same) = read(down);
        assert_eq!((none, &same), (None, &lines));
        let line = lines[0].as_ref().unwrap();
        assert_eq!((line.node, &line.event), (3, &Event::LinkDown { link: 1 }));
    }

    #[test]
    fn words_of_later_versions_are_read_over() {
        let (_, lines) = read(r#"{"t":0,"node":1,"event":"sang","song":"la"}"#);
        assert_eq!(lines[0].as_ref().unwrap().event, Event::Other);
    }

    #[test]
    fn bad_lines_are_named() {
        let good = r#"{"t":0,"node":1,"event":"damaged","link":0,"error":"crc"}"#;
        for (bad, what) in [
            ("{\"t\":1,", "line 2: this is no event: EOF while parsing"),
            ("[]", "line 2: this is no event: invalid type: sequence"),
            (
                "{\"t\":1,\"node\":1}",
                "line 2: this is no event: missing field `event`",
            ),
            (
                "{\"t\":1,\"node\":-1,\"event\":\"damaged\",\"link\":0}",
                "line 2: this is no event: invalid value: integer `-1`",
            ),
            (
                "{\"t\":1,\"node\":1,\"event\":\"damaged\",\"link\":999}",
                "line 2: this is no event: invalid value: integer `999`",
            ),
            (
                "{\"t\":1,\"node\":1,\"event\":\"delivered\"}",
                "line 2: this is no event: missing field `packet`",
            ),
        ] {
            let (_, lines) = read(&format!("{good}\n{bad}\n{good}\n"));
            let sentence = lines[1].as_ref().unwrap_err().to_string();
            assert!(sentence.starts_with(what), "{sentence}");
            assert!(lines[0].is_ok() && lines[2].is_ok());
        }
        assert!(Reader::new(&b"\xff\xfe\n"[..]).is_err());
    }
}
