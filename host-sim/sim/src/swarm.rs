//! A swarm: runs of which everything is drawn by a seed, the network, the service, the load, and what goes wrong.

use std::fmt::Write as _;

use hopwise_core::Network;
use hopwise_language::{Time, Traffic};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::faulty_node::{FaultyBoard, Misbehavior};
use super::settings::Settings;

/// Small networks of every family that has one.
pub fn networks() -> Vec<&'static str> {
    include_str!("swarm.txt").lines().collect()
}

/// Families of which there are no small ones, and some more; they take longer, and are drawn less often.
pub const LARGE: [&str; 4] = ["re-heawood-2(2)", "re-heawood-2(2,one)", "cor(2,3)", "partial-swapped"];

/// Most runs are short: another seed finds more than a longer run. One in so many is long.
const LENGTHS: (f64, f64) = (0.5, 4.0);
const LONG: (u32, f64) = (25, 120.0);
/// A share of what a wire carries that each node sends.
const LOADS: (f64, f64) = (0.003, 0.3);
/// Approximate maximum number of packets in a run.
const MAX_PACKETS: u64 = 400;
/// In networks of more nodes it is an eighth of that, since each takes so long.
const MANY_NODES: f64 = 1_000.0;
const BAUDS: [u32; 4] = [115_200, 460_800, 2_000_000, 3_000_000];
/// Outages of drawn lengths, in seconds.
const OUTAGES: (f64, f64) = (0.001, 5.0);
const BEGIN: f64 = 0.5;

struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn one_in(&mut self, of: u32) -> bool {
        self.0.random_range(0..of) == 0
    }

    fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.random_range(0..from.len())]
    }

    /// As likely from 1 to 2 as from 100 to 200.
    fn scale(&mut self, (least, most): (f64, f64)) -> f64 {
        least * (most / least).powf(self.0.random())
    }

    /// Two digits are enough to know it by.
    fn rounded(&mut self, range: (f64, f64)) -> f64 {
        let value = self.scale(range);
        let unit = 10_f64.powf(value.log10().floor() - 1.0);
        ((value / unit).round() * unit * 1e12).round() / 1e12
    }

    fn maybe(&mut self, one_in: u32, range: (f64, f64)) -> Option<f64> {
        self.one_in(one_in).then(|| self.rounded(range))
    }

    fn time(&mut self, (least, most): (f64, f64)) -> Time {
        time(self.scale((least, most)))
    }
}

/// To the millisecond, or to the microsecond if it is short.
fn time(seconds: f64) -> Time {
    let unit = if seconds < 0.01 { 1e6 } else { 1e3 };
    Time::from_nanos(((seconds * unit).round() * 1e9 / unit) as u64)
}

/// The run of a seed. What is said comes in place of what is drawn, and the rest is drawn to fit it.
pub fn draw(seed: u64, said: &Settings) -> Settings {
    let mut draw = Draw(Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x7377_6172));
    let is_large = draw.one_in(30);
    let name = if is_large {
        draw.of(&LARGE)
    } else {
        draw.of(&networks())
    };
    let name = said.network.clone().unwrap_or_else(|| name.into());
    let payload = draw.0.random_range(4..=200_usize);
    let mut settings = Settings {
        payload: Some(payload),
        seed: Some(seed),
        ..Settings::default()
    };
    draw.service(&mut settings);
    if said.confirmed || said.mixed || said.traffic.is_some() {
        (settings.confirmed, settings.mixed, settings.traffic) = (said.confirmed, said.mixed, said.traffic);
    }
    let network = name.parse::<Network>().ok();
    settings.network = Some(name);
    if let Some(network) = network {
        draw.load(&mut settings, &network);
        draw.noise(&mut settings);
        draw.company(&mut settings, &network, said);
        // In large meshes it takes too long.
        settings.restore = !is_large && network.nodes() <= 64;
        let end = BEGIN + settings.duration.map_or(0.0, |duration| duration.nanos() as f64 / 1e9);
        let faults = match draw.0.random_range(0..16) {
            0..4 => 0,
            4..15 => draw.0.random_range(1..=6),
            _ => draw.0.random_range(7..=40),
        };
        let events: Vec<String> = (0..faults).map(|_| fault(&mut draw, &network, end)).collect();
        settings.events = Some(events.join("; ")).filter(|events| !events.is_empty());
    }
    let mut table = settings.table();
    table.extend(said.table().into_iter().filter(|(name, _)| name != "seed"));
    // Names and values of settings are settings.
    Settings::of(&table).unwrap_or(settings)
}

impl Draw {
    fn service(&mut self, settings: &mut Settings) {
        match self.0.random_range(0..10) {
            0 | 1 => {}
            2..=4 => settings.confirmed = true,
            5 => settings.traffic = Some(Traffic::Broadcast),
            6 => settings.traffic = Some(Traffic::PingAll),
            _ => settings.mixed = true,
        }
        if settings.traffic.is_none() && self.one_in(3) {
            settings.traffic = Some(self.of(&[
                Traffic::AllToAll,
                Traffic::Neighbors,
                Traffic::Permutation,
                Traffic::HotSpot { node: 0, share: 0.3 },
            ]));
        }
    }

    fn load(&mut self, settings: &mut Settings, network: &Network) {
        let nodes = network.nodes() as f64;
        let length = match self.one_in(LONG.0) {
            true => LONG.1,
            false => self.scale(LENGTHS),
        };
        settings.baud = self.one_in(4).then(|| self.of(&BAUDS));
        let bytes = f64::from(settings.baud.unwrap_or(1_000_000)) / 10.0;
        let load = self.scale(LOADS) * bytes / (settings.payload.unwrap_or(0) as f64 + 30.0);
        // A broadcast costs as much as a packet to each node.
        let load = match settings.traffic {
            Some(Traffic::Broadcast) => load / nodes * 4.0,
            _ if settings.mixed => load / (1.0 + nodes / 16.0),
            _ => load,
        };
        let are_many = nodes > MANY_NODES;
        let most = if are_many { MAX_PACKETS / 8 } else { MAX_PACKETS };
        let load = load.min(most as f64 / nodes / length);
        settings.rate = Some((load * 100.0).ceil() / 100.0);
        settings.duration = Some(time(length));
    }

    /// What is wrong all the time, and by chance.
    fn noise(&mut self, settings: &mut Settings) {
        settings.ber = self.maybe(4, (1e-6, 1e-4));
        settings.bursts = self.maybe(8, (1e-6, 3e-4));
        settings.lost_bytes = self.maybe(10, (1e-6, 3e-4));
        settings.inserted_bytes = self.maybe(10, (1e-6, 3e-4));
        settings.doubled_bytes = self.maybe(10, (1e-6, 3e-4));
        settings.drift = self.maybe(2, (5.0, 200.0));
        settings.jitter = self.one_in(3).then(|| self.time((10e-6, 2e-3)));
        settings.processing = self.one_in(4).then(|| self.time((10e-6, 1e-3)));
        settings.pull_every = self.one_in(6).then(|| self.time((0.2, 2.0)));
        settings.reset_every = self.one_in(8).then(|| self.time((0.3, 2.0)));
        settings.read_late = self.one_in(5).then(|| self.time((1e-3, 1.0)));
    }

    /// Boards that misbehave, and hosts at others.
    fn company(&mut self, settings: &mut Settings, network: &Network, said: &Settings) {
        let mut others: Vec<u64> = (0..network.nodes()).collect();
        let mut some = |draw: &mut Draw, most: usize| -> Vec<u64> {
            let count = if draw.one_in(3) {
                draw.0.random_range(1..=most)
            } else {
                1
            };
            let drawn = (0..count).map(|_| others.swap_remove(draw.0.random_range(0..others.len())));
            drawn.collect()
        };
        if self.one_in(6) && network.nodes() > 4 && said.rogue.is_none() && said.host.is_none() {
            let most = if network.nodes() >= 8 { 4 } else { 2 };
            let faulty_boards: Vec<String> = some(self, most)
                .into_iter()
                .map(|node| FaultyBoard {
                    node,
                    kind: self.of(&Misbehavior::ALL),
                })
                .map(|faulty| faulty.to_string())
                .collect();
            settings.rogue = Some(faulty_boards.join(","));
        }
        settings.key = self.one_in(4).then(|| self.of(&["test", "test+encrypt"]).into());
        settings.rogue_has_key = settings.key.is_some() && settings.rogue.is_some() && self.one_in(2);
        if settings.key.is_some() && self.one_in(3) {
            let board = self.0.random_range(0..network.nodes());
            let ports = network.degree(board).unwrap_or(1).max(1);
            settings.tap = Some(format!("{board}.{}", self.0.random_range(0..ports)));
        }
        if self.one_in(3) && said.rogue.is_none() {
            let boards: Vec<String> = some(self, 2).iter().map(u64::to_string).collect();
            settings.host = Some(boards.join(","));
            settings.detach_host_every = self.one_in(2).then(|| self.time((0.2, 2.0)));
        }
    }
}

/// Something that goes wrong before `end`, and mostly is restored again.
fn fault(draw: &mut Draw, network: &Network, end: f64) -> String {
    // One in five is there from the beginning.
    let at_once = draw.one_in(5);
    let from = if at_once { 0.0 } else { draw.0.random_range(0.1..end) };
    let at = time(from);
    let until = time(from + draw.scale(OUTAGES));
    let board = draw.0.random_range(0..network.nodes());
    let port = |draw: &mut Draw, board: u64| {
        let ports = network.degree(board).unwrap_or(1).max(1);
        format!("{board}.{}", draw.0.random_range(0..ports))
    };
    let here = port(draw, board);
    let lasting = |what: &str, undo: &str, draw: &mut Draw| {
        let undone = format!("; {until} {undo}");
        let restored = if draw.one_in(4) { "" } else { &undone };
        format!("{at} {what}{restored}")
    };
    match draw.0.random_range(0..20) {
        0..=2 => lasting(&format!("cut {here}"), &format!("plug {here}"), draw),
        3 => lasting(&format!("reverse {here}"), &format!("plug {here}"), draw),
        4 => lasting(&format!("one-way {here}"), &format!("both-ways {here}"), draw),
        5 => lasting(&format!("stuck {here}"), &format!("both-ways {here}"), draw),
        6 | 7 => {
            let chance = draw.rounded((1e-5, 3e-2));
            lasting(&format!("noise {here} {chance}"), &format!("quiet {here}"), draw)
        }
        8 => format!("{at} burst {here} {}", draw.time((1e-4, 0.3))),
        9 | 10 => {
            let mut breaks = String::new();
            for count in 0..draw.0.random_range(1..=5) {
                let at = time(from + f64::from(count) * draw.0.random_range(1e-4..5e-2));
                let separator = if count == 0 { "" } else { "; " };
                let _ = write!(breaks, "{separator}{at} break {here} {}", draw.time((2e-5, 0.1)));
            }
            breaks
        }
        11 | 12 => {
            let other = if draw.one_in(2) {
                board
            } else {
                draw.0.random_range(0..network.nodes())
            };
            let there = port(draw, other);
            lasting(&format!("swap {here} {there}"), &format!("swap {there} {here}"), draw)
        }
        13..=15 => format!("{at} reset {board}"),
        16 | 17 => lasting(&format!("off {board}"), &format!("on {board}"), draw),
        18 => {
            let other = draw.0.random_range(0..network.nodes());
            format!("{at} off {board},{other}; {until} on {board},{other}")
        }
        _ => format!("{at} off all; {until} on all"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use hopwise_core::{Base, Family};
    use hopwise_language::Script;
    use hopwise_language::script::PortName;

    use super::*;

    const SEEDS: u64 = 600;

    fn drawn(seed: u64) -> Settings {
        draw(seed, &Settings::default())
    }

    #[test]
    fn whatever_is_drawn_is_a_run_and_the_same_again() {
        for seed in 0..300 {
            let settings = drawn(seed);
            assert_eq!(settings, drawn(seed));
            let run = settings.run();
            let why = run.as_ref().err().map(ToString::to_string);
            assert!(run.is_ok(), "{}: {why:?}", settings.command());
        }
        for network in networks() {
            let nodes = network.parse::<Network>().map(|network| network.nodes());
            assert!(nodes.is_ok_and(|nodes| (4..=64).contains(&nodes)), "{network}");
        }
    }

    #[test]
    fn what_is_said_fits_what_is_drawn() {
        for said in [
            r#"{ "network": "ring(5)" }"#,
            r#"{ "network": "ring(5)", "confirmed": true }"#,
            r#"{ "mixed": true, "host": "1" }"#,
            r#"{ "rogue": "1:hole", "traffic": "broadcast" }"#,
        ] {
            let table = serde_json::from_str(said).unwrap();
            let said = Settings::of(&table).unwrap();
            for seed in 0..100 {
                let settings = draw(seed, &said);
                assert!(settings.run().is_ok(), "{}", settings.command());
                let drawn = settings.table();
                let has_all = table.iter().all(|(name, value)| drawn.get(name) == Some(value));
                assert!(has_all, "{drawn:?}");
            }
        }
    }

    /// Every family of the language, every event of scripts, every kind of faulty node and every setting occurs.
    #[test]
    fn everything_there_is_is_drawn() {
        let runs: Vec<Settings> = (1..=SEEDS).map(drawn).collect();
        let text = |part: fn(&Settings) -> &Option<String>| -> Vec<&str> {
            runs.iter().filter_map(|run| part(run).as_deref()).collect()
        };
        let networks = text(|run| &run.network);
        // A graph comes from a file.
        for word in Family::WORDS.iter().chain(Base::WORDS).filter(|word| **word != "graph") {
            let is_it = |name: &&str| name.split('(').next() == Some(word);
            assert!(networks.iter().any(is_it), "{word} is never drawn");
        }
        let faulty_boards = text(|run| &run.rogue);
        for kind in Misbehavior::ALL {
            let is_it = |text: &&str| text.split(',').any(|faulty| faulty.ends_with(kind.name()));
            assert!(faulty_boards.iter().any(is_it), "{} is never drawn", kind.name());
        }
        let events = text(|run| &run.events).join("; ");
        let events = Script::parse(&events).unwrap();
        let drawn = events.events().iter();
        let drawn: HashSet<_> = drawn.map(|event| std::mem::discriminant(&event.action)).collect();
        for action in EVERY_ACTION.split(", ") {
            let script = Script::parse(&format!("1s {action}")).unwrap();
            let action_of = |script: &Script<PortName>| std::mem::discriminant(&script.events()[0].action);
            assert!(drawn.contains(&action_of(&script)), "{action} is never drawn");
        }
        // Those that only say what others draw, or what no campaign needs.
        let never = ["packets", "burst-bits", "script"];
        let names = runs
            .iter()
            .flat_map(|run| run.table().into_iter().map(|(name, _)| name));
        let said: HashSet<String> = names.collect();
        let Ok(serde_json::Value::Object(all)) = serde_json::to_value(Settings::default()) else {
            panic!("settings are a table")
        };
        for name in all.keys().filter(|name| !never.contains(&name.as_str())) {
            assert!(said.contains(name), "{name} is never drawn");
        }
    }

    const EVERY_ACTION: &str = "cut 0.0, plug 0.0, one-way 0.0, both-ways 0.0, reverse 0.0, stuck 0.0, break 0.0, noise 0.0 0.1, \
        quiet 0.0, burst 0.0 1ms, swap 0.0 1.0, reset 0, off 0, on 0";
}
