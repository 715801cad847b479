//! The update of a board.

use core::cell::RefCell;

use hopwise_node::boot::Trial;
use hopwise_node::limits::BODY;
use hopwise_node::link::Micros;
use hopwise_node::signature::{Job, Owner, Signature};
use hopwise_node::store::FlashFailed;
use hopwise_node::update::{Flash, Update};
use hopwise_node::wire::{Body, CommandResult, UpdatePlan, UpdateState};

/// Time of one round of erases in microseconds. Where a sector takes one second, as most do, two are erased at once.
const A_WHILE: Micros = 1_250_000;

pub(crate) struct NextImage<F> {
    update: RefCell<Update>,
    images: RefCell<F>,
}

impl<F: Flash> NextImage<F> {
    pub(crate) fn new(images: F, owner: Option<Owner>) -> Self {
        NextImage {
            update: RefCell::new(Update::new(&images, owner)),
            images: RefCell::new(images),
        }
    }

    pub(crate) fn begin(&self, plan: UpdatePlan, signature: Option<&Signature>) -> CommandResult {
        let mut update = self.update.borrow_mut();
        update.begin(plan, signature, &*self.images.borrow())
    }

    /// Has the signature of an announcement verified, if there is one to be verified. `verify` returns nothing until it is done.
    pub(crate) fn verify(&self, verify: impl FnOnce(&Job) -> Option<bool>) {
        let mut update = self.update.borrow_mut();
        if let Some(is_valid) = update.job().and_then(verify) {
            update.finish_job(is_valid);
        }
    }

    /// The floor to be recorded before the announced image is tried.
    #[cfg(feature = "signed")]
    pub(crate) fn floor_to_try(&self) -> Option<u32> {
        self.update.borrow_mut().gate().floor_to_try()
    }

    /// Has the floor recorded that is in force once the running image is kept.
    #[cfg(feature = "signed")]
    pub(crate) fn raise_floor(&self, record: impl FnOnce(u32) -> Result<(), FlashFailed>) -> Result<(), FlashFailed> {
        let mut update = self.update.borrow_mut();
        let is_on_trial = update.is_on_trial();
        let gate = update.gate();
        if let Some(floor) = gate.floor_to_keep().filter(|_| is_on_trial) {
            record(floor)?;
            gate.raise(floor);
        }
        Ok(())
    }

    /// Whether the running image reverts to the previous one unless the host confirms it.
    pub(crate) fn is_on_trial(&self) -> bool {
        self.update.borrow().is_on_trial()
    }

    /// Whether the slot is still to be erased.
    pub(crate) fn is_making_room(&self) -> bool {
        self.update.borrow().is_making_room()
    }

    /// Erases for a while: at most that, plus the erase of a sector. `before_each` is called before each step.
    pub(crate) fn make_room(&self, now: impl Fn() -> Micros, mut before_each: impl FnMut()) {
        let mut update = self.update.borrow_mut();
        let end = now() + A_WHILE;
        while update.is_making_room() && now() < end {
            before_each();
            update.step(&mut *self.images.borrow_mut());
        }
    }

    /// Writes a piece of a block; `true` if that was the last.
    pub(crate) fn take(&self, block: &[u8]) -> bool {
        self.update.borrow_mut().take(block, &mut *self.images.borrow_mut())
    }

    /// The request for a neighbor, if blocks are missing and none has come for a while.
    pub(crate) fn look(&self) -> Option<[u8; 4]> {
        self.update.borrow_mut().look()
    }

    /// Processes a neighbor's response, and returns the next request.
    pub(crate) fn take_response(&self, block: &[u8]) -> Option<[u8; 4]> {
        let mut update = self.update.borrow_mut();
        update.take_response(block, &mut *self.images.borrow_mut())
    }

    /// A block that a neighbor requests.
    pub(crate) fn block(&self, id: u16, index: u16) -> Option<Body<BODY>> {
        self.update.borrow().block(id, index, &*self.images.borrow())
    }

    pub(crate) fn state(&self) -> Option<UpdateState> {
        Some(self.update.borrow().state(&*self.images.borrow()))
    }

    pub(crate) fn trial(&self, hash: &[u8]) -> Option<Trial> {
        self.update.borrow().trial(hash)
    }

    pub(crate) fn keep(&self) -> Result<(), FlashFailed> {
        self.update.borrow_mut().keep(&mut *self.images.borrow_mut())
    }
}
