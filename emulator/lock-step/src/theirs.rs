//! rsemu's core, which gets from peripherals what our core got.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use rsemu::core::space::{
    AccessConstraints, AddressSpace, MemAttrs, MemOps, MemResult, RamStore, Region, UnassignedPolicy,
};
use rsemu::cpu::arm::v7m::{ArmV7m, Config};

use crate::ours::{Access, Executed, Ours, REGISTERS, Registers};

const FLASH: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;
/// Where peripherals are: begin and length.
const PERIPHERALS: [(u32, u64); 3] = [
    (0x1fff_0000, 0x1_0000),
    (0x4000_0000, 0x2000_0000),
    (0xe004_2000, 0x1000),
];

/// The accesses of our core that rsemu's has not made yet, and the first one that was different.
#[derive(Default)]
struct Expected {
    accesses: VecDeque<Access>,
    compared: u64,
    difference: Option<String>,
}

impl Expected {
    /// rsemu's core makes an access, of a write with its value. Returns the value to read.
    fn meet(&mut self, is_write: bool, address: u32, bytes: u32, written: u32) -> u32 {
        let ours = self.accesses.pop_front();
        self.compared += 1;
        match ours {
            Some(ours)
                if (ours.is_write, ours.address, ours.bytes) == (is_write, address, bytes)
                    && (!is_write || ours.value == written) =>
            {
                ours.value
            }
            _ => {
                let verb = if is_write { "writes" } else { "reads" };
                self.difference.get_or_insert_with(|| {
                    format!("rsemu {verb} {bytes} bytes at {address:#010x} ({written:08x}), ours {ours:x?}")
                });
                0
            }
        }
    }
}

struct Peripherals {
    base: u32,
    expected: Arc<Mutex<Expected>>,
}

impl Peripherals {
    fn meet(&self, is_write: bool, offset: u64, bytes: usize, written: u32) -> u32 {
        let mut expected = self.expected.lock().expect("one thread only");
        expected.meet(is_write, self.base + offset as u32, bytes as u32, written)
    }
}

impl fmt::Debug for Peripherals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "peripherals at {:#010x}", self.base)
    }
}

impl MemOps for Peripherals {
    fn read(&self, offset: u64, into: &mut [u8], _: MemAttrs) -> MemResult {
        let value = self.meet(false, offset, into.len(), 0).to_le_bytes();
        for (place, byte) in into.iter_mut().zip(value) {
            *place = byte;
        }
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8], _: MemAttrs) -> MemResult {
        let value = from.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
        self.meet(true, offset, from.len(), value);
        Ok(())
    }

    fn constraints(&self) -> AccessConstraints {
        AccessConstraints::ANY
    }
}

/// rsemu's side.
pub struct Theirs {
    core: ArmV7m,
    ram: Arc<RamStore>,
    ram_size: usize,
    /// The interrupt requests that it has been told of.
    lines: [u32; 4],
    expected: Arc<Mutex<Expected>>,
}

impl Theirs {
    /// A core out of reset with the same flash.
    pub fn new(ours: &Ours) -> Self {
        let memory = ours.memory();
        let size = memory.flash_size();
        let flash = Arc::new(RamStore::new(u64::from(size)));
        let content = memory.bytes(FLASH, size as usize).expect("all of the flash");
        flash.write_at(0, &content).expect("it has the same size");
        let ram_size = ours.ram().len();
        let ram = Arc::new(RamStore::new(ram_size as u64));
        let expected = Arc::new(Mutex::new(Expected::default()));
        let space = AddressSpace::new("board", 32).with_unassigned(UnassignedPolicy::FAULT);
        {
            let mut map = space.topology();
            map.map(Region::ram("flash", flash), u64::from(FLASH))
                .expect("a free place");
            map.map(Region::ram("ram", ram.clone()), u64::from(RAM))
                .expect("a free place");
            for (base, length) in PERIPHERALS {
                let peripherals = Arc::new(Peripherals {
                    base,
                    expected: expected.clone(),
                });
                map.map(Region::io("peripherals", length, peripherals), u64::from(base))
                    .expect("a free place");
            }
        }
        let core = ArmV7m::new(Config::CORTEX_M4F);
        core.attach_space(Arc::new(space));
        core.set_vtor(FLASH);
        // The reset sequence.
        core.step();
        // The manual's TakeReset puts all ones there; rsemu leaves zero.
        core.set_reg(14, u32::MAX);
        Theirs {
            core,
            ram,
            ram_size,
            lines: [0; 4],
            expected,
        }
    }

    /// Does what our core has done.
    pub fn follow(&mut self, ours: &Ours, executed: &Executed) {
        for (address, length) in &executed.written_by_dma {
            let begin = (address - RAM) as usize;
            let content = &ours.ram()[begin..begin + length];
            self.ram.write_at(begin as u64, content).expect("a buffer in the RAM");
        }
        if executed.waited {
            self.core.set_pc(ours.next());
        } else if executed.did_something {
            self.expected
                .lock()
                .expect("one thread only")
                .accesses
                .extend(&executed.accesses);
            self.request(ours.interrupt_lines());
            self.core.step();
        }
    }

    fn request(&mut self, lines: [u32; 4]) {
        let before = std::mem::replace(&mut self.lines, lines);
        if before == lines {
            return;
        }
        for number in (0..128).filter(|number| (lines[number / 32] ^ before[number / 32]) >> (number % 32) & 1 != 0) {
            self.core
                .set_irq(number as u16, lines[number / 32] >> (number % 32) & 1 != 0);
        }
    }

    /// Whether it has made the accesses that our core has made.
    pub fn same_accesses(&self) -> Result<(), String> {
        let mut expected = self.expected.lock().expect("one thread only");
        if let Some(difference) = expected.difference.take() {
            return Err(difference);
        }
        match expected.accesses.front() {
            Some(access) => Err(format!("only our core makes {access:x?}")),
            None => Ok(()),
        }
    }

    pub fn accesses_compared(&self) -> u64 {
        self.expected.lock().expect("one thread only").compared
    }

    /// All registers in the order of our list.
    pub fn registers(&self) -> Registers {
        let registers = self.core.regs();
        let mut list = [0; REGISTERS];
        list[..16].copy_from_slice(&registers.r);
        list[16..18].copy_from_slice(&[registers.xpsr, self.core.fpscr()]);
        for (number, place) in (0..).zip(&mut list[18..]) {
            *place = self.core.s(number);
        }
        list
    }

    pub fn ram(&self) -> Vec<u8> {
        let mut content = vec![0; self.ram_size];
        self.ram.read_at(0, &mut content).expect("all of the RAM");
        content
    }
}
