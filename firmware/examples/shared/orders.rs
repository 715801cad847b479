//! What the host at board 0 wants: in two bytes to port 16 the number of a program, and of the run, which is higher each time.

use embassy_executor::Spawner;
use hopwise_firmware::{AppPort, Mesh, Shared};
use hopwise_team::{Team, TeamError};
use serde::Serialize;
use static_cell::StaticCell;

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, crate::program).await
}

const ORDERS: AppPort = AppPort(16);
/// What comes out goes to this port of the host at board 0.
pub(crate) const RESULTS: AppPort = AppPort(17);
/// Values that one message shows.
const SHOWN: usize = 16;
const TEAM: AppPort = AppPort(18);
/// Tags of a run.
const TAGS: u32 = 100;

/// Board 0 passes orders on; all obey, with tags of their own for each run.
pub(crate) async fn follow(mesh: Mesh<'static>, obey: impl AsyncFn(&Team<'static>, u8, u32) -> Result<(), TeamError>) {
    let (Ok(mut orders), Ok(team)) = (mesh.receiver(ORDERS), Team::of_all(mesh, TEAM)) else {
        return;
    };
    loop {
        let order = orders.recv().await;
        let &[program, run] = order.bytes() else { continue };
        if order.from_host {
            let _ = mesh.broadcast(ORDERS, order.bytes()).await;
        }
        let begun = mesh.uptime();
        match obey(&team, program, u32::from(run) * TAGS).await {
            Ok(()) => defmt::info!("run {} done in {} us", run, mesh.uptime() - begun),
            Err(broken) => defmt::info!("run {} broke: {}", run, broken),
        }
    }
}

/// Sends what this board has to the host at board 0: the board's number, that of the first value, and some values.
pub(crate) async fn show<T: Serialize>(mesh: Mesh<'static>, values: &[T]) {
    for (index, values) in values.chunks(SHOWN).enumerate() {
        let mut bytes = [0; 200];
        let first = (index * SHOWN) as u16;
        let Ok(message) = postcard::to_slice(&(mesh.address() as u16, first, values), &mut bytes) else {
            return;
        };
        let _ = mesh.send_to_host(0, RESULTS, message).await;
    }
}
