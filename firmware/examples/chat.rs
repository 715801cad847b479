//! A chat between hosts: what a host sends to port 16 of its board is broadcast, with the name of that host, and every board shows it
//! to the host that it has. A host says its name if it serves port 17; without one it is called by the number of its board.
#![no_std]
#![no_main]

use core::fmt::Write;

use embassy_executor::Spawner;
use heapless::String;
use hopwise_firmware::{AppPort, MAX_MESSAGE, Mesh, Shared};
use static_cell::StaticCell;

const CHAT: AppPort = AppPort(16);
const NAME: AppPort = AppPort(17);

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, chat).await
}

async fn chat(mesh: Mesh<'static>) {
    let Ok(mut receiver) = mesh.receiver(CHAT) else { return };
    loop {
        let message = receiver.recv().await;
        if !message.from_host {
            let _ = mesh.send_to_host(mesh.address(), CHAT, message.bytes()).await;
            continue;
        }
        // A host that has a name says it when asked.
        let name = mesh.request_host_bytes(mesh.address(), NAME, &[]).await;
        let name = name.as_ref().ok().and_then(|name| core::str::from_utf8(name).ok());
        let Ok(text) = core::str::from_utf8(message.bytes()) else {
            continue;
        };
        let mut line = String::<MAX_MESSAGE>::new();
        let written = match name {
            Some(name) => write!(line, "{name}: {text}"),
            None => write!(line, "{}: {text}", mesh.address()),
        };
        // What does not fit a message is not sent.
        if written.is_ok() {
            let _ = mesh.broadcast(CHAT, line.as_bytes()).await;
        }
    }
}
