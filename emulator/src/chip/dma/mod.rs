//! DMA controllers. Requests come from serial ports, SPI and CORDIC; memory is copied to memory at once. The FIFO of streams is left out: every item goes straight
//! through. Streams and channels differ in where their registers and bits are: [`layout`].

pub(super) mod dmamux;
pub(super) mod layout;

use std::hash::{Hash, Hasher};

use super::map::{PORTS, UARTS};
use super::peripheral::Peripheral;
use super::pins::Side;
use super::rules::{Rule, Violation};
use crate::cpu::Cycles;
use crate::memory::Memory;
use dmamux::DmaMux;
use layout::Layout;

const CHANNELS: usize = 8;
/// Controllers of a chip; the mux is the part after them.
const CONTROLLERS: usize = 2;
const EN: u32 = 1;
/// The part of an address that is the offset into a peripheral.
const OFFSET: u32 = 0x3ff;

/// A request of a port that a stream or channel can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) uart: usize,
    pub(crate) side: Side,
    /// 0 is DMA1.
    pub(crate) controller: usize,
    /// Which of the controller's eight, from 0.
    pub(crate) channel: usize,
    /// The number to choose: CHSEL of the stream, or that of the channel in CSELR.
    pub(crate) selection: u32,
}

#[derive(Clone, Copy, Default, Hash)]
struct Channel {
    control: u32,
    /// Items to go: NDTR.
    left: u32,
    /// What software last wrote to NDTR: a circular one goes on with it.
    count: u32,
    /// Items since the addresses were last loaded, which enabling does too: one that is stopped and enabled again goes back to its
    /// first address, though not to its first count.
    done: u32,
    peripheral: u32,
    memory: [u32; 2],
    fifo: u32,
}

impl Channel {
    fn item(&self, layout: &Layout) -> u32 {
        1 << (self.control >> layout.size & 3).min(2)
    }

    fn address(&self, base: u32, counts: u32, layout: &Layout) -> u32 {
        let done = if self.control & counts != 0 {
            self.done * self.item(layout)
        } else {
            0
        };
        base.wrapping_add(done)
    }

    fn memory_address(&self, layout: &Layout) -> u32 {
        let base = self.memory[usize::from(self.control & layout.second_buffer != 0)];
        self.address(base, layout.memory_counts, layout)
    }

    /// Whether it is to copy memory to memory.
    fn copies(&self, layout: &Layout) -> bool {
        self.control & EN != 0 && self.control & layout.copy.0 == layout.copy.1
    }

    /// Counts one item and returns the flags that come of it.
    fn count_item(&mut self, layout: &Layout) -> u32 {
        self.left -= 1;
        self.done += 1;
        if self.left == self.count / 2 && self.left > 0 {
            return layout.half | layout.global;
        }
        if self.left > 0 {
            return 0;
        }
        if self.control & (layout.circular | layout.double_buffer) != 0 {
            (self.left, self.done) = (self.count, 0);
        } else if layout.ends {
            self.control &= !EN;
        }
        if self.control & layout.double_buffer != 0 {
            self.control ^= layout.second_buffer;
        }
        layout.complete | layout.global
    }
}

struct Controller {
    layout: &'static Layout,
    /// LISR and HISR, or ISR.
    status: u64,
    channels: [Channel; CHANNELS],
    /// CSELR, if it has that.
    selection: u32,
    /// Rules that were broken, in words, until they are asked for.
    broken: Vec<String>,
}

impl Hash for Controller {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.status, &self.channels, self.selection, &self.broken).hash(hasher);
    }
}

impl Controller {
    fn new(layout: &'static Layout) -> Self {
        Controller {
            layout,
            status: 0,
            channels: Default::default(),
            selection: 0,
            broken: Vec::new(),
        }
    }

    /// What the manual calls a channel.
    fn name(&self, number: usize) -> String {
        format!("{} {}", self.layout.word, number + self.layout.first)
    }

    fn raise(&mut self, number: usize, flags: u32) {
        self.status |= u64::from(flags) << self.layout.shifts[number];
    }

    fn flags(&self, number: usize) -> u32 {
        (self.status >> self.layout.shifts[number]) as u32
    }

    fn interrupt(&self, number: usize) -> bool {
        let layout = self.layout;
        let enabled = self.channels[number].control << layout.above_enables;
        self.flags(number) & enabled & (layout.complete | layout.half | layout.error) != 0
    }

    /// A transfer that failed ends the channel, and raises a flag.
    fn fail(&mut self, number: usize) -> bool {
        self.channels[number].control &= !EN;
        self.raise(number, self.layout.error | self.layout.global);
        let (name, address) = (self.name(number), self.channels[number].memory_address(self.layout));
        self.broken
            .push(format!("{name} reaches for {address:#010x}, where it has no memory"));
        true
    }

    /// Counts one item. Returns whether that has raised a flag.
    fn count(&mut self, number: usize) -> bool {
        let flags = self.channels[number].count_item(self.layout);
        self.raise(number, flags);
        flags != 0
    }

    /// Does all transfers from memory to memory that have been enabled.
    fn copy_memory(&mut self, can_copy: bool, memory: &mut Memory) {
        let layout = self.layout;
        for number in 0..CHANNELS {
            if !can_copy && self.channels[number].copies(layout) {
                self.channels[number].control &= !EN;
                let name = self.name(number);
                self.broken
                    .push(format!("{name} is to copy memory to memory, which only DMA2 can"));
            }
            while self.channels[number].copies(layout) && self.channels[number].left > 0 {
                let channel = self.channels[number];
                let peripheral = channel.address(channel.peripheral, layout.peripheral_counts, layout);
                let (mut from, mut to) = (peripheral, channel.memory_address(layout));
                if channel.control & layout.from_memory != 0 {
                    std::mem::swap(&mut from, &mut to);
                }
                let value = memory.dma_load(from, channel.item(layout));
                match value.and_then(|value| memory.dma_store(to, channel.item(layout), value)) {
                    Some(()) => self.count(number),
                    None => self.fail(number),
                };
            }
        }
    }

    fn write_channel(&mut self, number: usize, register: u32, value: u32) {
        let layout = self.layout;
        let Some(name) = layout.names.get(register as usize / 4) else {
            return;
        };
        let channel = &mut self.channels[number];
        let control = channel.control;
        let is_on = control & EN != 0;
        // The buffer that a double-buffered stream does not use at the moment is free.
        let is_second = control & layout.second_buffer != 0;
        let is_free = |buffer: u32| !is_on || control & layout.double_buffer != 0 && is_second == (buffer == 0);
        match register {
            0x00 => self.set_control(number, value & layout.writable),
            0x04 if !is_on => (channel.left, channel.count) = (value & 0xffff, value & 0xffff),
            0x08 if !is_on => channel.peripheral = value,
            0x0c if is_free(0) => channel.memory[0] = value,
            0x10 if is_free(1) => channel.memory[1] = value,
            0x14 if !is_on => channel.fifo = value & 0x87,
            _ => self.broken_while_on(&format!("{name} of {} is written", self.name(number))),
        }
    }

    fn broken_while_on(&mut self, what: &str) {
        self.broken.push(format!("{what} while it is on"));
    }

    fn set_control(&mut self, number: usize, value: u32) {
        let layout = self.layout;
        let flags = self.flags(number) & layout.blocking;
        let channel = &mut self.channels[number];
        match (channel.control & EN != 0, value & EN != 0) {
            (false, true) if flags != 0 => {
                channel.control = value & !EN;
                let name = self.name(number);
                self.broken.push(if layout.blocking == layout.error {
                    format!("{name} is switched on with the flag of a transfer error")
                } else {
                    format!("{name} is switched on with old flags ({flags:#x})")
                });
            }
            (false, true) => (channel.control, channel.done) = (value, 0),
            (false, false) => channel.control = value,
            (true, true) => {
                let changed = (channel.control ^ value) & !layout.changeable;
                channel.control = channel.control & !layout.changeable | value & layout.changeable;
                if changed != 0 {
                    self.broken_while_on(&format!("{} of {} is changed", layout.names[0], self.name(number)));
                }
            }
            (true, false) => {
                channel.control = value;
                if layout.ends {
                    self.raise(number, layout.complete);
                }
            }
        }
    }

    /// Clears flags. A channel's global flag stands for all of its flags.
    fn clear(&mut self, value: u64) {
        let global = u64::from(self.layout.global);
        if global == 0 {
            self.status &= !value;
            return;
        }
        for shift in self.layout.shifts {
            let flags = value >> shift & 0xf;
            let cleared = if flags & global != 0 { 0xf } else { flags };
            self.status &= !(cleared << shift);
            if self.status >> shift & 0xf == global {
                self.status &= !(global << shift);
            }
        }
    }

    /// The channel and the register of it that an offset belongs to.
    fn place(&self, offset: u32) -> Option<(usize, u32)> {
        let from = offset.checked_sub(self.layout.base)?;
        let number = (from / self.layout.stride) as usize;
        (number < CHANNELS).then_some((number, from % self.layout.stride))
    }
}

impl Peripheral for Controller {
    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        let clear = self.layout.clear;
        match self.place(offset) {
            Some((number, register)) => self.write_channel(number, register, value),
            None if offset == clear => self.clear(value.into()),
            None if offset == clear + 4 => self.clear(u64::from(value) << 32),
            None if self.layout.selection == Some(offset) => self.selection = value,
            None => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        let Some((number, register)) = self.place(offset) else {
            return match offset {
                0x00 => self.status as u32,
                0x04 => (self.status >> 32) as u32,
                _ if self.layout.selection == Some(offset) => self.selection,
                _ => 0,
            };
        };
        let channel = &self.channels[number];
        match register {
            _ if register as usize / 4 >= self.layout.names.len() => 0,
            0x00 => channel.control,
            0x04 => channel.left,
            0x08 => channel.peripheral,
            0x0c => channel.memory[0],
            0x10 => channel.memory[1],
            // An empty FIFO.
            _ => channel.fifo | 0x20,
        }
    }

    fn interrupts(&self) -> u32 {
        (0..CHANNELS).fold(0, |lines, number| lines | u32::from(self.interrupt(number)) << number)
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Controller::new(self.layout);
    }
}

pub(super) struct Controllers {
    layout: &'static Layout,
    dma: [Controller; CONTROLLERS],
    /// Those that each serial port has, for receiving and for sending.
    requests: [[Vec<Request>; 2]; PORTS],
    /// What chooses the requests instead, on G4 and H7.
    mux: Option<DmaMux>,
    /// Addresses of the data registers of the serial ports, for receiving and for sending.
    data_registers: [[u32; 2]; PORTS],
}

impl Hash for Controllers {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (&self.dma, &self.mux).hash(hasher);
    }
}

impl Controllers {
    pub(super) fn new(layout: &'static Layout, requests: &[Request], data_registers: [[u32; 2]; PORTS]) -> Self {
        let of = |uart: usize, side: Side| {
            let own = |request: &&Request| (request.uart, request.side) == (uart, side);
            requests.iter().filter(own).copied().collect()
        };
        Controllers {
            layout,
            dma: [Controller::new(layout), Controller::new(layout)],
            requests: std::array::from_fn(|uart| [of(uart, Side::Rx), of(uart, Side::Tx)]),
            mux: None,
            data_registers,
        }
    }

    pub(super) fn behind(mux: DmaMux, layout: &'static Layout, data_registers: [[u32; 2]; PORTS]) -> Self {
        Controllers {
            mux: Some(mux),
            ..Controllers::new(layout, &[], data_registers)
        }
    }

    /// The number of the request that a channel has chosen.
    fn selected(&self, controller: usize, number: usize) -> u32 {
        let dma = &self.dma[controller];
        match self.layout.selection {
            Some(_) => dma.selection >> (4 * number) & 0xf,
            None => dma.channels[number].control >> 25 & 7,
        }
    }

    /// Controller and number of the enabled channel that a request of the port reaches.
    fn find(&self, uart: usize, side: Side) -> Option<(usize, usize)> {
        let layout = self.layout;
        let (at, direction) = match side {
            Side::Rx => (0, 0),
            Side::Tx => (1, layout.from_memory),
        };
        let register = self.data_registers[uart][at];
        let is_ready = |controller: usize, number: usize| {
            let channel = &self.dma[controller].channels[number];
            channel.control & (EN | layout.direction) == EN | direction
                && channel.left > 0
                && channel.peripheral == register
        };
        if let Some(mux) = &self.mux {
            let mut all = (0..CONTROLLERS).flat_map(|controller| (0..CHANNELS).map(move |number| (controller, number)));
            return all.find(|(controller, number)| {
                is_ready(*controller, *number) && mux.route(controller * CHANNELS + number) == Some((uart, side))
            });
        }
        let found = self.requests[uart][at].iter().find(|request| {
            is_ready(request.controller, request.channel)
                && self.selected(request.controller, request.channel) == request.selection
        })?;
        Some((found.controller, found.channel))
    }

    /// Whether a stream that serves a serial port lacks the buffer that it needs.
    fn check_buffer(&mut self, port: usize, controller: usize, number: usize) -> bool {
        let dma = &mut self.dma[controller];
        let has = dma.channels[number].control & self.layout.port_buffer == self.layout.port_buffer;
        let lacks = port < UARTS && !has;
        if lacks {
            let name = dma.name(number);
            dma.broken.push(format!("{name} serves a serial port without TRBUFF"));
        }
        lacks
    }
}

impl Controllers {
    /// The registers of one part, by the number that the map gives it.
    pub(super) fn part(&mut self, part: usize) -> &mut dyn Peripheral {
        match &mut self.mux {
            Some(mux) if part == CONTROLLERS => mux,
            _ => &mut self.dma[part],
        }
    }

    /// Serves the requests of a port. Returns whether an interrupt may have been requested, or a rule broken.
    pub(super) fn serve<P: Peripheral + ?Sized>(
        &mut self,
        port: usize,
        peripheral: &mut P,
        now: Cycles,
        memory: &mut Memory,
    ) -> bool {
        let (layout, mut raised) = (self.layout, false);
        loop {
            let [is_read, is_written] = peripheral.dma_requests();
            let reader = if is_read { self.find(port, Side::Rx) } else { None };
            let writer = || if is_written { self.find(port, Side::Tx) } else { None };
            let Some((controller, number)) = reader.or_else(writer) else {
                return raised;
            };
            raised |= self.check_buffer(port, controller, number);
            let dma = &mut self.dma[controller];
            let channel = dma.channels[number];
            let (address, item) = (channel.memory_address(layout), channel.item(layout));
            let offset = channel.peripheral & OFFSET;
            let moved = if reader.is_some() {
                memory.dma_store(address, item, peripheral.read(offset, now))
            } else {
                let value = memory.dma_load(address, item);
                value.map(|value| peripheral.write(offset, value, now))
            };
            raised |= match moved {
                Some(()) => dma.count(number),
                None => dma.fail(number),
            };
        }
    }

    /// Does what software has enabled and needs no request: copies of memory to memory.
    pub(super) fn copy_memory(&mut self, memory: &mut Memory) {
        for (number, dma) in self.dma.iter_mut().enumerate() {
            dma.copy_memory(number == 1 || self.layout.first_copies, memory);
        }
    }

    pub(super) fn take_broken(&mut self) -> Vec<Violation> {
        let all = (1..).zip(&mut self.dma);
        let told = all.flat_map(|(number, dma)| dma.broken.drain(..).map(move |how| format!("DMA{number}: {how}")));
        told.map(|how| Violation::new(Rule::Dma, how)).collect()
    }
}
