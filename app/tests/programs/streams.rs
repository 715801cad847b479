//! Streams of bytes.

use embassy_futures::select::select;
use embedded_io_async::{Read, Write};
use hopwise_app::{ConnectError, Mesh, SendError, Stream, StreamError};

use super::world::{MILLISECOND, SECOND, World};
use super::{OTHER, PORT, notes};

fn byte(place: usize) -> u8 {
    (place as u8).wrapping_mul(13) ^ (place >> 8) as u8
}

async fn write_bytes<const ROOM: usize>(stream: &mut Stream<'_, ROOM>, length: usize) {
    let bytes: Vec<u8> = (0..length).map(byte).collect();
    for part in bytes.chunks(333) {
        stream.write_all(part).await.unwrap();
    }
    stream.close().await.unwrap();
}

async fn read_bytes<const ROOM: usize>(stream: &mut Stream<'_, ROOM>, length: usize) {
    let mut read = 0;
    loop {
        let mut buffer = [0; 100];
        let more = stream.read(&mut buffer).await.unwrap();
        for (place, &found) in (read..).zip(&buffer[..more]) {
            assert_eq!(found, byte(place), "at {place}");
        }
        read += more;
        if more == 0 {
            return assert_eq!(read, length);
        }
    }
}

async fn accept(mesh: Mesh<'_>) -> Stream<'_> {
    mesh.listener(PORT).unwrap().accept().await
}

#[test]
fn bytes_come_in_order_and_the_end_after_them() {
    let mut world = World::new("path(3)");
    world.start(2, |mesh| async move {
        let mut stream = accept(mesh).await;
        assert_eq!(stream.peer(), 0);
        read_bytes(&mut stream, 20_000).await;
        // The other direction is still open.
        write_bytes(&mut stream, 5_000).await;
    });
    world.start(0, |mesh| async move {
        let mut stream: Stream<'_> = mesh.connect(2, PORT).await.unwrap();
        write_bytes(&mut stream, 20_000).await;
        assert_eq!(stream.write(b"more").await, Err(StreamError::Closed));
        read_bytes(&mut stream, 5_000).await;
    });
    world.run_until_done(10 * SECOND);
}

/// Both write more than there is room for before either reads.
#[test]
fn both_directions_at_once() {
    let mut world = World::new("path(2)");
    async fn both(mut stream: Stream<'_, 64>) {
        // Room for what the other end writes: it writes as much.
        let mut here = [0; 60];
        for round in 0..50 {
            stream.write_all(&[round; 60]).await.unwrap();
            stream.flush().await.unwrap();
            stream.read_exact(&mut here).await.unwrap();
            assert_eq!(here, [round; 60]);
        }
        stream.close().await.unwrap();
        assert_eq!(stream.read(&mut here).await, Ok(0));
    }
    world.start(1, |mesh| async move {
        both(mesh.listener(PORT).unwrap().accept().await).await;
    });
    world.start(
        0,
        |mesh| async move { both(mesh.connect(1, PORT).await.unwrap()).await },
    );
    world.run_until_done(20 * SECOND);
}

/// Who reads slowly is written to slowly, and needs no more memory.
#[test]
fn a_slow_reader_slows_the_writer_down() {
    let mut world = World::new("path(2)");
    let (written, note) = notes();
    world.start(1, |mesh| async move {
        let mut stream: Stream<'_, 300> = mesh.listener(PORT).unwrap().accept().await;
        // It is not even looked at.
        mesh.sleep(20 * SECOND).await;
        read_bytes(&mut stream, 5_000).await;
    });
    world.start(0, move |mesh| async move {
        let mut stream: Stream<'_, 300> = mesh.connect(1, PORT).await.unwrap();
        for place in 0..5_000 {
            stream.write_all(&[byte(place)]).await.unwrap();
            note.borrow_mut().push(place);
        }
        stream.close().await.unwrap();
    });
    world.run(15 * SECOND);
    // No more than the writer holds: nothing is in the reader's memory but what waits at its port.
    assert!(
        (300..1_000).contains(&written.borrow().len()),
        "{}",
        written.borrow().len()
    );
    world.run_until_done(20 * SECOND);
}

/// Room is told of when there is some again: nobody waits for the next look.
#[test]
fn a_reader_that_goes_on_is_served_at_once() {
    let mut world = World::new("path(2)");
    world.start(1, |mesh| async move {
        let mut stream: Stream<'_, 100> = mesh.listener(PORT).unwrap().accept().await;
        let begin = mesh.uptime();
        read_bytes(&mut stream, 5_000).await;
        let took = mesh.uptime() - begin;
        // Fifty times 100 bytes, each full buffer emptied at once: half a second each if nobody told of room.
        assert!(took < 3 * SECOND, "{took}");
    });
    world.start(0, |mesh| async move {
        // It always has more to send than there is room for.
        let mut stream: Stream<'_, 512> = mesh.connect(1, PORT).await.unwrap();
        write_bytes(&mut stream, 5_000).await;
    });
    world.run_until_done(30 * SECOND);
}

#[test]
fn a_stream_goes_on_after_a_pulled_cable_and_is_lost_if_it_stays_out() {
    let mut world = World::new("path(2)");
    let (ends, note) = notes();
    let at_reader = note.clone();
    world.start(1, move |mesh| async move {
        let mut stream = accept(mesh).await;
        let mut all = vec![0; 30_000];
        stream.read_exact(&mut all).await.unwrap();
        assert!(all.iter().enumerate().all(|(place, &found)| found == byte(place)));
        let end = stream.read(&mut all).await;
        at_reader.borrow_mut().push(end);
    });
    world.start(0, move |mesh| async move {
        let mut stream: Stream<'_> = mesh.connect(1, PORT).await.unwrap();
        let bytes: Vec<u8> = (0..30_000).map(byte).collect();
        stream.write_all(&bytes).await.unwrap();
        stream.flush().await.unwrap();
        note.borrow_mut().push(Ok(99));
        // The cable is pulled meanwhile.
        mesh.sleep(100 * MILLISECOND).await;
        stream.write_all(b"never").await.unwrap();
        let end = stream.flush().await;
        note.borrow_mut().push(end.map(|()| 0));
    });
    for _ in 0..3 {
        world.run(100 * MILLISECOND);
        world.cut(0, 1);
        world.run(3 * SECOND);
        assert_eq!(ends.borrow().len(), 0);
        world.restore(0, 1);
    }
    while ends.borrow().is_empty() {
        world.run(MILLISECOND);
    }
    assert_eq!(*ends.borrow(), [Ok(99)]);
    world.cut(0, 1);
    // The reader asks after five seconds whether the writer is there.
    world.run(50 * SECOND);
    assert_eq!(ends.borrow()[1..], [Err(StreamError::Lost), Err(StreamError::Lost)]);
}

/// Who is gone is found out by who writes, and by who waits for something to read.
#[test]
fn a_stream_that_is_dropped_is_reset() {
    for reads in [false, true] {
        let mut world = World::new("path(2)");
        world.start(1, |mesh| async move {
            let mut stream = accept(mesh).await;
            stream.write_all(b"hello").await.unwrap();
            stream.flush().await.unwrap();
        });
        world.start(0, move |mesh| async move {
            let mut stream: Stream<'_> = mesh.connect(1, PORT).await.unwrap();
            let mut buffer = [0; 5];
            stream.read_exact(&mut buffer).await.unwrap();
            let begin = mesh.uptime();
            let end = if reads {
                stream.read(&mut buffer).await.map(drop)
            } else {
                stream.write_all(b"hello").await.unwrap();
                stream.flush().await
            };
            assert_eq!(end, Err(StreamError::Reset));
            assert_eq!(stream.write(b"x").await, Err(StreamError::Reset));
            assert_eq!(stream.close().await, Err(StreamError::Reset));
            let took = mesh.uptime() - begin;
            assert!(took < if reads { 6 } else { 1 } * SECOND, "{took}");
        });
        world.run_until_done(20 * SECOND);
    }
}

#[test]
fn who_accepts_no_stream_says_so() {
    let mut world = World::new("path(3)");
    world.start(1, |mesh| async move {
        let _no_listener = mesh.receiver(OTHER).unwrap();
        let _never_accepts = mesh.listener(PORT).unwrap();
        mesh.sleep(100 * SECOND).await;
    });
    world.start(0, |mesh| async move {
        let connect = async |node, port| mesh.connect::<100>(node, port).await.err();
        assert_eq!(
            connect(9, PORT).await,
            Some(ConnectError::NotSent(SendError::NoSuchNode))
        );
        assert_eq!(connect(2, PORT).await, Some(ConnectError::PortUnreachable));
        let begin = mesh.uptime();
        assert_eq!(connect(1, PORT).await, Some(ConnectError::Busy));
        assert!(mesh.uptime() - begin < 20 * SECOND);
    });
    world.run(30 * SECOND);
    assert_eq!(world.ended(), 1);
}

/// A listener serves one after the other, and has as many streams at once as it has receivers.
#[test]
fn streams_come_and_go() {
    let mut world = World::new("complete(4)");
    world.start(0, |mesh| async move {
        let mut listener = mesh.listener(PORT).unwrap();
        let mut at_once = Vec::new();
        for _ in 0..12 {
            at_once.push(listener.accept::<64>().await);
            if at_once.len() == 4 {
                for mut stream in at_once.drain(..) {
                    let mut bytes = [0; 3];
                    stream.read_exact(&mut bytes).await.unwrap();
                    assert_eq!(bytes, [stream.peer() as u8; 3]);
                    stream.write_all(&bytes).await.unwrap();
                    stream.close().await.unwrap();
                }
            }
        }
        mesh.sleep(SECOND).await;
    });
    for node in 1..4 {
        for _ in 0..4 {
            world.start(node, move |mesh| async move {
                let mut stream: Stream<'_, 64> = mesh.connect(0, PORT).await.unwrap();
                stream.write_all(&[node as u8; 3]).await.unwrap();
                let mut bytes = [0; 3];
                stream.read_exact(&mut bytes).await.unwrap();
                assert_eq!(bytes, [node as u8; 3]);
                assert_eq!(stream.read(&mut bytes).await, Ok(0));
            });
        }
    }
    world.run_until_done(60 * SECOND);
}

#[test]
fn every_call_may_be_given_up() {
    let mut world = World::new("path(2)");
    world.start(1, |mesh| async move {
        let mut stream = accept(mesh).await;
        let mut all: Vec<u8> = Vec::new();
        while all.len() < 5_000 {
            let mut buffer = [0; 64];
            let mut read = Ok(0);
            select(async { read = stream.read(&mut buffer).await }, mesh.sleep(MILLISECOND)).await;
            all.extend(&buffer[..read.unwrap()]);
        }
        assert!(all.iter().enumerate().all(|(place, &found)| found == byte(place)));
    });
    world.start(0, |mesh| async move {
        let mut stream: Stream<'_> = mesh.connect(1, PORT).await.unwrap();
        let bytes: Vec<u8> = (0..5_000).map(byte).collect();
        let mut written = 0;
        while written < bytes.len() {
            let mut more = Ok(0);
            let part = &bytes[written..];
            select(async { more = stream.write(part).await }, mesh.sleep(MILLISECOND)).await;
            written += more.unwrap();
            select(stream.flush(), mesh.sleep(700)).await;
        }
        stream.flush().await.unwrap();
    });
    world.run_until_done(20 * SECOND);
}
