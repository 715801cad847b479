//! Programs that all boards work on together: a sort, a Fourier transform, the heat equation, k-means. The computer at board 0 says
//! [which](orders), and what comes out goes there.
#![no_std]
#![no_main]

mod fourier;
mod heat;
mod means;
mod orders;
mod sorting;

use embassy_executor::Spawner;
use hopwise_firmware::{Handle, Shared};
use serde::Serialize;
use static_cell::StaticCell;

/// Values that one message shows.
const SHOWN: usize = 16;

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, together).await
}

async fn together(mesh: Handle<'static>) {
    orders::follow(mesh, async |team, program, tag| {
        match program {
            0 => show(mesh, &sorting::run(team, tag).await?).await,
            1 => show(mesh, &fourier::run(team, tag).await?).await,
            2 => show(mesh, heat::run(team, tag).await?.as_flattened()).await,
            3 => show(mesh, &means::run(team, tag).await?).await,
            _ => {}
        }
        Ok(())
    })
    .await;
}

/// Sends what this board has to the computer at board 0: the board's number, that of the first value, and some values.
async fn show<T: Serialize>(mesh: Handle<'static>, values: &[T]) {
    for (index, values) in values.chunks(SHOWN).enumerate() {
        let mut bytes = [0; 200];
        let first = (index * SHOWN) as u16;
        let Ok(message) = postcard::to_slice(&(mesh.address() as u16, first, values), &mut bytes) else {
            return;
        };
        let _ = mesh.send_to_computer(0, orders::RESULTS, message).await;
    }
}
