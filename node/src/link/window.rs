//! Acknowledged delivery in order: go-back-N with refusals.
//!
//! The sender has up to [`WINDOW`](LinkCapacities::WINDOW) frames in flight and goes back to the first missing one when the receiver
//! reports a gap, or on a timeout. The receiver keeps no frames that come early, so a link costs no memory but one
//! frame being received. A frame for which its virtual channel has no room is acknowledged as refused, so that the frames behind
//! it are not held up: otherwise the full buffers of one channel would block the others, and with them the mesh.

use heapless::Vec;

use crate::capacities::{LinkCapacities, List};
use crate::wire::{Ack, Offer, ROUND_MASK};

/// Maximum number of frames in flight of a board. At full speed in both directions an acknowledgment comes up to two frames after
/// its frame, so four keep the wire busy; and no more than eight refusals fit an acknowledgment.
pub const WINDOW: usize = 6;

/// The sender's identifier of a packet, returned when it is acknowledged or abandoned.
pub type Token = u8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    pub(super) token: Token,
    pub(super) channel: u8,
    /// When it was first sent: the low bits of the time in units of 1,024 microseconds, which wrap after 67 seconds.
    pub(super) since: u16,
}

/// The acknowledged result of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameResult {
    /// The other end has it.
    Taken,
    /// The other end has no room for it.
    Refused,
}

#[derive(Clone, Debug)]
pub(super) struct Sender<L: LinkCapacities> {
    /// The sequence number of the oldest frame in flight.
    base: u8,
    on_the_way: L::Window<Sent>,
    /// The number of frames sent in this round.
    cursor: u8,
    round: u8,
    completed: L::Window<(Token, FrameResult)>,
}

/// A comparable [`Sender`]: base, cursor, round, frames in flight with their ages, and completed frames.
pub(super) type CanonicalSender = (u8, u8, u8, Vec<Sent, 8>, Vec<(Token, FrameResult), 8>);

/// The effect of an acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) completed: usize,
    pub(super) taken: usize,
    /// Whether the sender goes back, after a reported gap.
    pub(super) back: bool,
}

impl<L: LinkCapacities> Default for Sender<L> {
    fn default() -> Self {
        Sender {
            base: 0,
            on_the_way: L::Window::default(),
            cursor: 0,
            round: 0,
            completed: L::Window::default(),
        }
    }
}

impl<L: LinkCapacities> Sender<L> {
    /// The canonical state, at a time in the units of [`Sent`].
    pub(super) fn canonical(&self, now: u16) -> CanonicalSender {
        let aged = |sent: &Sent| Sent {
            since: now.wrapping_sub(sent.since),
            ..*sent
        };
        let on_the_way = self.on_the_way.iter().map(aged).collect();
        let completed = self.completed.iter().copied().collect();
        (self.base, self.cursor, self.round, on_the_way, completed)
    }

    pub(super) fn has_room(&self) -> bool {
        // Completed frames must be fetched first.
        self.on_the_way.len() + self.completed.len() < L::WINDOW
    }

    pub(super) fn idle(&self) -> bool {
        self.on_the_way.is_empty()
    }

    pub(super) fn next_completed(&mut self) -> Option<(Token, FrameResult)> {
        self.completed.pop_front()
    }

    /// The virtual channels of the frames in flight.
    pub(super) fn channels(&self) -> impl Iterator<Item = u8> + '_ {
        self.on_the_way.iter().map(|sent| sent.channel)
    }

    /// When the oldest frame in flight was first sent, in the units of [`Sent`].
    pub(super) fn oldest(&self) -> Option<u16> {
        self.on_the_way.first().map(|sent| sent.since)
    }

    /// Sets the send time of all frames in flight.
    pub(super) fn restamp(&mut self, since: u16) {
        self.on_the_way.iter_mut().for_each(|sent| sent.since = since);
    }

    /// Whether a frame is to be retransmitted.
    pub(super) fn behind(&self) -> bool {
        usize::from(self.cursor) < self.on_the_way.len()
    }

    /// The frame to retransmit before any new one.
    pub(super) fn retransmit(&self) -> Option<Sent> {
        self.on_the_way.get(usize::from(self.cursor)).copied()
    }

    /// Adds a frame to those in flight; `false` if there is no room.
    pub(super) fn push(&mut self, sent: Sent) -> bool {
        self.has_room() && self.on_the_way.push(sent).is_ok()
    }

    /// The sequence number and round of the frame at the cursor, which is sent now.
    pub(super) fn advance(&mut self) -> (u8, u8) {
        let sequence = self.base.wrapping_add(self.cursor) & L::LAST_NUMBER;
        self.cursor += 1;
        (sequence, self.round)
    }

    pub(super) fn go_back(&mut self) {
        self.cursor = 0;
        self.round = self.round.wrapping_add(1) & ROUND_MASK;
    }

    pub(super) fn acknowledge(&mut self, ack: &Ack) -> Progress {
        let count = usize::from(ack.next.wrapping_sub(self.base) & L::LAST_NUMBER);
        if count > self.on_the_way.len() {
            return Progress::default();
        }
        let mut taken = 0;
        for place in (0..count).rev() {
            let Some(sent) = self.on_the_way.pop_front() else {
                break;
            };
            let refused = u32::from(ack.refused) >> place & 1 == 1;
            let result = if refused {
                FrameResult::Refused
            } else {
                FrameResult::Taken
            };
            taken += usize::from(!refused);
            // Cannot fail: `has_room` counted the completed frames.
            let _ = self.completed.push((sent.token, result));
        }
        self.base = ack.next;
        self.cursor = self.cursor.saturating_sub(count as u8);
        let back = ack.missing == Some(self.round) && self.cursor > 0;
        if back {
            self.go_back();
        }
        let completed = count;
        Progress { completed, taken, back }
    }

    /// Removes the oldest frame in flight, which may or may not have arrived.
    pub(super) fn abandon(&mut self) -> Option<Token> {
        self.on_the_way.pop_front().map(|sent| sent.token)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Receiver {
    next: u8,
    refused: u8,
    /// The round in which the present gap was reported.
    complained: Option<u8>,
    /// The gap report to send.
    missing: Option<u8>,
    /// The round of the last frame that came.
    round: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    InOrder,
    /// It came before; its acknowledgment was lost.
    Repeated,
    Early,
}

impl Receiver {
    pub(super) fn arrive<L: LinkCapacities>(&mut self, sequence: u8, round: u8) -> Arrival {
        self.round = round;
        let ahead = usize::from(sequence.wrapping_sub(self.next) & L::LAST_NUMBER);
        if ahead == 0 {
            self.next = self.next.wrapping_add(1) & L::LAST_NUMBER;
            // Refused until it is reported as taken.
            self.refused = self.refused << 1 | 1;
            self.complained = None;
            self.missing = None;
            Arrival::InOrder
        } else if ahead < L::WINDOW {
            self.complain();
            Arrival::Early
        } else {
            Arrival::Repeated
        }
    }

    /// The last frame in order was taken.
    pub(super) fn take(&mut self) {
        self.refused &= !1;
    }

    pub(super) fn has_refused(&self, packets: u8) -> bool {
        self.refused & !u8::MAX.unbounded_shl(packets.into()) != 0
    }

    /// An unreadable frame came, perhaps the next one. Returns whether that is worth reporting.
    pub(super) fn damaged(&mut self) -> bool {
        self.complain()
    }

    fn complain(&mut self) -> bool {
        let news = self.complained != Some(self.round);
        if news {
            self.complained = Some(self.round);
            self.missing = Some(self.round);
        }
        news
    }

    /// The acknowledgment to send now. A gap is reported once.
    pub(super) fn acknowledgement(&mut self, tag: u16, offer: Offer) -> Ack {
        Ack {
            tag,
            next: self.next,
            refused: self.refused,
            offer,
            missing: self.missing.take(),
            pause: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacities::LinkSizes;

    type Board = LinkSizes<64>;

    #[test]
    fn what_cannot_be_on_the_way_yet_came_before() {
        for ahead in 1..WINDOW as u8 {
            assert_eq!(Receiver::default().arrive::<Board>(ahead, 0), Arrival::Early, "{ahead}");
        }
        assert_eq!(Receiver::default().arrive::<Board>(WINDOW as u8, 0), Arrival::Repeated);
        assert_eq!(
            Receiver::default().arrive::<Board>(Board::LAST_NUMBER, 0),
            Arrival::Repeated
        );
    }

    fn sender(frames: u8) -> Sender<Board> {
        let mut sender = Sender::default();
        for token in 0..frames {
            let (channel, since) = (0, 0);
            assert!(sender.push(Sent { token, channel, since }));
            assert_eq!(sender.advance(), (token, 0));
        }
        sender
    }

    fn ack(next: u8, missing: Option<u8>) -> Ack {
        Ack {
            missing,
            ..Ack::new(0, next)
        }
    }

    /// The gap that made it go back is reported again by what was sent before.
    #[test]
    fn a_sender_goes_back_once_for_a_gap() {
        let mut sender = sender(4);
        assert!(sender.acknowledge(&ack(1, Some(0))).back);
        assert_eq!(sender.advance(), (1, 1));
        assert!(!sender.acknowledge(&ack(1, Some(0))).back);
        assert!(sender.acknowledge(&ack(1, Some(1))).back, "another loss");
        assert_eq!(sender.advance(), (1, 2));
        (0..2).for_each(|_| sender.go_back());
        assert_eq!(sender.advance(), (1, 0), "rounds wrap");
    }

    #[test]
    fn what_was_never_sent_is_not_acknowledged() {
        for next in 4..=Board::LAST_NUMBER {
            let mut sender = sender(3);
            assert_eq!(sender.acknowledge(&ack(next, None)).completed, 0, "{next}");
            assert_eq!(
                (sender.base, sender.on_the_way.len(), sender.next_completed()),
                (0, 3, None)
            );
        }
        assert_eq!(sender(3).acknowledge(&ack(3, None)).completed, 3);
    }

    #[test]
    fn the_window_is_full_until_completed_frames_are_fetched() {
        let mut sender = sender(WINDOW as u8);
        assert!(!sender.has_room());
        sender.acknowledge(&ack(WINDOW as u8, None));
        assert!(sender.idle() && !sender.has_room());
        assert_eq!(sender.next_completed(), Some((0, FrameResult::Taken)));
        assert!(sender.has_room());
    }

    #[test]
    fn damage_is_worth_a_word_once_in_each_round() {
        let mut receiver = Receiver::default();
        assert!(receiver.damaged() && !receiver.damaged());
        receiver.arrive::<Board>(3, 1);
        assert!(!receiver.damaged(), "the early frame was");
        assert_eq!(receiver.arrive::<Board>(0, 1), Arrival::InOrder);
        assert!(receiver.damaged() && !receiver.damaged());
    }
}
