//! Hello: who is at the other end.

use super::frame::CRC;
use crate::arith::wide;
use crate::{Node, varint};

/// The bytes before the address.
const FIXED: usize = 16;

/// The version of the wire format. Ends of different versions do not link up.
pub const VERSION: u8 = 1;

/// What is at an end of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A node of the mesh.
    Node,
    /// A computer that speaks for a person, not a node.
    Host,
}

/// Who an end is. All but the session stays the same until it restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Identity {
    /// A node or a computer.
    pub role: Role,
    /// [Of the expression](crate::Network::id), so that meshes that do not belong together notice.
    pub network: u32,
    /// The node's address; of a computer, anything.
    pub address: Node,
    /// The number of the wire at its board, from 0.
    pub port: u8,
    /// Higher by one at each start as far as the board can remember, and not 0.
    pub epoch: u32,
    /// The largest packet that it takes.
    pub largest: u16,
}

impl Identity {
    /// By what the other end names this one in a session: a number that differs for other boards, other wires of the same
    /// board, earlier sessions, and the time before a restart. So when plugs are exchanged under traffic, nobody takes what
    /// is meant for another. It is not 0.
    pub(super) fn tag(&self, session: u8) -> u16 {
        let [e0, e1, e2, e3] = self.epoch.to_le_bytes();
        (CRC.checksum(&[e0, e1, e2, e3, self.port, session]) as u16).max(1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) version: u8,
    pub(super) identity: Identity,
    /// Rises each time this end gives a session up.
    pub(super) session: u8,
    /// The [tag](Identity::tag) of the other end as heard of late, 0 if nothing was heard.
    pub(super) heard: u16,
}

impl Hello {
    /// Fixed fields, and the longest address.
    pub(super) const MAX_BYTES: usize = FIXED + varint::MAX_BYTES;

    pub(super) fn read(bytes: &[u8]) -> Option<Hello> {
        let (&[version, role, port, session], rest) = bytes.split_first_chunk()?;
        let (network, rest) = rest.split_first_chunk()?;
        let (epoch, rest) = rest.split_first_chunk()?;
        let (heard, rest) = rest.split_first_chunk()?;
        let (largest, rest) = rest.split_first_chunk()?;
        let (address, rest) = varint::read_node(rest)?;
        if !rest.is_empty() {
            return None;
        }
        Some(Hello {
            version,
            identity: Identity {
                role: match role {
                    0 => Role::Node,
                    1 => Role::Host,
                    _ => return None,
                },
                network: u32::from_le_bytes(*network),
                address,
                port,
                epoch: u32::from_le_bytes(*epoch),
                largest: u16::from_le_bytes(*largest),
            },
            session,
            heard: u16::from_le_bytes(*heard),
        })
    }

    /// Writes the body and returns its length. `out` has room for [`MAX_BYTES`](Self::MAX_BYTES).
    pub(super) fn write(&self, out: &mut [u8]) -> usize {
        let Identity {
            role,
            network,
            address,
            port,
            epoch,
            largest,
        } = self.identity;
        let mut fixed = [0; FIXED];
        fixed[..4].copy_from_slice(&[self.version, u8::from(role == Role::Host), port, self.session]);
        fixed[4..8].copy_from_slice(&network.to_le_bytes());
        fixed[8..12].copy_from_slice(&epoch.to_le_bytes());
        fixed[12..14].copy_from_slice(&self.heard.to_le_bytes());
        fixed[14..16].copy_from_slice(&largest.to_le_bytes());
        let Some((head, tail)) = out.split_at_mut_checked(fixed.len()) else {
            return 0;
        };
        head.copy_from_slice(&fixed);
        fixed.len() + varint::write(wide(address), tail).unwrap_or(0)
    }
}
