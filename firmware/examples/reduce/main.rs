//! All boards find the means of points that are spread over them, or measure how long an all-reduce takes. The computer at board 0 says
//! [which](orders).
#![no_std]
#![no_main]

mod means;
#[path = "../shared/orders.rs"]
mod orders;
mod timing;

use embassy_executor::Spawner;
use hopwise_firmware::{AppPort, Handle, Shared};
use static_cell::StaticCell;

const NAIVE: AppPort = AppPort(19);

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, reduce).await
}

async fn reduce(mesh: Handle<'static>) {
    orders::follow(mesh, async |team, program, tag| {
        match program {
            0 => orders::show(mesh, &means::run(team, tag).await?).await,
            1 => {
                let times = timing::run(mesh, team, NAIVE, tag).await?;
                let ([small, large], [naive_small, naive_large]) = (times.team, times.naive);
                defmt::info!("all-reduce {} {}, naive {} {}", small, large, naive_small, naive_large);
            }
            _ => {}
        }
        Ok(())
    })
    .await;
}
