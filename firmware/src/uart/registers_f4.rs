//! Status and data registers of the serial ports of F4 chips.

use embassy_stm32::pac::usart::Usart;

/// The flags of the status register. Clears them if the line has fallen idle.
pub(super) fn take_flags(registers: Usart) -> u8 {
    let flags = registers.sr().read();
    if flags.idle() {
        // Reading the data register after the status clears all flags. The line has been quiet for a whole byte, so it
        // holds none that DMA has not fetched.
        registers.dr().read();
    }
    flags.0 as u8
}

/// Clears the flag of the last byte, which DMA does not.
pub(super) fn begin_to_send(registers: Usart) {
    registers.sr().write(|w| w.0 = !(1 << 6));
}

pub(super) fn has_sent_all(registers: Usart) -> bool {
    registers.sr().read().tc()
}

/// Where received bytes are.
pub(super) fn data_register(registers: Usart) -> *mut u8 {
    registers.dr().as_ptr().cast()
}

/// Where bytes to send go: the register has two sides.
pub(super) use data_register as send_register;
