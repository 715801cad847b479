//! Small programs on the core alone: exceptions, faults, waiting, and what only a running core shows.

mod instructions;

use std::sync::Arc;

use super::fault::Fault;
use super::{Bus, Cpu, Cycles, InterruptLines, NEVER, Sleep, Stop};
use crate::chip::Model;
use crate::image::Image;
use crate::memory::{FLASH, Memory, SRAM};

/// Interrupt lines that a test pulls, one register at 0x4000_0000, and how long the core stands still after a write.
#[derive(Default)]
pub(super) struct Pins {
    lines: InterruptLines,
    register: u32,
    stall: Cycles,
    /// A write to the register ends all requests.
    clears: bool,
}

impl Bus for Pins {
    fn read(&mut self, address: u32, _: u32, _: Cycles, _: &mut Memory) -> Option<u32> {
        (address & !3 == 0x4000_0000).then_some(self.register >> (8 * (address & 3)))
    }
    fn write(&mut self, address: u32, bytes: u32, value: u32, _: Cycles, _: &mut Memory) -> Option<()> {
        if self.clears {
            self.lines = 0;
        }
        let shift = 8 * (address & 3);
        let of_part = ((1_u64 << (8 * bytes)) - 1) as u32;
        let mask = if bytes == 4 { u32::MAX } else { of_part << shift };
        self.register = self.register & !mask | value << shift & mask;
        (address & !3 == 0x4000_0000).then_some(())
    }
    fn poll(&mut self, _: Cycles, _: &mut Memory) -> Cycles {
        NEVER
    }
    fn interrupt_lines(&self) -> InterruptLines {
        self.lines
    }
    fn take_stall(&mut self) -> Cycles {
        std::mem::take(&mut self.stall)
    }
}

/// Where the handlers are: 64 bytes for each exception from here on.
const HANDLERS: usize = 0x1000;
const CODE: usize = 0x400;

/// A core with `code` and a handler for some exceptions; every other handler is a branch to itself.
fn core(code: &[u16], handlers: &[(usize, &[u16])]) -> Cpu<Pins> {
    let mut flash = vec![0u8; HANDLERS + 64 * 64];
    let mut put = |at: usize, halves: &[u16]| {
        for (place, half) in halves.iter().enumerate() {
            flash[at + place * 2..at + place * 2 + 2].copy_from_slice(&half.to_le_bytes());
        }
    };
    for exception in 2..64 {
        let address = (FLASH as usize + HANDLERS + exception * 64) | 1;
        put(exception * 4, &[address as u16, (address >> 16) as u16]);
        let handler = handlers.iter().find(|(number, _)| *number == exception);
        put(HANDLERS + exception * 64, handler.map_or(&[0xe7fe], |(_, code)| code));
    }
    let reset = (FLASH as usize + CODE) | 1;
    put(0, &[0x8000, 0x2000, reset as u16, (reset >> 16) as u16]);
    put(CODE, code);
    put(CODE + code.len() * 2, &[0xe7fe]);
    let image = Arc::new(Image::from_bytes(flash));
    let mut cpu = Cpu::new(Memory::new(Model::F446.memory(), image), Pins::default());
    cpu.scs.vtor = FLASH;
    cpu
}

/// `bx lr`.
const RETURN: u16 = 0x4770;

fn enable(cpu: &mut Cpu<Pins>, interrupt: usize, priority: u8) {
    cpu.nvic.write(interrupt as u32 / 32 * 4, 1 << (interrupt % 32));
    cpu.nvic.set_priority(16 + interrupt, priority);
}

#[test]
fn an_interrupt_saves_and_restores_everything() {
    // The handler: movs r0, #1 ... movs r3, #4; bx lr.
    let handler: &[u16] = &[0x2001, 0x2102, 0x2203, 0x2304, RETURN];
    let mut cpu = core(&[0xbf00, 0xbf00, 0xbf00, 0xbf00], &[(16, handler)]);
    for register in 0..13 {
        cpu.r[register] = 0x100 + register as u32;
    }
    cpu.set_xpsr_flags(0xa80f_0000);
    enable(&mut cpu, 0, 0);
    cpu.step();
    let (before, xpsr, next) = (cpu.r, cpu.xpsr(), cpu.next);
    cpu.bus.lines = 1;
    cpu.step();
    let found = (cpu.exception(), cpu.r[14], cpu.r[13]);
    assert_eq!(found, (16, 0xffff_fff9, before[13] - 0x20));
    cpu.bus.lines = 0;
    while cpu.exception() != 0 {
        cpu.step();
    }
    let found = (cpu.r[..15].to_vec(), cpu.xpsr(), cpu.next);
    assert_eq!(found, (before[..15].to_vec(), xpsr, next));
    assert_eq!(cpu.exceptions, 1);
}

/// What a handler writes last is on its way while it returns, so it begins once more; a barrier or a read waits for it.
#[test]
fn a_request_that_is_cleared_last_is_served_twice() {
    // str r1, [r0]; then nothing, dsb, or ldr r2, [r0]; then bx lr.
    let cases: [(&[u16], u64); 3] = [
        (&[0x6001, RETURN], 2),
        (&[0x6001, 0xf3bf, 0x8f4f, RETURN], 1),
        (&[0x6001, 0x6802, RETURN], 1),
    ];
    for (handler, times) in cases {
        let mut cpu = core(&[0xbf00; 8], &[(16, handler)]);
        (cpu.r[0], cpu.bus.lines, cpu.bus.clears) = (0x4000_0000, 1, true);
        enable(&mut cpu, 0, 0);
        cpu.run_until(200);
        assert_eq!((cpu.exceptions, cpu.exception()), (times, 0), "{handler:x?}");
    }
}

#[test]
fn late_interrupts_come_within_their_bound() {
    const BOUND: Cycles = 60;
    let entered = |seed, bound| {
        let mut cpu = core(&[0xbf00; 100], &[]);
        cpu.delay_interrupts(seed, bound);
        cpu.bus.lines = 1;
        enable(&mut cpu, 0, 0);
        while cpu.exceptions == 0 {
            cpu.step();
        }
        cpu.now
    };
    let at_once = entered(0, 0);
    let times: std::collections::BTreeSet<Cycles> = (0..50).map(|seed| entered(seed, BOUND) - at_once).collect();
    assert!(times.len() > 20 && times.iter().all(|late| *late <= BOUND), "{times:?}");
}

#[test]
fn a_more_urgent_interrupt_preempts_and_a_less_urgent_one_is_chained() {
    // Interrupt 1, more urgent, waits for what ends its request: dsb.
    let mut cpu = core(
        &[0xbf00; 8],
        &[
            (16, &[0xbf00, 0xbf00, RETURN]),
            (17, &[0xf3bf, 0x8f4f, RETURN]),
            (18, &[RETURN]),
        ],
    );
    for (interrupt, priority) in [(0, 0x80), (1, 0x40), (2, 0x80)] {
        enable(&mut cpu, interrupt, priority);
    }
    cpu.bus.lines = 1;
    cpu.step();
    assert_eq!(cpu.exception(), 16);
    cpu.bus.lines = 0b110;
    cpu.step();
    let found = (cpu.exception(), cpu.r[14]);
    assert_eq!(found, (17, 0xffff_fff1), "from a handler to a handler");
    cpu.bus.lines = 0b100;
    while cpu.exception() == 17 {
        cpu.step();
    }
    assert_eq!(cpu.exception(), 16, "the one of equal priority has to wait");
    let (stack, registers) = (cpu.r[13], cpu.r[0]);
    cpu.bus.lines = 0b100;
    while cpu.exception() == 16 {
        cpu.step();
    }
    let found = (cpu.exception(), cpu.r[13], cpu.r[14]);
    assert_eq!(found, (18, stack, 0xffff_fff9), "tail-chained: no unstacking");
    assert_eq!((cpu.r[0], cpu.exceptions), (registers, 3));
}

#[test]
fn masks_hold_interrupts_back() {
    let mut cpu = core(&[0xbf00; 8], &[(16, &[RETURN])]);
    enable(&mut cpu, 0, 0x50);
    cpu.bus.lines = 1;
    for (primask, basepri, faultmask) in [(true, 0, false), (false, 0x50, false), (false, 0, true)] {
        (cpu.primask, cpu.basepri, cpu.faultmask) = (primask, basepri, faultmask);
        cpu.step();
        assert_eq!(cpu.exception(), 0);
    }
    (cpu.primask, cpu.basepri, cpu.faultmask) = (false, 0x60, false);
    cpu.step();
    assert_eq!(cpu.exception(), 16);
}

#[test]
fn wfi_sleeps_until_an_interrupt_even_a_masked_one() {
    let mut cpu = core(&[0xb672, 0xbf30, 0x2007], &[]); // cpsid i; wfi; movs r0, #7
    enable(&mut cpu, 0, 0);
    assert_eq!(cpu.run_until(1000), Stop::Time);
    assert_eq!((cpu.sleep, cpu.now, cpu.instructions), (Sleep::ForInterrupt, 1000, 2));
    cpu.bus.lines = 1;
    cpu.run_until(1010);
    let found = (cpu.exception(), cpu.r[0]);
    assert_eq!(found, (0, 7), "awake, but the handler has to wait");
}

#[test]
fn wfe_takes_the_event_register_first() {
    let mut cpu = core(&[0xbf40, 0xbf20, 0x2001, 0xbf20, 0x2002], &[]); // sev; wfe; movs r0, #1; wfe; movs r0, #2
    cpu.run_until(1000);
    assert_eq!((cpu.sleep, cpu.r[0]), (Sleep::ForEvent, 1));
}

#[test]
fn a_bus_fault_is_ignored_only_with_faultmask_and_bfhfnmign() {
    for (faultmask, ccr, goes_on) in [(true, 1 << 8, true), (false, 1 << 8, false), (true, 0, false)] {
        let mut cpu = core(&[0x6801, 0x2207, 0xe7fe], &[]); // ldr r1, [r0]; movs r2, #7; b .
        cpu.r[0] = 0x5000_0000;
        (cpu.faultmask, cpu.scs.ccr) = (faultmask, cpu.scs.ccr | ccr);
        cpu.run_until(100);
        assert_eq!(cpu.r[2] == 7, goes_on, "{faultmask} {ccr:#x}");
        assert_eq!((cpu.scs.cfsr, cpu.scs.bfar), (1 << 15 | 1 << 9, 0x5000_0000));
        assert_eq!(cpu.faults.is_empty(), goes_on);
    }
}

#[test]
fn faults_escalate_and_a_fault_in_a_fault_handler_locks_up() {
    // udf: as a usage fault if that is enabled, else as a hard fault.
    let mut cpu = core(&[0xde00], &[]);
    cpu.run_until(100);
    assert_eq!((cpu.exception(), cpu.scs.hfsr, cpu.scs.cfsr), (3, 1 << 30, 1 << 16));
    let found = (cpu.faults.len(), cpu.faults[0].fault, cpu.faults[0].locked_up);
    assert_eq!(found, (1, Fault::Undefined, false));
    assert_eq!(cpu.faults[0].instruction, "UDF T1");
    let mut cpu = core(&[0xde00], &[]);
    cpu.scs.shcsr = 1 << 18;
    cpu.run_until(100);
    assert_eq!((cpu.exception(), cpu.scs.hfsr), (6, 0));
    let mut cpu = core(&[0xde00], &[(3, &[0xde00])]);
    cpu.run_until(100);
    assert_eq!((cpu.sleep, cpu.fault_count), (Sleep::LockedUp, 2));
    assert!(cpu.faults[1].locked_up);
}

/// The stack has run over the beginning of RAM: the handler is entered without a frame, and may begin a stack of its own.
#[test]
fn a_hard_fault_without_a_stack_reaches_its_handler() {
    // The handler: mov r0, sp.
    let mut cpu = core(&[0xb401], &[(3, &[0x4668])]); // push {r0}
    cpu.r[13] = SRAM;
    cpu.run_until(100);
    assert_eq!((cpu.exception(), cpu.sleep), (3, Sleep::Awake));
    assert_eq!(cpu.r[0], SRAM - 0x20);
    assert_eq!((cpu.faults.len(), cpu.faults[0].fault), (1, Fault::DataBus(SRAM - 4)));
    // A handler that pushes something locks up.
    let mut cpu = core(&[0xb401], &[(3, &[0xb401])]);
    cpu.r[13] = SRAM;
    cpu.run_until(100);
    assert_eq!((cpu.sleep, cpu.fault_count), (Sleep::LockedUp, 2));
}

#[test]
fn each_way_to_fail_has_its_bit() {
    for (code, set_up, fault, cfsr) in [
        (vec![0x6801], 0x9000_0000, Fault::DataBus(0x9000_0000), 1 << 15 | 1 << 9), // ldr r1, [r0]
        (vec![0x4700], 0x0800_0400, Fault::InvalidState, 1 << 17),                  // bx r0
        (vec![0x4700], 0x4000_0001, Fault::ExecuteNever(0x4000_0000), 1),
        (vec![0x4700], 0x3000_0001, Fault::InstructionBus(0x3000_0000), 1 << 8),
        (vec![0xe850, 0x1f00], SRAM + 1, Fault::Unaligned(SRAM + 1), 1 << 24), // ldrex r1, [r0]
        (vec![0xee30, 0x0a00], 0, Fault::NoCoprocessor, 1 << 19),              // vadd.f32
    ] {
        let mut cpu = core(&code, &[]);
        cpu.r[0] = set_up;
        cpu.run_until(200);
        let found = (cpu.faults.first().map(|report| report.fault), cpu.scs.cfsr);
        assert_eq!(found, (Some(fault), cfsr), "{code:04x?}");
    }
}

#[test]
fn division_by_zero_is_zero_unless_it_is_trapped() {
    let code = [0xfbb0, 0xf2f1]; // udiv r2, r0, r1
    let mut cpu = core(&code, &[]);
    (cpu.r[0], cpu.r[2]) = (5, 9);
    cpu.step();
    assert_eq!((cpu.r[2], cpu.fault_count), (0, 0));
    let mut cpu = core(&code, &[]);
    (cpu.r[2], cpu.scs.ccr) = (9, super::scs::DIV_0_TRP);
    cpu.step();
    assert_eq!((cpu.r[2], cpu.faults[0].fault), (9, Fault::DivideByZero));
}

#[test]
fn a_load_that_fails_changes_nothing() {
    let mut cpu = core(&[0xe8b0, 0x000e], &[]); // ldmia r0!, {r1, r2, r3}, the last beyond the RAM
    let end = SRAM + 128 * 1024;
    (cpu.r[0], cpu.r[1]) = (end - 8, 77);
    cpu.step();
    let found = (cpu.r[0], cpu.r[1], cpu.faults[0].fault);
    assert_eq!(found, (end - 8, 77, Fault::DataBus(end)));
}

#[test]
fn bit_band_words_are_bits() {
    // str r1, [r0]: bit 13 of the word at SRAM + 4, then bit 9 of the register.
    let mut cpu = core(&[0x6001, 0x6013, 0x6804], &[]);
    (cpu.r[0], cpu.r[1]) = (0x2200_0000 + 5 * 32 + 5 * 4, 1);
    (cpu.r[2], cpu.r[3]) = (0x4200_0000 + 32 + 4, 0xffff_ffff);
    for _ in 0..3 {
        cpu.step();
    }
    assert_eq!(&cpu.memory.sram[4..8], &[0, 1 << 5, 0, 0]);
    assert_eq!((cpu.bus.register, cpu.r[4]), (1 << 9, 1));
}

#[test]
fn while_the_flash_is_busy_time_goes_on_and_the_core_does_not() {
    let mut cpu = core(&[0x6001, 0x2107], &[]); // str r1, [r0]; movs r1, #7
    (cpu.r[0], cpu.bus.stall) = (0x4000_0000, 1000);
    cpu.run_until(500);
    assert_eq!((cpu.instructions, cpu.now, cpu.next_activity()), (1, 500, 1002));
    // An interrupt has to wait, too.
    enable(&mut cpu, 0, 0);
    cpu.bus.lines = 1;
    cpu.run_until(1002);
    assert_eq!((cpu.instructions, cpu.exception()), (1, 0));
    cpu.run_until(1015);
    assert_eq!(cpu.exception(), 16);
}

#[test]
fn the_cycle_counter_counts_when_it_is_on() {
    let mut cpu = core(&[0xbf00; 100], &[]);
    cpu.write_system(0xe000_edfc, 4, 1 << 24);
    cpu.write_system(0xe000_1004, 4, 0);
    cpu.run_until(10);
    assert_eq!(cpu.read_system(0xe000_1004), 0);
    cpu.write_system(0xe000_1000, 4, 1);
    cpu.run_until(60);
    assert_eq!(cpu.read_system(0xe000_1004), 50);
}

#[test]
fn a_write_to_aircr_asks_for_a_reset() {
    let mut cpu = core(&[0xbf00; 4], &[]);
    cpu.write_system(0xe000_ed0c, 4, 0x1234_0004);
    assert_eq!(cpu.run_until(2), Stop::Time, "without the key nothing happens");
    cpu.write_system(0xe000_ed0c, 4, 0x05fa_0004);
    assert_eq!(cpu.run_until(10), Stop::Reset);
    cpu.reset();
    assert_eq!((cpu.next, cpu.r[13]), (FLASH + CODE as u32, 0x2000_8000));
}

#[test]
fn an_it_block_executes_what_its_conditions_say() {
    // cmp r0, #0; itte eq; movs r1, #1; movs r2, #2; movs r3, #3; and the flags stay.
    let code = [0x2800, 0xbf06, 0x2101, 0x2202, 0x2303];
    for (value, expected) in [(0, [1, 2, 0]), (5, [0, 0, 3])] {
        let mut cpu = core(&code, &[]);
        (cpu.r[0], cpu.r[1], cpu.r[2], cpu.r[3]) = (value, 0, 0, 0);
        for _ in 0..5 {
            cpu.step();
        }
        let found = (cpu.r[1..4].to_vec(), cpu.it, cpu.z);
        assert_eq!(found, (expected.to_vec(), 0, value == 0));
    }
}

#[test]
fn floating_point_registers_survive_a_handler_that_uses_them() {
    // The handler: vmov s0, r0; bx lr.
    let mut cpu = core(&[0xee00, 0x1a10, 0xbf00, 0xbf00], &[(16, &[0xee00, 0x0a10, RETURN])]); // vmov s0, r1
    cpu.scs.cpacr = 0xf0_0000;
    (cpu.r[0], cpu.r[1]) = (0x1111_1111, 0x4242_4242);
    enable(&mut cpu, 0, 0);
    cpu.step();
    cpu.bus.lines = 1;
    cpu.step();
    assert_eq!((cpu.r[14], cpu.r[13]), (0xffff_ffe9, 0x2000_8000 - 0x68));
    cpu.bus.lines = 0;
    cpu.step();
    assert_eq!(cpu.s[0], 0x1111_1111);
    while cpu.exception() != 0 {
        cpu.step();
    }
    assert_eq!((cpu.s[0], cpu.r[13]), (0x4242_4242, 0x2000_8000));
}

/// A comparison with its branch is one operation, and still stops in between where the time ends, wherever lines of the flash end.
#[test]
fn a_comparison_and_its_branch_are_two_instructions() {
    // movs r0, #0; adds r0, #1; cmp r0, #5; bne to the sum; cmp r0, r1; beq to the next.
    let program = [0x2000, 0x3001, 0x2805, 0xd1fc, 0x4288, 0xd0ff];
    for nops in 0..16 {
        let code = [&[0xbf00; 16][..nops], &program].concat();
        for limit in 0..60 {
            let (mut whole, mut counted, mut stepped) = (core(&code, &[]), core(&code, &[]), core(&code, &[]));
            counted.start_profile();
            whole.run_until(limit);
            counted.run_until(limit);
            while stepped.now < limit {
                stepped.step();
            }
            let state = |cpu: &Cpu<Pins>| (cpu.r[..15].to_vec(), cpu.next, cpu.xpsr(), cpu.now, cpu.instructions);
            assert_eq!(state(&whole), state(&stepped), "{nops} nops, {limit} cycles");
            assert_eq!(state(&counted), state(&stepped), "{nops} nops, {limit} cycles, counted");
            assert_eq!(counted.profile.iter().sum::<u64>(), counted.instructions);
        }
    }
}
