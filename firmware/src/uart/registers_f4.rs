//! Status and data registers of the serial ports of F4 chips.

use embassy_stm32::pac::usart::Usart;

/// Whether the line has fallen idle since the last call. Clears errors too.
pub(super) fn take_idle(registers: Usart) -> bool {
    let idle = registers.sr().read().idle();
    if idle {
        // Reading the data register after the status clears all flags. The line has been quiet for a whole byte, so it
        // holds none that DMA has not fetched.
        registers.dr().read();
    }
    idle
}

/// Where received bytes are.
pub(super) fn data_register(registers: Usart) -> *mut u8 {
    registers.dr().as_ptr().cast()
}
