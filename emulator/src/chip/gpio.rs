//! Pins: RM0390 chapter 7.

use super::peripheral::{Peripheral, load, store};
use crate::cpu::Cycles;

/// Ports A to K. No chip has all of them.
pub(super) const PORTS: usize = 11;
const OUTPUT: u32 = 1;
const ALTERNATE: u32 = 2;
const PULL_UP: u32 = 1;
const PULL_DOWN: u32 = 2;

const ANALOG: u32 = 3;

// Registers, by their places.
const MODER: usize = 0;
const OTYPER: usize = 1;
const OSPEEDR: usize = 2;
const PUPDR: usize = 3;
const ODR: usize = 5;
const AFRL: usize = 8;

/// How the pins are after a reset: those of SWD and JTAG in their alternate function, with pulls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Pins {
    /// The others are inputs: F4.
    #[default]
    Inputs,
    /// The others are analog: L4, G4, H7.
    Analog,
}

#[derive(Default, Hash)]
pub(super) struct Gpio {
    port: usize,
    pins: Pins,
    registers: [u32; 10],
    /// What the outside puts on the pins, and on which.
    driven: u32,
    drives: u32,
}

impl Gpio {
    pub(super) fn new(port: usize, pins: Pins) -> Self {
        // PA13 to PA15, PB3 and PB4.
        let (debug, speed, pull) = match port {
            0 => (0xfc00_0000, 0x0c00_0000, 0x6400_0000),
            1 => (0x0000_03c0, 0x0000_00c0, 0x0000_0100),
            _ => (0, 0, 0),
        };
        let other = match pins {
            Pins::Inputs => 0,
            Pins::Analog => u32::MAX,
        };
        let mut registers = [0; 10];
        registers[MODER] = other & !debug | (ALTERNATE * 0x5555_5555) & debug;
        (registers[OSPEEDR], registers[PUPDR]) = (speed, pull);
        Gpio {
            port,
            pins,
            registers,
            ..Gpio::default()
        }
    }

    fn mode_of(&self, pin: u32) -> u32 {
        self.registers[MODER] >> (2 * pin) & 3
    }

    pub(super) fn output(&self, pin: u32) -> Option<bool> {
        (self.mode_of(pin) == OUTPUT).then_some(self.registers[ODR] >> pin & 1 != 0)
    }

    /// What it does to a wire at a pin: the level that it drives, or that of its pull.
    pub(super) fn level_at_wire(&self, pin: u32) -> Option<bool> {
        match self.output(pin) {
            Some(level) if !(level && self.is_open_drain(pin)) => Some(level),
            _ if self.mode_of(pin) == ANALOG => None,
            _ if self.is_pulled_up(pin) => Some(true),
            _ => self.is_pulled_down(pin).then_some(false),
        }
    }

    /// Which peripheral a pin belongs to; none if it is an input, an output or analog.
    pub(super) fn alternate_function(&self, pin: u32) -> Option<u32> {
        let bits = self.registers[AFRL + pin as usize / 8] >> (4 * (pin % 8)) & 0xf;
        (self.mode_of(pin) == ALTERNATE).then_some(bits)
    }

    pub(super) fn is_open_drain(&self, pin: u32) -> bool {
        self.registers[OTYPER] >> pin & 1 != 0
    }

    pub(super) fn is_pulled_up(&self, pin: u32) -> bool {
        self.registers[PUPDR] >> (2 * pin) & 3 == PULL_UP
    }

    pub(super) fn is_pulled_down(&self, pin: u32) -> bool {
        self.registers[PUPDR] >> (2 * pin) & 3 == PULL_DOWN
    }

    /// Puts a level on a pin from outside, or lets go of it.
    pub(super) fn drive(&mut self, pin: u32, level: Option<bool>) {
        let bit = 1 << pin;
        self.drives = if level.is_some() {
            self.drives | bit
        } else {
            self.drives & !bit
        };
        self.driven = if level == Some(true) {
            self.driven | bit
        } else {
            self.driven & !bit
        };
    }

    /// The level that the input register shows: what the chip drives, else what the outside drives, else the pull; low if it is analog.
    pub(super) fn input(&self, pin: u32) -> bool {
        match self.output(pin) {
            Some(level) if !(level && self.is_open_drain(pin)) => level,
            _ if self.mode_of(pin) == ANALOG => false,
            _ if self.drives >> pin & 1 != 0 => self.driven >> pin & 1 != 0,
            _ => self.is_pulled_up(pin),
        }
    }
}

impl Peripheral for Gpio {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            0x10 => (0..16).map(|pin| u32::from(self.input(pin)) << pin).sum(),
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            0x04 | 0x14 => store(&mut self.registers, offset, value & 0xffff),
            0x10 => {}
            // Setting wins over resetting.
            0x18 => self.registers[ODR] = self.registers[ODR] & !(value >> 16) | value & 0xffff,
            // BRR, which only L4 and G4 have.
            0x28 => self.registers[ODR] &= !value,
            offset => store(&mut self.registers, offset, value),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        load(&self.registers, offset)
    }

    /// The outside stays.
    fn reset(&mut self, _now: Cycles) {
        *self = Gpio {
            driven: self.driven,
            drives: self.drives,
            ..Gpio::new(self.port, self.pins)
        };
    }
}
