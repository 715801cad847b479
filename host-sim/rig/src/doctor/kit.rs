//! What only the kit examines: the serial port, an update, cuts of the supply, and a cable between two boards.

use std::time::Duration;

use hopwise_node::store::Slot;
use hopwise_node::wire::{BoardState, CONFIG_BYTES, Command};

use super::{
    BoardConfig, BoardKind, Doctor, Examination, HELLOS, KIT_RATES, LINK, LOOK, LinkReport, Patient, Query,
    RESTARTS_WITHIN, Scope, Verdict, boards, clock, default_host_baud, rates_agree,
};
use crate::update::{Package, hex, update};

/// Requests whose time is measured.
const REQUESTS: usize = 200;
const PULLS: u32 = 3;
/// A board that has not answered for so long has no supply: writing a config takes half of it.
const GONE: Duration = Duration::from_secs(6);
/// For how long somebody has time to cut the supply.
const PULL_WITHIN: Duration = Duration::from_secs(60);

/// An end of a cable.
struct End {
    kind: &'static BoardKind,
    config: [u8; CONFIG_BYTES],
    address: u64,
    host_baud: u32,
}

/// Examines a cable between the first links of two boards, at every rate that both have. What the boards had for configurations they have afterwards.
pub fn examine_cable(patient: &mut dyn Patient) -> Examination {
    let mut doctor = Doctor::new(patient, Scope::Kit(None));
    match (doctor.end(0), doctor.end(1)) {
        (Some(first), Some(second)) => doctor.examine_cable(&[first, second]),
        (None, _) => doctor.fault(
            "cable",
            "the first of its boards does not respond, or has no good config".into(),
        ),
        (_, None) => doctor.fault(
            "cable",
            "the second of its boards does not respond, or has no good config".into(),
        ),
    }
    doctor.count_faults();
    doctor.examination
}

impl Doctor<'_> {
    fn end(&mut self, at: usize) -> Option<End> {
        self.at = at;
        let status = self.status()?;
        let config = self.config()?;
        let read = BoardConfig::read(&config);
        let is_good = matches!(status.state, BoardState::Configured | BoardState::NoConfig) && !status.on_trial;
        Some(End {
            kind: boards::kind(&status.board).filter(|_| is_good)?,
            config,
            address: read.as_ref().map_or(0, |config| config.address),
            host_baud: read.map_or(default_host_baud(status.baud), |config| config.host_baud),
        })
    }

    fn turn_to(&mut self, at: usize, end: &End) {
        (self.at, self.address) = (at, end.address);
    }

    fn examine_cable(&mut self, ends: &[End; 2]) {
        let uarts = [&ends[0].kind.links[0], &ends[1].kind.links[0]];
        if !self.patient.join_boards(uarts) {
            return self.note("cable", Verdict::Skipped, "not examined".into());
        }
        let clocks = uarts.map(clock);
        for rate in KIT_RATES.into_iter().filter(|rate| rates_agree(clocks, *rate)) {
            let mut is_ready = !self.patient.is_stopped();
            for (at, end) in ends.iter().enumerate() {
                self.turn_to(at, end);
                is_ready = is_ready && self.put_on_test_config(rate, end.host_baud);
            }
            if !is_ready {
                break;
            }
            self.hear_cable(rate, ends);
        }
        for (at, end) in ends.iter().enumerate() {
            self.turn_to(at, end);
            if self.write(&end.config).is_none() {
                self.fault(
                    "flash",
                    "the config of a board at the cable could not be written back".into(),
                );
            }
        }
    }

    fn hear_cable(&mut self, rate: u32, ends: &[End; 2]) {
        self.wait(LINK / 2);
        for (at, end) in ends.iter().enumerate() {
            self.turn_to(at, end);
            self.ask(Query::ClearCounters, &[]);
        }
        self.wait(LINK);
        let mut of_end = |at: usize| -> Option<LinkReport> {
            self.turn_to(at, &ends[at]);
            self.link(0)
        };
        let (Some(first), Some(second)) = (of_end(0), of_end(1)) else {
            return self.fault("cable", format!("at {rate} baud a board stopped answering"));
        };
        let heard = [&first, &second].map(|end| end.counters.frames_received);
        let bad = [first.counters, second.counters]
            .map(|end| end.damaged + end.framing_errors + end.noise_errors + end.overruns);
        let (frames, errors) = (heard[0].min(heard[1]), bad[0] + bad[1]);
        self.figure(format!("cable at {rate} baud: frames heard"), frames.into(), "frames");
        self.figure(format!("cable at {rate} baud: errors"), errors.into(), "");
        let text = match heard {
            _ if frames >= HELLOS && errors == 0 => {
                return self.good(
                    "cable",
                    format!("at {rate} baud both hear each other, {frames} frames, none damaged"),
                );
            }
            [0, 0] => "neither board hears the other: does the cable join TX to RX both ways, and GND to GND?".into(),
            [0, _] => "the first board hears nothing: does its RX join the second's TX?".into(),
            [_, 0] => "the second board hears nothing: does its RX join the first's TX?".into(),
            _ => format!("{errors} errors beside {frames} frames"),
        };
        self.fault("cable", format!("at {rate} baud {text}"));
    }

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
