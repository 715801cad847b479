//! The receiving pin of a serial port: what level the wire has there, now and soon.

use std::collections::VecDeque;

use super::wave::Wave;
use crate::cpu::{Cycles, NEVER};
use crate::hash::mix;

/// Disturbance of a wire: time is cut into slots of one bit, and each of them is inverted or not, by chance.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Noise {
    /// Chance of a slot in units of 2^-32.
    pub(crate) chance: u32,
    pub(crate) seed: u64,
    pub(crate) until: Cycles,
    /// Only bits that are shorter than this are inverted.
    pub(crate) shorter_than: Cycles,
}

impl Noise {
    fn inverts(&self, time: Cycles, bit: Cycles) -> bool {
        time < self.until
            && bit < self.shorter_than
            && (mix(self.seed ^ mix(time / bit)) >> 32) < u64::from(self.chance)
    }
}

#[derive(Clone, Copy)]
struct Edge {
    at: Cycles,
    level: bool,
}

/// A receiving pin: its level, and what is to come.
#[derive(Debug, Hash)]
pub(super) struct RxPin {
    level: bool,
    /// Each until the next begins. The changes of the first may have been looked at in part.
    waves: VecDeque<Wave>,
    /// A bit for each change of the first of them that is still to come.
    changes: u16,
    /// When the first of these is.
    next: Cycles,
    noise: Option<Noise>,
}

impl Default for RxPin {
    fn default() -> Self {
        RxPin {
            level: true,
            waves: VecDeque::new(),
            changes: 0,
            next: NEVER,
            noise: None,
        }
    }
}

impl RxPin {
    pub(super) fn set_noise(&mut self, noise: Option<Noise>) {
        self.noise = noise;
    }

    /// When the level falls next, as far as is known.
    pub(super) fn next_fall(&self) -> Option<Cycles> {
        if self.level && self.next != NEVER {
            return Some(self.next);
        }
        let (mut level, mut changes) = (self.level, self.changes);
        for (number, wave) in self.waves.iter().enumerate() {
            if number > 0 {
                changes = wave.changes(level);
            }
            while let Some(edge) = self.first_edge(number, changes) {
                if level {
                    return Some(edge.at);
                }
                level = edge.level;
                changes &= changes - 1;
            }
        }
        None
    }

    /// The first of some changes of a wave, unless the next wave begins before it.
    fn first_edge(&self, number: usize, changes: u16) -> Option<Edge> {
        let wave = self.waves.get(number)?;
        let place = changes.trailing_zeros();
        let edge = Edge {
            at: wave.begin(place),
            level: wave.level_of(place),
        };
        let is_replaced = self.waves.get(number + 1).is_some_and(|next| next.at <= edge.at);
        (changes != 0 && !is_replaced).then_some(edge)
    }

    /// Finds the next change, and forgets waves without any.
    fn settle(&mut self) {
        loop {
            if let Some(edge) = self.first_edge(0, self.changes) {
                self.next = edge.at;
                return;
            }
            self.next = NEVER;
            self.waves.pop_front();
            let Some(wave) = self.waves.front() else { return };
            self.changes = wave.changes(self.level);
        }
    }

    /// Whether the level is the same, and known without chance, from the last time that was looked at up to `time`.
    pub(super) fn is_steady_until(&self, time: Cycles) -> bool {
        self.noise.is_none() && self.next > time
    }

    /// The level at a time as the receiver sees it, with the noise of bits of that length.
    pub(super) fn sample(&mut self, time: Cycles, bit: Cycles) -> bool {
        self.level_at(time) ^ self.noise.is_some_and(|noise| noise.inverts(time, bit))
    }

    /// What begins at `start`, the last edge that was looked at, if it is a frame of `count` bits, each of which is there where
    /// the receiver samples it. Then all of it has been looked at.
    pub(super) fn whole_frame(&mut self, start: Cycles, count: u32, bit: Cycles, samples: [Cycles; 3]) -> Option<u16> {
        let wave = self
            .waves
            .front()
            .filter(|wave| wave.at == start && self.noise.is_none())?;
        let levels = wave.read(count, bit, samples[0], samples[2])?;
        let last_sample = start + bit * u64::from(count - 1) + samples[2];
        if self.waves.get(1).is_some_and(|next| next.at <= last_sample) {
            return None;
        }
        self.level = wave.level_of(count - 1);
        self.changes = 0;
        self.settle();
        Some(levels)
    }

    /// A new wave replaces all that was said about the time after its begin.
    pub(super) fn push(&mut self, wave: Wave) {
        while self.waves.back().is_some_and(|last| last.at >= wave.at) {
            self.waves.pop_back();
        }
        if self.waves.is_empty() {
            self.changes = wave.changes(self.level);
        }
        self.waves.push_back(wave);
        self.settle();
    }

    /// Takes the first edge if it is up to a time: from there on the level is another.
    fn take_first(&mut self, until: Cycles) -> Option<Edge> {
        if self.next > until {
            return None;
        }
        let edge = self.first_edge(0, self.changes)?;
        self.level = edge.level;
        self.changes &= self.changes - 1;
        self.settle();
        Some(edge)
    }

    /// The level at a time; earlier edges are forgotten.
    pub(super) fn level_at(&mut self, time: Cycles) -> bool {
        while self.take_first(time).is_some() {}
        self.level
    }

    /// The next falling edge up to `now`; the level goes along.
    pub(super) fn falling_edge(&mut self, now: Cycles) -> Option<Cycles> {
        while let Some(edge) = self.take_first(now) {
            if !edge.level {
                return Some(edge.at);
            }
        }
        None
    }
}
