//! Programs for the tests of programs: some behave, some do not. A host says which, by a request to the board: the number of a trial, and of a node.
#![no_std]
#![no_main]

mod busy;
mod script;

use embassy_executor::Spawner;
use embassy_futures::join::join;
use embassy_futures::select::{Either, select};
use hopwise_app::{LargeReceiver, Stream};
use hopwise_firmware::{AppPort, Mesh, Outcome, Shared};
use static_cell::StaticCell;

const TRIAL: AppPort = AppPort(100);
const ECHO: AppPort = AppPort(101);
const UNREAD: AppPort = AppPort(102);
const READ: AppPort = AppPort(103);
/// So many of each are measured.
const TIMES: u32 = 100;

static ROOM: StaticCell<Shared> = StaticCell::new();

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    hopwise_firmware::run(spawner, &ROOM, |mesh| async move {
        defmt::info!(
            "bytes of shared, stream, large receiver: {} {} {}",
            size_of::<Shared>(),
            size_of::<Stream<'static>>(),
            size_of::<LargeReceiver<'static>>()
        );
        let Either::Second(Some([trial, node])) = select(serve(mesh), order(mesh)).await else {
            return;
        };
        // The response leaves before anything happens, and the ports are free again.
        mesh.sleep(20_000).await;
        match trial {
            2 => script::run(mesh, log).await,
            _ => drop(join(serve(mesh), obey(mesh, trial, node.into())).await),
        }
    })
    .await
}

/// What a board does whatever is ordered.
async fn serve(mesh: Mesh<'static>) {
    let Ok(_unread) = mesh.receiver(UNREAD) else { return };
    let Ok(mut read) = mesh.receiver(READ) else { return };
    let echo = mesh.serve(ECHO, |bytes: [u8; 32]| bytes);
    let read = async {
        loop {
            read.recv().await;
        }
    };
    let _ = join(echo, read).await;
}

/// What a host wants.
async fn order(mesh: Mesh<'static>) -> Option<[u8; 2]> {
    let mut receiver = mesh.receiver(TRIAL).ok()?;
    let order = receiver.recv().await;
    let _ = mesh.respond(&order, TRIAL, &[]).await;
    order.bytes().try_into().ok()
}

fn log(note: script::Note) {
    defmt::info!("{} {} {} {}", note.what, note.from, note.length, note.sum);
}

async fn obey(mesh: Mesh<'static>, trial: u8, node: u64) {
    match trial {
        0 => panic!("as it was told"),
        1 => flood(mesh, node).await,
        3 => ask(mesh, node).await,
        4 => send(mesh, node).await,
        6 => confirm(mesh, node).await,
        7 => busy::compute(mesh).await,
        8 => busy::read_sensor(mesh),
        9 => busy::mask_interrupts(mesh),
        10 => busy::write_log(mesh),
        11 => busy::change_flash(mesh).await,
        12 => {
            mesh.watch(1_000_000);
            busy::hang()
        }
        _ => busy::hang(),
    }
}

/// Sends whatever it can to who does not read, and to everyone.
async fn flood(mesh: Mesh<'static>, node: u64) {
    let single = async {
        loop {
            let _ = mesh.send(node, UNREAD, &[0; 200]).await;
        }
    };
    let all = async {
        loop {
            let _ = mesh.broadcast(UNREAD, &[0; 200]).await;
        }
    };
    join(single, all).await;
}

/// Asks again and again, and says how long that takes.
async fn ask(mesh: Mesh<'static>, node: u64) {
    let (mut longest, mut sum, mut failed) = (0, 0, 0);
    for round in 0..TIMES {
        let asked = mesh.uptime();
        let bytes = [round as u8; 32];
        match mesh.request::<_, [u8; 32]>(node, ECHO, &bytes).await {
            Ok(answer) if bytes == answer => {}
            _ => failed += 1,
        }
        let took = mesh.uptime() - asked;
        sum += took;
        longest = longest.max(took);
        mesh.sleep(5_000).await;
    }
    let mean = sum / u64::from(TIMES);
    defmt::info!(
        "asked {} times, {} failed, mean {} us, longest {} us",
        TIMES,
        failed,
        mean,
        longest
    );
}

async fn send(mesh: Mesh<'static>, node: u64) {
    for round in 0..TIMES {
        let _ = mesh.send(node, READ, &[round as u8; 32]).await;
        mesh.sleep(5_000).await;
    }
    defmt::info!("sent {} messages", TIMES);
}

/// Sends confirmed messages, and says how long they take.
async fn confirm(mesh: Mesh<'static>, node: u64) {
    let (mut longest, mut sum, mut delivered) = (0, 0, 0);
    for round in 0..TIMES {
        let begun = mesh.uptime();
        let outcome = mesh.send_confirmed(node, READ, &[round as u8; 32]).await;
        delivered += u32::from(outcome == Ok(Outcome::Delivered));
        let took = mesh.uptime() - begun;
        sum += took;
        longest = longest.max(took);
        // Never in step with what others do.
        mesh.sleep(17_389).await;
    }
    let mean = sum / u64::from(TIMES);
    defmt::info!(
        "confirmed {} times, mean {} us, longest {} us",
        delivered,
        mean,
        longest
    );
}
