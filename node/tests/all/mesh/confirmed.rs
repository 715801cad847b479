//! Confirmed packets: delivered once, and the sender learns what became of each.

use super::datagrams::{aged, beside, header, with};
use super::harness::{Got, Mesh};
use crate::support::*;

/// The number of the first confirmed packet in the first life of a board, which depends on its epoch, 1.
const FIRST: u32 = 0x9e37_79b9_u32.rotate_left(16);

/// What became of packets, by their number after the [`FIRST`].
fn outcomes(mesh: &Mesh, node: Node) -> Vec<(u32, Outcome)> {
    let outcomes = mesh.board(node).outcomes.iter();
    outcomes
        .map(|&(number, outcome)| (number.wrapping_sub(FIRST), outcome))
        .collect()
}

#[test]
fn each_is_delivered_once_and_confirmed() {
    for expression in ["path(4)", "ring(5)", "rdn(ring(3),1)", "hypercube(3)"] {
        let mut mesh = Mesh::up(expression);
        let nodes = mesh.network.nodes();
        for round in 0..3 {
            for from in 0..nodes {
                let to = (from + nodes / 2) % nodes;
                let number = mesh.confirmed(from, to, &[round, from as u8]).unwrap();
                assert_eq!(number, FIRST + u32::from(round));
            }
            mesh.run(200 * MILLISECOND);
        }
        for from in 0..nodes {
            let to = (from + nodes / 2) % nodes;
            let delivered = [0, 1, 2].map(|number| (number, Outcome::Delivered));
            assert_eq!(outcomes(&mesh, from), delivered, "{expression}");
            let payloads = [0, 1, 2].map(|round| (from, vec![round, from as u8]));
            let got = mesh.board(to).got.iter();
            let got: Vec<_> = got.map(|got| (got.source, got.payload.clone())).collect();
            assert_eq!(got, payloads, "{expression}");
            assert!(mesh.board(to).got.iter().all(|got| got.kind == MessageKind::Confirmed));
            assert_eq!(mesh.board(from).router.counters().retried, 0, "{expression}");
        }
        mesh.assert_at_rest();
    }
}

#[test]
fn one_to_oneself_is_delivered_and_confirmed() {
    let mut mesh = Mesh::up("ring(3)");
    mesh.send(1, 1, b"note").unwrap();
    mesh.run(MILLISECOND);
    assert_eq!(mesh.board(1).payloads(), [(1, &b"note"[..])]);
    mesh.confirmed(1, 1, b"me").unwrap();
    mesh.run(200 * MILLISECOND);
    assert_eq!(outcomes(&mesh, 1), [(0, Outcome::Delivered)]);
    assert_eq!(mesh.board(1).payloads(), [(1, &b"note"[..]), (1, b"me")]);
    mesh.assert_at_rest();
}

/// A packet comes to node 0 and comes again, as its source sends it again. Says how often node 1 hears it, if it waits behind as many
/// others at first.
fn heard_of_a_retry(kind: Kind, waiting: usize) -> usize {
    let (mut mesh, [one, four]) = beside("ring(5)", [(0, 1), (0, 4)]);
    for _ in 0..waiting {
        mesh.send(0, 1, &[0; 200]).unwrap();
    }
    let first = header(kind, 4, 2, 3);
    for copied in [false, true] {
        mesh.say(four, &Header { copied, ..first }, b"retry", 3);
    }
    mesh.run(100 * MILLISECOND);
    let heard = mesh.stranger(one).heard.iter();
    let heard = heard.filter(|heard| heard.header.id() == first.id()).count();
    let found = mesh.board(0).dropped(DropReason::Duplicate) as usize;
    assert_eq!(found, 2 - heard, "{kind:?} behind {waiting}");
    heard
}

/// So a source that is served late does not use up its turns with copies.
#[test]
fn a_retry_ends_where_its_first_copy_still_waits() {
    assert_eq!(heard_of_a_retry(Kind::Confirmed, 10), 1);
    assert_eq!(heard_of_a_retry(Kind::Confirmed, 0), 2, "the first copy may be lost");
    let found = heard_of_a_retry(Kind::Datagram, 10);
    assert_eq!(found, 2, "copies of others are for their destination to tell");
}

#[test]
fn so_many_are_under_way_and_no_more() {
    for fetches in [true, false] {
        let mut mesh = Mesh::up("path(3)");
        mesh.board_mut(0).fetches = fetches;
        for number in 0..OUTSTANDING {
            assert_eq!(mesh.confirmed(0, 2, b"x"), Ok(FIRST + number as u32));
        }
        assert_eq!(mesh.confirmed(0, 2, b"x"), Err(SendError::Full));
        mesh.run(300 * MILLISECOND);
        assert_eq!(mesh.board(0).router.has_news(), !fetches);
        if !fetches {
            assert_eq!(mesh.confirmed(0, 2, b"x"), Err(SendError::Full));
            let now = mesh.now;
            mesh.board_mut(0).fetch(now);
        }
        assert_eq!(outcomes(&mesh, 0).len(), OUTSTANDING);
        assert!(!mesh.board(0).router.has_news());
        assert!(mesh.confirmed(0, 2, b"x").is_ok());
    }
}

#[test]
fn a_destination_that_is_off_is_undeliverable_after_a_while() {
    let mut mesh = Mesh::up("ring(6)");
    mesh.switch_off(3);
    mesh.run(SECOND);
    let began = mesh.now;
    let number = mesh.confirmed(0, 3, b"anyone?").unwrap();
    assert!(mesh.run_until(10 * SECOND, |mesh| !mesh.board(0).outcomes.is_empty()));
    let took = mesh.now - began;
    assert!((times::UNREACHABLE_FOR..5 * SECOND).contains(&took), "{took}");
    let [(of, Outcome::Undeliverable { at, reason })] = outcomes(&mesh, 0)[..] else {
        panic!("{:?}", outcomes(&mesh, 0));
    };
    assert_eq!((of, reason), (number - FIRST, DropReason::NoRoute));
    // The last that could have handed it over.
    assert!([2, 4].contains(&at), "{at}");
    assert!(mesh.board(0).router.counters().retried >= 2);
    mesh.run(SECOND);
    mesh.assert_at_rest();
    let nothing = mesh.board(0).got.is_empty();
    assert!(nothing, "reports of confirmed packets are not for the application");
}

/// Found out at home: all neighbors of the sender are gone.
#[test]
fn a_board_alone_says_so_itself() {
    let mut mesh = Mesh::up("ring(3)");
    mesh.switch_off(1);
    mesh.switch_off(2);
    mesh.run(SECOND);
    mesh.confirmed(0, 1, b"").unwrap();
    mesh.run(6 * SECOND);
    let reason = DropReason::NoRoute;
    assert_eq!(outcomes(&mesh, 0), [(0, Outcome::Undeliverable { at: 0, reason })]);
    mesh.assert_at_rest();
}

#[test]
fn one_that_comes_back_in_time_is_delivered() {
    let mut mesh = Mesh::up("path(3)");
    mesh.cut(1, 2);
    mesh.run(SECOND);
    mesh.confirmed(0, 2, b"late").unwrap();
    mesh.run(2 * SECOND);
    assert!(outcomes(&mesh, 0).is_empty());
    mesh.restore(1, 2);
    mesh.run(3 * SECOND);
    assert_eq!(outcomes(&mesh, 0), [(0, Outcome::Delivered)]);
    assert_eq!(mesh.board(2).payloads(), [(0, &b"late"[..])]);
    mesh.assert_at_rest();
}

pub(super) fn confirmation(number: u32, verdict: Verdict, uptime: Micros) -> Vec<u8> {
    let confirmation = Confirmation {
        number,
        epoch: 1,
        verdict,
        uptime: uptime as u32,
    };
    confirmation.write::<Body<BODY>>().unwrap().to_vec()
}

#[test]
fn one_that_nobody_answers_is_unknown() {
    let (mut mesh, [two]) = beside("path(3)", [(1, 2)]);
    let began = mesh.now;
    mesh.confirmed(1, 2, b"hear me").unwrap();
    assert!(mesh.run_until(20 * SECOND, |mesh| !mesh.board(1).outcomes.is_empty()));
    assert_eq!(outcomes(&mesh, 1), [(0, Outcome::Unknown)]);
    let took = mesh.now - began;
    let end = times::CONFIRM_WITHIN + 3 * SECOND;
    assert!((times::CONFIRM_WITHIN..end).contains(&took), "{took}");
    // The time between two attempts doubles, up to two seconds.
    let heard = &mesh.stranger(two).heard;
    let gaps: Vec<_> = heard.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    assert!((60 * MILLISECOND..100 * MILLISECOND * 2).contains(&gaps[0]), "{gaps:?}");
    for pair in gaps.windows(2) {
        let expected = (2 * pair[0]).min(times::LONGEST_RETRY);
        assert!(pair[1].abs_diff(expected) < 5 * MILLISECOND, "{gaps:?}");
    }
    assert_eq!(mesh.board(1).router.counters().retried as usize, heard.len() - 1);
    // What is retransmitted may be a copy, and is as it was otherwise.
    for (attempt, heard) in heard.iter().enumerate() {
        let Header {
            kind, copied, number, ..
        } = heard.header;
        if attempt < 5 {
            assert_eq!((kind, copied, number), (Kind::Confirmed, attempt > 0, FIRST));
            assert_eq!(heard.body, b"\0\0hear me");
        } else {
            // Nobody answers: it goes by every path.
            let inner = Flooded {
                kind: Kind::Confirmed,
                number: FIRST,
                body: b"\0\0\x14hear me",
            };
            assert_eq!((kind, copied), (Kind::Flooded, true));
            assert_eq!(Flooded::read(&heard.body), Some(inner));
        }
        assert_eq!(heard.header.hops_left, heard.header.hops_left.max(100));
        let age = u64::from(heard.header.age) * AGE_UNIT;
        assert!(age < 20 * MILLISECOND, "each attempt is young");
    }
    mesh.assert_at_rest();
}

#[test]
fn a_confirmation_counts_once_and_only_of_this_life() {
    let (mut mesh, [two]) = beside("path(3)", [(1, 2)]);
    mesh.confirmed(1, 2, b"x").unwrap();
    mesh.run(20 * MILLISECOND);
    let response = header(Kind::Confirmation, 2, 1, 50);
    let good = confirmation(FIRST, Verdict::Delivered, 9 * SECOND);
    let mut old_epoch = good.clone();
    old_epoch[4] = 9;
    mesh.post(two, &response, &old_epoch);
    mesh.post(two, &Header { number: 51, ..response }, &good[..10]);
    let of_another = confirmation(FIRST + 1, Verdict::Delivered, 9 * SECOND);
    mesh.post(two, &Header { number: 52, ..response }, &of_another);
    // Of someone else than the destination.
    mesh.say(two, &header(Kind::Confirmation, 0, 1, 55), &good, 10);
    assert!(outcomes(&mesh, 1).is_empty());
    let board = mesh.board(1);
    let dropped =
        [DropReason::Stale, DropReason::Malformed, DropReason::Unsolicited].map(|reason| board.dropped(reason));
    assert_eq!(dropped, [1, 1, 2]);
    mesh.say(two, &Header { number: 53, ..response }, &good, 10);
    mesh.say(two, &Header { number: 54, ..response }, &good, 10);
    assert_eq!(outcomes(&mesh, 1), [(0, Outcome::Delivered)]);
    assert_eq!(mesh.board(1).dropped(DropReason::Unsolicited), 3);
    // The destination's epoch is known from now on.
    mesh.confirmed(1, 2, b"y").unwrap();
    mesh.run(10 * MILLISECOND);
    assert_eq!(mesh.stranger(two).heard.last().unwrap().body, b"\x01\0y");
}

/// A destination that is busy is asked again later; one that says it has restarted at once, if it cannot have had the packet
/// before.
#[test]
fn what_the_destination_answers_decides_when_it_is_tried_again() {
    let (mut mesh, [two]) = beside("path(3)", [(1, 2)]);
    mesh.confirmed(1, 2, b"x").unwrap();
    mesh.run(10 * MILLISECOND);
    let response = header(Kind::Confirmation, 2, 1, 50);
    mesh.say(two, &response, &confirmation(FIRST, Verdict::Busy, 9 * SECOND), 20);
    assert_eq!(mesh.stranger(two).heard.len(), 1);
    let restarted = |number, epoch| response.numbered(epoch, number);
    let long_ago = confirmation(FIRST, Verdict::Restarted, 9 * SECOND);
    mesh.say(two, &restarted(51, 7), &long_ago, 10);
    assert_eq!(mesh.stranger(two).heard.len(), 2);
    let found = &mesh.stranger(two).heard[1].body;
    assert_eq!(found, b"\x07\0x", "it names the epoch it was told");
    // It has been up for less than the packet is under way: it may have had it.
    let just_now = confirmation(FIRST, Verdict::Restarted, 20 * MILLISECOND);
    mesh.say(two, &restarted(52, 8), &just_now, 10);
    assert_eq!(outcomes(&mesh, 1), [(0, Outcome::Interrupted)]);
    mesh.assert_at_rest();
}

/// The destination restarts when it has had the packet, and its confirmation is lost: it does not deliver it again.
#[test]
fn a_destination_that_restarts_does_not_deliver_again() {
    let mut mesh = Mesh::up("path(3)");
    // Now the epochs are known.
    mesh.confirmed(0, 2, b"first").unwrap();
    mesh.run(300 * MILLISECOND);
    assert_eq!(outcomes(&mesh, 0), [(0, Outcome::Delivered)]);
    for known in [true, false] {
        if !known {
            // A sender that has restarted knows nothing.
            mesh.restart(0);
            mesh.come_up();
        }
        mesh.board_mut(0).outcomes.clear();
        mesh.board_mut(2).got.clear();
        mesh.set_mute(2, 1, true);
        mesh.confirmed(0, 2, b"second").unwrap();
        mesh.run(20 * MILLISECOND);
        assert_eq!(mesh.board(2).payloads(), [(0, &b"second"[..])], "{known}");
        mesh.restart(2);
        mesh.set_mute(2, 1, false);
        mesh.run(4 * SECOND);
        assert_eq!(mesh.board(2).got.len(), 1, "{known}");
        let outcome = outcomes(&mesh, 0);
        let is_interrupted = matches!(outcome[..], [(_, Outcome::Interrupted)]);
        assert!(is_interrupted, "{known}: {outcome:?}");
        assert!(mesh.board(2).dropped(DropReason::Stale) > 0);
        // What is first sent now is not concerned.
        mesh.confirmed(0, 2, b"third").unwrap();
        mesh.run(SECOND);
        assert!(matches!(outcomes(&mesh, 0)[1], (_, Outcome::Delivered)));
        assert_eq!(mesh.board(2).got.last().unwrap().payload, b"third");
    }
    mesh.assert_at_rest();
}

/// The confirmation is lost: the packet comes again, is known, and confirmed again.
#[test]
fn one_that_comes_again_is_confirmed_again_and_not_delivered() {
    let (mut mesh, [zero]) = beside("path(3)", [(1, 0)]);
    mesh.run(SECOND);
    let packet = header(Kind::Confirmed, 0, 2, 9);
    let send = |mesh: &mut Mesh, header: &Header| {
        let known = mesh.stranger(zero).heard.len();
        mesh.say(zero, header, b"\0\0payload", 20);
        let heard = &mesh.stranger(zero).heard[known..];
        assert_eq!(heard.len(), 1);
        Confirmation::read(&heard[0].body).unwrap()
    };
    let first = send(&mut mesh, &packet);
    assert_eq!((first.number, first.epoch, first.verdict), (9, 1, Verdict::Delivered));
    let uptime = u64::from(first.uptime);
    assert!((2 * SECOND..3 * SECOND).contains(&uptime), "{uptime}");
    let again = send(&mut mesh, &Header { copied: true, ..packet });
    assert_eq!(again.verdict, Verdict::Delivered);
    assert_eq!(mesh.board(2).payloads(), [(0, &b"payload"[..])]);
    assert_eq!(mesh.board(2).dropped(DropReason::Duplicate), 1);
    // The host at node 0 numbers its packets by itself, and is answered itself.
    assert_eq!(
        send(&mut mesh, &with(packet, |header| header.from_host = true)).verdict,
        Verdict::Delivered
    );
    assert!(mesh.stranger(zero).heard.last().unwrap().header.to_host);
    // After a restart of its source number 9 is another packet. One that is left over from a life that is not remembered is not
    // answered.
    mesh.run(SECOND);
    let restarted = Header { epoch: 2, ..packet };
    assert_eq!(send(&mut mesh, &restarted).verdict, Verdict::Delivered);
    let left_over = aged((SECOND / AGE_UNIT) as u16, Header { epoch: 3, ..packet });
    mesh.say(zero, &left_over, b"\0\0old", 20);
    assert_eq!(mesh.board(2).got.len(), 3);
    assert_eq!(mesh.board(2).dropped(DropReason::Stale), 1);
    // It names an epoch that is not this board's.
    let known = mesh.stranger(zero).heard.len();
    mesh.say(
        zero,
        &with(restarted, |header| header.number = 11),
        b"\x05\0other life",
        20,
    );
    let told = Confirmation::read(&mesh.stranger(zero).heard[known].body).unwrap();
    assert_eq!(told.verdict, Verdict::Restarted);
    assert_eq!(mesh.board(2).got.len(), 3);
}

#[test]
fn a_full_inbox_is_tried_again() {
    let mut mesh = Mesh::up("path(3)");
    mesh.board_mut(2).fetches = false;
    for number in 0..6 {
        mesh.confirmed(0, 2, &[number]).unwrap();
    }
    mesh.run(SECOND);
    let delivered = outcomes(&mesh, 0).len();
    assert_eq!(delivered, INBOX);
    assert!(mesh.board(2).dropped(DropReason::InboxFull) > 0);
    mesh.board_mut(2).fetches = true;
    mesh.run(4 * SECOND);
    let mut numbers: Vec<_> = mesh.board(2).got.iter().map(|got| got.payload[0]).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    assert_eq!(outcomes(&mesh, 0).len(), 6);
    mesh.assert_at_rest();
}

/// Everyone to everyone while cables are cut and restored and bits are flipped: whatever is said to be delivered was, once, and
/// nothing came twice.
#[test]
fn whatever_happens_to_cables_nothing_comes_twice() {
    for seed in 0..u64::from(cases(6)) {
        let mut mesh = Mesh::up(["ring(5)", "torus(3,3)", "petersen"][seed as usize % 3]);
        let mut random = Random(seed);
        let nodes = mesh.network.nodes();
        mesh.noise(seed, 20_000);
        let mut serial = 0_u32;
        for _ in 0..40 {
            let one = random.below(nodes);
            let port = random.below(mesh.network.degree(one).unwrap());
            let (other, _) = mesh.beyond(one, port);
            match random.below(4) {
                0 => mesh.cut(one, other),
                1 | 2 => mesh.restore(one, other),
                _ => {}
            }
            for from in 0..nodes {
                let to = random.below(nodes);
                let payload = serial.to_le_bytes();
                serial += 1;
                let _ = match random.below(3) {
                    0 => mesh.send(from, to, &payload),
                    1 => mesh.broadcast(from, &payload),
                    _ => mesh.confirmed(from, to, &payload),
                };
            }
            mesh.run(random.below(200) * MILLISECOND);
        }
        for one in 0..nodes {
            for port in 0..mesh.network.degree(one).unwrap() {
                let (other, _) = mesh.beyond(one, port);
                mesh.restore(one, other);
            }
        }
        mesh.noise(seed, 0);
        mesh.run(14 * SECOND);
        mesh.assert_at_rest();
        for node in 0..nodes {
            let board = mesh.board(node);
            let is_report = |got: &Got| matches!(got.kind, MessageKind::Undeliverable { .. });
            let got = board.got.iter().filter(|got| !is_report(got));
            let mut payloads: Vec<_> = got.map(|got| got.payload.clone()).collect();
            let all = payloads.len();
            payloads.sort_unstable();
            payloads.dedup();
            assert_eq!(payloads.len(), all, "seed {seed}: node {node} got something twice");
            assert!(board.router.all_links_up(), "seed {seed}: node {node}");
            let outcomes = board.outcomes.iter();
            let unknown = outcomes.filter(|(_, outcome)| *outcome == Outcome::Unknown).count();
            assert_eq!(unknown, 0, "seed {seed}: node {node}");
        }
    }
}

/// More senders than can be remembered are told that there is no room, and nothing comes twice.
#[test]
fn more_senders_than_are_remembered_are_told_to_wait() {
    let mut mesh = Mesh::new("path(30)");
    let one = mesh.impersonate(2, 1);
    mesh.come_up();
    mesh.run(SECOND);
    let verdict = |mesh: &mut Mesh, source: Node, number: u32| {
        let known = mesh.stranger(one).heard.len();
        mesh.say(one, &header(Kind::Confirmed, source, 2, number), b"\x01\0x", 20);
        // Those beyond are answered the other way.
        let heard = mesh.stranger(one).heard.get(known);
        heard.map(|heard| Confirmation::read(&heard.body).unwrap().verdict)
    };
    for source in (3..3 + limits::PEERS as Node).rev() {
        verdict(&mut mesh, source, 0);
    }
    assert_eq!(mesh.board(2).got.len(), limits::PEERS);
    assert_eq!(verdict(&mut mesh, 0, 0), Some(Verdict::Busy));
    assert_eq!(mesh.board(2).dropped(DropReason::Busy), 1);
    mesh.run(times::REMEMBER_PEER);
    assert_eq!(verdict(&mut mesh, 0, 0), Some(Verdict::Delivered));
}
