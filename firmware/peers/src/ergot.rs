//! ergot 0.12 as a router between two serial ports, with its own frames.
//!
//! Its router profile needs `std`. The one here does with a packet that passes what that one does: it counts down the TTL and finds the interface
//! by the number of the network. Sockets, headers, frames and queues are ergot's.
#![no_std]
#![no_main]

mod board;

use board::{FRAME, Receiver, Sender};
use cobs_acc::{CobsAccumulator, FeedResult};
use embassy_executor::Spawner;
use ergot::exports::bbq2::queue::BBQueue;
use ergot::exports::bbq2::traits::coordination::cas::AtomicCoord;
use ergot::exports::bbq2::traits::notifier::maitake::MaiNotSpsc;
use ergot::exports::bbq2::traits::storage::Inline;
use ergot::exports::mutex::raw_impls::cs::CriticalSectionRawMutex;
use ergot::interface_manager::profiles::direct_edge::CENTRAL_NODE_ID;
use ergot::interface_manager::utils::cobs_stream::Sink;
use ergot::interface_manager::{InterfaceSendError, InterfaceSink, InterfaceState, Profile, SetStateError};
use ergot::wire_frames::de_frame;
use ergot::{Header, HeaderSeq, NetStack, ProtocolError};
use serde::Serialize;
use static_cell::StaticCell;

type Queue = BBQueue<Inline<2048>, AtomicCoord, MaiNotSpsc>;
type Stack = NetStack<CriticalSectionRawMutex, Router>;

static QUEUES: [Queue; 2] = [const { Queue::new() }; 2];
static STACK: StaticCell<Stack> = StaticCell::new();

/// Two interfaces, to networks 1 and 2.
struct Router([Sink<&'static Queue>; 2]);

impl Profile for Router {
    type InterfaceIdent = usize;

    /// This board has nothing to send.
    fn send<T: Serialize>(&mut self, _: &Header, _: &T) -> Result<(), InterfaceSendError> {
        Err(InterfaceSendError::NoRouteToDest)
    }

    fn send_err(&mut self, _: &Header, _: ProtocolError, _: Option<usize>) -> Result<(), InterfaceSendError> {
        Err(InterfaceSendError::NoRouteToDest)
    }

    fn send_raw(&mut self, hdr: &HeaderSeq, data: &[u8], source: usize) -> Result<(), InterfaceSendError> {
        let mut hdr = hdr.clone();
        hdr.decrement_ttl()?;
        let to = usize::from(hdr.dst.network_id).wrapping_sub(1);
        let sink = self.0.get_mut(to).ok_or(InterfaceSendError::NoRouteToDest)?;
        match hdr.dst.node_id {
            CENTRAL_NODE_ID => Err(InterfaceSendError::DestinationLocal),
            _ if to == source => Err(InterfaceSendError::RoutingLoop),
            _ => sink
                .send_raw(&hdr, data)
                .map_err(|()| InterfaceSendError::InterfaceFull),
        }
    }

    fn interface_state(&mut self, ident: usize) -> Option<InterfaceState> {
        self.0.get(ident)?;
        Some(InterfaceState::Active {
            net_id: ident as u16 + 1,
            node_id: CENTRAL_NODE_ID,
        })
    }

    fn set_interface_state(&mut self, _: usize, _: InterfaceState) -> Result<(), SetStateError> {
        Err(SetStateError::InterfaceNotFound)
    }
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let ports = board::ports();
    let sinks = QUEUES
        .each_ref()
        .map(|queue| Sink::new(queue.stream_producer(), FRAME as u16));
    let stack = STACK.init(NetStack::new_with_profile(Router(sinks)));
    for (number, (tx, rx)) in ports.into_iter().enumerate() {
        spawner.spawn(receive(number, rx, stack).unwrap());
        spawner.spawn(send(&QUEUES[number], tx).unwrap());
    }
}

/// As ergot's workers for serial ports do.
#[embassy_executor::task(pool_size = 2)]
async fn receive(interface: usize, mut rx: Receiver, stack: &'static Stack) {
    let (mut frame, mut buffer) = ([0; FRAME], [0; FRAME]);
    let mut frames = CobsAccumulator::new(&mut frame[..]);
    loop {
        let Ok(received) = rx.read(&mut buffer).await else {
            continue;
        };
        let mut bytes = &mut buffer[..received];
        while !bytes.is_empty() {
            bytes = match frames.feed_raw(bytes) {
                FeedResult::Consumed => break,
                FeedResult::OverFull(rest) | FeedResult::DecodeError(rest) => rest,
                FeedResult::Success { data, remaining } | FeedResult::SuccessInput { data, remaining } => {
                    if let Some(frame) = de_frame(data)
                        && let Ok(body) = frame.body
                    {
                        let _ = stack.send_raw(&frame.hdr, body, interface);
                    }
                    remaining
                }
            };
        }
    }
}

#[embassy_executor::task(pool_size = 2)]
async fn send(queue: &'static Queue, mut tx: Sender) {
    let frames = queue.stream_consumer();
    loop {
        let data = frames.wait_read().await;
        let length = data.len();
        let _ = tx.write(&data).await;
        data.release(length);
    }
}
