//! Power control of the F4: RM0390 chapter 5. The ready flags follow their enables at once.

use std::hash::{Hash, Hasher};

use super::super::clocks::Limits;
use super::super::parts::{PowerControl, Pvd};
use super::super::peripheral::Peripheral;
use super::DBP;
use crate::cpu::Cycles;

/// Of every chip with its levels in bits 5 to 7.
pub(super) const PVDE: u32 = 1 << 4;
const ODEN: u32 = 1 << 16;
const ODSWEN: u32 = 1 << 17;
const VOSRDY: u32 = 1 << 14;

#[derive(Clone, Copy)]
pub(in crate::chip) struct PwrFacts {
    /// PWR_CR after reset.
    pub(in crate::chip) power_control: u32,
    pub(in crate::chip) has_overdrive: bool,
    /// What the chip bears, by bits 14 and 15 of PWR_CR, the voltage scale, and by whether the over-drive is on.
    pub(in crate::chip) limits: fn(u32, bool) -> Limits,
}

impl PwrFacts {
    /// Those of a chip without an over-drive.
    pub(in crate::chip) const fn new(power_control: u32, limits: fn(u32, bool) -> Limits) -> Self {
        PwrFacts {
            power_control,
            has_overdrive: false,
            limits,
        }
    }
}

pub(in crate::chip) struct PwrF4 {
    control: u32,
    status: u32,
    facts: PwrFacts,
}

impl Hash for PwrF4 {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.control, self.status).hash(hasher);
    }
}

impl PwrF4 {
    pub(in crate::chip) fn new(facts: PwrFacts) -> Self {
        PwrF4 {
            control: facts.power_control,
            status: 0,
            facts,
        }
    }
}

impl PowerControl for PwrF4 {
    fn opens_backup_domain(&self) -> bool {
        self.control & DBP != 0
    }

    /// The data sheets' general operating conditions, by voltage scale and over-drive.
    fn limits(&self) -> Limits {
        let over_drive = self.facts.has_overdrive && self.control & (ODEN | ODSWEN) == ODEN | ODSWEN;
        (self.facts.limits)(self.control >> 14 & 3, over_drive)
    }

    fn pvd(&self) -> Option<Pvd> {
        const LEVELS: [u64; 8] = [2_000, 2_100, 2_300, 2_500, 2_600, 2_700, 2_800, 2_900];
        (self.control & PVDE != 0).then(|| Pvd {
            millivolts: LEVELS[(self.control >> 5 & 7) as usize],
            offset: 4,
            bit: 1 << 2,
        })
    }
}

impl Peripheral for PwrF4 {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            0x0 => self.control,
            0x4 => {
                let overdrive = self.control & (ODEN | ODSWEN);
                let overdrive = if self.facts.has_overdrive { overdrive } else { 0 };
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

    fn reset(&mut self, _now: Cycles) {
        *self = PwrF4::new(self.facts);
    }
}
