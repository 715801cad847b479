//! What the computer at board 0 wants: in two bytes to port 16 the number of a program, and of the run, which is higher each time.

use hopwise_firmware::{AppPort, Handle};
use hopwise_team::{Broken, Team};

const ORDERS: AppPort = AppPort(16);
/// What comes out goes to this port of the computer at board 0.
pub(crate) const RESULTS: AppPort = AppPort(17);
const TEAM: AppPort = AppPort(18);
/// Tags of a run.
const TAGS: u32 = 100;

/// Board 0 passes orders on; all obey, with tags of their own for each run.
pub(crate) async fn follow(mesh: Handle<'static>, obey: impl AsyncFn(&Team<'static>, u8, u32) -> Result<(), Broken>) {
    let (Ok(mut orders), Ok(team)) = (mesh.receiver(ORDERS), Team::of_all(mesh, TEAM)) else {
        return;
    };
    loop {
        let order = orders.recv().await;
        let &[program, run] = order.bytes() else { continue };
        if order.from_computer {
            let _ = mesh.broadcast(ORDERS, order.bytes()).await;
        }
        let begun = mesh.now();
        match obey(&team, program, u32::from(run) * TAGS).await {
            Ok(()) => defmt::info!("run {} done in {} us", run, mesh.now() - begun),
            Err(broken) => defmt::info!("run {} broke: {}", run, broken),
        }
    }
}
