//! A picture that all boards draw together, or one alone; or the heat equation. The host at board 0 says [which](orders), and the
//! rows of the picture, or the cells, go there.
#![no_std]
#![no_main]

mod heat;
mod mandelbrot;
#[path = "../shared/orders.rs"]
mod orders;

use heapless::Vec;
use hopwise_firmware::Mesh;

async fn program(mesh: Mesh<'static>) {
    let show = async |y: u8, row: &[u8]| {
        let mut message: Vec<u8, { mandelbrot::WIDTH + 1 }> = Vec::new();
        let _ = message.push(y);
        let _ = message.extend_from_slice(row);
        let _ = mesh.send_to_host(0, orders::RESULTS, &message).await;
    };
    orders::follow(mesh, async |team, program, tag| {
        match program {
            0 => mandelbrot::run(team, tag, &show).await?,
            1 if mesh.address() == 0 => mandelbrot::alone(&show).await,
            2 => orders::show(mesh, heat::run(team, tag).await?.as_flattened()).await,
            _ => {}
        }
        Ok(())
    })
    .await;
}
