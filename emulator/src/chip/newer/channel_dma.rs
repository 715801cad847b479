//! DMA controllers with channels: RM0351 chapter 11 (L4), RM0440 chapter 12 (G4). Requests come from the serial ports; memory is
//! copied to memory at once.
//!
//! On the L4 a channel chooses its request in CSELR; on the G4 the [`mux`](super::dma_mux) does.

use std::hash::{Hash, Hasher};

use super::super::UARTS;
use super::super::peripheral::{DmaControl, Peripheral};
use super::super::pins::Side;
use super::super::rules::{Rule, Violation};
use super::super::usart::Usart;
use super::dma_mux::DmaMux;
use super::{RDR, Route, TDR};
use crate::cpu::Cycles;
use crate::memory::Memory;

/// Channels of a controller.
const CHANNELS: usize = 8;
/// Controllers of a chip; the mux is the part after them.
const CONTROLLERS: usize = 2;

const EN: u32 = 1;
const FROM_MEMORY: u32 = 1 << 4;
const CIRC: u32 = 1 << 5;
const PINC: u32 = 1 << 6;
const MINC: u32 = 1 << 7;
const MEMORY_TO_MEMORY: u32 = 1 << 14;

const GIF: u32 = 1;
const TCIF: u32 = 1 << 1;
const HTIF: u32 = 1 << 2;
const TEIF: u32 = 1 << 3;

/// What may be changed in CCR while a channel is on: EN and the interrupt enables.
const CHANGEABLE: u32 = 0xf;
const SELECTION: u32 = 0xa8;

#[derive(Clone, Copy, Default, Hash)]
struct Channel {
    control: u32,
    /// Items to go: CNDTR.
    left: u32,
    /// What software last wrote to CNDTR: a circular channel goes on with it.
    count: u32,
    done: u32,
    peripheral: u32,
    memory: u32,
}

impl Channel {
    /// Bytes of one item in memory.
    fn item(&self) -> u32 {
        1 << (self.control >> 10 & 3).min(2)
    }

    fn address(&self, base: u32, counts: u32) -> u32 {
        let done = if self.control & counts != 0 {
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
            return HTIF | GIF;
        }
        if self.left > 0 {
            return 0;
        }
        if self.control & CIRC != 0 {
            (self.left, self.done) = (self.count, 0);
        }
        TCIF | GIF
    }
}

/// Which requests the channels of an L4's controller can choose in CSELR: channel from 0, number, and whose. RM0351 tables 44, 45.
pub(in crate::chip) type Selections = &'static [(usize, u32, Route)];

/// One controller.
#[derive(Hash)]
struct ChannelDma {
    flags: u32,
    channels: [Channel; CHANNELS],
    /// CSELR, if it has that.
    selection: u32,
    selections: Option<Selections>,
    routes: [Option<Route>; CHANNELS],
    /// Rules that were broken, in words, until they are asked for.
    broken: Vec<String>,
}

impl ChannelDma {
    /// A controller after reset, with the requests that it can choose itself; none if there is a mux.
    fn new(selections: Option<Selections>) -> Self {
        let mut dma = ChannelDma {
            flags: 0,
            channels: Default::default(),
            selection: 0,
            selections,
            routes: [None; CHANNELS],
            broken: Vec::new(),
        };
        dma.select(0);
        dma
    }

    fn select(&mut self, value: u32) {
        self.selection = value;
        let Some(selections) = self.selections else { return };
        for (channel, route) in self.routes.iter_mut().enumerate() {
            let chosen = value >> (4 * channel) & 0xf;
            let entry = selections
                .iter()
                .find(|(place, number, _)| *place == channel && *number == chosen);
            *route = entry.map(|(_, _, route)| *route);
        }
    }

    fn raise(&mut self, channel: usize, flags: u32) {
        self.flags |= flags << (4 * channel);
    }

    /// Whether a channel requests its interrupt: the enables stand where the flags do.
    fn interrupt(&self, channel: usize) -> bool {
        self.flags >> (4 * channel) & self.channels[channel].control & (TCIF | HTIF | TEIF) != 0
    }

    /// A transfer that failed ends the channel.
    fn fail(&mut self, channel: usize) -> bool {
        self.channels[channel].control &= !EN;
        self.raise(channel, TEIF | GIF);
        let address = self.channels[channel].address(self.channels[channel].memory, MINC);
        self.broken.push(format!(
            "channel {} reaches for {address:#010x}, where it has no memory",
            channel + 1
        ));
        true
    }

    /// Counts one item. Returns whether that has raised a flag.
    fn count(&mut self, channel: usize) -> bool {
        let flags = self.channels[channel].count_item();
        self.raise(channel, flags);
        flags != 0
    }

    /// The enabled channel that a request reaches.
    fn find(&self, route: Route, register: u32) -> Option<usize> {
        let direction = match route.side {
            Side::Tx => FROM_MEMORY,
            Side::Rx => 0,
        };
        (0..CHANNELS).find(|number| {
            let channel = &self.channels[*number];
            self.routes[*number] == Some(route)
                && channel.control & (EN | FROM_MEMORY | MEMORY_TO_MEMORY) == EN | direction
                && channel.left > 0
                && channel.peripheral == register
        })
    }

    /// Does all transfers from memory to memory that have been enabled.
    fn copy_memory(&mut self, memory: &mut Memory) {
        for number in 0..CHANNELS {
            while self.channels[number].control & (EN | MEMORY_TO_MEMORY) == EN | MEMORY_TO_MEMORY
                && self.channels[number].left > 0
            {
                let channel = self.channels[number];
                let (at_peripheral, at_memory) = (
                    channel.address(channel.peripheral, PINC),
                    channel.address(channel.memory, MINC),
                );
                let (from, to) = if channel.control & FROM_MEMORY != 0 {
                    (at_memory, at_peripheral)
                } else {
                    (at_peripheral, at_memory)
                };
                let value = memory.dma_load(from, channel.item());
                match value.and_then(|value| memory.dma_store(to, channel.item(), value)) {
                    Some(()) => self.count(number),
                    None => self.fail(number),
                };
            }
        }
    }

    fn control_channel(&mut self, number: usize, value: u32) {
        let failed = self.flags >> (4 * number) & TEIF != 0;
        let channel = &mut self.channels[number];
        match (channel.control & EN != 0, value & EN != 0) {
            (false, true) if failed => {
                channel.control = value & !EN;
                self.broken.push(format!(
                    "channel {} is switched on with the flag of a transfer error",
                    number + 1
                ));
            }
            (false, true) => (channel.control, channel.done) = (value, 0),
            (true, true) if (channel.control ^ value) & !CHANGEABLE != 0 => {
                channel.control = channel.control & !CHANGEABLE | value & CHANGEABLE;
                self.broken
                    .push(format!("CCR of channel {} is changed while it is on", number + 1));
            }
            _ => channel.control = value,
        }
    }

    fn write_channel(&mut self, number: usize, register: u32, value: u32) {
        let channel = &mut self.channels[number];
        let is_on = channel.control & EN != 0;
        let name = match register {
            0x00 => return self.control_channel(number, value & 0x7fff),
            0x04 if !is_on => {
                (channel.left, channel.count) = (value & 0xffff, value & 0xffff);
                return;
            }
            0x08 if !is_on => return channel.peripheral = value,
            0x0c if !is_on => return channel.memory = value,
            0x04 => "CNDTR",
            0x08 => "CPAR",
            0x0c => "CMAR",
            _ => return,
        };
        self.broken
            .push(format!("{name} of channel {} is written while it is on", number + 1));
    }

    /// IFCR. A channel's global flag stands for all of its flags.
    fn clear(&mut self, value: u32) {
        for channel in 0..CHANNELS {
            let flags = value >> (4 * channel) & 0xf;
            let cleared = if flags & GIF != 0 { 0xf } else { flags };
            self.flags &= !(cleared << (4 * channel));
            if self.flags >> (4 * channel) & (TCIF | HTIF | TEIF) == 0 {
                self.flags &= !(GIF << (4 * channel));
            }
        }
    }
}

impl Peripheral for ChannelDma {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        self.rest(offset)
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            0x04 => self.clear(value),
            0x08..0xa8 => self.write_channel((offset as usize - 0x08) / 0x14, (offset - 0x08) % 0x14, value),
            SELECTION if self.selections.is_some() => self.select(value),
            _ => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            0x00 => self.flags,
            0x08..0xa8 => {
                let channel = &self.channels[(offset as usize - 0x08) / 0x14];
                match (offset - 0x08) % 0x14 {
                    0x00 => channel.control,
                    0x04 => channel.left,
                    0x08 => channel.peripheral,
                    0x0c => channel.memory,
                    _ => 0,
                }
            }
            SELECTION => self.selection,
            _ => 0,
        }
    }

    fn interrupts(&self) -> u32 {
        (0..CHANNELS).fold(0, |lines, channel| {
            lines | u32::from(self.interrupt(channel)) << channel
        })
    }

    /// What a mux has chosen stays.
    fn reset(&mut self, _now: Cycles) {
        let routes = self.routes;
        *self = ChannelDma::new(self.selections);
        if self.selections.is_none() {
            self.routes = routes;
        }
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

/// Both controllers, and the mux where there is one.
pub(in crate::chip) struct ChannelControllers {
    dma: [ChannelDma; CONTROLLERS],
    mux: Option<DmaMux>,
    /// First addresses of the serial ports.
    ports: [u32; UARTS],
}

impl ChannelControllers {
    /// Controllers that choose their requests themselves.
    pub(in crate::chip) fn choosing(selections: [Selections; CONTROLLERS], ports: [u32; UARTS]) -> Self {
        ChannelControllers {
            dma: selections.map(|selections| ChannelDma::new(Some(selections))),
            mux: None,
            ports,
        }
    }

    /// Controllers behind a mux.
    pub(in crate::chip) fn behind(mux: DmaMux, ports: [u32; UARTS]) -> Self {
        ChannelControllers {
            dma: [ChannelDma::new(None), ChannelDma::new(None)],
            mux: Some(mux),
            ports,
        }
    }

    /// The mux may have chosen anew.
    fn follow_mux(&mut self) {
        if let Some(mux) = &self.mux {
            for (number, dma) in self.dma.iter_mut().enumerate() {
                dma.routes = mux.routes(number);
            }
        }
    }

    /// Controller and number of the enabled channel that a request reaches.
    fn find(&self, route: Route) -> Option<(usize, usize)> {
        let register = self.ports[route.uart]
            + match route.side {
                Side::Rx => RDR,
                Side::Tx => TDR,
            };
        (0..CONTROLLERS).find_map(|controller| Some((controller, self.dma[controller].find(route, register)?)))
    }
}

impl DmaControl for ChannelControllers {
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
        self.follow_mux();
        let mut raised = false;
        while port.wants_dma_read()
            && let Some((controller, number)) = self.find(Route::from(uart))
        {
            let dma = &mut self.dma[controller];
            let channel = dma.channels[number];
            let address = channel.address(channel.memory, MINC);
            raised |= match memory.dma_store(address, channel.item(), port.take_data()) {
                Some(()) => dma.count(number),
                None => dma.fail(number),
            };
        }
        while port.wants_dma_write()
            && let Some((controller, number)) = self.find(Route::to(uart))
        {
            let dma = &mut self.dma[controller];
            let channel = dma.channels[number];
            raised |= match memory.dma_load(channel.address(channel.memory, MINC), channel.item()) {
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
        for dma in &mut self.dma {
            dma.copy_memory(memory);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chip::Model;
    use crate::image::Image;
    use crate::memory::SRAM;

    const REQUESTS: Selections = &[(4, 2, Route::from(0)), (3, 2, Route::to(0))];
    const PORT: u32 = 0x4001_3800;

    fn memory() -> Memory {
        Memory::new(Model::L476.memory(), Arc::new(Image::from_bytes(vec![0; 8])))
    }

    /// Sets up a channel, numbered from 0.
    fn set_up(dma: &mut ChannelDma, number: u32, count: u32, peripheral: u32, memory: u32, control: u32) {
        let base = 0x08 + 0x14 * number;
        for (register, value) in [(0x04, count), (0x08, peripheral), (0x0c, memory), (0x00, control)] {
            dma.write(base + register, value, 0);
        }
    }

    #[test]
    fn memory_is_copied_to_memory() {
        let (mut dma, mut memory) = (ChannelDma::new(None), memory());
        memory.sram[..8].copy_from_slice(b"hopwise!");
        let words = EN | MEMORY_TO_MEMORY | MINC | PINC | 2 << 8 | 2 << 10 | TCIF;
        set_up(&mut dma, 0, 2, SRAM, SRAM + 64, words);
        dma.copy_memory(&mut memory);
        assert_eq!((&memory.sram[64..72], dma.interrupts()), (&b"hopwise!"[..], 1));
        dma.write(0x04, GIF, 0);
        assert_eq!((dma.interrupts(), dma.read(0x00, 0)), (0, 0));
    }

    #[test]
    fn an_address_without_memory_ends_the_channel_until_its_flag_is_cleared() {
        let (mut dma, mut memory) = (ChannelDma::new(None), memory());
        set_up(&mut dma, 2, 1, SRAM, 0x3000_0000, EN | MEMORY_TO_MEMORY | TEIF);
        dma.copy_memory(&mut memory);
        assert_eq!(dma.interrupts(), 1 << 2);
        assert_eq!(dma.broken, ["channel 3 reaches for 0x30000000, where it has no memory"]);
        dma.broken.clear();
        dma.write(0x08 + 0x14 * 2, EN, 0);
        assert_eq!(
            dma.broken,
            ["channel 3 is switched on with the flag of a transfer error"]
        );
        assert_eq!(dma.read(0x08 + 0x14 * 2, 0) & EN, 0);
        dma.write(0x04, TEIF << 8, 0);
        dma.write(0x08 + 0x14 * 2, EN, 0);
        assert_eq!((dma.read(0x08 + 0x14 * 2, 0) & EN, dma.broken.len()), (EN, 1));
    }

    #[test]
    fn the_request_is_that_of_the_selection_or_the_mux() {
        let mut chosen = ChannelControllers::choosing([REQUESTS, &[]], [PORT; UARTS]);
        set_up(&mut chosen.dma[0], 4, 4, PORT + RDR, SRAM, EN | MINC | CIRC);
        assert_eq!(chosen.find(Route::from(0)), None, "CSELR is 0");
        chosen.dma[0].write(SELECTION, 2 << 16, 0);
        assert_eq!(chosen.find(Route::from(0)), Some((0, 4)));
        assert_eq!((chosen.find(Route::to(0)), chosen.find(Route::from(1))), (None, None));

        let mut muxed = ChannelControllers::behind(DmaMux::new(&[(24, 25), (26, 27)]), [PORT; UARTS]);
        set_up(&mut muxed.dma[1], 2, 4, PORT + TDR, SRAM, EN | MINC | FROM_MEMORY);
        muxed.follow_mux();
        assert_eq!(muxed.find(Route::to(1)), None, "no request is chosen");
        muxed.part(2).write(4 * 10, 27, 0);
        muxed.follow_mux();
        assert_eq!(
            (muxed.find(Route::to(1)), muxed.find(Route::to(0))),
            (Some((1, 2)), None)
        );
        muxed.part(2).write(4 * 10, 26, 0);
        muxed.follow_mux();
        assert_eq!(muxed.find(Route::from(1)), None, "the wrong direction");
    }

    #[test]
    fn a_ring_goes_round_with_half_and_full_flags() {
        let mut dma = ChannelDma::new(Some(REQUESTS));
        dma.write(SELECTION, 2 << 16, 0);
        set_up(&mut dma, 4, 4, PORT + RDR, SRAM, EN | MINC | CIRC);
        let flags = |dma: &ChannelDma| dma.flags >> 16 & (HTIF | TCIF);
        (0..2).for_each(|_| _ = dma.count(4));
        assert_eq!((flags(&dma), dma.read(0x0c + 0x14 * 4, 0)), (HTIF, 2));
        (0..3).for_each(|_| _ = dma.count(4));
        assert_eq!((flags(&dma), dma.read(0x0c + 0x14 * 4, 0)), (HTIF | TCIF, 3));
        let channel = dma.channels[4];
        assert_eq!(channel.address(channel.memory, MINC), SRAM + 1);
    }

    #[test]
    fn a_channel_that_is_on_is_left_alone() {
        let mut dma = ChannelDma::new(None);
        set_up(&mut dma, 4, 4, PORT + RDR, SRAM, EN | MINC | CIRC);
        let base = 0x08 + 0x14 * 4;
        for (register, name) in [(0x04, "CNDTR"), (0x08, "CPAR"), (0x0c, "CMAR")] {
            let before = dma.read(base + register, 0);
            dma.write(base + register, 1, 0);
            assert_eq!(dma.broken, [format!("{name} of channel 5 is written while it is on")]);
            assert_eq!(dma.read(base + register, 0), before);
            dma.broken.clear();
        }
        dma.write(base, EN | MINC, 0);
        assert_eq!(dma.broken, ["CCR of channel 5 is changed while it is on"]);
        assert_ne!(dma.read(base, 0) & CIRC, 0);
        dma.write(base, EN | MINC | CIRC | TCIF, 0);
        assert_eq!(dma.broken.len(), 1, "interrupts may");
    }
}
