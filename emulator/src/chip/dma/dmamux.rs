//! The multiplexer of DMA requests: RM0440 chapter 13 (G4), RM0433 chapter 18 (H7). Any channel or stream gets the requests of any
//! peripheral. Synchronization and request generators are left out.

use super::super::peripheral::{Peripheral, load, store};
use super::super::pins::Side;
use crate::cpu::Cycles;

/// Channels of the multiplexer: the first half goes to DMA1, the second to DMA2.
const CHANNELS: usize = 16;

/// The numbers of the ports' requests, for each port that of receiving and that of sending; 0 for a port that the chip does not have.
pub(in crate::chip) type Requests = &'static [(u32, u32)];

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

    /// The serial port whose requests a channel gets, and on which side.
    pub(super) fn route(&self, channel: usize) -> Option<(usize, Side)> {
        let request = self.channels[channel] & 0x7f;
        let mut ports = (0..).zip(self.requests).filter(|_| request != 0);
        ports.find_map(|(uart, (receives, sends))| match request {
            _ if request == *receives => Some((uart, Side::Rx)),
            _ if request == *sends => Some((uart, Side::Tx)),
            _ => None,
        })
    }
}

impl Peripheral for DmaMux {
    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        store(&mut self.channels, offset, value);
    }

    fn rest(&self, offset: u32) -> u32 {
        load(&self.channels, offset)
    }

    fn reset(&mut self, _now: Cycles) {
        *self = DmaMux::new(self.requests);
    }
}
