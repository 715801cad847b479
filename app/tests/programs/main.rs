//! Programs on a small mesh in virtual time: routers joined by wires that lose nothing, unless a test cuts one.

mod large;
mod streams;
mod threads;
mod world;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use embassy_futures::select::select;
use hopwise_app::{AppPort, DropReason, OpenError, Outcome, RequestError, SendError, Service};
use world::{MILLISECOND, SECOND, World};

const PORT: AppPort = AppPort(16);
const OTHER: AppPort = AppPort(17);

/// What programs of a test have noted.
type Notes<T> = Rc<RefCell<Vec<T>>>;

/// The same for who reads and for who writes.
fn notes<T>() -> (Notes<T>, Notes<T>) {
    let notes = Notes::default();
    (notes.clone(), notes)
}

#[test]
fn messages_come_to_the_port_they_are_for() {
    let mut world = World::new("ring(4)");
    let (got, note) = notes();
    world.start(0, move |mesh| async move {
        let (mut one, mut other) = (mesh.receiver(PORT).unwrap(), mesh.receiver(OTHER).unwrap());
        for _ in 0..2 {
            let incoming = one.recv().await;
            note.borrow_mut()
                .push((PORT, incoming.source, incoming.service, incoming.bytes().to_vec()));
        }
        let incoming = other.recv().await;
        assert!(!incoming.from_host);
        note.borrow_mut()
            .push((OTHER, incoming.source, incoming.service, incoming.bytes().to_vec()));
    });
    world.start(2, |mesh| async move {
        assert_eq!((mesh.address(), mesh.network().nodes()), (2, 4));
        mesh.send(0, PORT, b"one").await.unwrap();
        let outcome = mesh.send_confirmed(0, PORT, b"two").await;
        assert_eq!(outcome, Ok(Outcome::Delivered));
        mesh.broadcast(OTHER, b"three").await.unwrap();
    });
    world.run_until_done(SECOND);
    let got: Vec<_> = got.borrow().clone();
    let expected = [
        (PORT, 2, Service::Datagram, b"one".to_vec()),
        (PORT, 2, Service::Confirmed, b"two".to_vec()),
        (OTHER, 2, Service::Broadcast, b"three".to_vec()),
    ];
    assert_eq!(got, expected);
}

#[test]
fn what_cannot_be_sent_is_said_at_once() {
    let mut world = World::new("ring(4)");
    world.start(0, |mesh| async move {
        assert_eq!(mesh.send(4, PORT, b"").await, Err(SendError::NoSuchNode));
        assert_eq!(mesh.send_confirmed(1, PORT, &[0; 201]).await, Err(SendError::TooLong));
        let outcome = mesh.send_confirmed(1, PORT, b"").await;
        let unserved = Outcome::Undeliverable {
            at: 1,
            reason: DropReason::PortUnreachable,
        };
        assert_eq!(outcome, Ok(unserved));
        let response: Result<u8, _> = mesh.request(1, PORT, &7_u8).await;
        assert_eq!(response, Err(RequestError::PortUnreachable));
        let response: Result<u8, _> = mesh.request(9, PORT, &7_u8).await;
        assert_eq!(response, Err(RequestError::NotSent(SendError::NoSuchNode)));
    });
    world.run_until_done(SECOND);
}

#[test]
fn a_request_has_its_response() {
    let mut world = World::new("ring(5)");
    world.start(3, |mesh| async move {
        let add = |(one, other): (u32, u32)| one.checked_add(other);
        let Err(error) = mesh.serve(PORT, add).await;
        panic!("{error}");
    });
    let (done, end) = notes();
    for node in [0, 1, 2] {
        let end = end.clone();
        world.start(node, move |mesh| async move {
            for number in 0..20 {
                let sum: Option<u32> = mesh.request(3, PORT, &(number, node as u32)).await.unwrap();
                assert_eq!(sum, Some(number + node as u32));
            }
            let none: Result<Option<u32>, _> = mesh.request(3, PORT, &(u32::MAX, 1_u32)).await;
            assert_eq!(none, Ok(None));
            let refused: Result<u8, _> = mesh.request(3, PORT, &()).await;
            assert_eq!(refused, Err(RequestError::Refused));
            let other_type: Result<(u64, u64, u64), _> = mesh.request(3, PORT, &(1_u32, 2_u32)).await;
            assert_eq!(other_type, Err(RequestError::BadFormat));
            end.borrow_mut().push(node);
        });
    }
    world.run(5 * SECOND);
    assert_eq!(done.borrow().len(), 3);
}

#[test]
fn a_program_that_never_reads_costs_others_nothing() {
    let mut world = World::new("path(2)");
    world.start(1, |mesh| async move {
        let _never_read = mesh.receiver(OTHER).unwrap();
        let mut receiver = mesh.receiver(PORT).unwrap();
        for number in 0..100_u8 {
            assert_eq!(receiver.recv().await.bytes(), [number]);
        }
        mesh.sleep(100 * SECOND).await;
    });
    let waiting = Rc::new(Cell::new(0));
    let counted = waiting.clone();
    world.start(0, move |mesh| async move {
        loop {
            mesh.send_confirmed(1, OTHER, b"read me").await.unwrap();
            counted.set(counted.get() + 1);
        }
    });
    world.start(0, |mesh| async move {
        for number in 0..100 {
            assert_eq!(mesh.send_confirmed(1, PORT, &[number]).await, Ok(Outcome::Delivered));
        }
        let busy = mesh.try_request_bytes(1, OTHER, &[0]).await;
        assert_eq!(busy, Err(RequestError::Busy));
    });
    world.run(5 * SECOND);
    assert_eq!(world.ended(), 1);
    assert_eq!(waiting.get(), 2, "as many as the port has room for");
}

/// All boards ask one at the same moment, which has room for few of them: the others wait.
#[test]
fn a_board_that_all_ask_at_once_answers_all() {
    for expression in ["rdn(ring(3),1)", "complete(7)", "path(12)", "hypercube(5)"] {
        let mut world = World::new(expression);
        world.start(0, |mesh| async move {
            let _ = mesh.serve(PORT, |value: u64| value + 1).await;
        });
        let answered = Rc::new(Cell::new(0));
        for node in 1..world.nodes() as u64 {
            for _ in 0..3 {
                let answered = answered.clone();
                world.start(node, move |mesh| async move {
                    let response = mesh.request(0, PORT, &mesh.address()).await;
                    assert_eq!(
                        response,
                        Ok(mesh.address() + 1),
                        "{expression}: node {}",
                        mesh.address()
                    );
                    answered.set(answered.get() + 1);
                });
            }
        }
        world.run(SECOND);
        assert_eq!(answered.get(), 3 * (world.nodes() - 1), "{expression}");
    }
}

#[test]
fn more_senders_than_places_wait_for_each_other() {
    let mut world = World::new("path(3)");
    let (got, note) = notes();
    world.start(2, move |mesh| async move {
        let mut receiver = mesh.receiver(PORT).unwrap();
        loop {
            let incoming = receiver.recv().await;
            note.borrow_mut().push(incoming.bytes().to_vec());
        }
    });
    for task in 0..12_u8 {
        world.start(0, move |mesh| async move {
            for number in 0..10_u8 {
                let outcome = mesh.send_confirmed(2, PORT, &[task, number]).await;
                assert_eq!(outcome, Ok(Outcome::Delivered));
            }
        });
    }
    world.run(20 * SECOND);
    assert_eq!(world.ended(), 12);
    let mut got = got.borrow().clone();
    for task in 0..12 {
        let of_task: Vec<_> = got
            .iter()
            .filter(|bytes| bytes[0] == task)
            .map(|bytes| bytes[1])
            .collect();
        assert_eq!(of_task, (0..10).collect::<Vec<_>>(), "in order");
    }
    got.sort();
    got.dedup();
    assert_eq!(got.len(), 120, "each once");
}

#[test]
fn a_port_has_one_owner_and_is_free_again_when_he_leaves() {
    let mut world = World::new("path(2)");
    world.start(0, |mesh| async move {
        assert_eq!(mesh.receiver(AppPort::TRAFFIC).err(), Some(OpenError::Reserved));
        let first = mesh.receiver(PORT).unwrap();
        assert_eq!(mesh.receiver(PORT).err(), Some(OpenError::Taken));
        drop(first);
        assert!(mesh.receiver(PORT).is_ok());
        mesh.sleep(10 * MILLISECOND).await;
        let all: Vec<_> = (20..26).map(|port| mesh.receiver(AppPort(port)).unwrap()).collect();
        assert_eq!(mesh.receiver(PORT).err(), Some(OpenError::NoRoom));
        drop(all);
        assert_eq!(
            mesh.receiver(PORT).err(),
            Some(OpenError::NoRoom),
            "the router does not know yet"
        );
        mesh.sleep(10 * MILLISECOND).await;
        assert!(mesh.receiver(PORT).is_ok());
    });
    world.run_until_done(SECOND);
}

#[test]
fn time_passes() {
    let mut world = World::new("path(2)");
    for task in 1..=12_u64 {
        world.start(0, move |mesh| async move {
            let begin = mesh.uptime();
            mesh.sleep(task * 10 * MILLISECOND).await;
            let took = mesh.uptime() - begin;
            assert!(took >= task * 10 * MILLISECOND, "{took}");
            // More sleep than there are timers: who has none waits for another to run out.
            assert!(took <= (task + 8) * 10 * MILLISECOND + MILLISECOND, "{took}");
        });
    }
    world.run_until_done(SECOND);
}

#[test]
fn links_that_come_and_go_are_told() {
    let mut world = World::cold("ring(3)");
    let (told, note) = notes();
    world.start(0, move |mesh| async move {
        let mut changes = mesh.link_changes();
        mesh.all_links_up().await;
        assert!(mesh.neighbors().all(|neighbor| neighbor.is_up));
        loop {
            let change = changes.next().await;
            note.borrow_mut().push((change.node, change.is_up));
        }
    });
    world.run(SECOND);
    let mut up: Vec<_> = told.borrow_mut().drain(..).collect();
    up.sort_unstable();
    assert_eq!(up, [(1, true), (2, true)]);
    world.cut(0, 2);
    world.run(SECOND);
    assert_eq!(told.borrow_mut().drain(..).collect::<Vec<_>>(), [(2, false)]);
    let mesh = world.mesh(0);
    let neighbors: Vec<_> = mesh
        .neighbors()
        .map(|neighbor| (neighbor.node, neighbor.is_up))
        .collect();
    assert_eq!(neighbors, [(1, true), (2, false)]);
}

#[test]
fn a_request_that_nobody_answers_ends() {
    let mut world = World::new("path(3)");
    world.start(2, |mesh| async move {
        let mut receiver = mesh.receiver(PORT).unwrap();
        // It is read, and forgotten.
        receiver.recv().await;
        mesh.sleep(100 * SECOND).await;
    });
    let (ends, note) = notes();
    world.start(0, move |mesh| async move {
        let response: Result<u8, _> = mesh.request(2, PORT, &0_u8).await;
        note.borrow_mut().push(response);
        mesh.sleep_until(30 * SECOND).await;
        let response: Result<u8, _> = mesh.request(2, PORT, &0_u8).await;
        note.borrow_mut().push(response);
    });
    world.run(20 * SECOND);
    assert_eq!(*ends.borrow(), [Err(RequestError::TimedOut)]);
    world.cut(1, 2);
    world.run(20 * SECOND);
    let nowhere = RequestError::Undeliverable {
        at: 1,
        reason: DropReason::NoRoute,
    };
    assert_eq!(*ends.borrow(), [Err(RequestError::TimedOut), Err(nowhere)]);
}

#[test]
fn a_message_that_nobody_waits_for_frees_its_place() {
    let mut world = World::new("path(2)");
    world.start(1, |mesh| async move {
        let _never_read = mesh.receiver(OTHER).unwrap();
        mesh.sleep(100 * SECOND).await;
    });
    world.start(0, |mesh| async move {
        mesh.sleep(100 * MILLISECOND).await;
        for _ in 0..50 {
            let waiting = mesh.send_confirmed(1, OTHER, b"x");
            let soon = mesh.sleep(20 * MILLISECOND);
            select(waiting, soon).await;
        }
        assert_eq!(mesh.send(1, OTHER, b"y").await, Ok(()));
    });
    world.run(60 * SECOND);
    assert_eq!(world.ended(), 1);
}

#[test]
fn a_sleep_that_is_given_up_frees_its_timer() {
    let mut world = World::new("path(2)");
    world.start(0, |mesh| async move {
        for _ in 0..50 {
            select(mesh.sleep(100 * SECOND), mesh.sleep(MILLISECOND)).await;
        }
        let begin = mesh.uptime();
        mesh.sleep(10 * MILLISECOND).await;
        assert!(mesh.uptime() - begin <= 11 * MILLISECOND, "{}", mesh.uptime() - begin);
    });
    world.run_until_done(SECOND);
}
