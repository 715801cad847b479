//! The record of what every node did: JSON lines for people and programs, and a sum by which two runs are compared.

use std::io::{self, Write};

use hopwise_core::Network;
use hopwise_core::link::{Down, Role};
use hopwise_core::node::{Event, Outcome, PacketId};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::wire::Nanos;

/// Bytes are summed up in pieces of this size.
const PIECE: usize = 1 << 16;

/// Sums up the events of a run, whether or not they are written down: SHA-256 over each event's time in nanoseconds, node and
/// content, in order.
pub struct TraceSum {
    sum: Sha256,
    piece: Vec<u8>,
}

impl Default for TraceSum {
    fn default() -> Self {
        TraceSum {
            sum: Sha256::new(),
            piece: Vec::with_capacity(PIECE + 256),
        }
    }
}

impl TraceSum {
    /// Adds an event.
    pub fn add(&mut self, at: Nanos, node: u64, event: &Event) {
        let piece = &mut self.piece;
        piece.extend_from_slice(&at.to_le_bytes());
        piece.extend_from_slice(&(node as u32).to_le_bytes());
        encode(event, piece);
        if piece.len() >= PIECE {
            self.sum.update(&*piece);
            piece.clear();
        }
    }

    /// The sum, in hexadecimal.
    pub fn finish(mut self) -> String {
        self.sum.update(&self.piece);
        self.sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn encode(event: &Event, out: &mut Vec<u8>) {
    let packet = |out: &mut Vec<u8>, id: &PacketId| {
        out.extend_from_slice(&(id.source as u32).to_le_bytes());
        out.extend_from_slice(&id.number.to_le_bytes());
        out.extend_from_slice(&[
            id.kind as u8,
            u8::from(id.from_host),
            id.epoch as u8,
            (id.epoch >> 8) as u8,
        ]);
    };
    match event {
        Event::LinkUp { link, peer } => {
            out.extend_from_slice(&[0, *link, peer.port]);
            out.extend_from_slice(&peer.address.to_le_bytes());
        }
        Event::LinkDown { link, reason } => out.extend_from_slice(&[1, *link, down_number(*reason)]),
        Event::Miswired { link, expected, found } => {
            out.extend_from_slice(&[2, *link]);
            out.extend_from_slice(&expected.unwrap_or(u64::MAX).to_le_bytes());
            out.extend_from_slice(&found.address.to_le_bytes());
        }
        Event::Damaged { link, error } => out.extend_from_slice(&[3, *link, *error as u8]),
        Event::Sent {
            link,
            packet: id,
            dest,
            again,
        } => {
            out.extend_from_slice(&[4, *link, u8::from(*again)]);
            out.extend_from_slice(&(*dest as u32).to_le_bytes());
            packet(out, id);
        }
        Event::Received { link, packet: id, dest } => {
            out.extend_from_slice(&[5, *link]);
            out.extend_from_slice(&(*dest as u32).to_le_bytes());
            packet(out, id);
        }
        Event::Accepted { packet: id, dest } => {
            out.push(6);
            out.extend_from_slice(&dest.to_le_bytes());
            packet(out, id);
        }
        Event::Forwarded { link, packet: id } => {
            out.extend_from_slice(&[7, *link]);
            packet(out, id);
        }
        Event::Delivered { packet: id } => {
            out.push(8);
            packet(out, id);
        }
        Event::Dropped {
            packet: id,
            dest,
            reason,
        } => {
            out.extend_from_slice(&[9, *reason as u8]);
            out.extend_from_slice(&dest.to_le_bytes());
            packet(out, id);
        }
        Event::Detoured { packet: id, by } => {
            out.push(10);
            out.extend_from_slice(&by.to_le_bytes());
            packet(out, id);
        }
        Event::Settled { number, outcome } => {
            out.push(11);
            out.extend_from_slice(&number.to_le_bytes());
            out.push(outcome_number(outcome));
        }
    }
}

fn down_number(reason: Down) -> u8 {
    match reason {
        Down::Silent => 0,
        Down::OneWay => 1,
        Down::Restarted => 2,
        Down::Ended => 3,
        Down::Version(_) => 4,
        Down::Replaced => 5,
    }
}

fn outcome_number(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Delivered => 0,
        Outcome::Undeliverable { .. } => 1,
        Outcome::Interrupted => 2,
        Outcome::Unknown => 3,
    }
}

/// Writes the first line: whose trace this is, so that a reader need not be told.
pub fn write_header(network: &Network, baud: u32, out: &mut impl Write) -> io::Result<()> {
    let header = json!({"network": network.to_string(), "nodes": network.nodes(), "baud": baud});
    serde_json::to_writer(&mut *out, &header)?;
    out.write_all(b"\n")
}

/// Writes an event as one line of JSON.
pub fn write_line(at: Nanos, node: u64, event: &Event, out: &mut impl Write) -> io::Result<()> {
    let mut line = Map::new();
    line.insert("t".into(), json!(at as f64 / 1e9));
    line.insert("node".into(), json!(node));
    let (name, fields) = describe(event);
    line.insert("event".into(), json!(name));
    if let Value::Object(fields) = fields {
        line.extend(fields);
    }
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

/// The name of an event, and its fields.
fn describe(event: &Event) -> (&'static str, Value) {
    match *event {
        // A computer's address means nothing.
        Event::LinkUp { link, peer } if peer.role == Role::Host => ("link-up", json!({"link": link, "computer": true})),
        Event::LinkUp { link, peer } => (
            "link-up",
            json!({"link": link, "peer": peer.address, "peer_port": peer.port}),
        ),
        Event::LinkDown { link, reason } => ("link-down", json!({"link": link, "reason": down_name(reason)})),
        Event::Miswired { link, expected, found } => (
            "miswired",
            json!({"link": link, "expected": expected, "found": found.address, "found_network": found.network}),
        ),
        Event::Damaged { link, error } => (
            "damaged",
            json!({"link": link, "error": format!("{error:?}").to_lowercase()}),
        ),
        Event::Sent {
            link,
            packet,
            dest,
            again,
        } => (
            "sent",
            json!({"link": link, "packet": packet_json(&packet), "dest": dest, "again": again}),
        ),
        Event::Received { link, packet, dest } => (
            "received",
            json!({"link": link, "packet": packet_json(&packet), "dest": dest}),
        ),
        Event::Accepted { packet, dest } => ("accepted", json!({"packet": packet_json(&packet), "dest": dest})),
        Event::Forwarded { link, packet } => ("forwarded", json!({"link": link, "packet": packet_json(&packet)})),
        Event::Delivered { packet } => ("delivered", json!({"packet": packet_json(&packet)})),
        Event::Dropped { packet, dest, reason } => (
            "dropped",
            json!({"packet": packet_json(&packet), "dest": dest, "reason": reason.name()}),
        ),
        Event::Detoured { packet, by } => ("detoured", json!({"packet": packet_json(&packet), "by": by})),
        Event::Settled { number, outcome } => ("settled", json!({"number": number, "outcome": outcome_name(&outcome)})),
    }
}

fn packet_json(id: &PacketId) -> Value {
    json!({"source": id.source, "epoch": id.epoch, "kind": id.kind.name(), "number": id.number, "from_host": id.from_host})
}

fn down_name(reason: Down) -> String {
    match reason {
        Down::Silent => "silent".into(),
        Down::OneWay => "one-way".into(),
        Down::Restarted => "restarted".into(),
        Down::Ended => "ended".into(),
        Down::Version(version) => format!("version-{version}"),
        Down::Replaced => "replaced".into(),
    }
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered => "delivered",
        Outcome::Undeliverable { .. } => "undeliverable",
        Outcome::Interrupted => "interrupted",
        Outcome::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use hopwise_core::link::Identity;

    use super::*;
    use hopwise_trace::line::{Event as Read, Header, Line};
    use hopwise_trace::reader::Reader;

    #[test]
    fn what_is_written_can_be_read() {
        let mut text = Vec::new();
        let network: Network = "ring( 5 )".parse().unwrap();
        write_header(&network, 115_200, &mut text).unwrap();
        let peer = |role| Identity {
            role,
            network: network.id(),
            address: 3,
            port: 1,
            epoch: 1,
            largest: 100,
        };
        for role in [Role::Node, Role::Host] {
            let event = Event::LinkUp {
                link: 2,
                peer: peer(role),
            };
            write_line(1_500_000_000, 4, &event, &mut text).unwrap();
        }
        let reader = Reader::new(&text[..]).unwrap();
        let header = Header {
            network: "ring(5)".into(),
            baud: Some(115_200),
        };
        assert_eq!(reader.header(), Some(&header));
        let line = |peer| Line {
            t: 1.5,
            node: 4,
            event: Read::LinkUp { link: 2, peer },
        };
        let lines: Vec<Line> = reader.map(Result::unwrap).collect();
        assert_eq!(lines, [line(Some(3)), line(None)]);
    }
}
