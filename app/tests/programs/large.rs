//! Messages that are larger than a packet.

use hopwise_app::{LargeError, MAX_LARGE, RequestError, SendError};

use super::world::{MILLISECOND, SECOND, World};
use super::{OTHER, PORT, notes};

fn message(length: usize, seed: u8) -> Vec<u8> {
    let bytes = (0..length).map(|place| (place as u8).wrapping_mul(31).wrapping_add((place >> 8) as u8 ^ seed));
    bytes.collect()
}

#[test]
fn messages_of_any_length_arrive_whole() {
    let mut world = World::new("path(3)");
    let lengths = [0, 1, 190, 191, 192, 382, 5_000, MAX_LARGE];
    world.start(2, move |mesh| async move {
        let mut receiver = mesh.large_receiver(PORT).unwrap();
        let mut buffer = vec![0; MAX_LARGE];
        for length in lengths {
            let large = receiver.recv_large(&mut buffer).await;
            assert_eq!(large.source, 0);
            assert!(large.bytes == message(length, 7), "{length}: {}", large.bytes.len());
        }
    });
    world.start(0, move |mesh| async move {
        for length in lengths {
            assert_eq!(mesh.send_large(2, PORT, &message(length, 7)).await, Ok(()), "{length}");
        }
    });
    world.run_until_done(20 * SECOND);
}

#[test]
fn what_cannot_be_sent_is_said() {
    let mut world = World::new("path(2)");
    world.start(1, |mesh| async move {
        let mut receiver = mesh.large_receiver(PORT).unwrap();
        let large = receiver.recv_large(&mut [0; 1_000]).await.bytes.len();
        assert_eq!(large, 1_000);
        let _never_read = mesh.large_receiver(OTHER).unwrap();
        mesh.sleep(60 * SECOND).await;
    });
    world.start(0, |mesh| async move {
        let long = vec![0; MAX_LARGE + 1];
        let too_long = Err(LargeError::NotSent(SendError::TooLong));
        assert_eq!(mesh.send_large(1, PORT, &long).await, too_long);
        let nobody = Err(LargeError::NotSent(SendError::NoSuchNode));
        assert_eq!(mesh.send_large(2, PORT, &[]).await, nobody);
        assert_eq!(mesh.send_large(1, OTHER, &[]).await, Err(LargeError::PortUnreachable));
        let too_small = Err(LargeError::NoRoom { room: 1_000 });
        assert_eq!(mesh.send_large(1, PORT, &[0; 1_001]).await, too_small);
        assert_eq!(mesh.send_large(1, PORT, &[0; 1_000]).await, Ok(()));
        mesh.sleep(100 * MILLISECOND).await;
        let begin = mesh.uptime();
        assert_eq!(mesh.send_large(1, OTHER, &[1]).await, Err(LargeError::Busy));
        let took = mesh.uptime() - begin;
        assert!((30 * SECOND..40 * SECOND).contains(&took), "{took}");
    });
    world.run_until_done(70 * SECOND);
}

/// A cable is out for a while, twice, and a third time for good.
#[test]
fn a_message_goes_on_after_a_pulled_cable_and_ends_with_an_error_if_it_stays_out() {
    let mut world = World::new("path(2)");
    let (got, note) = notes();
    world.start(1, move |mesh| async move {
        let mut receiver = mesh.large_receiver(PORT).unwrap();
        let mut buffer = vec![0; MAX_LARGE];
        loop {
            let length = receiver.recv_large(&mut buffer).await.bytes.len();
            note.borrow_mut().push(buffer[..length] == message(30_000, 1));
        }
    });
    let (sent, end) = notes();
    world.start(0, move |mesh| async move {
        for _ in 0..2 {
            let result = mesh.send_large(1, PORT, &message(30_000, 1)).await;
            end.borrow_mut().push(result.map_err(|error| error.to_string()));
        }
    });
    for _ in 0..2 {
        world.run(100 * MILLISECOND);
        world.cut(0, 1);
        world.run(3 * SECOND);
        assert_eq!(sent.borrow().len(), 0);
        world.restore(0, 1);
    }
    while sent.borrow().is_empty() {
        world.run(50 * MILLISECOND);
    }
    assert_eq!((&*sent.borrow(), &*got.borrow()), (&vec![Ok(())], &vec![true]));
    world.cut(0, 1);
    world.run(60 * SECOND);
    let unreachable = Err("it ended at node 0: no-route".to_string());
    assert_eq!(sent.borrow()[1], unreachable);
    assert_eq!(*got.borrow(), [true]);
}

#[test]
fn a_receiver_that_restarts_gets_the_message_from_the_beginning() {
    let mut world = World::new("path(2)");
    let (got, note) = notes();
    for part in 0..2 {
        let note = note.clone();
        world.start(1, move |mesh| async move {
            let mut receiver = mesh.large_receiver(PORT).unwrap();
            let mut buffer = vec![0; MAX_LARGE];
            let large = receiver.recv_large(&mut buffer).await;
            note.borrow_mut().push((part, large.bytes == message(20_000, 3)));
        });
        if part == 0 {
            world.start(0, |mesh| async move {
                assert_eq!(mesh.send_large(1, PORT, &message(20_000, 3)).await, Ok(()));
            });
            world.run(100 * MILLISECOND);
            world.end(0);
            world.run(MILLISECOND);
        }
    }
    world.run_until_done(10 * SECOND);
    assert_eq!(*got.borrow(), [(1, true)]);
}

#[test]
fn senders_are_served_one_after_the_other() {
    let mut world = World::new("complete(5)");
    let (got, note) = notes();
    world.start(0, move |mesh| async move {
        let mut receiver = mesh.large_receiver(PORT).unwrap();
        let mut buffer = vec![0; 4_000];
        for _ in 0..8 {
            let large = receiver.recv_large(&mut buffer).await;
            assert!(large.bytes == message(3_000, large.source as u8));
            note.borrow_mut().push(large.source);
        }
        // The last sender may ask again.
        mesh.sleep(5 * SECOND).await;
    });
    for node in 1..5 {
        for _ in 0..2 {
            world.start(node, move |mesh| async move {
                assert_eq!(mesh.send_large(0, PORT, &message(3_000, node as u8)).await, Ok(()));
            });
        }
    }
    world.run_until_done(60 * SECOND);
    let mut got = got.borrow().clone();
    got.sort_unstable();
    assert_eq!(got, [1, 1, 2, 2, 3, 3, 4, 4]);
}

/// What anyone may send to the port: it neither ends nor disturbs a message, and the last piece again makes no second one.
#[test]
fn strange_requests_do_no_harm() {
    let mut world = World::new("path(2)");
    let (got, note) = notes();
    world.start(1, move |mesh| async move {
        let mut receiver = mesh.large_receiver(PORT).unwrap();
        let mut buffer = vec![0; 1_000];
        loop {
            let bytes = receiver.recv_large(&mut buffer).await.bytes.to_vec();
            note.borrow_mut().push(bytes);
        }
    });
    world.start(0, |mesh| async move {
        let ask = |bytes: Vec<u8>| async move {
            mesh.request_bytes(1, PORT, &bytes)
                .await
                .map(|response| response.to_vec())
        };
        let begin = |session: u8, length: u32, crc: u32| {
            [&[0, session, 0, 0, 0][..], &length.to_le_bytes(), &crc.to_le_bytes()].concat()
        };
        let piece = |session: u8, offset: u32, bytes: &[u8]| {
            [&[1, session, 0, 0, 0][..], &offset.to_le_bytes(), bytes].concat()
        };
        let (next, done, unknown) = (
            |offset: u8| Ok(vec![0, offset, 0, 0, 0]),
            Ok(vec![1, 0, 0, 0, 0]),
            Ok(vec![4, 0, 0, 0, 0]),
        );
        for nonsense in [&[][..], &[9], &[0, 1], &[1, 2, 3, 4], &[0; 12], &[0; 14], &[7; 13]] {
            assert_eq!(ask(nonsense.to_vec()).await, Err(RequestError::Refused));
        }
        mesh.send(1, PORT, b"no request").await.unwrap();
        assert_eq!(ask(piece(1, 0, b"abc")).await, unknown);
        // Of "abc".
        let crc = 0x364b_3fb7;
        assert_eq!(ask(begin(1, 3, crc)).await, next(0));
        assert_eq!(ask(piece(1, 0, b"a")).await, next(1));
        assert_eq!(ask(begin(1, 3, crc)).await, next(1), "again");
        assert_eq!(ask(piece(1, 0, b"a")).await, next(1), "again");
        assert_eq!(ask(piece(1, 1, b"bcd")).await, next(1), "too long");
        assert_eq!(ask(piece(1, 9, b"c")).await, next(1), "too far");
        assert_eq!(ask(piece(1, u32::MAX, b"c")).await, next(1), "too far");
        assert_eq!(ask(begin(2, 3, crc)).await, Ok(vec![3, 0, 0, 0, 0]), "another");
        assert_eq!(ask(piece(2, 0, b"abc")).await, unknown);
        assert_eq!(ask(piece(1, 1, b"bc")).await, done);
        assert_eq!(ask(piece(1, 1, b"bc")).await, done, "again");
        assert_eq!(ask(begin(1, 3, crc)).await, done, "again");
        assert_eq!(ask(begin(3, 3, crc ^ 1)).await, next(0));
        assert_eq!(ask(piece(3, 0, b"abc")).await, Ok(vec![5, 0, 0, 0, 0]));
        // Eight more, and the first is forgotten. Its last piece is no message for all that.
        for session in 4..12 {
            assert_eq!(ask(begin(session, 0, 0)).await, next(0));
            assert_eq!(ask(piece(session, 0, &[])).await, done);
        }
        assert_eq!(ask(piece(1, 1, b"bc")).await, unknown);
    });
    world.run(5 * SECOND);
    assert_eq!(world.ended(), 1);
    let mut expected = vec![b"abc".to_vec()];
    expected.resize(9, Vec::new());
    assert_eq!(*got.borrow(), expected);
}

/// A receiver that says what the test wants: who has lost the message before its end gets it anew, and who may have had it does not.
#[test]
fn what_a_receiver_has_lost_is_retransmitted_unless_it_may_have_had_it() {
    const NEXT: Option<u8> = Some(0);
    const DONE: Option<u8> = Some(1);
    const UNKNOWN: Option<u8> = Some(4);
    const DAMAGED: Option<u8> = Some(5);
    let cases = [
        (vec![NEXT, UNKNOWN, NEXT, NEXT, DONE], Ok(())),
        // The response to the last piece is lost.
        (vec![NEXT, NEXT, None, DONE], Ok(())),
        (vec![NEXT, NEXT, None, UNKNOWN], Err(LargeError::Uncertain)),
        (vec![NEXT, NEXT, DAMAGED], Err(LargeError::Damaged)),
        (vec![Some(9)], Err(LargeError::PortUnreachable)),
    ];
    for (says, expected) in cases {
        let mut world = World::new("path(2)");
        let what = format!("{says:?}");
        let (said, note) = notes();
        let count = says.len();
        world.start(1, move |mesh| async move {
            let mut receiver = mesh.receiver(PORT).unwrap();
            for kind in says {
                let request = receiver.recv().await;
                note.borrow_mut().push(kind);
                let Some(kind) = kind else { continue };
                // What comes after a piece is where that ends.
                let next = match request.bytes()[0] {
                    0 => 0_u32,
                    _ => {
                        u32::from_le_bytes(request.bytes()[5..9].try_into().unwrap())
                            + request.bytes()[9..].len() as u32
                    }
                };
                let response = [&[kind][..], &next.to_le_bytes()].concat();
                mesh.respond(&request, PORT, &response).await.unwrap();
            }
            mesh.sleep(SECOND).await;
        });
        world.start(0, move |mesh| async move {
            assert_eq!(mesh.send_large(1, PORT, &[7; 300]).await, expected, "{what}");
        });
        world.run_until_done(20 * SECOND);
        assert_eq!(said.borrow().len(), count);
    }
}
