//! The heat equation on a torus of boards, each with a tile of 4 x 4 cells. In every step the boards shift the edges of their tiles by one
//! in all four directions, two at once.

use embassy_futures::join::join;
use hopwise_team::{Team, TeamError};

/// Boards in a row, and in a column.
pub(crate) const BOARDS: usize = 3;
/// Cells in a row of a tile.
pub(crate) const SIDE: usize = 4;
pub(crate) const STEPS: u32 = 10;

/// Rows of cells, in millionths.
pub(crate) type Tile = [[i32; SIDE]; SIDE];

/// One hot spot, in the middle of board 0.
pub(crate) fn begin(place: usize) -> Tile {
    let mut tile = [[0; SIDE]; SIDE];
    if place == 0 {
        tile[1][1] = 1_000_000;
    }
    tile
}

/// What a cell has after a step.
pub(crate) fn next(cell: i32, neighbors: [i32; 4]) -> i32 {
    cell + (neighbors.iter().sum::<i32>() - 4 * cell) / 8
}

pub(crate) async fn run(team: &Team<'_>, tag: u32) -> Result<Tile, TeamError> {
    let place = team.place()? as usize;
    let (x, y) = (place % BOARDS, place / BOARDS);
    let board = |x: usize, y: usize| ((y % BOARDS) * BOARDS + x % BOARDS) as u64;
    let mut tile = begin(place);
    for step in 0..STEPS {
        let tag = tag + 4 * step;
        let left = tile.map(|row| row[0]);
        let right = tile.map(|row| row[SIDE - 1]);
        let (from_right, from_left) = join(
            team.permute(tag, board(x + BOARDS - 1, y), left),
            team.permute(tag + 1, board(x + 1, y), right),
        )
        .await;
        let (from_below, from_above) = join(
            team.permute(tag + 2, board(x, y + BOARDS - 1), tile[0]),
            team.permute(tag + 3, board(x, y + 1), tile[SIDE - 1]),
        )
        .await;
        let (from_right, from_left, from_below, from_above) = (from_right?, from_left?, from_below?, from_above?);
        let before = tile;
        for (row, cells) in tile.iter_mut().enumerate() {
            for (column, cell) in cells.iter_mut().enumerate() {
                let above = if row == 0 {
                    from_above[column]
                } else {
                    before[row - 1][column]
                };
                let below = before.get(row + 1).map_or(from_below[column], |cells| cells[column]);
                let left = if column == 0 {
                    from_left[row]
                } else {
                    before[row][column - 1]
                };
                let right = before[row].get(column + 1).copied().unwrap_or(from_right[row]);
                *cell = next(*cell, [above, below, left, right]);
            }
        }
    }
    Ok(tile)
}
