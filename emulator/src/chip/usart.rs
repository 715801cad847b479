//! Serial ports: RM0390 chapter 25, asynchronous mode.
//!
//! A wire carries levels: the transmitter puts out edges, the receiver looks at the level three times in the middle
//! of each bit, as the real one does. Whatever happens to a wire in between, the flags for noise, framing and overrun
//! come out of the same sampling.

use std::collections::VecDeque;

use super::Peripheral;
use crate::cpu::{Cycles, NEVER};

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

/// A change of the level of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge<T> {
    /// When.
    pub at: T,
    /// To what; idle is high.
    pub level: bool,
}

/// Disturbance of a wire: time is cut into slots of one bit, and each of them is inverted or not, by chance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noise {
    /// Chance of a slot in units of 2^-32.
    pub(crate) chance: u32,
    /// What the chance depends on besides the time.
    pub(crate) seed: u64,
    /// When it ends.
    pub(crate) until: Cycles,
}

impl Noise {
    fn inverts(&self, time: Cycles, bit: Cycles) -> bool {
        time < self.until && (mix(self.seed ^ mix(time / bit)) >> 32) < u64::from(self.chance)
    }
}

/// Scatters a number: the finalizer of SplitMix64.
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// The receiving end of a wire: the level now and the edges to come.
#[derive(Debug)]
struct Line {
    level: bool,
    edges: VecDeque<Edge<Cycles>>,
    noise: Option<Noise>,
}

impl Line {
    /// A new edge replaces all that was said about the time after it.
    fn push(&mut self, edge: Edge<Cycles>) {
        while self.edges.back().is_some_and(|last| last.at >= edge.at) {
            self.edges.pop_back();
        }
        self.edges.push_back(edge);
    }

    /// The level at a time; earlier edges are forgotten.
    fn level_at(&mut self, time: Cycles) -> bool {
        while let Some(edge) = self.edges.front().filter(|edge| edge.at <= time) {
            self.level = edge.level;
            self.edges.pop_front();
        }
        self.level
    }

    /// The next falling edge up to `now`; the level goes along.
    fn falling_edge(&mut self, now: Cycles) -> Option<Cycles> {
        while let Some(edge) = self.edges.front().copied().filter(|edge| edge.at <= now) {
            self.edges.pop_front();
            let falls = self.level && !edge.level;
            self.level = edge.level;
            if falls {
                return Some(edge.at);
            }
        }
        None
    }
}

/// What has passed through a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received, with or without errors.
    pub received: u64,
    /// Bytes that came before the previous one was taken.
    pub overruns: u64,
    /// Received bytes whose stop bit was low.
    pub framing_errors: u64,
    /// Received bytes of which some sample differed from its neighbours.
    pub noise_errors: u64,
    /// Received bytes with the wrong parity.
    pub parity_errors: u64,
    /// Framing errors with nothing but zeros.
    pub breaks: u64,
    /// Bytes that software threw away by writing a zero to RXNE.
    pub discarded: u64,
}

/// One serial port.
pub struct Usart {
    status: u32,
    received: u32,
    /// What waits for the shift register.
    waiting: Option<u32>,
    baud: u32,
    control: [u32; 3],
    guard: u32,
    /// Status was read: the next access to the data register clears flags.
    status_read: bool,
    /// Core cycles for one cycle of its bus.
    clock: u64,
    /// When the shift register is free again.
    sending_until: Option<Cycles>,
    line: Line,
    /// Start of the frame being received.
    receiving_since: Option<Cycles>,
    /// Since when the line is idle after a reception; `None` once that has been reported.
    idle_since: Option<Cycles>,
    /// Edges put out since they were last taken.
    output: Vec<Edge<Cycles>>,
    /// Bytes sent since they were last taken, if anyone wants them.
    bytes: Option<Vec<u8>>,
    /// Statistics.
    pub traffic: Traffic,
}

impl Default for Usart {
    fn default() -> Self {
        Usart {
            status: TXE | TC,
            received: 0,
            waiting: None,
            baud: 0,
            control: [0; 3],
            guard: 0,
            status_read: false,
            clock: 1,
            sending_until: None,
            line: Line {
                level: true,
                edges: VecDeque::new(),
                noise: None,
            },
            receiving_since: None,
            idle_since: None,
            output: Vec::new(),
            bytes: None,
            traffic: Traffic::default(),
        }
    }
}

impl Usart {
    /// Registers go back to what they are at reset; the wire and the statistics stay. A frame that is being sent ends.
    pub(super) fn reset(&mut self, now: Cycles) {
        if self.sending_until.is_some_and(|end| end > now) {
            self.output.push(Edge { at: now, level: true });
        }
        let old = std::mem::take(self);
        let Usart {
            clock,
            line,
            output,
            bytes,
            traffic,
            ..
        } = old;
        *self = Usart {
            clock,
            line,
            output,
            bytes,
            traffic,
            ..Usart::default()
        };
    }

    pub(super) fn set_clock(&mut self, clock: u64) {
        self.clock = clock;
    }

    /// A mode in use that this model does not have.
    pub(super) fn beyond_model(&self) -> Option<&'static str> {
        if self.control[1] & 1 << 14 != 0 {
            Some("LIN mode")
        } else if self.control[1] & 1 << 11 != 0 {
            Some("the synchronous mode")
        } else if self.control[2] & 1 << 1 != 0 {
            Some("IrDA mode")
        } else if self.control[2] & 1 << 3 != 0 {
            Some("half-duplex mode")
        } else if self.control[2] & 1 << 5 != 0 {
            Some("smartcard mode")
        } else if self.control[2] & 3 << 8 != 0 {
            Some("hardware flow control")
        } else {
            None
        }
    }

    /// Core cycles for one bit.
    pub fn bit_time(&self) -> Cycles {
        let divider = if self.control[0] & OVER8 != 0 {
            self.baud >> 4 << 3 | self.baud & 7
        } else {
            self.baud
        };
        u64::from(divider.max(1)) * self.clock
    }

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

    fn frame_time(&self) -> Cycles {
        self.bit_time() * (1 + self.data_bits()) + self.bit_time() * self.stop_halves() / 2
    }

    fn can_send(&self) -> bool {
        self.control[0] & (UE | TE) == UE | TE && self.baud != 0
    }

    fn can_receive(&self) -> bool {
        self.control[0] & (UE | RE) == UE | RE && self.baud != 0
    }

    /// How soon after an edge software can notice it; `None` if it does not listen.
    pub(crate) fn reaction_time(&self) -> Option<Cycles> {
        self.can_receive().then(|| self.bit_time() * (1 + self.data_bits()))
    }

    /// When the line will have been idle for a frame, if nothing comes.
    pub(crate) fn idle_decision(&self) -> Option<Cycles> {
        self.idle_since.map(|since| since + self.frame_time())
    }

    /// An edge arrives at the receiver.
    pub(crate) fn push_edge(&mut self, edge: Edge<Cycles>) {
        self.line.push(edge);
    }

    /// Disturbs the receiver's wire from now on, or no longer.
    pub(crate) fn set_noise(&mut self, noise: Option<Noise>) {
        self.line.noise = noise;
    }

    /// Keeps the bytes that are sent, for [`take_bytes`](Self::take_bytes).
    pub(crate) fn keep_bytes(&mut self) {
        self.bytes.get_or_insert_default();
    }

    /// The bytes sent since the last call, if they are kept.
    pub(crate) fn take_bytes(&mut self) -> Vec<u8> {
        self.bytes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The edges that the transmitter has put out.
    pub(crate) fn take_output(&mut self) -> Vec<Edge<Cycles>> {
        std::mem::take(&mut self.output)
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Whether DMA shall take a received byte.
    pub(super) fn wants_dma_read(&self) -> bool {
        self.control[2] & DMAR != 0 && self.status & RXNE != 0
    }

    /// Whether DMA shall give a byte to be sent.
    pub(super) fn wants_dma_write(&self) -> bool {
        self.control[2] & DMAT != 0 && self.status & TXE != 0 && self.can_send()
    }

    /// Reads the data register.
    pub(super) fn take_data(&mut self) -> u32 {
        self.status &= !RXNE;
        if std::mem::take(&mut self.status_read) {
            self.status &= !(IDLE | ORE | NF | FE | PE);
        }
        self.received
    }

    /// Writes the data register.
    pub(super) fn give_data(&mut self, value: u32, now: Cycles) {
        if !self.can_send() {
            return;
        }
        self.waiting = Some(value & 0x1ff);
        self.status &= !TXE;
        if std::mem::take(&mut self.status_read) {
            self.status &= !TC;
        }
        if self.sending_until.is_none() {
            self.start_frame(now);
        }
    }

    /// Moves what waits into the shift register.
    fn start_frame(&mut self, at: Cycles) {
        if let Some(data) = self.waiting.take() {
            let bits = self.with_parity(data);
            let levels = bits << 1 | 1 << (1 + self.data_bits());
            for place in 0..self.data_bits() + 2 {
                let level = levels >> place & 1 != 0;
                let before = place == 0 || levels >> (place - 1) & 1 != 0;
                if level != before {
                    self.output.push(Edge {
                        at: at + place * self.bit_time(),
                        level,
                    });
                }
            }
            self.sending_until = Some(at + self.frame_time());
            self.status = self.status & !TC | TXE;
            self.traffic.sent += 1;
            if let Some(bytes) = &mut self.bytes {
                bytes.push(data as u8);
            }
        } else if self.control[0] & SBK != 0 {
            let length = self.bit_time() * (2 + self.data_bits());
            self.output.push(Edge { at, level: false });
            self.output.push(Edge {
                at: at + length,
                level: true,
            });
            self.sending_until = Some(at + length + self.bit_time());
            self.control[0] &= !SBK;
        }
    }

    /// The data bits with parity as the last of them, if that is on.
    fn with_parity(&self, data: u32) -> u64 {
        let bits = self.data_bits() as u32;
        let data = data & ((1 << bits) - 1);
        if self.control[0] & PCE == 0 {
            return u64::from(data);
        }
        let data = data & !(1 << (bits - 1));
        u64::from(data | self.parity_of(data) << (bits - 1))
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

    fn advance_receiver(&mut self, now: Cycles) {
        if !self.can_receive() {
            self.line.level_at(now);
            (self.receiving_since, self.idle_since) = (None, None);
            return;
        }
        loop {
            match self.receiving_since {
                Some(start) if self.decided_at(start) <= now => self.receive(start),
                Some(_) => return,
                None => {
                    // Up to the time at which the line counts as idle nothing but an edge matters.
                    let idle = self.idle_decision();
                    let until = idle.map_or(now, |idle| idle.min(now));
                    self.receiving_since = self.line.falling_edge(until);
                    if self.receiving_since.is_some() {
                        self.idle_since = None;
                    } else if idle.is_some_and(|idle| idle <= now) {
                        self.idle_since = None;
                        self.status |= IDLE;
                    } else {
                        return;
                    }
                }
            }
        }
    }

    /// When the stop bit has been sampled and the byte is there.
    fn decided_at(&self, start: Cycles) -> Cycles {
        start + self.bit_time() * (1 + self.data_bits()) + self.bit_time() * 10 / 16
    }

    /// The majority of three samples in the middle of a bit, and whether they differ.
    fn sample(&mut self, bit_start: Cycles) -> (bool, bool) {
        let bit = self.bit_time();
        // Samples 8, 9 and 10 of 16, or 4, 5 and 6 of 8.
        let (samples, first) = if self.control[0] & OVER8 != 0 { (8, 4) } else { (16, 8) };
        let line = &mut self.line;
        let levels = [first, first + 1, first + 2].map(|sample| {
            let time = bit_start + bit * sample / samples;
            line.level_at(time) ^ line.noise.is_some_and(|noise| noise.inverts(time, bit))
        });
        if self.control[2] & ONEBIT != 0 {
            return (levels[1], false);
        }
        let high = levels.iter().filter(|level| **level).count();
        (high >= 2, high == 1 || high == 2)
    }

    fn receive(&mut self, start: Cycles) {
        self.receiving_since = None;
        let bit = self.bit_time();
        let (level, mut noise) = self.sample(start);
        if level {
            // No start bit, only a spike.
            return;
        }
        let mut data = 0;
        for place in 0..self.data_bits() {
            let (level, differ) = self.sample(start + bit * (1 + place));
            data |= u32::from(level) << place;
            noise |= differ;
        }
        let (stop, differ) = self.sample(start + bit * (1 + self.data_bits()));
        noise |= differ;
        self.deliver(data, noise, !stop);
        // A line that stays low after a break is not idle.
        if stop {
            self.idle_since = Some(start + self.frame_time());
        }
    }

    fn deliver(&mut self, data: u32, noise: bool, framing_error: bool) {
        if self.status & RXNE != 0 {
            self.status |= ORE;
            self.traffic.overruns += 1;
            return;
        }
        self.received = data;
        self.status |= RXNE;
        self.traffic.received += 1;
        if noise {
            self.status |= NF;
            self.traffic.noise_errors += 1;
        }
        if framing_error {
            self.status |= FE;
            self.traffic.framing_errors += 1;
            self.traffic.breaks += u64::from(data == 0);
        }
        let last = self.data_bits() as u32 - 1;
        if self.control[0] & PCE != 0 && self.parity_of(data & !(1 << last)) != data >> last & 1 {
            self.status |= PE;
            self.traffic.parity_errors += 1;
        }
    }

    fn set_control(&mut self, value: u32, now: Cycles) {
        let was_receiving = self.can_receive();
        self.control[0] = value;
        if !was_receiving && self.can_receive() {
            // Only what comes from now on is listened to.
            self.line.level_at(now);
            (self.receiving_since, self.idle_since) = (None, None);
        }
        if self.can_send() && self.sending_until.is_none() && (value & SBK != 0 || self.waiting.is_some()) {
            self.start_frame(now);
        }
    }
}

impl Peripheral for Usart {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
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
            0x00 => {
                self.traffic.discarded += u64::from(self.status & RXNE != 0 && value & RXNE == 0);
                self.status &= value | !(TC | RXNE);
            }
            0x04 => self.give_data(value, now),
            0x08 => self.baud = value & 0xffff,
            0x0c => self.set_control(value, now),
            0x10 | 0x14 => self.control[(offset as usize - 0x0c) / 4] = value,
            0x18 => self.guard = value,
            _ => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
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
        let received = match self.receiving_since {
            Some(start) => self.decided_at(start),
            None => self.line.edges.front().map_or(NEVER, |edge| edge.at),
        };
        sent.min(received).min(self.idle_decision().unwrap_or(NEVER))
    }

    fn interrupt(&self) -> bool {
        let (status, control) = (self.status, self.control[0]);
        // The interrupt enables of TXE, TC, RXNE and IDLE stand at the places of their flags.
        status & control & (TXE | TC | RXNE | IDLE) != 0
            || status & ORE != 0 && control & RXNE != 0
            || status & PE != 0 && control & PEIE != 0
            || status & (ORE | NF | FE) != 0 && self.control[2] & (EIE | DMAR) == EIE | DMAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIT: u64 = 160;

    fn port(bit: u64, control: u32) -> Usart {
        let mut port = Usart::default();
        port.write(0x08, bit as u32, 0);
        port.write(0x0c, UE | TE | RE | control, 0);
        port
    }

    /// Carries what `from` has sent to `to`.
    fn carry(from: &mut Usart, to: &mut Usart) {
        for edge in from.take_output() {
            to.push_edge(edge);
        }
    }

    fn advance(port: &mut Usart, now: Cycles) {
        while port.next_event() <= now {
            let then = port.next_event();
            port.advance(then);
            if port.next_event() <= then {
                break;
            }
        }
        port.advance(now);
    }

    #[test]
    fn every_byte_arrives_as_it_was_sent() {
        for byte in 0..=255 {
            let (mut from, mut to) = (port(BIT, 0), port(BIT, 0));
            from.write(0x04, byte, 1000);
            carry(&mut from, &mut to);
            advance(&mut to, 1000 + BIT * 9);
            assert_eq!(to.status & RXNE, 0, "the stop bit has not been seen");
            advance(&mut to, 1000 + BIT * 10);
            assert_eq!(to.read(0x00, 0) & (RXNE | NF | FE | ORE), RXNE);
            assert_eq!(to.read(0x04, 0), byte);
            assert_eq!(to.status & RXNE, 0);
        }
    }

    #[test]
    fn transmit_flags_follow_the_shift_register() {
        let mut port = port(BIT, 0);
        port.write(0x04, 1, 0);
        assert_eq!(port.status & (TXE | TC), TXE, "the byte has gone to the shift register");
        port.write(0x04, 2, 0);
        assert_eq!(port.status & (TXE | TC), 0);
        advance(&mut port, BIT * 10);
        assert_eq!(port.status & (TXE | TC), TXE);
        advance(&mut port, BIT * 20 - 1);
        assert_eq!(port.status & (TXE | TC), TXE);
        advance(&mut port, BIT * 20);
        assert_eq!(port.status & (TXE | TC), TXE | TC);
    }

    #[test]
    fn a_byte_not_taken_is_an_overrun() {
        let (mut from, mut to) = (port(BIT, 0), port(BIT, 0));
        for (byte, at) in [(0x11, 0), (0x22, BIT * 10)] {
            advance(&mut from, at);
            from.write(0x04, byte, at);
        }
        advance(&mut from, BIT * 30);
        carry(&mut from, &mut to);
        advance(&mut to, BIT * 30);
        assert_eq!(to.read(0x00, 0) & (RXNE | ORE), RXNE | ORE);
        assert_eq!((to.read(0x04, 0), to.traffic.overruns), (0x11, 1));
        assert_eq!(to.read(0x00, 0) & (RXNE | ORE), 0, "status and data were read");
    }

    #[test]
    fn idle_comes_one_frame_after_the_last_byte() {
        let (mut from, mut to) = (port(BIT, 0), port(BIT, IDLE));
        from.write(0x04, 0x55, 0);
        carry(&mut from, &mut to);
        advance(&mut to, BIT * 20 - 1);
        assert_eq!(to.status & IDLE, 0);
        advance(&mut to, BIT * 20);
        assert!(to.status & IDLE != 0 && to.interrupt());
        to.read(0x00, 0);
        to.read(0x04, 0);
        advance(&mut to, BIT * 100);
        assert_eq!(to.status & IDLE, 0, "only once");
    }

    #[test]
    fn the_receiver_bears_four_percent_and_not_eight() {
        let errors = |bit: u64| {
            let mut wrong = 0;
            for byte in 0..=255 {
                let (mut from, mut to) = (port(BIT, 0), port(bit, 0));
                from.write(0x04, byte, 1000);
                carry(&mut from, &mut to);
                advance(&mut to, 1000 + BIT * 11);
                wrong += u32::from(to.read(0x00, 0) & (RXNE | FE | NF) != RXNE || to.read(0x04, 0) != byte);
            }
            wrong
        };
        assert_eq!((errors(BIT * 104 / 100), errors(BIT * 96 / 100)), (0, 0));
        assert!(errors(BIT * 108 / 100) > 200 && errors(BIT * 92 / 100) > 100);
    }

    #[test]
    fn a_line_that_stays_low_is_one_break() {
        let mut to = port(BIT, 0);
        to.push_edge(Edge { at: 50, level: false });
        advance(&mut to, BIT * 100);
        assert_eq!(to.read(0x00, 0) & (RXNE | FE | ORE), RXNE | FE);
        assert_eq!((to.read(0x04, 0), to.traffic.breaks), (0, 1));
        to.push_edge(Edge {
            at: BIT * 100,
            level: true,
        });
        advance(&mut to, BIT * 200);
        assert_eq!(to.read(0x00, 0) & RXNE, 0);
    }

    #[test]
    fn a_spike_is_no_byte_and_a_glitch_is_noise() {
        let mut to = port(BIT, 0);
        for (at, level) in [(100, false), (110, true)] {
            to.push_edge(Edge { at, level });
        }
        advance(&mut to, BIT * 20);
        assert_eq!(to.status & RXNE, 0);
        // A byte of ones, with the ninth sample of one bit pulled low.
        let start = BIT * 30;
        let glitch = start + BIT * 3 + BIT * 9 / 16;
        for (at, level) in [
            (start, false),
            (start + BIT, true),
            (glitch - 2, false),
            (glitch + 2, true),
        ] {
            to.push_edge(Edge { at, level });
        }
        advance(&mut to, BIT * 45);
        assert_eq!(to.read(0x00, 0) & (RXNE | NF | FE), RXNE | NF);
        assert_eq!(to.read(0x04, 0), 0xff);
    }

    #[test]
    fn parity_is_added_and_checked() {
        let (mut from, mut to) = (port(BIT, M | PCE), port(BIT, M | PCE));
        from.write(0x04, 0x07, 0);
        carry(&mut from, &mut to);
        advance(&mut to, BIT * 12);
        assert_eq!((to.status & PE, to.received), (0, 0x107));
        let mut odd = port(BIT, M | PCE | PS);
        from = port(BIT, M | PCE);
        from.write(0x04, 0x07, 0);
        carry(&mut from, &mut odd);
        advance(&mut odd, BIT * 12);
        assert_eq!(odd.status & PE, PE);
    }

    #[test]
    fn writing_zero_to_rxne_loses_a_byte() {
        let (mut from, mut to) = (port(BIT, 0), port(BIT, 0));
        from.write(0x04, 9, 0);
        carry(&mut from, &mut to);
        advance(&mut to, BIT * 10);
        to.write(0x00, !(TC | RXNE), 0);
        assert_eq!((to.status & RXNE, to.traffic.discarded), (0, 1));
    }
}
