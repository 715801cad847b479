//! The trail of a packet on a detour around a dead link.
//!
//! A packet that finds its next link dead searches: from each node to the live neighbor that is closest to the destination
//! and not on the trail, back along its path where there is none. That is a depth-first search whose state the packet
//! carries, so it arrives whenever there is a path at all, as long as the trail has room. It ends early at a node closer to
//! the destination than its start: from there the ordinary route is taken, and since each search starts closer than
//! the previous one, they end if there is a path.
//!
//! Where there is no room for another node, the oldest is forgotten, except for the start. That is enough to go around
//! a ring of any length, and past anything but a dead end of more nodes than there is room for. A search that must backtrack
//! further than it remembers ends.
//!
//! The trail is at the end of the body: for each node visited, in order, its number times two, plus one if it was a dead
//! end; then the length of this in bytes. The first is marked as a dead end if nodes after it have been
//! forgotten, or left out.

use super::body::Bytes;
use super::varint;
use hopwise_core::Node;

/// A trail within a body.
pub(crate) struct Trail<'a, B> {
    body: &'a mut B,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TrailFull;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) node: Node,
    pub(crate) dead_end: bool,
    /// Where it stands in the body.
    at: usize,
}

/// The visit at a place of a trail, which moves on to the next.
#[inline(never)]
fn visit(trail: &[u8], at: &mut usize) -> Option<Visit> {
    let bytes = trail.get(*at..)?;
    let (value, rest) = varint::read(bytes)?;
    let visit = Visit {
        node: value >> 1,
        dead_end: value & 1 == 1,
        at: *at,
    };
    *at += bytes.len() - rest.len();
    Some(visit)
}

impl<'a, B: Bytes> Trail<'a, B> {
    pub(crate) fn begin(body: &'a mut B, node: Node) -> Result<Self, TrailFull> {
        body.push(0).map_err(|_| TrailFull)?;
        let mut trail = Trail { body };
        if trail.push(node).is_err() {
            trail.remove();
            return Err(TrailFull);
        }
        Ok(trail)
    }

    /// The trail of a packet that claims to have one; `None` if it has none.
    pub(crate) fn of(body: &'a mut B) -> Option<Self> {
        Self::length_in(body)?;
        Some(Trail { body })
    }

    /// How many bytes at the end of a body are its trail; `None` if it has none.
    pub(crate) fn length_in(body: &B) -> Option<usize> {
        let bytes = usize::from(*body.last()?) + 1;
        (bytes <= body.len()).then_some(bytes)
    }

    fn length(&self) -> usize {
        self.body.last().map_or(0, |&length| usize::from(length))
    }

    /// The nodes visited, in order.
    pub(crate) fn visits(&self) -> impl Iterator<Item = Visit> + '_ {
        let end = self.body.len().saturating_sub(1);
        let mut at = end.saturating_sub(self.length());
        core::iter::from_fn(move || visit(self.body.get(..end)?, &mut at))
    }

    pub(crate) fn start(&self) -> Option<Node> {
        self.visits().next().map(|visit| visit.node)
    }

    pub(crate) fn has(&self, node: Node) -> bool {
        self.visits().any(|visit| visit.node == node)
    }

    /// Adds a node that is not to be visited, though a path may lead through it.
    pub(crate) fn skip(&mut self, node: Node) -> Result<(), TrailFull> {
        self.push(node)?;
        self.mark_partial()
    }

    /// Whether nodes were forgotten or left out: then an unsuccessful search proves nothing.
    pub(crate) fn is_partial(&self) -> bool {
        self.visits().next().is_some_and(|start| start.dead_end)
    }

    /// Adds a node, in place of the oldest but one if there is no room.
    pub(crate) fn push(&mut self, node: Node) -> Result<(), TrailFull> {
        while self.append(node).is_err() {
            self.forget_one()?;
        }
        Ok(())
    }

    pub(crate) fn mark_partial(&mut self) -> Result<(), TrailFull> {
        let start = self.visits().next().ok_or(TrailFull)?.at;
        // The lowest bit of a number is in its first byte.
        *self.body.get_mut(start).ok_or(TrailFull)? |= 1;
        Ok(())
    }

    /// Forgets the node after the first.
    fn forget_one(&mut self) -> Result<(), TrailFull> {
        let mut visits = self.visits();
        let second = visits.nth(1).ok_or(TrailFull)?.at;
        let end = visits
            .next()
            .map_or(self.body.len().saturating_sub(1), |third| third.at);
        drop(visits);
        let size = end.checked_sub(second).ok_or(TrailFull)?;
        self.mark_partial()?;
        let rest = self.body.len().saturating_sub(size);
        for at in second..rest {
            let later = *self.body.get(at + size).ok_or(TrailFull)?;
            *self.body.get_mut(at).ok_or(TrailFull)? = later;
        }
        self.body.truncate(rest);
        let length = self.body.last_mut().ok_or(TrailFull)?;
        *length = length.saturating_sub(size as u8);
        Ok(())
    }

    fn append(&mut self, node: Node) -> Result<(), TrailFull> {
        let mut bytes = [0; varint::MAX_BYTES];
        let size = varint::write(node << 1, &mut bytes).ok_or(TrailFull)?;
        let length = u8::try_from(self.length() + size).map_err(|_| TrailFull)?;
        if self.body.len() + size > B::CAPACITY {
            return Err(TrailFull);
        }
        self.body.pop();
        let added = bytes.get(..size).ok_or(TrailFull)?;
        self.body.extend_from_slice(added).map_err(|_| TrailFull)?;
        self.body.push(length).map_err(|_| TrailFull)
    }

    /// Marks the last node that is not a dead end yet as one, and returns the one to go back to.
    pub(crate) fn back(&mut self) -> Option<Node> {
        let last = self.visits().filter(|visit| !visit.dead_end).last()?;
        // The lowest bit of a number is in its first byte.
        *self.body.get_mut(last.at)? |= 1;
        let before = self.visits().filter(|visit| !visit.dead_end).last()?;
        Some(before.node)
    }

    pub(crate) fn remove(self) {
        let rest = self.body.len().saturating_sub(self.length() + 1);
        self.body.truncate(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Body;
    use std::vec::Vec as List;

    #[test]
    fn a_search_goes_on_and_back() {
        let mut body: Body<32> = Body::from_slice(b"payload").unwrap();
        let mut trail = Trail::begin(&mut body, 7).unwrap();
        trail.push(300).unwrap();
        trail.push(1 << 40).unwrap();
        let nodes: List<_> = trail.visits().map(|visit| visit.node).collect();
        assert_eq!(nodes, [7, 300, 1 << 40]);
        assert_eq!(trail.back(), Some(300));
        trail.push(5).unwrap();
        assert_eq!(trail.back(), Some(300));
        assert_eq!(trail.back(), Some(7));
        assert_eq!(trail.back(), None);
        assert!(trail.has(1 << 40) && trail.has(5) && !trail.has(6));
        assert_eq!(trail.start(), Some(7));
        Trail::of(&mut body).unwrap().remove();
        assert_eq!(body, b"payload");
    }

    /// The oldest but the first are forgotten, and that is known; the payload stays.
    #[test]
    fn a_trail_without_room_forgets_the_oldest() {
        let mut body: Body<14> = Body::from_slice(b"payload").unwrap();
        let mut trail = Trail::begin(&mut body, 3).unwrap();
        for node in [300, 5, 70, 8, 9] {
            trail.push(node).unwrap();
        }
        let nodes: List<_> = trail.visits().map(|visit| visit.node).collect();
        assert_eq!(nodes, [3, 5, 70, 8, 9]);
        assert!(trail.is_partial());
        trail.push(400).unwrap();
        let nodes: List<_> = trail.visits().map(|visit| visit.node).collect();
        assert_eq!(nodes, [3, 8, 9, 400]);
        assert_eq!((trail.back(), trail.back()), (Some(9), Some(8)));
        trail.remove();
        assert_eq!(body, b"payload");
    }

    #[test]
    fn a_full_body_refuses_and_stays_as_it_is() {
        let mut body: Body<9> = Body::from_slice(b"payload").unwrap();
        let mut trail = Trail::begin(&mut body, 7).unwrap();
        assert_eq!(trail.push(8), Err(TrailFull));
        trail.remove();
        assert_eq!(body, b"payload");
        assert_eq!(Trail::begin(&mut body, 64).err(), Some(TrailFull));
        assert_eq!(body, b"payload");
    }

    #[test]
    fn bytes_that_are_no_trail_are_harmless() {
        for length in 0..=255_u8 {
            let mut body: Body<8> = Body::from_slice(&[0xff, 0x80, 1, length]).unwrap();
            if let Some(mut trail) = Trail::of(&mut body) {
                trail.visits().for_each(drop);
                trail.back();
                trail.remove();
            }
        }
    }
}
