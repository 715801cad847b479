//! SPI masters with the registers of F4 (RM0390 chapter 26), L4 (RM0351 chapter 42) and G4 (RM0440 chapter 39): one frame at a time. CRC, I2S and the
//! FIFOs' packing are not modeled.

use super::peripheral::{Input, Peripheral, load, store};
use crate::cpu::{Cycles, NEVER};

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const SR: u32 = 0x08;
const DR: u32 = 0x0c;

const MSTR: u32 = 1 << 2;
const SPE: u32 = 1 << 6;
const DFF: u32 = 1 << 11;

const RXNE: u32 = 1;
const TXE: u32 = 1 << 1;
const OVR: u32 = 1 << 6;
const BSY: u32 = 1 << 7;

/// DMA requests in CR2.
const RXDMAEN: u32 = 1;
const TXDMAEN: u32 = 2;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Frames of 8 or 16 bits, chosen in CR1.
    V1,
    /// Of 4 to 16 bits, chosen in CR2.
    V2,
}

#[derive(Hash)]
pub(super) struct Spi {
    kind: Kind,
    /// With CRC polynomial and I2S configuration, which are only kept.
    registers: [u32; 10],
    status: u32,
    received: u32,
    waiting: Option<u32>,
    sent: u32,
    sending_until: Option<Cycles>,
    input: Input,
    clock: u64,
}

impl Spi {
    pub(super) fn new(kind: Kind) -> Self {
        let mut registers = [0; 10];
        registers[1] = if kind == Kind::V2 { 7 << 8 } else { 0 };
        Spi {
            kind,
            registers,
            status: TXE,
            received: 0,
            waiting: None,
            sent: 0,
            sending_until: None,
            input: Input::Level(true),
            clock: 1,
        }
    }

    fn bits(&self) -> u64 {
        match self.kind {
            Kind::V1 if self.registers[0] & DFF != 0 => 16,
            Kind::V1 => 8,
            // Less than four are not used: they are eight.
            Kind::V2 => match self.registers[1] >> 8 & 0xf {
                0..3 => 8,
                bits => u64::from(bits) + 1,
            },
        }
    }

    /// A frame lasts as many bits as it has, each of 2 to 256 cycles of the bus.
    fn frame(&self) -> Cycles {
        self.bits() * (2 << (self.registers[0] >> 3 & 7)) * self.clock.max(1)
    }

    fn begin(&mut self, now: Cycles) {
        let is_on = self.registers[0] & (SPE | MSTR) == SPE | MSTR;
        if is_on
            && self.sending_until.is_none()
            && let Some(frame) = self.waiting.take()
        {
            self.sent = frame;
            self.status |= TXE;
            self.sending_until = Some(now + self.frame());
        }
    }
}

impl Peripheral for Spi {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            SR => self.status | (u32::from(self.sending_until.is_some()) * BSY),
            DR => {
                self.status &= !(RXNE | OVR);
                self.received
            }
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            CR1 | CR2 => {
                store(&mut self.registers, offset, value);
                self.begin(now);
            }
            DR => {
                self.waiting = Some(value);
                self.status &= !TXE;
                self.begin(now);
            }
            SR => {}
            offset => store(&mut self.registers, offset, value),
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        load(&self.registers, offset)
    }

    fn advance(&mut self, now: Cycles) {
        while let Some(end) = self.sending_until.filter(|end| *end <= now) {
            self.sending_until = None;
            if self.status & RXNE != 0 {
                self.status |= OVR;
            } else {
                self.received = self.input.frame(self.sent, self.bits() as u32);
                self.status |= RXNE;
            }
            self.begin(end);
        }
    }

    fn next_event(&self) -> Cycles {
        self.sending_until.unwrap_or(NEVER)
    }

    /// The interrupt enables of ERR, RXNE and TXE are bits 5, 6 and 7 of CR2.
    fn interrupts(&self) -> u32 {
        let (status, enables) = (self.status, self.registers[1]);
        u32::from(
            status & OVR != 0 && enables & 1 << 5 != 0
                || status & RXNE != 0 && enables & 1 << 6 != 0
                || status & TXE != 0 && enables & 1 << 7 != 0,
        )
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Spi {
            clock: self.clock,
            input: self.input,
            ..Spi::new(self.kind)
        };
    }

    fn set_clock(&mut self, cycles: u64, _now: Cycles) {
        self.clock = cycles;
    }

    fn dma_requests(&self) -> [bool; 2] {
        let (status, control) = (self.status, self.registers[1]);
        [
            status & RXNE != 0 && control & RXDMAEN != 0,
            status & TXE != 0 && control & TXDMAEN != 0,
        ]
    }

    fn dma_registers(&self) -> [u32; 2] {
        [DR; 2]
    }

    fn set_input(&mut self, input: Input) {
        self.input = input;
    }

    fn beyond_model(&self) -> Option<&'static str> {
        (self.registers[0] & (SPE | MSTR) == SPE).then_some("the slave")
    }
}
