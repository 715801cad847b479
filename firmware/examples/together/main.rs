//! All boards sort together, or transform a signal. The host at board 0 says [which](orders), and what comes out goes there.
#![no_std]
#![no_main]

mod fourier;
#[path = "../shared/orders.rs"]
mod orders;
mod sorting;

use hopwise_firmware::Mesh;

async fn program(mesh: Mesh<'static>) {
    orders::follow(mesh, async |team, program, tag| {
        match program {
            0 => orders::show(mesh, &sorting::run(team, tag).await?).await,
            1 => orders::show(mesh, &fourier::run(team, tag).await?).await,
            _ => {}
        }
        Ok(())
    })
    .await;
}
