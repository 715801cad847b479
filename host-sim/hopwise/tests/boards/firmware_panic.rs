//! A panic is kept over the reset with its true place.

use hopwise_emulator::cpu::Bus;
use hopwise_emulator::time::MILLISECOND;
use hopwise_host::talk::BoardRequest;
use hopwise_node::wire::Query;

use crate::firmware_support::Rig;

/// Control register and memory address of DMA1 stream 5, which stores what USART2 receives from the host.
const CONTROL: u32 = 0x4002_6088;
const MEMORY_ADDRESS: u32 = 0x4002_6094;
/// Clears the flags of that stream.
const CLEAR: (u32, u32) = (0x4002_600c, 0x3d << 6);
/// The F446 has no core-coupled memory.
const NO_MEMORY: u32 = 0x1000_0000;

#[test]
fn a_panic_is_reported_with_its_file_line_and_message() {
    let Some(mut rig) = Rig::configured() else { return };
    rig.run_for(100 * MILLISECOND);
    rig.log();
    // The next byte cannot be stored: a transfer error, at which the interrupt handler panics.
    let cpu = &mut rig.world.boards_mut()[0].cpu;
    let control = cpu.bus.read(CONTROL, 4, cpu.now, &mut cpu.memory).expect("a register");
    // The address of a stream is fixed while it is on.
    for (register, value) in [
        (CONTROL, control & !1),
        CLEAR,
        (MEMORY_ADDRESS, NO_MEMORY),
        (CONTROL, control),
    ] {
        let written = cpu.bus.write(register, 4, value, cpu.now, &mut cpu.memory);
        assert_eq!(written, Some(()));
    }
    rig.ask(&[BoardRequest::new(0, 0, Query::Ping)]);
    rig.run_for(100 * MILLISECOND);
    assert_eq!(rig.world.boards()[0].resets(), 1);
    let lines = rig.log_texts();
    let fault = lines.iter().find_map(|line| line.strip_prefix("before the restart: "));
    let fault = fault.unwrap_or_else(|| panic!("{lines:?}"));
    let place_and_message = fault
        .strip_prefix("panic dma_stream.rs:")
        .and_then(|rest| rest.split_once(": "));
    let (line, message) = place_and_message.unwrap_or_else(|| panic!("{fault}"));
    assert!(line.parse::<u32>().is_ok(), "{fault}");
    assert_eq!(message, "DMA: error");
    assert_eq!(rig.status(0).fault.as_deref(), Some(fault));
}
