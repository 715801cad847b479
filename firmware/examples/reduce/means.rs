//! k-means: the points are spread over the boards, and none ever leaves its board. What boards know of their points is added up, and all
//! have the same new centers.

use hopwise_team::{Team, TeamError};

pub(crate) const POINTS: usize = 24;
pub(crate) const CENTRES: usize = 3;
pub(crate) const STEPS: u32 = 6;

pub(crate) type Point = (i32, i32);

/// The points of a board: about three places.
pub(crate) fn points(place: usize) -> [Point; POINTS] {
    core::array::from_fn(|index| {
        let drawn = ((place * POINTS + index) as u32)
            .wrapping_mul(0x85eb_ca6b)
            .rotate_left(11);
        let (x, y) = ((drawn & 0xff) as i32, (drawn >> 8 & 0xff) as i32);
        let (across, down) = [(0, 0), (600, 100), (250, 700)][index % 3];
        (across + x, down + y)
    })
}

/// Where centers are at first.
pub(crate) const BEGIN: [Point; CENTRES] = [(300, 300), (350, 300), (300, 350)];

/// For each center the points that are nearest to it, summed up and counted.
pub(crate) type Sums = [(i32, i32, i32); CENTRES];

pub(crate) fn sums(points: &[Point], centers: &[Point; CENTRES]) -> Sums {
    let mut sums = [(0, 0, 0); CENTRES];
    for &(x, y) in points {
        let far = |center: &Point| (center.0 - x).pow(2) + (center.1 - y).pow(2);
        let nearest = (0..CENTRES).min_by_key(|&index| far(&centers[index])).unwrap_or(0);
        sums[nearest] = add_one(sums[nearest], (x, y, 1));
    }
    sums
}

fn add_one(a: (i32, i32, i32), b: (i32, i32, i32)) -> (i32, i32, i32) {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2)
}

pub(crate) fn moved(centers: [Point; CENTRES], sums: Sums) -> [Point; CENTRES] {
    core::array::from_fn(|index| match sums[index] {
        (_, _, 0) => centers[index],
        (x, y, count) => (x / count, y / count),
    })
}

pub(crate) async fn run(team: &Team<'_>, tag: u32) -> Result<[Point; CENTRES], TeamError> {
    let points = points(team.place()? as usize);
    let mut centers = BEGIN;
    for step in 0..STEPS {
        let add = |a: Sums, b: Sums| core::array::from_fn(|index| add_one(a[index], b[index]));
        let sums = team
            .all_reduce_any_order(tag + step, sums(&points, &centers), add)
            .await?;
        centers = moved(centers, sums);
    }
    Ok(centers)
}
