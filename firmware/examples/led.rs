//! A remote LED: every board has one at pin PB1, which any board may switch by a request. Node 0 switches that of every other board in turn.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use embassy_futures::join::join;
use embassy_stm32::gpio::{Level, Output, Speed};
use embassy_stm32::peripherals::PB1;
use hopwise_firmware::{AppPort, Mesh, Shared};
use static_cell::StaticCell;

const LED: AppPort = AppPort(16);

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, |mesh| async move {
        // SAFETY: the firmware of no board uses this pin, and nothing else here does.
        let mut led = Output::new(unsafe { PB1::steal() }, Level::Low, Speed::Low);
        let serve = mesh.serve(LED, |on: bool| {
            led.set_level(on.into());
            led.is_set_high()
        });
        let _ = join(serve, switch_others(mesh)).await;
    })
    .await
}

async fn switch_others(mesh: Mesh<'static>) {
    if mesh.address() != 0 {
        return;
    }
    mesh.all_links_up().await;
    for on in [true, false].into_iter().cycle() {
        for node in 1..mesh.network().nodes() {
            match mesh.request::<_, bool>(node, LED, &on).await {
                Ok(is_on) => defmt::info!("the LED of node {} is on: {}", node, is_on),
                Err(error) => defmt::warn!("node {} does not respond: {}", node, error),
            }
        }
        mesh.sleep(1_000_000).await;
    }
}
