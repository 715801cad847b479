//! What a board knows about itself.

use core::cell::{Cell, RefCell};

use heapless::{LenType, String};
use hopwise_node::authority::Authority;
use hopwise_node::key::Credentials;
use hopwise_node::link::Micros;
#[cfg(feature = "keys")]
use hopwise_node::store::Keys;
use hopwise_node::store::Start;
use hopwise_node::wire::{BoardConfig, BoardInfo, BoardState, CONFIG_BYTES, DEFAULT_BAUD, Status};

use crate::next_image::NextImage;
use crate::platform::Platform;

/// The program, as it is told to whoever asks.
pub const PROGRAM: &str = concat!("hopwise ", env!("CARGO_PKG_VERSION"));

/// What went wrong, in words.
pub type Trouble = String<72>;

/// What a shell knows of its board when it starts.
#[derive(Clone, Debug, Default)]
pub struct Board {
    /// The number of its chip, or whatever no other board has.
    pub unique_id: [u8; 12],
    /// Why it has started: [`BoardInfo::reset_cause`].
    pub reset_cause: u8,
    /// What made it restart, if it was a panic, a fault or something that hung.
    pub trouble: Option<Trouble>,
    /// It has crashed several times soon after its start, so it leaves its configuration alone.
    pub crashes_again: bool,
    /// What is wrong with the board itself.
    pub complaint: Option<&'static str>,
}

pub(crate) struct About<P: Platform> {
    pub(crate) epoch: u32,
    pub(crate) state: BoardState,
    pub(crate) baud: u32,
    /// Those to neighbors.
    pub(crate) links: u8,
    board: Board,
    pub(crate) stack_free: Cell<u32>,
    /// The bytes of the configuration page.
    pub(crate) page: [u8; CONFIG_BYTES],
    /// It goes back to the page before unless someone outside says that it is to be kept.
    pub(crate) on_trial: Cell<bool>,
    pub(crate) next_image: NextImage<P::Images>,
    name: String<16, u8>,
    /// Of the mesh, if it has one. Nothing that leaves the board holds it.
    #[cfg(feature = "keys")]
    keys: Option<Keys>,
    /// Who may change the board, if it has keys.
    pub(crate) authority: Option<RefCell<Authority>>,
    /// Someone holds the button down.
    pub(crate) is_pressed: Cell<bool>,
}

impl<P: Platform> About<P> {
    pub(crate) fn new(
        board: Board,
        links: u8,
        images: P::Images,
        start: &Start,
        state: BoardState,
        page: Option<&BoardConfig>,
    ) -> Self {
        About {
            epoch: start.epoch,
            state,
            baud: page.map_or(DEFAULT_BAUD, |page| page.baud),
            links,
            board,
            stack_free: Cell::new(0),
            page: start.page.unwrap_or([0xff; CONFIG_BYTES]),
            on_trial: Cell::new(start.on_trial),
            next_image: NextImage::new(images),
            name: page.map(|page| page.name.clone()).unwrap_or_default(),
            #[cfg(feature = "keys")]
            keys: start.keys,
            #[cfg(feature = "keys")]
            authority: start
                .keys
                .map(|keys| RefCell::new(Authority::new(keys.management, start.epoch))),
            #[cfg(not(feature = "keys"))]
            authority: None,
            is_pressed: Cell::new(false),
        }
    }

    /// With what its links prove that it belongs to the mesh. No other start has its epoch, and no other board its number.
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
            trouble: self.board.trouble.clone().or_else(|| self.complaint().map(text)),
            on_trial: self.on_trial.get(),
        }
    }

    /// What is wrong with the board itself.
    pub(crate) fn complaint(&self) -> Option<&'static str> {
        self.board.complaint
    }

    pub(crate) fn log(&self) {
        let trouble = self.board.trouble.as_ref().map(|text| text.as_str());
        if let Some(trouble) = trouble {
            log!(error, "before the restart: {}", trouble);
        }
        if let Some(complaint) = self.complaint() {
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

/// A text that is known to fit, or none.
fn text<const N: usize, L: LenType>(text: &str) -> String<N, L> {
    String::try_from(text).unwrap_or_default()
}
