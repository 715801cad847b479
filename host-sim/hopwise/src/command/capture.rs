//! `hopwise capture`

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use hopwise_core::board::{Pattern, Traffic};
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::parse_time;
use serde::Serialize;

use super::MeshArg;
use super::output::{Outcome, print, print_json};
use hopwise_emulate::firmware;
use hopwise_emulate::log::{Line, LogFormat};
use hopwise_emulate::setup::{self, Differences};
use hopwise_networks::refusal::Refusal;
use hopwise_rig::capture::{Aligned, Capture, Entry};
use hopwise_rig::emulated::{Firmware, blueprint};
use hopwise_rig::log_sources::{Probes, level_name, read_line, recorded};
use hopwise_rig::mesh::Mesh;

/// How often emulated boards' logs are read.
const SLICE: Time = 10 * MILLISECOND;
/// How long emulated boards run unless told.
const USUAL_TIME: Time = 2 * SECOND;
/// Emulated boards are switched on one after the other, as by hand, within this.
const STARTS_WITHIN: Time = 200 * MILLISECOND;
/// How far off their crystals are.
const DRIFT_PPM: f64 = 30.0;
/// How often a look is taken at whether to end.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Args)]
#[command(after_help = "\
A filter is node=0,4 or level=warn (and worse) or event=dropped,link-down or any piece of text. It is about the terminal; the trace
has everything. Ctrl-C ends the capture, and the trace is written.

Clocks are aligned by the packets that boards log: say log-packets = true in the mesh file. Emulated boards log them always.")]
pub(super) struct CaptureArgs {
    #[command(flatten)]
    mesh: MeshArg,
    /// The trace to write, a line of JSON for each event
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Emulated boards, with clocks that differ
    #[arg(long, conflicts_with = "recorded")]
    emulated: bool,
    /// Packets a second that each emulated board sends, besides what the mesh file says
    #[arg(long, value_name = "RATE")]
    traffic: Option<u32>,
    /// Decides all that happens by chance to emulated boards
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Keep the streams of emulated boards in this folder, as 0.rtt, 1.rtt ...
    #[arg(long, value_name = "FOLDER", conflicts_with = "recorded")]
    record: Option<PathBuf>,
    /// Read streams from a folder instead of from boards
    #[arg(long, value_name = "FOLDER")]
    recorded: Option<PathBuf>,
    /// How long [default: until Ctrl-C; emulated boards 2s]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    duration: Option<Time>,
    /// Show only some of the lines on the terminal
    #[arg(long, value_name = "FILTER", value_parser = Filter::parse)]
    filter: Vec<Filter>,
    /// Show no lines
    #[arg(long)]
    quiet: bool,
    /// The firmware on the boards, if not Hopwise's own
    #[arg(long, value_name = "FILE")]
    elf: Option<PathBuf>,
    /// The probe-rs program
    #[arg(long, value_name = "PROGRAM", default_value = "probe-rs")]
    probe_rs: String,
    /// Print a JSON object in the end, and no lines
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug)]
enum Filter {
    Nodes(Vec<u64>),
    Level(&'static str),
    Events(Vec<String>),
    Text(String),
}

const LEVELS: [&str; 5] = ["trace", "debug", "info", "warn", "error"];

fn severity(level: &str) -> Option<usize> {
    LEVELS.iter().position(|name| *name == level)
}

impl Filter {
    fn parse(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some(("node", nodes)) => {
                let nodes: Result<_, _> = nodes.split(',').map(str::parse).collect();
                nodes
                    .map(Filter::Nodes)
                    .map_err(|_| "nodes are numbers: node=0,4".into())
            }
            Some(("level", level)) => match severity(level) {
                Some(place) => Ok(Filter::Level(LEVELS[place])),
                None => Err(format!("levels are {}", LEVELS.join(", "))),
            },
            Some(("event", events)) => Ok(Filter::Events(events.split(',').map(String::from).collect())),
            _ => Ok(Filter::Text(text.into())),
        }
    }

    fn passes(&self, entry: &Entry) -> bool {
        match self {
            Filter::Nodes(nodes) => nodes.contains(&entry.node),
            Filter::Level(level) => severity(entry.level) >= severity(level),
            Filter::Events(events) => events.contains(&entry.event_name()),
            Filter::Text(text) => entry.text.contains(text),
        }
    }
}

/// The keys are stable.
#[derive(Serialize)]
struct Summary {
    lines: usize,
    events: usize,
    undecodable: u64,
    nodes: usize,
    clock_pairs: usize,
    clock_residual_median_us: f64,
    clock_residual_95_us: f64,
    clock_residual_worst_us: f64,
    nodes_not_aligned: Vec<u64>,
}

pub(super) fn run(args: &CaptureArgs) -> Result<Outcome, Refusal> {
    let mesh = args.mesh.read()?;
    // A trace that cannot be written is better known before than after.
    let file = File::create(&args.output);
    let mut file = BufWriter::new(file.map_err(|error| output_failed(args, &error))?);
    let stop = stop_on_ctrl_c()?;
    let mut live = Live::new(args);
    let undecodable = if let Some(folder) = &args.recorded {
        from_streams(args, &mesh, folder, &mut live)?
    } else if args.emulated || mesh.is_emulated() {
        from_emulated(args, mesh.clone(), &stop, &mut live)?
    } else {
        from_probes(args, &mesh, &stop, &mut live)?
    };
    let aligned = live.capture.align(&mesh);
    aligned
        .write(&mesh, &mut file)
        .map_err(|error| output_failed(args, &error))?;
    let summary = summarize(&aligned, undecodable);
    if args.json {
        print_json(&summary)?;
    } else {
        show(args, &summary)?;
    }
    Ok(Outcome::Done)
}

fn output_failed(args: &CaptureArgs, error: &std::io::Error) -> Refusal {
    Refusal::Output(format!("{}: {error}", args.output.display()))
}

/// Set when the capture is to end.
fn stop_on_ctrl_c() -> Result<Arc<AtomicBool>, Refusal> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = stop.clone();
    ctrlc::set_handler(move || set.store(true, Ordering::Relaxed))
        .map_err(|error| Refusal::Rig(format!("cannot wait for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Lines as they come, into memory and onto the terminal.
struct Live<'a> {
    args: &'a CaptureArgs,
    capture: Capture,
    coloured: bool,
}

impl<'a> Live<'a> {
    fn new(args: &'a CaptureArgs) -> Self {
        Live {
            args,
            capture: Capture::default(),
            coloured: std::io::stdout().is_terminal(),
        }
    }

    fn take(
        &mut self,
        node: u64,
        stamp: f64,
        arrived: Option<f64>,
        level: &'static str,
        text: String,
    ) -> Result<(), Refusal> {
        let entry = self.capture.add(node, stamp, arrived, level, text);
        let hidden = self.args.quiet || self.args.json;
        if hidden || !self.args.filter.iter().all(|filter| filter.passes(entry)) {
            return Ok(());
        }
        let (on, off) = match (self.coloured, level) {
            (false, _) => ("", ""),
            (true, "error") => ("\x1b[31m", "\x1b[0m"),
            (true, "warn") => ("\x1b[33m", "\x1b[0m"),
            (true, "info") => ("\x1b[32m", "\x1b[0m"),
            (true, _) => ("\x1b[2m", "\x1b[0m"),
        };
        print(|out| {
            writeln!(
                out,
                "{:12.6} {:>4} {on}{level:5}{off} {}",
                entry.stamp, entry.node, entry.text
            )
        })
    }

    fn take_line(&mut self, line: Line, arrived: Option<f64>) -> Result<(), Refusal> {
        let level = line.level.map_or("info", |level| level_name(level.as_str()));
        // A line without a stamp is about as old as its arrival.
        let stamp = line.stamp.or(arrived).unwrap_or(0.0);
        self.take(line.board as u64, stamp, arrived, level, line.text)
    }
}

fn log_format(elf: &[u8]) -> Result<LogFormat, Refusal> {
    LogFormat::of_elf(elf).map_err(Refusal::Rig)
}

fn from_streams(args: &CaptureArgs, mesh: &Mesh, folder: &Path, live: &mut Live<'_>) -> Result<u64, Refusal> {
    let path = elf_of(args, mesh)?;
    let elf = std::fs::read(&path).map_err(|error| Refusal::Rig(format!("{}: {error}", path.display())))?;
    let format = log_format(&elf)?;
    let (lines, undecodable) = recorded(folder, mesh, &format).map_err(Refusal::Rig)?;
    lines.into_iter().try_for_each(|line| live.take_line(line, None))?;
    Ok(undecodable)
}

fn elf_of(args: &CaptureArgs, mesh: &Mesh) -> Result<PathBuf, Refusal> {
    match &args.elf {
        Some(path) => Ok(path.clone()),
        None => firmware::build(mesh.kind.name).map_err(|error| Refusal::Rig(error.to_string())),
    }
}

fn from_emulated(args: &CaptureArgs, mut mesh: Mesh, stop: &AtomicBool, live: &mut Live<'_>) -> Result<u64, Refusal> {
    mesh.log_packets = true;
    if let Some(rate) = args.traffic {
        mesh.traffic = Some(Traffic {
            rate,
            count: 0,
            pattern: Pattern::Uniform,
            size: 32,
        });
    }
    let firmware = Firmware::load(args.elf.as_deref()).map_err(Refusal::Rig)?;
    let format = log_format(&firmware.elf)?;
    let mut blueprint = blueprint(&mesh).map_err(Refusal::Rig)?;
    let nodes = mesh.network.nodes();
    // In another order than that of their numbers.
    blueprint.starts = mesh
        .nodes()
        .map(|node| STARTS_WITHIN * (node * 7 % nodes) / nodes)
        .collect();
    let differences = Differences {
        seed: args.seed,
        drift_ppm: DRIFT_PPM,
    };
    let assembled = setup::assemble(&blueprint, &firmware.image, differences);
    let mut world = assembled.map_err(|error| Refusal::Rig(error.to_string()))?;
    let mut readers = format.readers(world.boards().len());
    let mut streams = BTreeMap::new();
    let end = args.duration.unwrap_or(USUAL_TIME);
    while world.now() < end && !stop.load(Ordering::Relaxed) {
        world.run_until((world.now() + SLICE).min(end));
        let mut lines = Vec::new();
        for (board, emulated) in world.boards_mut().iter_mut().enumerate() {
            for (at, bytes) in emulated.take_log() {
                lines.extend(readers.decode(board, at, &bytes));
                if args.record.is_some() {
                    streams.entry(board).or_insert_with(Vec::new).extend(bytes);
                }
            }
        }
        lines.sort_by_key(|line| (line.at, line.board));
        for line in lines {
            let arrived = line.at as f64 / SECOND as f64;
            live.take_line(line, Some(arrived))?;
        }
    }
    if let Some(folder) = &args.record {
        write_streams(folder, &streams).map_err(|error| Refusal::Output(format!("{}: {error}", folder.display())))?;
    }
    Ok(readers.undecodable)
}

fn write_streams(folder: &Path, streams: &BTreeMap<usize, Vec<u8>>) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    streams
        .iter()
        .try_for_each(|(board, bytes)| std::fs::write(folder.join(format!("{board}.rtt")), bytes))
}

fn from_probes(args: &CaptureArgs, mesh: &Mesh, stop: &AtomicBool, live: &mut Live<'_>) -> Result<u64, Refusal> {
    let elf = elf_of(args, mesh)?;
    let probes = Probes::start(&args.probe_rs, mesh, &elf).map_err(Refusal::Rig)?;
    let begin = Instant::now();
    let end = args.duration.map(|time| begin + Duration::from_nanos(time / 1000));
    let mut unreadable = 0;
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
        match probes.next(LOOK) {
            Ok(Some((node, line, at))) => match read_line(&line) {
                Some((stamp, level, text)) => {
                    let arrived = at.duration_since(begin).as_secs_f64();
                    live.take(node, stamp, Some(arrived), level, text)?;
                }
                None => unreadable += 1,
            },
            Ok(None) => {}
            Err(_) => break,
        }
    }
    Ok(unreadable)
}

fn summarize(aligned: &Aligned, undecodable: u64) -> Summary {
    let nodes: std::collections::BTreeSet<u64> = aligned.entries().map(|(_, entry)| entry.node).collect();
    let micros = |seconds: f64| (seconds * 1e7).round() / 10.0;
    Summary {
        lines: aligned.entries().count(),
        events: aligned.entries().filter(|(_, entry)| entry.event.is_some()).count(),
        undecodable,
        nodes: nodes.len(),
        clock_pairs: aligned.alignment.pairs,
        clock_residual_median_us: micros(aligned.alignment.residual_median),
        clock_residual_95_us: micros(aligned.alignment.residual_95),
        clock_residual_worst_us: micros(aligned.alignment.residual_worst),
        nodes_not_aligned: aligned.apart.clone(),
    }
}

fn show(args: &CaptureArgs, summary: &Summary) -> Result<(), Refusal> {
    print(|out| {
        writeln!(
            out,
            "{}: {} lines of {} nodes, {} events; {} pieces could not be read",
            args.output.display(),
            summary.lines,
            summary.nodes,
            summary.events,
            summary.undecodable
        )?;
        if summary.clock_pairs == 0 {
            return writeln!(
                out,
                "clocks: not aligned, times are those of arrival: no packet is in the logs of both its sender and its receiver"
            );
        }
        writeln!(
            out,
            "clocks: aligned by {} packets; half of them fit within {} us, 95 of 100 within {} us, the worst is off by {} us",
            summary.clock_pairs,
            summary.clock_residual_median_us,
            summary.clock_residual_95_us,
            summary.clock_residual_worst_us
        )?;
        if summary.nodes_not_aligned.is_empty() {
            return Ok(());
        }
        let nodes: Vec<String> = summary.nodes_not_aligned.iter().map(u64::to_string).collect();
        writeln!(
            out,
            "clocks: no packets connect nodes {} with the others; their times are those of arrival, good to milliseconds at best",
            nodes.join(", ")
        )
    })
}
