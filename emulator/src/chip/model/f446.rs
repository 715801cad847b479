//! STM32F446xE: RM0390.

use super::f4::*;

pub(super) static CHIP: Description = Description {
    name: "STM32F446",
    id_code: 0x1000_6421,
    memory: MEMORY,
    flash_reading: FlashReading::F4,
    pins: Pins::Inputs,
    system: SYSTEM,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

static FACTS: PwrFacts = PwrFacts {
    power_control: 0xc000,
    has_overdrive: true,
    limits: |scale, over_drive| match (scale, over_drive) {
        (3, true) => limits(180, 45, 90),
        (3, false) => limits(168, 42, 84),
        (2, true) => limits(168, 45, 90),
        (2, false) => limits(144, 42, 84),
        (_, true) => limits(120, 45, 90),
        (_, false) => limits(120, 42, 84),
    },
};
