//! A chat between computers: what a computer sends to port 16 of its board is broadcast, and every board shows it to the computer that it has, with
//! the number of the board it came from.
#![no_std]
#![no_main]

use core::fmt::Write;

use embassy_executor::Spawner;
use heapless::String;
use hopwise_firmware::{AppPort, Handle, Shared};
use static_cell::StaticCell;

const CHAT: AppPort = AppPort(16);
/// What is shown has the number of a board before it.
const LONGEST_LINE: usize = 180;

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, chat).await
}

async fn chat(mesh: Handle<'static>) {
    let Ok(mut receiver) = mesh.receiver(CHAT) else { return };
    loop {
        let message = receiver.recv().await;
        let Ok(text) = core::str::from_utf8(message.bytes()) else {
            continue;
        };
        if message.from_computer && text.len() <= LONGEST_LINE {
            let _ = mesh.broadcast(CHAT, text.as_bytes()).await;
        } else if !message.from_computer {
            let mut line = String::<200>::new();
            if write!(line, "{}: {}", message.source, text).is_ok() {
                let _ = mesh.send_to_computer(mesh.address(), CHAT, line.as_bytes()).await;
            }
        }
    }
}
