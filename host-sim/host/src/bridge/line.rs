//! The bridge protocol: one JSON object per line.

use std::time::Duration;

use hopwise_figures::printable_json;
use hopwise_node::wire::AppPort;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{RequestError, SendError, SendResult};
use crate::host_port::Incoming;
use crate::mesh::{Mesh, RESPONSE_TIMEOUT};

/// The version of the protocol.
const VERSION: u32 = 1;
/// Maximum length of a textual id, in characters.
const LONGEST_ID: usize = 64;

/// A client's request.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    Errand(Errand),
    /// Subscribes to these messages, or to none.
    Hear(Option<Filter>),
    Serve(AppPort),
    /// Stops serving it.
    Leave(AppPort),
    /// Responds to the request with this number, or rejects it as malformed.
    Respond(u64, Option<Vec<u8>>),
}

/// An operation on the mesh.
#[derive(Debug, PartialEq)]
pub(super) enum Errand {
    Send(Parcel),
    SendConfirmed(Parcel),
    SendToHost(Parcel),
    Broadcast(AppPort, Vec<u8>),
    Request(Parcel, Duration),
    RequestHost(Parcel, Duration),
    Respond(Incoming, Option<Vec<u8>>),
}

/// A message filter; by default all messages pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only from this node or its host.
    pub node: Option<u64>,
    /// Only for this application.
    pub port: Option<AppPort>,
}

impl Filter {
    pub fn passes(&self, message: &Incoming) -> bool {
        self.node.is_none_or(|node| node == message.source) && self.port.is_none_or(|port| port == message.port)
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct Parcel {
    node: u64,
    port: AppPort,
    bytes: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct BadLine {
    pub(super) id: Value,
    pub(super) reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[allow(dead_code, reason = "it is read before the others, to be there if they are wrong")]
    id: Option<Value>,
    #[serde(rename = "do")]
    what: String,
    node: Option<u64>,
    service: Option<u8>,
    hex: Option<String>,
    text: Option<String>,
    within: Option<f64>,
    request: Option<u64>,
}

/// Parses a line: the id, and the request.
pub(super) fn read(line: &[u8]) -> Result<(Value, Wish), BadLine> {
    let bad = |id: &Value, reason: String| BadLine { id: id.clone(), reason };
    let not_json = |error| bad(&Value::Null, format!("this is not a line of JSON: {error}"));
    let value: Value = serde_json::from_slice(line).map_err(not_json)?;
    let id = match value.get("id") {
        None | Some(Value::Null) => Value::Null,
        Some(id @ Value::Number(_)) => id.clone(),
        Some(Value::String(text)) if text.chars().count() <= LONGEST_ID => Value::String(text.clone()),
        Some(_) => {
            let why = format!("an id is a number, or a text of up to {LONGEST_ID} characters");
            return Err(bad(&Value::Null, why));
        }
    };
    let fields = Fields::deserialize(value).map_err(|error| bad(&id, format!("this is not a request: {error}")))?;
    match fields.wish() {
        Ok(wish) => Ok((id, wish)),
        Err(reason) => Err(bad(&id, reason)),
    }
}

impl Fields {
    fn wish(self) -> Result<Wish, String> {
        let what = self.what.as_str();
        let used = match what {
            "send" | "send_confirmed" | "send_to_host" | "send_to_computer" => "node service hex text",
            "request" | "request_host" | "request_computer" => "node service hex text within",
            "broadcast" => "service hex text",
            "listen" => "node service",
            "serve" | "leave" => "service",
            "respond" => "request hex text",
            "refuse" => "request",
            "quiet" => "",
            _ => {
                return Err(format!(
                    "there is no '{what}', only send, send_confirmed, send_to_host, broadcast, request, request_host, listen, \
                     quiet, serve, leave, respond and refuse"
                ));
            }
        };
        let given = [
            ("node", self.node.is_some()),
            ("service", self.service.is_some()),
            ("hex", self.hex.is_some()),
            ("text", self.text.is_some()),
            ("within", self.within.is_some()),
            ("request", self.request.is_some()),
        ];
        let is_unused = |name: &str| used.split(' ').all(|used| used != name);
        if let Some((field, _)) = given.iter().find(|(name, given)| *given && is_unused(name)) {
            return Err(format!("{what} takes no {field}"));
        }
        Ok(match what {
            "send" => Wish::Errand(Errand::Send(self.parcel()?)),
            "send_confirmed" => Wish::Errand(Errand::SendConfirmed(self.parcel()?)),
            "send_to_host" | "send_to_computer" => Wish::Errand(Errand::SendToHost(self.parcel()?)),
            "request" => Wish::Errand(Errand::Request(self.parcel()?, self.within()?)),
            "request_host" | "request_computer" => Wish::Errand(Errand::RequestHost(self.parcel()?, self.within()?)),
            "broadcast" => Wish::Errand(Errand::Broadcast(self.port()?, self.bytes()?)),
            "listen" => Wish::Hear(Some(Filter {
                node: self.node,
                port: self.service.map(AppPort),
            })),
            "serve" => Wish::Serve(self.port()?),
            "leave" => Wish::Leave(self.port()?),
            "respond" => Wish::Respond(self.request()?, Some(self.bytes()?)),
            "refuse" => Wish::Respond(self.request()?, None),
            _ => Wish::Hear(None),
        })
    }

    fn without(&self, field: &str) -> String {
        format!("{} needs {field}", self.what)
    }

    fn parcel(&self) -> Result<Parcel, String> {
        Ok(Parcel {
            node: self.node.ok_or_else(|| self.without("a node"))?,
            port: self.port()?,
            bytes: self.bytes()?,
        })
    }

    fn request(&self) -> Result<u64, String> {
        self.request.ok_or_else(|| self.without("the number of a request"))
    }

    fn port(&self) -> Result<AppPort, String> {
        match self.service {
            None => Err(self.without("a service")),
            Some(0) => Err("services are numbers from 1 to 255".into()),
            Some(number) => Ok(AppPort(number)),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        match (&self.hex, &self.text) {
            (Some(_), Some(_)) => Err("say hex or text, not both".into()),
            (Some(hex), None) => from_hex(hex).ok_or_else(|| "hex is two digits for each byte".into()),
            (None, text) => Ok(text.clone().unwrap_or_default().into_bytes()),
        }
    }

    fn within(&self) -> Result<Duration, String> {
        match self.within {
            None => Ok(RESPONSE_TIMEOUT),
            Some(seconds) if (0.001..=3600.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
            Some(_) => Err("within is a number of seconds, from 0.001 to 3600".into()),
        }
    }
}

/// Decodes hexadecimal digits; `None` if they are malformed.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: char| digit.to_digit(16).map(|value| value as u8);
    let digits: Option<Vec<u8>> = text.chars().map(digit).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes as JSON: in hexadecimal, and as text if they are UTF-8.
fn contents(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({"hex": to_hex(bytes), "text": text}),
        Err(_) => json!({"hex": to_hex(bytes)}),
    }
}

fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

fn line(value: &Value) -> String {
    printable_json(&value.to_string()).into_owned()
}

pub(super) fn hello(mesh: &Mesh) -> String {
    line(&json!({"hello": {
        "version": VERSION,
        "network": mesh.network().to_string(),
        "nodes": mesh.network().nodes(),
        "board": mesh.board(),
    }}))
}

fn about(incoming: &Incoming) -> Value {
    let about = json!({
        "node": incoming.source,
        "from_host": incoming.from_host,
        "service": incoming.port.0,
    });
    with(about, contents(&incoming.bytes))
}

pub(super) fn message(incoming: &Incoming) -> String {
    line(&json!({"message": about(incoming)}))
}

pub(super) fn request(number: u64, incoming: &Incoming) -> String {
    line(&json!({"request": with(about(incoming), json!({"number": number}))}))
}

/// The number of messages that were dropped.
pub(super) fn missed(count: u64) -> String {
    line(&json!({"missed": count}))
}

/// An error; `kind` is machine-readable.
pub(super) fn error(id: &Value, kind: &str, sentence: &str) -> String {
    line(&json!({"id": id, "kind": kind, "error": sentence}))
}

pub(super) fn done(id: &Value, outcome: &str) -> String {
    line(&json!({"id": id, "outcome": outcome}))
}

/// Executes an operation and returns the line with its result. Blocks until that is known.
pub(super) fn carry_out(mesh: &Mesh, id: &Value, errand: &Errand) -> String {
    let sent = |result: Result<(), SendError>| match result {
        Ok(()) => done(id, "sent"),
        Err(failure) => error(id, failure.name(), &failure.to_string()),
    };
    match errand {
        Errand::Send(parcel) => sent(mesh.send(parcel.node, parcel.port, &parcel.bytes)),
        Errand::SendToHost(parcel) => sent(mesh.send_to_host(parcel.node, parcel.port, &parcel.bytes)),
        Errand::Broadcast(port, bytes) => sent(mesh.broadcast(*port, bytes)),
        Errand::SendConfirmed(parcel) => match mesh.send_confirmed(parcel.node, parcel.port, &parcel.bytes) {
            Ok(SendResult::Delivered) => done(id, "delivered"),
            Ok(result) => error(id, result.name(), &result.to_string()),
            Err(failure) => error(id, failure.name(), &failure.to_string()),
        },
        Errand::Request(parcel, within) => {
            response(id, mesh.request_bytes(parcel.node, parcel.port, &parcel.bytes, *within))
        }
        Errand::RequestHost(parcel, within) => response(
            id,
            mesh.request_host_bytes(parcel.node, parcel.port, &parcel.bytes, *within),
        ),
        Errand::Respond(request, Some(bytes)) => sent(mesh.respond(request, bytes)),
        Errand::Respond(request, None) => sent(mesh.refuse(request)),
    }
}

fn response(id: &Value, result: Result<Vec<u8>, RequestError>) -> String {
    match result {
        Ok(bytes) => line(&with(json!({"id": id, "outcome": "answered"}), contents(&bytes))),
        Err(failure) => error(id, failure.name(), &failure.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_testing::rows;

    fn refused(text: &str) -> String {
        read(text.as_bytes()).expect_err(text).reason
    }

    #[test]
    fn requests_are_read() {
        let parcel = |bytes: &[u8]| Parcel {
            node: 5,
            port: AppPort(17),
            bytes: bytes.to_vec(),
        };
        let read = |line: &[u8]| super::read(line).ok();
        let found = read(br#"{"id":7,"do":"send","node":5,"service":17,"hex":"00fF"}"#);
        let expected = Wish::Errand(Errand::Send(parcel(&[0, 255])));
        assert_eq!(found, Some((json!(7), expected)));
        let found = read(br#"{"id":"a","do":"request","node":5,"service":17,"text":"hi","within":0.5}"#);
        let expected = Wish::Errand(Errand::Request(parcel(b"hi"), Duration::from_millis(500)));
        assert_eq!(found, Some((json!("a"), expected)));
        let found = read(br#"{"do":"listen","service":16}"#);
        let (node, port) = (None, Some(AppPort(16)));
        assert_eq!(found, Some((Value::Null, Wish::Hear(Some(Filter { node, port })))));
    }

    #[test]
    fn what_is_no_request_is_told_in_a_sentence() {
        for (text, sentence) in rows(include_str!("refused.txt")) {
            assert!(refused(&text).starts_with(&sentence), "{text}: {}", refused(&text));
        }
        let deep = "[".repeat(100_000);
        assert!(refused(&deep).starts_with("this is not a line of JSON"));
        let known = read(br#"{"id":3,"do":"send"}"#).expect_err("no node");
        assert_eq!(known.id, json!(3), "the client knows which of its requests is wrong");
    }

    #[test]
    fn fuzz_lines() {
        let line = br#"{"id":"a","do":"request","node":3,"service":16,"hex":"0aff","within":0.5,"text":null}"#;
        hopwise_testing::check!(64, |bytes: &[u8]| {
            let refusal = read(&hopwise_testing::fuzz::Input::new(bytes).change(line.to_vec())).err();
            assert!(!refusal.is_some_and(|bad| bad.reason.is_empty() || bad.reason.contains('\n')));
        });
    }

    #[test]
    fn what_boards_send_is_one_line_without_control_characters() {
        let incoming = Incoming {
            source: 3,
            from_host: false,
            port: AppPort(16),
            bytes: "\u{1b}[2J\n\u{9b}é".as_bytes().to_vec(),
            pending: None,
        };
        let text = message(&incoming);
        assert!(!text.contains(char::is_control), "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["message"]["text"], "\u{1b}[2J\n\u{9b}é");
        assert_eq!(value["message"]["hex"], "1b5b324a0ac29bc3a9");
        let binary = Incoming {
            bytes: vec![0xff],
            ..incoming
        };
        let expected = r#"{"message":{"from_host":false,"hex":"ff","node":3,"service":16}}"#;
        assert_eq!(message(&binary), expected);
    }
}
