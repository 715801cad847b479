//! Someone on a cable, between two boards: who knows the wire format and all that was ever said there, and has no key.
//!
//! What a tap does with what passes is drawn: it lets it pass, swallows it, says earlier things again in either direction, changes bits and
//! fixes the checksum, joins the beginning of one frame to the end of another, adds noise, and speaks in the name of either end.

use hopwise_codec::{CRC_BYTES, encode};
use hopwise_node::key::{Credentials, Key, Secret};
use hopwise_node::link::{Link, Micros};
use hopwise_node::wire::{DELIMITER, Frame, Identity, WIRE, decode, encoded_len, mask, tag_of};
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Maximum number of remembered frames; beyond it a random one is forgotten.
const REMEMBERED: usize = 4_096;
/// One time in three an earlier frame is one of the last few.
const LATELY: usize = 8;
const MAX_NOISE: usize = 400;

#[derive(Default)]
pub struct Tap {
    heard: Vec<Vec<u8>>,
    /// What has come from each end since the last delimiter.
    coming: [Vec<u8>; 2],
    /// Who speaks in the name of each end.
    impostors: [Option<Box<Link<WIRE>>>; 2],
}

impl Tap {
    /// What comes out of the cable for what an end sent: whole frames, and whatever the tap adds.
    pub fn carry(
        &mut self,
        side: usize,
        bytes: &[u8],
        baud: u32,
        now: Micros,
        random: &mut Xoshiro256PlusPlus,
    ) -> Vec<u8> {
        let mut out = Vec::new();
        for byte in bytes {
            self.coming[side].push(*byte);
            if *byte == DELIMITER && self.coming[side].len() > 1 {
                let frame = std::mem::take(&mut self.coming[side]);
                self.learn(side, &frame, baud, now, random);
                self.tamper(side, frame, now, random, &mut out);
            }
        }
        out
    }

    fn learn(&mut self, side: usize, frame: &[u8], baud: u32, now: Micros, random: &mut Xoshiro256PlusPlus) {
        if let Some(identity) = identity_in(frame) {
            self.impostors[side].get_or_insert_with(|| {
                let mut link = Link::welcoming(identity, baud, now);
                if random.random() {
                    // Any key but the right one.
                    let secret = Secret::new(Key::new(random.random()), false);
                    let random = random.random();
                    link.lock(&Credentials { secret, random });
                }
                Box::new(link)
            });
        }
        if let Some(impostor) = &mut self.impostors[1 - side] {
            let mut frame = frame;
            while impostor.receive(&mut frame, now).is_some() {}
        }
        let frame = frame.to_vec();
        if self.heard.len() < REMEMBERED {
            self.heard.push(frame);
        } else {
            let place = random.random_range(0..REMEMBERED);
            self.heard[place] = frame;
        }
    }

    fn tamper(&mut self, side: usize, frame: Vec<u8>, now: Micros, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
        match random.random_range(0..40) {
            0 => {}
            1 => out.extend(self.recorded(random)),
            2 => {
                let again = self.recorded(random);
                out.extend(again.into_iter().chain(frame));
            }
            3 => {
                out.extend(frame);
                out.extend(self.recorded(random));
            }
            4 => out.extend(rewritten(&frame, random)),
            5 => {
                let changed = rewritten(&self.recorded(random), random);
                out.extend(changed.into_iter().chain(frame));
            }
            6 => {
                let other = self.recorded(random);
                let end = random.random_range(0..frame.len());
                let begin = random.random_range(0..=other.len());
                out.extend(frame[..end].iter().chain(&other[begin..]));
            }
            7 => {
                let mut noise = vec![0; random.random_range(0..MAX_NOISE)];
                random.fill_bytes(&mut noise);
                out.extend(frame.into_iter().chain(noise).chain([DELIMITER]));
            }
            8 => {
                let mut words = [0; WIRE];
                let length = self.impostors[side].as_mut().map_or(0, |impostor| {
                    impostor.tick(now);
                    impostor.write_control(now, &mut words).unwrap_or(0)
                });
                out.extend(words[..length].iter().copied().chain(frame));
            }
            _ => out.extend(frame),
        }
    }

    /// Something that one of the ends once said.
    fn recorded(&self, random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
        let lately = random.random_ratio(1, 3);
        let late = self.heard.len().saturating_sub(LATELY);
        let first = if lately { late } else { 0 };
        self.heard[random.random_range(first..self.heard.len())].clone()
    }
}

fn content(frame: &[u8]) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = frame.iter().copied().filter(|byte| *byte != DELIMITER).collect();
    decode(&mut bytes).ok().map(<[u8]>::to_vec)
}

fn identity_in(frame: &[u8]) -> Option<Identity> {
    match Frame::read(&content(frame)?, 0) {
        Ok(Frame::Hello(hello)) => Some(hello.identity),
        _ => None,
    }
}

/// A frame with one bit changed, and a checksum that fits if it had one.
fn rewritten(frame: &[u8], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let Some(mut content) = content(frame).filter(|content| content.len() > CRC_BYTES) else {
        return frame.to_vec();
    };
    let end = content.len() - CRC_BYTES;
    let tag = tag_of(&content);
    content[random.random_range(0..end)] ^= 1 << random.random_range(0..8);
    let mut out = vec![0; encoded_len(content.len())];
    let without_crc = if tag.is_some() { end } else { content.len() };
    let length = encode(&[&content[..without_crc]], tag.map(mask), &mut out);
    out.truncate(length.unwrap_or(0));
    out
}
