//! STM32F401xE: RM0368.

use super::f4::*;

pub(super) static CHIP: Description = Description {
    name: "STM32F401",
    id_code: 0x1000_6433,
    memory: MemorySizes {
        sram: 96 * 1024,
        ..MEMORY
    },
    flash_reading: FlashReading::F4,
    pins: Pins::Inputs,
    system: SYSTEM,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

static FACTS: PwrFacts = PwrFacts {
    power_control: 0x8000,
    has_overdrive: false,
    limits: |scale, _| Limits {
        // Its PLL runs no slower.
        pll_vco: (192_000_000, 432_000_000),
        ..limits(if scale >= 2 { 84 } else { 60 }, 42, 84)
    },
};
