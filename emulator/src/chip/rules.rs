//! The rules of the manuals that firmware can break and silicon does not report: it then behaves in a way that nobody
//! guarantees. Here the rule is named. `docs/emulator.md` lists what follows from breaking each.

use std::fmt;

/// A rule that firmware can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// A peripheral is used while its clock is on.
    Clocked,
    /// A serial port is used at the pins that its cable is plugged into, in the function that belongs to it.
    Pins,
    /// A pin that receives is not pulled down: a cable that is unplugged would be heard as a break that never ends.
    Pull,
    /// The pins of the debug probe stay its own.
    DebugPins,
    /// The core does not sleep so deeply that its clocks stop.
    Sleep,
    /// The vector table is where the core finds every vector.
    VectorTable,
    /// The option bytes are left to a probe.
    OptionBytes,
    /// The HSE is in the mode that the board has: a clock that is fed, or a crystal.
    ExternalClock,
    /// PLL, core and buses are within their limits.
    ClockLimits,
    /// The flash has the wait states that the clock needs.
    WaitStates,
    /// The flash is unlocked, erased and written in order, in the announced width.
    FlashOrder,
    /// The flash is changed while the supply is high enough for the announced width.
    Supply,
    /// The caches of the flash are emptied before what has changed is read.
    FlashCache,
    /// DMA streams are set up while they are off, without old flags, for memory that they reach.
    Dma,
    /// A serial port has a divider that it can use, not changed within a byte; that of an L4, G4 or H7 is set up while it is off.
    Uart,
    /// A converter is switched on with its regulator, calibrated while it is off, and converts while it is on.
    Adc,
    /// An I2C port is set up while it is off, and not written while it does what it was told.
    I2c,
    /// The backup domain is opened before it is written.
    Backup,
    /// The calendar is unlocked and set in its initialization mode, and read when it is up to date.
    Rtc,
}

impl fmt::Display for Rule {
    /// Its name in small letters, with hyphens between the words.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, letter) in format!("{self:?}").char_indices() {
            let hyphen = if place > 0 && letter.is_ascii_uppercase() {
                "-"
            } else {
                ""
            };
            write!(out, "{hyphen}{}", letter.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

/// A rule that firmware has broken, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Violation {
    /// The rule that was broken.
    pub rule: Rule,
    /// What firmware did, in words.
    pub how: String,
}

impl Violation {
    pub(super) fn new(rule: Rule, how: impl Into<String>) -> Self {
        Violation { rule, how: how.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.rule, self.how)
    }
}
