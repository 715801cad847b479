//! The ring that the firmware's receivers read: what has come is read once, and what was overwritten is noticed.

#[path = "../../../../firmware/src/uart/ring.rs"]
mod ring;

use hopwise_testing::Random;
use ring::{MAX_RING, Piece, Reader, ring_bytes};

/// DMA that fills a ring, with an interrupt after each half.
struct Dma {
    size: usize,
    written: usize,
    interrupts: u32,
}

impl Dma {
    fn new(size: usize) -> Self {
        Dma {
            size,
            written: 0,
            interrupts: 0,
        }
    }

    fn write(&mut self, bytes: usize) {
        let half = self.size / 2;
        let halves = |written: usize| written / half;
        self.interrupts += (halves(self.written + bytes) - halves(self.written)) as u32;
        self.written += bytes;
    }

    /// What a reader sees if so many interrupts have not come yet.
    fn read(&self, reader: &mut Reader, late: u32) -> Piece {
        reader.advance(self.interrupts.saturating_sub(late), self.written % self.size)
    }
}

#[test]
fn what_has_come_is_read_once_and_a_full_round_is_noticed() {
    for seed in 0..200u64 {
        let size = [512, 1_126, 2_500][seed as usize % 3];
        let (mut dma, mut reader, mut random) = (Dma::new(size), Reader::new(size), Random(seed));
        for look in 0..200 {
            let bytes = random.below(2 * size as u64 + 100) as usize;
            let begin = dma.written % size;
            let before = dma.interrupts;
            dma.write(bytes);
            // The last of the interrupts may come only after the look.
            let late = u32::from(random.below(2) != 0 && dma.interrupts > before);
            let piece = dma.read(&mut reader, late);
            let what = format!("seed {seed}, look {look}: {bytes} bytes from {begin}, {late} late");
            assert_eq!(piece.is_lost, bytes >= size, "{what}");
            if bytes < size {
                assert_eq!((piece.begin, piece.count), (begin, bytes), "{what}");
            }
        }
    }
}

#[test]
fn interrupts_that_become_one_raise_no_alarm_and_hide_none() {
    let (mut dma, mut reader) = (Dma::new(512), Reader::new(512));
    dma.write(200);
    assert_eq!(dma.read(&mut reader, 0).count, 200);
    for _ in 0..10 {
        // The ends of two halves while interrupts are off: one is left when they are on again.
        dma.written += 511;
        let piece = dma.read(&mut reader, 0);
        assert!(!piece.is_lost && piece.count == 511);
        dma.interrupts += 1;
        dma.write(1);
        let piece = dma.read(&mut reader, 0);
        assert!(!piece.is_lost && piece.count == 1);
    }
    dma.write(522);
    assert!(dma.read(&mut reader, 0).is_lost);
}

/// At least two milliseconds, of ten bits for a byte.
#[test]
fn a_ring_is_long_enough_for_its_rate_and_no_longer() {
    for (baud, bytes) in [
        (115_200, 512),
        (1_000_000, 512),
        (3_000_000, 600),
        (5_625_000, 1_126),
        (11_250_000, 2_250),
    ] {
        assert_eq!(ring_bytes(baud), bytes);
        assert!(bytes * 10 * 500 >= baud as usize && bytes <= MAX_RING);
    }
}
