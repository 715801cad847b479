//! Hello: who is at the other end.

use crate::Node;
use crate::varint;

/// The version of the wire format. Ends of different versions do not link up.
pub const VERSION: u8 = 1;

/// What is at an end of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Role {
    /// A node of the mesh.
    Node,
    /// A computer that speaks for a person, not a node.
    Host,
}

/// Who an end is. All but the session stays the same until it restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Identity {
    /// A node or a computer.
    pub role: Role,
    /// [Of the expression](crate::Network::id), so that meshes that do not belong together notice.
    pub network: u32,
    /// The node's address; of a computer, anything.
    pub address: Node,
    /// The number of the wire at its board, from 0.
    pub port: u8,
    /// Differs from the epoch before the last restart, and is not 0.
    pub epoch: u32,
    /// The largest packet that it takes.
    pub largest: u16,
}

/// One end of a session, as the other end names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) epoch: u32,
    pub(super) session: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) version: u8,
    pub(super) identity: Identity,
    /// Rises each time this end gives a session up.
    pub(super) session: u8,
    /// What this end has heard from the other of late.
    pub(super) heard: Option<Heard>,
}

impl Hello {
    /// Fixed fields, and the longest address.
    pub(super) const MAX_BYTES: usize = 20 + varint::MAX_BYTES;

    pub(super) fn read(bytes: &[u8]) -> Option<Hello> {
        let (&[version, role, port, session], rest) = bytes.split_first_chunk()?;
        let (network, rest) = rest.split_first_chunk()?;
        let (epoch, rest) = rest.split_first_chunk()?;
        let (heard_epoch, rest) = rest.split_first_chunk()?;
        let (&[heard_session, low, high], rest) = rest.split_first_chunk()?;
        let (address, rest) = varint::read(rest)?;
        if !rest.is_empty() {
            return None;
        }
        let heard_epoch = u32::from_le_bytes(*heard_epoch);
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
                largest: u16::from_le_bytes([low, high]),
            },
            session,
            heard: (heard_epoch != 0).then_some(Heard {
                epoch: heard_epoch,
                session: heard_session,
            }),
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
        let heard = self.heard.unwrap_or(Heard { epoch: 0, session: 0 });
        let mut fixed = [0; 19];
        fixed[..4].copy_from_slice(&[self.version, u8::from(role == Role::Host), port, self.session]);
        fixed[4..8].copy_from_slice(&network.to_le_bytes());
        fixed[8..12].copy_from_slice(&epoch.to_le_bytes());
        fixed[12..16].copy_from_slice(&heard.epoch.to_le_bytes());
        fixed[16] = heard.session;
        fixed[17..19].copy_from_slice(&largest.to_le_bytes());
        let Some((head, tail)) = out.split_at_mut_checked(fixed.len()) else {
            return 0;
        };
        head.copy_from_slice(&fixed);
        fixed.len() + varint::write(address, tail).unwrap_or(0)
    }
}
