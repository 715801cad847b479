//! DMA controllers of the F4: RM0390 chapter 9. Requests come from the serial ports; memory is copied to memory at once. The FIFO
//! is left out: every item goes straight through.

use std::hash::{Hash, Hasher};

use super::UARTS;
use super::model::Request;
use super::newer::dma_mux::DmaMux;
use super::newer::{self, Route};
use super::peripheral::{DmaControl, Peripheral};
use super::pins::Side;
use super::rules::{Rule, Violation};
use super::usart::Usart;
use crate::cpu::Cycles;
use crate::memory::Memory;

const STREAMS: usize = 8;
const EN: u32 = 1;
const MINC: u32 = 1 << 10;
const PINC: u32 = 1 << 9;
const CIRC: u32 = 1 << 8;
const DBM: u32 = 1 << 18;
const CT: u32 = 1 << 19;
/// On the H7; reserved on the F4.
const TRBUFF: u32 = 1 << 20;
const TCIF: u32 = 1 << 5;
const HTIF: u32 = 1 << 4;
const TEIF: u32 = 1 << 3;
/// All flags of a stream: a new transfer begins without any.
const FLAGS: u32 = 0x3d;
/// What may be changed in CR while a stream is on: EN and the interrupt enables.
const CHANGEABLE: u32 = 0x1f;

const FROM_PERIPHERAL: u32 = 0;
const TO_PERIPHERAL: u32 = 1;
const MEMORY_TO_MEMORY: u32 = 2;

/// Controllers of a chip.
const CONTROLLERS: usize = 2;

#[derive(Clone, Copy, Default, Hash)]
struct Stream {
    control: u32,
    /// Items to go: NDTR.
    left: u32,
    /// What software last wrote to NDTR: a circular stream goes on with it.
    count: u32,
    /// Items since the addresses were last loaded, which enabling does too: a stream that is stopped and enabled again
    /// goes back to its first address, though not to its first count.
    done: u32,
    peripheral: u32,
    memory: [u32; 2],
    fifo: u32,
}

impl Stream {
    fn direction(&self) -> u32 {
        self.control >> 6 & 3
    }

    fn channel(&self) -> u32 {
        self.control >> 25 & 7
    }

    /// Bytes of one item in memory; without the FIFO that is the size at the peripheral.
    fn item(&self) -> u32 {
        1 << (self.control >> 11 & 3).min(2)
    }

    fn memory_address(&self) -> u32 {
        let base = self.memory[(self.control & CT != 0) as usize];
        let done = if self.control & MINC != 0 {
            self.done * self.item()
        } else {
            0
        };
        base.wrapping_add(done)
    }

    /// Counts one item and returns the flags that come of it.
    fn count_item(&mut self) -> u32 {
        self.left -= 1;
        self.done += 1;
        if self.left == self.count / 2 && self.left > 0 {
            return HTIF;
        }
        if self.left > 0 {
            return 0;
        }
        if self.control & (CIRC | DBM) != 0 {
            (self.left, self.done) = (self.count, 0);
        } else {
            self.control &= !EN;
        }
        if self.control & DBM != 0 {
            self.control ^= CT;
        }
        TCIF
    }
}

/// One controller. `Default` is the state after reset.
#[derive(Default, Hash)]
struct Dma {
    status: [u32; 2],
    streams: [Stream; STREAMS],
    /// Rules that were broken, in words, until they are asked for.
    broken: Vec<String>,
}

/// The flags of a stream stand in one of two registers at one of four places.
fn flag_place(stream: usize) -> (usize, u32) {
    (stream / 4, [0, 6, 16, 22][stream % 4])
}

impl Dma {
    fn raise(&mut self, stream: usize, flags: u32) {
        let (register, shift) = flag_place(stream);
        self.status[register] |= flags << shift;
    }

    fn flags(&self, stream: usize) -> u32 {
        let (register, shift) = flag_place(stream);
        self.status[register] >> shift
    }

    /// Whether a stream requests its interrupt: the enables stand one place below the flags.
    fn interrupt(&self, stream: usize) -> bool {
        self.flags(stream) & self.streams[stream].control << 1 & (TCIF | HTIF | TEIF) != 0
    }

    /// A transfer that failed ends the stream, and raises a flag.
    fn fail(&mut self, stream: usize) -> bool {
        self.streams[stream].control &= !EN;
        self.raise(stream, TEIF);
        let address = self.streams[stream].memory_address();
        self.broken.push(format!(
            "stream {stream} reaches for {address:#010x}, where it has no memory"
        ));
        true
    }

    /// Counts one item. Returns whether that has raised a flag.
    fn count(&mut self, number: usize) -> bool {
        let flags = self.streams[number].count_item();
        self.raise(number, flags);
        flags != 0
    }

    /// Does all transfers from memory to memory that have been enabled. Only the second controller can.
    fn copy_memory(&mut self, can_copy: bool, memory: &mut Memory) {
        for number in 0..STREAMS {
            let stream = &mut self.streams[number];
            if !can_copy && stream.control & EN != 0 && stream.direction() == MEMORY_TO_MEMORY {
                stream.control &= !EN;
                self.broken.push(format!(
                    "stream {number} is to copy memory to memory, which only DMA2 can"
                ));
            }
            while self.streams[number].control & EN != 0
                && self.streams[number].direction() == MEMORY_TO_MEMORY
                && self.streams[number].left > 0
            {
                let stream = self.streams[number];
                let done = if stream.control & PINC != 0 {
                    stream.done * stream.item()
                } else {
                    0
                };
                let value = memory.dma_load(stream.peripheral.wrapping_add(done), stream.item());
                match value.and_then(|value| memory.dma_store(stream.memory_address(), stream.item(), value)) {
                    Some(()) => self.count(number),
                    None => self.fail(number),
                };
            }
        }
    }

    fn write_stream(&mut self, number: usize, register: u32, value: u32) {
        let flags = self.flags(number) & FLAGS;
        let stream = &mut self.streams[number];
        let control = stream.control;
        let is_on = control & EN != 0;
        // The buffer that a double-buffered stream does not use at the moment is free.
        let is_free = |buffer: u32| !is_on || control & DBM != 0 && (control & CT != 0) == (buffer == 0);
        let name = match register {
            0x00 => return self.control_stream(number, value & 0x0fff_ffff, flags),
            0x04 if !is_on => {
                (stream.left, stream.count) = (value & 0xffff, value & 0xffff);
                return;
            }
            0x08 if !is_on => return stream.peripheral = value,
            0x0c if is_free(0) => return stream.memory[0] = value,
            0x10 if is_free(1) => return stream.memory[1] = value,
            0x14 if !is_on => return stream.fifo = value & 0x87,
            0x04 => "NDTR",
            0x08 => "PAR",
            0x0c => "M0AR",
            0x10 => "M1AR",
            _ => "FCR",
        };
        self.broken
            .push(format!("{name} of stream {number} is written while it is on"));
    }

    fn control_stream(&mut self, number: usize, value: u32, flags: u32) {
        let stream = &mut self.streams[number];
        match (stream.control & EN != 0, value & EN != 0) {
            (false, true) if flags != 0 => {
                stream.control = value & !EN;
                self.broken
                    .push(format!("stream {number} is switched on with old flags ({flags:#x})"));
            }
            (false, true) => (stream.control, stream.done) = (value, 0),
            (false, false) => stream.control = value,
            (true, true) => {
                if (stream.control ^ value) & !CHANGEABLE != 0 {
                    self.broken
                        .push(format!("CR of stream {number} is changed while it is on"));
                }
                stream.control = stream.control & !CHANGEABLE | value & CHANGEABLE;
            }
            (true, false) => {
                stream.control = value;
                // Switching off is reported like an end.
                self.raise(number, TCIF);
            }
        }
    }
}

/// The controllers with the requests that reach them.
pub(super) struct Controllers {
    dma: [Dma; CONTROLLERS],
    /// Those that each serial port has, for receiving and for sending.
    requests: [[Vec<Request>; 2]; UARTS],
    /// What chooses the requests instead, on the H7.
    mux: Option<DmaMux>,
    /// Addresses of the data registers of the serial ports, for receiving and for sending.
    data_registers: [(u32, u32); UARTS],
}

impl Controllers {
    pub(super) fn new(requests: &'static [Request], data_registers: [u32; UARTS]) -> Self {
        Controllers {
            dma: Default::default(),
            requests: std::array::from_fn(|uart| {
                [Side::Rx, Side::Tx].map(|side| {
                    let own = requests
                        .iter()
                        .filter(|request| (request.uart, request.side) == (uart, side));
                    own.copied().collect()
                })
            }),
            mux: None,
            data_registers: data_registers.map(|register| (register, register)),
        }
    }

    /// Controllers behind a mux, with the first addresses of the serial ports.
    pub(super) fn behind(mux: DmaMux, ports: [u32; UARTS]) -> Self {
        Controllers {
            mux: Some(mux),
            data_registers: ports.map(|port| (port + newer::RDR, port + newer::TDR)),
            ..Controllers::new(&[], [0; UARTS])
        }
    }

    /// Controller and number of the enabled stream that a request of the port reaches.
    fn find(&self, uart: usize, side: Side) -> Option<(usize, usize)> {
        let (rx, tx) = self.data_registers[uart];
        let [from, to] = &self.requests[uart];
        let (direction, register, possible) = match side {
            Side::Rx => (FROM_PERIPHERAL, rx, from),
            Side::Tx => (TO_PERIPHERAL, tx, to),
        };
        let is_ready = |stream: &Stream| {
            stream.control & EN != 0
                && stream.direction() == direction
                && stream.left > 0
                && stream.peripheral == register
        };
        if let Some(mux) = &self.mux {
            let mut all = (0..CONTROLLERS).flat_map(|controller| (0..STREAMS).map(move |stream| (controller, stream)));
            return all.find(|(controller, stream)| {
                is_ready(&self.dma[*controller].streams[*stream])
                    && mux.routes(*controller)[*stream] == Some(Route { uart, side })
            });
        }
        let found = possible.iter().find(|request| {
            let stream = &self.dma[request.controller].streams[request.stream];
            is_ready(stream) && stream.channel() == request.channel
        })?;
        Some((found.controller, found.stream))
    }

    /// On the H7 a stream that serves a serial port needs its buffer: without it bytes get lost. Returns whether it lacks it.
    fn check_buffer(&mut self, controller: usize, number: usize) -> bool {
        let dma = &mut self.dma[controller];
        let lacks = self.mux.is_some() && dma.streams[number].control & TRBUFF == 0;
        if lacks {
            dma.broken
                .push(format!("stream {number} serves a serial port without TRBUFF"));
        }
        lacks
    }
}

impl DmaControl for Controllers {
    fn part(&mut self, part: usize) -> &mut dyn Peripheral {
        match &mut self.mux {
            Some(mux) if part == CONTROLLERS => mux,
            _ => &mut self.dma[part],
        }
    }

    fn parts(&self) -> usize {
        CONTROLLERS + usize::from(self.mux.is_some())
    }

    fn serve(&mut self, uart: usize, port: &mut Usart, now: Cycles, memory: &mut Memory) -> bool {
        let mut raised = false;
        while port.wants_dma_read()
            && let Some((controller, number)) = self.find(uart, Side::Rx)
        {
            raised |= self.check_buffer(controller, number);
            let dma = &mut self.dma[controller];
            let stream = dma.streams[number];
            raised |= match memory.dma_store(stream.memory_address(), stream.item(), port.take_data()) {
                Some(()) => dma.count(number),
                None => dma.fail(number),
            };
        }
        while port.wants_dma_write()
            && let Some((controller, number)) = self.find(uart, Side::Tx)
        {
            raised |= self.check_buffer(controller, number);
            let dma = &mut self.dma[controller];
            let stream = dma.streams[number];
            raised |= match memory.dma_load(stream.memory_address(), stream.item()) {
                Some(value) => {
                    port.give_data(value, now);
                    dma.count(number)
                }
                None => dma.fail(number),
            };
        }
        raised
    }

    fn copy_memory(&mut self, memory: &mut Memory) {
        for (number, dma) in self.dma.iter_mut().enumerate() {
            dma.copy_memory(number == 1 || self.mux.is_some(), memory);
        }
    }

    fn take_broken(&mut self) -> Vec<Violation> {
        let mut broken = Vec::new();
        for (number, dma) in self.dma.iter_mut().enumerate() {
            broken.extend(dma.broken.drain(..).map(|how| Violation {
                rule: Rule::Dma,
                how: format!("DMA{}: {how}", number + 1),
            }));
        }
        broken
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        (&self.dma, &self.mux).hash(&mut hasher);
    }
}

impl Peripheral for Dma {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        self.rest(offset)
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            0x08 => self.status[0] &= !value,
            0x0c => self.status[1] &= !value,
            0x10..=0xcf => self.write_stream((offset as usize - 0x10) / 0x18, (offset - 0x10) % 0x18, value),
            _ => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            0x00 => self.status[0],
            0x04 => self.status[1],
            0x10..=0xcf => {
                let stream = &self.streams[(offset as usize - 0x10) / 0x18];
                match (offset - 0x10) % 0x18 {
                    0x00 => stream.control,
                    0x04 => stream.left,
                    0x08 => stream.peripheral,
                    0x0c => stream.memory[0],
                    0x10 => stream.memory[1],
                    // An empty FIFO.
                    _ => stream.fifo | 0x20,
                }
            }
            _ => 0,
        }
    }

    fn interrupts(&self) -> u32 {
        (0..STREAMS).fold(0, |lines, stream| lines | u32::from(self.interrupt(stream)) << stream)
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Dma::default();
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

#[cfg(test)]
mod tests;
