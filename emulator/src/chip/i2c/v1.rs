//! The I2C of the F4 as a master: RM0390 chapter 24.

use super::super::peripheral::{Peripheral, load};
use super::super::rules::Violation;
use super::{Bus, Port};
use crate::cpu::{Cycles, NEVER};

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const DR: u32 = 0x10;
const SR1: u32 = 0x14;
const SR2: u32 = 0x18;
const CCR: u32 = 0x1c;
const TRISE: u32 = 0x20;

const PE: u32 = 1;
const START: u32 = 1 << 8;
const STOP: u32 = 1 << 9;
const ACK: u32 = 1 << 10;
const SWRST: u32 = 1 << 15;

const SB: u32 = 1;
const ADDR: u32 = 1 << 1;
const BTF: u32 = 1 << 2;
const RXNE: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const AF: u32 = 1 << 10;
/// Errors are cleared by writing zeros.
const ERRORS: u32 = 0xff00;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Phase {
    #[default]
    Idle,
    Starting,
    Addressing(u8),
    Sending(u8),
    Receiving(u8),
    /// The master keeps the clock low.
    Held,
    Stopping,
}

#[derive(Default, Hash)]
pub(super) struct I2c {
    control: [u32; 2],
    /// OAR1, OAR2, CCR, TRISE and FLTR, by offset.
    others: [u32; 10],
    status: u32,
    /// Whether SR1 has been read since its flags changed: the first half of clearing SB and ADDR.
    has_looked: bool,
    phase: Phase,
    until: Cycles,
    reads: bool,
    /// Whether a byte was not acknowledged: none follows.
    ended: bool,
    data: u8,
    /// What is to be sent next, or has been received while the data register was full.
    waiting: Option<u8>,
    bus: Bus,
}

impl I2c {
    pub(super) fn new() -> Self {
        let mut others = [0; 10];
        others[TRISE as usize / 4] = 2;
        I2c {
            others,
            until: NEVER,
            ..I2c::default()
        }
    }

    /// Cycles of the core for a bit: the clock is low and high for CCR cycles of the bus each, or for two and one, or 16 and 9.
    fn bit(&self) -> Cycles {
        let ccr = self.others[CCR as usize / 4];
        let parts = match ccr >> 14 & 3 {
            0 | 1 => 2,
            2 => 3,
            _ => 25,
        };
        u64::from(ccr & 0xfff).max(1) * parts * self.bus.clock.max(1)
    }

    fn enter(&mut self, phase: Phase, bits: u64, now: Cycles) {
        self.phase = phase;
        self.until = now + bits * self.bit();
    }

    fn is_asked(&self, what: u32) -> bool {
        self.control[0] & (PE | what) == PE | what
    }

    fn go_on(&mut self, now: Cycles) {
        match self.phase {
            Phase::Idle if self.is_asked(START) && self.bus.can_begin() => self.enter(Phase::Starting, 1, now),
            // Software has to answer first.
            Phase::Held if self.status & (SB | ADDR) != 0 => {}
            Phase::Held if self.is_asked(STOP) => self.enter(Phase::Stopping, 1, now),
            Phase::Held if self.is_asked(START) => self.enter(Phase::Starting, 1, now),
            Phase::Held if self.ended => {}
            // What comes next does not fit yet.
            Phase::Held if self.reads && self.waiting.is_some() => {}
            Phase::Held if self.reads => {
                let byte = self.bus.read();
                self.enter(Phase::Receiving(byte), 9, now);
            }
            Phase::Held => {
                if let Some(byte) = self.waiting.take() {
                    self.status = self.status & !BTF | TXE;
                    self.enter(Phase::Sending(byte), 9, now);
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Held);
        self.until = NEVER;
        match phase {
            Phase::Starting => {
                self.control[0] &= !START;
                self.status = self.status & ERRORS | SB;
                (self.waiting, self.ended, self.has_looked) = (None, false, false);
            }
            Phase::Addressing(byte) => {
                self.reads = byte & 1 != 0;
                self.has_looked = false;
                if self.bus.address(byte) {
                    self.status |= ADDR;
                } else {
                    self.status |= AF;
                    self.ended = true;
                }
            }
            Phase::Sending(byte) => {
                if !self.bus.write(byte) {
                    self.status |= AF;
                    self.ended = true;
                } else if self.waiting.is_none() {
                    self.status |= BTF;
                }
            }
            Phase::Receiving(byte) => {
                self.ended = self.control[0] & ACK == 0;
                if self.status & RXNE == 0 {
                    self.data = byte;
                    self.status |= RXNE;
                } else {
                    self.waiting = Some(byte);
                    self.status |= BTF;
                }
            }
            Phase::Stopping => {
                self.bus.stop();
                self.control[0] &= !STOP;
                // What was received last can still be read.
                self.status &= ERRORS | RXNE;
                self.phase = Phase::Idle;
            }
            Phase::Idle | Phase::Held => {}
        }
    }

    fn set_control(&mut self, value: u32, now: Cycles) {
        if value & SWRST != 0 || value & PE == 0 {
            let registers = (value & SWRST == 0).then_some((self.control[1], self.others));
            self.forget();
            if let Some((control, others)) = registers {
                (self.control[1], self.others) = (control, others);
            }
            // Without PE there is nothing to start.
            self.control[0] = value & !(START | STOP | PE);
            return;
        }
        if self.control[0] & (START | STOP) != 0 {
            self.bus
                .breaks("CR1 is written while a START or a STOP is still to be done");
        }
        self.control[0] = value;
        if self.phase == Phase::Idle {
            self.control[0] &= !STOP;
        }
        if self.is_asked(START) && self.others[CCR as usize / 4] & 0xfff == 0 {
            self.bus.breaks("a START without a frequency: CCR is 0");
        }
        self.go_on(now);
    }

    fn set_data(&mut self, value: u8, now: Cycles) {
        if self.status & SB != 0 {
            if self.has_looked {
                self.status &= !SB;
                self.enter(Phase::Addressing(value), 9, now);
            }
            return;
        }
        if !self.reads && self.phase != Phase::Idle {
            self.waiting = Some(value);
            self.status &= !(TXE | BTF);
            self.go_on(now);
        }
    }

    fn take_data(&mut self, now: Cycles) -> u8 {
        let data = self.data;
        match self.waiting.take().filter(|_| self.reads) {
            Some(next) => {
                self.data = next;
                self.status &= !BTF;
            }
            None => self.status &= !RXNE,
        }
        self.go_on(now);
        data
    }

    /// Reading SR2 after SR1 lets the address go.
    fn take_second_status(&mut self, now: Cycles) -> u32 {
        let is_master = !matches!(self.phase, Phase::Idle | Phase::Starting);
        let sends = is_master && !self.reads && self.status & SB == 0;
        let status = (u32::from(is_master) * 3) | (u32::from(sends) << 2);
        if self.status & ADDR != 0 && self.has_looked {
            self.status &= !ADDR;
            if !self.reads {
                self.status |= TXE;
            }
            self.go_on(now);
        }
        status
    }

    /// All but wires and clock is as after a reset.
    fn forget(&mut self) {
        *self = I2c {
            bus: std::mem::take(&mut self.bus),
            ..I2c::new()
        };
    }
}

impl Port for I2c {
    fn bus(&mut self) -> &mut Bus {
        &mut self.bus
    }
}

impl Peripheral for I2c {
    fn read(&mut self, offset: u32, now: Cycles) -> u32 {
        match offset {
            DR => self.take_data(now).into(),
            SR1 => {
                self.has_looked = true;
                self.status
            }
            SR2 => self.take_second_status(now),
            CR1 | CR2 => self.control[offset as usize / 4],
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            CR1 => self.set_control(value, now),
            CR2 => self.control[1] = value,
            DR => self.set_data(value as u8, now),
            SR1 => self.status &= value | !ERRORS,
            SR2 => {}
            offset => {
                let register = offset as usize / 4;
                let is_fixed = matches!(offset, CCR | TRISE) && self.control[0] & PE != 0;
                if is_fixed && self.others[register] != value {
                    self.bus.breaks("CCR or TRISE is changed while the port is on");
                } else if let Some(register) = self.others.get_mut(register) {
                    *register = value;
                }
            }
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            CR1 | CR2 => self.control[offset as usize / 4],
            SR1 => u32::MAX,
            DR | SR2 => 0,
            offset => load(&self.others, offset),
        }
    }

    fn advance(&mut self, now: Cycles) {
        while self.until <= now {
            let end = self.until;
            self.finish();
            self.go_on(end);
        }
    }

    fn next_event(&self) -> Cycles {
        self.until
    }

    fn interrupts(&self) -> u32 {
        let (status, enables) = (self.status, self.control[1]);
        let buffers = if enables & 1 << 10 != 0 { TXE | RXNE } else { 0 };
        let events = enables & 1 << 9 != 0 && status & (SB | ADDR | BTF | buffers) != 0;
        let errors = enables & 1 << 8 != 0 && status & ERRORS != 0;
        u32::from(events) | u32::from(errors) << 1
    }

    fn reset(&mut self, _now: Cycles) {
        self.forget();
    }

    fn set_clock(&mut self, cycles: u64, _now: Cycles) {
        self.bus.clock = cycles;
    }

    fn beyond_model(&self) -> Option<&'static str> {
        (self.others[2] & 0xfe != 0).then_some("an address of its own")
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.bus.broken)
    }
}
