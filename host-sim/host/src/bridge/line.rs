//! What clients and the bridge say to each other: a JSON object on each line.

use std::time::Duration;

use hopwise_figures::printable_json;
use hopwise_node::wire::AppPort;
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::error::{Fate, RequestError, SendError};
use crate::host_port::Incoming;
use crate::mesh::{ANSWER_WITHIN, Mesh};

/// The number of this protocol.
const VERSION: u32 = 1;
/// Characters of an id that is a text, at most.
const LONGEST_ID: usize = 64;

/// What a client wants.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    Errand(Errand),
    /// From now on these messages, or none.
    Hear(Option<Filter>),
    /// From now on requests to this port too.
    Serve(AppPort),
    /// No longer.
    Leave(AppPort),
    /// To answer the request of a number, or to say that no sense can be made of it.
    Answer(u64, Option<Vec<u8>>),
}

/// What a client wants of the mesh.
#[derive(Debug, PartialEq)]
pub(super) enum Errand {
    Send(Parcel),
    SendConfirmed(Parcel),
    SendToHost(Parcel),
    Broadcast(AppPort, Vec<u8>),
    Request(Parcel, Duration),
    RequestHost(Parcel, Duration),
    Answer(Incoming, Option<Vec<u8>>),
}

/// Some of the messages: all of them, unless there is more to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// From this node, or its host.
    pub node: Option<u64>,
    /// For this application.
    pub port: Option<AppPort>,
}

impl Filter {
    /// Whether a message is one of them.
    pub fn passes(&self, message: &Incoming) -> bool {
        self.node.is_none_or(|node| node == message.source) && self.port.is_none_or(|port| port == message.port)
    }
}

/// Something for an application of a node.
#[derive(Debug, PartialEq)]
pub(super) struct Parcel {
    node: u64,
    port: AppPort,
    bytes: Vec<u8>,
}

/// A line that is no request: what to call it, and why.
#[derive(Debug)]
pub(super) struct BadLine {
    pub(super) id: Value,
    pub(super) reason: BadRequest,
}

/// Why a line of a client is no request.
#[derive(Debug, Error)]
pub(super) enum BadRequest {
    #[error("this is not a line of JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("this is not a request: {0}")]
    NotARequest(serde_json::Error),
    #[error("an id is a number, or a text of up to {LONGEST_ID} characters")]
    BadId,
    #[error(
        "there is no '{0}', only send, send_confirmed, send_to_host, broadcast, request, request_host, listen, quiet, serve, \
         leave, respond and refuse"
    )]
    Unknown(String),
    #[error("{what} needs {field}")]
    Missing { what: String, field: &'static str },
    #[error("{what} takes no {field}")]
    Unused { what: String, field: &'static str },
    #[error("services are numbers from 1 to 255")]
    BadService,
    #[error("say hex or text, not both")]
    HexAndText,
    #[error("hex is two digits for each byte")]
    BadHex,
    #[error("within is a number of seconds, from 0.001 to 3600")]
    BadTime,
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

/// Reads a line of a client: the id of a request, and what is wanted.
pub(super) fn read(line: &[u8]) -> Result<(Value, Wish), BadLine> {
    let bad = |id: &Value, reason: BadRequest| BadLine { id: id.clone(), reason };
    let value: Value = serde_json::from_slice(line).map_err(|error| bad(&Value::Null, BadRequest::NotJson(error)))?;
    let id = match value.get("id") {
        None | Some(Value::Null) => Value::Null,
        Some(id @ Value::Number(_)) => id.clone(),
        Some(Value::String(text)) if text.chars().count() <= LONGEST_ID => Value::String(text.clone()),
        Some(_) => return Err(bad(&Value::Null, BadRequest::BadId)),
    };
    let fields = Fields::deserialize(value).map_err(|error| bad(&id, BadRequest::NotARequest(error)))?;
    match fields.wish() {
        Ok(wish) => Ok((id, wish)),
        Err(reason) => Err(bad(&id, reason)),
    }
}

impl Fields {
    fn wish(self) -> Result<Wish, BadRequest> {
        let unused = |used: &[&str]| {
            let given = [
                ("node", self.node.is_some()),
                ("service", self.service.is_some()),
                ("hex", self.hex.is_some()),
                ("text", self.text.is_some()),
                ("within", self.within.is_some()),
                ("request", self.request.is_some()),
            ];
            let wrong = given.iter().find(|(name, given)| *given && !used.contains(name));
            wrong.map_or(Ok(()), |&(field, _)| {
                Err(BadRequest::Unused {
                    what: self.what.clone(),
                    field,
                })
            })
        };
        Ok(match self.what.as_str() {
            "send" | "send_confirmed" | "send_to_host" | "send_to_computer" => {
                unused(&["node", "service", "hex", "text"])?;
                let parcel = self.parcel()?;
                match self.what.as_str() {
                    "send" => Wish::Errand(Errand::Send(parcel)),
                    "send_confirmed" => Wish::Errand(Errand::SendConfirmed(parcel)),
                    _ => Wish::Errand(Errand::SendToHost(parcel)),
                }
            }
            "request" | "request_host" | "request_computer" => {
                unused(&["node", "service", "hex", "text", "within"])?;
                let (parcel, within) = (self.parcel()?, self.within()?);
                match self.what.as_str() {
                    "request" => Wish::Errand(Errand::Request(parcel, within)),
                    _ => Wish::Errand(Errand::RequestHost(parcel, within)),
                }
            }
            "serve" | "leave" => {
                unused(&["service"])?;
                let port = self.port()?;
                match self.what.as_str() {
                    "serve" => Wish::Serve(port),
                    _ => Wish::Leave(port),
                }
            }
            "respond" => {
                unused(&["request", "hex", "text"])?;
                Wish::Answer(self.request()?, Some(self.bytes()?))
            }
            "refuse" => {
                unused(&["request"])?;
                Wish::Answer(self.request()?, None)
            }
            "broadcast" => {
                unused(&["service", "hex", "text"])?;
                Wish::Errand(Errand::Broadcast(self.port()?, self.bytes()?))
            }
            "listen" => {
                unused(&["node", "service"])?;
                Wish::Hear(Some(Filter {
                    node: self.node,
                    port: self.service.map(AppPort),
                }))
            }
            "quiet" => {
                unused(&[])?;
                Wish::Hear(None)
            }
            _ => return Err(BadRequest::Unknown(self.what)),
        })
    }

    fn without(&self, field: &'static str) -> BadRequest {
        BadRequest::Missing {
            what: self.what.clone(),
            field,
        }
    }

    fn parcel(&self) -> Result<Parcel, BadRequest> {
        Ok(Parcel {
            node: self.node.ok_or_else(|| self.without("a node"))?,
            port: self.port()?,
            bytes: self.bytes()?,
        })
    }

    fn request(&self) -> Result<u64, BadRequest> {
        self.request.ok_or_else(|| self.without("the number of a request"))
    }

    fn port(&self) -> Result<AppPort, BadRequest> {
        match self.service {
            None => Err(self.without("a service")),
            Some(0) => Err(BadRequest::BadService),
            Some(number) => Ok(AppPort(number)),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>, BadRequest> {
        match (&self.hex, &self.text) {
            (Some(_), Some(_)) => Err(BadRequest::HexAndText),
            (Some(hex), None) => from_hex(hex).ok_or(BadRequest::BadHex),
            (None, text) => Ok(text.clone().unwrap_or_default().into_bytes()),
        }
    }

    fn within(&self) -> Result<Duration, BadRequest> {
        match self.within {
            None => Ok(ANSWER_WITHIN),
            Some(seconds) if (0.001..=3600.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
            Some(_) => Err(BadRequest::BadTime),
        }
    }
}

/// The bytes of a text of hexadecimal digits; `None` if it is none.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|value| value as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Two digits for each byte.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes as JSON: their digits, and their text if they are one.
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

/// The first line that a client hears.
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

/// A message that has come.
pub(super) fn message(incoming: &Incoming) -> String {
    line(&json!({"message": about(incoming)}))
}

/// A request that has come.
pub(super) fn request(number: u64, incoming: &Incoming) -> String {
    line(&json!({"request": with(about(incoming), json!({"number": number}))}))
}

/// Messages that were not passed on.
pub(super) fn missed(count: u64) -> String {
    line(&json!({"missed": count}))
}

/// Something has gone wrong; `kind` is a word for programs.
pub(super) fn error(id: &Value, kind: &str, sentence: &str) -> String {
    line(&json!({"id": id, "kind": kind, "error": sentence}))
}

/// Something has been done.
pub(super) fn done(id: &Value, outcome: &str) -> String {
    line(&json!({"id": id, "outcome": outcome}))
}

/// Does what a client wants, and says what came of it. This takes until it is known.
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
            Ok(Fate::Delivered) => done(id, "delivered"),
            Ok(fate) => error(id, fate.name(), &fate.to_string()),
            Err(failure) => error(id, failure.name(), &failure.to_string()),
        },
        Errand::Request(parcel, within) => {
            answer(id, mesh.request_bytes(parcel.node, parcel.port, &parcel.bytes, *within))
        }
        Errand::RequestHost(parcel, within) => answer(
            id,
            mesh.request_host_bytes(parcel.node, parcel.port, &parcel.bytes, *within),
        ),
        Errand::Answer(request, Some(bytes)) => sent(mesh.respond(request, bytes)),
        Errand::Answer(request, None) => sent(mesh.refuse(request)),
    }
}

fn answer(id: &Value, result: Result<Vec<u8>, RequestError>) -> String {
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
        read(text.as_bytes()).expect_err(text).reason.to_string()
    }

    #[test]
    fn requests_are_read() {
        let parcel = |bytes: &[u8]| Parcel {
            node: 5,
            port: AppPort(17),
            bytes: bytes.to_vec(),
        };
        let read = |line: &[u8]| super::read(line).ok();
        assert_eq!(
            read(br#"{"id":7,"do":"send","node":5,"service":17,"hex":"00fF"}"#),
            Some((json!(7), Wish::Errand(Errand::Send(parcel(&[0, 255])))))
        );
        assert_eq!(
            read(br#"{"id":"a","do":"request","node":5,"service":17,"text":"hi","within":0.5}"#),
            Some((
                json!("a"),
                Wish::Errand(Errand::Request(parcel(b"hi"), Duration::from_millis(500)))
            ))
        );
        assert_eq!(
            read(br#"{"do":"listen","service":16}"#),
            Some((
                Value::Null,
                Wish::Hear(Some(Filter {
                    node: None,
                    port: Some(AppPort(16))
                }))
            ))
        );
    }

    #[test]
    fn what_is_no_request_is_told_in_a_sentence() {
        for (text, sentence) in rows(
            r#"
            => this is not a line of JSON
            hello => this is not a line of JSON
            [1] => this is not a request
            {"id":1} => this is not a request: missing field `do`
            {"do":"fly"} => there is no 'fly', only send
            {"do":"send","service":16} => send needs a node
            {"do":"send","node":1} => send needs a service
            {"do":"send","node":1,"service":0} => services are numbers from 1 to 255
            {"do":"send","node":1,"service":256} => this is not a request
            {"do":"send","node":-1,"service":16} => this is not a request
            {"do":"send","node":1,"service":16,"hex":"0"} => hex is two digits
            {"do":"send","node":1,"service":16,"hex":"é0"} => hex is two digits
            {"do":"send","node":1,"service":16,"hex":"","text":""} => say hex or text
            {"do":"send","node":1,"service":16,"within":1} => send takes no within
            {"do":"quiet","node":1} => quiet takes no node
            {"do":"respond","text":"x"} => respond needs the number of a request
            {"do":"refuse","request":1,"text":"x"} => refuse takes no text
            {"do":"serve"} => serve needs a service
            {"do":"request","node":1,"service":16,"within":1e300} => within is a number
            {"do":"send","nod":1} => this is not a request: unknown field `nod`
            {"id":{},"do":"quiet"} => an id is a number
            "#,
        ) {
            assert!(refused(&text).starts_with(&sentence), "{text}: {}", refused(&text));
        }
        let deep = "[".repeat(100_000);
        assert!(refused(&deep).starts_with("this is not a line of JSON"));
        let known = read(br#"{"id":3,"do":"send"}"#).expect_err("no node");
        assert_eq!(known.id, json!(3), "the client knows which of its requests is wrong");
    }

    #[test]
    fn what_boards_send_is_one_line_without_control_characters() {
        let incoming = Incoming {
            source: 3,
            from_host: false,
            port: AppPort(16),
            bytes: "\u{1b}[2J\n\u{9b}é".as_bytes().to_vec(),
            question: None,
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
        assert_eq!(
            message(&binary),
            r#"{"message":{"from_host":false,"hex":"ff","node":3,"service":16}}"#
        );
    }
}
