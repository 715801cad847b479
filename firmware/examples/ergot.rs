//! ergot's sockets over Hopwise: the first and the last node are the two ends of an ergot network, whatever lies between them. ergot's frames travel as confirmed
//! messages.
#![no_std]
#![no_main]

use core::pin::pin;

use embassy_executor::Spawner;
use embassy_futures::join::join3;
use ergot::exports::bbq2::queue::BBQueue;
use ergot::exports::bbq2::traits::coordination::cas::AtomicCoord;
use ergot::exports::bbq2::traits::notifier::maitake::MaiNotSpsc;
use ergot::exports::bbq2::traits::storage::Inline;
use ergot::exports::mutex::raw_impls::cs::CriticalSectionRawMutex;
use ergot::interface_manager::profiles::direct_edge::{CENTRAL_NODE_ID, DirectEdge, EDGE_NODE_ID, process_frame};
use ergot::interface_manager::utils::framed_stream::Sink;
use ergot::interface_manager::{Interface, InterfaceState};
use ergot::{Address, NetStack, endpoint};
use hopwise_firmware::{AppPort, Mesh, Shared};
use static_cell::StaticCell;

const ERGOT: AppPort = AppPort(16);
/// A frame is a message.
const FRAME: u16 = 200;

type Queue = BBQueue<Inline<1024>, AtomicCoord, MaiNotSpsc>;
type Stack = NetStack<CriticalSectionRawMutex, DirectEdge<OverHopwise>>;

/// Hopwise as an interface of ergot.
struct OverHopwise;

impl Interface for OverHopwise {
    type Sink = Sink<&'static Queue>;
}

endpoint!(Double, u32, u32, "double");

static ROOM: StaticCell<Shared> = StaticCell::new();
static QUEUE: Queue = Queue::new();
static STACK: StaticCell<Stack> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, |mesh| async move {
        let sink = Sink::new(QUEUE.framed_producer(), FRAME);
        let up = |node_id| InterfaceState::Active { net_id: 1, node_id };
        let last = mesh.network().nodes() - 1;
        match mesh.address() {
            0 => {
                let profile = DirectEdge::new_controller(sink, up(CENTRAL_NODE_ID));
                let stack = STACK.init(NetStack::new_with_profile(profile));
                join3(send(mesh, last), receive(mesh, stack), ask(mesh, stack)).await;
            }
            here if here == last => {
                let stack = STACK.init(NetStack::new_with_profile(DirectEdge::new_target(sink)));
                join3(send(mesh, 0), receive(mesh, stack), answer(stack)).await;
            }
            _ => {}
        }
    })
    .await
}

/// Sends what ergot's sockets have to say.
async fn send(mesh: Mesh<'static>, peer: u64) {
    let frames = QUEUE.framed_consumer();
    loop {
        let frame = frames.wait_read().await;
        let _ = mesh.send_confirmed(peer, ERGOT, &frame).await;
        frame.release();
    }
}

/// Gives ergot's sockets what has come for them.
async fn receive(mesh: Mesh<'static>, stack: &'static Stack) {
    let Ok(mut receiver) = mesh.receiver(ERGOT) else { return };
    // The network's number; the other end learns it from the first frame.
    let mut net = (mesh.address() == 0).then_some(1);
    loop {
        process_frame(&mut net, receiver.recv().await.bytes(), &stack, ());
    }
}

async fn answer(stack: &'static Stack) {
    let mut server = pin!(stack.endpoints().bounded_server::<Double, 2>(None));
    let mut server = server.as_mut().attach();
    loop {
        let _ = server.serve(async |number| 2 * number).await;
    }
}

async fn ask(mesh: Mesh<'static>, stack: &'static Stack) {
    let peer = Address {
        network_id: 1,
        node_id: EDGE_NODE_ID,
        port_id: 0,
    };
    for number in 0_u32.. {
        mesh.sleep(500_000).await;
        match stack.endpoints().request::<Double>(peer, &number, None).await {
            Ok(double) => defmt::info!("twice {} is {}", number, double),
            Err(_) => defmt::warn!("no response"),
        }
    }
}
