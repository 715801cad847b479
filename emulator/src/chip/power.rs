//! Power control: RM0390 chapter 5. The ready flags follow their enables at once.

use super::Peripheral;
use super::clocks::Limits;
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

impl Power {
    /// What the chip bears at the voltage scale and with the over-drive as they are set: the data sheets' general operating
    /// conditions.
    pub(super) fn limits(&self) -> Limits {
        const MHZ: u64 = 1_000_000;
        let over_drive = self.has_overdrive && self.control & (ODEN | ODSWEN) == ODEN | ODSWEN;
        // The F405 has one bit for the scale.
        let scale = if self.has_overdrive {
            self.control >> 14 & 3
        } else {
            2 | self.control >> 14 & 1
        };
        let hclk = match (scale, over_drive) {
            (3, true) => 180 * MHZ,
            (3, false) | (2, true) => 168 * MHZ,
            (2, false) => 144 * MHZ,
            _ => 120 * MHZ,
        };
        let (apb1, apb2) = if over_drive {
            (45 * MHZ, 90 * MHZ)
        } else {
            (42 * MHZ, 84 * MHZ)
        };
        Limits { hclk, apb1, apb2 }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_and_over_drive_decide_the_limit() {
        for (scale, over_drive, megahertz) in [
            (3, ODEN | ODSWEN, 180),
            (3, ODEN, 168),
            (3, 0, 168),
            (2, ODEN | ODSWEN, 168),
            (2, 0, 144),
            (1, 0, 120),
        ] {
            let mut power = Power::new(true);
            power.write(0, scale << 14 | over_drive, 0);
            assert_eq!(power.limits().hclk, megahertz * 1_000_000, "{scale} {over_drive:x}");
        }
        let mut old = Power::new(false);
        assert_eq!(old.limits().hclk, 168_000_000);
        old.write(0, 0, 0);
        assert_eq!(old.limits().hclk, 144_000_000);
    }
}
