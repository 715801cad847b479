//! Register scripts for streams and channels, alone and behind a mux.

use std::sync::Arc;

use super::layout::{CHANNELS_G4, CHANNELS_L4, STREAMS_F4, STREAMS_H7};
use super::*;
use crate::chip::Model;
use crate::chip::peripheral::write_all;
use crate::chip::usart::{RDR, Registers, TDR, Usart};
use crate::chip::wave::Wave;
use crate::image::Image;
use crate::memory::SRAM;

const BOTH: [&Layout; 2] = [&STREAMS_F4, &CHANNELS_L4];
/// Data register of the port with the number 1.
const DATA: u32 = 0x4000_4404;
const CHSEL_4: u32 = 4 << 25;

fn memory(model: Model) -> Memory {
    Memory::new(model.memory(), Arc::new(Image::from_bytes(vec![0; 8])))
}

fn at(layout: &Layout, number: u32, register: u32) -> u32 {
    layout.base + layout.stride * number + register
}

/// Sets up a stream or channel; the count first, as drivers do.
fn set_up(dma: &mut Controller, number: u32, count: u32, peripheral: u32, memory: u32, control: u32) {
    for (register, value) in [(0x04, count), (0x08, peripheral), (0x0c, memory), (0x00, control)] {
        dma.write(at(dma.layout, number, register), value, 0);
    }
}

fn told(dma: &mut Controller) -> Vec<String> {
    std::mem::take(&mut dma.broken)
}

/// A ring for what port 1 receives.
fn ring(layout: &Layout) -> u32 {
    EN | layout.memory_counts | layout.circular | if layout.ends { CHSEL_4 } else { 0 }
}

#[test]
fn memory_is_copied_to_memory() {
    for layout in BOTH {
        let (mut dma, mut memory) = (Controller::new(layout), memory(Model::F446));
        memory.sram[..8].copy_from_slice(b"hopwise!");
        // Words, both addresses counting.
        let words = EN | layout.copy.1 | layout.memory_counts | layout.peripheral_counts | 2 << layout.size;
        let words = words | 2 << (layout.size + 2) | layout.complete >> layout.above_enables;
        set_up(&mut dma, 0, 2, SRAM, SRAM + 64, words & layout.writable);
        dma.copy_memory(true, &mut memory);
        assert_eq!((&memory.sram[64..72], dma.interrupts()), (&b"hopwise!"[..], 1));
        let is_on = dma.read(at(layout, 0, 0), 0) & EN != 0;
        assert_eq!((is_on, dma.read(at(layout, 0, 4), 0)), (!layout.ends, 0));
        // The global flag of a channel stands for all of them.
        let both = layout.complete | layout.half;
        let all = if layout.global == 0 { both } else { layout.global };
        dma.write(layout.clear, all, 0);
        assert_eq!((dma.interrupts(), dma.read(0x00, 0)), (0, 0));
    }
}

#[test]
fn an_address_without_memory_is_a_transfer_error() {
    for (layout, name) in BOTH.into_iter().zip(["stream 3", "channel 4"]) {
        let (mut dma, mut memory) = (Controller::new(layout), memory(Model::F446));
        let control = EN | layout.copy.1 | layout.error >> layout.above_enables;
        set_up(&mut dma, 3, 1, SRAM, 0x3000_0000, control);
        dma.copy_memory(true, &mut memory);
        assert_eq!(dma.interrupts(), 1 << 3);
        assert_eq!(dma.flags(3) & layout.error, layout.error);
        let expected = [format!("{name} reaches for 0x30000000, where it has no memory")];
        assert_eq!(told(&mut dma), expected);
        // It stays off until the flag is cleared.
        let register = at(layout, 3, 0);
        dma.write(register, EN, 0);
        let error = "the flag of a transfer error";
        let with = if layout.ends { "old flags (0x8)" } else { error };
        assert_eq!(told(&mut dma), [format!("{name} is switched on with {with}")]);
        assert_eq!(dma.read(register, 0) & EN, 0);
        dma.write(layout.clear, layout.error << layout.shifts[3], 0);
        dma.write(register, EN, 0);
        assert_eq!((dma.read(register, 0) & EN, told(&mut dma).len()), (EN, 0));
    }
}

/// Of DMA1.
fn request(uart: usize, side: Side, channel: usize, selection: u32) -> Request {
    let controller = 0;
    Request {
        uart,
        side,
        controller,
        channel,
        selection,
    }
}

/// What USART2 of an F446 can reach in DMA1, and the same for channels.
fn requests(layout: &Layout) -> Vec<Request> {
    vec![
        request(1, Side::Rx, 5, if layout.ends { 4 } else { 0 }),
        request(1, Side::Tx, 6, 4),
    ]
}

fn find(dma: &mut Controller) -> Option<(usize, usize)> {
    let mut registers = [[0; 2]; PORTS];
    registers[1] = [DATA; 2];
    let mut both = Controllers::new(dma.layout, &requests(dma.layout), registers);
    std::mem::swap(&mut both.dma[0], dma);
    let found = both.find(1, Side::Rx);
    std::mem::swap(&mut both.dma[0], dma);
    found
}

fn received(dma: &mut Controller, memory: &mut Memory, bytes: &[u8]) {
    for byte in bytes {
        let (_, number) = find(dma).expect("a stream");
        let channel = dma.channels[number];
        let (address, item) = (channel.memory_address(dma.layout), channel.item(dma.layout));
        memory.dma_store(address, item, u32::from(*byte)).expect("RAM");
        dma.count(number);
    }
}

#[test]
fn a_ring_goes_round_with_half_and_full_flags() {
    for layout in BOTH {
        let (mut dma, mut memory) = (Controller::new(layout), memory(Model::F446));
        set_up(&mut dma, 5, 4, DATA, SRAM, ring(layout));
        let flags = |dma: &mut Controller| {
            let left = dma.read(at(layout, 5, 4), 0);
            (dma.flags(5) & (layout.half | layout.complete), left)
        };
        received(&mut dma, &mut memory, b"ab");
        assert_eq!(flags(&mut dma), (layout.half, 2));
        received(&mut dma, &mut memory, b"cde");
        assert_eq!(flags(&mut dma), (layout.half | layout.complete, 3));
        assert_eq!(&memory.sram[..4], b"ebcd");
    }
}

#[test]
fn one_that_is_on_is_left_alone() {
    for (layout, name) in BOTH.into_iter().zip(["stream 5", "channel 6"]) {
        let mut dma = Controller::new(layout);
        set_up(&mut dma, 5, 4, DATA, SRAM, ring(layout));
        for (register, what) in (0..).step_by(4).zip(layout.names).skip(1) {
            let register = at(layout, 5, register);
            let before = dma.read(register, 0);
            dma.write(register, 1, 0);
            assert_eq!(told(&mut dma), [format!("{what} of {name} is written while it is on")]);
            assert_eq!(dma.read(register, 0), before);
        }
        let register = at(layout, 5, 0);
        let control = dma.read(register, 0);
        dma.write(register, control & !layout.circular, 0);
        let expected = [format!("{} of {name} is changed while it is on", layout.names[0])];
        assert_eq!(told(&mut dma), expected);
        let with_interrupt = control | layout.complete >> layout.above_enables;
        dma.write(register, with_interrupt, 0);
        let after = (told(&mut dma).len(), dma.read(register, 0));
        assert_eq!(after, (0, with_interrupt), "interrupts may");
    }
}

#[test]
fn the_buffer_that_is_not_in_use_may_be_changed() {
    let layout = &STREAMS_F4;
    let mut dma = Controller::new(layout);
    let control = EN | CHSEL_4 | layout.memory_counts | layout.double_buffer;
    set_up(&mut dma, 5, 4, DATA, SRAM, control);
    dma.write(at(layout, 5, 0x10), SRAM + 64, 0);
    assert_eq!(told(&mut dma).len(), 0);
    dma.write(at(layout, 5, 0x0c), SRAM + 64, 0);
    assert_eq!(told(&mut dma), ["M0AR of stream 5 is written while it is on"]);
}

#[test]
fn only_the_second_controller_copies_memory() {
    let layout = &STREAMS_F4;
    let (mut dma, mut memory) = (Controller::new(layout), memory(Model::F446));
    set_up(&mut dma, 3, 1, SRAM, SRAM + 4, EN | layout.copy.1);
    dma.copy_memory(false, &mut memory);
    let found = told(&mut dma);
    assert_eq!(found, ["stream 3 is to copy memory to memory, which only DMA2 can"]);
    assert_eq!(dma.read(at(layout, 3, 0), 0) & EN, 0);
}

#[test]
fn the_wrong_request_transfers_nothing() {
    let mut dma = Controller::new(&STREAMS_F4);
    set_up(&mut dma, 5, 4, DATA, SRAM, ring(&STREAMS_F4) ^ 7 << 25);
    assert_eq!(find(&mut dma), None);
}

#[test]
fn stopped_and_enabled_again_it_begins_at_the_first_address_with_the_rest_of_the_count() {
    let layout = &STREAMS_F4;
    let (mut dma, mut memory) = (Controller::new(layout), memory(Model::F446));
    set_up(&mut dma, 5, 4, DATA, SRAM, ring(layout));
    received(&mut dma, &mut memory, b"abc");
    let register = at(layout, 5, 0);
    let control = dma.read(register, 0);
    dma.write(register, control & !EN, 0);
    assert_eq!(dma.flags(5) & layout.complete, layout.complete);
    dma.write(register, control, 0);
    assert_eq!(dma.read(register, 0) & EN, 0);
    assert_eq!(told(&mut dma), ["stream 5 is switched on with old flags (0x30)"]);
    dma.write(0x0c, layout.blocking << 6, 0);
    dma.write(register, control, 0);
    received(&mut dma, &mut memory, b"d");
    assert_eq!((&memory.sram[..3], dma.read(at(layout, 5, 4), 0)), (&b"dbc"[..], 4));
}

#[test]
fn the_request_is_that_of_the_selection_or_the_mux() {
    const PORT: u32 = 0x4001_3800;
    let (from, to) = (request(0, Side::Rx, 4, 2), request(0, Side::Tx, 3, 2));
    let mut chosen = Controllers::new(&CHANNELS_L4, &[from, to], [[PORT + RDR, PORT + TDR]; PORTS]);
    set_up(&mut chosen.dma[0], 4, 4, PORT + RDR, SRAM, ring(&CHANNELS_L4));
    assert_eq!(chosen.find(0, Side::Rx), None, "CSELR is 0");
    chosen.dma[0].write(0xa8, 2 << 16, 0);
    assert_eq!(chosen.find(0, Side::Rx), Some((0, 4)));
    assert_eq!((chosen.find(0, Side::Tx), chosen.find(1, Side::Rx)), (None, None));

    let mux = DmaMux::new(&[(24, 25), (26, 27)]);
    let mut muxed = Controllers::behind(mux, &CHANNELS_G4, [[PORT + RDR, PORT + TDR]; PORTS]);
    let to_port = EN | CHANNELS_G4.memory_counts | CHANNELS_G4.from_memory;
    set_up(&mut muxed.dma[1], 2, 4, PORT + TDR, SRAM, to_port);
    assert_eq!(muxed.find(1, Side::Tx), None, "no request is chosen");
    muxed.part(2).write(4 * 10, 27, 0);
    assert_eq!((muxed.find(1, Side::Tx), muxed.find(0, Side::Tx)), (Some((1, 2)), None));
    muxed.part(2).write(4 * 10, 26, 0);
    assert_eq!(muxed.find(1, Side::Rx), None, "the wrong direction");
}

/// A stream of DMA2 behind the mux of the H7, from a port that has received a byte.
fn receive_on_h7(address: u32, control: u32) -> (Controllers, Memory) {
    const PORT: u32 = 0x4001_1000;
    let mut memory = memory(Model::H743);
    let mut both = Controllers::behind(DmaMux::new(&[(41, 42)]), &STREAMS_H7, [[PORT + RDR, PORT + TDR]; PORTS]);
    both.part(2).write(4 * (8 + 3), 41, 0);
    let control = control | EN | STREAMS_H7.memory_counts;
    set_up(&mut both.dma[1], 3, 4, PORT + RDR, address, control);
    let mut port = Usart::new(Registers::V3 { fifo: 16 });
    port.set_pins(true, true, 0);
    write_all(&mut port, &[(0x0c, 16), (0x08, 1 << 6), (0x00, 1 << 2 | 1)]);
    port.hear(Wave::frame(16, 16, 0x5a << 1 | 1 << 9, 10));
    port.advance(200);
    both.serve(0, &mut port, 200, &mut memory);
    assert!(!port.wants_dma_read(), "it was taken");
    (both, memory)
}

#[test]
fn on_the_h7_the_mux_chooses_the_buffer_is_on_and_the_dtcm_is_out_of_reach() {
    let trbuff = STREAMS_H7.port_buffer;
    let (mut both, memory) = receive_on_h7(0x2400_0000, trbuff);
    assert_eq!((memory.sram[0], both.take_broken().len()), (0x5a, 0));
    for (address, control, how) in [
        (0x2400_0000, 0, "DMA2: stream 3 serves a serial port without TRBUFF"),
        (
            0x2000_0000,
            trbuff,
            "DMA2: stream 3 reaches for 0x20000000, where it has no memory",
        ),
    ] {
        let (mut both, memory) = receive_on_h7(address, control);
        assert_eq!(both.take_broken()[0].how, how);
        assert_eq!(memory.byte(0x2000_0000), Some(0), "the core does reach it");
    }
}
