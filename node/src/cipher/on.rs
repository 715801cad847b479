//! End-to-end payload encryption with XChaCha20-Poly1305.
//!
//! Application payloads are encrypted; headers, reports of boards, and commands are not. The nonce is made of header fields: source, epoch,
//! number, kind and destination. No two packets have all of them in common, and a payload that is changed or moved to another packet is
//! rejected.

use chacha20::cipher::{Block, KeyIvInit, StreamCipherCore};
use chacha20::variants::Ietf;
use chacha20::{ChaChaCore, R20, hchacha};
use poly1305::Poly1305;
use poly1305::universal_hash::{KeyInit, UniversalHash};

use super::{SEAL_BYTES, payload_of};
use crate::key::{Key, Secret};
use crate::wire::{AppPort, Bytes, Header, PacketOf};

/// A keystream by the block: the crate's streams of bytes take a kilobyte more of flash.
type Keystream = ChaChaCore<R20, Ietf>;

#[derive(Clone)]
pub(crate) struct Cipher {
    key: [u8; 32],
    /// How many packets may still be encrypted: after that their numbers repeat, and nonces must not.
    left: u32,
}

/// Never prints the key.
impl core::fmt::Debug for Cipher {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Cipher(..)")
    }
}

impl Cipher {
    /// The cipher of a mesh, if payloads are to be encrypted there.
    pub(crate) fn of(mesh: &Secret) -> Option<Self> {
        mesh.encrypts.then(|| Cipher::new(&mesh.key))
    }

    /// Uses the key derived from that of a mesh.
    pub(crate) fn new(mesh: &Key) -> Self {
        let mut key = [0; 32];
        let (first, second) = key.split_at_mut(16);
        first.copy_from_slice(&mesh.derive("payload, first half", &[]));
        second.copy_from_slice(&mesh.derive("payload, second half", &[]));
        Cipher { key, left: u32::MAX }
    }

    /// The keystream of a packet, and the authenticator keyed by its first block.
    fn begin(&self, header: &Header) -> Option<(Keystream, Poly1305)> {
        let (first, second) = nonce(header);
        let mut stream = Keystream::new(&hchacha::<R20>(&self.key.into(), &first.into()), &second.into());
        let key: [u8; 32] = *next_block(&mut stream).first_chunk()?;
        Some((stream, Poly1305::new(&key.into())))
    }

    /// Whether a packet can be [sealed](Self::seal): a payload grows.
    pub(crate) fn has_room<B: Bytes>(packet: &PacketOf<B>) -> bool {
        packet.body.len() + SEAL_BYTES <= B::CAPACITY || payload_of(packet).is_none()
    }

    /// Encrypts the payload of a complete packet of this node, if it has one; `None` if there is no room, or no nonce left.
    pub(crate) fn seal<B: Bytes>(&mut self, packet: &mut PacketOf<B>) -> Option<()> {
        let Some((port, payload)) = payload_of(packet) else {
            return Some(());
        };
        if !Cipher::has_room(packet) {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        let (mut stream, mac) = self.begin(&packet.header)?;
        let text = packet.body.get_mut(payload..)?;
        apply(&mut stream, text);
        let tag = tag(mac, port, text);
        packet.body.extend_from_slice(&tag).ok()
    }

    /// Decrypts the payload of a received packet, if it has one; `None` if it is not authentic.
    pub(crate) fn open<B: Bytes>(&self, packet: &mut PacketOf<B>) -> Option<()> {
        let Some((port, payload)) = payload_of(packet) else {
            return Some(());
        };
        let (mut stream, mac) = self.begin(&packet.header)?;
        let (text, claimed) = packet.body.get_mut(payload..)?.split_last_chunk_mut::<SEAL_BYTES>()?;
        let made = tag(mac, port, text);
        // Compares in constant time.
        if u128::from_le_bytes(made) ^ u128::from_le_bytes(*claimed) != 0 {
            return None;
        }
        apply(&mut stream, text);
        packet.body.truncate(packet.body.len() - SEAL_BYTES);
        Some(())
    }
}

#[inline(never)]
fn next_block(stream: &mut Keystream) -> Block<Keystream> {
    let mut block = Block::<Keystream>::default();
    stream.write_keystream_block(&mut block);
    block
}

/// Encrypts or decrypts a text with the blocks that follow.
fn apply(stream: &mut Keystream, text: &mut [u8]) {
    for part in text.chunks_mut(64) {
        part.iter_mut()
            .zip(next_block(stream))
            .for_each(|(byte, key)| *byte ^= key);
    }
}

/// The tag of an encrypted payload and the port it is for: RFC 8439, 2.8.
fn tag(mut mac: Poly1305, port: AppPort, text: &[u8]) -> [u8; SEAL_BYTES] {
    // One byte besides the text, and the text itself.
    let lengths = 1 | (text.len() as u128) << 64;
    mac.update_padded(&[port.0]);
    mac.update_padded(text);
    mac.update_padded(&lengths.to_le_bytes());
    mac.finalize().into()
}

/// The 16 bytes of a nonce that a key for the packet is derived with, and the 8 that are used with that key, after four zeros.
fn nonce(header: &Header) -> ([u8; 16], [u8; 12]) {
    let first = u128::from(header.source) | u128::from(header.dest) << 64;
    let [e0, e1] = header.epoch.to_le_bytes();
    let [n0, n1, n2, n3] = header.number.to_le_bytes();
    let hosts = u8::from(header.from_host) | u8::from(header.to_host) << 1;
    let second = [0, 0, 0, 0, e0, e1, n0, n1, n2, n3, header.kind as u8, hosts];
    (first.to_le_bytes(), second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::DropReason;
    use crate::wire::{Addressed, Confirmed, Content, Kind, Packet, Query, Request, Undeliverable};
    use chacha20::XChaCha20;
    use chacha20::cipher::StreamCipher;
    use std::vec::Vec;

    const KEY: Key = Key::new([7; 16]);
    const SAYS: &[u8] = b"the wind has turned";

    fn packet(content: &Content<'_>) -> Packet<64> {
        let header = Header::new(content.kind(), 5, 9).numbered(3, 17);
        Packet {
            header,
            body: content.write().unwrap(),
        }
    }

    fn datagram() -> Packet<64> {
        packet(&Content::Datagram(Addressed::new(AppPort(16), SAYS)))
    }

    fn sealed() -> Packet<64> {
        let mut packet = datagram();
        Cipher::new(&KEY).seal(&mut packet).unwrap();
        packet
    }

    #[test]
    fn a_payload_is_hidden_and_comes_back() {
        let contents = [
            Content::Datagram(Addressed::new(AppPort(16), SAYS)),
            Content::Confirmed(Confirmed {
                known_epoch: 4,
                port: AppPort(16),
                payload: SAYS,
            }),
            Content::Request(Request::new(Query::Application(AppPort(16)), 7, SAYS)),
        ];
        for content in contents {
            let plain = packet(&content);
            let mut sealed = plain.clone();
            Cipher::new(&KEY).seal(&mut sealed).unwrap();
            assert_eq!(sealed.body.len(), plain.body.len() + SEAL_BYTES);
            assert!(
                !sealed
                    .body
                    .windows(4)
                    .any(|bytes| SAYS.windows(4).any(|plain| plain == bytes))
            );
            // The destination's epoch may be filled in on the way.
            if let Content::Confirmed(_) = content {
                Confirmed::set_known_epoch(&mut sealed.body, 4);
            }
            Cipher::new(&KEY).open(&mut sealed).unwrap();
            assert_eq!(sealed, plain);
        }
    }

    /// Texts of several blocks, and of parts of one.
    #[test]
    fn the_keystream_is_that_of_xchacha20() {
        let header = datagram().header;
        let (first, second) = nonce(&header);
        let nonce: [u8; 24] = [&first[..], &second[4..]].concat().try_into().unwrap();
        let cipher = Cipher::new(&KEY);
        for length in 0..=200 {
            let mut text = std::vec![0; length];
            apply(&mut cipher.begin(&header).unwrap().0, &mut text);
            // The first block is the key of the authenticator.
            let mut expected = std::vec![0; 64 + length];
            XChaCha20::new(&cipher.key.into(), &nonce.into()).apply_keystream(&mut expected);
            assert_eq!(text, expected[64..], "{length} bytes");
        }
    }

    #[test]
    fn what_is_for_no_application_stays_as_it_is() {
        let report = packet(&Content::Undeliverable(Undeliverable {
            kind: Kind::Datagram,
            number: 3,
            dest: 4,
            reason: DropReason::NoRoute,
        }));
        let ping = packet(&Content::Request(Request::new(Query::Ping, 7, SAYS)));
        for plain in [report, ping] {
            let mut packet = plain.clone();
            let mut cipher = Cipher::new(&KEY);
            cipher.seal(&mut packet).unwrap();
            cipher.open(&mut packet).unwrap();
            assert_eq!(packet, plain);
        }
    }

    #[test]
    fn every_change_is_noticed() {
        let opens = |packet: &Packet<64>| Cipher::new(&KEY).open(&mut packet.clone()).is_some();
        assert!(opens(&sealed()));
        for bit in 0..8 * sealed().body.len() {
            let mut changed = sealed();
            changed.body[bit / 8] ^= 1 << (bit % 8);
            assert!(!opens(&changed), "bit {bit}");
        }
        let changes: [fn(&mut Header); 7] = [
            |header| header.source ^= 1,
            |header| header.dest ^= 1 << 40,
            |header| header.epoch ^= 1,
            |header| header.number ^= 1 << 31,
            |header| header.from_host = true,
            |header| header.to_host = true,
            |header| header.kind = Kind::Broadcast,
        ];
        for (index, change) in changes.iter().enumerate() {
            let mut changed = sealed();
            change(&mut changed.header);
            assert!(!opens(&changed), "change {index}");
        }
        for length in 1..sealed().body.len() {
            let mut short = sealed();
            short.body.truncate(length);
            assert!(!opens(&short), "{length} bytes");
        }
        assert!(!opens(&datagram()), "not encrypted at all");
        assert!(
            Cipher::new(&Key::new([8; 16])).open(&mut sealed()).is_none(),
            "another key"
        );
    }

    #[test]
    fn no_two_packets_look_alike() {
        let mut seen = Vec::new();
        let mut cipher = Cipher::new(&KEY);
        for number in 0..50 {
            let mut packet = datagram();
            packet.header.number = number;
            cipher.seal(&mut packet).unwrap();
            assert!(!seen.contains(&packet.body));
            seen.push(packet.body);
        }
    }

    #[test]
    fn without_room_or_nonces_nothing_is_sent() {
        let long = [1; 60];
        let mut packet = packet(&Content::Datagram(Addressed::new(AppPort(16), &long)));
        assert_eq!(Cipher::new(&KEY).seal(&mut packet), None);
        let mut worn = Cipher::new(&KEY);
        worn.left = 1;
        assert_eq!(worn.seal(&mut datagram()), Some(()));
        assert_eq!(worn.seal(&mut datagram()), None);
    }
}
