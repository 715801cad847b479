//! What chips newer than the F4 have: L4, G4 and H7. Their serial ports are those of the F4 with other registers:
//! `usart::newer`.

pub(super) mod channel_dma;
pub(super) mod dma_mux;
pub(super) mod flash_h7;
pub(super) mod flash_l4_g4;
pub(super) mod power;
pub(super) mod rcc_h7;
pub(super) mod rcc_l4_g4;

use super::pins::Side;

/// The data registers of the serial ports, counted from their first address.
pub(super) const RDR: u32 = 0x24;
pub(super) const TDR: u32 = 0x28;

/// Whose request it is that a DMA channel serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Route {
    /// The serial port, as the chip numbers them.
    pub(super) uart: usize,
    /// Whether it has received something, or asks for something to send.
    pub(super) side: Side,
}

impl Route {
    pub(super) const fn from(uart: usize) -> Self {
        Route { uart, side: Side::Rx }
    }

    pub(super) const fn to(uart: usize) -> Self {
        Route { uart, side: Side::Tx }
    }
}
