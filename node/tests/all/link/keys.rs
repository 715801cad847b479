//! Links with keys: ends with the same key link up, others do not, and nobody on the wire between them is ever accepted.

use std::collections::HashSet;

use hopwise_node::key::{Credentials, Key, Secret};
use hopwise_node::link::{Down, Link, Micros, Received};
use hopwise_node::wire::{
    Ack, DELIMITER, DataHeader, Frame, FrameError, Role, WIRE, encoded_len, write_ack, write_data, write_time,
};
use proptest::prelude::*;

use super::pair::{Notice, Pair, host_identity, identity, time_signal};
use crate::support::{Random, cases};

const BAUD: u32 = 1_000_000;
pub(super) const KEY: Key = Key::new(*b"a key for trials");

pub(super) fn credentials(key: Key) -> Option<Credentials> {
    Some(Credentials {
        secret: Secret::new(key, false),
        random: [0; 16],
    })
}

fn keyed(packets: [usize; 2]) -> Pair {
    Pair::new(BAUD, packets, 9).locked([credentials(KEY); 2])
}

#[test]
fn ends_with_the_same_key_link_up_and_packets_come() {
    let mut pair = keyed([200, 200]);
    assert!(pair.run(50_000, Pair::both_up));
    assert!(pair.run(5_000_000, Pair::all_sent));
    // Whoever restarts is known again once the session before has died.
    for place in [0, 1, 0] {
        pair.ends[place].left += 20;
        pair.run(3_000, |_| false);
        pair.restart(place);
        assert!(pair.run(600_000, |pair| pair.both_up() && pair.all_sent()));
    }
    for end in &pair.ends {
        // Whoever restarted cannot read the signs of life of the session before.
        assert!(end.link.counters().damaged <= 3 * 2, "{:?}", end.link.counters());
        assert!(!end.notices.contains(&Notice::Down(Down::WrongKey)));
    }
}

#[test]
fn another_key_or_none_is_told_at_both_ends_and_nothing_comes_through() {
    let other = Key::new([7; 16]);
    for (keys, reason) in [
        ([credentials(KEY), credentials(other)], Down::WrongKey),
        ([credentials(KEY), None], Down::Unkeyed),
        ([None, credentials(KEY)], Down::Unkeyed),
    ] {
        let mut pair = Pair::new(BAUD, [5, 5], 9).locked(keys);
        pair.run(3_000_000, |_| false);
        for end in &pair.ends {
            assert_eq!(end.notices, [Notice::Down(reason)], "it is said once");
            assert_eq!((end.link.foreigner(), end.link.peer()), (Some(reason), None));
        }
    }
}

/// What an end sends until `until`, given what comes from nobody.
fn voice(link: &mut Link<WIRE>, until: Micros) -> Vec<Vec<u8>> {
    let mut sent = Vec::new();
    for now in (0..until).step_by(10_000) {
        sent.push(say(link, now));
    }
    sent.retain(|said| !said.is_empty());
    sent
}

fn locked(place: usize, epoch: u32) -> Link<WIRE> {
    let mut link = Link::welcoming(identity(place, epoch), BAUD, 0);
    link.lock(&credentials(KEY).unwrap());
    link
}

#[test]
fn an_end_does_not_link_up_with_its_own_voice() {
    let mut link = locked(0, 1);
    for now in (0..2_000_000).step_by(5_000) {
        let said = say(&mut link, now);
        let mut back = &said[..];
        while let Some(received) = link.receive(&mut back, now) {
            assert_eq!(received, Received::Frame);
        }
        assert!(link.peer().is_none());
    }
}

#[test]
fn a_start_has_nonces_of_its_own() {
    let first = |place, epoch| voice(&mut locked(place, epoch), 10_000).remove(0);
    assert_eq!(first(0, 1), first(0, 1));
    let nonces: HashSet<_> = [(0, 1), (0, 2), (1, 1), (1, 2)]
        .map(|(place, epoch)| nonce_in(&first(place, epoch)))
        .into();
    assert_eq!(nonces.len(), 4);
}

/// The nonce in a hello with a proof; `None` if it is another frame.
fn nonce_in(frame: &[u8]) -> Option<Vec<u8>> {
    let begin = usize::from(frame.first() == Some(&DELIMITER));
    let decoded = cobs::decode_vec(&frame[begin..frame.len() - 1]).unwrap();
    (decoded[0] == 0).then(|| decoded[decoded.len() - 30..decoded.len() - 14].to_vec())
}

/// A nonce is for one session: what ends one by silence, without a restart, brings another nonce at both ends.
#[test]
fn a_session_has_nonces_of_its_own() {
    let mut pair = keyed([0, 0]);
    pair.record = Some(Vec::new());
    for session in 1..5 {
        assert!(pair.run(2_000_000, Pair::both_up));
        // Long enough not to be held down.
        pair.run(1_100_000, |_| false);
        for end in 0..2 {
            let said = pair.record.iter().flatten().filter(|(from, _)| *from == end);
            let nonces: HashSet<_> = said.filter_map(|(_, bytes)| nonce_in(bytes)).collect();
            assert!(nonces.len() >= session, "{} in {session} sessions", nonces.len());
        }
        pair.ends.iter_mut().for_each(|end| end.dead = true);
        pair.run(100_000, |_| false);
        pair.ends.iter_mut().for_each(|end| end.dead = false);
    }
}

/// What a whole session said is worth nothing to an end of a later one, whether it restarted or not.
#[test]
fn nothing_of_an_earlier_session_is_accepted() {
    let mut pair = keyed([40, 40]);
    pair.record = Some(Vec::new());
    assert!(pair.run(2_000_000, Pair::all_sent));
    let recorded = pair.record.unwrap();
    assert!(recorded.len() > 80);
    for (epoch, voices) in [(1, &[0][..]), (2, &[0]), (2, &[1]), (2, &[0, 1])] {
        // An end that starts with the same epoch, which none does, has the same nonces, and then only what it says itself is nothing.
        let mut link = locked(0, epoch);
        for (now, (_, bytes)) in (1..).zip(recorded.iter().filter(|(from, _)| voices.contains(from))) {
            let mut bytes = &bytes[..];
            while let Some(received) = link.receive(&mut bytes, now * 100) {
                let is_nothing = !matches!(received, Received::Packet { .. } | Received::Up(_));
                assert!(is_nothing, "{received:?} of an earlier session: {epoch} {voices:?}");
            }
        }
    }
}

/// Someone on the wire who knows the wire format and all that was ever said, but no key.
struct Attacker {
    random: Random,
    /// What was said, by both ends, in all sessions.
    heard: Vec<Vec<u8>>,
    impostors: [Link<WIRE>; 2],
    now: Micros,
    /// It does nothing from here on.
    frames_left: u32,
}

impl Attacker {
    fn new(seed: u64, frames: u32) -> Self {
        let impostor = |place: usize, key: Key| {
            let mut link = Link::welcoming(identity(place, 1), BAUD, 0);
            if !seed.is_multiple_of(3) {
                link.lock(&credentials(key).unwrap());
            }
            link
        };
        Attacker {
            random: Random(seed),
            heard: Vec::new(),
            impostors: [impostor(0, Key::new([1; 16])), impostor(1, Key::new([2; 16]))],
            now: 0,
            frames_left: frames,
        }
    }

    /// A number below `below`.
    fn draw(&mut self, below: usize) -> usize {
        self.random.below(below.max(1) as u64) as usize
    }

    fn recorded(&mut self) -> Vec<u8> {
        let (place, length) = (self.draw(self.heard.len()), self.heard.len());
        // What was said lately is more of a threat than what is long gone.
        let place = if self.draw(2) == 0 {
            place
        } else {
            length.saturating_sub(1 + self.draw(6))
        };
        self.heard.get(place).cloned().unwrap_or_default()
    }

    /// A frame cut out of its delimiters and COBS, changed, with a good CRC where it had one, and put back.
    fn rewritten(&mut self, frame: &[u8]) -> Vec<u8> {
        let bytes: Vec<u8> = frame.iter().copied().filter(|byte| *byte != DELIMITER).collect();
        let Ok(mut content) = cobs::decode_vec(&bytes) else {
            return frame.to_vec();
        };
        let (at, bit) = (self.draw(content.len().saturating_sub(4)), self.draw(8));
        if content.len() < 8 {
            return frame.to_vec();
        }
        content[at] ^= 1 << bit;
        if content[0] & 0x80 == 0 {
            let end = content.len() - 4;
            let crc = hopwise_node::wire::crc32c([&content[..end]]).to_le_bytes();
            content[end..].copy_from_slice(&crc);
        }
        let mut out = vec![0; encoded_len(content.len())];
        let length = cobs::encode(&content, &mut out);
        out.truncate(length);
        out.push(DELIMITER);
        out
    }

    /// What comes out of the wire in the place of a frame.
    fn tamper(&mut self, from: usize, frame: Vec<u8>) -> Vec<u8> {
        self.heard.push(frame.clone());
        let Some(left) = self.frames_left.checked_sub(1) else {
            return frame;
        };
        self.frames_left = left;
        self.now += 1_000;
        let mut impostor = &frame[..];
        while self.impostors[1 - from].receive(&mut impostor, self.now).is_some() {}
        match self.draw(16) {
            // Most of it passes, so that there is something to attack.
            0..=6 => frame,
            7 => Vec::new(),
            8 => [frame, self.recorded()].concat(),
            9 => [self.recorded(), frame].concat(),
            10 => self.recorded(),
            11 => self.rewritten(&frame),
            12 => {
                let other = self.recorded();
                let (cut, begin) = (self.draw(frame.len()), self.draw(other.len()));
                [&frame[..cut], &other[begin..]].concat()
            }
            13 => {
                let junk: Vec<u8> = (0..self.draw(600)).map(|_| self.draw(256) as u8).collect();
                [&frame[..], &junk, &[DELIMITER]].concat()
            }
            14 => {
                let replayed = self.recorded();
                let changed = self.rewritten(&replayed);
                [changed, frame].concat()
            }
            _ => [say(&mut self.impostors[from], self.now), frame].concat(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), ..ProptestConfig::default() })]

    /// The pair itself checks that every packet was sent, is as it was sent, and comes once, in order.
    #[test]
    fn an_attacker_on_the_wire_is_never_accepted(
        seed in any::<u64>(),
        restarts in prop::collection::vec((0..300_000_u64, 0..2_usize), 0..4),
        packets in [0..120_usize, 0..120_usize],
    ) {
        let mut pair = keyed(packets);
        let mut attacker = Attacker::new(seed, 600);
        pair.tamper = Some(Box::new(move |from, frame| attacker.tamper(from, frame)));
        for (wait, end) in restarts {
            pair.run(wait, |_| false);
            pair.restart(end);
            // So ended the session that it had.
            pair.ends[end].notices.push(Notice::Down(Down::Restarted));
        }
        prop_assert!(pair.run(120_000_000, Pair::all_sent), "the wire is good again, and packets do not come");
        prop_assert!(pair.run(2_000_000, Pair::both_up));
        let foreign = [Down::Unkeyed, Down::WrongKey].map(Notice::Down);
        for end in &pair.ends {
            let ended = end.notices.windows(2).filter(|pair| pair[0] == Notice::Up);
            let mut ended = ended.map(|pair| pair[1]);
            prop_assert!(
                !ended.any(|end| foreign.contains(&end) || matches!(end, Notice::Down(Down::Version(_)))),
                "a session ended because a stranger said so"
            );
        }
    }
}

#[test]
fn what_is_sealed_is_all_of_a_frame() {
    let mut pair = keyed([40, 0]);
    let mut changed = 0;
    pair.tamper = Some(Box::new(move |from, frame| {
        changed += 1;
        // Every bit of one frame after the other.
        if from == 1 || changed < 8 {
            return frame;
        }
        let mut all = Vec::new();
        for bit in 0..8 * (frame.len() - 1) {
            let mut other = frame.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            all.extend(other);
        }
        all.extend(frame);
        all
    }));
    assert!(pair.run(10_000_000, Pair::all_sent));
    assert!(pair.ends[1].link.counters().damaged > 100);
}

#[test]
fn who_has_the_key_and_says_it_is_a_host_is_accepted_as_one() {
    let mut board = locked(0, 1);
    let mut host = Link::welcoming(host_identity(1, 1), BAUD, 0);
    host.lock(&credentials(KEY).unwrap());
    for now in (0..300_000).step_by(1_000) {
        for _ in 0..2 {
            let said = say(&mut board, now);
            let mut bytes = &said[..];
            while let Some(received) = host.receive(&mut bytes, now) {
                assert!(!matches!(received, Received::Damaged(FrameError::Tag)));
            }
            // And the other way round.
            std::mem::swap(&mut board, &mut host);
        }
    }
    assert!(board.is_open() && host.is_open());
    assert_eq!(board.peer().map(|peer| peer.role), Some(Role::Host));
}

fn say(from: &mut Link<WIRE>, now: Micros) -> Vec<u8> {
    from.tick(now);
    let mut out = [0; WIRE];
    let length = from.write_control(now, &mut out).unwrap_or(0);
    out[..length].to_vec()
}

fn hear(to: &mut Link<WIRE>, mut bytes: &[u8], now: Micros) {
    while to.receive(&mut bytes, now).is_some() {}
}

fn talk(ends: &mut [Link<WIRE>; 2], now: Micros) {
    for from in [0, 1] {
        let said = say(&mut ends[from], now);
        hear(&mut ends[1 - from], &said, now);
    }
}

fn up() -> ([Link<WIRE>; 2], Micros) {
    let mut ends = [locked(0, 1), locked(1, 1)];
    for now in (0..200_000).step_by(1_000) {
        talk(&mut ends, now);
    }
    assert!(ends.iter().all(|end| end.is_open()));
    (ends, 200_000)
}

#[test]
fn a_frame_without_a_tag_is_not_taken() {
    let (mut ends, now) = up();
    let hello = say(&mut ends[1], now + 100_000);
    let bytes: Vec<u8> = hello.into_iter().filter(|byte| *byte != DELIMITER).collect();
    let Ok(Frame::Hello(hello)) = Frame::read(&cobs::decode_vec(&bytes).unwrap(), 0) else {
        panic!("no hello")
    };
    // As without a key: it names the session, and its CRC is good.
    let ack = Ack::new(hello.identity.tag(hello.session), 0);
    let header = DataHeader {
        ack,
        sequence: 0,
        round: 0,
        channel: 0,
    };
    let mut out = [0; WIRE];
    let mut refuse = |frame: &[u8]| {
        let received = ends[1].receive(&mut &frame[..], now + 100_000);
        assert_eq!(received, Some(Received::Damaged(FrameError::Tag)));
    };
    let length = write_ack(&ack, false, None, &mut out).unwrap();
    refuse(&out[..length]);
    let length = write_data(&header, [b"forged", b""], false, None, &mut out).unwrap();
    refuse(&out[..length]);
    let length = write_time(ack.tag, &time_signal(), None, &mut out).unwrap();
    refuse(&out[..length]);
    assert_eq!(ends[1].counters().packets_received, 0);
}

#[test]
fn a_session_does_not_end_because_an_old_hello_is_said_again() {
    let (mut ends, mut now) = up();
    let old = voice(&mut locked(1, 7), 10_000).remove(0);
    for _ in 0..20 {
        hear(&mut ends[0], &old, now);
        now += 4_000;
        talk(&mut ends, now);
        assert!(ends.iter().all(|end| end.is_open()));
    }
    assert_eq!(ends.map(|end| end.counters().sessions), [1, 1]);
}

#[test]
fn an_announcement_alone_brings_no_link_up() {
    let old = voice(&mut locked(1, 7), 10_000).remove(0);
    let mut link = locked(0, 1);
    for now in (0..300_000).step_by(10_000) {
        hear(&mut link, &old, now);
        say(&mut link, now);
        assert!(!link.is_up());
    }
}

/// The response of an end that has been forgotten since is as old as that end.
#[test]
fn a_proof_that_comes_after_its_end_was_forgotten_is_not_accepted() {
    let (mut here, mut there) = (locked(0, 1), locked(1, 1));
    let announcement = say(&mut there, 0);
    hear(&mut here, &announcement, 0);
    let naming = say(&mut here, 10_000);
    hear(&mut there, &naming, 10_000);
    assert!(there.is_up());
    let proof = say(&mut there, 20_000);
    here.tick(2_000_000);
    assert!(here.peer().is_none());
    hear(&mut here, &announcement, 2_000_000);
    hear(&mut here, &proof, 2_000_000);
    assert!(!here.is_up());
}
