//! Analog to digital converters, one conversion at a time, begun by software: RM0390 chapter 13 (F4); RM0351 chapter 18, RM0440 chapter 21 and RM0433 chapter
//! 25 (L4, G4, H7). Pins read half of the scale, unless a DAC drives them. DMA, triggers, injected channels and the watchdogs are not modeled.

use super::peripheral::Peripheral;
use super::rules::{Rule, Violation};
use crate::cpu::{Cycles, NEVER};

/// Converters of a place, at every 0x100.
const CONVERTERS: usize = 3;
const COMMON: u32 = 0x300;

/// Inputs of a converter, and what every one reads that nothing drives.
const CHANNELS: usize = 19;
const HALF: u32 = 0x800;
/// Cycles of the bus that a conversion, a calibration or the start of a converter takes.
const CONVERSION: u64 = 60;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// SR, CR1, CR2.
    V2,
    /// ISR, IER, CR.
    V3,
}

mod v2 {
    pub(super) const SR: u32 = 0x00;
    pub(super) const CR1: u32 = 0x04;
    pub(super) const CR2: u32 = 0x08;
    pub(super) const SQR3: u32 = 0x34;
    pub(super) const DR: u32 = 0x4c;
    pub(super) const EOC: u32 = 1 << 1;
    pub(super) const STRT: u32 = 1 << 4;
    pub(super) const EOCIE: u32 = 1 << 5;
    pub(super) const ADON: u32 = 1;
    pub(super) const SWSTART: u32 = 1 << 30;
}

mod v3 {
    pub(super) const ISR: u32 = 0x00;
    pub(super) const IER: u32 = 0x04;
    pub(super) const CR: u32 = 0x08;
    pub(super) const DR: u32 = 0x40;
    pub(super) const ADRDY: u32 = 1;
    pub(super) const EOC: u32 = 1 << 2;
    pub(super) const EOS: u32 = 1 << 3;
    pub(super) const ADEN: u32 = 1;
    pub(super) const ADDIS: u32 = 1 << 1;
    pub(super) const ADSTART: u32 = 1 << 2;
    pub(super) const ADSTP: u32 = 1 << 4;
    pub(super) const ADVREGEN: u32 = 1 << 28;
    pub(super) const DEEPPWD: u32 = 1 << 29;
    pub(super) const ADCAL: u32 = 1 << 31;
    pub(super) const KEPT: u32 = ADVREGEN | DEEPPWD | 1 << 30 | 3 << 8 | 1 << 16;
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Work {
    Starting,
    Calibrating,
    Converting,
}

#[derive(Hash)]
struct Converter {
    registers: [u32; 64],
    work: Option<(Work, Cycles)>,
}

impl Converter {
    fn new(kind: Kind) -> Self {
        let mut registers = [0; 64];
        if kind == Kind::V3 {
            registers[v3::CR as usize / 4] = v3::DEEPPWD;
        }
        Converter { registers, work: None }
    }

    fn get(&self, offset: u32) -> u32 {
        self.registers[(offset as usize / 4) & 63]
    }

    fn at(&mut self, offset: u32) -> &mut u32 {
        &mut self.registers[(offset as usize / 4) & 63]
    }
}

#[derive(Hash)]
pub(super) struct Adc {
    kind: Kind,
    converters: [Converter; CONVERTERS],
    common: [u32; 64],
    clock: u64,
    broken: Vec<String>,
    /// What inputs read that a DAC drives.
    driven: [Option<u32>; CHANNELS],
}

impl Adc {
    pub(super) fn new(kind: Kind) -> Self {
        Adc {
            kind,
            converters: std::array::from_fn(|_| Converter::new(kind)),
            common: [0; 64],
            clock: 1,
            broken: Vec::new(),
            driven: [None; CHANNELS],
        }
    }

    fn write_v2(&mut self, number: usize, offset: u32, value: u32, done: Cycles) {
        let converter = &mut self.converters[number];
        match offset {
            v2::SR => *converter.at(v2::SR) &= value,
            v2::CR2 => {
                *converter.at(v2::CR2) = value & !v2::SWSTART;
                if value & v2::SWSTART == 0 {
                } else if value & v2::ADON != 0 {
                    *converter.at(v2::SR) |= v2::STRT;
                    converter.work = Some((Work::Converting, done));
                } else {
                    self.broken
                        .push(format!("ADC{} is to convert while it is off", number + 1));
                }
            }
            v2::DR => {}
            offset => *converter.at(offset) = value,
        }
    }

    fn write_v3(&mut self, number: usize, offset: u32, value: u32, done: Cycles) {
        use v3::*;
        let converter = &mut self.converters[number];
        let is_powered = value & ADVREGEN != 0 && value & DEEPPWD == 0;
        match offset {
            ISR => *converter.at(ISR) &= !value,
            DR => {}
            CR => {
                let before = converter.get(CR);
                *converter.at(CR) = value & KEPT | before & ADEN;
                let is_on = before & ADEN != 0;
                let mut wrong = |what: &str| self.broken.push(format!("ADC{} {what}", number + 1));
                if value & (ADCAL | ADEN) != 0 && !is_powered {
                    wrong("is used without its regulator");
                } else if value & ADCAL != 0 && is_on {
                    wrong("is calibrated while it is on");
                } else if value & ADCAL != 0 {
                    converter.work = Some((Work::Calibrating, done));
                } else if value & ADDIS != 0 {
                    *converter.at(CR) &= !ADEN;
                    *converter.at(ISR) &= !ADRDY;
                    converter.work = None;
                } else if value & ADSTP != 0 {
                    converter.work = None;
                } else if value & ADSTART != 0 && !is_on {
                    wrong("is to convert while it is off");
                } else if value & ADSTART != 0 {
                    converter.work = Some((Work::Converting, done));
                } else if value & ADEN != 0 && !is_on {
                    *converter.at(CR) |= ADEN;
                    converter.work = Some((Work::Starting, done));
                }
            }
            offset => *converter.at(offset) = value,
        }
    }
}

impl Peripheral for Adc {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        if offset >= COMMON {
            return self.rest(offset);
        }
        let converter = &mut self.converters[offset as usize / 0x100];
        match (self.kind, offset & 0xff) {
            (Kind::V2, v2::DR) => *converter.at(v2::SR) &= !v2::EOC,
            (Kind::V3, v3::DR) => *converter.at(v3::ISR) &= !v3::EOC,
            _ => {}
        }
        self.rest(offset)
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        let done = now + CONVERSION * self.clock.max(1);
        match (offset as usize / 0x100, self.kind) {
            (CONVERTERS, _) => self.common[(offset - COMMON) as usize / 4] = value,
            (number, Kind::V2) => self.write_v2(number, offset & 0xff, value, done),
            (number, Kind::V3) => self.write_v3(number, offset & 0xff, value, done),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        if offset >= COMMON {
            return self.common[((offset - COMMON) as usize / 4) & 63];
        }
        let converter = &self.converters[offset as usize / 0x100];
        let busy = match converter.work {
            Some((Work::Calibrating, _)) => v3::ADCAL,
            Some((Work::Converting, _)) => v3::ADSTART,
            _ => 0,
        };
        match (self.kind, offset & 0xff) {
            (Kind::V3, v3::CR) => converter.get(v3::CR) | busy,
            (_, offset) => converter.get(offset),
        }
    }

    fn advance(&mut self, now: Cycles) {
        for converter in &mut self.converters {
            let Some((work, _)) = converter.work.filter(|(_, done)| *done <= now) else {
                continue;
            };
            converter.work = None;
            let (flags, data) = match (work, self.kind) {
                (Work::Converting, Kind::V2) => (v2::EOC, v2::DR),
                (Work::Converting, Kind::V3) => (v3::EOC | v3::EOS, v3::DR),
                (Work::Starting, _) => (v3::ADRDY, v3::DR),
                (Work::Calibrating, _) => (0, v3::DR),
            };
            converter.registers[0] |= flags;
            if work == Work::Converting {
                let channel = match self.kind {
                    Kind::V2 => converter.get(v2::SQR3) & 0x1f,
                    Kind::V3 => CHANNELS as u32,
                };
                let driven = self.driven.get(channel as usize).copied().flatten();
                *converter.at(data) = driven.unwrap_or(HALF);
            }
        }
    }

    fn set_analog(&mut self, channel: usize, level: Option<u32>) {
        if let Some(driven) = self.driven.get_mut(channel) {
            *driven = level;
        }
    }

    fn next_event(&self) -> Cycles {
        let dates = self.converters.iter().filter_map(|converter| converter.work);
        dates.map(|(_, done)| done).min().unwrap_or(NEVER)
    }

    fn interrupts(&self) -> u32 {
        let requests = |converter: &Converter| match self.kind {
            Kind::V2 => converter.get(v2::SR) & v2::EOC != 0 && converter.get(v2::CR1) & v2::EOCIE != 0,
            Kind::V3 => converter.get(v3::ISR) & converter.get(v3::IER) != 0,
        };
        u32::from(self.converters.iter().any(requests))
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Adc {
            clock: self.clock,
            driven: self.driven,
            ..Adc::new(self.kind)
        };
    }

    fn set_clock(&mut self, cycles: u64, _now: Cycles) {
        self.clock = cycles;
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        let broken = self.broken.drain(..);
        broken.map(|how| Violation { rule: Rule::Adc, how }).collect()
    }
}
