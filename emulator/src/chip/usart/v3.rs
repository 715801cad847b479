//! Serial ports of L4 (v3), G4 and H7 (v4, with FIFOs): RM0351 chapters 40 and 41, RM0440 chapters 37 and 38, RM0433 chapters 48 and 49.
//!
//! The flags and most enables stand where the F4 has them, in registers of their own: flags are cleared in ICR, received bytes
//! are in RDR, bytes to send in TDR. G4 and H7 have FIFOs. A received byte with an error raises no DMA request: it is lost
//! unless software reads it, or DDRE is set.

// This is the other half of `Usart`, with the registers of v3: the two files know each other.
use super::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::chip) enum Registers {
    /// SR and DR.
    #[default]
    V2,
    /// ISR, ICR, RDR and TDR, with FIFOs of so many bytes; 0 if it has none.
    V3 { fifo: u8 },
    /// The same, with a BRR in 256ths of a cycle: LPUART1.
    LowPower { fifo: u8 },
}

pub(in crate::chip) const RDR: u32 = 0x24;
pub(in crate::chip) const TDR: u32 = 0x28;

impl Registers {
    /// Where received bytes are read and bytes to send are written.
    pub(in crate::chip) fn data(self) -> [u32; 2] {
        match self {
            Registers::V2 => [0x04; 2],
            Registers::V3 { .. } | Registers::LowPower { .. } => [RDR, TDR],
        }
    }

    fn fifo(self) -> usize {
        match self {
            Registers::V3 { fifo } | Registers::LowPower { fifo } => fifo.into(),
            Registers::V2 => 0,
        }
    }
}

const ENABLE: u32 = 1;
const FIFO_ENABLE: u32 = 1 << 29;
const OVERRUN_DISABLE: u32 = 1 << 12;
const DMA_DISABLE_ON_ERROR: u32 = 1 << 13;

/// What is only changed while the port is off: of CR1 word length, wake-up method, parity, oversampling, times of the driver enable, and
/// the FIFO; of CR2 all but the address of multiprocessor mode; of CR3 all but the enables of interrupts and DMA.
const FIXED: [u32; 3] = [0x33ff_9e00, 0x007f_ffff, 0x0000_fb3e];

const ISR_CLEARABLE: u32 = PE | FE | NF | ORE | IDLE | TC;

impl Usart {
    pub(in crate::chip) fn new(registers: Registers) -> Self {
        Usart {
            registers,
            status: TXE | TC,
            clock: 1,
            ..Usart::default()
        }
    }

    pub(super) fn is_v3(&self) -> bool {
        self.registers != Registers::V2
    }

    /// Bytes that wait in each direction.
    pub(super) fn depth(&self) -> usize {
        let is_on = self.written & FIFO_ENABLE != 0;
        if is_on { self.registers.fifo().max(1) } else { 1 }
    }

    /// How long a bit is.
    pub(super) fn bit_of(&self, divider: u32) -> Cycles {
        const PRESCALERS: [u64; 12] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256];
        let prescaler = PRESCALERS.get(self.prescaler as usize).copied().unwrap_or(256);
        let cycles = u64::from(divider) * prescaler * self.clock;
        match self.registers {
            Registers::V2 => u64::from(divider.max(1)) * self.clock,
            Registers::V3 { .. } => cycles.max(1),
            // Bits are whole cycles here; on the chip some of them have one more than others.
            Registers::LowPower { .. } => ((cycles + 128) / 256).max(1),
        }
    }

    pub(super) fn take_oldest(&mut self) -> u32 {
        if let Some(byte) = self.fifo.pop_front() {
            self.received = byte;
        }
        if self.fifo.is_empty() {
            self.status &= !RXNE;
        }
        self.received
    }

    /// Keeps a byte that was received; false if there is no room. Where DMA takes the bytes, one with an error is not kept,
    /// unless such a one is to stop DMA.
    pub(super) fn keep_v3(&mut self, data: u32, errors: u32) -> bool {
        let control = self.control[2];
        if errors != 0 && control & (DMAR | DMA_DISABLE_ON_ERROR) == DMAR {
            return true;
        }
        if self.fifo.len() >= self.depth() {
            if control & OVERRUN_DISABLE == 0 {
                self.status |= ORE;
                self.counters.overruns += 1;
                return false;
            }
            self.fifo.pop_back();
        }
        self.fifo.push_back(data);
        self.status |= RXNE;
        true
    }

    /// Whether an error keeps DMA from taking bytes until its flag is cleared.
    pub(super) fn stops_dma(&self) -> bool {
        self.is_v3() && self.control[2] & DMA_DISABLE_ON_ERROR != 0 && self.status & (PE | FE | NF) != 0
    }

    fn is_on(&self) -> bool {
        self.control[0] & UE != 0
    }

    fn set_v3_control(&mut self, value: u32, now: Cycles) {
        let before = std::mem::replace(&mut self.written, value);
        let goes_off = before & ENABLE != 0 && value & ENABLE == 0;
        if before & value & ENABLE != 0 && (before ^ value) & FIXED[0] != 0 {
            self.breaks("CR1 is changed besides its enables while the port is on");
        }
        // In the F4's form UE stands at 13 and SBK, which is in RQR here, at 0.
        self.set_control(value & 0xdffe | (value & ENABLE) << 13, now);
        if goes_off {
            self.switch_off(now);
        }
    }

    /// All operations end and the flags go back to what they are at reset.
    fn switch_off(&mut self, now: Cycles) {
        if self.sending_until.take().is_some_and(|end| end > now) {
            self.output.push(Wave::level(now, true));
        }
        self.waiting.clear();
        self.fifo.clear();
        self.status = TXE | TC;
    }

    fn request(&mut self, value: u32, now: Cycles) {
        if value & 1 << 3 != 0 {
            self.fifo.clear();
            self.counters.discarded += u64::from(self.status & RXNE != 0);
            self.status &= !RXNE;
        }
        if value & 1 << 4 != 0 {
            self.waiting.clear();
            self.status |= TXE;
        }
        if value & 1 << 1 != 0 {
            self.set_control(self.control[0] | SBK, now);
        }
    }

    pub(super) fn read_v3(&mut self, offset: u32) -> u32 {
        match offset {
            0x1c => self.interrupt_status(),
            RDR => self.take_oldest(),
            offset => self.rest_v3(offset),
        }
    }

    fn interrupt_status(&self) -> u32 {
        let acknowledged = if self.is_on() { self.control[0] & (TE | RE) } else { 0 };
        let (waiting, received) = (self.waiting.len(), self.fifo.len());
        let fifo = self.written & FIFO_ENABLE != 0;
        self.status
            | u32::from(self.receiving_since.is_some()) << 16
            // TEACK and REACK stand 18 and 20 places above TE and RE.
            | (acknowledged & TE) << 18
            | (acknowledged & RE) << 20
            | u32::from(fifo && waiting == 0) << 23
            | u32::from(fifo && received == self.depth()) << 24
    }

    pub(super) fn write_v3(&mut self, offset: u32, value: u32, now: Cycles) {
        let is_on = self.is_on();
        match offset {
            0x00 => self.set_v3_control(value, now),
            0x04 | 0x08 => {
                let register = offset as usize / 4;
                if is_on && (self.control[register] ^ value) & FIXED[register] != 0 {
                    self.breaks(&format!("CR{} is changed while the port is on", register + 1));
                }
                self.control[register] = value;
            }
            0x0c | 0x2c if is_on => self.breaks("BRR or PRESC is written while the port is on"),
            0x0c => self.set_divider(value),
            0x10 => self.guard = value,
            0x18 => self.request(value, now),
            0x20 => self.status &= !(value & ISR_CLEARABLE),
            TDR => self.give_data(value, now),
            0x14 => self.timeout = value,
            0x2c if self.registers.fifo() > 0 => self.prescaler = value & 0xf,
            _ => {}
        }
    }

    /// A divider below the least that the manual allows is a broken rule.
    fn set_divider(&mut self, value: u32) {
        let low_power = matches!(self.registers, Registers::LowPower { .. });
        let (mask, least) = if low_power { (0xf_ffff, 0x300) } else { (0xffff, 16) };
        self.baud = value & mask;
        if self.baud < least {
            self.breaks(&format!("BRR is {value:#x}, at least {least:#x}"));
        }
    }

    pub(super) fn rest_v3(&self, offset: u32) -> u32 {
        match offset {
            0x00 => self.written,
            0x04 | 0x08 => self.control[offset as usize / 4],
            0x0c => self.baud,
            0x10 => self.guard,
            0x14 => self.timeout,
            0x2c => self.prescaler,
            _ => 0,
        }
    }
}
