//! A self-test of one board: clock, baud rate, flash, links, watchdog and stack, asked through its serial port.
//!
//! It needs little of the firmware. A link whose TX is joined with its own RX hears its own hello, so its counters tell whether bytes
//! come through. The flash is examined by writing the board's own config into both slots, one after the other: at no moment is it
//! in neither.

mod findings;
mod kit;
mod serial;

pub use findings::{Difference, Examination, Figure, Finding, KitReport, Verdict, differences};
pub use kit::examine_cable;
pub use serial::{Hands, SerialPatient};

use std::collections::BTreeMap;
use std::time::Duration;

use hopwise_host::talk::{BoardRequest, Reply, read};
use hopwise_node::wire::{
    BoardConfig, BoardState, CONFIG_BYTES, Command, CommandResult, Failure, LinkReport, Query, Status, UartClock,
    default_host_baud, rates_agree,
};

use super::boards::{self, BoardKind, Uart};
use super::mesh::rates::clock;
use super::update::{Boards, Package};

/// A restart is looked for so often, and for so long: a config is written in at most three seconds, and the slowest watchdog takes eight.
const LOOK: Duration = Duration::from_millis(250);
const RESTARTS_WITHIN: Duration = Duration::from_secs(12);
/// A board that has run for less is not told to restart yet.
const SETTLED_MS: u64 = 3_000;
/// For how long the board's clock is compared with this host's.
const CLOCK: Duration = Duration::from_secs(5);
/// The board's clock may be off by this part: more than crystals are, and than the serial port's delays make of them.
const CLOCK_ERROR: f64 = 0.003;
/// For how long a link listens to itself. It says hello every 50 ms.
const LINK: Duration = Duration::from_secs(1);
const HELLOS: u32 = 5;
const FREE_STACK: u32 = 4_096;
/// The rates at which a kit examines a link, besides the board's own.
const KIT_RATES: [u32; 8] = [
    115_200, 460_800, 1_000_000, 1_500_000, 2_000_000, 3_000_000, 4_500_000, 5_625_000,
];
/// The cause of a restart by the watchdog, as boards number them.
const BY_WATCHDOG: u8 = 4;

pub trait Patient {
    /// The board to talk to. Time passes by a clock that is right.
    fn boards(&mut self) -> &mut dyn Boards;

    /// Sees to it that TX and RX of one link are joined and those of the others are not; false if nobody can.
    fn join(&mut self, link: usize, uart: &Uart) -> bool;

    /// Sees to it that a cable joins these links of the first board and the second, if there are two; false if nobody can.
    fn join_boards(&mut self, _ends: [&Uart; 2]) -> bool {
        false
    }

    /// Has the supply of the board cut within seconds; false if nobody can.
    fn unplug(&mut self) -> bool;

    /// Has it brought back; false if the board is not there then.
    fn plug(&mut self) -> bool;

    /// Whether the examination is to end early.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Examines a board. What it had for a configuration it has afterwards.
pub fn examine(patient: &mut dyn Patient, scope: Scope<'_>) -> Examination {
    let mut doctor = Doctor::new(patient, scope);
    doctor.examination.config = doctor.examine();
    doctor.count_faults();
    doctor.examination
}

/// What kind of board it says it is.
pub fn kind_of(patient: &mut dyn Patient) -> Option<String> {
    let status = Doctor::new(patient, Scope::Short).status()?;
    Some(status.board.to_string())
}

/// How much is examined.
#[derive(Clone, Copy)]
pub enum Scope<'a> {
    /// What takes a minute.
    Short,
    /// Everything: links at every rate, cuts of the supply, and an update if there is an image for it.
    Kit(Option<&'a Package>),
}

struct Doctor<'a> {
    patient: &'a mut dyn Patient,
    scope: Scope<'a>,
    /// Which of the patient's boards is asked.
    at: usize,
    /// That of the board's config. It stays: what a board has for a key is made for it.
    address: u64,
    examination: Examination,
}

impl<'a> Doctor<'a> {
    fn new(patient: &'a mut dyn Patient, scope: Scope<'a>) -> Self {
        Doctor {
            patient,
            scope,
            at: 0,
            address: 0,
            examination: Examination::default(),
        }
    }

    fn note(&mut self, what: &'static str, verdict: Verdict, text: String) {
        self.examination.findings.push(Finding { what, verdict, text });
    }

    fn figure(&mut self, what: impl Into<String>, value: f64, unit: &'static str) {
        let (what, unit) = (what.into(), unit.into());
        self.examination.figures.push(Figure { what, value, unit });
    }

    fn good(&mut self, what: &'static str, text: String) {
        self.note(what, Verdict::Good, text);
    }

    fn fault(&mut self, what: &'static str, text: String) {
        self.note(what, Verdict::Fault, text);
    }

    /// What could not be measured, because it failed, is a figure too.
    fn count_faults(&mut self) {
        let mut faults: BTreeMap<_, u32> = BTreeMap::new();
        for Finding { what, verdict, .. } in &self.examination.findings {
            *faults.entry(*what).or_default() += u32::from(*verdict == Verdict::Fault);
        }
        for (what, count) in faults {
            self.figure(format!("{what}: faults"), count.into(), "");
        }
    }

    fn ask(&mut self, query: Query, more: &[u8]) -> Option<Reply> {
        let boards = self.patient.boards();
        let dest = boards.entrances().get(self.at).copied().unwrap_or(0);
        let request = BoardRequest::new(self.at, dest, query).with(more.to_vec());
        boards.ask(&[request]).pop().flatten()
    }

    fn tell(&mut self, command: &Command<'_>) -> Option<CommandResult> {
        let reply = self.ask(command.query(), &command.payload());
        read(&reply)
    }

    fn status(&mut self) -> Option<Status> {
        let reply = self.ask(Command::Status.query(), &[]);
        read(&reply)
    }

    fn config(&mut self) -> Option<[u8; CONFIG_BYTES]> {
        match self.ask(Command::ReadConfig.query(), &[]) {
            Some(Reply::Response(bytes)) => bytes.try_into().ok(),
            _ => None,
        }
    }

    fn link(&mut self, link: usize) -> Option<LinkReport> {
        let reply = self.ask(Query::Link, &[link as u8]);
        read::<Option<LinkReport>>(&reply).flatten()
    }

    fn now(&mut self) -> Duration {
        self.patient.boards().elapsed()
    }

    fn wait(&mut self, time: Duration) {
        self.patient.boards().wait(time);
    }

    /// Tells the board something that ends in a restart, and waits for that. How long it took, and what the board says then.
    ///
    /// A restart is seen by an uptime that is shorter than before. To compare it with this host's clock would not do: while the flash
    /// is erased the board's stands still.
    fn restart(&mut self, command: &Command<'_>) -> Option<(Duration, Status)> {
        let before = self.settled()?;
        if self.tell(command) != Some(CommandResult::Done) {
            return None;
        }
        let begin = self.now();
        while self.now() < begin + RESTARTS_WITHIN {
            self.wait(LOOK);
            if let Some(status) = self.status().filter(|status| status.uptime_ms < before) {
                let waited = self.now().saturating_sub(begin);
                let up = Duration::from_millis(status.uptime_ms);
                return Some((waited.saturating_sub(up), status));
            }
        }
        None
    }

    /// The uptime of a board that has run for longer than it takes to be asked after a restart.
    fn settled(&mut self) -> Option<u64> {
        loop {
            let uptime = self.status()?.uptime_ms;
            if uptime >= SETTLED_MS {
                return Some(uptime);
            }
            self.wait(LOOK);
        }
    }

    /// Everything, in order. Returns the config of the board.
    fn examine(&mut self) -> Option<[u8; CONFIG_BYTES]> {
        let Some(status) = self.status() else {
            self.fault("board", "it does not respond".into());
            return None;
        };
        let kind = self.examine_board(&status)?;
        let config = self.config()?;
        self.address = BoardConfig::read(&config).map_or(0, |config| config.address);
        let may_write = self.examine_configuration(&status);
        let both_slots = may_write && self.examine_flash(&config);
        // A clean start says nothing but what is wrong with the board itself.
        let status = match both_slots {
            true => self.status(),
            false => Some(status),
        };
        self.examine_clock(status.as_ref(), kind);
        if both_slots && !self.patient.is_stopped() {
            let baud = status.map_or(hopwise_node::wire::DEFAULT_BAUD, |status| status.baud);
            let host_baud = BoardConfig::read(&config).map_or(default_host_baud(baud), |config| config.host_baud);
            if self.put_on_test_config(baud, host_baud) {
                self.examine_links(kind, baud, host_baud);
                if let Scope::Kit(package) = self.scope {
                    self.examine_port();
                    self.examine_update(package);
                }
            }
            if self.write(&config).is_none() {
                self.fault(
                    "flash",
                    "the board's own config could not be written back; the report has its bytes".into(),
                );
            }
        } else {
            let why = "not examined: that needs a config of its own";
            self.note("links", Verdict::Skipped, why.into());
        }
        if matches!(self.scope, Scope::Kit(_)) && both_slots {
            self.examine_power(&config);
        }
        // One that has not come back is no fault of its watchdog.
        if !self.patient.is_stopped() && self.status().is_some() && self.examine_watchdog() {
            self.examine_stack();
        }
        Some(config)
    }

    fn examine_board(&mut self, status: &Status) -> Option<&'static BoardKind> {
        let id: String = status.unique_id.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = format!("{}, chip {id}, {}", status.board, status.card.program);
        let kind = boards::kind(&status.board);
        match kind {
            Some(_) => self.good("board", text),
            None => self.fault("board", format!("{text}: there is no such board")),
        }
        kind
    }

    /// Whether configs may be written: the board's own must be one that it would take back.
    fn examine_configuration(&mut self, status: &Status) -> bool {
        let state = status.state;
        match state {
            BoardState::Configured if status.on_trial => {
                let text = "its config is on trial and is left alone: examine the board when the config is kept";
                self.note("configuration", Verdict::Skipped, text.into());
                return false;
            }
            BoardState::Configured | BoardState::NoConfig => self.good("configuration", format!("{state:?}")),
            BoardState::CrashLoop => {
                let fault = status.fault.as_deref().unwrap_or("nothing is known").to_string();
                let crashed = format!("it crashed again and again; the last time: {fault}");
                self.fault("configuration", crashed);
                return false;
            }
            _ => {
                let advice = format!("{state:?}: flash its config anew, then examine it again");
                self.fault("configuration", advice);
                return false;
            }
        }
        true
    }

    /// Writes the board's own config twice, which takes both slots.
    fn examine_flash(&mut self, config: &[u8; CONFIG_BYTES]) -> bool {
        for slot in ["one slot", "the other slot"] {
            match self.write(config) {
                Some(time) => {
                    let seconds = time.as_secs_f64();
                    self.figure(format!("flash: {slot} written"), seconds, "s");
                    self.good("flash", format!("{slot} holds what was written, after {seconds:.1} s"));
                }
                None => {
                    self.fault("flash", format!("{slot} does not hold what is written"));
                    return false;
                }
            }
        }
        true
    }

    /// Writes a config; how long until the board has restarted with it.
    fn write(&mut self, config: &[u8; CONFIG_BYTES]) -> Option<Duration> {
        let (time, _) = self.restart(&Command::WriteConfig(config))?;
        (self.config()? == *config).then_some(time)
    }

    /// Makes the board a node whose links can be asked.
    fn put_on_test_config(&mut self, baud: u32, host_baud: u32) -> bool {
        let network = format!("path({})", self.address.saturating_add(2));
        let config = BoardConfig::new(&network, self.address);
        let config = config.map(|config| {
            BoardConfig {
                baud,
                host_baud,
                ..config
            }
            .write()
        });
        let written = config.ok().and_then(|config| self.write(&config)).is_some();
        if !written {
            let why = "a config for the examination of the links could not be written";
            self.fault("flash", why.into());
        }
        written
    }

    fn examine_clock(&mut self, status: Option<&Status>, kind: &BoardKind) {
        if let Some(fault) = status.and_then(|status| status.fault.as_deref()) {
            self.fault("board", format!("it says: {fault}"));
        }
        let Some(error) = self.clock_error() else {
            self.fault("clock", "it stopped answering".into());
            return;
        };
        self.figure("clock: error", error * 100.0, "%");
        let text = format!("{:+.2} % against this host's", error * 100.0);
        match error.abs() <= CLOCK_ERROR {
            true => self.good("clock", text),
            false => self.fault("clock", format!("{text}: no cable carries that")),
        }
        let Some(baud) = status.map(|status| status.baud) else {
            return;
        };
        let mut clocks: Vec<UartClock> = kind.links.iter().map(clock).collect();
        clocks.sort_by_key(|clock| std::cmp::Reverse((clock.hertz, !clock.low_power)));
        clocks.dedup();
        let rates = clocks.iter().map(|clock| {
            let rate = f64::from(clock.nearest(baud));
            let error = (rate * (1.0 + error) / f64::from(baud) - 1.0) * 100.0;
            let kind = if clock.low_power { " of an LPUART" } else { "" };
            format!("{error:+.2} % from {} MHz{kind}", clock.hertz / 1_000_000)
        });
        let text = format!("{baud}: {}", rates.collect::<Vec<_>>().join(", "));
        match clocks.iter().any(|clock| rates_agree([*clock], baud)) {
            true => self.good("baud", text),
            false => self.fault("baud", format!("{text}: no link can run at that")),
        }
    }

    /// By what part the board's clock is too fast.
    fn clock_error(&mut self) -> Option<f64> {
        let (begin, first) = (self.now(), self.status()?.uptime_ms);
        let asked = self.now() - begin;
        self.wait(CLOCK);
        let (end, last) = (self.now(), self.status()?.uptime_ms);
        let answered = self.now() - end;
        // Each response was given somewhere in the time that it took.
        let passed = (end + answered / 2).checked_sub(begin + asked / 2)?.as_secs_f64() * 1_000.0;
        Some(last.checked_sub(first)? as f64 / passed - 1.0)
    }

    /// The links of a board with a test config that has this rate, which they have afterwards.
    fn examine_links(&mut self, kind: &BoardKind, baud: u32, host_baud: u32) {
        let others = match self.scope {
            Scope::Short => &[],
            Scope::Kit(_) => &KIT_RATES[..],
        };
        for (link, uart) in kind.links.iter().enumerate() {
            if self.patient.is_stopped() {
                return;
            }
            if !self.patient.join(link, uart) {
                self.note("links", Verdict::Skipped, format!("{}: not examined", uart.name));
                continue;
            }
            self.examine_link(link, uart, kind, baud);
            let other = |rate: &&u32| **rate != baud && rates_agree([clock(uart)], **rate);
            let others: Vec<u32> = others.iter().filter(other).copied().collect();
            for rate in &others {
                if self.patient.is_stopped() || !self.put_on_test_config(*rate, host_baud) {
                    return;
                }
                self.examine_link(link, uart, kind, *rate);
            }
            if !others.is_empty() && !self.put_on_test_config(baud, host_baud) {
                return;
            }
        }
    }

    fn examine_link(&mut self, link: usize, uart: &Uart, kind: &BoardKind, baud: u32) {
        let (tx, rx) = (&uart.tx, &uart.rx);
        let pins = format!("TX {} ({}) and RX {} ({})", tx.name, tx.header, rx.name, rx.header);
        // What came while someone held the wire does not count.
        self.wait(LINK / 2);
        self.ask(Query::ClearCounters, &[]);
        self.wait(LINK);
        let Some(report) = self.link(link) else {
            return self.fault("links", format!("{}: the board does not respond for it", uart.name));
        };
        let (own, counters) = (self.address, report.counters);
        let bad = counters.damaged + counters.framing_errors + counters.noise_errors + counters.overruns;
        let hears_itself = match report.peer {
            Some((_, address, port)) => address == own && usize::from(port) == link,
            // With a key a board counts its own hello, and believes it as little as any that is sent back.
            None => counters.frames_received > 0,
        };
        let (heard, damaged) = (counters.frames_received, counters.damaged);
        let at = match self.scope {
            Scope::Short => uart.name.to_string(),
            Scope::Kit(_) => format!("{} at {baud} baud", uart.name),
        };
        self.figure(format!("{at}: frames heard"), heard.into(), "frames");
        self.figure(format!("{at}: errors"), bad.into(), "");
        let mut verdict = Verdict::Fault;
        let text = match report.peer {
            _ if hears_itself && bad > 0 => format!(
                "{damaged} of {} frames are damaged; {} times without a stop bit, {} times noise, {} overruns",
                damaged + heard,
                counters.framing_errors,
                counters.noise_errors,
                counters.overruns
            ),
            _ if hears_itself && heard >= HELLOS => {
                verdict = Verdict::Good;
                format!("hears itself, {heard} frames, none damaged")
            }
            _ if hears_itself => "it hears itself now and then only".into(),
            Some((_, address, port)) if address == own => {
                let other = kind.links.get(usize::from(port));
                let other = other.map_or("another port", |uart| uart.name);
                format!("it hears {other}: the wire must join {pins}")
            }
            Some((_, address, port)) => {
                format!("port {port} of node {address} is there: unplug the cables of the mesh")
            }
            None => match self.who_hears(link, kind) {
                Some(other) => format!("what it sends arrives at {other}: the wire must join {pins}"),
                None => format!("nothing arrives: does the wire join {pins}?"),
            },
        };
        self.note("links", verdict, format!("{at}: {text}"));
    }

    fn who_hears(&mut self, link: usize, kind: &BoardKind) -> Option<&'static str> {
        let others = kind.links.iter().enumerate().filter(|(other, _)| *other != link);
        for (other, uart) in others {
            let heard = self.link(other).and_then(|report| report.peer);
            if heard.is_some_and(|(_, address, port)| (address, usize::from(port)) == (self.address, link)) {
                return Some(uart.name);
            }
        }
        None
    }

    /// Whether the board runs afterwards.
    fn examine_watchdog(&mut self) -> bool {
        let restart = self.restart(&Command::Fail(Failure::Hang));
        let runs = restart.is_some();
        match restart {
            Some((time, status)) if status.card.reset_cause == BY_WATCHDOG => {
                let seconds = time.as_secs_f64();
                self.figure("watchdog: restart", seconds, "s");
                self.good("watchdog", format!("restarts a board that hangs, after {seconds:.1} s"));
            }
            Some((_, status)) => {
                let cause = status.card.reset_cause;
                let why = format!("the board hung and was restarted by something else (cause {cause})");
                self.fault("watchdog", why);
            }
            None => self.fault("watchdog", "it does not restart a board that hangs".into()),
        }
        runs
    }

    fn examine_stack(&mut self) {
        let Some((_, status)) = self.restart(&Command::Fail(Failure::StackOverflow)) else {
            return self.fault("stack", "an overflow does not restart the board".into());
        };
        match status.fault.as_deref() {
            Some("stack overflow") => self.good("stack", "an overflow is noticed".into()),
            other => {
                let said = other.unwrap_or("nothing").to_string();
                let why = format!("an overflow is not noticed as one; the board says: {said}");
                self.fault("stack", why);
            }
        }
        // The board looks through its stack a little at a time.
        self.wait(Duration::from_secs(3));
        let free = self.status().map_or(0, |status| status.card.stack_free);
        self.figure("stack: never used", free.into(), "bytes");
        match free >= FREE_STACK {
            true => self.good("stack", format!("{free} bytes were never used")),
            false => self.fault("stack", format!("only {free} bytes were never used")),
        }
    }
}
