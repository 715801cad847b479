//! Register scripts against the chip as the core sees it, from the rules of the reference manual.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::*;
use crate::image::Image;
use crate::memory::SRAM;

const RCC: u32 = 0x4002_3800;
const APB1ENR: u32 = RCC + 0x40;
const APB2ENR: u32 = RCC + 0x44;
const APB1RSTR: u32 = RCC + 0x20;
const AHB1ENR: u32 = RCC + 0x30;
const GPIOA: u32 = 0x4002_0000;
const USART2: u32 = 0x4000_4400;
const FLASH_REGISTERS: u32 = 0x4002_3c00;

fn individual(hse: Hse) -> Individual {
    Individual {
        unique_id: [7, 8, 9],
        hse,
        lse: true,
        lsi: 32_000,
        flash_wear: 0,
    }
}

/// The pins of the board with a chip.
fn wiring(model: Model) -> &'static [Wiring] {
    let board = crate::boards::BOARDS.into_iter().find(|board| board.model == model);
    board.expect("a board").ports
}

struct Script {
    chip: Chip,
    memory: Memory,
    now: Cycles,
}

impl Script {
    fn new(model: Model) -> Self {
        let memory = Memory::new(model.memory(), Arc::new(Image::from_bytes(vec![0; 64])));
        Script {
            chip: Chip::new(model.description(), wiring(model), individual(Hse::Fed(8_000_000))),
            memory,
            now: 0,
        }
    }

    fn write(&mut self, address: u32, value: u32) {
        self.chip
            .write(address, 4, value, self.now, &mut self.memory)
            .expect("something there");
    }

    fn read(&mut self, address: u32) -> u32 {
        self.chip
            .read(address, 4, self.now, &mut self.memory)
            .expect("something there")
    }

    fn run(&mut self, cycles: Cycles) {
        let end = self.now + cycles;
        while self.now < end {
            let next = self.chip.poll(self.now, &mut self.memory);
            self.now = next.clamp(self.now + 1, end);
        }
        self.chip.poll(self.now, &mut self.memory);
    }

    fn requested(&self, interrupt: usize) -> bool {
        self.chip.interrupt_lines()[interrupt / 32] >> (interrupt % 32) & 1 != 0
    }

    fn violations(&self) -> Vec<String> {
        self.chip.violations().iter().map(Violation::to_string).collect()
    }

    fn remarks(&self) -> Vec<&str> {
        self.chip.remarks().iter().map(|remark| remark.0.as_str()).collect()
    }
}

/// How many bytes a serial port has sent.
fn sent(script: &Script, uart: usize) -> u64 {
    script.chip.uart(uart).expect("a port").counters().sent
}

#[test]
fn what_is_not_modelled_is_said_once_and_what_is_not_there_is_an_error() {
    let mut script = Script::new(Model::F446);
    for _ in 0..3 {
        assert_eq!(script.read(0x4000_5400), 0);
        script.write(0x5005_0000, 1);
    }
    assert_eq!(script.remarks(), ["I2C1 is not modelled", "DCMI is not modelled"]);
    let memory = &mut script.memory;
    assert_eq!(script.chip.read(0x4000_2400, 4, 0, memory), None);
    assert_eq!(script.chip.write(0x7000_0000, 4, 0, 0, memory), None);
}

#[test]
fn a_peripheral_without_a_clock_does_nothing() {
    let mut script = Script::new(Model::F446);
    script.write(USART2 + 0x08, 0x1234);
    assert_eq!(script.read(USART2 + 0x08), 0);
    assert_eq!(script.violations(), ["clocked: USART2 is used while its clock is off"]);
    script.write(APB1ENR, 1 << 17);
    script.write(USART2 + 0x08, 0x1234);
    assert_eq!(script.read(USART2 + 0x08), 0x1234);
    script.write(APB1RSTR, 1 << 17);
    assert_eq!(script.read(USART2 + 0x08), 0, "reset by the RCC");
}

#[test]
fn a_byte_sent_by_dma_is_on_the_wire_and_ends_with_an_interrupt() {
    let mut script = Script::new(Model::F446);
    script.write(APB1ENR, 1 << 17);
    script.write(AHB1ENR, 1 << 21 | 1);
    script.write(GPIOA + 0x20, 0x7700); // PA2 and PA3 are USART2
    script.write(GPIOA, 0b1010 << 4);
    script.memory.sram[..3].copy_from_slice(b"abc");
    script.write(USART2 + 0x08, 16); // a million baud at 16 MHz
    script.write(USART2 + 0x14, 1 << 7);
    script.write(USART2 + 0x0c, 1 << 13 | 1 << 3);
    let stream = 0x4002_6000 + 0x10 + 0x18 * 6;
    script.write(stream + 0x04, 3);
    script.write(stream + 0x08, USART2 + 4);
    script.write(stream + 0x0c, SRAM);
    script.write(stream, 4 << 25 | 1 << 10 | 1 << 6 | 1 << 4 | 1);
    script.run(160 * 2);
    assert!(script.requested(17), "the last byte has been taken");
    script.run(160 * 2);
    assert_eq!((sent(&script, 1), script.read(USART2) & 0xc0), (3, 0xc0));
    assert_eq!(script.read(stream + 0x04), 0);
}

#[test]
fn edges_that_are_told_late_let_nothing_be_sent_in_the_past() {
    let mut script = Script::new(Model::F446);
    script.write(APB1ENR, 1 << 17);
    script.write(AHB1ENR, 1 << 21 | 1);
    script.write(GPIOA + 0x20, 0x7700); // PA2 and PA3 are USART2
    script.write(GPIOA, 0b1010 << 4);
    script.write(USART2 + 0x08, 16);
    script.write(USART2 + 0x14, 1 << 7);
    script.write(USART2 + 0x0c, 1 << 13 | 1 << 3 | 1 << 2);
    script.run(1000);
    let now = script.now;
    // A frame that was over long ago, and a byte that is to be sent now.
    let late = [(now - 800, false), (now - 656, true)].map(|(at, level)| Edge { at, level });
    script.chip.receive_edges(1, late.into_iter(), now);
    let stream = 0x4002_6000 + 0x10 + 0x18 * 6;
    script.write(stream + 0x04, 1);
    script.write(stream + 0x08, USART2 + 4);
    script.write(stream + 0x0c, SRAM);
    script.write(stream, 4 << 25 | 1 << 10 | 1 << 6 | 1);
    script.run(1);
    let begin = script.chip.take_output(1).and_then(|mut edges| edges.next());
    assert_eq!(begin.map(|edge| edge.at), Some(now));
    assert_eq!(script.chip.uart(1).map(|port| port.counters().received), Some(1));
}

#[test]
fn a_serial_port_needs_its_pins_in_their_alternate_function() {
    // Mode and function of PA2, and whether that is right.
    for (mode, function, right) in [(2, 7, true), (2, 8, false), (1, 7, false), (0, 7, false)] {
        let mut script = Script::new(Model::F446);
        script.write(APB1ENR, 1 << 17);
        script.write(AHB1ENR, 1);
        script.write(GPIOA + 0x20, function << 8 | 7 << 12);
        script.write(GPIOA, mode << 4 | 2 << 6);
        script.write(USART2 + 0x08, 16);
        script.write(USART2 + 0x0c, 1 << 13 | 1 << 3 | 1 << 2);
        script.write(USART2 + 0x04, 0x55);
        script.run(400);
        let (violations, sent) = (script.violations(), sent(&script, 1));
        if right {
            assert_eq!((violations, sent), (vec![], 1));
        } else {
            let expected = "pins: USART2 sends while PA2 is not in alternate function 7";
            assert_eq!((violations, sent), (vec![expected.to_string()], 0));
        }
    }
}

#[test]
fn a_pin_that_is_taken_away_is_noticed() {
    let mut script = Script::new(Model::F446);
    script.write(APB1ENR, 1 << 17);
    script.write(AHB1ENR, 1);
    script.write(GPIOA + 0x20, 0x7700);
    script.write(GPIOA, 0b1010 << 4);
    script.write(USART2 + 0x0c, 1 << 13 | 1 << 2);
    assert!(script.violations().is_empty());
    script.write(GPIOA, 0b0010 << 4);
    assert_eq!(
        script.violations(),
        ["pins: USART2 receives while PA3 is not in alternate function 7"]
    );
}

#[test]
fn flash_is_unlocked_programmed_and_erased() {
    let mut script = Script::new(Model::F446);
    let page = 0x0806_0000;
    script.write(page, 0x1234_5678);
    assert_eq!(script.read(FLASH_REGISTERS + 0x0c), 1 << 7, "locked: a sequence error");
    script.write(FLASH_REGISTERS + 0x04, 0x4567_0123);
    script.write(FLASH_REGISTERS + 0x04, 0xcdef_89ab);
    script.write(FLASH_REGISTERS + 0x10, 1 | 2 << 8);
    script.write(page, 0x1234_5678);
    script.write(page, 0xffff_0000);
    assert_eq!(
        script.memory.bytes(page, 4).expect("flash"),
        [0, 0, 0x34, 0x12],
        "bits only go to zero"
    );
    assert!(script.chip.take_stall() > 0, "the core stands still");
    script.write(FLASH_REGISTERS + 0x10, 1 << 1 | 7 << 3 | 2 << 8 | 1 << 16);
    assert_eq!(script.memory.bytes(page, 4).expect("flash"), [0xff; 4]);
    // A second of the 16 MHz that the chip starts with.
    assert_eq!(script.chip.take_stall(), 16_000_000);
    script.write(FLASH_REGISTERS + 0x10, 1 | 2 << 8);
    script.chip.write(page, 1, 0, 0, &mut script.memory).expect("flash");
    assert_eq!(
        script.read(FLASH_REGISTERS + 0x0c) & 1 << 6,
        1 << 6,
        "a byte where words were announced"
    );
    assert_eq!(
        script.violations(),
        [
            "flash-order: a write or erase out of order (PGSERR)",
            "flash-order: 0xff is written over 0x34 at 0x08060002 without an erase",
            "flash-order: 0xff is written over 0x12 at 0x08060003 without an erase",
            "flash-order: a write in another width than PSIZE announces (PGPERR)",
        ]
    );
}

#[test]
fn an_erase_takes_its_time_by_parallelism_and_wear() {
    // PSIZE, wear in percent, milliseconds for 128 KiB.
    for (parallelism, flash_wear, time) in [
        (0, 0, 2000),
        (0, 100, 4000),
        (1, 0, 1300),
        (1, 100, 2600),
        (2, 0, 1000),
        (2, 50, 1500),
        (2, 100, 2000),
    ] {
        let mut script = Script::new(Model::F446);
        let individual = Individual {
            flash_wear,
            ..individual(Hse::Absent)
        };
        script.chip = Chip::new(Model::F446.description(), wiring(Model::F446), individual);
        unlock(&mut script);
        script.write(FLASH_REGISTERS + 0x10, 1 << 1 | 7 << 3 | parallelism << 8 | 1 << 16);
        assert_eq!(script.chip.take_stall(), time * 16_000, "{parallelism} {flash_wear}");
        assert!(script.violations().is_empty());
    }
    let mut script = Script::new(Model::F446);
    unlock(&mut script);
    script.write(FLASH_REGISTERS + 0x10, 1 << 1 | 7 << 3 | 3 << 8 | 1 << 16);
    assert_eq!(
        script.violations(),
        ["flash-order: an erase with 64 bits at once (PSIZE is 3) without a programming voltage"]
    );
}

#[test]
fn a_cache_is_emptied_only_while_it_is_off() {
    let mut script = Script::new(Model::F446);
    script.write(FLASH_REGISTERS, 0x705);
    script.write(FLASH_REGISTERS, 0x305 | 1 << 12);
    assert_eq!(script.violations(), ["flash-cache: DCRST is set while the cache is on"]);
    assert_eq!(script.read(FLASH_REGISTERS), 0x305);
    script.write(FLASH_REGISTERS, 0x305 | 1 << 12);
    assert_eq!(script.violations().len(), 1);
}

/// Unlocks the flash.
fn unlock(script: &mut Script) {
    script.write(FLASH_REGISTERS + 0x04, 0x4567_0123);
    script.write(FLASH_REGISTERS + 0x04, 0xcdef_89ab);
}

#[test]
fn sectors_of_all_sizes_are_erased_alone_and_take_their_time() {
    // Sector, first address, last address, milliseconds.
    for (sector, first, last, time) in [
        (1, 0x0800_4000, 0x0800_7fff, 250),
        (3, 0x0800_c000, 0x0800_ffff, 250),
        (4, 0x0801_0000, 0x0801_ffff, 550),
        (5, 0x0802_0000, 0x0803_ffff, 1000),
        (7, 0x0806_0000, 0x0807_ffff, 1000),
    ] {
        let mut script = Script::new(Model::F446);
        let neighbours: Vec<u32> = [first - 1, last + 1]
            .into_iter()
            .filter(|place| *place < 0x0808_0000)
            .collect();
        for place in [first, last].iter().chain(&neighbours) {
            script.memory.write_flash(*place, &[0]).expect("flash");
        }
        unlock(&mut script);
        script.write(FLASH_REGISTERS + 0x10, 1 << 1 | sector << 3 | 2 << 8);
        script.write(FLASH_REGISTERS + 0x10, 1 << 1 | sector << 3 | 2 << 8 | 1 << 16);
        assert_eq!(script.chip.take_stall(), time * 16_000, "sector {sector}");
        assert_eq!(script.read(FLASH_REGISTERS + 0x0c), 0);
        let byte = |place: u32| script.memory.byte(place);
        assert_eq!((byte(first), byte(last)), (Some(0xff), Some(0xff)), "sector {sector}");
        assert!(
            neighbours.iter().all(|place| byte(*place) == Some(0)),
            "sector {sector}"
        );
    }
}

#[test]
fn the_flash_refuses_what_is_out_of_order() {
    const PGSERR: u32 = 1 << 7;
    let mut script = Script::new(Model::F446);
    script.write(FLASH_REGISTERS + 0x10, 1);
    assert_eq!(script.read(FLASH_REGISTERS + 0x10), 1 << 31, "locked");
    unlock(&mut script);
    for (control, what) in [
        (1 << 16, "a start of nothing"),
        (1 << 1 | 9 << 3 | 1 << 16, "a sector that is not there"),
        (1 | 1 << 1 | 1 << 16, "programming and erasing at once"),
    ] {
        script.write(FLASH_REGISTERS + 0x10, control);
        assert_eq!(script.read(FLASH_REGISTERS + 0x0c), PGSERR, "{what}");
        script.write(FLASH_REGISTERS + 0x0c, PGSERR);
    }
    script.write(FLASH_REGISTERS + 0x10, 1 << 31);
    script.write(FLASH_REGISTERS + 0x10, 1);
    assert_eq!(script.read(FLASH_REGISTERS + 0x10), 1 << 31, "locked again");
    script.write(FLASH_REGISTERS + 0x04, 1);
    unlock(&mut script);
    assert_eq!(
        script.read(FLASH_REGISTERS + 0x10),
        1 << 31,
        "a wrong key locks until reset"
    );
    assert_eq!(script.chip.take_stall(), 0);
}

#[test]
fn an_exti_event_is_for_the_core_and_no_interrupt() {
    let mut script = Script::new(Model::F446);
    script.write(AHB1ENR, 1 << 2);
    script.write(APB2ENR, 1 << 14);
    script.write(0x4001_3800 + 0x14, 2 << 4);
    script.write(0x4001_3c04, 1 << 13); // as an event
    script.write(0x4001_3c08, 1 << 13); // rising
    script.chip.drive_pin(2, 13, Some(true));
    script.run(1);
    assert!(script.chip.take_event() && !script.chip.take_event());
    assert!(!script.requested(40));
    script.chip.drive_pin(2, 13, Some(false));
    assert!(!script.chip.take_event());
    // By software, once until the pending bit is cleared.
    for (expected, clear) in [(true, 0), (false, 1 << 13), (true, 0)] {
        script.write(0x4001_3c10, 1 << 13);
        assert_eq!(script.chip.take_event(), expected);
        script.write(0x4001_3c14, clear);
    }
}

#[test]
fn each_cause_of_a_reset_has_its_flag() {
    for (cause, flags) in [
        (ResetCause::Pin, 1 << 26),
        (ResetCause::Software, 1 << 26 | 1 << 28),
        (ResetCause::Watchdog, 1 << 26 | 1 << 29),
    ] {
        let mut script = Script::new(Model::F446);
        script.write(RCC + 0x74, 1 << 24);
        script.chip.reset(cause, 0);
        assert_eq!(script.read(RCC + 0x74), flags, "{cause:?}");
    }
}

#[test]
fn the_button_interrupts_through_exti() {
    let mut script = Script::new(Model::F446);
    script.chip.drive_pin(2, 13, Some(true));
    script.write(AHB1ENR, 1 << 2);
    script.write(APB2ENR, 1 << 14);
    script.write(0x4001_3800 + 0x14, 2 << 4); // EXTI13 is PC13
    script.write(0x4001_3c00, 1 << 13);
    script.write(0x4001_3c0c, 1 << 13); // falling
    script.chip.drive_pin(2, 13, Some(false));
    script.run(1);
    assert!(script.requested(40));
    assert_eq!(script.read(0x4002_0810) >> 13 & 1, 0);
    script.write(0x4001_3c14, 1 << 13);
    script.run(1);
    assert!(!script.requested(40));
    script.chip.drive_pin(2, 13, Some(true));
    script.run(1);
    assert!(!script.requested(40), "only falling edges were asked for");
}

#[test]
fn the_watchdog_resets_and_the_cause_is_shown() {
    let mut script = Script::new(Model::F446);
    for (register, value) in [(0x0, 0x5555), (0x8, 1), (0x0, 0xcccc)] {
        script.write(0x4000_3000 + register, value);
    }
    // Two counts of four ticks of 32 kHz: 250 us.
    script.run(3999);
    assert_eq!(script.chip.wants_stop(), None);
    script.run(1);
    assert_eq!(script.chip.wants_stop(), Some(Stop::Reset));
    script.write(0x4000_2850, 0xcafe);
    script.chip.reset(ResetCause::Watchdog, script.now);
    assert_eq!(script.chip.wants_stop(), None);
    assert_eq!(script.read(RCC + 0x74) >> 29 & 1, 1);
    assert_eq!(script.read(0x4000_2850), 0xcafe, "backup registers stay");
}

const PWR: u32 = 0x4000_7000;

/// Switches the over-drive on.
fn over_drive(script: &mut Script) {
    script.write(APB1ENR, 1 << 28);
    script.write(PWR, 3 << 14 | 1 << 16);
    script.write(PWR, 3 << 14 | 3 << 16);
}

/// The PLL from the 8 MHz that are fed, in MHz, with the two buses divided by the bits of PPRE1 and PPRE2.
fn full_speed(script: &mut Script, megahertz: u32, ppre1: u32, ppre2: u32) {
    script.write(RCC, 0x83 | 1 << 16 | 1 << 18);
    script.write(RCC + 0x04, 4 | megahertz << 6 | 1 << 22);
    script.write(RCC, 0x83 | 1 << 16 | 1 << 18 | 1 << 24);
    script.write(RCC + 0x08, 2 | ppre1 << 10 | ppre2 << 13);
}

#[test]
fn core_buses_and_pll_have_their_limits() {
    let too_fast = |prepare: fn(&mut Script)| {
        let mut script = Script::new(Model::F446);
        script.write(FLASH_REGISTERS, 5);
        prepare(&mut script);
        script.violations()
    };
    assert!(
        too_fast(|script| {
            over_drive(script);
            full_speed(script, 180, 5, 4);
        })
        .is_empty()
    );
    assert_eq!(
        too_fast(|script| full_speed(script, 180, 5, 4)),
        [
            "clock-limits: HCLK at 180000000 Hz, at most 168000000 as it is powered",
            "clock-limits: APB1 at 45000000 Hz, at most 42000000 as it is powered",
            "clock-limits: APB2 at 90000000 Hz, at most 84000000 as it is powered",
        ]
    );
    assert_eq!(
        too_fast(|script| {
            over_drive(script);
            full_speed(script, 180, 4, 4);
        }),
        ["clock-limits: APB1 at 90000000 Hz, at most 45000000 as it is powered"]
    );
    assert_eq!(
        too_fast(|script| {
            // 8 MHz into the PLL, undivided but for 2, then an oscillator that is too slow, and not used.
            script.write(RCC, 0x83 | 1 << 16 | 1 << 18);
            script.write(RCC + 0x04, 2 | 20 << 6 | 1 << 22);
            script.write(RCC, 0x83 | 1 << 16 | 1 << 18 | 1 << 24);
            script.write(RCC + 0x04, 4 | 180 << 6 | 1 << 22);
        }),
        [
            "clock-limits: the PLL's input at 4000000 Hz, not in 950000..=2100000",
            "clock-limits: the PLL's oscillator at 80000000 Hz, not in 100000000..=432000000",
            "clock-limits: PLLCFGR is changed while the PLL is on",
        ]
    );
}

#[test]
fn the_hse_runs_only_in_the_mode_that_the_board_has() {
    const BYPASS: u32 = 1 << 18;
    for (hse, control, ready, violations) in [
        (Hse::Fed(8_000_000), BYPASS, true, vec![]),
        (Hse::Crystal(8_000_000), 0, true, vec![]),
        (Hse::Absent, BYPASS, false, vec![]),
        (
            Hse::Fed(8_000_000),
            0,
            false,
            vec!["external-clock: the HSE is on for a crystal (HSEBYP is 0), but the board feeds a clock"],
        ),
        (
            Hse::Crystal(8_000_000),
            BYPASS,
            false,
            vec!["external-clock: the HSE is on for a clock that is fed (HSEBYP is 1), but the board has a crystal"],
        ),
    ] {
        let mut script = Script::new(Model::F446);
        script.chip = Chip::new(Model::F446.description(), wiring(Model::F446), individual(hse));
        script.write(RCC, 0x83 | control);
        script.write(RCC, 0x83 | control | 1 << 16);
        assert_eq!(script.read(RCC) >> 17 & 1 != 0, ready, "{hse:?} {control:x}");
        assert_eq!(script.violations(), violations, "{hse:?} {control:x}");
    }
    let mut script = Script::new(Model::F446);
    script.write(RCC, 0x83 | 1 << 16 | BYPASS);
    script.write(RCC, 0x83 | 1 << 16);
    assert_eq!(
        script.violations()[0],
        "external-clock: HSEBYP is changed while the HSE is on"
    );
}

#[test]
fn a_faster_clock_needs_wait_states_and_its_notice() {
    let mut script = Script::new(Model::F446);
    over_drive(&mut script);
    full_speed(&mut script, 180, 5, 4);
    assert_eq!(script.violations(), ["wait-states: 0 at 180000000 Hz, which needs 5"]);
    assert_eq!(script.chip.wants_stop(), Some(Stop::Clock));
    assert_eq!(script.chip.clocks().hclk, 180_000_000);
}

#[test]
fn chips_have_their_own_memories_and_numbers() {
    for (model, id, kilobytes) in [
        (Model::F401, 0x433, 512),
        (Model::F405, 0x413, 1024),
        (Model::F411, 0x431, 512),
        (Model::F446, 0x421, 512),
    ] {
        let mut script = Script::new(model);
        assert_eq!(script.read(0xe004_2000) & 0xfff, id);
        assert_eq!(script.read(0x1fff_7a20) >> 16, kilobytes);
        assert_eq!(
            [0x10, 0x14, 0x18].map(|place| script.read(0x1fff_7a00 + place)),
            [7, 8, 9]
        );
        assert_eq!(script.memory.flash_size(), kilobytes * 1024);
    }
}

#[test]
fn the_state_hash_sees_every_peripheral() {
    let fresh = || {
        let mut script = Script::new(Model::F446);
        script.write(AHB1ENR, 0x60_01ff);
        script.write(APB1ENR, 0x101e_000f);
        script.write(APB2ENR, 0x4030);
        script
    };
    let hash = |script: &Script| {
        let mut hash = crate::hash::StateHash::default();
        script.chip.hash(&mut hash);
        hash.finish()
    };
    let untouched = hash(&fresh());
    assert_eq!(untouched, hash(&fresh()));
    for (name, address) in [
        ("TIM2 ARR", 0x4000_002c),
        ("TIM5 CCR4", 0x4000_0c40),
        ("backup register", 0x4000_2850),
        ("IWDG KR", 0x4000_3000),
        ("USART2 BRR", 0x4000_4408),
        ("USART6 CR1", 0x4001_140c),
        ("PWR CR", 0x4000_7000),
        ("SYSCFG EXTICR1", 0x4001_3808),
        ("EXTI IMR", 0x4001_3c00),
        ("GPIOA ODR", 0x4002_0014),
        ("RCC PLLCFGR", 0x4002_3804),
        ("FLASH ACR", 0x4002_3c00),
        ("DMA1 S0NDTR", 0x4002_6014),
        ("DMA2 S7M0AR", 0x4002_64c4),
        ("DBGMCU CR", 0xe004_2004),
    ] {
        let mut script = fresh();
        script.write(address, 0x5555);
        assert_ne!(hash(&script), untouched, "{name}");
    }
}

/// Requests its interrupt so many cycles of its bus after that number was written.
#[derive(Default, Hash)]
struct Alarm {
    at: Option<Cycles>,
    rings: bool,
    cycles: u64,
}

impl Peripheral for Alarm {
    fn read(&mut self, _offset: u32, _now: Cycles) -> u32 {
        u32::from(std::mem::take(&mut self.rings))
    }

    fn write(&mut self, _offset: u32, value: u32, now: Cycles) {
        self.at = Some(now + u64::from(value) * self.cycles);
    }

    fn advance(&mut self, now: Cycles) {
        if self.at.is_some_and(|at| at <= now) {
            (self.at, self.rings) = (None, true);
        }
    }

    fn next_event(&self) -> Cycles {
        self.at.unwrap_or(NEVER)
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.rings) << 1
    }

    fn reset(&mut self, _now: Cycles) {
        (self.at, self.rings) = (None, false);
    }

    fn set_clock(&mut self, cycles: u64, _now: Cycles) {
        self.cycles = cycles;
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

#[test]
fn a_peripheral_from_outside_has_clock_gate_events_interrupts_and_resets() {
    const ALARM: u32 = 0x4000_5400;
    let mut script = Script::new(Model::F446);
    let place = map::Place {
        gate: Some(map::Gate {
            register: 0x40,
            bit: 21,
        }),
        interrupts: &[31, 96],
        ..map::Place::unmodelled(ALARM, 0x400, "alarm")
    };
    script
        .chip
        .add(place, Box::new(Alarm::default()))
        .expect("not modelled until now");
    assert_eq!(
        script.chip.add(place, Box::new(Alarm::default())),
        Err(CannotAdd::Taken { by: "alarm" })
    );
    script.write(ALARM, 100);
    assert_eq!(script.violations(), ["clocked: alarm is used while its clock is off"]);
    script.write(APB1ENR, 1 << 21);
    script.write(RCC + 0x08, 4 << 10); // the bus at half the core's clock
    script.write(ALARM, 100);
    script.run(199);
    assert!(!script.requested(96));
    script.run(1);
    assert!(script.requested(96) && !script.requested(31));
    assert_eq!(script.read(ALARM), 1);
    script.run(1);
    assert!(!script.requested(96));
    for reset in [
        (|script: &mut Script| script.write(APB1RSTR, 1 << 21)) as fn(&mut Script),
        |script| script.chip.reset(ResetCause::Pin, script.now),
    ] {
        script.write(APB1ENR, 1 << 21);
        script.write(ALARM, 1);
        reset(&mut script);
        script.run(10);
        assert!(!script.requested(96), "a reset stops it");
    }
}

#[test]
fn an_interrupt_that_two_share_is_requested_until_both_are_served() {
    let mut script = Script::new(Model::F446);
    for base in [0x6000_0000, 0x6000_1000] {
        let place = map::Place {
            interrupts: &[31, 54],
            ..map::Place::unmodelled(base, 4, "alarm")
        };
        script.chip.add(place, Box::new(Alarm::default())).expect("room");
        script.write(base, 10);
    }
    script.run(10);
    for (base, still) in [(0x6000_0000, true), (0x6000_1000, false)] {
        assert!(script.requested(54));
        assert_eq!(script.read(base), 1);
        script.run(1);
        assert_eq!(script.requested(54), still);
    }
}
