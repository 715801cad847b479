//! A picture that all boards draw together, or one alone; k-means; and how long an all-reduce takes. The computer at board 0 says
//! [which](orders), and the rows of the picture go there.
#![no_std]
#![no_main]

mod mandelbrot;
mod means;
#[path = "../together/orders.rs"]
mod orders;
mod timing;

use embassy_executor::Spawner;
use heapless::Vec;
use hopwise_firmware::{AppPort, Handle, Shared};
use static_cell::StaticCell;

const NAIVE: AppPort = AppPort(19);

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, draw).await
}

async fn draw(mesh: Handle<'static>) {
    let show = async |y: u8, row: &[u8]| {
        let mut message: Vec<u8, { mandelbrot::WIDTH + 1 }> = Vec::new();
        let _ = message.push(y);
        let _ = message.extend_from_slice(row);
        let _ = mesh.send_to_computer(0, orders::RESULTS, &message).await;
    };
    orders::follow(mesh, async |team, program, tag| {
        match program {
            0 => mandelbrot::run(team, tag, &show).await?,
            1 if mesh.address() == 0 => mandelbrot::alone(&show).await,
            2 => orders::show(mesh, &means::run(team, tag).await?).await,
            3 => {
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
