//! A distributed average: no board collects anything, and yet after a while every board knows the mean of all readings. Each has a sum and a weight, and gives half of
//! both to its neighbors in turn. Since a confirmed message arrives once, nothing is lost or doubled, and all quotients approach the mean.
#![no_std]
#![no_main]

use core::cell::Cell;

use embassy_executor::Spawner;
use embassy_futures::join::join;
use hopwise_firmware::{AppPort, Mesh, Outcome, Shared};
use static_cell::StaticCell;

const SHARE: AppPort = AppPort(16);

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, average).await
}

async fn average(mesh: Mesh<'static>) {
    let Ok(mut receiver) = mesh.receiver(SHARE) else { return };
    // A board with a sensor reads it here. What is kept is in parts of 2^32, so that halves are exact for long enough.
    let own = Cell::new((mesh.address() << 32, 1_u64 << 32));
    let take = |(sum, weight)| own.set((own.get().0 + sum, own.get().1 + weight));
    let receive = async {
        loop {
            let share = receiver.recv().await;
            if let Ok(share) = postcard::from_bytes(share.bytes()) {
                take(share);
            }
        }
    };
    let give = async {
        mesh.all_links_up().await;
        for round in 0.. {
            let (sum, weight) = own.get();
            let half = (sum / 2, weight / 2);
            own.set((sum - half.0, weight - half.1));
            let mut bytes = [0; 20];
            let neighbors = mesh.neighbors().count();
            let neighbor = mesh.neighbors().nth(round % neighbors).map_or(0, |to| to.node);
            let Ok(bytes) = postcard::to_slice(&half, &mut bytes) else {
                return;
            };
            if let Ok(Outcome::Undeliverable { .. }) = mesh.send_confirmed(neighbor, SHARE, bytes).await {
                take(half);
            }
            defmt::info!("mean {}", own.get().0 as f32 / own.get().1 as f32);
            mesh.sleep(50_000).await;
        }
    };
    join(receive, give).await;
}
