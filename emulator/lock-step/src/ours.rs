//! Our core in a chip whose accesses are noted, with two serial ports wired to each other.

use std::sync::Arc;

use hopwise_emulator::boards::BOARDS;
use hopwise_emulator::chip::{Chip, Individual};
use hopwise_emulator::cpu::{Bus, Cpu, Cycles, InterruptLines, Sleep};
use hopwise_emulator::image::Image;
use hopwise_emulator::memory::Memory;

/// The configuration page of the test firmware: send frames without end, on both links, at one million baud.
const PAGE: (u32, [u32; 4]) = (0x0806_0000, [0x686f_7077, u32::MAX, 1_000_000, 0b11]);
/// The serial ports of its links: USART1 and USART3.
const LINKS: [usize; 2] = [0, 2];

/// How many registers are compared.
pub const REGISTERS: usize = 50;
/// Their values.
pub type Registers = [u32; REGISTERS];

/// An access to a peripheral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub is_write: bool,
    pub address: u32,
    pub bytes: u32,
    pub value: u32,
}

/// The registers of a DMA stream that say where it writes.
#[derive(Clone, Copy, Default)]
struct Stream {
    control: u32,
    count: u32,
    memory: u32,
}

/// The chip, with everything noted that the core does to it.
pub struct Noted {
    chip: Chip,
    accesses: Vec<Access>,
    streams: [Stream; 16],
}

impl Noted {
    /// Remembers what is written to the registers of a DMA stream.
    fn note_stream(&mut self, address: u32, value: u32) {
        let offset = address.wrapping_sub(0x4002_6000);
        let (controller, register) = (offset / 0x400, offset % 0x400);
        if controller > 1 || !(0x10..0xd0).contains(&register) {
            return;
        }
        let stream = &mut self.streams[(controller * 8 + (register - 0x10) / 0x18) as usize];
        match (register - 0x10) % 0x18 {
            0x00 => stream.control = value,
            0x04 => stream.count = value,
            0x0c => stream.memory = value,
            _ => {}
        }
    }

    fn received(&self) -> u64 {
        let ports = LINKS.iter().filter_map(|link| self.chip.uart(*link));
        ports.map(|port| port.counters().received).sum()
    }

    fn carry(&mut self, now: Cycles) {
        for (from, to) in [(LINKS[0], LINKS[1]), (LINKS[1], LINKS[0])] {
            self.chip.carry(from, to, now);
        }
    }
}

impl Bus for Noted {
    fn read(&mut self, address: u32, bytes: u32, now: Cycles, memory: &mut Memory) -> Option<u32> {
        let value = self.chip.read(address, bytes, now, memory)?;
        self.accesses.push(Access {
            is_write: false,
            address,
            bytes,
            value,
        });
        Some(value)
    }

    fn write(&mut self, address: u32, bytes: u32, value: u32, now: Cycles, memory: &mut Memory) -> Option<()> {
        self.chip.write(address, bytes, value, now, memory)?;
        let value = value & (u32::MAX >> (32 - 8 * bytes));
        self.note_stream(address, value);
        self.accesses.push(Access {
            is_write: true,
            address,
            bytes,
            value,
        });
        Some(())
    }

    fn poll(&mut self, now: Cycles, memory: &mut Memory) -> Cycles {
        self.chip.poll(now, memory)
    }

    fn interrupt_lines(&self) -> InterruptLines {
        self.chip.interrupt_lines()
    }

    fn take_stall(&mut self) -> Cycles {
        self.chip.take_stall()
    }
}

/// What one step of our core has done.
pub struct Executed {
    /// Whether an instruction was executed or a handler entered: nothing happens while it sleeps.
    pub did_something: bool,
    /// WFI or WFE.
    pub waited: bool,
    pub accesses: Vec<Access>,
    /// Addresses and lengths of the buffers that DMA may have written to.
    pub written_by_dma: Vec<(u32, usize)>,
}

/// Our side.
pub struct Ours {
    cpu: Cpu<Noted>,
}

impl Ours {
    /// A board that runs the firmware, its two links connected to each other.
    pub fn new(elf: &[u8]) -> Result<Self, String> {
        let image = Arc::new(Image::from_elf(elf).map_err(|error| error.to_string())?);
        let kind = BOARDS[0];
        let mut memory = Memory::new(kind.model.memory(), image);
        let page: Vec<u8> = PAGE.1.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write_flash(PAGE.0, &page).map_err(|error| error.to_string())?;
        let chip = Chip::new(
            kind.model.description(),
            kind.ports,
            Individual {
                unique_id: [1, 2, 3],
                hse: kind.hse,
                hse_start: 0,
                lse: true,
                lsi: 32_000,
                flash_wear: 0,
                dual_bank: true,
            },
        );
        let noted = Noted {
            chip,
            accesses: Vec::new(),
            streams: [Stream::default(); 16],
        };
        Ok(Ours {
            cpu: Cpu::new(memory, noted),
        })
    }

    pub fn step(&mut self) -> Executed {
        let before = (self.cpu.instructions, self.cpu.exceptions, self.cpu.bus.received());
        let waited = self
            .cpu
            .memory
            .bytes(self.cpu.next, 2)
            .is_some_and(|code| matches!(u16::from_le_bytes([code[0], code[1]]), 0xbf20 | 0xbf30));
        self.cpu.step();
        self.cpu.bus.carry(self.cpu.now);
        let has_executed = self.cpu.instructions != before.0;
        let has_received = self.cpu.bus.received() != before.2;
        Executed {
            did_something: has_executed || self.cpu.exceptions != before.1,
            waited: waited && has_executed,
            accesses: std::mem::take(&mut self.cpu.bus.accesses),
            written_by_dma: if has_received { self.dma_buffers() } else { Vec::new() },
        }
    }

    /// The buffers of the streams that write single bytes to memory.
    fn dma_buffers(&self) -> Vec<(u32, usize)> {
        let streams = self.cpu.bus.streams.iter();
        let receiving = streams.filter(|stream| stream.control & 1 != 0 && stream.control >> 6 & 3 == 0);
        receiving.map(|stream| (stream.memory, stream.count as usize)).collect()
    }

    /// R0 to R14, PC, xPSR, FPSCR and S0 to S31.
    pub fn registers(&self) -> Registers {
        let cpu = &self.cpu;
        let mut list = [0; REGISTERS];
        list[..15].copy_from_slice(&cpu.r[..15]);
        list[15..18].copy_from_slice(&[cpu.next, cpu.xpsr(), cpu.fpscr]);
        list[18..].copy_from_slice(&cpu.s);
        list
    }

    pub fn instructions(&self) -> u64 {
        self.cpu.instructions
    }

    pub fn exceptions(&self) -> u64 {
        self.cpu.exceptions
    }

    pub fn received(&self) -> u64 {
        self.cpu.bus.received()
    }

    pub fn interrupt_lines(&self) -> InterruptLines {
        self.cpu.bus.interrupt_lines()
    }

    pub fn ram(&self) -> &[u8] {
        &self.cpu.memory.sram
    }

    pub fn memory(&self) -> &Memory {
        &self.cpu.memory
    }

    pub fn next(&self) -> u32 {
        self.cpu.next
    }

    /// The fault that it should not have had, or that it sleeps for ever.
    pub fn fault(&self) -> Option<String> {
        let stuck = self.cpu.sleep != Sleep::Awake && self.cpu.next_activity() == Cycles::MAX;
        let fault = self.cpu.faults.first().map(ToString::to_string);
        fault.or(stuck.then(|| "it sleeps and nothing will wake it".into()))
    }

    /// An address, for a reader.
    pub fn place(&self, pc: u32) -> String {
        let function = self.cpu.memory.image().function_at(pc);
        format!("at {pc:#010x} in {}", function.map_or("?", |symbol| &symbol.name))
    }
}
