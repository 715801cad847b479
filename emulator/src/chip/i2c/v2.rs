//! The I2C of L4, G4, H7 and the FMPI2C of the F446 as a master: RM0351 chapter 39, RM0440 chapter 41, RM0433 chapter 47.

use super::super::peripheral::{Peripheral, load, store};
use super::super::rules::Violation;
use super::{Bus, Port};
use crate::cpu::{Cycles, NEVER};

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const TIMINGR: u32 = 0x10;
const ISR: u32 = 0x18;
const ICR: u32 = 0x1c;
const RXDR: u32 = 0x24;
const TXDR: u32 = 0x28;

const PE: u32 = 1;
const READS: u32 = 1 << 10;
const START: u32 = 1 << 13;
const STOP: u32 = 1 << 14;
const RELOAD: u32 = 1 << 24;
const AUTO_END: u32 = 1 << 25;

const TXE: u32 = 1;
const TXIS: u32 = 1 << 1;
const RXNE: u32 = 1 << 2;
const NACKF: u32 = 1 << 4;
const STOPF: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TCR: u32 = 1 << 7;
const BUSY: u32 = 1 << 15;
/// What ICR clears.
const CLEARED: u32 = 0x3f38;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Phase {
    #[default]
    Idle,
    /// The start and the address.
    Calling,
    Sending(u8),
    Receiving(u8),
    /// The master keeps the clock low.
    Held,
    Stopping,
}

#[derive(Default, Hash)]
pub(super) struct I2c {
    control: [u32; 2],
    /// OAR1, OAR2, TIMINGR, TIMEOUTR and PECR, by offset.
    others: [u32; 9],
    status: u32,
    phase: Phase,
    until: Cycles,
    left: u32,
    received: u8,
    /// Whether address or byte was not acknowledged.
    refused: bool,
    /// What is to be sent next, or has been received while RXDR was full.
    waiting: Option<u8>,
    bus: Bus,
}

impl I2c {
    pub(super) fn new() -> Self {
        I2c {
            status: TXE,
            until: NEVER,
            ..I2c::default()
        }
    }

    /// Cycles of the core for a bit.
    fn bit(&self) -> Cycles {
        let timing = self.others[TIMINGR as usize / 4];
        let counts = u64::from(timing & 0xff) + u64::from(timing >> 8 & 0xff) + 2;
        (u64::from(timing >> 28) + 1) * counts * self.bus.clock.max(1)
    }

    fn enter(&mut self, phase: Phase, bits: u64, now: Cycles) {
        self.phase = phase;
        self.until = now + bits * self.bit();
    }

    fn is_asked(&self, what: u32) -> bool {
        self.control[0] & PE != 0 && self.control[1] & what != 0
    }

    fn reads(&self) -> bool {
        self.control[1] & READS != 0
    }

    fn stop(&mut self, now: Cycles) {
        self.status &= !(TC | TCR | TXIS);
        if self.refused {
            self.status |= NACKF;
        }
        self.enter(Phase::Stopping, 1, now);
    }

    fn call(&mut self, now: Cycles) {
        if self.bus.can_begin() {
            self.status = self.status & !(TC | TCR) | BUSY;
            self.enter(Phase::Calling, 10, now);
        }
    }

    fn go_on(&mut self, now: Cycles) {
        match self.phase {
            Phase::Idle | Phase::Held if self.is_asked(START) => self.call(now),
            Phase::Held if self.refused || self.is_asked(STOP) => self.stop(now),
            // What comes next does not fit yet.
            Phase::Held if self.reads() && self.waiting.is_some() => {}
            Phase::Held if self.left == 0 => match self.control[1] & (RELOAD | AUTO_END) {
                0 => self.status |= TC,
                AUTO_END => self.stop(now),
                _ => self.status |= TCR,
            },
            Phase::Held if self.reads() => {
                let byte = self.bus.read();
                self.enter(Phase::Receiving(byte), 9, now);
            }
            Phase::Held => match self.waiting.take() {
                Some(byte) => {
                    self.status = self.status & !TXIS | TXE;
                    self.enter(Phase::Sending(byte), 9, now);
                }
                None => self.status |= TXIS,
            },
            _ => {}
        }
    }

    fn finish(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Held);
        self.until = NEVER;
        match phase {
            Phase::Calling => {
                self.control[1] &= !START;
                self.left = self.control[1] >> 16 & 0xff;
                let byte = (self.control[1] & 0xfe) as u8 | u8::from(self.reads());
                self.refused = !self.bus.address(byte);
            }
            Phase::Sending(byte) => {
                self.left -= 1;
                self.refused = !self.bus.write(byte);
            }
            Phase::Receiving(byte) => {
                self.left -= 1;
                if self.status & RXNE == 0 {
                    self.received = byte;
                    self.status |= RXNE;
                } else {
                    self.waiting = Some(byte);
                }
            }
            Phase::Stopping => {
                self.bus.stop();
                self.control[1] &= !STOP;
                self.status = self.status & !BUSY | STOPF;
                self.phase = Phase::Idle;
                self.refused = false;
            }
            Phase::Idle | Phase::Held => {}
        }
    }

    fn set_transfer(&mut self, value: u32, now: Cycles) {
        // START and STOP are cleared by the hardware only.
        let pending = self.control[1] & (START | STOP);
        if self.control[1] & START != 0 && (value ^ self.control[1]) & !(START | STOP) != 0 {
            self.bus.breaks("CR2 is changed while START is set");
        }
        self.control[1] = value | pending;
        if self.control[0] & PE == 0 || self.phase == Phase::Idle {
            self.control[1] &= !STOP;
        }
        if self.control[0] & PE == 0 {
            self.control[1] &= !START;
        }
        if self.status & TCR != 0 && value >> 16 & 0xff != 0 {
            self.status &= !TCR;
            self.left = value >> 16 & 0xff;
        }
        self.go_on(now);
    }

    fn take_received(&mut self, now: Cycles) -> u8 {
        let byte = self.received;
        match self.waiting.take_if(|_| self.control[1] & READS != 0) {
            Some(next) => self.received = next,
            None => self.status &= !RXNE,
        }
        self.go_on(now);
        byte
    }

    /// All but wires, clock and configuration is as after a reset.
    fn switch_off(&mut self) {
        *self = I2c {
            control: [self.control[0], self.control[1] & !(START | STOP)],
            others: self.others,
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
            ISR => self.status,
            RXDR => self.take_received(now).into(),
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            CR1 => {
                self.control[0] = value;
                if value & PE == 0 {
                    self.switch_off();
                }
            }
            CR2 => self.set_transfer(value, now),
            TIMINGR if self.control[0] & PE != 0 && value != self.rest(TIMINGR) => {
                self.bus.breaks("TIMINGR is changed while the port is on");
            }
            // TXE is set to forget what is in TXDR.
            ISR if value & TXE != 0 && !self.reads() => {
                self.waiting = None;
                self.status |= TXE;
            }
            ISR => {}
            ICR => self.status &= !(value & CLEARED),
            TXDR => {
                if !self.reads() {
                    self.waiting = Some(value as u8);
                    self.status &= !(TXE | TXIS);
                    self.go_on(now);
                }
            }
            offset => store(&mut self.others, offset, value),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            CR1 | CR2 => self.control[offset as usize / 4],
            ISR | ICR | RXDR | TXDR => 0,
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

    /// Events and errors. TXIE, RXIE, NACKIE, STOPIE and TCIE are bits 1, 2, 4, 5 and 6 of CR1, ERRIE is bit 7.
    fn interrupts(&self) -> u32 {
        let (status, enables) = (self.status, self.control[0]);
        let done = if status & TCR != 0 { TC } else { 0 };
        u32::from((status | done) & enables & (TXIS | RXNE | NACKF | STOPF | TC) != 0)
            | u32::from(status & 0x3f00 != 0 && enables & 1 << 7 != 0) << 1
    }

    fn reset(&mut self, _now: Cycles) {
        self.switch_off();
        (self.control, self.others) = ([0; 2], [0; 9]);
    }

    fn set_clock(&mut self, cycles: u64, _now: Cycles) {
        self.bus.clock = cycles;
    }

    fn beyond_model(&self) -> Option<&'static str> {
        ((self.others[2] | self.others[3]) & 1 << 15 != 0).then_some("an address of its own")
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.bus.broken)
    }
}
