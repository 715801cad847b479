//! Two nodes on pipes: the runner on a host, with nothing of a board.

mod relay;
#[cfg(feature = "defmt")]
#[path = "../../../host-sim/process/src/silent_log.rs"]
mod silent_log;
mod world;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use embassy_futures::join::join;
use hopwise_app::{AppPort, Outcome};
use hopwise_node::endpoint::{Endpoint, Heard};
use hopwise_node::limits::BODY;
use hopwise_node::wire::{BoardState, Command, CommandResult, Content, DEFAULT_BAUD, Packet, Query, Status, WIRE};
use hopwise_runner::Restart;
use world::{Cables, HOST_PORT, Pipe, SECOND, Slots, World, board_config};

const PORT: AppPort = AppPort(16);
const REQUESTS: AppPort = AppPort(17);

/// The cables of two nodes that are neighbors, the pipes between them, and the cable of a host at the first: what it hears, and says.
fn cables() -> ([Cables; 2], [Pipe; 2], (Pipe, Pipe)) {
    let (there, back): (Pipe, Pipe) = Default::default();
    let host: (Pipe, Pipe) = Default::default();
    let mut ends: [Cables; 2] = Default::default();
    ends[0][0] = (back.clone(), there.clone());
    ends[1][0] = (there.clone(), back.clone());
    ends[0][HOST_PORT] = (host.1.clone(), host.0.clone());
    (ends, [there, back], host)
}

/// What a host asks through a port, and is answered.
fn ask(
    world: &mut World,
    (hears, says): &(Pipe, Pipe),
    host: &mut Endpoint<4>,
    request: Packet<BODY>,
) -> Option<Vec<u8>> {
    let mut request = Some(request);
    for _ in 0..8_000 {
        world.run(1_000);
        let now = world.time.now();
        host.tick(now);
        if host.is_up()
            && let Some(packet) = request.take()
        {
            host.send(packet).expect("room");
        }
        let mut frame = [0; WIRE];
        let length = host.transmit(now, &mut frame);
        says.inject(frame[..length].iter().copied());
        let bytes = hears.drain();
        let mut rest = &bytes[..];
        while let Some(heard) = host.receive(&mut rest, now) {
            if let Heard::Packet(packet) = heard
                && let Some(Content::Response(response)) = packet.content()
            {
                return Some(response.payload.to_vec());
            }
        }
    }
    None
}

fn host(world: &World) -> Endpoint<4> {
    Endpoint::host(7, DEFAULT_BAUD, world.time.now())
}

#[test]
fn two_nodes_link_up_and_talk() {
    let mut world = World::default();
    let ([one, other], _, cable) = cables();
    let done = Rc::new(Cell::new(false));
    let note = done.clone();
    let seen = world.start(&Slots::configured(&board_config(0)), one, |mesh| async move {
        mesh.all_links_up().await;
        assert_eq!(mesh.send_confirmed(1, PORT, b"hello").await, Ok(Outcome::Delivered));
        assert_eq!(mesh.request::<u32, u32>(1, REQUESTS, &20).await, Ok(21));
        note.set(true);
    });
    let got = Rc::new(RefCell::new(Vec::new()));
    let gets = got.clone();
    world.start(&Slots::configured(&board_config(1)), other, |mesh| async move {
        let mut receiver = mesh.receiver(PORT).unwrap();
        let incoming = receiver.recv().await;
        gets.borrow_mut().extend_from_slice(incoming.bytes());
        let _ = mesh.serve(REQUESTS, |number: u32| number + 1).await;
    });
    world.run_until(3 * SECOND, || done.get());
    assert_eq!(*got.borrow(), b"hello");

    // A host at the first node pings the second.
    let mut host = host(&world);
    let ping = host.request(1, Query::Ping, b"ping", world.time.now()).unwrap();
    assert_eq!(ask(&mut world, &cable, &mut host, ping).as_deref(), Some(&b"ping"[..]));
    // The watchdog is told all the time that the node is alive, and the LED is lit: all links are up.
    let before = seen.heartbeats.get();
    world.run(10 * SECOND);
    assert!(
        seen.heartbeats.get() >= before + 79,
        "{}",
        seen.heartbeats.get() - before
    );
    assert!(seen.is_lit.get() && seen.restart.borrow().is_none());
}

#[test]
fn a_cut_pipe_is_noticed_and_garbage_harms_nothing() {
    let mut world = World::default();
    let ([one, other], pipes, _) = cables();
    let up = Rc::new(Cell::new(false));
    let sent = Rc::new(Cell::new(0));
    let (note, count) = (up.clone(), sent.clone());
    world.start(&Slots::configured(&board_config(0)), one, |mesh| async move {
        let mut changes = mesh.link_changes();
        let watch = async {
            loop {
                note.set(changes.next().await.is_up);
            }
        };
        let send = async {
            loop {
                mesh.sleep(SECOND / 10).await;
                if mesh.send_confirmed(1, PORT, &[7; 100]).await == Ok(Outcome::Delivered) {
                    count.set(count.get() + 1);
                }
            }
        };
        embassy_futures::join::join(watch, send).await;
    });
    world.start(&Slots::configured(&board_config(1)), other, |mesh| async move {
        let mut receiver = mesh.receiver(PORT).unwrap();
        loop {
            assert_eq!(receiver.recv().await.bytes(), [7; 100]);
        }
    });
    world.run_until(SECOND, || up.get());
    for _ in 0..3 {
        pipes[0].cut(true);
        world.run_until(SECOND, || !up.get());
        pipes[0].cut(false);
        world.run_until(2 * SECOND, || up.get());
    }
    // Of noise half of the bytes are whole frames' ends, so that there is much to reject.
    let mut noise = 1_u32;
    let before = sent.get();
    for _ in 0..2_000 {
        for pipe in &pipes {
            pipe.inject((0..noise % 7).map(|byte| if byte % 2 == 0 { 0 } else { (noise >> byte) as u8 }));
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        world.run(1_000);
    }
    world.run(2 * SECOND);
    assert!(
        up.get() && sent.get() > before + 15,
        "{} of about 40",
        sent.get() - before
    );
}

#[test]
fn a_board_without_configuration_takes_one_and_restarts() {
    let (mut world, slots) = (World::default(), Slots::blank());
    let ([one, _], _, cable) = cables();
    let seen = world.start(&slots, one, |_| async {
        unreachable!("there is no mesh for a program")
    });
    let mut host = host(&world);
    let query = |command: &Command<'_>| Query::Board(command.number());
    let request = host.request(0, query(&Command::Status), &[], world.time.now()).unwrap();
    let status = ask(&mut world, &cable, &mut host, request).unwrap();
    let status: Status = postcard::from_bytes(&status).unwrap();
    assert_eq!(
        (status.state, status.links, status.board.as_str()),
        (BoardState::NoConfig, 2, "pipes")
    );

    let (bad, good) = ([1; 192], board_config(1));
    for (bytes, expected) in [(&bad, CommandResult::BadConfig), (&good, CommandResult::Done)] {
        let command = query(&Command::WriteConfig(bytes));
        let request = host.request(0, command, bytes, world.time.now()).unwrap();
        let response = ask(&mut world, &cable, &mut host, request).unwrap();
        assert_eq!(postcard::from_bytes(&response), Ok(expected));
    }
    world.run_until(SECOND, || seen.restart.borrow().is_some());
    assert_eq!(*seen.restart.borrow(), Some(Restart::Reconfigured));

    // After the restart it is node 1.
    let mut world = World::default();
    let ([one, other], _, _) = cables();
    let done = Rc::new(Cell::new(false));
    let note = done.clone();
    world.start(&Slots::configured(&board_config(0)), one, |_| async {});
    world.start(&slots, other, |mesh| async move {
        mesh.all_links_up().await;
        note.set(mesh.address() == 1);
    });
    world.run_until(SECOND, || done.get());
}

/// A host that has heard nothing yet repeats its command, and another host has a command of its own.
#[test]
fn what_a_board_has_said_it_will_do_is_neither_put_off_nor_dropped() {
    let mut world = World::default();
    let ([one, _], _, cable) = cables();
    let seen = world.start(&Slots::configured(&board_config(0)), one, |_| async {});
    let mut host = host(&world);
    let mut tell = |world: &mut World, command: &Command<'_>| {
        let request = host
            .request(0, Query::Board(command.number()), &[], world.time.now())
            .unwrap();
        let response = ask(world, &cable, &mut host, request).unwrap();
        postcard::from_bytes::<CommandResult>(&response).unwrap()
    };
    assert_eq!(tell(&mut world, &Command::KeepConfig), CommandResult::Done);
    assert_eq!(tell(&mut world, &Command::Restart), CommandResult::Busy);
    world.run(SECOND / 2);
    let begin = world.time.now();
    while seen.restart.borrow().is_none() {
        assert!(world.time.now() < begin + SECOND / 2, "it is put off for ever");
        assert_eq!(tell(&mut world, &Command::Restart), CommandResult::Done);
        world.run(SECOND / 20);
    }
    assert_eq!(*seen.restart.borrow(), Some(Restart::Commanded));
}

#[test]
fn a_task_that_hangs_is_found() {
    let mut world = World::default();
    let ([one, _], _, _) = cables();
    let seen = world.start(&Slots::configured(&board_config(0)), one, |_| async {});
    world.run(SECOND);
    // It is never polled again.
    world.stop_transmitter();
    world.run_until(4 * SECOND, || seen.restart.borrow().is_some());
    assert!(matches!(*seen.restart.borrow(), Some(Restart::Hanging(task)) if task.number() == 8));
}

#[test]
fn a_program_that_wants_to_be_watched_restarts_its_node_when_it_stops_saying_so() {
    let mut world = World::default();
    let ([one, other], _, _) = cables();
    let watched = world.start(&Slots::configured(&board_config(0)), one, |mesh| async move {
        for _ in 0..10 {
            mesh.watch(SECOND);
            mesh.sleep(SECOND / 2).await;
        }
        std::future::pending::<()>().await;
    });
    let unwatched = world.start(&Slots::configured(&board_config(1)), other, |mesh| async move {
        mesh.watch(SECOND);
        mesh.unwatch();
    });
    world.run(5 * SECOND);
    assert_eq!(*watched.restart.borrow(), None);
    world.run_until(SECOND, || watched.restart.borrow().is_some());
    assert!(matches!(*watched.restart.borrow(), Some(Restart::Hanging(task)) if task.number() == 19));
    assert_eq!(*unwatched.restart.borrow(), None);
}

/// A program has room for two messages at a port, and reads each at once.
#[test]
fn messages_that_come_together_find_the_room_that_a_program_has_made() {
    let mut world = World::default();
    let ([one, other], _, _) = cables();
    world.start(&Slots::configured(&board_config(0)), one, |mesh| async move {
        mesh.all_links_up().await;
        let send = || mesh.send(1, PORT, b"together");
        for _ in 0..10 {
            send().await.expect("it is sent");
            mesh.sleep(5_000).await;
            let _ = join(send(), send()).await;
            mesh.sleep(5_000).await;
        }
    });
    let received = Rc::new(Cell::new(0));
    let count = received.clone();
    world.start(&Slots::configured(&board_config(1)), other, |mesh| async move {
        let mut receiver = mesh.receiver(PORT).unwrap();
        loop {
            receiver.recv().await;
            count.update(|count| count + 1);
        }
    });
    world.run_until(2 * SECOND, || received.get() == 30);
}

/// In the second round a program announces that its node stands still.
#[test]
fn a_link_stays_up_while_a_program_pauses_its_node() {
    for announced in [false, true] {
        let mut world = World::default();
        let ([one, other], pipes, _) = cables();
        let (still, delivered) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(false)));
        let (stands, ends) = (still.clone(), delivered.clone());
        world.start(&Slots::configured(&board_config(0)), one, move |mesh| async move {
            mesh.all_links_up().await;
            let pause = match announced {
                true => Some(mesh.pause(2 * SECOND).await),
                false => None,
            };
            stands.set(true);
            mesh.sleep(SECOND).await;
            drop(pause);
            ends.set(mesh.send_confirmed(1, PORT, b"again").await == Ok(Outcome::Delivered));
        });
        let stays_up = Rc::new(Cell::new(true));
        let note = stays_up.clone();
        world.start(&Slots::configured(&board_config(1)), other, |mesh| async move {
            let _receiver = mesh.receiver(PORT).unwrap();
            mesh.all_links_up().await;
            let change = mesh.link_changes().next().await;
            note.set(change.is_up);
            std::future::pending::<()>().await;
        });
        world.run_until(SECOND, || still.get());
        pipes.iter().for_each(|pipe| pipe.cut(true));
        world.run(SECOND - 1);
        pipes.iter().for_each(|pipe| pipe.cut(false));
        world.run_until(3 * SECOND, || delivered.get());
        assert_eq!(stays_up.get(), announced);
    }
}
