//! Validation of a config for this board.

use hopwise_core::Network;
use hopwise_core::network::expression::BrokenRule;
use hopwise_node::store::Start;
use hopwise_node::wire::{BadConfig, BoardConfig, BoardState, CONFIG_BYTES};

use crate::platform::Platform;

/// The config that a board with this many links boots with.
pub(crate) fn understand_start<P: Platform>(start: &Start, links: u8) -> Result<(BoardConfig, Network), BoardState> {
    match &start.page {
        // It must not communicate without them.
        _ if start.keys.is_some() && cfg!(not(feature = "keys")) => Err(BoardState::NotInImage),
        _ if start.keys.is_some() && !start.is_marked => Err(BoardState::Uncounted),
        Some(page) => understand::<P>(page, links),
        None if start.is_damaged => Err(BoardState::BadConfig),
        None => Err(BoardState::NoPage),
    }
}

/// Parses a config, if a board like this one supports it.
pub(crate) fn understand<P: Platform>(
    bytes: &[u8; CONFIG_BYTES],
    links: u8,
) -> Result<(BoardConfig, Network), BoardState> {
    let page = BoardConfig::read(bytes).map_err(|error| match error {
        BadConfig::Missing => BoardState::NoPage,
        _ => BoardState::BadConfig,
    })?;
    if !P::can_run_at(page.baud) {
        return Err(BoardState::BadConfig);
    }
    let network = page.network().map_err(|error| match error {
        BadConfig::Expression(error) if error.rule == BrokenRule::NotBuilt => BoardState::NotInImage,
        _ => BoardState::BadNetwork,
    })?;
    match network.degree(page.address) {
        Err(_) => Err(BoardState::BadAddress),
        Ok(degree) if degree > u64::from(links) => Err(BoardState::TooFewLinks),
        Ok(_) => Ok((page, network)),
    }
}
