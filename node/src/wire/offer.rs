//! The room that a receiver offers.

use hopwise_core::limits::VIRTUAL_CHANNELS;

/// A set of virtual channels: bit 0 is channel 0.
pub type VirtualChannelSet = u16;

/// The virtual channels are the low bits of an offer, the number of packets the others.
const CHANNEL_BITS: u32 = 12;
const _: () = assert!(
    VIRTUAL_CHANNELS <= CHANNEL_BITS as usize,
    "an offer names each virtual channel by a bit"
);
const ALL_CHANNELS: VirtualChannelSet = (1 << CHANNEL_BITS) - 1;

/// The credit that one end of a link gives the other: packets it may send after the last acknowledged one. It is advisory,
/// not a guarantee: room is offered to several links at once, so a packet may still be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Offer(u16);

impl Offer {
    /// Unlimited packets in any virtual channel.
    pub const ALL: Offer = Offer(u16::MAX);

    /// Room for one packet, perhaps.
    pub(crate) const ONE: Offer = Offer(1 << CHANNEL_BITS);

    /// This many packets in any virtual channel, and one in each of these.
    pub fn new(packets: usize, channels: VirtualChannelSet) -> Self {
        let most = usize::from(u16::MAX >> CHANNEL_BITS);
        Offer((packets.min(most) as u16) << CHANNEL_BITS | channels & ALL_CHANNELS)
    }

    pub(super) const fn from_bytes(bytes: [u8; 2]) -> Self {
        Offer(u16::from_le_bytes(bytes))
    }

    pub(super) const fn to_bytes(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }

    /// Packets in any virtual channel.
    pub(crate) const fn packets(self) -> u16 {
        self.0 >> CHANNEL_BITS
    }

    /// Virtual channels that have room for one packet each.
    pub(crate) const fn channels(self) -> VirtualChannelSet {
        self.0 & ALL_CHANNELS
    }

    /// Whether there is room for a packet in a virtual channel.
    pub fn takes(self, channel: u8) -> bool {
        self.packets() > 0 || self.0.checked_shr(channel.into()).unwrap_or(0) & 1 == 1
    }

    /// What is left of it when packets of these virtual channels are in flight.
    pub(crate) fn without(self, on_the_way: impl Iterator<Item = u8>) -> Self {
        let mut left = self;
        for channel in on_the_way {
            let channels = left.channels() & !1_u16.checked_shl(channel.into()).unwrap_or(0);
            left = Offer::new(usize::from(left.packets().saturating_sub(1)), channels);
        }
        left
    }

    /// Whether it is worth telling after another offer: there is room where there was none.
    pub(crate) fn is_news_after(self, told: Offer) -> bool {
        told.packets() == 0 && (self.packets() > 0 || self.channels() & !told.channels() != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_the_way_uses_an_offer_up() {
        let offer = Offer::new(2, 0b101);
        assert!(offer.takes(0) && offer.takes(7));
        let one = offer.without([0].into_iter());
        assert!(one.takes(0) && one.takes(7));
        let none = offer.without([0, 7].into_iter());
        assert!(!none.takes(0) && !none.takes(7) && none.takes(2));
        assert_eq!(none.without([2].into_iter()), Offer::new(0, 0));
        assert!(!Offer::new(0, 0).takes(200));
    }

    #[test]
    fn an_offer_is_two_bytes() {
        for packets in 0..=20 {
            for channels in [0, 1, 0x800, ALL_CHANNELS, VirtualChannelSet::MAX] {
                let offer = Offer::new(packets, channels);
                assert_eq!(Offer::from_bytes(offer.to_bytes()), offer);
                assert_eq!(usize::from(offer.packets()), packets.min(15));
                assert_eq!(offer.channels(), channels & ALL_CHANNELS);
            }
        }
    }

    #[test]
    fn only_room_where_there_was_none_is_news() {
        let full = Offer::new(0, 0b10);
        assert!(Offer::new(1, 0).is_news_after(full));
        assert!(Offer::new(0, 0b100).is_news_after(full));
        assert!(!Offer::new(0, 0b10).is_news_after(full));
        assert!(!Offer::new(5, 0b100).is_news_after(Offer::new(1, 0)));
    }
}
