//! The clock of a board, which runs as its crystal has it.

use hopwise_node::link::Micros;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::wire::Nanos;

/// Upper bound of a random clock's first reading.
const LATEST_START: Micros = 1 << 33;
/// Where times wrap that are kept in fewer bits: 16 bits of 1,024 microseconds, 32 of microseconds, of milliseconds and of 1,024 microseconds.
const WRAPS: [Micros; 4] = [1 << 26, 1 << 32, 1_000 << 32, 1 << 42];
/// Every other random clock starts this close before one.
const BEFORE_WRAP: Micros = 5_000_000;

#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Microseconds that pass on it in a nanosecond.
    rate: f64,
    /// What it showed first, and when.
    first: Micros,
    since: Nanos,
    is_true: bool,
}

impl Clock {
    /// Shows the time of the world.
    pub const TRUE: Clock = Clock {
        rate: 1e-3,
        first: 0,
        since: 0,
        is_true: true,
    };

    /// A clock with a random start and a random drift of up to this many parts per million.
    pub fn draw(drift: f64, now: Nanos, random: &mut Xoshiro256PlusPlus) -> Self {
        let wrong = drift * random.random_range(-1.0..=1.0);
        let wrap = WRAPS[random.random_range(0..WRAPS.len())];
        let first = match random.random() {
            true => wrap - random.random_range(0..BEFORE_WRAP),
            false => random.random_range(0..LATEST_START),
        };
        Clock {
            rate: 1e-3 * (1.0 + wrong / 1e6),
            first,
            since: now,
            is_true: false,
        }
    }

    /// What it shows.
    pub fn micros(&self, now: Nanos) -> Micros {
        if self.is_true {
            return now / 1_000;
        }
        self.first + (now.saturating_sub(self.since) as f64 * self.rate) as Micros
    }

    /// When it shows that, at the earliest.
    pub fn nanos(&self, micros: Micros) -> Nanos {
        if self.is_true || micros == Micros::MAX {
            return micros.saturating_mul(1_000);
        }
        let passed = micros.saturating_sub(self.first);
        let mut at = self.since.saturating_add((passed as f64 / self.rate) as Nanos);
        // Rounded up, so that the moment has come when the clock is looked at.
        while self.micros(at) < micros {
            at += 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_clock_shows_what_it_is_waited_for() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..100 {
            let clock = Clock::draw(200.0, 5_000_000_000, &mut random);
            for step in 0..100 {
                let micros = clock.micros(5_000_000_000) + step * 12_345;
                let at = clock.nanos(micros);
                let is_it = (micros..=micros + 1).contains(&clock.micros(at));
                assert!(is_it, "{clock:?} {micros}");
            }
            let second = clock.micros(15_000_000_000) - clock.micros(5_000_000_000);
            assert!((9_997_999..=10_002_001).contains(&second), "{second} us in 10 s");
        }
        assert_eq!(Clock::TRUE.micros(7_999), 7);
        assert_eq!(Clock::TRUE.nanos(7), 7_000);
    }
}
