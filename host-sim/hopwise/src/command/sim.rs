use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;
use indicatif::ParallelProgressIterator;
use rayon::prelude::*;
use serde_json::Value;

use super::error::CliError;
use super::experiment::KINDS;
use super::output::{Outcome, check_output, print, print_facts, print_json, progress_bar, stop_on_ctrl_c};
use super::swarm;
use super::table;
use hopwise_experiment::Kind;
use hopwise_experiment::plan::Plan;
use hopwise_experiment::sim::Sim;
use hopwise_files::NewFile;
use hopwise_language::Script;
use hopwise_language::script::{PortName, PortOf, on_one_line};
use hopwise_rig::mesh::Mesh;
use hopwise_sim::report::{Report, summed};
use hopwise_sim::{Settings, simulate};

#[derive(Args)]
#[command(after_help = "\
A mesh file gives its network and its baud rate. A scenario file has the same settings as keys, each a value, a list or a range, and
every combination of them is run; options on the command line replace them. Examples are in scenarios/.

A trace is written during the run, and can be read however the run ends. An earlier one is replaced when the new one is complete;
until then the new one is beside it, as FILE.XXXXXX.partial.

Times are written as 1.5s, 20ms or 300us. The exit status is 1 if a delivery guarantee was violated, 2 for bad input.")]
pub(super) struct SimArgs {
    /// The network, as an expression such as 'rdn(ring(3),1)'; or a mesh or scenario file, whose name ends in .toml
    #[arg(value_name = "EXPR|FILE.toml", required_unless_present_any = ["swarm", "only"])]
    network: Option<String>,
    #[command(flatten)]
    settings: Settings,
    /// Write every event to this file, one line of JSON each
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// One row for the runs of a scenario that differ only in the seed: their sums, and the worst latency
    #[arg(long)]
    sum_seeds: bool,
    /// This many runs in which everything is random: network, service, load and faults, by seeds from --seed on; other options
    /// replace what would be drawn. The first run that violates a guarantee is made as short as possible
    #[arg(long, value_name = "RUNS")]
    swarm: Option<u64>,
    /// Only the run of this seed of a swarm, made as short as possible
    #[arg(long, value_name = "SEED", conflicts_with = "swarm")]
    only: Option<u64>,
    /// Print a JSON object for each run
    #[arg(long)]
    json: bool,
}

impl SimArgs {
    fn settings(&self) -> Settings {
        Settings {
            network: self.network.clone(),
            ..self.settings.clone()
        }
    }
}

pub(super) fn run(args: &SimArgs) -> Result<Outcome, CliError> {
    let settings = args.settings();
    if let Some(seeds) = swarm::seeds(args.swarm, args.only, settings.seed) {
        return swarm::run(args.json, &settings, seeds);
    }
    let file = settings.network.as_deref().filter(|name| name.ends_with(".toml"));
    match file.map(Path::new) {
        Some(file) if Mesh::is_mesh_file(file) => one(args, &of_mesh(file, &settings)?),
        Some(file) => sweep(args, file, &settings),
        None => one(args, &settings),
    }
}

/// The network and the speed of a mesh file; what is said besides comes in their place. Boards of a mesh file have serial
/// ports, so that events may name them.
fn of_mesh(file: &Path, said: &Settings) -> Result<Settings, CliError> {
    let mesh = Mesh::read(file)?;
    Ok(Settings {
        network: Some(mesh.network.to_string()),
        baud: said.baud.or(Some(mesh.baud)),
        events: said.events.as_deref().map(|events| by_number(events, &mesh)),
        ..said.clone()
    })
}

/// Events with the ports of a mesh by number. Those that cannot be are left for the settings to refuse.
fn by_number(events: &str, mesh: &Mesh) -> String {
    let number = |name: PortName| match &name.port {
        PortOf::Number(_) => Some(name),
        PortOf::Uart(uart) => {
            let port = mesh.port_at(name.node, mesh.kind_of(name.node).link_of(uart)?)?;
            Some(PortName {
                node: port.node,
                port: PortOf::Number(port.port),
            })
        }
    };
    let script = Script::parse(events).ok();
    let numbered = script.and_then(|script| script.with_ports(|name| number(name).ok_or(())).ok());
    numbered.map_or_else(|| events.into(), |script| script.to_string())
}

fn one(args: &SimArgs, settings: &Settings) -> Result<Outcome, CliError> {
    let run = settings.run()?;
    let mut live = match &args.trace {
        Some(path) => Some(LiveTrace::create(path, settings, args)?),
        None => None,
    };
    let expected = match run.duration {
        Some(duration) => (duration as f64 / 1e9 * run.rate * run.build.network.nodes() as f64) as u64,
        None => run.packets,
    };
    let bar = progress_bar(expected.min(run.packets), "packets");
    let trace = live.as_mut().map(|trace| trace as &mut dyn Write);
    let started = Instant::now();
    let account = simulate(&run, trace, &mut |done| bar.set_position(done));
    let seconds = started.elapsed().as_secs_f64();
    bar.finish_and_clear();
    if let Some(stopped) = live.take_if(|trace| trace.is_stopped()) {
        return stopped.keep();
    }
    let account = account?;
    live.map_or(Ok(()), LiveTrace::finish)?;
    let report = Report::new(settings, &run, &account, seconds);
    if args.json {
        print_json(&report)?;
    } else {
        let title = format!("{}: {} nodes, seed {}", report.network, report.nodes, report.seed);
        print_facts(&title, &report.facts())?;
    }
    Ok(report.violation.map_or(Outcome::Done, Outcome::CheckFailed))
}

/// A trace that is written while the run goes on, until Ctrl-C.
struct LiveTrace {
    path: PathBuf,
    file: NewFile,
    stop: Arc<AtomicBool>,
}

impl LiveTrace {
    fn create(path: &Path, settings: &Settings, args: &SimArgs) -> Result<Self, CliError> {
        let network = args.network.as_deref().map(Path::new);
        check_output(path, settings.script.as_deref().into_iter().chain(network))?;
        Ok(LiveTrace {
            path: path.into(),
            file: NewFile::create_live(path).map_err(|error| CliError::output_file(path, &error))?,
            stop: stop_on_ctrl_c()?,
        })
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn finish(self) -> Result<(), CliError> {
        self.file
            .finish()
            .map_err(|error| CliError::output_file(&self.path, &error))
    }

    fn keep(self) -> Result<Outcome, CliError> {
        let kept = self
            .file
            .keep_partial()
            .map_err(|error| CliError::output_file(&self.path, &error))?;
        Ok(Outcome::Stopped(format!(
            "stopped; the trace up to here is {}",
            kept.display()
        )))
    }
}

impl Write for LiveTrace {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.is_stopped() {
            true => Err(io::Error::other("stopped")),
            false => self.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// All runs of a scenario, on all cores.
fn sweep(args: &SimArgs, path: &Path, said: &Settings) -> Result<Outcome, CliError> {
    let mut plan = Plan::read(path, KINDS)?;
    if let Some(other) = plan.kinds().find(|kind| *kind != Sim.name()) {
        let reason = format!(
            "it has a table [{other}], which `hopwise experiment {}` runs",
            path.display()
        );
        return Err(CliError::file(path, reason));
    }
    let mut said = said.table();
    said.remove("network");
    plan.set(&said);
    let of_file = |error: &dyn Display| CliError::file(path, error);
    let runs = plan.runs().map_err(|error| of_file(&error))?;
    let runs = runs
        .iter()
        .map(|(_, run)| Settings::of(run))
        .collect::<Result<Vec<_>, _>>();
    let runs = runs.map_err(|error| of_file(&error))?;
    match (&args.trace, &runs[..]) {
        (Some(_), [run]) => return one(args, run),
        (Some(_), runs) => {
            return Err(of_file(&format_args!(
                "a trace is of one run, and the scenario has {}",
                runs.len()
            )));
        }
        (None, _) => (),
    }
    // All of them are checked before the first is run.
    runs.iter()
        .try_for_each(|run| run.run().map(drop))
        .map_err(|error| of_file(&error))?;
    let bar = progress_bar(runs.len() as u64, "runs");
    let reports = runs.par_iter().progress_with(bar.clone()).map(Sim::report);
    let reports = reports.collect::<Result<Vec<_>, _>>();
    bar.finish_and_clear();
    let reports = reports.map_err(CliError::room)?;
    show(args, &plan, &reports)?;
    Ok(verdict(&reports))
}

fn show(args: &SimArgs, plan: &Plan, reports: &[Report]) -> Result<(), CliError> {
    if args.json {
        return reports.iter().try_for_each(print_json);
    }
    let rows = if args.sum_seeds {
        summed(reports)
    } else {
        reports.to_vec()
    };
    let varied: Vec<&str> = plan
        .varied()
        .filter(|&name| !(args.sum_seeds && name == "seed"))
        .collect();
    let titles: Vec<&str> = std::iter::once("run")
        .chain(varied.iter().copied())
        .chain([Report::TITLES])
        .collect();
    let rows = (1..).zip(&rows).map(|(number, report): (usize, _)| {
        let setting = |name: &&str| match report.settings.get(*name) {
            Some(Value::String(text)) => on_one_line(text),
            Some(value) => value.to_string(),
            None => "-".into(),
        };
        let settings = varied.iter().map(setting);
        std::iter::once(number.to_string())
            .chain(settings)
            .chain(report.row())
            .collect()
    });
    let text = table::lines(&titles.join("|"), rows);
    let sum = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>();
    let summary = format!(
        "{} runs: {} sent, {} delivered, {} undeliverable, {} interrupted, {} lost, {} duplicated, {} corrupted",
        reports.len(),
        sum(|report| report.tally.sent),
        sum(|report| report.tally.delivered),
        sum(|report| report.tally.undeliverable),
        sum(|report| report.tally.interrupted),
        sum(|report| report.tally.lost),
        sum(|report| report.tally.duplicated),
        sum(|report| report.tally.corrupted),
    );
    print(|out| writeln!(out, "{text}\n{summary}"))
}

fn verdict(reports: &[Report]) -> Outcome {
    let broken: Vec<&str> = reports
        .iter()
        .filter_map(|report| report.violation.as_deref())
        .collect();
    Outcome::of(broken.is_empty(), || {
        let (count, all, first) = (broken.len(), reports.len(), broken[0]);
        format!("{count} of {all} runs violated a guarantee, the first {first}")
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use hopwise_language::Time;
    use proptest::prelude::*;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        args: SimArgs,
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
        /// Whatever was set, the command that is printed when a guarantee is broken sets the same.
        #[test]
        fn the_command_says_it_all(
            numbers: (Option<u64>, Option<usize>, Option<u32>, Option<u64>),
            chances: (Option<f64>, Option<f64>),
            times in (proptest::option::of(0..1_000_000_u64), proptest::option::of(0..1_000_000_000_u64)),
            confirmed: bool,
            script in proptest::option::of("[a-z' /]{1,12}"),
            event in proptest::option::of((0..18_u8, 0..3_u8)),
            traffic in proptest::sample::select(vec!["ping-all", "uniform", "hot-spot(3,0.25)"]),
        ) {
            let finite = |chance: Option<f64>| chance.filter(|chance| chance.is_finite()).map(f64::abs);
            let events = event.map(|(board, port)| format!("1s cut {board}.{port} # it's; not all\n\n2s off {board}"));
            let settings = Settings {
                network: Some("rdn(ring(3),1)".into()),
                traffic: Some(traffic.parse().expect("a pattern")),
                packets: numbers.0,
                payload: numbers.1,
                baud: numbers.2,
                seed: numbers.3,
                confirmed,
                ber: finite(chances.0),
                rate: finite(chances.1),
                pull_every: times.1.map(Time::from_nanos),
                reset_every: times.0.map(Time::from_millis),
                script: script.filter(|script| !script.starts_with('-')).map(PathBuf::from),
                events,
                ..Settings::default()
            };
            let words = words(&settings.command());
            prop_assert_eq!(&words[..2], ["hopwise", "sim"]);
            let parsed = CommandLine::try_parse_from(&words[1..]);
            prop_assert!(parsed.is_ok(), "{:?}: {}", words, parsed.err().map_or(String::new(), |error| error.to_string()));
            let again = parsed.map(|line| line.args.settings()).unwrap_or_default();
            let normal = |events: &Option<String>| events.as_deref().map(on_one_line);
            prop_assert_eq!(normal(&again.events), normal(&settings.events));
            prop_assert_eq!(Settings { events: None, ..again }, Settings { events: None, ..settings });
        }
    }
}
