//! The receiving pin of a serial port: what level the wire has there, now and soon.

use std::collections::VecDeque;

use crate::cpu::{Cycles, NEVER};
use crate::hash::mix;

/// A change of the level of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge<T> {
    /// When.
    pub at: T,
    /// To what; idle is high.
    pub level: bool,
}

/// Disturbance of a wire: time is cut into slots of one bit, and each of them is inverted or not, by chance.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Noise {
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

/// A receiving pin: its level now and the edges to come.
#[derive(Debug, Hash)]
pub(super) struct RxPin {
    level: bool,
    edges: VecDeque<Edge<Cycles>>,
    /// When the first of them is.
    first: Cycles,
    noise: Option<Noise>,
}

impl Default for RxPin {
    fn default() -> Self {
        RxPin {
            level: true,
            edges: VecDeque::new(),
            first: NEVER,
            noise: None,
        }
    }
}

impl RxPin {
    /// Disturbs it from now on, or no longer.
    pub(super) fn set_noise(&mut self, noise: Option<Noise>) {
        self.noise = noise;
    }

    /// When the level falls next, as far as is known.
    pub(super) fn next_fall(&self) -> Option<Cycles> {
        let mut level = self.level;
        let mut edges = self.edges.iter();
        let fall = edges.find(|edge| std::mem::replace(&mut level, edge.level) && !edge.level)?;
        Some(fall.at)
    }

    /// Whether the level is the same, and known without chance, from the last time that was looked at up to `time`.
    pub(super) fn is_steady_until(&self, time: Cycles) -> bool {
        self.noise.is_none() && self.first > time
    }

    /// The level at a time as the receiver sees it, with the noise of bits of that length.
    pub(super) fn sample(&mut self, time: Cycles, bit: Cycles) -> bool {
        self.level_at(time) ^ self.noise.is_some_and(|noise| noise.inverts(time, bit))
    }

    /// A new edge replaces all that was said about the time after it.
    pub(super) fn push(&mut self, edge: Edge<Cycles>) {
        while self.edges.back().is_some_and(|last| last.at >= edge.at) {
            self.edges.pop_back();
        }
        self.edges.push_back(edge);
        self.first = self.edges.front().map_or(NEVER, |first| first.at);
    }

    /// Takes the first edge if it is up to a time.
    fn take_first(&mut self, until: Cycles) -> Option<Edge<Cycles>> {
        if self.first > until {
            return None;
        }
        let taken = self.edges.pop_front();
        self.first = self.edges.front().map_or(NEVER, |first| first.at);
        taken
    }

    /// The level at a time; earlier edges are forgotten.
    pub(super) fn level_at(&mut self, time: Cycles) -> bool {
        while let Some(edge) = self.take_first(time) {
            self.level = edge.level;
        }
        self.level
    }

    /// The next falling edge up to `now`; the level goes along.
    pub(super) fn falling_edge(&mut self, now: Cycles) -> Option<Cycles> {
        while let Some(edge) = self.take_first(now) {
            let falls = self.level && !edge.level;
            self.level = edge.level;
            if falls {
                return Some(edge.at);
            }
        }
        None
    }
}
