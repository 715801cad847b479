//! A parallel sort: 64 values a board; in the end board 0 has the smallest.

use hopwise_app::Node;
use hopwise_team::{Team, TeamError};

pub(crate) const BLOCK: usize = 64;

/// What a board begins with.
pub(crate) fn values(place: Node) -> [u16; BLOCK] {
    core::array::from_fn(|index| {
        let number = place as u32 * BLOCK as u32 + index as u32;
        (number.wrapping_mul(0x9e37_79b9) >> 16) as u16
    })
}

pub(crate) async fn run(team: &Team<'_>, tag: u32) -> Result<[u16; BLOCK], TeamError> {
    let mut values = values(team.place()?);
    team.sort(tag, &mut values).await?;
    Ok(values)
}
