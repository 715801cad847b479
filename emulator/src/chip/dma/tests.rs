//! Register scripts for streams, alone and behind the mux of the H7.

use std::sync::Arc;

use super::*;
use crate::chip::Model;
use crate::chip::model::facts;
use crate::chip::usart::{Registers, Usart};
use crate::chip::wave::Wave;
use crate::image::Image;
use crate::memory::SRAM;

fn memory() -> Memory {
    Memory::new(Model::F446.memory(), Arc::new(Image::from_bytes(vec![0; 8])))
}

/// Sets up a stream; the count first, as drivers do.
fn stream(dma: &mut Dma, number: u32, count: u32, peripheral: u32, memory: u32, control: u32) {
    let base = 0x10 + 0x18 * number;
    for (register, value) in [(0x04, count), (0x08, peripheral), (0x0c, memory), (0x00, control)] {
        dma.write(base + register, value, 0);
    }
}

#[test]
fn memory_is_copied_to_memory() {
    let (mut dma, mut memory) = (Dma::default(), memory());
    memory.sram[..8].copy_from_slice(b"hopwise!");
    // Words, both addresses counting.
    stream(
        &mut dma,
        0,
        2,
        SRAM,
        SRAM + 64,
        EN | MEMORY_TO_MEMORY << 6 | MINC | PINC | 2 << 11 | 2 << 13 | 1 << 4,
    );
    dma.copy_memory(true, &mut memory);
    assert_eq!(&memory.sram[64..72], b"hopwise!");
    assert!(dma.interrupt(0));
    assert_eq!((dma.read(0x10, 0) & EN, dma.read(0x14, 0)), (0, 0));
    dma.write(0x08, TCIF, 0);
    assert!(!dma.interrupt(0));
}

#[test]
fn an_address_without_memory_is_a_transfer_error() {
    let (mut dma, mut memory) = (Dma::default(), memory());
    stream(&mut dma, 3, 1, SRAM, 0x1000_0000, EN | MEMORY_TO_MEMORY << 6 | 1 << 2);
    dma.copy_memory(true, &mut memory);
    assert!(dma.interrupt(3));
    assert_eq!(dma.read(0x00, 0) >> 22 & TEIF, TEIF);
    assert_eq!(
        std::mem::take(&mut dma.broken),
        ["stream 3 reaches for 0x10000000, where it has no memory"]
    );
}

/// Data register of USART2.
const DATA: u32 = 0x4000_4404;

fn find(dma: &mut Dma) -> Option<(usize, usize)> {
    let mut registers = [0; UARTS];
    registers[1] = DATA;
    let mut both = Controllers::new(facts(Model::F446).expect("an F4").requests, registers);
    std::mem::swap(&mut both.dma[0], dma);
    let found = both.find(1, Side::Rx);
    std::mem::swap(&mut both.dma[0], dma);
    found
}

fn received(dma: &mut Dma, memory: &mut Memory, bytes: &[u8]) {
    for byte in bytes {
        let value = u32::from(*byte);
        let (_, number) = find(dma).expect("a stream");
        let stream = dma.streams[number];
        memory
            .dma_store(stream.memory_address(), stream.item(), value)
            .expect("RAM");
        dma.count(number);
    }
}

#[test]
fn a_ring_goes_round_with_half_and_full_flags() {
    let (mut dma, mut memory) = (Dma::default(), memory());
    stream(&mut dma, 5, 4, DATA, SRAM, EN | 4 << 25 | MINC | CIRC);
    received(&mut dma, &mut memory, b"ab");
    assert_eq!((dma.flags(5) & (HTIF | TCIF), dma.read(0x8c, 0)), (HTIF, 2));
    received(&mut dma, &mut memory, b"cde");
    assert_eq!((dma.flags(5) & (HTIF | TCIF), dma.read(0x8c, 0)), (HTIF | TCIF, 3));
    assert_eq!(&memory.sram[..4], b"ebcd");
}

#[test]
fn a_stream_that_is_on_is_left_alone() {
    let mut dma = Dma::default();
    stream(&mut dma, 5, 4, DATA, SRAM, EN | 4 << 25 | MINC | CIRC);
    let base = 0x10 + 0x18 * 5;
    for (register, name) in [
        (0x04, "NDTR"),
        (0x08, "PAR"),
        (0x0c, "M0AR"),
        (0x10, "M1AR"),
        (0x14, "FCR"),
    ] {
        let before = dma.read(base + register, 0);
        dma.write(base + register, 1, 0);
        assert_eq!(
            std::mem::take(&mut dma.broken),
            [format!("{name} of stream 5 is written while it is on")]
        );
        assert_eq!(dma.read(base + register, 0), before);
    }
    let control = dma.read(base, 0);
    dma.write(base, control & !CIRC, 0);
    assert_eq!(
        std::mem::take(&mut dma.broken),
        ["CR of stream 5 is changed while it is on"]
    );
    dma.write(base, control | 1 << 4, 0);
    assert_eq!(
        (std::mem::take(&mut dma.broken).len(), dma.read(base, 0)),
        (0, control | 1 << 4),
        "interrupts may"
    );
}

#[test]
fn the_buffer_that_is_not_in_use_may_be_changed() {
    let mut dma = Dma::default();
    stream(&mut dma, 5, 4, DATA, SRAM, EN | 4 << 25 | MINC | DBM);
    dma.write(0x10 + 0x18 * 5 + 0x10, SRAM + 64, 0);
    assert_eq!(std::mem::take(&mut dma.broken).len(), 0);
    dma.write(0x10 + 0x18 * 5 + 0x0c, SRAM + 64, 0);
    assert_eq!(
        std::mem::take(&mut dma.broken),
        ["M0AR of stream 5 is written while it is on"]
    );
}

#[test]
fn only_the_second_controller_copies_memory() {
    let (mut dma, mut memory) = (Dma::default(), memory());
    stream(&mut dma, 3, 1, SRAM, SRAM + 4, EN | MEMORY_TO_MEMORY << 6);
    dma.copy_memory(false, &mut memory);
    assert_eq!(
        std::mem::take(&mut dma.broken),
        ["stream 3 is to copy memory to memory, which only DMA2 can"]
    );
    assert_eq!(dma.read(0x10 + 0x18 * 3, 0) & EN, 0);
}

#[test]
fn the_wrong_channel_transfers_nothing() {
    let mut dma = Dma::default();
    stream(&mut dma, 5, 4, DATA, SRAM, EN | 3 << 25 | MINC | CIRC);
    assert_eq!(find(&mut dma), None);
}

#[test]
fn stopped_and_enabled_again_it_begins_at_the_first_address_with_the_rest_of_the_count() {
    let (mut dma, mut memory) = (Dma::default(), memory());
    stream(&mut dma, 5, 4, DATA, SRAM, EN | 4 << 25 | MINC | CIRC);
    received(&mut dma, &mut memory, b"abc");
    let control = dma.read(0x88, 0);
    dma.write(0x88, control & !EN, 0);
    assert_eq!(dma.flags(5) & TCIF, TCIF);
    dma.write(0x88, control, 0);
    assert_eq!(
        (dma.read(0x88, 0) & EN, std::mem::take(&mut dma.broken)),
        (0, vec!["stream 5 is switched on with old flags (0x30)".to_string()])
    );
    dma.write(0x0c, FLAGS << 6, 0);
    dma.write(0x88, control, 0);
    received(&mut dma, &mut memory, b"d");
    assert_eq!((&memory.sram[..3], dma.read(0x8c, 0)), (&b"dbc"[..], 4));
}

/// A stream of DMA2 behind the mux of the H7, from a port that has received a byte.
fn receive_on_h7(address: u32, control: u32) -> (Controllers, Memory) {
    const PORT: u32 = 0x4001_1000;
    let mut memory = Memory::new(Model::H743.memory(), Arc::new(Image::from_bytes(vec![0; 8])));
    let mut both = Controllers::behind(DmaMux::new(&[(41, 42)]), [PORT; UARTS]);
    both.part(2).write(4 * (8 + 3), 41, 0);
    let control = control | EN | MINC;
    stream(&mut both.dma[1], 3, 4, PORT + newer::RDR, address, control);
    let mut port = Usart::new(Registers::Newer { fifo: 16 });
    port.set_pins(true, true, 0);
    for (register, value) in [(0x0c, 16), (0x08, 1 << 6), (0x00, 1 << 2 | 1)] {
        port.write(register, value, 0);
    }
    port.hear(Wave::frame(16, 16, 0x5a << 1 | 1 << 9, 10));
    port.advance(200);
    both.serve(0, &mut port, 200, &mut memory);
    assert!(!port.wants_dma_read(), "it was taken");
    (both, memory)
}

#[test]
fn on_the_h7_the_mux_chooses_and_the_buffer_is_on() {
    let (mut both, memory) = receive_on_h7(0x2400_0000, TRBUFF);
    assert_eq!((memory.sram[0], both.take_broken().len()), (0x5a, 0));
    let (mut both, _) = receive_on_h7(0x2400_0000, 0);
    assert_eq!(
        both.take_broken()[0].how,
        "DMA2: stream 3 serves a serial port without TRBUFF"
    );
}

#[test]
fn on_the_h7_dma_does_not_reach_the_dtcm() {
    let (mut both, memory) = receive_on_h7(0x2000_0000, TRBUFF);
    assert_eq!(
        both.take_broken()[0].how,
        "DMA2: stream 3 reaches for 0x20000000, where it has no memory"
    );
    assert_eq!(memory.byte(0x2000_0000), Some(0), "the core does");
}
