//! What chips newer than the F4 have: L4, G4 and H7. Their serial ports are those of the F4 with other registers:
//! `usart::newer`.

pub(super) mod channel_dma;
pub(super) mod dma_mux;
pub(super) mod flash_h7;
pub(super) mod flash_l4_g4;
pub(super) mod power;
pub(super) mod rcc_h7;
pub(super) mod rcc_l4_g4;

/// Whose request it is that a DMA channel serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Route {
    /// The serial port, as the chip numbers them.
    pub(super) uart: usize,
    /// Whether it asks for something to send, or has received something.
    pub(super) sends: bool,
}

impl Route {
    pub(super) const fn from(uart: usize) -> Self {
        Route { uart, sends: false }
    }

    pub(super) const fn to(uart: usize) -> Self {
        Route { uart, sends: true }
    }
}
