//! The receiver: where a frame begins, what it holds, and what is wrong with it.

use super::{FE, IDLE, Lengths, NF, ONEBIT, ORE, PCE, PE, RXNE, Usart};
use crate::cpu::Cycles;

impl Usart {
    pub(super) fn advance_receiver(&mut self, now: Cycles) {
        if !self.can_receive() {
            self.rx_pin.level_at(now);
            (self.receiving_since, self.idle_since) = (None, None);
            return;
        }
        loop {
            match self.receiving_since {
                Some(start) if self.decided_at(start) <= now => self.receive(start),
                Some(_) => return,
                None => {
                    // Up to the time at which the line counts as idle nothing but an edge matters.
                    let idle = self.idle_since.map(|since| since + self.lengths.frame);
                    let until = idle.map_or(now, |idle| idle.min(now));
                    self.receiving_since = self.rx_pin.falling_edge(until);
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
    pub(super) fn decided_at(&self, start: Cycles) -> Cycles {
        start + self.lengths.to_decision
    }

    /// The majority of three samples in the middle of a bit, and whether they differ.
    pub(super) fn sample(&mut self, bit_start: Cycles) -> (bool, bool) {
        let Lengths { bit, samples, .. } = self.lengths;
        let first_level = self.rx_pin.sample(bit_start + samples[0], bit);
        if self.rx_pin.is_steady_until(bit_start + samples[2]) {
            return (first_level, false);
        }
        let [second, third] = [samples[1], samples[2]].map(|sample| self.rx_pin.sample(bit_start + sample, bit));
        let levels = [first_level, second, third];
        if self.control[2] & ONEBIT != 0 {
            return (levels[1], false);
        }
        let high = levels.iter().filter(|level| **level).count();
        (high >= 2, high == 1 || high == 2)
    }

    pub(super) fn receive(&mut self, start: Cycles) {
        self.receiving_since = None;
        let Lengths { bit, samples, .. } = self.lengths;
        let bits = self.data_bits() as u32;
        let (levels, noise) = match self.rx_pin.whole_frame(start, bits + 2, bit, samples) {
            Some(levels) => (levels, false),
            None => self.sample_frame(start, bits + 2),
        };
        if levels & 1 != 0 {
            // No start bit, only a spike.
            return;
        }
        let data = u32::from(levels) >> 1 & ((1 << bits) - 1);
        let stop = levels >> (bits + 1) & 1 != 0;
        self.deliver(data, noise, !stop);
        // A line that stays low after a break is not idle.
        if stop {
            self.idle_since = Some(start + self.lengths.frame);
        }
    }

    /// The bits of a frame, of which there are no more if the first is high, and whether any samples of one differ.
    fn sample_frame(&mut self, start: Cycles, count: u32) -> (u16, bool) {
        let (mut levels, mut noise) = (0, false);
        for place in 0..count {
            let (level, differ) = self.sample(start + self.lengths.bit * u64::from(place));
            levels |= u16::from(level) << place;
            noise |= differ;
            if levels & 1 != 0 {
                break;
            }
        }
        (levels, noise)
    }

    pub(super) fn deliver(&mut self, data: u32, noise: bool, framing_error: bool) {
        let errors = (u32::from(noise) * NF) | (u32::from(framing_error) * FE) | self.parity_error(data);
        if self.is_v3() {
            if !self.keep_v3(data, errors) {
                return;
            }
        } else if self.status & RXNE != 0 {
            self.status |= ORE;
            self.counters.overruns += 1;
            return;
        } else {
            self.received = data;
            self.status |= RXNE;
        }
        self.status |= errors;
        self.counters.received += 1;
        self.counters.noise_errors += u64::from(noise);
        self.counters.framing_errors += u64::from(framing_error);
        self.counters.breaks += u64::from(framing_error && data == 0);
        self.counters.parity_errors += u64::from(errors & PE != 0);
    }

    pub(super) fn parity_error(&self, data: u32) -> u32 {
        let last = self.data_bits() as u32 - 1;
        let is_wrong = self.control[0] & PCE != 0 && self.parity_of(data & !(1 << last)) != data >> last & 1;
        u32::from(is_wrong) * PE
    }
}
