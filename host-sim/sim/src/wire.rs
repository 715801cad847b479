//! Cables, and what can be wrong with them.

use hopwise_node::wire::WIRE;
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

pub type Nanos = u64;

/// What is over so soon is nothing that a link gives up for.
pub const PASSES_SOON: Nanos = 5_000_000;

/// How a wire damages what it carries, by chance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// The probability that a bit is flipped. A start or stop bit that is flipped costs the byte.
    pub bit_errors: f64,
    /// The chance of each byte to begin a burst, and the bits it lasts.
    pub bursts: f64,
    /// Bits of a burst, each of which is random.
    pub burst_bits: u32,
    /// The probability that a byte is lost.
    pub lost: f64,
    /// The probability that a random byte is inserted before a byte.
    pub inserted: f64,
    /// The probability that a byte arrives twice.
    pub duplicated: f64,
}

impl Noise {
    /// Whether more than every other of the longest frames is damaged.
    fn is_bad(&self) -> bool {
        let bytes = WIRE as i32;
        let damage = self.bursts + self.lost + self.inserted + self.duplicated;
        let whole = (1.0 - self.bit_errors).powi(BITS as i32 * bytes) * (1.0 - damage.min(1.0)).powi(bytes);
        whole < 0.5
    }

    pub fn is_silent(&self) -> bool {
        *self == Noise::default()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Direction {
    pub dead: bool,
    /// The line is held low: the receiver sees zeros, while set.
    pub stuck_low: bool,
    /// The same until then, by a break.
    pub low_until: Nanos,
    /// That is one which a link notices.
    pub long_break: bool,
    noise: Noise,
    /// Bits until the next one that is flipped.
    until_flip: u64,
    burst_left: u32,
}

/// Start bit, eight of data, stop bit.
const BITS: u64 = 10;

impl Direction {
    /// A direction whose first flipped bit is drawn from `random`.
    pub fn new(noise: &Noise, random: &mut Xoshiro256PlusPlus) -> Self {
        Direction {
            noise: *noise,
            until_flip: distance(noise.bit_errors, random),
            ..Direction::default()
        }
    }

    /// Whether something arrives that is not only zeros.
    pub fn is_whole(&self, now: Nanos) -> bool {
        let broken = self.long_break && now < self.low_until;
        !(self.dead || self.stuck_low || broken)
    }

    /// Whether it damages more than every other of the longest frames.
    pub fn is_bad(&self) -> bool {
        !self.noise.is_silent() && self.noise.is_bad()
    }

    /// From now on it damages what it carries as told.
    pub fn set_noise(&mut self, noise: Noise, random: &mut Xoshiro256PlusPlus) {
        self.until_flip = distance(noise.bit_errors, random);
        self.noise = noise;
    }

    /// What arrives of `bytes`, now; `scratch` has it if it is not the same.
    pub fn carry<'a>(
        &mut self,
        now: Nanos,
        bytes: &'a [u8],
        random: &mut Xoshiro256PlusPlus,
        scratch: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        let noise = self.noise;
        if self.dead {
            return &[];
        }
        scratch.clear();
        if self.stuck_low || now <= self.low_until {
            scratch.resize(bytes.len(), 0);
            return scratch;
        }
        if noise.is_silent() {
            return bytes;
        }
        let only_flips = Noise {
            bit_errors: noise.bit_errors,
            burst_bits: noise.burst_bits,
            ..Noise::default()
        } == noise;
        if only_flips && self.until_flip >= bytes.len() as u64 * BITS {
            self.until_flip -= bytes.len() as u64 * BITS;
            return bytes;
        }
        for &byte in bytes {
            self.carry_byte(byte, &noise, random, scratch);
        }
        scratch
    }

    fn carry_byte(&mut self, byte: u8, noise: &Noise, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
        let mut word = u32::from(byte) << 1 | 1 << 9;
        while self.until_flip < BITS {
            word ^= 1 << self.until_flip;
            self.until_flip += 1 + distance(noise.bit_errors, random);
        }
        self.until_flip -= BITS;
        let mut first = 0;
        if self.burst_left == 0 && happens(noise.bursts, random) {
            self.burst_left = noise.burst_bits;
            // It begins anywhere in the byte.
            first = random.random_range(0..BITS as u32);
        }
        if self.burst_left > 0 {
            let hit = self.burst_left.min(BITS as u32 - first);
            word ^= (random.next_u32() & ((1 << hit) - 1)) << first;
            self.burst_left -= hit;
        }
        if happens(noise.inserted, random) {
            out.push(random.next_u32() as u8);
        }
        let framed = word & 1 == 0 && word >> 9 & 1 == 1;
        if !framed || happens(noise.lost, random) {
            return;
        }
        let byte = (word >> 1) as u8;
        out.push(byte);
        if happens(noise.duplicated, random) {
            out.push(byte);
        }
    }
}

fn happens(chance: f64, random: &mut Xoshiro256PlusPlus) -> bool {
    chance > 0.0 && random.random_bool(chance.min(1.0))
}

/// Bits that pass unharmed before one that does not.
fn distance(chance: f64, random: &mut Xoshiro256PlusPlus) -> u64 {
    if chance <= 0.0 {
        return u64::MAX / 2;
    }
    if chance >= 1.0 {
        return 0;
    }
    let uniform: f64 = random.random();
    // The inverse of the geometric distribution.
    ((1.0 - uniform).ln() / (1.0 - chance).ln()).min(1e15) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn carried(noise: Noise, bytes: &[u8]) -> Vec<u8> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut direction = Direction::new(&noise, &mut random);
        direction.carry(1, bytes, &mut random, &mut Vec::new()).to_vec()
    }

    #[test]
    fn flips_come_as_often_as_said() {
        let bytes = vec![0x55; 200_000];
        let noise = Noise {
            bit_errors: 1e-3,
            ..Noise::default()
        };
        let out = carried(noise, &bytes);
        // Start and stop bits cost the byte, two bits of ten.
        let lost = bytes.len() - out.len();
        assert!((300..500).contains(&lost), "{lost} bytes lost, about 400 expected");
        let flipped: u32 = out.iter().map(|&byte| (byte ^ 0x55).count_ones()).sum();
        let as_many = (1_400..1_800).contains(&flipped);
        assert!(as_many, "{flipped} bits flipped, about 1,600 expected");
    }

    /// A burst may begin at any bit: each bit of a byte is hit, and some bytes keep their first bits.
    #[test]
    fn bursts_begin_anywhere() {
        let bytes = vec![0x55; 100_000];
        let noise = Noise {
            bursts: 0.01,
            burst_bits: 3,
            ..Noise::default()
        };
        let out = carried(noise, &bytes);
        let hit = |bit: u32| out.iter().filter(|&&byte| (byte ^ 0x55) >> bit & 1 == 1).count();
        for bit in 0..8 {
            assert!(hit(bit) > 50, "bit {bit} was hit {} times", hit(bit));
        }
        // With bits 0 to 2 of each hit byte at random every burst would hit the start bit.
        let lost = bytes.len() - out.len();
        assert!((100..400).contains(&lost), "{lost}");
    }

    #[test]
    fn bytes_are_lost_inserted_and_doubled() {
        let bytes: Vec<u8> = (0..100_000).map(|i| i as u8).collect();
        let set: [(fn(&mut Noise), _); 3] = [
            (|noise| noise.lost = 0.01, 98_800..99_200),
            (|noise| noise.inserted = 0.01, 100_800..101_200),
            (|noise| noise.duplicated = 0.01, 100_800..101_200),
        ];
        for (set, expected) in set {
            let mut noise = Noise::default();
            set(&mut noise);
            let count = carried(noise, &bytes).len();
            assert!(expected.contains(&count), "{count} instead of {expected:?}");
        }
    }

    #[test]
    fn a_silent_wire_changes_nothing() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(carried(Noise::default(), &bytes), bytes);
    }
}
