//! The image that is flashed unless a user has a program: a board that routes, answers a host, and sends what it is told to.
#![no_std]
#![no_main]

use embassy_executor::Spawner;
use hopwise_firmware::Shared;
use static_cell::StaticCell;

/// No program runs here, so there is hardly anything to share.
static ROOM: StaticCell<Shared<1, 1, 1>> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, |_| async {}).await
}
