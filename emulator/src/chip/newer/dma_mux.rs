//! The multiplexer of DMA requests: RM0440 chapter 13 (G4), RM0433 chapter 18 (H7). Any channel or stream gets the requests of any
//! peripheral. Synchronisation and request generators are left out.

use std::hash::{Hash, Hasher};

use super::super::peripheral::Peripheral;
use super::Route;
use crate::cpu::Cycles;

/// Channels of the multiplexer: the first half goes to DMA1, the second to DMA2.
const CHANNELS: usize = 16;

/// The numbers of the serial ports' requests, for each port that of receiving and that of sending.
pub(in crate::chip) type Requests = &'static [(u32, u32)];

/// DMAMUX1.
#[derive(Hash)]
pub(in crate::chip) struct DmaMux {
    requests: Requests,
    channels: [u32; CHANNELS],
}

impl DmaMux {
    pub(in crate::chip) fn new(requests: Requests) -> Self {
        DmaMux {
            requests,
            channels: [0; CHANNELS],
        }
    }

    /// Whose requests the channels of a controller get.
    pub(in crate::chip) fn routes(&self, controller: usize) -> [Option<Route>; CHANNELS / 2] {
        std::array::from_fn(|channel| self.route(self.channels[controller * CHANNELS / 2 + channel] & 0x7f))
    }

    fn route(&self, request: u32) -> Option<Route> {
        // 0 is no request, and stands in the list for ports that the chip does not have.
        (0..).zip(self.requests).find_map(|(uart, (receives, sends))| {
            if request == 0 {
                None
            } else if request == *receives {
                Some(Route::from(uart))
            } else if request == *sends {
                Some(Route::to(uart))
            } else {
                None
            }
        })
    }
}

impl Peripheral for DmaMux {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        self.rest(offset)
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        if let Some(channel) = self.channels.get_mut(offset as usize / 4) {
            *channel = value;
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        self.channels.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn reset(&mut self, _now: Cycles) {
        *self = DmaMux::new(self.requests);
    }

    fn beyond_model(&self) -> Option<&'static str> {
        let synchronised = self.channels.iter().any(|channel| channel & 1 << 16 != 0);
        synchronised.then_some("synchronisation of requests")
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}
