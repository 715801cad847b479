//! The settings of a run: the options of the command and the keys of a scenario file are the same words.

use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use hopwise_core::{Network, Node, ParseError};
use hopwise_language::script::{PortName, Stage, on_one_line};
use hopwise_language::{Destinations, Script, Time, Traffic};
use hopwise_node::key::{KEY_BYTES, Key, Secret};
use hopwise_node::limits::MAX_PAYLOAD;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::faulty_node::FaultyBoard;
use super::oracle::LEAST_PAYLOAD;
use super::run::SimRun;
use super::stage::Mesh;
use super::wire::{Nanos, Noise};
use super::world::{Build, WireEnd};

/// Traffic takes this share of one wire for each node unless told otherwise.
const DEFAULT_LOAD: f64 = 0.1;
/// What a packet costs on the wire besides its payload, about.
const OVERHEAD_BYTES: f64 = 30.0;
const DEFAULT_PACKETS: u64 = 1_000;
const DEFAULT_PAYLOAD: usize = 32;
const DEFAULT_BAUD: u32 = 1_000_000;
const DEFAULT_BURST_BITS: u32 = 16;
const BAUDS: RangeInclusive<u32> = 1_200..=50_000_000;
/// No board's clock is worse, in parts of a million.
const MAX_DRIFT: f64 = 10_000.0;
/// Boards that are later lose their links, and nothing is guaranteed.
const MAX_JITTER: Nanos = 10_000_000;
/// More nodes do not fit a host.
const MAX_NODES: u64 = 1_000_000;
/// No script is that long.
const MAX_SCRIPT: u64 = 64 << 20;
/// Links need some time to come up before there is traffic.
const BEGIN: Nanos = 500_000_000;

/// The settings of a simulation. Missing ones have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Settings {
    /// The network, as an expression such as `rdn(ring(3),1)`.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub network: Option<String>,
    /// Where packets go: uniform, neighbors, all-to-all, ping-all, permutation, transpose, bit-complement, bit-reverse,
    /// shuffle, tornado, hot-spot, hot-spot(NODE,SHARE), broadcast, broadcast-storm (default: uniform)
    #[cfg_attr(feature = "clap", arg(long))]
    pub traffic: Option<Traffic>,
    /// The total number of packets (default: each pair once for ping-all and all-to-all, each node once for broadcasts, otherwise
    /// 1000)
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub packets: Option<u64>,
    /// Send for this long instead of a number of packets
    #[serde(rename = "for")]
    #[cfg_attr(feature = "clap", arg(long = "for", value_name = "TIME"))]
    pub duration: Option<Time>,
    /// Confirmed packets instead of datagrams
    #[cfg_attr(feature = "clap", arg(long))]
    pub confirmed: bool,
    /// A random service for each packet: datagram, confirmed, broadcast, or a request: ping, trace, identity, counters, link,
    /// clear-counters
    #[cfg_attr(feature = "clap", arg(long))]
    pub mixed: bool,
    /// Bytes of each packet's payload (default: 32)
    #[cfg_attr(feature = "clap", arg(long, value_name = "BYTES"))]
    pub payload: Option<usize>,
    /// Packets a second of each node (default: a tenth of what a wire carries)
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE"))]
    pub rate: Option<f64>,
    /// Speed of the wires, in bits a second (default: 1000000)
    #[cfg_attr(feature = "clap", arg(long))]
    pub baud: Option<u32>,
    /// From the last byte of a frame until the node processes it (default: 0s)
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub processing: Option<Time>,
    /// Boards' clocks are off by up to this many parts in a million, and begin anywhere (default: all the same)
    #[cfg_attr(feature = "clap", arg(long, value_name = "PPM"))]
    pub drift: Option<f64>,
    /// Timers are late by up to this, and frames are processed late by up to this (default: 0s)
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub jitter: Option<Time>,
    /// The probability that a bit is flipped
    #[cfg_attr(feature = "clap", arg(long, value_name = "P"))]
    pub ber: Option<f64>,
    /// The probability that a byte begins a burst of random bits
    #[cfg_attr(feature = "clap", arg(long, value_name = "P"))]
    pub bursts: Option<f64>,
    /// How many bits a burst has (default: 16)
    #[cfg_attr(feature = "clap", arg(long, value_name = "BITS"))]
    pub burst_bits: Option<u32>,
    /// The probability that a byte is lost
    #[cfg_attr(feature = "clap", arg(long, value_name = "P"))]
    pub lost_bytes: Option<f64>,
    /// The probability that a random byte is inserted before a byte
    #[cfg_attr(feature = "clap", arg(long, value_name = "P"))]
    pub inserted_bytes: Option<f64>,
    /// The probability that a byte arrives twice
    #[cfg_attr(feature = "clap", arg(long, value_name = "P"))]
    pub doubled_bytes: Option<f64>,
    /// A cable is pulled this often, for 1 ms to 5 s
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub pull_every: Option<Time>,
    /// A board is reset this often, and off for 1 ms to 5 s
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub reset_every: Option<Time>,
    /// Boards with a host at their serial port, which sends requests to any node as often as nodes send
    #[cfg_attr(feature = "clap", arg(long, alias = "computer", value_name = "NODE,..."))]
    #[serde(alias = "computer")]
    pub host: Option<String>,
    /// A host is detached this often, and another attached after 1 ms to 5 s
    #[cfg_attr(feature = "clap", arg(long, alias = "leave-every", value_name = "TIME"))]
    #[serde(alias = "leave-every")]
    pub detach_host_every: Option<Time>,
    /// Restore everything in the end, and check that all links come up, every service works and no node holds anything
    #[cfg_attr(feature = "clap", arg(long))]
    pub restore: bool,
    /// Applications read their messages up to this much later (default: at once)
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME"))]
    pub read_late: Option<Time>,
    /// What happens to boards and cables, one event per line: "2s cut 3.0" pulls the cable at port 0 of node 3, "2s off 3" switches
    /// node 3 off; also plug, one-way, both-ways, reverse, stuck, break, noise, quiet, burst, swap, reset, on
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub script: Option<PathBuf>,
    /// The same on the command line, separated by semicolons
    #[cfg_attr(feature = "clap", arg(long, value_name = "EVENTS"))]
    pub events: Option<String>,
    /// Boards that misbehave: babble (random bytes), flood (as many packets of their own as the line takes), refuse (refuse every
    /// packet), mute (never acknowledge), flap (restart all the time), lie (forge packets), hole (drop what they should forward), replay (resend earlier packets)
    #[cfg_attr(feature = "clap", arg(long, value_name = "NODE:KIND,..."))]
    pub rogue: Option<String>,
    /// The boards have a key, made from this word, and encrypt if it ends in +encrypt; those that misbehave have none, unless told otherwise
    #[cfg_attr(feature = "clap", arg(long, value_name = "WORD"))]
    pub key: Option<String>,
    /// Boards that misbehave have the key, too
    #[cfg_attr(feature = "clap", arg(long))]
    pub rogue_has_key: bool,
    /// An attacker without a key on the cables at these ports, who listens, replays, changes, joins and forges frames
    #[cfg_attr(feature = "clap", arg(long, value_name = "NODE.PORT,..."))]
    pub tap: Option<String>,
    /// Decides everything that is random (default: 1)
    #[cfg_attr(feature = "clap", arg(long))]
    pub seed: Option<u64>,
}

impl Settings {
    /// Of names and values.
    pub fn of(table: &Map<String, Value>) -> Result<Self, serde_json::Error> {
        Settings::deserialize(Value::Object(table.clone()))
    }

    /// What is said, by name.
    pub fn table(&self) -> Map<String, Value> {
        said(self)
    }

    pub fn command(&self) -> String {
        let mut table = self.table();
        let network = table
            .remove("network")
            .map_or(String::new(), |network| quoted(&network));
        let events = self.events.as_deref().map(on_one_line);
        let events = events.filter(|events| !events.is_empty());
        table.remove("events");
        table.extend(events.map(|events| ("events".into(), events.into())));
        let options = table.iter().map(|(name, value)| match value {
            Value::Bool(_) => format!(" --{name}"),
            value => format!(" --{name} {}", quoted(value)),
        });
        format!("hopwise sim {network}{}", options.collect::<String>())
    }

    pub fn run(&self) -> Result<SimRun, BadSettings> {
        let network = self.read_network()?;
        let nodes = network.nodes();
        let payload = self.payload.unwrap_or(DEFAULT_PAYLOAD);
        let baud = self.baud.unwrap_or(DEFAULT_BAUD);
        let line_rate = f64::from(baud) / 10.0 / (payload as f64 + OVERHEAD_BYTES);
        let traffic = self.traffic.unwrap_or(Traffic::Uniform);
        let can_make = |traffic| traffic != Traffic::UniformWithSelf;
        let traffic = traffic.for_user("a simulation", can_make).map_err(bad)?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let destinations = Destinations::new(traffic, &network, &mut rng).map_err(bad)?;
        if (0..nodes as u32).all(|node| destinations.only_to_itself(node)) {
            let why = format!("in {network}, {traffic} traffic is from every node to itself");
            return Err(bad(why));
        }
        let run = SimRun {
            build: Build {
                network,
                baud,
                processing: self.processing.unwrap_or_default().nanos(),
                noise: self.noise()?,
                drift: self.drift,
                jitter: self.jitter.unwrap_or_default().nanos(),
                seed: self.seed.unwrap_or(1),
                faulty_boards: self.faulty_boards(&network)?,
                key: self.key.as_deref().map(secret).transpose()?,
                rogue_has_key: self.rogue_has_key,
                taps: self.taps(&network)?,
                hosts: self.hosts(&network)?,
            },
            traffic,
            packets: self.packets.unwrap_or(match traffic {
                _ if self.duration.is_some() => u64::from(u32::MAX),
                Traffic::PingAll | Traffic::AllToAll => nodes * (nodes - 1),
                traffic if traffic.is_broadcast() => nodes,
                _ => DEFAULT_PACKETS,
            }),
            duration: self.duration.map(Time::nanos),
            confirmed: self.confirmed,
            mixed: self.mixed,
            payload,
            rate: self.rate.unwrap_or(DEFAULT_LOAD * line_rate),
            pull_every: self.pull_every.map(Time::nanos),
            reset_every: self.reset_every.map(Time::nanos),
            detach_host_every: self.detach_host_every.map(Time::nanos),
            script: self.read_script(network)?,
            restore: self.restore,
            read_late: self.read_late.map(Time::nanos),
            begin: BEGIN,
        };
        if self.rogue_has_key && (self.key.is_none() || self.rogue.is_none()) {
            return Err(bad("rogue-has-key is of use only with rogue and key"));
        }
        check(&run)?;
        Ok(run)
    }

    fn read_network(&self) -> Result<Network, BadSettings> {
        let no_network = || bad("no network is given");
        let expression = self.network.as_ref().ok_or_else(no_network)?;
        let parsed: Result<Network, ParseError> = expression.parse();
        let network = parsed.map_err(|error| bad(format!("'{expression}' is not a network: {error}")))?;
        let nodes = network.nodes();
        if !(2..=MAX_NODES).contains(&nodes) {
            let why = format!("{network} has {nodes} nodes: from 2 to {MAX_NODES} can be simulated");
            return Err(bad(why));
        }
        // Exact searches may take what a host has to spare.
        Ok(network.with_search_memory(usize::MAX))
    }

    fn noise(&self) -> Result<Noise, BadSettings> {
        let chance = |name: &str, chance: Option<f64>| match chance.unwrap_or(0.0) {
            chance if (0.0..=1.0).contains(&chance) => Ok(chance),
            chance => Err(bad(format!("{name} is a chance from 0 to 1, not {chance}"))),
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

    fn faulty_boards(&self, network: &Network) -> Result<Vec<FaultyBoard>, BadSettings> {
        let mut faulty_boards: Vec<FaultyBoard> = Vec::new();
        for text in self.rogue.iter().flat_map(|faulty_boards| faulty_boards.split(',')) {
            let faulty: FaultyBoard = text.parse().map_err(bad)?;
            let known = network.check(faulty.node);
            known.map_err(|error| bad(format!("rogue: {error}")))?;
            if faulty_boards.iter().any(|other| other.node == faulty.node) {
                let why = format!("node {} is named twice as a faulty node", faulty.node);
                return Err(bad(why));
            }
            faulty_boards.push(faulty);
        }
        if faulty_boards.len() as u64 + 2 > network.nodes() && !faulty_boards.is_empty() {
            return Err(bad("at least two boards must be honest"));
        }
        Ok(faulty_boards)
    }

    fn taps(&self, network: &Network) -> Result<Vec<WireEnd>, BadSettings> {
        let mesh = Mesh(*network);
        let read = |text: &str| {
            let port: Result<PortName, _> = text.trim().parse();
            let form = |_| {
                format!(
                    "'{}' is not a port: write NODE.PORT[,...], such as 3.0,5.1",
                    short(text)
                )
            };
            let end = port
                .map_err(form)
                .and_then(|port| mesh.port(port).map_err(|error| error.to_string()));
            end.map_err(|why| bad(format!("tap: {why}")))
        };
        self.tap.iter().flat_map(|taps| taps.split(',')).map(read).collect()
    }

    fn hosts(&self, network: &Network) -> Result<Vec<Node>, BadSettings> {
        let mut boards: Vec<Node> = Vec::new();
        for text in self.host.iter().flat_map(|hosts| hosts.split(',')) {
            let form = |_| format!("'{}' is not a node: write NODE[,...], such as 3,5", short(text));
            let named: Result<Node, String> = text.trim().parse().map_err(form);
            let known = named.and_then(|board| network.check(board).map_err(|error| error.to_string()));
            let board = known.map_err(|why| bad(format!("host: {why}")))?;
            if boards.contains(&board) {
                let why = format!("node {board} is named twice as the board of a host");
                return Err(bad(why));
            }
            boards.push(board);
        }
        let faulty_boards = self.faulty_boards(network)?;
        if let Some(faulty) = faulty_boards.iter().find(|faulty| boards.contains(&faulty.node)) {
            let why = format!("node {} is a faulty node, which has no host", faulty.node);
            return Err(bad(why));
        }
        if self.detach_host_every.is_some() && boards.is_empty() {
            return Err(bad("detach-host-every needs a host: --host NODE"));
        }
        Ok(boards)
    }

    fn read_script(&self, network: Network) -> Result<Script<WireEnd>, BadSettings> {
        let mesh = Mesh(network);
        let parse = |text: &str| Script::parse(text)?.resolve(&mesh);
        let said = parse(self.events.as_deref().unwrap_or(""));
        let said = said.map_err(|error| bad(format!("events, {error}")))?;
        let Some(path) = &self.script else { return Ok(said) };
        let name = path.display();
        // Not by hopwise-files, which is not made for a browser.
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_SCRIPT + 1).read_to_string(&mut text));
        read.map_err(|error| bad(format!("{name}: {error}")))?;
        if text.len() as u64 > MAX_SCRIPT {
            return Err(bad(format!("{name}: it has more than {MAX_SCRIPT} bytes")));
        }
        let script = parse(&text).map_err(|error| bad(format!("{name} {error}")))?;
        Ok(script.and(said))
    }
}

/// What is said by some settings, by name.
pub fn said(settings: &impl Serialize) -> Map<String, Value> {
    let is_said = |value: &Value| !value.is_null() && *value != Value::Bool(false);
    match serde_json::to_value(settings) {
        Ok(Value::Object(table)) => table.into_iter().filter(|(_, value)| is_said(value)).collect(),
        _ => Map::new(),
    }
}

/// Why settings make no run: a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadSettings(String);

fn bad(why: impl ToString) -> BadSettings {
    BadSettings(why.to_string())
}

fn check(run: &SimRun) -> Result<(), BadSettings> {
    let Build {
        baud, drift, jitter, ..
    } = run.build;
    if !(LEAST_PAYLOAD..=MAX_PAYLOAD).contains(&run.payload) {
        // Too short to be told from others, or too long for a packet.
        let range = format!("from {LEAST_PAYLOAD} to {MAX_PAYLOAD} bytes");
        return Err(bad(format!("a payload has {range}, not {}", run.payload)));
    }
    if !BAUDS.contains(&baud) {
        let range = format!("from {} to {} bits a second", BAUDS.start(), BAUDS.end());
        return Err(bad(format!("a wire has {range}, not {baud}")));
    }
    if !(1e-6..=1e6).contains(&run.rate) {
        let why = format!(
            "rate is a number of packets a second from 0.000001 to 1000000, not {}",
            run.rate
        );
        return Err(bad(why));
    }
    if let Some(drift) = drift.filter(|drift| !(0.0..=MAX_DRIFT).contains(drift)) {
        let why = format!("drift is from 0 to {MAX_DRIFT} parts of a million, not {drift}");
        return Err(bad(why));
    }
    if jitter > MAX_JITTER {
        let most = MAX_JITTER / 1_000_000;
        return Err(bad(format!(
            "jitter is at most {most} ms: boards that are later lose their links"
        )));
    }
    if run.mixed && (run.confirmed || run.traffic.is_broadcast() || run.traffic == Traffic::PingAll) {
        let why = "mixed draws the service of each packet, so neither confirmed nor broadcast nor ping-all can be said";
        return Err(bad(why));
    }
    for (name, time) in [
        ("pull-every", run.pull_every),
        ("reset-every", run.reset_every),
        ("detach-host-every", run.detach_host_every),
        ("for", run.duration),
    ] {
        if time == Some(0) {
            return Err(bad(format!("{name} is a time above 0")));
        }
    }
    if run.packets > u64::from(u32::MAX) {
        return Err(bad(format!("at most {} packets can be followed", u32::MAX)));
    }
    Ok(())
}

/// A key for a simulation. One for boards is random: a word can be guessed.
fn secret(word: &str) -> Result<Secret, BadSettings> {
    if word.strip_suffix(Secret::ENCRYPTS).unwrap_or(word).is_empty() {
        return Err(bad("key is a word, and +encrypt after it to encrypt payloads"));
    }
    Ok(Secret {
        key: Key::new([0; KEY_BYTES]).derive_key("simulation", &[word.as_bytes()]),
        encrypts: word.ends_with(Secret::ENCRYPTS),
    })
}

/// The beginning of what someone wrote.
fn short(text: &str) -> String {
    text.trim().chars().take(40).collect()
}

/// A value as a shell takes it.
pub fn quoted(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let plain = |parcel: char| parcel.is_ascii_alphanumeric() || "-_.,/".contains(parcel);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_testing::rows;

    #[test]
    fn settings_out_of_range_are_refused_in_a_sentence() {
        let refusal = |settings: &str| {
            let mut settings: Settings = serde_json::from_str(settings).expect(settings);
            settings.network.get_or_insert("ring(4)".into());
            settings.run().err().map(|refusal| refusal.to_string())
        };
        for good in [
            "{}",
            r#"{"rogue": "1:hole"}"#,
            r#"{"rogue": "1:hole,2:mute"}"#,
            r#"{"host": "1, 3", "rogue": "2:hole", "detach-host-every": "1s"}"#,
        ] {
            assert_eq!(refusal(good), None);
        }
        assert!(matches!(Settings::default().run(), Err(refusal) if refusal.to_string() == "no network is given"));
        for (settings, sentence) in rows(
            r#"
            {"payload": 500} => a payload has from 4 to 200 bytes, not 500
            {"baud": 5} => a wire has from 1200 to 50000000 bits a second, not 5
            {"ber": 1.5} => ber is a chance from 0 to 1, not 1.5
            {"pull-every": "0s"} => pull-every is a time above 0
            {"rate": 0} => rate is a number of packets a second from 0.000001 to 1000000, not 0
            {"rate": 1e-7} => rate is a number of packets a second from 0.000001 to 1000000, not 0.0000001
            {"events": "1s cut 0.0\u000a2s off 4"} => events, line 2: ring(4): there is no node 4: the network has nodes 0 to 3
            {"events": "1s press 0"} => events, line 1: 'press' cannot happen in a simulation; what can is cut, plug, one-way, both-ways, reverse, stuck, break, noise, quiet, burst, swap, reset, off, on
            {"traffic": "uniform-with-self"} => a simulation cannot make uniform-with-self traffic; it can make uniform, neighbors, all-to-all, ping-all, permutation, transpose, bit-complement, bit-reverse, shuffle, tornado, hot-spot, hot-spot(NODE,SHARE), broadcast, broadcast-storm
            {"rogue": "4:hole"} => rogue: there is no node 4: the network has nodes 0 to 3
            {"rogue": "1:hole,1:mute"} => node 1 is named twice as a faulty node
            {"rogue": "0:hole,1:hole,2:hole"} => at least two boards must be honest
            {"rogue": "1:naughty"} => '1:naughty' is not a faulty node: write NODE:KIND, such as 5:babble, with babble, flood, refuse, mute, flap, lie, hole or replay
            {"host": "1,4"} => host: there is no node 4: the network has nodes 0 to 3
            {"host": "1,1"} => node 1 is named twice as the board of a host
            {"host": "1,x"} => host: 'x' is not a node: write NODE[,...], such as 3,5
            {"host": "1", "rogue": "1:hole"} => node 1 is a faulty node, which has no host
            {"detach-host-every": "1s"} => detach-host-every needs a host: --host NODE
            {"host": "1", "detach-host-every": "0s"} => detach-host-every is a time above 0
            {"traffic": "shuffle", "network": "ring(5)"} => shuffle needs a power of 2 nodes, and ring(5) has 5
            "#,
        ) {
            assert_eq!(refusal(&settings), Some(sentence));
        }
    }
}
