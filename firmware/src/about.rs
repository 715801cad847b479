//! What a board knows about itself.

use core::cell::{Cell, RefCell};

use heapless::{LenType, String};
use hopwise_node::authority::Authority;
use hopwise_node::key::Credentials;
use hopwise_node::link::Micros;
use hopwise_node::store::Keys;
use hopwise_node::store::Start;
use hopwise_node::wire::{BoardState, Card, DEFAULT_BAUD, PAGE_BYTES, Page, Status};

use crate::boards::{self, ResetCause};
use crate::kept::{Boot, Trouble};
use crate::next_image::NextImage;

const PROGRAM: &str = concat!("hopwise ", env!("CARGO_PKG_VERSION"));

pub(crate) struct About {
    pub(crate) epoch: u32,
    pub(crate) state: BoardState,
    pub(crate) baud: u32,
    pub(crate) unique_id: [u8; 12],
    pub(crate) stack_free: Cell<u32>,
    /// The bytes of the configuration page.
    pub(crate) page: [u8; PAGE_BYTES],
    /// It goes back to the page before unless someone outside says that it is to be kept.
    pub(crate) on_trial: Cell<bool>,
    pub(crate) next_image: NextImage,
    name: String<16, u8>,
    reset_cause: ResetCause,
    trouble: Option<Trouble>,
    /// Of the mesh, if it has one. Nothing that leaves the board holds it.
    keys: Option<Keys>,
    /// Who may change the board, if it has keys.
    pub(crate) authority: Option<RefCell<Authority>>,
    /// Someone holds the button down.
    pub(crate) is_pressed: Cell<bool>,
    /// What is wrong with the board itself.
    pub(crate) complaint: Option<&'static str>,
}

impl About {
    pub(crate) fn new(
        boot: Boot,
        start: &Start,
        cause: ResetCause,
        unique_id: [u8; 12],
        state: BoardState,
        page: Option<&Page>,
    ) -> Self {
        About {
            epoch: start.epoch,
            state,
            baud: page.map_or(DEFAULT_BAUD, |page| page.baud),
            unique_id,
            stack_free: Cell::new(0),
            page: start.page.unwrap_or([0xff; PAGE_BYTES]),
            on_trial: Cell::new(start.on_trial),
            next_image: NextImage::new(),
            name: page.map(|page| page.name.clone()).unwrap_or_default(),
            reset_cause: cause,
            trouble: boot.trouble,
            keys: start.keys,
            authority: start
                .keys
                .map(|keys| RefCell::new(Authority::new(keys.management, start.epoch))),
            is_pressed: Cell::new(false),
            complaint: boards::complaint(),
        }
    }

    /// With what its links prove that it belongs to the mesh. No other start has its epoch, and no other board its number.
    pub(crate) fn credentials(&self) -> Option<Credentials> {
        let mut random = [0; 16];
        random.iter_mut().zip(self.unique_id).for_each(|(byte, id)| *byte = id);
        self.keys.map(|keys| Credentials {
            secret: keys.mesh,
            random,
        })
    }

    pub(crate) fn card(&self) -> Card {
        Card {
            name: self.name.clone(),
            program: text(PROGRAM),
            reset_cause: self.reset_cause as u8,
            stack_free: self.stack_free.get(),
        }
    }

    pub(crate) fn status(&self, now: Micros) -> Status {
        Status {
            state: self.state,
            board: text(boards::NAME),
            unique_id: self.unique_id,
            links: boards::LINKS as u8,
            baud: self.baud,
            uptime_ms: now / 1_000,
            card: self.card(),
            trouble: self.trouble.clone().or_else(|| self.complaint.map(text)),
            on_trial: self.on_trial.get(),
        }
    }

    pub(crate) fn log(&self) {
        let trouble = self.trouble.as_ref().map(|text| text.as_str());
        defmt::info!(
            "{} on {}, epoch {}, started by {}",
            PROGRAM,
            boards::NAME,
            self.epoch,
            self.reset_cause
        );
        if let Some(trouble) = trouble {
            defmt::error!("before the restart: {}", trouble);
        }
        if let Some(complaint) = self.complaint {
            defmt::warn!("{}", complaint);
        }
        if self.on_trial.get() {
            defmt::warn!("the configuration is on trial");
        }
        if self.next_image.on_trial.get() {
            defmt::warn!("the image is on trial");
        }
        match self.state {
            BoardState::Configured => {}
            state => defmt::warn!("not part of a mesh: {}", state),
        }
    }
}

/// A text that is known to fit, or none.
fn text<const N: usize, L: LenType>(text: &str) -> String<N, L> {
    String::try_from(text).unwrap_or_default()
}
