//! Hello: the identity of an end.

use serde::{Deserialize, Serialize};

use super::rate_change::StepSet;
use super::varint;
use hopwise_codec::crc32c;
use hopwise_core::Node;

/// The bytes before the address.
const FIXED: usize = 17;

/// The version of the wire format. Ends of different versions do not link up.
pub const VERSION: u8 = 4;

const ACCEPTS: u8 = 0x01;
const HOLDS: u8 = 0x02;
const KEYED: u8 = 0x04;
const KEEPS_ALIVE: u8 = 0x08;
const CHANGES_RATE: u8 = 0x10;

/// The role of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A node of the mesh.
    Node,
    /// A host that acts for a user, not a node.
    Host,
}

impl Role {
    const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Role::Node),
            1 => Some(Role::Host),
            _ => None,
        }
    }
}

/// The identity of an end. All but the session is constant until it restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Identity {
    /// A node or a host.
    pub role: Role,
    /// The [ID of the network](hopwise_core::Network::id), by which meshes that do not belong together notice.
    pub network: u32,
    /// The node's address; arbitrary for a host.
    pub address: Node,
    /// The number of the wire at its board, from 0.
    pub port: u8,
    /// Rises by one at each boot as far as the board can remember, and is not 0.
    pub epoch: u32,
    /// The largest packet that it takes.
    #[serde(alias = "largest")]
    pub mtu: u16,
}

impl Identity {
    /// The tag by which the other end names this one in a session: a number that differs for other boards, other wires of the same
    /// board, earlier sessions, and the time before a restart. So when plugs are exchanged under traffic, no end takes frames
    /// for another. It is not 0.
    pub fn tag(&self, session: u8) -> u16 {
        let [e0, e1, e2, e3] = self.epoch.to_le_bytes();
        (crc32c([[e0, e1, e2, e3, self.port, session]]) as u16).max(1)
    }
}

/// The content of a hello, in this [version](VERSION) of the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The identity of the sender.
    pub identity: Identity,
    /// Rises each time this end gives up a session.
    pub session: u8,
    /// The [tag](Identity::tag) of the other end as recently heard, 0 if nothing was heard.
    pub heard: u16,
    /// Whether this end accepts the other.
    pub stance: Stance,
    /// Whether this end has the key of a mesh, and proves it.
    pub keyed: bool,
    /// Whether this end, in a session between nodes, is never silent for longer than the time of 1,200 bytes, or 12 ms.
    pub keeps_alive: bool,
    /// The rates that this end can change to; none if its rate is fixed.
    pub steps: StepSet,
}

/// The stance of an end toward the one that it names. A link is used when both ends accept each other on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stance {
    /// It takes packets from the other end, and has some for it.
    pub accepts: bool,
    /// It pauses the wire for a while, regardless of the peer.
    pub holds: bool,
}

impl Stance {
    const fn read(byte: u8) -> Self {
        Stance {
            accepts: byte & ACCEPTS != 0,
            holds: byte & HOLDS != 0,
        }
    }

    fn byte(self) -> u8 {
        (if self.accepts { ACCEPTS } else { 0 }) | (if self.holds { HOLDS } else { 0 })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadHello {
    /// Of another version.
    Version(u8),
    /// Of this version, and of a role that is not known here.
    Role,
    /// Of this version, but not as it should be.
    Form,
}

impl Hello {
    /// Version, fixed fields, the longest address, and the steps.
    pub(super) const MAX_BYTES: usize = FIXED + varint::MAX_BYTES + 1;

    /// Parses what follows the type of the frame, in a version that has these fields. The version comes first: nothing else is known of another one.
    pub(super) fn read(version: u8, bytes: &[u8]) -> Result<Hello, BadHello> {
        match bytes.split_first() {
            Some((&other, fields)) if other == version => {
                let (role, hello) = Hello::read_fields(fields).ok_or(BadHello::Form)?;
                let role = Role::from_number(role).ok_or(BadHello::Role)?;
                let identity = Identity { role, ..hello.identity };
                Ok(Hello { identity, ..hello })
            }
            Some((&other, _)) => Err(BadHello::Version(other)),
            None => Err(BadHello::Form),
        }
    }

    /// The number of the role, and the rest. Trailing bytes are ignored.
    fn read_fields(bytes: &[u8]) -> Option<(u8, Hello)> {
        let (&[role, port, session], rest) = bytes.split_first_chunk()?;
        let (network, rest) = rest.split_first_chunk()?;
        let (epoch, rest) = rest.split_first_chunk()?;
        let (heard, rest) = rest.split_first_chunk()?;
        let (mtu, rest) = rest.split_first_chunk()?;
        let (&stance, rest) = rest.split_first()?;
        let (address, rest) = varint::read(rest)?;
        let steps = if stance & CHANGES_RATE != 0 { *rest.first()? } else { 0 };
        let hello = Hello {
            identity: Identity {
                role: Role::Node,
                network: u32::from_le_bytes(*network),
                address,
                port,
                epoch: u32::from_le_bytes(*epoch),
                mtu: u16::from_le_bytes(*mtu),
            },
            session,
            heard: u16::from_le_bytes(*heard),
            stance: Stance::read(stance),
            keyed: stance & KEYED != 0,
            keeps_alive: stance & KEEPS_ALIVE != 0,
            steps,
        };
        Some((role, hello))
    }

    /// Writes what follows the type of the frame and returns its length; `None` if there is no room.
    pub(super) fn write(&self, version: u8, out: &mut [u8]) -> Option<usize> {
        let Identity {
            role,
            network,
            address,
            port,
            epoch,
            mtu,
        } = self.identity;
        let (fixed, rest) = out.split_first_chunk_mut::<FIXED>()?;
        fixed[..4].copy_from_slice(&[version, u8::from(role == Role::Host), port, self.session]);
        fixed[4..8].copy_from_slice(&network.to_le_bytes());
        fixed[8..12].copy_from_slice(&epoch.to_le_bytes());
        fixed[12..14].copy_from_slice(&self.heard.to_le_bytes());
        fixed[14..16].copy_from_slice(&mtu.to_le_bytes());
        let keyed = if self.keyed { KEYED } else { 0 };
        fixed[16] = self.stance.byte() | keyed | if self.keeps_alive { KEEPS_ALIVE } else { 0 };
        let length = varint::write(address, rest)?;
        if self.steps == 0 {
            return Some(FIXED + length);
        }
        fixed[16] |= CHANGES_RATE;
        *rest.get_mut(length)? = self.steps;
        Some(FIXED + length + 1)
    }
}
