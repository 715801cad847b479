//! Parsing of lifts.

use heapless::Vec;

use super::search::Search;
use super::{Lift, MAX_LINKS, MAX_ORBITS, MAX_PLACES, OrbitLink, width};
use crate::arith::Number;
use crate::network::expression::{BrokenRule, Reader};

const PLACES: &str = "m of lift(m,LINKS,..)";
const LINKS: &str = "LINKS of lift(m,LINKS,..)";

impl Lift {
    #[inline(never)]
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        let places = reader.first_number(PLACES, 1, MAX_PLACES)?;
        // The number of orbits, and with it the width of each number, is known only at the end.
        let mut links = Vec::<OrbitLink, MAX_LINKS>::new();
        let mut lists = 0;
        let mut orbits = 1;
        while reader.accept(b',') {
            let from = lists;
            lists += 1;
            if lists > MAX_ORBITS {
                return reader.refuse(LINKS, BrokenRule::AtMostItems(MAX_ORBITS.into()));
            }
            while let Some(to) = reader.letter() {
                let shift = reader.digits().unwrap_or(0);
                let link = OrbitLink {
                    from,
                    to,
                    shift: shift as u16,
                };
                // A link of an orbit with itself is the same forward and back, so it is written the shorter way.
                let is_in_range = if to == from {
                    1 <= shift && shift <= places / 2
                } else {
                    to > from && shift < places
                };
                if !is_in_range || links.contains(&link) {
                    return reader.refuse(LINKS, BrokenRule::OrbitLink);
                }
                if links.push(link).is_err() {
                    return reader.refuse(LINKS, BrokenRule::TooManyLinks);
                }
                orbits = orbits.max(to + 1);
            }
        }
        reader.close(LINKS)?;
        if lists > orbits {
            return reader.refuse(LINKS, BrokenRule::AtMostItems(orbits.into()));
        }
        Lift::joined(reader, PLACES, places, &links)
    }

    /// The lift with these links, if it fits and is connected; `parameter` names the one that determines the number of nodes.
    pub(super) fn joined(
        reader: &mut Reader<'_>,
        parameter: &'static str,
        places: Number,
        links: &[OrbitLink],
    ) -> Option<Self> {
        let orbits = links.iter().map(|link| link.to).max().unwrap_or(0) + 1;
        if places * Number::from(orbits) < 2 {
            return reader.refuse(parameter, BrokenRule::OneNode);
        }
        if !Lift::fits(places, orbits) {
            return reader.refuse(parameter, BrokenRule::TooManyForLift);
        }
        let Some(lift) = Lift::of(places, orbits, links) else {
            return reader.refuse(LINKS, BrokenRule::TooManyLinks);
        };
        if !Search::from(&lift, 0).reach_all().is_everyone_reached() {
            return reader.refuse(LINKS, BrokenRule::Expected("enough to join all nodes"));
        }
        Some(lift)
    }

    /// `None` if the links do not fit.
    fn of(places: Number, orbits: u8, links: &[OrbitLink]) -> Option<Self> {
        let mut lift = Lift::empty(places as u16, orbits);
        let (orbit_bits, shift_bits) = (width(orbits.into()), width(places as u32));
        let (mut at, mut from) = (0, 0);
        for link in links {
            // The bits in between are ones already: each ends a list.
            at += usize::from(link.from - from);
            from = link.from;
            let bits = u32::from(link.to) << 1 | u32::from(link.shift) << (1 + orbit_bits);
            for bit in 0..1 + orbit_bits + shift_bits {
                let byte = lift.links.get_mut(at / 8)?;
                if bits >> bit & 1 == 0 {
                    *byte &= !(1 << (at % 8));
                }
                at += 1;
            }
        }
        Some(lift)
    }
}
