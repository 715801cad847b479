//! Power control: RM0390 chapter 5. The ready flags follow their enables at once.

use super::Peripheral;
use crate::cpu::Cycles;

const ODEN: u32 = 1 << 16;
const ODSWEN: u32 = 1 << 17;
const VOSRDY: u32 = 1 << 14;

#[derive(Hash)]
pub(super) struct Power {
    control: u32,
    status: u32,
    has_overdrive: bool,
}

impl Power {
    pub(super) fn new(has_overdrive: bool) -> Self {
        Power {
            control: 0xc000,
            status: 0,
            has_overdrive,
        }
    }
}

impl Peripheral for Power {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            0x0 => self.control,
            0x4 => {
                let overdrive = if self.has_overdrive {
                    self.control & (ODEN | ODSWEN)
                } else {
                    0
                };
                // The backup regulator is ready when it is on.
                self.status | overdrive | VOSRDY | (self.status >> 9 & 1) << 3
            }
            _ => 0,
        }
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            // CWUF and CSBF only clear flags.
            0x0 => self.control = value & !0xc,
            0x4 => self.status = value & 0x300,
            _ => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        if offset == 0 { self.control } else { self.status }
    }
}
