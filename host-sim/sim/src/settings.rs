//! The settings of a run: the options of the command and the keys of a scenario file are the same words.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use hopwise_core::Network;
use hopwise_core::limits::MAX_PAYLOAD;
use hopwise_emulator::world::parse_time;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::oracle::LEAST_PAYLOAD;
use super::run::Plan;
use super::script::{Script, on_one_line};
use super::traffic::Traffic;
use super::wire::{Nanos, Noise};
use super::world::Build;
use hopwise_networks::refusal::Refusal;

/// Traffic takes this share of one wire for each node unless told otherwise.
const DEFAULT_LOAD: f64 = 0.1;
/// What a packet costs on the wire besides its payload, about.
const OVERHEAD_BYTES: f64 = 30.0;
const DEFAULT_PACKETS: u64 = 1_000;
const DEFAULT_PAYLOAD: usize = 32;
const DEFAULT_BAUD: u32 = 1_000_000;
const DEFAULT_BURST_BITS: u32 = 16;
/// Links need some time to come up before there is traffic.
const BEGIN: Nanos = 500_000_000;

/// What is simulated. What is not said has its default.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// The network, as an expression such as 'rdn(ring(3),1)'; or a scenario file, whose name ends in .toml
    #[arg(value_name = "EXPR|FILE.toml", required = true)]
    pub network: Option<String>,
    /// Who sends to whom [default: uniform]
    #[arg(long, value_enum)]
    pub traffic: Option<Traffic>,
    /// How many packets in all [default: each pair once for ping-all and all-to-all, each node once for broadcasts, otherwise
    /// 1000]
    #[arg(long, value_name = "N")]
    pub packets: Option<u64>,
    /// Confirmed packets instead of datagrams
    #[arg(long)]
    pub confirmed: bool,
    /// Bytes of each packet's payload [default: 32]
    #[arg(long, value_name = "BYTES")]
    pub payload: Option<usize>,
    /// Packets a second of each node [default: a tenth of what a wire carries]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<f64>,
    /// Speed of the wires, in bits a second [default: 1000000]
    #[arg(long)]
    pub baud: Option<u32>,
    /// From the last byte of a frame to the node's looking at it [default: 0s]
    #[arg(long, value_name = "TIME")]
    pub processing: Option<Time>,
    /// The chance of each bit to be flipped
    #[arg(long, value_name = "P")]
    pub ber: Option<f64>,
    /// The chance of each byte to begin a burst of random bits
    #[arg(long, value_name = "P")]
    pub bursts: Option<f64>,
    /// How many bits a burst has [default: 16]
    #[arg(long, value_name = "BITS")]
    pub burst_bits: Option<u32>,
    /// The chance of each byte to be lost
    #[arg(long, value_name = "P")]
    pub lost_bytes: Option<f64>,
    /// The chance of each byte to have a random one inserted before it
    #[arg(long, value_name = "P")]
    pub inserted_bytes: Option<f64>,
    /// The chance of each byte to come twice
    #[arg(long, value_name = "P")]
    pub doubled_bytes: Option<f64>,
    /// A cable is pulled this often, for 0.7 s
    #[arg(long, value_name = "TIME")]
    pub pull_every: Option<Time>,
    /// A board is reset this often, and off for 0.3 s
    #[arg(long, value_name = "TIME")]
    pub reset_every: Option<Time>,
    /// What happens to boards and cables, one event a line: "2s cut 3.0" pulls the cable at port 0 of node 3, "2s off 3" switches
    /// node 3 off; also plug, one-way, both-ways, stuck, break, noise, quiet, swap, reset, on
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// The same, said here and separated by semicolons
    #[arg(long, value_name = "EVENTS")]
    pub events: Option<String>,
    /// Decides all that happens by chance [default: 1]
    #[arg(long)]
    pub seed: Option<u64>,
}

/// A time such as `1.5s`, `20ms` or `300us`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Time(pub Nanos);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_time(text).map(|picoseconds| Time((picoseconds + 500) / 1_000))
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            nanos if nanos.is_multiple_of(1_000_000_000) => write!(f, "{}s", nanos / 1_000_000_000),
            nanos if nanos.is_multiple_of(1_000_000) => write!(f, "{}ms", nanos / 1_000_000),
            nanos => write!(f, "{}us", nanos as f64 / 1e3),
        }
    }
}

impl From<Time> for String {
    fn from(time: Time) -> String {
        time.to_string()
    }
}

impl Settings {
    /// Of names and values.
    pub fn of(table: &Map<String, Value>) -> Result<Self, serde_json::Error> {
        Settings::deserialize(Value::Object(table.clone()))
    }

    /// What is said, by name.
    pub fn table(&self) -> Map<String, Value> {
        let said = |value: &Value| !value.is_null() && *value != Value::Bool(false);
        match serde_json::to_value(self) {
            Ok(Value::Object(table)) => table.into_iter().filter(|(_, value)| said(value)).collect(),
            _ => Map::new(),
        }
    }

    /// The command that does the same.
    pub fn command(&self) -> String {
        let mut table = self.table();
        let network = table
            .remove("network")
            .map_or(String::new(), |network| quoted(&network));
        let events = self
            .events
            .as_deref()
            .map(on_one_line)
            .filter(|events| !events.is_empty());
        table.remove("events");
        table.extend(events.map(|events| ("events".into(), events.into())));
        let options = table.iter().map(|(name, value)| match value {
            Value::Bool(_) => format!(" --{name}"),
            value => format!(" --{name} {}", quoted(value)),
        });
        format!("hopwise sim {network}{}", options.collect::<String>())
    }

    /// What they come to, if they make sense.
    pub fn plan(&self) -> Result<Plan, Refusal> {
        let network = self.read_network()?;
        let nodes = network.nodes();
        let payload = self.payload.unwrap_or(DEFAULT_PAYLOAD);
        let baud = self.baud.unwrap_or(DEFAULT_BAUD);
        let line_rate = f64::from(baud) / 10.0 / (payload as f64 + OVERHEAD_BYTES);
        let traffic = self.traffic.unwrap_or(Traffic::Uniform);
        let plan = Plan {
            build: Build {
                network,
                baud,
                processing: self.processing.unwrap_or_default().0,
                noise: self.noise()?,
                seed: self.seed.unwrap_or(1),
            },
            traffic,
            packets: self.packets.unwrap_or(match traffic {
                Traffic::PingAll | Traffic::AllToAll => nodes * (nodes - 1),
                Traffic::BroadcastAll | Traffic::BroadcastStorm => nodes,
                _ => DEFAULT_PACKETS,
            }),
            confirmed: self.confirmed,
            payload,
            rate: self.rate.unwrap_or(DEFAULT_LOAD * line_rate),
            pull_every: self.pull_every.map(|Time(every)| every),
            reset_every: self.reset_every.map(|Time(every)| every),
            script: self.read_script(&network)?,
            begin: BEGIN,
        };
        check(&plan).map(|()| plan).map_err(Refusal::Sim)
    }

    fn read_network(&self) -> Result<Network, Refusal> {
        let Some(expression) = &self.network else {
            return Err(Refusal::Sim("no network is given".into()));
        };
        let network: Network = expression.parse().map_err(|error| Refusal::Expression {
            expression: expression.clone(),
            error,
        })?;
        let nodes = network.nodes();
        if !(2..=1_000_000).contains(&nodes) {
            let what = format!("{network} has {nodes} nodes: from 2 to 1000000 can be simulated");
            return Err(Refusal::Sim(what));
        }
        // Exact searches may take what a host has to spare.
        Ok(network.with_search_memory(usize::MAX))
    }

    fn noise(&self) -> Result<Noise, Refusal> {
        let chance = |name: &str, chance: Option<f64>| match chance.unwrap_or(0.0) {
            chance if (0.0..=1.0).contains(&chance) => Ok(chance),
            chance => Err(Refusal::Sim(format!("{name} is a chance from 0 to 1, not {chance}"))),
        };
        Ok(Noise {
            bit_errors: chance("ber", self.ber)?,
            bursts: chance("bursts", self.bursts)?,
            burst_bits: self.burst_bits.unwrap_or(DEFAULT_BURST_BITS),
            lost: chance("lost-bytes", self.lost_bytes)?,
            inserted: chance("inserted-bytes", self.inserted_bytes)?,
            duplicated: chance("doubled-bytes", self.doubled_bytes)?,
        })
    }

    fn read_script(&self, network: &Network) -> Result<Script, Refusal> {
        let parse = |text: &str, from: &str| {
            Script::parse(text, network).map_err(|error| Refusal::Sim(format!("{from} {error}")))
        };
        let said = parse(self.events.as_deref().unwrap_or(""), "events,")?;
        let Some(path) = &self.script else { return Ok(said) };
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| Refusal::Sim(format!("{name}: {error}")))?;
        Ok(parse(&text, &name)?.and(said))
    }
}

fn check(plan: &Plan) -> Result<(), String> {
    let Plan {
        build,
        packets,
        payload,
        rate,
        ..
    } = plan;
    if !(LEAST_PAYLOAD..=MAX_PAYLOAD).contains(payload) {
        return Err(format!(
            "a payload has from {LEAST_PAYLOAD} to {MAX_PAYLOAD} bytes, not {payload}"
        ));
    }
    if !(1_200..=50_000_000).contains(&build.baud) {
        return Err(format!(
            "a wire has from 1200 to 50000000 bits a second, not {}",
            build.baud
        ));
    }
    if !(*rate > 0.0 && *rate <= 1e6) {
        return Err(format!(
            "rate is a number of packets a second up to 1000000, not {rate}"
        ));
    }
    for (name, time) in [("pull-every", plan.pull_every), ("reset-every", plan.reset_every)] {
        if time == Some(0) {
            return Err(format!("{name} is a time above 0"));
        }
    }
    if *packets > u64::from(u32::MAX) {
        return Err(format!("at most {} packets can be followed", u32::MAX));
    }
    Ok(())
}

/// A value as a shell takes it.
fn quoted(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.,/".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use proptest::prelude::*;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: Settings,
    }

    /// What a shell makes of a command whose words are plain or in single quotes.
    fn words(command: &str) -> Vec<String> {
        let (mut words, mut word, mut inside) = (Vec::new(), String::new(), false);
        let mut letters = command.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\'' => inside = !inside,
                '\\' if !inside => word.extend(letters.next()),
                ' ' if !inside => words.push(std::mem::take(&mut word)),
                letter => word.push(letter),
            }
        }
        words.push(word);
        words
    }

    proptest! {
        #[test]
        fn a_time_is_written_as_it_is_read(nanos in 0..1_000_000_000_000_u64) {
            prop_assert_eq!(Time(nanos).to_string().parse(), Ok(Time(nanos)));
        }

        /// Whatever was set, the command that is printed when a promise is broken sets the same.
        #[test]
        fn the_command_says_it_all(
            numbers: (Option<u64>, Option<usize>, Option<u32>, Option<u64>),
            chances: (Option<f64>, Option<f64>),
            times in (proptest::option::of(0..u64::MAX / 1_000_000), proptest::option::of(0..1_000_000_000_u64)),
            confirmed: bool,
            script in proptest::option::of("[a-z' /]{1,12}"),
            event in proptest::option::of((0..18_u8, 0..3_u8)),
        ) {
            let finite = |chance: Option<f64>| chance.filter(|chance| chance.is_finite()).map(f64::abs);
            let events = event.map(|(board, port)| format!("1s cut {board}.{port} # it's; not all\n\n2s off {board}"));
            let settings = Settings {
                network: Some("rdn(ring(3),1)".into()),
                traffic: Some(Traffic::PingAll),
                packets: numbers.0,
                payload: numbers.1,
                baud: numbers.2,
                seed: numbers.3,
                confirmed,
                ber: finite(chances.0),
                rate: finite(chances.1),
                pull_every: times.1.map(Time),
                reset_every: times.0.map(|seconds| Time(seconds % 1_000 * 1_000_000_000)),
                script: script.filter(|script| !script.starts_with('-')).map(PathBuf::from),
                events,
                ..Settings::default()
            };
            let words = words(&settings.command());
            prop_assert_eq!(&words[..2], ["hopwise", "sim"]);
            let parsed = Line::try_parse_from(&words[1..]);
            prop_assert!(parsed.is_ok(), "{:?}: {}", words, parsed.err().map_or(String::new(), |error| error.to_string()));
            let again = parsed.map(|line| line.settings).unwrap_or_default();
            let normal = |events: &Option<String>| events.as_deref().map(on_one_line);
            prop_assert_eq!(normal(&again.events), normal(&settings.events));
            prop_assert_eq!(Settings { events: None, ..again }, Settings { events: None, ..settings });
        }
    }

    #[test]
    fn settings_out_of_range_are_refused_in_a_sentence() {
        let base = Settings {
            network: Some("ring(4)".into()),
            ..Settings::default()
        };
        let refusal = |settings: Settings| settings.plan().err().map(|refusal| refusal.to_string());
        assert_eq!(refusal(base.clone()), None);
        for (settings, sentence) in [
            (
                Settings {
                    network: None,
                    ..base.clone()
                },
                "no network is given",
            ),
            (
                Settings {
                    payload: Some(500),
                    ..base.clone()
                },
                "a payload has from 4 to 200 bytes, not 500",
            ),
            (
                Settings {
                    baud: Some(5),
                    ..base.clone()
                },
                "a wire has from 1200 to 50000000 bits a second, not 5",
            ),
            (
                Settings {
                    ber: Some(1.5),
                    ..base.clone()
                },
                "ber is a chance from 0 to 1, not 1.5",
            ),
            (
                Settings {
                    pull_every: Some(Time(0)),
                    ..base.clone()
                },
                "pull-every is a time above 0",
            ),
            (
                Settings {
                    rate: Some(0.0),
                    ..base.clone()
                },
                "rate is a number of packets a second up to 1000000, not 0",
            ),
            (
                Settings {
                    events: Some("1s cut 0.0\n2s off 4".into()),
                    ..base.clone()
                },
                "events, line 2: ring(4): there is no node 4: the network has nodes 0 to 3",
            ),
        ] {
            assert_eq!(refusal(settings).as_deref(), Some(sentence));
        }
    }
}
