//! What the ends of a wire tell each other to change its rate.

/// The rates that two ends may change to: serial ports make most of them exactly.
pub const RATE_STEPS: [u32; 7] = [
    1_500_000, 2_000_000, 3_000_000, 4_500_000, 5_000_000, 5_250_000, 5_625_000,
];

/// Steps: bit 0 is the rate that the wire begins with, bit 1 the first of [`RATE_STEPS`]. None at all if the rate is fixed.
pub type StepSet = u8;

/// The steps above a rate at which a serial port can run.
pub fn steps_above(baud: u32, can_run_at: impl Fn(u32) -> bool) -> StepSet {
    let mut steps = 1;
    for (step, rate) in (1..).zip(RATE_STEPS) {
        steps |= u8::from(rate > baud && can_run_at(rate)) << step;
    }
    steps
}

/// A message about the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RateMessage {
    /// The sender wants to change to a step, and is silent until there is an answer.
    Ask(u8),
    /// The sender changes to this step after this message; or, if it is not the one that was asked for, stays where it is.
    Agree(u8),
    /// A test pattern at the new rate, with its number, from 1; it is answered by one with the same number.
    Test(u8),
}

impl RateMessage {
    /// What follows the message in its frame: edges as close as can be, and far apart.
    pub(super) const PATTERN: [u8; 24] = [
        0x55, 0xaa, 0xff, 0x00, 0x00, 0xff, 0x01, 0x80, 0xfe, 0x7f, 0x33, 0xcc, 0x0f, 0xf0, 0x55, 0x55, 0xff, 0xff,
        0x10, 0xef, 0x08, 0xf7, 0xaa, 0x55,
    ];

    pub(super) fn byte(self) -> u8 {
        match self {
            RateMessage::Ask(step) => 0x10 | step & 0x0f,
            RateMessage::Agree(step) => 0x20 | step & 0x0f,
            RateMessage::Test(number) => 0x30 | number & 0x0f,
        }
    }

    pub(crate) fn read(byte: u8) -> Option<Self> {
        let value = byte & 0x0f;
        match byte >> 4 {
            1 => Some(RateMessage::Ask(value)),
            2 => Some(RateMessage::Agree(value)),
            3 => Some(RateMessage::Test(value)),
            _ => None,
        }
    }
}
