//! The state of a board.

use core::cell::{Cell, RefCell};

use heapless::{LenType, String, Vec};
use hopwise_node::authority::Authority;
use hopwise_node::key::Credentials;
use hopwise_node::link::Micros;
#[cfg(feature = "keys")]
use hopwise_node::store::Keys;
use hopwise_node::store::Start;
use hopwise_node::wire::{
    BoardConfig, BoardInfo, BoardState, CONFIG_BYTES, CommandResult, DEFAULT_BAUD, MAX_LINK_RATES, Status,
};

use crate::next_image::NextImage;
use crate::platform::Platform;
use crate::response::Deferred;

/// The program name in reports.
pub const PROGRAM: &str = concat!("hopwise ", env!("CARGO_PKG_VERSION"));

/// Time by which a response has left.
const RESPONSE_LEAVES: Micros = 200_000;

/// A description of a fault.
pub type FaultText = String<72>;

/// What a shell knows of its board at boot.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// The unique ID of its chip, or any other unique number.
    pub unique_id: [u8; 12],
    /// The reset cause: [`BoardInfo::reset_cause`].
    pub reset_cause: u8,
    /// The cause of the last restart, if it was a panic, a fault or a hang.
    pub fault: Option<FaultText>,
    /// It has crashed several times soon after boot, so it ignores its config.
    pub crashes_again: bool,
}

pub(crate) struct About<P: Platform> {
    pub(crate) epoch: u32,
    pub(crate) state: BoardState,
    /// The slowest rate of its links.
    pub(crate) baud: u32,
    host_baud: u32,
    /// The rates of links 0, 1 ..., if they differ; 0 for those that have `baud`.
    link_rates: Vec<u32, MAX_LINK_RATES>,
    /// Number of links to neighbors.
    pub(crate) links: u8,
    board: Board,
    pub(crate) stack_free: Cell<u32>,
    pub(crate) board_config: [u8; CONFIG_BYTES],
    /// It reverts to the previous config unless the host confirms this one.
    pub(crate) on_trial: Cell<bool>,
    pub(crate) next_image: NextImage<P::Images>,
    name: String<16, u8>,
    /// The secret of the mesh, if it has one. It never leaves the board.
    #[cfg(feature = "keys")]
    keys: Option<Keys>,
    /// The authorization of commands, if the board has keys.
    pub(crate) authority: Option<RefCell<Authority>>,
    /// Whether the button is held down.
    pub(crate) is_pressed: Cell<bool>,
    /// An action whose response leaves first, and when it was commanded.
    deferred: Cell<Option<(Deferred, Micros)>>,
}

impl<P: Platform> About<P> {
    pub(crate) fn new(
        board: Board,
        links: u8,
        images: P::Images,
        start: &Start,
        state: BoardState,
        board_config: Option<&BoardConfig>,
    ) -> Self {
        About {
            epoch: start.epoch,
            state,
            baud: board_config.map_or(DEFAULT_BAUD, |board_config| board_config.baud),
            host_baud: board_config.map_or(DEFAULT_BAUD, |board_config| board_config.host_baud),
            link_rates: board_config
                .map(|board_config| board_config.link_rates.clone())
                .unwrap_or_default(),
            links,
            board,
            stack_free: Cell::new(0),
            board_config: start.config.unwrap_or([0xff; CONFIG_BYTES]),
            on_trial: Cell::new(start.on_trial),
            next_image: NextImage::new(images, start.owner),
            name: board_config
                .map(|board_config| board_config.name.clone())
                .unwrap_or_default(),
            #[cfg(feature = "keys")]
            keys: start.keys,
            #[cfg(feature = "keys")]
            authority: start
                .keys
                .map(|keys| RefCell::new(Authority::new(keys.management, start.epoch))),
            #[cfg(not(feature = "keys"))]
            authority: None,
            is_pressed: Cell::new(false),
            deferred: Cell::new(None),
        }
    }

    /// Has an action carried out when its response has left. What waits already is neither put off by a repeated command, nor dropped for another.
    pub(crate) fn defer(&self, action: Deferred, now: Micros) -> CommandResult {
        let (result, waiting) = match self.deferred.take() {
            None => (CommandResult::Done, (action, now)),
            Some(waiting) if waiting.0 == action => (CommandResult::Done, waiting),
            Some(waiting) => (CommandResult::Busy, waiting),
        };
        self.deferred.set(Some(waiting));
        result
    }

    /// The action whose response has left.
    pub(crate) fn due(&self, now: Micros) -> Option<Deferred> {
        let waiting = self.deferred.take();
        match waiting {
            Some((action, since)) if now >= since + RESPONSE_LEAVES => Some(action),
            not_yet => {
                self.deferred.set(not_yet);
                None
            }
        }
    }

    pub(crate) fn rate(&self, port: u8) -> u32 {
        if port == self.links {
            self.host_baud
        } else {
            let own = self.link_rates.get(usize::from(port)).copied().filter(|rate| *rate > 0);
            own.unwrap_or(self.baud)
        }
    }

    /// The credentials of its links. The epoch is unique to this boot, and the number to this board.
    #[cfg(feature = "keys")]
    pub(crate) fn credentials(&self) -> Option<Credentials> {
        let mut random = [0; 16];
        random
            .iter_mut()
            .zip(self.board.unique_id)
            .for_each(|(byte, id)| *byte = id);
        self.keys.map(|keys| Credentials {
            secret: keys.mesh,
            random,
        })
    }

    /// None: a board that has keys stays alone.
    #[cfg(not(feature = "keys"))]
    pub(crate) fn credentials(&self) -> Option<Credentials> {
        None
    }

    pub(crate) fn unique_id(&self) -> &[u8; 12] {
        &self.board.unique_id
    }

    pub(crate) fn card(&self) -> BoardInfo {
        BoardInfo {
            name: self.name.clone(),
            program: text(PROGRAM),
            reset_cause: self.board.reset_cause,
            stack_free: self.stack_free.get(),
        }
    }

    pub(crate) fn status(&self, now: Micros) -> Status {
        Status {
            state: self.state,
            board: text(P::NAME),
            unique_id: self.board.unique_id,
            links: self.links,
            baud: self.baud,
            uptime_ms: now / 1_000,
            card: self.card(),
            fault: self.board.fault.clone().or_else(|| P::complaint().map(text)),
            on_trial: self.on_trial.get(),
        }
    }

    pub(crate) fn log(&self) {
        let fault = self.board.fault.as_ref().map(|text| text.as_str());
        if let Some(fault) = fault {
            log!(error, "before the restart: {}", fault);
        }
        if let Some(complaint) = P::complaint() {
            log!(warn, "{}", complaint);
        }
        if self.on_trial.get() {
            log!(warn, "the configuration is on trial");
        }
        if self.next_image.is_on_trial() {
            log!(warn, "the image is on trial");
        }
        match self.state {
            BoardState::Configured => {}
            state => log!(warn, "not part of a mesh: {}", state),
        }
    }
}

/// A text that is known to fit, or an empty one.
fn text<const N: usize, L: LenType>(text: &str) -> String<N, L> {
    String::try_from(text).unwrap_or_default()
}
