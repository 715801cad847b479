//! What boards in a laboratory have wired: pins to pins, and SPI.

use super::*;

const DMA2: u32 = 0x4002_6400;
const SPI1: u32 = 0x4001_3000;
/// PA5, PA6 and PA7 as SPI1: their modes, and their alternate functions.
const SPI_PINS: (u32, u32) = (DEBUG_PINS | 0b10_1010 << 10, 0x5550_0000);

fn joined(a: &str, b: &str) -> Script {
    let mut script = Script::new(Model::F446);
    script.chip.join_pins(Pin::named(a), Pin::named(b));
    script.write_all(&[(AHB1ENR, 1 << 22 | 1), (APB2ENR, 1 << 12)]);
    script
}

#[test]
fn a_pin_reads_what_the_other_end_of_its_wire_does() {
    let mut script = joined("PA9", "PA10");
    // Mode, type and output of PA9, pulls of PA9 and of PA10, and what PA10 reads.
    for (mode, open_drain, high, pull, other_pull, expected) in [
        (1, 0, 1, 0, 2, true),
        (1, 0, 0, 0, 1, false),
        (1, 1, 1, 0, 2, false),
        (1, 1, 1, 1, 0, true),
        (1, 1, 0, 0, 1, false),
        (0, 0, 1, 1, 0, true),
        (0, 0, 1, 0, 1, true),
        (0, 0, 1, 0, 2, false),
    ] {
        script.write(GPIOA + 0x04, open_drain << 9);
        script.write(GPIOA + 0x0c, 0x6400_0000 | pull << 18 | other_pull << 20);
        script.write(GPIOA + 0x14, high << 9);
        script.write(GPIOA, DEBUG_PINS | mode << 18);
        let found = script.read(GPIOA + 0x10) >> 10 & 1 != 0;
        assert_eq!(found, expected, "{mode} {open_drain} {high} {pull} {other_pull}");
    }
    script.write_all(&[(GPIOA + 0x14, 1 << 9), (GPIOA, DEBUG_PINS | 1 << 18)]);
    script.chip.reset(ResetCause::Pin, 0);
    script.write_all(&[(AHB1ENR, 1), (GPIOA + 0x0c, 0x6400_0000)]);
    assert_eq!(script.read(GPIOA + 0x10) >> 10 & 1, 0, "a reset lets go of the wire");
}

/// Has SPI1 send and receive four bytes by DMA. Returns those that it received.
fn exchange(script: &mut Script) -> Vec<u8> {
    script.memory.sram[..4].copy_from_slice(&[0, 0xff, 0xa5, 0xde]);
    script.write_all(&[(SPI1 + 4, 3), (DMA2 + 0x08, u32::MAX)]);
    let channel = 3 << 25 | 1 << 10 | 1;
    for (stream, memory, control) in [(2, SRAM + 8, channel), (3, SRAM, channel | 1 << 6)] {
        let at = DMA2 + 0x10 + 0x18 * stream;
        script.write_all(&[(at + 4, 4), (at + 8, SPI1 + 0x0c), (at + 0x0c, memory), (at, control)]);
    }
    script.write(SPI1, 1 << 6 | 1 << 2 | 1 << 3);
    script.run(4 * 8 * 4 + 1);
    assert_eq!(script.read(DMA2) >> 16 & 0x20, 0x20, "stream 2 is done");
    script.write(SPI1, 0);
    script.memory.sram[8..12].to_vec()
}

#[test]
fn spi_receives_by_dma_what_is_at_its_pin() {
    let mut script = joined("PA7", "PA6");
    script.write_all(&[(GPIOA + 0x20, SPI_PINS.1), (GPIOA, SPI_PINS.0)]);
    assert_eq!(exchange(&mut script), [0, 0xff, 0xa5, 0xde]);
    // MOSI is an output instead, high and low.
    script.write_all(&[(GPIOA + 0x14, 1 << 7), (GPIOA, SPI_PINS.0 ^ 0b11 << 14)]);
    assert_eq!(exchange(&mut script), [0xff; 4]);
    script.write(GPIOA + 0x14, 0);
    assert_eq!(exchange(&mut script), [0; 4]);
    assert_eq!((script.violations(), script.remarks()), (vec![], vec![]));
    let mut script = Script::new(Model::F446);
    script.write_all(&[(AHB1ENR, 1 << 22 | 1), (APB2ENR, 1 << 12)]);
    script.write_all(&[(GPIOA + 0x20, SPI_PINS.1), (GPIOA, SPI_PINS.0)]);
    assert_eq!(exchange(&mut script), [0xff; 4], "no wire");
}
