//! The substitute without a clock: no signal is sent, received ones are ignored, and there is no time.

use core::marker::PhantomData;

use super::{ClockTicks, MeshTime, Tidings};
use crate::link::Micros;
use crate::wire::TimeSignal;
use hopwise_core::Node;

static UNKNOWN: MeshTime = MeshTime::UNKNOWN;

#[derive(Clone, Debug)]
pub(crate) struct MeshClock<C>(PhantomData<C>);

impl<C> MeshClock<C> {
    pub(crate) fn new(_: Node, _: u32, _: Micros) -> Self {
        MeshClock(PhantomData)
    }

    pub(crate) fn time(&self) -> &MeshTime {
        &UNKNOWN
    }

    pub(crate) fn deadline(&self) -> Micros {
        Micros::MAX
    }

    pub(crate) fn take_speech(&mut self) -> bool {
        false
    }

    pub(crate) fn take_tidings(&mut self, _: Micros) -> Option<Tidings> {
        None
    }

    pub(crate) fn link_up(&mut self, _: u8, _: Micros) {}

    pub(crate) fn link_down(&mut self, _: u8) {}

    pub(crate) fn tick(&mut self, _: Micros) {}

    pub(crate) fn hear(&mut self, _: u8, _: &TimeSignal, _: Option<ClockTicks>, _: u64, _: Micros) {}

    pub(crate) fn signal(&mut self, _: u8, _: Micros) -> Option<TimeSignal> {
        None
    }

    pub(crate) fn awaits_start(&self, _: u8) -> bool {
        false
    }

    pub(crate) fn left(&mut self, _: u8, _: ClockTicks) {}
}
