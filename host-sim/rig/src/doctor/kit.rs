//! What only the kit examines: the serial port, an update, and cuts of the supply.

use std::time::Duration;

use hopwise_node::store::Slot;
use hopwise_node::wire::{BoardState, CONFIG_BYTES, Command};

use super::{Doctor, LOOK, RESTARTS_WITHIN, Verdict};
use crate::update::{Package, hex, update};

/// Requests whose time is measured.
const REQUESTS: usize = 200;
const PULLS: u32 = 3;
/// A board that has not answered for so long has no supply: writing a config takes half of it.
const GONE: Duration = Duration::from_secs(6);
/// For how long somebody has time to cut the supply.
const PULL_WITHIN: Duration = Duration::from_secs(60);

impl Doctor<'_> {
    /// How long a request takes, and how many get no response.
    pub(super) fn examine_port(&mut self) {
        let mut times = Vec::new();
        for _ in 0..REQUESTS {
            let begin = self.now();
            if self.status().is_some() {
                times.push((self.now() - begin).as_secs_f64() * 1e3);
            }
        }
        times.sort_by(f64::total_cmp);
        let lost = REQUESTS - times.len();
        self.figure("port: requests lost", lost as f64, "");
        let (Some(median), Some(slowest)) = (times.get(times.len() / 2), times.last()) else {
            return self.fault("port", "it stopped answering".into());
        };
        self.figure("port: median response", *median, "ms");
        self.figure("port: slowest response", *slowest, "ms");
        let text = format!("{REQUESTS} requests, {lost} lost: half within {median:.1} ms, all within {slowest:.1} ms");
        let verdict = if lost == 0 { Verdict::Good } else { Verdict::Fault };
        self.note("port", verdict, text);
    }

    pub(super) fn examine_update(&mut self, package: Option<&Package>) {
        let Some(package) = package.filter(|_| !self.patient.is_stopped()) else {
            return self.note("update", Verdict::Skipped, "not examined: that needs an image".into());
        };
        let address = self.address;
        match update(self.patient.boards(), package, &[vec![address]]) {
            Ok(report) => {
                self.figure("update: erase", report.erase_seconds, "s");
                self.figure("update: transfer", report.transfer_seconds, "s");
                self.figure("update: all", report.seconds, "s");
                let [first, second] = [Slot::First, Slot::Second].map(|slot| hex(&package.for_slot(slot).plan.hash));
                let text = format!(
                    "a new image runs after {:.1} s; SHA-256 {first} or {second}",
                    report.seconds
                );
                self.good("update", text);
            }
            Err(error) => self.fault("update", error.to_string()),
        }
    }

    /// Cuts the supply while the board writes its own config again and again.
    pub(super) fn examine_power(&mut self, config: &[u8; CONFIG_BYTES]) {
        for pull in 1..=PULLS {
            if self.patient.is_stopped() || !self.patient.unplug() {
                return self.note("power", Verdict::Skipped, "the supply was not cut".into());
            }
            let (begin, mut heard) = (self.now(), self.now());
            while self.now() < heard + GONE {
                if self.now() > begin + PULL_WITHIN {
                    return self.note("power", Verdict::Skipped, "the board kept its supply".into());
                }
                if self.tell(&Command::WriteConfig(config)).is_some() {
                    heard = self.now();
                }
                self.wait(LOOK);
            }
            let end = self.now() + RESTARTS_WITHIN;
            let mut status = None;
            if self.patient.plug() {
                while status.is_none() && self.now() < end {
                    self.wait(LOOK);
                    status = self.status();
                }
            }
            let has_state = |state| matches!(state, BoardState::Configured | BoardState::NoConfig);
            let is_as_before = status.is_some_and(|status| has_state(status.state)) && self.config() == Some(*config);
            if !is_as_before {
                return self.fault(
                    "power",
                    format!("after cut {pull} of its supply the board is not as it was"),
                );
            }
        }
        self.figure("power: cuts survived", PULLS.into(), "");
        self.good(
            "power",
            format!("{PULLS} cuts of the supply while the config was written: all is as it was"),
        );
    }
}
