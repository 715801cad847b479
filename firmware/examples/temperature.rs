//! Every board tells node 0 how warm it is, each second, and node 0 logs that. It also says how often it has heard of a board, if asked.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use hopwise_firmware::{AppPort, Mesh, Shared};
use static_cell::StaticCell;

const TEMPERATURE: AppPort = AppPort(16);
const READINGS: AppPort = AppPort(17);

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, |mesh| async move {
        match mesh.address() {
            0 => collect(mesh).await,
            _ => measure(mesh).await,
        }
    })
    .await
}

async fn measure(mesh: Mesh<'static>) {
    // Boards that are switched on together are all there by then.
    mesh.sleep(1_000_000).await;
    loop {
        // A board with a sensor reads it here.
        let tenths_of_a_degree = 200 + mesh.address() as i16;
        let _ = mesh
            .send_confirmed(0, TEMPERATURE, &tenths_of_a_degree.to_le_bytes())
            .await;
        let heard: Result<u32, _> = mesh.request(0, READINGS, &mesh.address()).await;
        defmt::info!("node 0 has heard of us {} times", heard.unwrap_or(0));
        mesh.sleep(1_000_000).await;
    }
}

async fn collect(mesh: Mesh<'static>) {
    let readings = core::cell::Cell::new([0_u32; 32]);
    let listen = async {
        let Ok(mut receiver) = mesh.receiver(TEMPERATURE) else {
            return;
        };
        loop {
            let message = receiver.recv().await;
            if let &[low, high] = message.bytes() {
                let reading = i16::from_le_bytes([low, high]);
                defmt::info!("node {} has {} tenths of a degree", message.source, reading);
                let mut counts = readings.get();
                if let Some(count) = counts.get_mut(message.source as usize) {
                    *count += 1;
                }
                readings.set(counts);
            }
        }
    };
    let answer = mesh.serve(READINGS, |node: u64| {
        readings.get().get(node as usize).copied().unwrap_or(0)
    });
    let _ = embassy_futures::join::join(listen, answer).await;
}
