//! How an event stands in a line of JSON: the fields of [`Event`] beside `event`, its name.
//!
//! This is the one representation, for writing and for reading. The compiler holds it against core's types: a field that is
//! added there and not here does not build.

use hopwise_core::Node;
use hopwise_node::link::{Down, Micros};
use hopwise_node::router::{Event, Outcome};
use hopwise_node::wire::{DropReason, FrameError, Identity, PacketId, Role};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Event", tag = "event", rename_all = "kebab-case")]
pub(crate) enum EventForm {
    LinkUp {
        link: u8,
        #[serde(flatten, with = "PeerForm")]
        peer: Identity,
    },
    LinkDown {
        link: u8,
        #[serde(with = "down")]
        reason: Down,
    },
    Miswired {
        link: u8,
        expected: Option<Node>,
        #[serde(flatten, with = "FoundForm")]
        found: Identity,
    },
    Damaged {
        link: u8,
        error: FrameError,
    },
    Sent {
        link: u8,
        packet: PacketId,
        dest: Node,
        #[serde(alias = "again")]
        retransmit: bool,
    },
    Received {
        link: u8,
        packet: PacketId,
        dest: Node,
    },
    Accepted {
        packet: PacketId,
        dest: Node,
    },
    Forwarded {
        link: u8,
        packet: PacketId,
    },
    Delivered {
        packet: PacketId,
    },
    Dropped {
        packet: PacketId,
        dest: Node,
        reason: DropReason,
    },
    Detoured {
        packet: PacketId,
        by: Node,
    },
    #[serde(alias = "settled")]
    Completed {
        number: u32,
        #[serde(flatten, with = "OutcomeForm")]
        outcome: Outcome,
    },
    Clock {
        root: Node,
        local: Micros,
        mesh: Micros,
        rate: i32,
    },
}

/// `"outcome":"undeliverable","at":5,"reason":"no-route"`.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Outcome", tag = "outcome", rename_all = "kebab-case")]
enum OutcomeForm {
    Delivered,
    Undeliverable { at: Node, reason: DropReason },
    Interrupted,
    Unknown,
}

/// The end of a link under one name: the number of its node, and the rest under names that begin with it. A host has no
/// number, and `"host":true` instead. What a trace does not say is 0.
macro_rules! identity_form {
    ($form:ident, $name:ident, $network:ident, $port:ident, $epoch:ident, $mtu:ident, $mtu_before:literal) => {
        #[derive(Serialize, Deserialize)]
        struct $form {
            #[serde(skip_serializing_if = "Option::is_none")]
            $name: Option<Node>,
            #[serde(default, alias = "computer", skip_serializing_if = "std::ops::Not::not")]
            host: bool,
            #[serde(default)]
            $network: u32,
            #[serde(default)]
            $port: u8,
            #[serde(default)]
            $epoch: u32,
            #[serde(default, alias = $mtu_before)]
            $mtu: u16,
        }

        impl $form {
            fn serialize<S: serde::Serializer>(end: &Identity, serializer: S) -> Result<S::Ok, S::Error> {
                let host = end.role == Role::Host;
                let form = $form {
                    // A host's address means nothing.
                    $name: (!host).then_some(end.address),
                    host,
                    $network: end.network,
                    $port: end.port,
                    $epoch: end.epoch,
                    $mtu: end.mtu,
                };
                Serialize::serialize(&form, serializer)
            }

            fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Identity, D::Error> {
                let form = <$form as Deserialize>::deserialize(deserializer)?;
                let address = form.$name.or(form.host.then_some(0));
                let missing = || serde::de::Error::missing_field(stringify!($name));
                Ok(Identity {
                    role: if form.host { Role::Host } else { Role::Node },
                    network: form.$network,
                    address: address.ok_or_else(missing)?,
                    port: form.$port,
                    epoch: form.$epoch,
                    mtu: form.$mtu,
                })
            }
        }
    };
}

identity_form! { PeerForm, peer, peer_network, peer_port, peer_epoch, peer_mtu, "peer_largest" }
identity_form! { FoundForm, found, found_network, found_port, found_epoch, found_mtu, "found_largest" }

/// A word; of another version of the wire format, `version-2`.
mod down {
    use super::{Deserialize, Down, Serialize};
    use serde::de::IntoDeserializer;

    const VERSION: &str = "version-";

    pub(super) fn serialize<S: serde::Serializer>(reason: &Down, serializer: S) -> Result<S::Ok, S::Error> {
        match reason {
            Down::Version(version) => serializer.collect_str(&format_args!("{VERSION}{version}")),
            word => word.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Down, D::Error> {
        let word = String::deserialize(deserializer)?;
        match word.strip_prefix(VERSION).and_then(|version| version.parse().ok()) {
            Some(version) => Ok(Down::Version(version)),
            None => Down::deserialize(word.into_deserializer()),
        }
    }
}
