//! A Fourier transform of 1,024 points, 64 on each of 16 boards. Between boards it descends, one bit of the board's number after the
//! other; the rest each does by itself. Place n ends with the term whose number has the bits of n in reverse.

use core::f32::consts::{FRAC_PI_2, TAU};

use hopwise_team::{Team, TeamError};

pub(crate) const BLOCK: usize = 64;
pub(crate) const POINTS: usize = 1_024;

/// Real and imaginary part.
pub(crate) type Complex = (f32, f32);

/// What is transformed: two tones and a step.
pub(crate) fn signal(n: usize) -> f32 {
    let step = if n < POINTS / 3 { 1.0 } else { 0.0 };
    step + unit(50 * n % POINTS, POINTS).0 + 0.5 * unit(201 * n % POINTS, POINTS).1
}

/// e^(-2 pi i k / n), for k below n: the series, within a quarter of a circle around 0.
pub(crate) fn unit(k: usize, n: usize) -> Complex {
    let quarters = (4 * k + n / 2) / n;
    let angle = TAU * k as f32 / n as f32 - FRAC_PI_2 * quarters as f32;
    let square = angle * angle;
    let cos = 1.0 - square / 2.0 * (1.0 - square / 12.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)));
    let sin = angle * (1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0)));
    match quarters % 4 {
        0 => (cos, -sin),
        1 => (-sin, -cos),
        2 => (-cos, sin),
        _ => (sin, cos),
    }
}

fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// One butterfly: the sum, and the difference turned.
fn butterfly(low: Complex, high: Complex, turn: Complex) -> (Complex, Complex) {
    let difference = (low.0 - high.0, low.1 - high.1);
    ((low.0 + high.0, low.1 + high.1), times(difference, turn))
}

pub(crate) async fn run(team: &Team<'_>, tag: u32) -> Result<[Complex; BLOCK], TeamError> {
    let place = team.place()? as usize;
    let mut own: [Complex; BLOCK] = core::array::from_fn(|index| (signal(place * BLOCK + index), 0.0));
    team.descend(tag, &mut own, |bit, own, theirs| {
        let apart = BLOCK << bit;
        let is_low = place >> bit & 1 == 0;
        for (index, (own, &theirs)) in own.iter_mut().zip(theirs).enumerate() {
            let turn = unit((place * BLOCK + index) % apart, 2 * apart);
            *own = match is_low {
                true => butterfly(*own, theirs, turn).0,
                false => butterfly(theirs, *own, turn).1,
            };
        }
    })
    .await?;
    let mut apart = BLOCK / 2;
    while apart > 0 {
        for pair in own.chunks_exact_mut(2 * apart) {
            let (low, high) = pair.split_at_mut(apart);
            for (index, (low, high)) in low.iter_mut().zip(high).enumerate() {
                (*low, *high) = butterfly(*low, *high, unit(index, 2 * apart));
            }
        }
        apart /= 2;
    }
    Ok(own)
}
