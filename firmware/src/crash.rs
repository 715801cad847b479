//! Panics, hard faults and overflows of the stack: each is kept in words, and the board restarts.

use core::arch::naked_asm;
use core::fmt::Write;
use core::panic::PanicInfo;
use core::ptr::addr_of;

use cortex_m::peripheral::SCB;
use cortex_m_rt::ExceptionFrame;
#[cfg(any(chip_g4, chip_l4))]
use cortex_m_rt::exception;
use hopwise_runner::FaultText;

use crate::retained_ram::restart_with;
use crate::stack::_stack_end;

/// Keeps the place, then as much of the message as there is room for.
///
/// The place is the true one because every panic is one of `core`: those of defmt, which embassy uses when its feature
/// `defmt` is on, come here without one.
#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    cortex_m::interrupt::disable();
    let mut fault = FaultText::new();
    let _ = fault.push_str("panic");
    if let Some(place) = info.location() {
        // The end of the path says more than its beginning.
        let path = place.file();
        let name = path.bytes().rposition(|byte| byte == b'/').map_or(0, |at| at + 1);
        let _ = write!(fault, " {}:{}", path.get(name..).unwrap_or_default(), place.line());
    }
    let _ = write!(fault, ": {}", info.message());
    restart_with(&fault)
}

/// The handler of hard faults, in the place of the one of `cortex-m-rt`: where the stack has run over its end there is none to call a
/// function with, so it begins anew.
#[unsafe(naked)]
// SAFETY: the name is the one that the vector table of `cortex-m-rt` has.
#[unsafe(no_mangle)]
unsafe extern "C" fn HardFault() -> ! {
    naked_asm!(
        "mov r0, sp",
        "movw r1, #:lower16:_stack_end",
        "movt r1, #:upper16:_stack_end",
        "cmp r0, r1",
        "bhs {fault}",
        "movw r1, #:lower16:_stack_start",
        "movt r1, #:upper16:_stack_start",
        "mov sp, r1",
        "b {fault}",
        fault = sym fault,
    )
}

/// Keeps where the fault was: the address of the instruction, of its caller, and the fault status register.
unsafe extern "C" fn fault(stack: *const ExceptionFrame) -> ! {
    let mut fault = FaultText::new();
    if (stack as usize) < addr_of!(_stack_end) as usize {
        let _ = fault.push_str("stack overflow");
        restart_with(&fault);
    }
    // SAFETY: the core has put the frame onto the stack, which is whole. Reading the register changes nothing.
    let (frame, status) = unsafe { (&*stack, (*SCB::PTR).cfsr.read()) };
    let _ = write!(
        fault,
        "fault at {:x} from {:x} cfsr {:x}",
        frame.pc(),
        frame.lr(),
        status
    );
    restart_with(&fault)
}

/// L4 and G4 tell by it of a double word of the flash that they cannot correct: a reset cut its programming off. What was read is wrong,
/// and its checksum tells so. Without a handler the board would hang here at every start, until the watchdog restarts it.
// SAFETY: `cortex-m-rt` calls it as the exception's handler.
#[cfg(any(chip_g4, chip_l4))]
#[exception]
unsafe fn NonMaskableInt() {
    // ECCD: a one clears it.
    embassy_stm32::pac::FLASH.eccr().modify(|w| w.0 |= 1 << 31);
}
