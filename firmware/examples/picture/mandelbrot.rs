//! A picture of the Mandelbrot set. Board 0 scatters the rows; each goes to the host at board 0 as soon as it is done.

use embassy_futures::yield_now;
use hopwise_team::{Team, TeamError};

pub(crate) const WIDTH: usize = 80;
pub(crate) const HEIGHT: usize = 108;
pub(crate) const BOARDS: usize = 18;
/// Rows of a board.
const SHARE: usize = HEIGHT / BOARDS;
/// A point that stays for so long never leaves.
const STAYS: u32 = 24_000;
/// After so many steps the board's router has its turn.
const TURN: u32 = 2_000;

/// The rows of a board: every 18th, since neighboring rows are about the same work.
fn share(place: usize) -> [u8; SHARE] {
    core::array::from_fn(|index| (index * BOARDS + place) as u8)
}

/// So many steps of a point on its way; the one after which it has left, if it does.
fn leaves(way: &mut (f32, f32), re: f32, im: f32) -> Option<u32> {
    let (mut a, mut b) = *way;
    for step in 0..TURN {
        let (aa, bb) = (a * a, b * b);
        if aa + bb > 4.0 {
            return Some(step);
        }
        b = 2.0 * a * b + im;
        a = aa - bb + re;
    }
    *way = (a, b);
    None
}

/// After how many steps a point leaves, in shades: 0 if never.
async fn shade(x: usize, y: usize) -> u8 {
    let (re, im) = (
        -1.5 + 2.0 * (x as f32 + 0.5) / WIDTH as f32,
        -0.9 + 1.8 * (y as f32 + 0.5) / HEIGHT as f32,
    );
    let mut way = (0.0, 0.0);
    for turn in 0..STAYS / TURN {
        if let Some(step) = leaves(&mut way, re, im) {
            return 255 - ((turn * TURN + step) * 4).min(254) as u8;
        }
        yield_now().await;
    }
    0
}

pub(crate) async fn row(y: u8) -> [u8; WIDTH] {
    let mut row = [0; WIDTH];
    for (x, point) in row.iter_mut().enumerate() {
        *point = shade(x, y.into()).await;
    }
    row
}

/// The picture by all boards; `show` is given what this board has drawn.
pub(crate) async fn run(team: &Team<'_>, tag: u32, show: impl AsyncFn(u8, &[u8])) -> Result<(), TeamError> {
    let shares: [_; BOARDS] = core::array::from_fn(share);
    for y in team.scatter(tag, 0, &shares).await? {
        show(y, &row(y).await).await;
    }
    team.barrier(tag + 1).await
}

/// The picture by this board alone.
pub(crate) async fn alone(show: impl AsyncFn(u8, &[u8])) {
    for y in 0..HEIGHT as u8 {
        show(y, &row(y).await).await;
    }
}
