//! Power control of the F4: RM0390 chapter 5. The ready flags follow their enables at once.

use std::hash::{Hash, Hasher};

use super::clocks::Limits;
use super::model::F4;
use super::peripheral::{Peripheral, PowerControl};
use crate::cpu::Cycles;

const ODEN: u32 = 1 << 16;
const ODSWEN: u32 = 1 << 17;
pub(super) const DBP: u32 = 1 << 8;
const VOSRDY: u32 = 1 << 14;

pub(super) struct Power {
    control: u32,
    status: u32,
    facts: &'static F4,
}

impl Power {
    pub(super) fn new(facts: &'static F4) -> Self {
        Power {
            control: facts.power_control,
            status: 0,
            facts,
        }
    }
}

impl PowerControl for Power {
    fn opens_backup_domain(&self) -> bool {
        self.control & DBP != 0
    }

    /// The data sheets' general operating conditions, by voltage scale and over-drive.
    fn limits(&self) -> Limits {
        let over_drive = self.facts.has_overdrive && self.control & (ODEN | ODSWEN) == ODEN | ODSWEN;
        (self.facts.limits)(self.control >> 14 & 3, over_drive)
    }
}

impl Peripheral for Power {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        match offset {
            0x0 => self.control,
            0x4 => {
                let overdrive = if self.facts.has_overdrive {
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

    fn reset(&mut self, _now: Cycles) {
        *self = Power::new(self.facts);
    }

    fn digest(&self, mut hasher: &mut dyn Hasher) {
        (self.control, self.status).hash(&mut hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Model;
    use crate::chip::model::facts;

    #[test]
    fn scale_and_over_drive_decide_the_limit() {
        for (chip, scale, over_drive, megahertz) in [
            (Model::F446, 3, ODEN | ODSWEN, 180),
            (Model::F446, 3, ODEN, 168),
            (Model::F446, 3, 0, 168),
            (Model::F446, 2, ODEN | ODSWEN, 168),
            (Model::F446, 2, 0, 144),
            (Model::F446, 1, 0, 120),
            (Model::F405, 1, 0, 168),
            (Model::F405, 0, 0, 144),
            (Model::F405, 1, ODEN | ODSWEN, 168),
            (Model::F411, 3, 0, 100),
            (Model::F411, 2, 0, 84),
            (Model::F411, 1, 0, 64),
            (Model::F401, 3, 0, 84),
            (Model::F401, 2, 0, 84),
            (Model::F401, 1, 0, 60),
        ] {
            let mut power = Power::new(facts(chip).expect("an F4"));
            power.write(0, scale << 14 | over_drive, 0);
            assert_eq!(
                power.limits().hclk,
                megahertz * 1_000_000,
                "{chip:?} {scale} {over_drive:x}"
            );
        }
    }

    #[test]
    fn each_chip_begins_with_a_scale_of_its_own() {
        for (chip, megahertz) in [
            (Model::F446, 168),
            (Model::F405, 168),
            (Model::F411, 84),
            (Model::F401, 84),
        ] {
            assert_eq!(
                Power::new(facts(chip).expect("an F4")).limits().hclk,
                megahertz * 1_000_000,
                "{chip:?}"
            );
        }
    }
}
