/// Links of a board: bit 0 is link 0.
pub(super) type LinkSet = u32;
pub(super) const ALL_LINKS: LinkSet = LinkSet::MAX;

pub(super) const fn only(link: u8) -> LinkSet {
    1 << link
}

pub(super) fn first(count: usize) -> LinkSet {
    ALL_LINKS.checked_shr(LinkSet::BITS - count as u32).unwrap_or(0)
}

pub(super) fn each(mut links: LinkSet) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let link = links.trailing_zeros() as u8;
        links &= links.checked_sub(1)?;
        Some(link)
    })
}
