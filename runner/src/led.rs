//! The LED: a rhythm of sixteen steps, inverted every other step while packets pass.

use hopwise_node::capacities::Capacities;
use hopwise_node::wire::BoardState;

use crate::driver::{Mode, Runner};
use crate::platform::Platform;

/// Sixteen steps, the highest bit first.
type Rhythm = u16;
const NO_CONFIGURATION: Rhythm = 0b1010_1010_1010_1010;
const CRASH_LOOP: Rhythm = 0b1100_1100_1100_1100;
const WAITING: Rhythm = 0b1000_0000_1000_0000;
const MISWIRED: Rhythm = 0b1010_1000_0000_0000;
const LOCKED_OUT: Rhythm = 0b1010_0000_0000_0000;
const ALL_UP: Rhythm = 0b1111_1111_1111_1111;
/// The steps that are inverted on a hardware fault, whatever else is shown.
const COMPLAINT: Rhythm = 0b11;

#[derive(Default)]
pub(crate) struct Rhythmic {
    step: u32,
    /// Whether the last step was inverted because packets pass.
    inverted: bool,
}

impl Rhythmic {
    /// Whether the LED is lit in the next step.
    pub(crate) fn step<P: Platform, C: Capacities>(&mut self, driver: &Runner<P, C>) -> bool {
        let (rhythm, packets_pass) = rhythm(driver);
        self.inverted = packets_pass && !self.inverted;
        let rhythm = rhythm ^ P::complaint().map_or(0, |_| COMPLAINT);
        let lit = rhythm << self.step & 0x8000 != 0;
        self.step = (self.step + 1) % Rhythm::BITS;
        lit != self.inverted
    }
}

/// The rhythm for the state of the board, and whether packets passed since the last call.
fn rhythm<P: Platform, C: Capacities>(driver: &Runner<P, C>) -> (Rhythm, bool) {
    match &mut *driver.mode() {
        Mode::Unconfigured(_) if driver.about.state == BoardState::CrashLoop => (CRASH_LOOP, false),
        Mode::Unconfigured(_) => (NO_CONFIGURATION, false),
        Mode::Mesh(mesh) => {
            let packets_passed = core::mem::take(&mut mesh.observer.packets_passed);
            if let Some(on) = mesh.programs.led() {
                return (if on { ALL_UP } else { 0 }, false);
            }
            match (
                mesh.observer.locked_out,
                mesh.observer.miswired,
                mesh.router.all_links_up(),
            ) {
                (0, 0, true) => (ALL_UP, packets_passed),
                (0, 0, false) => (WAITING, packets_passed),
                (0, _, _) => (MISWIRED, false),
                _ => (LOCKED_OUT, false),
            }
        }
    }
}
