//! Traffic that a board makes by itself.

use serde::{Deserialize, Serialize};

use crate::limits::MAX_PAYLOAD;
use hopwise_core::Node;

/// Where packets of generated traffic go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Pattern {
    /// To any other node, each as often as the others.
    Uniform,
    /// To the neighbors, one after the other.
    Neighbors,
    /// To the node with the address counted from the other end.
    Opposite,
    /// To all.
    Broadcast,
}

impl Pattern {
    /// The pattern of a number.
    pub const fn from_number(number: u8) -> Option<Pattern> {
        Some(match number {
            0 => Pattern::Uniform,
            1 => Pattern::Neighbors,
            2 => Pattern::Opposite,
            3 => Pattern::Broadcast,
            _ => return None,
        })
    }
}

/// Packets that a board sends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Traffic {
    /// Packets a second; as many as the node takes if it takes fewer.
    pub rate: u32,
    /// Packets in all; 0: without end.
    pub count: u32,
    /// Where they go.
    pub pattern: Pattern,
    /// Bytes of each, at least [`Traffic::SMALLEST`].
    pub size: u8,
}

/// Packets of that size cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadTraffic;

impl Traffic {
    /// A number, and something more.
    pub const SMALLEST: u8 = 5;
    /// No packets.
    pub const NONE: Traffic = Traffic {
        rate: 0,
        count: 0,
        pattern: Pattern::Uniform,
        size: Traffic::SMALLEST,
    };

    /// Itself, if there can be packets of that size.
    pub const fn checked(self) -> Result<Self, BadTraffic> {
        if self.size < Traffic::SMALLEST || self.size as usize > MAX_PAYLOAD {
            return Err(BadTraffic);
        }
        Ok(self)
    }

    pub(super) fn bytes(&self) -> [u8; 10] {
        let ([r0, r1, r2, r3], [c0, c1, c2, c3]) = (self.rate.to_le_bytes(), self.count.to_le_bytes());
        [r0, r1, r2, r3, c0, c1, c2, c3, self.pattern as u8, self.size]
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let &[r0, r1, r2, r3, c0, c1, c2, c3, pattern, size] = bytes else {
            return None;
        };
        let traffic = Traffic {
            rate: u32::from_le_bytes([r0, r1, r2, r3]),
            count: u32::from_le_bytes([c0, c1, c2, c3]),
            pattern: Pattern::from_number(pattern)?,
            size,
        };
        traffic.checked().ok()
    }

    /// Where a packet of node `from` goes, in a network of so many nodes; `chance` is random. `None` where the pattern alone does
    /// not say, or there is no other node.
    pub fn destination(pattern: Pattern, from: Node, nodes: u64, chance: u64) -> Option<Node> {
        match pattern {
            Pattern::Uniform => {
                let other = chance.checked_rem(nodes.saturating_sub(1))?;
                Some(if other < from { other } else { other + 1 })
            }
            Pattern::Opposite => nodes.checked_sub(1)?.checked_sub(from),
            Pattern::Neighbors | Pattern::Broadcast => None,
        }
    }
}

/// What generated traffic came to, on one board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TrafficReport {
    /// Packets sent.
    pub sent: u32,
    /// Times that the node had no room for one.
    pub refused: u32,
    /// Packets received from others' generators.
    pub received: u32,
    /// Bytes in them.
    pub received_bytes: u32,
    /// Packets are still to be sent.
    pub running: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_the_numbers_that_boards_know() {
        let patterns = [
            Pattern::Uniform,
            Pattern::Neighbors,
            Pattern::Opposite,
            Pattern::Broadcast,
        ];
        for (number, pattern) in patterns.into_iter().enumerate() {
            assert_eq!(
                (Pattern::from_number(number as u8), pattern as usize),
                (Some(pattern), number)
            );
        }
        assert_eq!(Pattern::from_number(4), None);
    }

    #[test]
    fn uniform_traffic_goes_to_every_other_node() {
        let mut counts = [0; 5];
        for chance in 0..400 {
            let node = Traffic::destination(Pattern::Uniform, 2, 5, chance).unwrap();
            counts[node as usize] += 1;
        }
        assert_eq!(counts, [100, 100, 0, 100, 100]);
        assert_eq!(Traffic::destination(Pattern::Uniform, 0, 1, 9), None);
        assert_eq!(Traffic::destination(Pattern::Opposite, 1, 5, 0), Some(3));
    }
}
