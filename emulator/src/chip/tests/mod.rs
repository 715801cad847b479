//! Chips as the core sees them, by the rules of the reference manual: what writing and reading registers shows is in `register_scripts`.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::clocks::Hse;
use super::wave::Wave;
use super::*;
use crate::cpu::{Bus, Stop};
use crate::image::Image;
use crate::memory::SRAM;

mod from_outside;
mod lab;
mod register_scripts;

const RCC: u32 = 0x4002_3800;
const APB1ENR: u32 = RCC + 0x40;
const APB2ENR: u32 = RCC + 0x44;
const APB1RSTR: u32 = RCC + 0x20;
const AHB1ENR: u32 = RCC + 0x30;
const GPIOA: u32 = 0x4002_0000;
/// MODER of port A after a reset of an F4.
const DEBUG_PINS: u32 = 0xa800_0000;
const PWR: u32 = 0x4000_7000;
const DBP: u32 = 1 << 8;
const USART2: u32 = 0x4000_4400;
/// Stream 6 of DMA1, by which USART2 sends.
const SENDING: u32 = 0x4002_6000 + 0x10 + 0x18 * 6;

pub(super) fn individual(hse: Hse) -> Individual {
    Individual {
        unique_id: [7, 8, 9],
        hse,
        hse_start: 0,
        lse: true,
        lsi: 32_000,
        flash_wear: 0,
        dual_bank: true,
    }
}

fn wiring(model: Model) -> &'static [Wiring] {
    let board = crate::boards::BOARDS.iter().find(|board| board.model == model);
    board.expect("a board").ports
}

struct Script {
    chip: Chip,
    memory: Memory,
    now: Cycles,
}

impl Script {
    fn new(model: Model) -> Self {
        Script::of(model, individual(Hse::Fed(8_000_000)))
    }

    fn of(model: Model, individual: Individual) -> Self {
        let memory = Memory::new(model.memory(), Arc::new(Image::from_bytes(vec![0; 64])));
        let mut chip = Chip::new(model.description(), wiring(model), individual);
        chip.wired.fill(true);
        Script { chip, memory, now: 0 }
    }

    fn write(&mut self, address: u32, value: u32) {
        self.chip
            .write(address, 4, value, self.now, &mut self.memory)
            .expect("something there");
    }

    fn write_all(&mut self, registers: &[(u32, u32)]) {
        for (address, value) in registers {
            self.write(*address, *value);
        }
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
        self.chip.interrupt_lines() >> interrupt & 1 != 0
    }

    fn violations(&self) -> Vec<String> {
        self.chip.violations().iter().map(Violation::to_string).collect()
    }

    fn remarks(&self) -> Vec<&str> {
        self.chip.remarks().iter().map(|remark| remark.what.as_str()).collect()
    }
}

#[test]
fn what_is_not_modeled_is_said_once_and_what_is_not_there_is_an_error() {
    let mut script = Script::new(Model::F446);
    for _ in 0..3 {
        assert_eq!(script.read(0x4000_6400), 0);
        script.write(0x5005_0000, 1);
    }
    assert_eq!(script.remarks(), ["CAN1 is not modeled", "DCMI is not modeled"]);
    let memory = &mut script.memory;
    assert_eq!(script.chip.read(0x4000_2400, 4, 0, memory), None);
    assert_eq!(script.chip.write(0x7000_0000, 4, 0, 0, memory), None);
    assert!(!script.chip.attach_i2c("I2C4", 0x50, Box::new(i2c::I2cMemory::new(1))));
}

/// Each peripheral of each chip tells of a register that no list has, and of the bits that the list leaves out.
#[test]
fn no_peripheral_is_silent_about_what_it_does_not_model() {
    for model in Model::ALL {
        let mut script = Script::new(model);
        for at in 0..script.chip.slots.len() {
            let (entry, family) = (script.chip.slots.at(at).entry, script.chip.rcc.family());
            if matches!(entry.kind, Kind::Unmodeled) {
                continue;
            }
            // No peripheral has a register in its last word.
            let mut unlisted = known::unlisted(family, script.chip.slots.at(at));
            unlisted.push((entry.size - 4, 1));
            for (offset, bits) in unlisted {
                script = Script::new(model);
                let address = |name| model.description().entry(name).expect("a peripheral").base;
                for gate in [
                    entry.gate,
                    model.description().entry("PWR").and_then(|power| power.gate),
                ] {
                    let Some(gate) = gate else { continue };
                    let enabled = script.read(address("RCC") + gate.register) | 1 << gate.bit;
                    script.write(address("RCC") + gate.register, enabled);
                }
                script.write(address("PWR"), DBP);
                script.write(entry.base + offset, bits);
                let told = |remark: &&str| remark.contains(entry.name) && remark.ends_with("not modeled");
                let place = format!("{model:?} {} {offset:#x} {bits:#x}", entry.name);
                assert!(script.remarks().iter().any(told), "{place}: {:?}", script.remarks());
            }
        }
    }
}

#[test]
fn every_kind_of_peripheral_needs_its_clock() {
    // An enable register, its bit, and a register that can then be written.
    for (model, enable, bit, register, name) in [
        (Model::F446, APB2ENR, 12, 0x4001_3000, "SPI1"),
        (Model::F446, APB2ENR, 8, 0x4001_2000 + 0x04, "ADC"),
        (Model::F446, APB1ENR, 21, 0x4000_5404, "I2C1"),
        (Model::F446, APB1ENR, 24, 0x4000_6004, "FMPI2C1"),
        (Model::F405, RCC + 0x34, 6, 0x5006_0800, "RNG"),
        (Model::L476, 0x4002_1000 + 0x4c, 18, 0x5006_0800, "RNG"),
        (Model::L476, 0x4002_1000 + 0x58, 23, 0x4000_5c04, "I2C3"),
        (Model::L476, 0x4002_1000 + 0x60, 11, 0x4001_2c04, "TIM1"),
        (Model::G474, 0x4002_1000 + 0x4c, 13, 0x5000_0004, "ADC1 and ADC2"),
        (Model::G474, 0x4002_1000 + 0x5c, 1, 0x4000_8404, "I2C4"),
        (Model::G474, 0x4002_1000 + 0x60, 12, 0x4001_3000, "SPI1"),
        (Model::H743, 0x5802_4400 + 0xdc, 6, 0x4802_1800, "RNG"),
        (Model::H743, 0x5802_4400 + 0xe8, 15, 0x4000_3c04, "SPI3"),
        (Model::H743, 0x5802_4400 + 0xf4, 7, 0x5800_1c04, "I2C4"),
    ] {
        let mut script = Script::new(model);
        script.write(register, 4);
        assert_eq!(script.read(register), 0, "{model:?} {name}");
        let found = script.violations();
        assert_eq!(found, [format!("clocked: {name} is used while its clock is off")]);
        let before = script.read(enable);
        script.write(enable, before | 1 << bit);
        script.write(register, 4);
        assert_eq!(script.read(register), 4, "{model:?} {name}");
        assert_eq!(script.chip.violations().len(), 1);
    }
}

#[test]
fn edges_that_are_told_late_let_nothing_be_sent_in_the_past() {
    let mut script = Script::new(Model::F446);
    script.write_all(&[(APB1ENR, 1 << 17), (AHB1ENR, 1 << 21 | 1)]);
    script.write_all(&[(GPIOA + 0x20, 0x7700), (GPIOA, DEBUG_PINS | 0b1010 << 4)]);
    let control = 1 << 13 | 1 << 3 | 1 << 2;
    script.write_all(&[(USART2 + 0x08, 16), (USART2 + 0x14, 1 << 7), (USART2 + 0x0c, control)]);
    script.run(1000);
    let now = script.now;
    // A frame that was over long ago, and a byte that is to be sent now.
    let late = [(now - 800, false), (now - 656, true)].map(|(at, level)| Wave::level(at, level));
    script.chip.hear(1, late.into_iter(), now);
    let stream = [
        (0x04, 1),
        (0x08, USART2 + 4),
        (0x0c, SRAM),
        (0x00, 4 << 25 | 1 << 10 | 1 << 6 | 1),
    ];
    script.write_all(&stream.map(|(register, value)| (SENDING + register, value)));
    script.run(1);
    let begin = script.chip.take_output(1).and_then(|mut edges| edges.next());
    assert_eq!(begin.map(|edge| edge.at), Some(now));
    assert_eq!(script.chip.uart(1).map(|port| port.counters().received), Some(1));
}

#[test]
fn the_state_hash_sees_every_peripheral() {
    let fresh = || {
        let mut script = Script::new(Model::F446);
        script.write_all(&[(AHB1ENR, 0x60_01ff), (APB1ENR, 0x101e_000f)]);
        script.write_all(&[(APB2ENR, 0x4030), (PWR, DBP)]);
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
