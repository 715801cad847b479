//! Serial ports: RM0390 chapter 25, asynchronous mode; embassy calls these v2. Those of L4, G4 and H7 have other registers: `v3`.
//!
//! A wire carries levels: the transmitter puts out those of a frame, the receiver looks at the level three times in the middle
//! of each bit, as the real one does. Whatever happens to a wire in between, the flags for noise, framing and overrun come out of
//! the same sampling. Only a frame whose bits are all where the receiver looks for them is read at once.

mod outside;
mod receiver;
mod v3;

use super::peripheral::Peripheral;
use super::rules::{Rule, Violation};
use super::rx_pin::RxPin;
use super::wave::Wave;
use crate::cpu::{Cycles, NEVER};
use std::collections::VecDeque;
pub(super) use v3::Registers;

const TXE: u32 = 1 << 7;
const TC: u32 = 1 << 6;
const RXNE: u32 = 1 << 5;
const IDLE: u32 = 1 << 4;
const ORE: u32 = 1 << 3;
const NF: u32 = 1 << 2;
const FE: u32 = 1 << 1;
const PE: u32 = 1;

const UE: u32 = 1 << 13;
const M: u32 = 1 << 12;
const PCE: u32 = 1 << 10;
const PS: u32 = 1 << 9;
const PEIE: u32 = 1 << 8;
const TE: u32 = 1 << 3;
const RE: u32 = 1 << 2;
const SBK: u32 = 1;
const OVER8: u32 = 1 << 15;

const EIE: u32 = 1;
const DMAR: u32 = 1 << 6;
const DMAT: u32 = 1 << 7;
const ONEBIT: u32 = 1 << 11;

/// What has passed through a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UartCounters {
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received, with or without errors.
    pub received: u64,
    /// Bytes that came before the previous one was taken.
    pub overruns: u64,
    /// Received bytes whose stop bit was low.
    pub framing_errors: u64,
    /// Received bytes of which some sample differed from its neighbors.
    pub noise_errors: u64,
    /// Received bytes with the wrong parity.
    pub parity_errors: u64,
    /// Framing errors with nothing but zeros.
    pub breaks: u64,
    /// Bytes that software threw away by writing a zero to RXNE.
    pub discarded: u64,
}

/// Lengths in cycles of the core.
#[derive(Clone, Copy, Default, Hash)]
struct Lengths {
    bit: Cycles,
    /// From the start bit to where the stop bit begins.
    to_stop: Cycles,
    /// From there on until the stop bit has been sampled.
    to_decision: Cycles,
    /// With all stop bits.
    frame: Cycles,
    /// From the beginning of a bit to each of its three samples: 8, 9 and 10 of 16, or 4, 5 and 6 of 8.
    samples: [Cycles; 3],
}

/// One serial port.
#[derive(Default, Hash)]
pub struct Usart {
    status: u32,
    received: u32,
    /// What waits for the shift register: one byte, or what its FIFO holds.
    waiting: VecDeque<u32>,
    registers: Registers,
    /// What L4, G4 and H7 have besides: CR1 as it was written, of which `control` has the F4's form, RTOR, PRESC, and the bytes received.
    written: u32,
    timeout: u32,
    prescaler: u32,
    fifo: VecDeque<u32>,
    baud: u32,
    control: [u32; 3],
    guard: u32,
    /// Status was read: the next access to the data register clears flags.
    status_read: bool,
    /// Core cycles for one cycle of its bus.
    clock: u64,
    /// How long bits and frames take, as the registers say.
    lengths: Lengths,
    sending_until: Option<Cycles>,
    rx_pin: RxPin,
    /// Whether the pins that have the cable are connected to it.
    has_tx: bool,
    has_rx: bool,
    /// Something was sent without the pin, and nobody has asked yet.
    sent_nowhere: bool,
    receiving_since: Option<Cycles>,
    /// Since when the line is idle after a reception; `None` once that has been reported.
    idle_since: Option<Cycles>,
    output: Vec<Wave>,
    /// Bytes sent since they were last taken, if anyone wants them.
    bytes: Option<Vec<u8>>,
    counters: UartCounters,
    /// Rules that were broken, in words, until they are asked for.
    broken: Vec<String>,
}

impl Usart {
    /// Bits between start and stop, with the parity bit.
    fn data_bits(&self) -> u64 {
        if self.control[0] & M != 0 { 9 } else { 8 }
    }

    /// Length of the stop bits in half bits.
    fn stop_halves(&self) -> u64 {
        match self.control[1] >> 12 & 3 {
            0 => 2,
            1 => 1,
            2 => 4,
            _ => 3,
        }
    }

    /// A register or the clock has changed that lengths depend on.
    fn set_lengths(&mut self) {
        let divider = if self.control[0] & OVER8 != 0 {
            self.baud >> 4 << 3 | self.baud & 7
        } else {
            self.baud
        };
        let bit = self.bit_of(divider);
        let to_stop = bit * (1 + self.data_bits());
        let (first, shift) = if self.control[0] & OVER8 != 0 { (4, 3) } else { (8, 4) };
        self.lengths = Lengths {
            bit,
            to_stop,
            to_decision: to_stop + bit * 10 / 16,
            frame: to_stop + bit * self.stop_halves() / 2,
            samples: [first, first + 1, first + 2].map(|sample| (bit * sample) >> shift),
        };
    }

    fn can_send(&self) -> bool {
        self.control[0] & (UE | TE) == UE | TE && self.baud != 0
    }

    fn can_receive(&self) -> bool {
        self.control[0] & (UE | RE) == UE | RE && self.baud != 0 && self.has_rx
    }

    fn start_frame(&mut self, at: Cycles) {
        if let Some(data) = self.waiting.pop_front() {
            if self.has_tx {
                self.put_out(data, at);
            }
            self.sent_nowhere |= !self.has_tx;
            self.sending_until = Some(at + self.lengths.frame);
            self.status = self.status & !TC | TXE;
        } else if self.control[0] & SBK != 0 {
            let length = self.lengths.bit * (2 + self.data_bits());
            if self.has_tx {
                self.output.push(Wave::level(at, false));
                self.output.push(Wave::level(at + length, true));
            }
            self.sending_until = Some(at + length + self.lengths.bit);
            self.control[0] &= !SBK;
        }
    }

    fn put_out(&mut self, data: u32, at: Cycles) {
        let bits = self.data_bits() as u32;
        let levels = self.with_parity(data) << 1 | 1 << (1 + bits);
        self.output.push(Wave::frame(at, self.lengths.bit, levels, 2 + bits));
        self.counters.sent += 1;
        if let Some(bytes) = &mut self.bytes {
            bytes.push(data as u8);
        }
    }

    /// The data bits with parity as the last of them, if that is on.
    fn with_parity(&self, data: u32) -> u16 {
        let bits = self.data_bits() as u32;
        let data = data & ((1 << bits) - 1);
        if self.control[0] & PCE == 0 {
            return data as u16;
        }
        let data = data & !(1 << (bits - 1));
        (data | self.parity_of(data) << (bits - 1)) as u16
    }

    fn parity_of(&self, data: u32) -> u32 {
        let odd = u32::from(self.control[0] & PS != 0);
        data.count_ones() & 1 ^ odd
    }

    fn advance_transmitter(&mut self, now: Cycles) {
        while let Some(end) = self.sending_until.filter(|end| *end <= now) {
            self.sending_until = None;
            if self.can_send() {
                self.start_frame(end);
            }
            if self.sending_until.is_none() {
                self.status |= TC;
            }
        }
    }

    /// A receiver that was off listens only to what comes from now on.
    fn begin_to_listen(&mut self, was_receiving: bool, now: Cycles) {
        if !was_receiving && self.can_receive() {
            self.rx_pin.level_at(now);
            (self.receiving_since, self.idle_since) = (None, None);
        }
    }

    fn breaks(&mut self, how: &str) {
        self.broken.push(how.into());
    }

    /// With eight samples a bit, the divider has three bits of a fraction, and the fourth is kept clear.
    fn check_divider(&mut self) {
        if self.control[0] & (UE | OVER8) == UE | OVER8 && self.baud & 8 != 0 {
            self.breaks(&format!("bit 3 of BRR {:#x} is set, with OVER8", self.baud));
        }
        if self.control[0] & UE != 0 && !self.is_v3() && self.baud < 16 {
            self.breaks(&format!("BRR is {:#x}, at least 0x10", self.baud));
        }
    }

    /// The divider of an F4 may be changed while the port is on, but not within a byte. One that is off receives none.
    fn set_divider_v2(&mut self, value: u32) {
        if self.baud != value & 0xffff
            && (self.sending_until.is_some() || self.can_receive() && self.receiving_since.is_some())
        {
            self.breaks("BRR is changed while a byte is on its way");
        }
        self.baud = value & 0xffff;
        self.check_divider();
    }

    fn set_control(&mut self, value: u32, now: Cycles) {
        let was_receiving = self.can_receive();
        let is_new = (self.control[0] ^ value) & (UE | OVER8) != 0;
        self.control[0] = value;
        if is_new {
            self.check_divider();
        }
        self.set_lengths();
        self.begin_to_listen(was_receiving, now);
        if self.can_send() && self.sending_until.is_none() && (value & SBK != 0 || !self.waiting.is_empty()) {
            self.start_frame(now);
        }
    }
}

impl Peripheral for Usart {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        if self.is_v3() {
            return self.read_v3(offset);
        }
        match offset {
            0x00 => {
                self.status_read = true;
                self.status
            }
            0x04 => self.take_data(),
            offset => self.rest(offset),
        }
    }

    fn write(&mut self, offset: u32, value: u32, now: Cycles) {
        match offset {
            _ if self.is_v3() => self.write_v3(offset, value, now),
            0x00 => {
                self.counters.discarded += u64::from(self.status & RXNE != 0 && value & RXNE == 0);
                self.status &= value | !(TC | RXNE);
            }
            0x04 => self.give_data(value, now),
            0x08 => self.set_divider_v2(value),
            0x0c => self.set_control(value, now),
            0x10 | 0x14 => self.control[(offset as usize - 0x0c) / 4] = value,
            0x18 => self.guard = value,
            _ => {}
        }
        self.set_lengths();
    }

    fn rest(&self, offset: u32) -> u32 {
        if self.is_v3() {
            return self.rest_v3(offset);
        }
        match offset {
            // Flags are cleared by zeros: bytes that are not written must be ones.
            0x00 => u32::MAX,
            0x08 => self.baud,
            0x0c..=0x14 => self.control[(offset as usize - 0x0c) / 4],
            0x18 => self.guard,
            _ => 0,
        }
    }

    fn advance(&mut self, now: Cycles) {
        self.advance_transmitter(now);
        self.advance_receiver(now);
    }

    fn next_event(&self) -> Cycles {
        let sent = self.sending_until.unwrap_or(NEVER);
        if !self.can_receive() {
            return sent;
        }
        // Where a frame begins nothing is to be seen yet, only where it has been decided; a line is idle until then.
        let idle = self.idle_since.map(|since| since + self.lengths.frame);
        let seen = match self.receiving_since.or_else(|| self.rx_pin.next_fall()) {
            Some(start) if idle.is_none_or(|idle| start <= idle) => self.decided_at(start),
            _ => idle.unwrap_or(NEVER),
        };
        sent.min(seen)
    }

    fn interrupts(&self) -> u32 {
        let (status, control) = (self.status, self.control[0]);
        // The interrupt enables of TXE, TC, RXNE and IDLE stand at the places of their flags.
        let requested = status & control & (TXE | TC | RXNE | IDLE) != 0
            || status & ORE != 0 && control & RXNE != 0
            || status & PE != 0 && control & PEIE != 0
            || status & (ORE | NF | FE) != 0
                && self.control[2] & EIE != 0
                && (self.is_v3() || self.control[2] & DMAR != 0);
        u32::from(requested)
    }

    /// The level of the pin and the counters stay. A frame that is being sent ends.
    fn reset(&mut self, now: Cycles) {
        if self.sending_until.is_some_and(|end| end > now) {
            self.output.push(Wave::level(now, true));
        }
        let old = std::mem::take(self);
        *self = Usart {
            clock: old.clock,
            rx_pin: old.rx_pin,
            has_tx: old.has_tx,
            has_rx: old.has_rx,
            output: old.output,
            bytes: old.bytes,
            counters: old.counters,
            ..Usart::new(old.registers)
        };
        self.set_lengths();
    }

    fn set_clock(&mut self, cycles: u64, _now: Cycles) {
        self.clock = cycles;
        self.set_lengths();
    }

    fn dma_requests(&self) -> [bool; 2] {
        [self.wants_dma_read(), self.wants_dma_write()]
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        let broken = self.broken.drain(..);
        broken.map(|how| Violation { rule: Rule::Uart, how }).collect()
    }
}

#[cfg(test)]
mod tests;
