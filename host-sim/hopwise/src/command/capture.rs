use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hopwise_emulate::capture::{self as emulated, EmulatedRun};
use hopwise_emulate::rig::Firmware;
use hopwise_emulator::time::{SECOND, Time};
use hopwise_figures::printable_line;
use hopwise_rig::boards::DEFAULT;
use hopwise_rig::capture::{Capture, CaptureSummary, LogLine};
use hopwise_rig::event_text::{EventText, event_text};
use hopwise_rig::log_sources::{LEVELS, from_streams, from_unaligned};
use hopwise_rig::mesh::Mesh;
use hopwise_rig::probe_logs::{PAUSES, ProbeNews, ProbeRun, from_probes};
use hopwise_trace::line::Record;

use super::emulate::picoseconds;
use super::error::CliError;
use super::output::{Color, Outcome, check_output, colored, listed, print, print_either, say, stop_on_ctrl_c};
use super::{ImageArg, MeshArg, RepositoryArg, one_kind};

/// How long emulated boards run unless told.
const USUAL_TIME: Time = 2 * SECOND;

#[derive(Args)]
#[command(after_help = "\
A filter is node=0,4 or level=warn (and above) or event=dropped,link-down or any piece of text. It filters only what is shown; the
trace has everything. Ctrl-C ends the capture and writes the trace. An earlier trace of that name is replaced when the new one is
complete.

Clocks are aligned by the mesh time that boards log, and by packets if the mesh file says log-packets = true. Emulated boards always log packets.")]
pub(super) struct CaptureArgs {
    #[command(flatten)]
    mesh: MeshArg,
    /// The trace to write, one line of JSON for each event
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Emulated boards, with clocks that differ
    #[arg(long, conflicts_with = "recorded")]
    emulated: bool,
    /// Packets a second that each emulated board sends, besides what the mesh file says
    #[arg(long, value_name = "RATE")]
    traffic: Option<u32>,
    /// Decides everything random about emulated boards
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Keep the streams of emulated boards in this folder, as 0.rtt, 1.rtt ...
    #[arg(long, value_name = "FOLDER", conflicts_with = "recorded")]
    record: Option<PathBuf>,
    /// Read streams from a folder instead of from boards
    #[arg(long, value_name = "FOLDER")]
    recorded: Option<PathBuf>,
    /// Finish a capture that was interrupted: the file beside its output whose name ends in .unaligned
    #[arg(long, value_name = "FILE", conflicts_with_all = ["emulated", "recorded", "record"])]
    unaligned: Option<PathBuf>,
    /// How long [default: until Ctrl-C; emulated boards 2s]
    #[arg(long = "for", value_name = "TIME", value_parser = picoseconds)]
    duration: Option<Time>,
    /// Show only some of the lines on the terminal
    #[arg(long, value_name = "FILTER", value_parser = Filter::parse)]
    filter: Vec<Filter>,
    /// Show no lines
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    image: ImageArg,
    /// The probe-rs program
    #[arg(long, value_name = "PROGRAM", default_value = "probe-rs")]
    probe_rs: String,
    /// Print a JSON object at the end, and no lines
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug)]
enum Filter {
    Nodes(Vec<u64>),
    Level(&'static str),
    Events(Vec<&'static str>),
    Text(String),
}

pub(super) fn severity(level: &str) -> Option<usize> {
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
            Some(("event", events)) => {
                let name = |event: &str| Record::NAMES.into_iter().find(|name| *name == event);
                let names: Option<_> = events.split(',').map(name).collect();
                let events = names.map(Filter::Events);
                events.ok_or_else(|| format!("events are {}", Record::NAMES.join(", ")))
            }
            _ => Ok(Filter::Text(text.into())),
        }
    }

    fn passes(&self, line: &LogLine, record: &Record) -> bool {
        match self {
            Filter::Nodes(nodes) => nodes.contains(&line.node),
            Filter::Level(level) => severity(line.level) >= severity(level),
            Filter::Events(events) => events.contains(&record.name()),
            Filter::Text(text) => line.text.contains(text),
        }
    }
}

pub(super) fn run(args: &CaptureArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let mesh = args.mesh.read()?;
    let colored = colored();
    let mut show = |time: f64, line: &LogLine, record: &Record| {
        let hidden = args.quiet || args.json;
        match hidden || !args.filter.iter().all(|filter| filter.passes(line, record)) {
            true => Ok(()),
            false => show_line(&mesh, time, line, record, colored),
        }
    };
    // A trace that cannot be written is better known before than after.
    check_output(&args.output, inputs(args).iter().map(PathBuf::as_path))?;
    let mut capture = Capture::create(&args.output, &mesh, &mut show)?;
    let stop = stop_on_ctrl_c()?;
    let mut given_up = Vec::new();
    if let Some(path) = &args.unaligned {
        from_unaligned(path, &mut capture)?;
    } else if let Some(folder) = &args.recorded {
        let kind = one_kind(mesh.kinds(), "one image must do to read the logs of all")?;
        let elf = args.image.find(repository, kind.name, &mesh.network)?;
        from_streams(&mesh, &elf, folder, &mut capture)?;
    } else if args.emulated || mesh.is_emulated() {
        let firmware = Firmware::load(&args.image.find(repository, DEFAULT, &mesh.network)?)?;
        let run = EmulatedRun {
            seed: args.seed,
            duration: args.duration.unwrap_or(USUAL_TIME),
            traffic: args.traffic,
            record: args.record.clone(),
        };
        let boards = emulated::boards(&mesh, &firmware.image, &run)?;
        emulated::from_emulated(boards, &firmware.elf, &run, &mut capture, &stop)?;
    } else {
        let kind = one_kind(mesh.kinds(), "one image must do to read the logs of all")?;
        let elf = args.image.find(repository, kind.name, &mesh.network)?;
        let run = ProbeRun {
            program: &args.probe_rs,
            elf: &elf,
            duration: args.duration.map(|time| Duration::from_nanos(time / 1000)),
            pauses: &PAUSES,
        };
        let mut tell = |news: &ProbeNews| say(&news.to_string());
        given_up = from_probes(&mesh, &run, &mut capture, &mut tell, &stop)?;
    }
    let summary = capture.finish()?;
    print_either(args.json, &summary, |summary| show_summary(args, summary))?;
    Ok(Outcome::of(given_up.is_empty(), || {
        format!("boards that were given up before the end: {}", listed(&given_up))
    }))
}

fn inputs(args: &CaptureArgs) -> Vec<PathBuf> {
    let mut inputs = vec![args.mesh.path.clone()];
    inputs.extend(args.image.files().chain(&args.unaligned).cloned());
    let streams = args.recorded.as_ref().and_then(|folder| folder.read_dir().ok());
    let streams = streams.into_iter().flatten().flatten();
    inputs.extend(streams.map(|stream| stream.path()));
    inputs
}

/// `1.969  13 -> 4  forwarded  datagram 17 of node 2`: when, where, what. Of a line that tells of no event,
/// its level and its text.
fn show_line(mesh: &Mesh, time: f64, line: &LogLine, record: &Record, colored: bool) -> io::Result<()> {
    let (what, EventText { place, about }) = match record {
        Record::Event(event) => (record.name(), event_text(mesh, line.node, event)),
        Record::Log { .. } | Record::Unknown => {
            let (place, about) = (line.node.to_string(), line.text.clone());
            (line.level, EventText { place, about })
        }
    };
    let what = Color::of_level(line.level).paint(&format!("{what:9}"), colored);
    let about = printable_line(&about);
    let shown = writeln!(io::stdout(), "{time:9.3}  {place:>10}  {what}  {about}");
    match shown {
        // A reader that has heard enough, such as `head`, is no reason to end a capture.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        shown => shown,
    }
}

fn show_summary(args: &CaptureArgs, summary: &CaptureSummary) -> Result<(), CliError> {
    print(|out| {
        let (output, undecodable) = (args.output.display(), summary.undecodable);
        let (lines, nodes, events) = (summary.lines, summary.nodes, summary.events);
        let what = format!("{lines} lines of {nodes} nodes, {events} events");
        writeln!(out, "{output}: {what}; {undecodable} pieces could not be read")?;
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
        writeln!(
            out,
            "clocks: nothing connects nodes {} with the others; their times are those of arrival, good to milliseconds at best",
            listed(&summary.nodes_not_aligned)
        )
    })
}
