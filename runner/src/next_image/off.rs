//! The substitute without update: every image is refused.

use core::marker::PhantomData;

use hopwise_node::boot::Trial;
use hopwise_node::limits::BODY;
use hopwise_node::link::Micros;
use hopwise_node::signature::{Job, Owner, Signature};
use hopwise_node::store::FlashFailed;
use hopwise_node::wire::{Body, CommandResult, UpdatePlan, UpdateState};

pub(crate) struct NextImage<F>(PhantomData<F>);

impl<F> NextImage<F> {
    pub(crate) fn new(_: F, _: Option<Owner>) -> Self {
        NextImage(PhantomData)
    }

    pub(crate) fn begin(&self, _: UpdatePlan, _: Option<&Signature>) -> CommandResult {
        CommandResult::Unknown
    }

    pub(crate) fn verify(&self, _: impl FnOnce(&Job) -> Option<bool>) {}

    pub(crate) fn is_on_trial(&self) -> bool {
        false
    }

    pub(crate) fn is_making_room(&self) -> bool {
        false
    }

    pub(crate) fn make_room(&self, _: impl Fn() -> Micros, _: impl FnMut()) {}

    pub(crate) fn take(&self, _: &[u8]) -> bool {
        true
    }

    pub(crate) fn look(&self) -> Option<[u8; 4]> {
        None
    }

    pub(crate) fn take_response(&self, _: &[u8]) -> Option<[u8; 4]> {
        None
    }

    pub(crate) fn block(&self, _: u16, _: u16) -> Option<Body<BODY>> {
        None
    }

    pub(crate) fn state(&self) -> Option<UpdateState> {
        None
    }

    pub(crate) fn trial(&self, _: &[u8]) -> Option<Trial> {
        None
    }

    pub(crate) fn keep(&self) -> Result<(), FlashFailed> {
        Ok(())
    }
}
