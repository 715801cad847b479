//! All boards find the means of points that are spread over them, measure how long an all-reduce takes, or add up in groups. The host
//! at board 0 says [which](orders).
#![no_std]
#![no_main]

mod groups;
mod means;
#[path = "../shared/orders.rs"]
mod orders;
mod timing;

use hopwise_firmware::{AppPort, Mesh};

const NAIVE: AppPort = AppPort(19);
const GROUPS: AppPort = AppPort(20);

async fn program(mesh: Mesh<'static>) {
    orders::follow(mesh, async |team, program, tag| {
        match program {
            0 => orders::show(mesh, &means::run(team, tag).await?).await,
            1 => {
                let times = timing::run(mesh, team, NAIVE, tag).await?;
                let ([small, large], [naive_small, naive_large]) = (times.team, times.naive);
                defmt::info!("all-reduce {} {}, naive {} {}", small, large, naive_small, naive_large);
            }
            2 => orders::show(mesh, &groups::run(mesh, GROUPS, tag).await?).await,
            _ => {}
        }
        Ok(())
    })
    .await;
}
