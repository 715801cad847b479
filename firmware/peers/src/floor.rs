//! The least that passing on a packet takes with Hopwise's frames: one that is whole leaves by the other port. No addresses, no
//! acknowledgments, no timers.
#![no_std]
#![no_main]

mod board;

use board::{FRAME, Receiver, Sender};
use embassy_executor::Spawner;
use hopwise_codec::{CRC_BYTES, Check, Decoder, encode};

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let [(first_tx, first_rx), (second_tx, second_rx)] = board::ports();
    spawner.spawn(pass(first_rx, second_tx).unwrap());
    spawner.spawn(pass(second_rx, first_tx).unwrap());
}

#[embassy_executor::task(pool_size = 2)]
async fn pass(mut rx: Receiver, mut tx: Sender) {
    let (mut buffer, mut frame, mut out) = ([0; FRAME], [0; FRAME], [0; FRAME]);
    let mut decoder = Decoder::new();
    loop {
        let Ok(received) = rx.read(&mut buffer).await else {
            continue;
        };
        let mut bytes = &buffer[..received];
        while let Some(decoded) = decoder.feed(&mut bytes, Check::Crc, &mut frame) {
            if let Ok(decoded) = decoded
                && decoded.has_crc(0)
                && let Some(packet) = frame.get(..decoded.length - CRC_BYTES)
                && let Some(length) = encode(&[packet], Some(0), &mut out)
            {
                let _ = tx.write(&out[..length]).await;
            }
        }
    }
}
