//! Backpressure: packets for this node that should come later, because there is no room to answer their senders.

/// Number of such packets in a row that wait at the neighbor. The next may come nevertheless, since the room may itself depend on
/// neighbors that are full of just these packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backpressure {
    most: u8,
    in_a_row: u8,
}

impl Backpressure {
    pub(super) const fn new(most: u8) -> Self {
        Backpressure { most, in_a_row: 0 }
    }

    /// Whether a packet is to wait, while there is no room to answer it.
    pub(super) fn defer(&mut self, no_room: bool) -> bool {
        let waits = no_room && self.in_a_row < self.most;
        self.in_a_row += u8::from(waits);
        waits
    }

    /// A response has left, and others will.
    pub(super) fn room_was_made(&mut self) {
        self.in_a_row = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_wait_in_a_row_and_no_more() {
        let mut backpressure = Backpressure::new(3);
        assert!(!backpressure.defer(false));
        let waits = [(); 6].map(|()| backpressure.defer(true));
        assert_eq!(waits, [true, true, true, false, false, false]);
        backpressure.room_was_made();
        assert!(!backpressure.defer(false));
        assert!(backpressure.defer(true));
    }
}
