//! Serial ports of chips newer than the F4: RM0351 chapters 40 and 41, RM0440 chapters 37 and 38, RM0433 chapters 48 and 49.
//!
//! The flags and most enables stand where the F4 has them, in registers of their own: flags are cleared in ICR, received bytes
//! are in RDR, bytes to send in TDR. G4 and H7 have FIFOs. A received byte with an error raises no DMA request: it is lost
//! unless software reads it, or DDRE is set.

use super::super::rules::Rule;
use super::*;

/// Which registers a serial port has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::chip) enum Registers {
    /// SR and DR.
    F4,
    /// ISR, ICR, RDR and TDR, with FIFOs of so many bytes; 0 if it has none.
    Newer {
        /// The bytes of each FIFO.
        fifo: u8,
    },
    /// The same, with a BRR in 256ths of a cycle: LPUART1.
    LowPower {
        /// The bytes of each FIFO.
        fifo: u8,
    },
}

const ENABLE: u32 = 1;
const FIFO_ENABLE: u32 = 1 << 29;
const OVERRUN_DISABLE: u32 = 1 << 12;
const DMA_DISABLE_ON_ERROR: u32 = 1 << 13;

/// What is only changed while the port is off: of CR1 word length, wake-up method, parity, oversampling, times of the driver enable, and
/// the FIFO; of CR2 all but the address of multiprocessor mode; of CR3 all but the enables of interrupts and DMA.
const FIXED: [u32; 3] = [0x33ff_9e00, 0x007f_ffff, 0x0000_fb3e];

const ISR_CLEARABLE: u32 = PE | FE | NF | ORE | IDLE | TC;

#[derive(Hash)]
pub(super) struct Newer {
    pub(super) registers: Registers,
    /// CR1 as it was written. The F4's form of it is in `control`.
    control: u32,
    timeout: u32,
    prescaler: u32,
    received: VecDeque<u32>,
    /// Rules that were broken, in words, until they are asked for.
    broken: Vec<String>,
}

impl Newer {
    pub(super) fn new(registers: Registers) -> Self {
        Newer {
            registers,
            control: 0,
            timeout: 0,
            prescaler: 0,
            received: VecDeque::new(),
            broken: Vec::new(),
        }
    }

    pub(super) fn take_broken(&mut self) -> Vec<Violation> {
        let broken = self.broken.drain(..);
        broken.map(|how| Violation { rule: Rule::Uart, how }).collect()
    }

    fn fifo(&self) -> usize {
        match self.registers {
            Registers::Newer { fifo } | Registers::LowPower { fifo } => fifo.into(),
            Registers::F4 => 0,
        }
    }

    /// Bytes that wait in each direction.
    fn depth(&self) -> usize {
        if self.control & FIFO_ENABLE != 0 { self.fifo().max(1) } else { 1 }
    }

    pub(super) fn bit_time(&self, divider: u32, clock: u64) -> Cycles {
        const PRESCALERS: [u64; 12] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256];
        let prescaler = PRESCALERS.get(self.prescaler as usize).copied().unwrap_or(256);
        let cycles = u64::from(divider) * prescaler * clock;
        match self.registers {
            Registers::LowPower { .. } => cycles / 256,
            _ => cycles,
        }
        .max(1)
    }

    pub(super) fn beyond_model(&self, control: &[u32; 3]) -> Option<&'static str> {
        if self.control & 1 << 28 != 0 {
            Some("a word of seven bits")
        } else if self.control & 1 << 13 != 0 {
            Some("the mute mode")
        } else if control[1] & 0x000f_8000 != 0 {
            Some("a swapped, inverted or reversed line")
        } else if control[1] & 1 << 20 != 0 {
            Some("the automatic baud rate")
        } else if control[2] & 1 << 14 != 0 {
            Some("the driver enable")
        } else {
            None
        }
    }
}

impl Usart {
    /// A port as it is after reset.
    pub(in crate::chip) fn new(registers: Registers) -> Self {
        Usart {
            newer: (registers != Registers::F4).then(|| Newer::new(registers)),
            ..Usart::default()
        }
    }

    /// Bytes that wait in each direction.
    pub(super) fn depth(&self) -> usize {
        self.newer.as_ref().map_or(1, Newer::depth)
    }

    /// Takes the byte that came first.
    pub(super) fn take_oldest(&mut self) -> u32 {
        let Some(newer) = &mut self.newer else { return 0 };
        if let Some(byte) = newer.received.pop_front() {
            self.received = byte;
        }
        if newer.received.is_empty() {
            self.status &= !RXNE;
        }
        self.received
    }

    /// Keeps a byte that was received; false if there is no room. Where DMA takes the bytes, one with an error is not kept,
    /// unless such a one is to stop DMA.
    pub(super) fn keep_newer(&mut self, data: u32, errors: u32) -> bool {
        let (depth, control) = (self.depth(), self.control[2]);
        let Some(newer) = &mut self.newer else { return false };
        if errors != 0 && control & (DMAR | DMA_DISABLE_ON_ERROR) == DMAR {
            return true;
        }
        if newer.received.len() >= depth {
            if control & OVERRUN_DISABLE == 0 {
                self.status |= ORE;
                self.counters.overruns += 1;
                return false;
            }
            newer.received.pop_back();
        }
        newer.received.push_back(data);
        self.status |= RXNE;
        true
    }

    /// Whether an error keeps DMA from taking bytes until its flag is cleared.
    pub(super) fn stops_dma(&self) -> bool {
        self.newer.is_some() && self.control[2] & DMA_DISABLE_ON_ERROR != 0 && self.status & (PE | FE | NF) != 0
    }

    fn breaks(&mut self, how: &str) {
        if let Some(newer) = &mut self.newer {
            newer.broken.push(how.into());
        }
    }

    fn is_on(&self) -> bool {
        self.control[0] & UE != 0
    }

    fn set_newer_control(&mut self, value: u32, now: Cycles) {
        let Some(newer) = &mut self.newer else { return };
        let before = newer.control;
        newer.control = value;
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
            self.output.push(Edge { at: now, level: true });
        }
        self.waiting.clear();
        if let Some(newer) = &mut self.newer {
            newer.received.clear();
        }
        self.status = TXE | TC;
    }

    fn request(&mut self, value: u32, now: Cycles) {
        if value & 1 << 3 != 0 {
            if let Some(newer) = &mut self.newer {
                newer.received.clear();
            }
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

    pub(super) fn read_newer(&mut self, offset: u32) -> u32 {
        match offset {
            0x1c => self.interrupt_status(),
            0x24 => self.take_oldest(),
            offset => self.rest_newer(offset),
        }
    }

    fn interrupt_status(&self) -> u32 {
        let acknowledged = if self.is_on() { self.control[0] & (TE | RE) } else { 0 };
        let (waiting, received) = (self.waiting.len(), self.newer.as_ref().map_or(0, |newer| newer.received.len()));
        let fifo = self.newer.as_ref().is_some_and(|newer| newer.control & FIFO_ENABLE != 0);
        self.status
            | u32::from(self.receiving_since.is_some()) << 16
            // TEACK and REACK stand 18 and 20 places above TE and RE.
            | (acknowledged & TE) << 18
            | (acknowledged & RE) << 20
            | u32::from(fifo && waiting == 0) << 23
            | u32::from(fifo && received == self.depth()) << 24
    }

    pub(super) fn write_newer(&mut self, offset: u32, value: u32, now: Cycles) {
        let is_on = self.is_on();
        match offset {
            0x00 => self.set_newer_control(value, now),
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
            0x28 => self.give_data(value, now),
            _ => {
                let Some(newer) = &mut self.newer else { return };
                match offset {
                    0x14 => newer.timeout = value,
                    0x2c if newer.fifo() > 0 => newer.prescaler = value & 0xf,
                    _ => {}
                }
            }
        }
    }

    /// A divider below the least that the manual allows is a broken rule.
    fn set_divider(&mut self, value: u32) {
        let low_power = matches!(
            self.newer,
            Some(Newer {
                registers: Registers::LowPower { .. },
                ..
            })
        );
        let (mask, least) = if low_power { (0xf_ffff, 0x300) } else { (0xffff, 16) };
        self.baud = value & mask;
        if self.baud < least {
            self.breaks(&format!("BRR is {value:#x}, at least {least:#x}"));
        }
    }

    pub(super) fn rest_newer(&self, offset: u32) -> u32 {
        let Some(newer) = &self.newer else { return 0 };
        match offset {
            0x00 => newer.control,
            0x04 | 0x08 => self.control[offset as usize / 4],
            0x0c => self.baud,
            0x10 => self.guard,
            0x14 => newer.timeout,
            0x2c => newer.prescaler,
            _ => 0,
        }
    }
}
