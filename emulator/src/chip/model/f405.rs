//! STM32F405xG: RM0090.

use super::f4::*;

pub(super) static CHIP: Description = Description {
    name: "STM32F405",
    id_code: 0x100f_6413,
    memory: MemorySizes {
        sectors: &SECTORS_1M,
        ccm: 64 * 1024,
        ..MEMORY
    },
    flash_reading: FlashReading::F4,
    pins: Pins::Inputs,
    system: SYSTEM,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

static FACTS: PwrFacts = PwrFacts {
    power_control: 0x4000,
    has_overdrive: false,
    // One bit.
    limits: |scale, _| match scale & 1 {
        1 => limits(168, 42, 84),
        _ => limits(144, 42, 84),
    },
};
