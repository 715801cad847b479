//! The SPI of the H7 as a master: RM0433 chapter 50. CRC and I2S are not modeled, and its clock is that of its bus.

use std::collections::VecDeque;

use super::peripheral::{Input, Peripheral, load, store};
use crate::cpu::{Cycles, NEVER};

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const CFG1: u32 = 0x08;
const CFG2: u32 = 0x0c;
const IER: u32 = 0x10;
const SR: u32 = 0x14;
const IFCR: u32 = 0x18;
const TXDR: u32 = 0x20;
const RXDR: u32 = 0x30;

const SPE: u32 = 1;
const CSTART: u32 = 1 << 9;
const CSUSP: u32 = 1 << 10;
const RXDMAEN: u32 = 1 << 14;
const TXDMAEN: u32 = 1 << 15;
const MASTER: u32 = 1 << 22;
/// COMM of CFG2: both directions, or a receiver alone, which needs nothing to send.
const COMM: u32 = 3 << 17;
const RECEIVER: u32 = 2 << 17;

const RXP: u32 = 1;
const TXP: u32 = 1 << 1;
const EOT: u32 = 1 << 3;
const TXTF: u32 = 1 << 4;
const OVR: u32 = 1 << 6;
const SUSP: u32 = 1 << 11;
const TXC: u32 = 1 << 12;
const RXWNE: u32 = 1 << 15;
/// What IFCR clears.
const CLEARED: u32 = 0xff8;

/// Bytes that each FIFO holds.
const FIFO: u32 = 16;

#[derive(Hash)]
pub(super) struct SpiV3 {
    registers: [u32; 0x54 / 4],
    flags: u32,
    /// Frames that wait to be sent, and that have been received.
    to_send: VecDeque<u32>,
    received: VecDeque<u32>,
    /// Frames sent since CSTART.
    sent: u32,
    /// What is being sent, and until when.
    sending: Option<(u32, Cycles)>,
    input: Input,
    clock: u64,
}

impl SpiV3 {
    pub(super) fn new() -> Self {
        let mut registers = [0; 0x54 / 4];
        registers[CFG1 as usize / 4] = 0x0007_0007;
        SpiV3 {
            registers,
            flags: 0,
            to_send: VecDeque::new(),
            received: VecDeque::new(),
            sent: 0,
            sending: None,
            input: Input::Level(true),
            clock: 1,
        }
    }

    fn value(&self, register: u32) -> u32 {
        self.registers[register as usize / 4]
    }

    fn bits(&self) -> u32 {
        (self.value(CFG1) & 0x1f).max(3) + 1
    }

    /// Frames that a FIFO holds.
    fn room(&self) -> u32 {
        FIFO / self.bits().div_ceil(8).next_power_of_two()
    }

    fn frame(&self) -> Cycles {
        u64::from(self.bits()) * (2 << (self.value(CFG1) >> 28 & 7)) * self.clock.max(1)
    }

    fn status(&self) -> u32 {
        let packet = (self.value(CFG1) >> 5 & 0xf) + 1;
        let is_on = self.value(CR1) & SPE != 0;
        let has_sent = self.to_send.is_empty() && self.sending.is_none();
        let (to_send, received) = (self.to_send.len() as u32, self.received.len() as u32);
        let mut status = self.flags;
        for (bit, is_set) in [
            (TXP, is_on && to_send + packet <= self.room()),
            (RXP, received >= packet),
            (RXWNE, received * self.bits().div_ceil(8) >= 4),
            (TXC, has_sent),
        ] {
            if is_set {
                status |= bit;
            }
        }
        status
    }

    fn begin(&mut self, now: Cycles) {
        let is_on = self.value(CR1) & (SPE | CSTART) == SPE | CSTART && self.value(CFG2) & MASTER != 0;
        if !is_on || self.sending.is_some() {
            return;
        }
        let frame = if self.value(CFG2) & COMM == RECEIVER {
            let has_room = (self.received.len() as u32) < self.room();
            has_room.then_some(0)
        } else {
            self.to_send.pop_front()
        };
        if let Some(frame) = frame {
            self.sending = Some((frame, now + self.frame()));
        }
    }

    fn set_control(&mut self, value: u32, now: Cycles) {
        // CSTART is cleared by the hardware only, CSUSP is never read as one.
        let started = self.value(CR1) & CSTART;
        if self.value(CR1) & SPE == 0 && value & SPE != 0 {
            // Switching it on again clears all but this.
            self.flags &= TXTF;
        }
        self.registers[0] = value & !CSUSP | started;
        if value & SPE == 0 {
            self.registers[0] &= !CSTART;
            (self.sending, self.sent) = (None, 0);
            self.to_send.clear();
            self.received.clear();
            return;
        }
        if started == 0 && value & CSTART != 0 {
            self.sent = 0;
        }
        if value & CSUSP != 0 && started != 0 {
            self.registers[0] &= !CSTART;
            self.flags |= SUSP;
        }
        self.begin(now);
    }
}

impl Peripheral for SpiV3 {
    fn read(&mut self, offset: u32, now: Cycles) -> u32 {
        match offset {
            SR => self.status(),
            RXDR => {
                let frame = self.received.pop_front().unwrap_or(0);
                self.begin(now);
                frame
            }
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            CR1 => self.set_control(value, now),
            SR | RXDR => {}
            IFCR => self.flags &= !(value & CLEARED),
            TXDR => {
                if self.value(CR1) & SPE != 0 && (self.to_send.len() as u32) < self.room() {
                    self.to_send.push_back(value);
                    self.begin(now);
                }
            }
            offset => store(&mut self.registers, offset, value),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            SR | IFCR | TXDR | RXDR => 0,
            offset => load(&self.registers, offset),
        }
    }

    fn advance(&mut self, now: Cycles) {
        while let Some((frame, end)) = self.sending.filter(|(_, end)| *end <= now) {
            self.sending = None;
            self.sent += 1;
            if (self.received.len() as u32) < self.room() {
                self.received.push_back(self.input.frame(frame, self.bits()));
            } else {
                self.flags |= OVR;
            }
            let size = self.value(CR2) & 0xffff;
            if size != 0 && self.sent >= size {
                self.registers[0] &= !CSTART;
                self.flags |= EOT | TXTF;
            }
            self.begin(end);
        }
    }

    fn next_event(&self) -> Cycles {
        self.sending.map_or(NEVER, |(_, end)| end)
    }

    fn interrupts(&self) -> u32 {
        u32::from(self.status() & self.value(IER) & 0xfff != 0)
    }

    fn reset(&mut self, _now: Cycles) {
        *self = SpiV3 {
            clock: self.clock,
            input: self.input,
            ..SpiV3::new()
        };
    }

    fn set_clock(&mut self, cycles: u64, _now: Cycles) {
        self.clock = cycles;
    }

    fn dma_requests(&self) -> [bool; 2] {
        let (status, control) = (self.status(), self.value(CFG1));
        [
            status & RXP != 0 && control & RXDMAEN != 0,
            status & TXP != 0 && control & TXDMAEN != 0,
        ]
    }

    fn dma_registers(&self) -> [u32; 2] {
        [RXDR, TXDR]
    }

    fn set_input(&mut self, input: Input) {
        self.input = input;
    }

    fn beyond_model(&self) -> Option<&'static str> {
        (self.value(CR1) & SPE != 0 && self.value(CFG2) & MASTER == 0).then_some("the slave")
    }
}
