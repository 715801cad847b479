//! The DMA streams of F4 and H7 chips, once embassy has configured them.

use embassy_stm32::pac::common::{R, Reg, W};
use embassy_stm32::pac::dma::regs::Ixr;
use embassy_stm32::pac::dma::{Dma as Controller, St};

/// A stream.
#[derive(Clone, Copy)]
pub(crate) struct Dma {
    stream: St,
    status: Reg<Ixr, R>,
    clear: Reg<Ixr, W>,
    /// All of its flags.
    flags: Ixr,
}

impl Dma {
    #[inline(always)]
    pub(crate) fn new(controller: Controller, number: usize) -> Self {
        Dma {
            stream: controller.st(number),
            status: controller.isr(number / 4),
            clear: controller.ifcr(number / 4),
            flags: Ixr(0b11_1101 << [0, 6, 16, 22][number % 4]),
        }
    }

    /// How many bytes are still to be transferred. At 0 the stream is off.
    pub(super) fn remaining(self) -> usize {
        self.stream.ndtr().read().ndt().into()
    }

    /// Transfers the first bytes of the same memory again, once all have been.
    pub(super) fn restart(self, bytes: usize) {
        self.clear_flags();
        self.stream.ndtr().write(|w| w.set_ndt(bytes as u16));
        self.stream.cr().modify(|w| w.set_en(true));
    }

    /// How many halves of a ring have been filled since the last call, two at most.
    pub(super) fn take_halves(self) -> u32 {
        // TEIF, HTIF and TCIF: the lowest of all flags stands four places below the second.
        let half = (self.flags.0 & self.flags.0.wrapping_neg()) << 4;
        let status = self.status.read().0;
        // An error stops the stream.
        assert!(status & half >> 1 == 0, "DMA: error");
        let filled = status & (half | half << 1);
        self.clear.write_value(Ixr(filled));
        filled.count_ones()
    }

    pub(super) fn clear_flags(self) {
        self.clear.write_value(self.flags);
    }
}
