//! The report of a run, as JSON and as text.

use hopwise_figures::Spread;
use hopwise_node::wire::DropReason;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::oracle::{Exception, Service, Tally};
use super::run::{Account, SimRun};
use super::settings::Settings;

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub network: String,
    pub nodes: u64,
    pub seed: u64,
    pub settings: Map<String, Value>,
    #[serde(flatten)]
    pub tally: Tally,
    pub services: Map<String, Value>,
    pub exceptions: Map<String, Value>,
    pub rogues: Vec<String>,
    pub refused: u64,
    pub longest_refusal_us: u64,
    pub link_events: u64,
    pub drops: Map<String, Value>,
    pub frames: u64,
    pub retransmissions: u64,
    pub detours: u64,
    pub links_up: u64,
    pub link_down_us: Option<f64>,
    pub failover_p99_us: Option<f64>,
    pub latency_mean_us: Option<f64>,
    pub latency_p99_us: Option<f64>,
    pub buffers_used: u32,
    pub virtual_seconds: f64,
    pub wall_seconds: f64,
    pub trace_sha256: String,
    pub violation: Option<String>,
    /// That no fault met any traffic, if so.
    #[serde(skip)]
    pub remark: Option<String>,
}

impl Report {
    /// Of a run by some settings, and how long it took.
    pub fn new(settings: &Settings, run: &SimRun, account: &Account, wall_seconds: f64) -> Self {
        let tally = &account.tally;
        let spread = |times: &[u64]| Spread::of(times.iter().map(|&nanos| nanos as f64 / 1e3).collect());
        let latency = spread(&account.latencies);
        let drops = DropReason::ALL.iter().map(|reason| reason.name());
        let broken = account.violation.as_ref().map(|violation| {
            let seconds = violation.at as f64 / 1e9;
            let command = settings.command();
            format!(
                "at {seconds:.6} s node {}: {}; to see it again: {command}",
                violation.node, violation.what
            )
        });
        Report {
            network: run.build.network.to_string(),
            nodes: run.build.network.nodes(),
            seed: run.build.seed,
            settings: settings.table(),
            tally: *tally,
            services: counted(Service::ALL.iter().map(|service| service.name()).zip(tally.services)),
            exceptions: counted(
                Exception::ALL
                    .iter()
                    .map(|exception| exception.name())
                    .zip(tally.exceptions),
            ),
            rogues: run.build.faulty_boards.iter().map(ToString::to_string).collect(),
            refused: account.refused,
            longest_refusal_us: account.longest_refusal / 1_000,
            link_events: account.link_events,
            drops: counted(drops.zip(account.drops.iter().copied())),
            frames: account.frames,
            retransmissions: account.retransmissions,
            detours: account.detours,
            links_up: account.links_up,
            link_down_us: account.link_down.map(|nanos| nanos as f64 / 1e3),
            failover_p99_us: spread(&account.failovers).map(|failover| failover.p99),
            latency_mean_us: latency.map(|latency| latency.mean),
            latency_p99_us: latency.map(|latency| latency.p99),
            buffers_used: account.buffers_used,
            virtual_seconds: account.virtual_seconds,
            wall_seconds,
            trace_sha256: account.trace_sha256.clone(),
            violation: broken,
            remark: remark(account),
        }
    }

    /// Takes another run of the same settings, but for the seed, into this one's [`row`](Self::row).
    fn add(&mut self, other: &Report) {
        self.settings.remove("seed");
        let (sum, more) = (&mut self.tally, &other.tally);
        sum.sent += more.sent;
        sum.delivered += more.delivered;
        sum.undeliverable += more.undeliverable;
        sum.interrupted += more.interrupted;
        sum.lost += more.lost;
        sum.duplicated += more.duplicated;
        sum.corrupted += more.corrupted;
        self.retransmissions += other.retransmissions;
        let worst = [self.latency_p99_us, other.latency_p99_us].into_iter().flatten();
        self.latency_p99_us = worst.reduce(f64::max);
        self.virtual_seconds += other.virtual_seconds;
        if self.violation.is_none() {
            self.violation.clone_from(&other.violation);
        }
    }

    /// Names and values for people.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let latency = self.latency_mean_us.zip(self.latency_p99_us);
        let cut_off = match self.tally.cut_off {
            0 => String::new(),
            count => format!(", {count} of them where no path leads"),
        };
        let remark = self.remark.iter().map(|remark| ("faults", remark.clone()));
        let facts = [
            ("sent", self.tally.sent.to_string()),
            ("delivered", self.tally.delivered.to_string()),
            ("undeliverable", format!("{}{cut_off}", self.tally.undeliverable)),
            ("interrupted", self.tally.interrupted.to_string()),
            ("lost", self.tally.lost.to_string()),
            ("duplicated", self.tally.duplicated.to_string()),
            ("corrupted", self.tally.corrupted.to_string()),
            ("failure reasons", listed(&self.exceptions)),
            ("dropped by nodes", listed(&self.drops)),
            (
                "latency",
                latency.map_or("none".into(), |(mean, p99)| {
                    format!("mean {mean:.0} us, 99% within {p99:.0} us")
                }),
            ),
            ("frames", self.frames.to_string()),
            ("retransmissions", self.retransmissions.to_string()),
            ("detours", self.detours.to_string()),
            (
                "links came up",
                format!("{} times, counted at both ends", self.links_up),
            ),
            ("buffers used", format!("{} at most in a node", self.buffers_used)),
            ("virtual time", format!("{:.3} s", self.virtual_seconds)),
            ("wall time", format!("{:.3} s", self.wall_seconds)),
            ("trace hash", self.trace_sha256.clone()),
        ];
        let rogues = (!self.rogues.is_empty()).then(|| {
            [
                ("faulty nodes", self.rogues.join(", ")),
                (
                    "between honest boards",
                    format!(
                        "{} of {} arrived",
                        self.tally.innocent_delivered, self.tally.innocent_sent
                    ),
                ),
                ("forged", self.tally.forged.to_string()),
                ("taken from faulty nodes", self.tally.forged_accepted.to_string()),
            ]
        });
        let down = self
            .link_down_us
            .map(|us| ("outages noticed", format!("within {us:.0} us")));
        let failover = self.failover_p99_us;
        let failover = failover.map(|us| ("traffic went on", format!("99% of flows within {us:.0} us")));
        let rogues = rogues.into_iter().flatten();
        facts
            .into_iter()
            .chain(down)
            .chain(failover)
            .chain(rogues)
            .chain(remark)
            .collect()
    }

    /// The titles of [`row`](Self::row).
    pub const TITLES: &str =
        "sent|delivered|undeliverable|interrupted|lost|duplicated|corrupted|retransmissions|p99 us|virtual s|verdict";

    pub fn row(&self) -> Vec<String> {
        vec![
            self.tally.sent.to_string(),
            self.tally.delivered.to_string(),
            self.tally.undeliverable.to_string(),
            self.tally.interrupted.to_string(),
            self.tally.lost.to_string(),
            self.tally.duplicated.to_string(),
            self.tally.corrupted.to_string(),
            self.retransmissions.to_string(),
            self.latency_p99_us.map_or("-".into(), |p99| format!("{p99:.0}")),
            format!("{:.2}", self.virtual_seconds),
            if self.violation.is_some() {
                "broken".into()
            } else {
                "kept".into()
            },
        ]
    }
}

/// That faults came too late, if so.
fn remark(account: &Account) -> Option<String> {
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    let fault = account.first_fault.filter(|&fault| fault > account.last_traffic)?;
    let (end, fault) = (seconds(account.last_traffic), seconds(fault));
    Some(format!(
        "no fault met any traffic: it was over at {end:.3} s, and the first fault came at {fault:.3} s; --for 10s sends for longer"
    ))
}

fn counted(names: impl Iterator<Item = (&'static str, u64)>) -> Map<String, Value> {
    let counted = names.filter(|&(_, count)| count > 0);
    counted.map(|(name, count)| (name.into(), json!(count))).collect()
}

/// Names and their counts on a line.
fn listed(counts: &Map<String, Value>) -> String {
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    if counts.is_empty() {
        "none".into()
    } else {
        counts.join(", ")
    }
}

/// Runs that differ only in the seed, as one.
pub fn summed(reports: &[Report]) -> Vec<Report> {
    let unseeded = |report: &Report| {
        let mut settings = report.settings.clone();
        settings.remove("seed");
        settings
    };
    let mut sums: Vec<Report> = Vec::new();
    for report in reports {
        match sums.iter_mut().find(|sum| unseeded(sum) == unseeded(report)) {
            Some(sum) => sum.add(report),
            None => sums.push(report.clone()),
        }
    }
    sums
}
