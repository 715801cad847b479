//! The DMA channels of G4 and L4 chips, once embassy has configured them.

use embassy_stm32::pac::bdma::regs::Isr;
use embassy_stm32::pac::bdma::{Ch, Dma as Controller};
use embassy_stm32::pac::common::{R, Reg, W};

/// A channel.
#[derive(Clone, Copy)]
pub(crate) struct Dma {
    channel: Ch,
    status: Reg<Isr, R>,
    clear: Reg<Isr, W>,
    /// The flag that clears all of its flags.
    flags: Isr,
}

impl Dma {
    /// A channel of a controller, from 0.
    #[inline(always)]
    pub(crate) fn new(controller: Controller, number: usize) -> Self {
        Dma {
            channel: controller.ch(number),
            status: controller.isr(),
            clear: controller.ifcr(),
            flags: Isr(1 << (4 * number)),
        }
    }

    /// How many bytes are still to be transferred.
    pub(super) fn remaining(self) -> usize {
        self.channel.ndtr().read().ndt().into()
    }

    /// Transfers the first bytes of the same memory again, once all have been.
    pub(super) fn restart(self, bytes: usize) {
        // It stays on at the end, and takes a new length only while it is off.
        self.channel.cr().modify(|w| w.set_en(false));
        self.clear_flags();
        self.channel.ndtr().write(|w| w.set_ndt(bytes as u16));
        self.channel.cr().modify(|w| w.set_en(true));
    }

    /// How many halves of a ring have been filled since the last call, two at most.
    pub(super) fn take_halves(self) -> u32 {
        let status = self.status.read().0;
        // TEIF: an error stops the channel.
        assert!(status & self.flags.0 << 3 == 0, "DMA: error");
        // TCIF and HTIF. The flag of all would also clear what comes meanwhile.
        let filled = status & (self.flags.0 << 1 | self.flags.0 << 2);
        self.clear.write_value(Isr(filled));
        filled.count_ones()
    }

    pub(super) fn clear_flags(self) {
        self.clear.write_value(self.flags);
    }
}
