//! Status and data registers of the serial ports of chips newer than the F4.

use embassy_stm32::pac::usart::Usart;

/// The flags of the status register. Clears them: an overrun would stop the receiver for good.
pub(super) fn take_flags(registers: Usart) -> u8 {
    let flags = registers.isr().read();
    registers.icr().write(|w| {
        w.set_idle(true);
        w.set_ore(true);
        w.set_fe(true);
        w.set_ne(true);
    });
    flags.0 as u8
}

/// The flag of the last byte is cleared by the next.
pub(super) fn begin_to_send(_: Usart) {}

pub(super) fn has_sent_all(registers: Usart) -> bool {
    registers.isr().read().tc()
}

/// Where received bytes are.
pub(super) fn data_register(registers: Usart) -> *mut u8 {
    registers.rdr().as_ptr().cast()
}

/// Where bytes to send go.
pub(super) fn send_register(registers: Usart) -> *mut u8 {
    registers.tdr().as_ptr().cast()
}
