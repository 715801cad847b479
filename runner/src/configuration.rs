//! Validation of a config for this board.

use hopwise_core::Network;
use hopwise_core::network::expression::BrokenRule;
use hopwise_node::store::Start;
use hopwise_node::wire::{BadConfig, BoardConfig, BoardState, CONFIG_BYTES};

use crate::platform::Platform;

/// The config that a board with this many links boots with.
pub(crate) fn understand_start<P: Platform>(start: &Start, links: u8) -> Result<(BoardConfig, Network), BoardState> {
    match &start.config {
        // It must not communicate without them.
        _ if start.keys.is_some() && cfg!(not(feature = "keys")) => Err(BoardState::NotInImage),
        _ if start.keys.is_some() && !start.is_marked => Err(BoardState::Uncounted),
        Some(board_config) => understand::<P>(board_config, links),
        None if start.is_damaged => Err(BoardState::BadConfig),
        None => Err(BoardState::NoConfig),
    }
}

/// Parses a config, if a board like this one supports it.
pub(crate) fn understand<P: Platform>(
    bytes: &[u8; CONFIG_BYTES],
    links: u8,
) -> Result<(BoardConfig, Network), BoardState> {
    let board_config = BoardConfig::read(bytes).map_err(|error| match error {
        BadConfig::Missing => BoardState::NoConfig,
        _ => BoardState::BadConfig,
    })?;
    if !P::can_run_at(links, board_config.host_baud) {
        return Err(BoardState::BadConfig);
    }
    let network = board_config.network().map_err(|error| match error {
        BadConfig::Expression(error) if error.rule == BrokenRule::NotBuilt => BoardState::NotInImage,
        _ => BoardState::BadNetwork,
    })?;
    match network.degree(board_config.address) {
        Err(_) => Err(BoardState::BadAddress),
        Ok(degree) if degree > u64::from(links) => Err(BoardState::TooFewLinks),
        // Cables may be at any links, so it is enough that there are as many that can.
        Ok(degree) if degree > usable::<P>(&board_config, links) => Err(BoardState::BadConfig),
        Ok(_) => Ok((board_config, network)),
    }
}

/// The number of links that can run at their rates.
fn usable<P: Platform>(board_config: &BoardConfig, links: u8) -> u64 {
    (0..links)
        .filter(|link| P::can_run_at(*link, board_config.rate(*link)))
        .count() as u64
}

#[cfg(all(test, feature = "keys"))]
mod tests {
    use super::*;
    use crate::platform::NoImages;
    use hopwise_node::key::{Key, Secret};
    use hopwise_node::link::Micros;
    use hopwise_node::store::Keys;

    struct Desk;

    impl Platform for Desk {
        type Images = NoImages;

        const NAME: &'static str = "desk";

        fn now(&self) -> Micros {
            0
        }

        async fn wait_until(&self, _: Micros) {}
    }

    #[test]
    fn a_board_with_keys_that_could_not_count_its_start_stays_out_of_the_mesh() {
        let key = Key::new(*b"sixteen of these");
        let secret = Secret { key, encrypts: false };
        let config = BoardConfig::new("path(2)", 0).map(|config| config.write()).ok();
        let state = |keys, is_marked| {
            let start = Start {
                config,
                keys,
                owner: None,
                is_damaged: false,
                epoch: 1,
                on_trial: false,
                is_marked,
            };
            understand_start::<Desk>(&start, 2).err()
        };
        let keys = Some(Keys {
            mesh: secret,
            management: key,
        });
        assert_eq!(state(keys, false), Some(BoardState::Uncounted));
        assert_eq!((state(keys, true), state(None, false)), (None, None));
    }
}
