//! How long an all-reduce takes, by the tree and by the naive way: everyone sends to board 0, which adds up and broadcasts.

use embassy_futures::join::join;
use embassy_futures::select::{Either, select};
use heapless::Vec;
use hopwise_app::{AppPort, Mesh, Micros, Receiver};
use hopwise_team::{Team, TeamError};

/// What is added up goes in parts of up to so many bytes.
const PART: usize = 128;
/// The naive way has so long.
const NAIVE_WITHIN: Micros = 5_000_000;

type Part = Vec<u8, PART>;

/// A part of so many bytes in all.
fn part(place: u64, number: u32, bytes: usize) -> Part {
    let length = bytes.saturating_sub(PART * number as usize).min(PART);
    (0..length as u32)
        .map(|index| (index + number + place as u32) as u8)
        .collect()
}

fn add(mut a: Part, b: Part) -> Part {
    a.iter_mut().zip(&b).for_each(|(a, b)| *a = a.wrapping_add(*b));
    a
}

/// Microseconds until all boards have the sum of 4 bytes and of 1,024, and the same by the naive way. All begin when the last has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) team: [Micros; 2],
    pub(crate) naive: [Micros; 2],
}

pub(crate) async fn run(mesh: Mesh<'_>, team: &Team<'_>, port: AppPort, tag: u32) -> Result<Times, TeamError> {
    let mut receiver = mesh.receiver(port).map_err(|_| TeamError::Closed)?;
    let mut times = Times {
        team: [0; 2],
        naive: [0; 2],
    };
    for (index, bytes) in [4_usize, 1_024].into_iter().enumerate() {
        let parts = bytes.div_ceil(PART) as u32;
        let tag = tag + 32 * index as u32;
        let longest = |took: Micros, tag| team.all_reduce_any_order(tag, took, Micros::max);
        team.barrier(tag).await?;
        let begun = mesh.uptime();
        by_team(team, tag + 1, bytes, parts).await?;
        times.team[index] = longest(mesh.uptime() - begun, tag + 16).await?;
        team.barrier(tag + 17).await?;
        let begun = mesh.uptime();
        by_board_0(mesh, &mut receiver, bytes, parts).await?;
        times.naive[index] = longest(mesh.uptime() - begun, tag + 18).await?;
    }
    Ok(times)
}

/// Two parts at once.
async fn by_team(team: &Team<'_>, tag: u32, bytes: usize, parts: u32) -> Result<(), TeamError> {
    let place = team.place()?;
    let sum = |number| team.all_reduce_any_order(tag + number, part(place, number, bytes), add);
    if parts == 1 {
        return sum(0).await.map(|_| ());
    }
    for first in (0..parts).step_by(2) {
        let (first, second) = join(sum(first), sum(first + 1)).await;
        let _: [Part; 2] = [first?, second?];
    }
    Ok(())
}

async fn by_board_0(mesh: Mesh<'_>, receiver: &mut Receiver<'_>, bytes: usize, parts: u32) -> Result<(), TeamError> {
    let (port, here, boards) = (receiver.port(), mesh.address(), mesh.network().nodes() as u32);
    let work = async {
        if here == 0 {
            let mut sum: Part = Vec::new();
            for _ in 0..parts * (boards - 1) {
                let incoming = receiver.recv().await;
                sum = add(Vec::from_slice(incoming.bytes()).unwrap_or_default(), sum);
            }
            for number in 0..parts {
                let _ = mesh.broadcast(port, &part(0, number, bytes)).await;
            }
        } else {
            for number in 0..parts {
                let _ = mesh.send_confirmed(0, port, &part(here, number, bytes)).await;
            }
            for _ in 0..parts {
                receiver.recv().await;
            }
        }
    };
    match select(work, mesh.sleep(NAIVE_WITHIN)).await {
        Either::First(()) => Ok(()),
        Either::Second(()) => Err(TeamError::TimedOut),
    }
}
