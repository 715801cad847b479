//! STM32F411xE: RM0383.

use super::f4::*;

pub(super) static CHIP: Description = Description {
    name: "STM32F411",
    id_code: 0x1000_6431,
    memory: MEMORY,
    flash_reading: FlashReading::F4,
    pins: Pins::Inputs,
    system: SYSTEM,
    parts: |individual| parts(&CHIP, &FACTS, individual),
};

static FACTS: PwrFacts = PwrFacts {
    power_control: 0x8000,
    has_overdrive: false,
    limits: |scale, _| {
        let hclk = match scale {
            3 => 100,
            2 => 84,
            _ => 64,
        };
        Limits {
            // Its flash needs fewer.
            wait_states: &[30_000_000, 64_000_000, 90_000_000, 100_000_000],
            ..limits(hclk, 50, 100)
        }
    },
};
