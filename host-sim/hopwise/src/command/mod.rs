//! The `hopwise` command: one file a subcommand, from arguments to output.

mod about;
mod adopt;
mod advice;
mod assign;
mod bench;
mod board;
mod broadcast;
mod capture;
mod check;
mod choose;
mod clock;
mod collective;
mod compare;
mod cost;
mod deadlock;
mod demo;
mod doctor;
mod edges;
mod emulate;
mod error;
mod experiment;
mod export;
mod flash;
mod help;
mod hint;
mod host;
mod lifts;
mod load;
mod manual;
mod mesh;
mod mesh_run;
mod neighbors;
mod new_app;
mod node;
mod output;
mod paper;
mod plan;
mod play;
mod prebuilt;
mod recognise;
mod report;
mod route;
mod sign;
mod sim;
mod swarm;
mod table;
mod talk;
mod topo;
mod tour;
mod update;
mod view;
mod watch;
mod web_server;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use hopwise_core::{Network, Node};

use error::CliError;
use hopwise_emulate::app;
use hopwise_emulate::firmware::Firmware;
use hopwise_emulate::repository::{NoRepository, Repository};
use hopwise_rig::boards::{BoardKind, kind};
use hopwise_rig::mesh::Mesh;
use hopwise_rig::ports::NoPortSelected;
use output::{Outcome, say};

/// Networks of microcontrollers, routed from addresses alone.
#[derive(Parser)]
#[command(name = "hopwise", version, about, help_template = help::template())]
#[command(mut_arg("repo", |arg| arg.hide(true)), mut_arg("images", |arg| arg.hide(true)))]
pub(crate) struct Hopwise {
    /// What was said before the command, as it could be when every command took these options.
    #[command(flatten)]
    repository: RepositoryArg,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Shows what routing from addresses does on a small network, and checks everything
    Demo,
    /// A guided first session of five minutes: each stop explains a command and runs it
    Tour(WithFirmware<tour::TourArgs>),
    /// A mesh in the browser: draw a network, send packets, cut cables, watch the detours
    #[command(mut_arg("images", |arg| arg.hide(true)))]
    Play(WithFirmware<play::PlayArgs>),
    /// Nodes, edges, degrees, diameter and distances of a network
    Topo(topo::TopoArgs),
    /// Every edge of a network once, as "u v" with u < v, sorted
    Edges(edges::EdgesArgs),
    /// A network as BookSim, SST, OMNeT++, GraphML or Graphviz read it, and its routes as a table
    Export(export::ExportArgs),
    /// The neighbors of a node, by port
    Neighbors(neighbors::NeighborsArgs),
    /// The route between two nodes
    Route(route::RouteArgs),
    /// The broadcast tree of a node; with --port, a broadcast to a running mesh
    Broadcast(broadcast::BroadcastArgs),
    /// What all nodes do together, in synchronous rounds: reduce, scan, sort, fft ...
    Collective(collective::CollectiveArgs),
    /// Whether a rule with its buffer classes can deadlock
    Deadlock(deadlock::DeadlockArgs),
    /// Networks side by side
    Compare(compare::CompareArgs),
    /// The best networks for a number of boards with a number of ports
    Choose(choose::ChooseArgs),
    /// Searches for lifts with short distances and keeps the best, for `choose` to list
    Lifts(lifts::LiftsArgs),
    /// Which network a list of cables is, and which of its nodes each board
    Recognise(recognise::RecogniseArgs),
    /// The claims of the papers, measured again
    Paper(paper::PaperArgs),
    /// The real firmware on emulated boards, wired as a network
    Emulate(WithFirmware<emulate::EmulateArgs>),
    /// What the firmware costs a board: instructions to forward a packet in several networks, and for messages of programs
    Cost(WithFirmware<cost::CostArgs>),
    /// Many nodes over wires that fail, in virtual time, with every packet accounted for
    Sim(Box<sim::SimArgs>),
    /// Latency against load, simulating the routers cycle by cycle
    Load(Box<load::LoadArgs>),
    /// How well the clocks of all boards agree
    Clock(WithFirmware<clock::ClockArgs>),
    /// Runs the networks, loads, faults and seeds of one file with load, sim and emulate, and compares them in a table and a page
    Experiment(experiment::ExperimentArgs),
    /// A summary of traces: delivery, latency, paths, cables and drops; several side by side
    Report(report::ReportArgs),
    /// A page that draws a network and replays a trace on it
    View(view::ViewArgs),
    /// Mesh files, which say which boards make up a mesh
    Mesh(mesh::MeshArgs),
    /// The kinds of boards, their links and pins, and a drawing of their headers
    Board(board::BoardArgs),
    /// How to wire the boards of a mesh: every cable once, in an order that can be tested along the way
    Plan(plan::PlanArgs),
    /// Whether boards are wired as planned, and which cable to move where if not
    Check(WithFirmware<check::CheckArgs>),
    /// Explores boards without a config that are wired anyhow, recognises their network, and brings it up
    Adopt(WithFirmware<adopt::AdoptArgs>),
    /// Examines one board: clock, baud rate, flash, links, watchdog and stack, and writes a report
    Doctor(WithFirmware<doctor::DoctorArgs>),
    /// Flashes the image and the configuration into all boards of a mesh, through probe-rs
    Flash(WithFirmware<flash::FlashArgs>),
    /// Brings new firmware into all boards of a running mesh, through the serial port of one of them
    Update(WithFirmware<update::UpdateArgs>),
    /// What a firmware image is: board, version, commit, features, hash
    About(about::AboutArgs),
    /// Signs an update file, with the private key of the owner of the boards
    Sign(sign::SignArgs),
    /// The logs of all boards as one trace on one time line
    Capture(Box<WithFirmware<capture::CaptureArgs>>),
    /// Emulated boards on a page, to plug in, flash, wire and check as real ones, with the same commands
    Bench(WithFirmware<bench::BenchArgs>),
    /// Takes the place of probe-rs at a bench
    #[command(hide = true)]
    BenchProbe(bench::BenchProbeArgs),
    /// One node of a mesh as a process of this machine, with sockets, terminals and serial ports as cables
    Node(node::NodeArgs),
    /// Makes a new crate for a program of yours, with a test on emulated boards
    // It builds on the sources, not on images.
    #[command(mut_arg("images", |arg| arg.hide(true)))]
    NewApp(WithFirmware<new_app::NewAppArgs>),
    /// Asks a node of a running mesh whether it is there, and measures how long that takes
    Ping(talk::PingArgs),
    /// The path to a node of a running mesh, and how long a packet spent at each node
    Trace(talk::TraceArgs),
    /// What the nodes of a running mesh have done, as a table
    Counters(talk::CountersArgs),
    /// Sends a text or bytes to an application on a node of a running mesh, or to the host there
    Send(host::SendArgs),
    /// Asks an application on a node of a running mesh, and prints its response
    Request(host::RequestArgs),
    /// What boards and other hosts send to this host
    Listen(host::ListenArgs),
    /// Lines of JSON between programs in any language and a running mesh
    Bridge(host::BridgeArgs),
    /// A script that makes a shell complete the words of this command
    Completions(manual::CompletionsArgs),
    /// Manual pages of all commands, as files
    Man(manual::ManArgs),
}

/// Exit status after Ctrl-C, as shells have it.
const STOPPED: u8 = 130;

/// Carries out a command. Exit status 0: done; 1: a check failed; 2: the input was refused; 130: stopped by Ctrl-C.
pub(crate) fn run(hopwise: &Hopwise) -> ExitCode {
    match carry_out(hopwise) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed(what)) => {
            say(&format!("hopwise: {what}"));
            ExitCode::from(1)
        }
        Ok(Outcome::Stopped(what)) => {
            say(&format!("hopwise: {what}"));
            ExitCode::from(STOPPED)
        }
        Err(error) => {
            say(&format!("hopwise: {error}"));
            // A script reads one line.
            if let Some(caret) = error.caret.filter(|_| io::stderr().is_terminal()) {
                eprintln!("{caret}");
            }
            ExitCode::from(2)
        }
    }
}

/// Of a command that checks nothing.
fn done(result: Result<(), CliError>) -> Result<Outcome, CliError> {
    result.map(|()| Outcome::Done)
}

fn carry_out(hopwise: &Hopwise) -> Result<Outcome, CliError> {
    let said = &hopwise.repository;
    match &hopwise.command {
        Command::Demo => demo::run(),
        Command::Tour(with) => tour::run(&with.args, &with.repository.or(said)),
        Command::Play(with) => done(play::run(&with.args, &with.repository.or(said))),
        Command::Topo(args) => topo::run(args),
        Command::Edges(args) => done(edges::run(args)),
        Command::Export(args) => done(export::run(args)),
        Command::Neighbors(args) => done(neighbors::run(args)),
        Command::Route(args) => done(route::run(args)),
        Command::Broadcast(args) => broadcast::run(args),
        Command::Collective(args) => collective::run(args),
        Command::Deadlock(args) => deadlock::run(args),
        Command::Compare(args) => done(compare::run(args)),
        Command::Clock(with) => clock::run(&with.args, &with.repository.or(said)),
        Command::Choose(args) => choose::run(args),
        Command::Lifts(args) => done(lifts::run(args)),
        Command::Recognise(args) => done(recognise::run(args)),
        Command::Paper(args) => paper::run(args),
        Command::Emulate(with) => emulate::run(&with.args, &with.repository.or(said)),
        Command::Cost(with) => done(cost::run(&with.args, &with.repository.or(said))),
        Command::Sim(args) => sim::run(args),
        Command::Experiment(args) => experiment::run(args, &hopwise.repository),
        Command::Report(args) => done(report::run(args)),
        Command::View(args) => done(view::run(args)),
        Command::Load(args) => load::run(args),
        Command::Mesh(args) => mesh::run(args, said),
        Command::Board(args) => done(board::run(args)),
        Command::Plan(args) => done(plan::run(args)),
        Command::Check(with) => check::run(&with.args, &with.repository.or(said)),
        Command::Adopt(with) => adopt::run(&with.args, &with.repository.or(said)),
        Command::Doctor(with) => doctor::run(&with.args, &with.repository.or(said)),
        Command::Flash(with) => flash::run(&with.args, &with.repository.or(said)),
        Command::Update(with) => update::run(&with.args, &with.repository.or(said)),
        Command::About(args) => done(about::run(args)),
        Command::Sign(args) => done(sign::run(args)),
        Command::Capture(with) => capture::run(&with.args, &with.repository.or(said)),
        Command::Bench(with) => bench::run(&with.args, &with.repository.or(said)),
        Command::BenchProbe(args) => bench::probe(args),
        Command::Node(args) => node::run(args),
        Command::NewApp(with) => done(new_app::run(&with.args, &with.repository.or(said))),
        Command::Ping(args) => talk::ping(args),
        Command::Trace(args) => talk::trace(args),
        Command::Counters(args) => talk::counters(args),
        Command::Send(args) => host::send(args),
        Command::Request(args) => host::request(args),
        Command::Listen(args) => host::listen(args),
        Command::Bridge(args) => host::bridge(args),
        Command::Completions(args) => done(manual::completions(args)),
        Command::Man(args) => done(manual::man(args)),
    }
}

/// The arguments of a command that runs, flashes or builds on firmware.
#[derive(Args)]
struct WithFirmware<A: Args> {
    #[command(flatten)]
    args: A,
    #[command(flatten)]
    repository: RepositoryArg,
}

/// Where the firmware's sources are, for the commands that build it.
#[derive(Args, Clone)]
#[command(next_help_heading = "Options for firmware")]
struct RepositoryArg {
    /// Hopwise's repository, from which firmware is built [default: HOPWISE_REPO, or the one around the working folder]
    #[arg(long, value_name = "PATH")]
    repo: Option<PathBuf>,
    /// A folder of built images, as in a release: nucleo-f446re.elf ... [default: HOPWISE_IMAGES]
    #[arg(long, value_name = "FOLDER")]
    images: Option<PathBuf>,
}

/// The variable that says where images are.
const IMAGES: &str = "HOPWISE_IMAGES";

impl RepositoryArg {
    /// With what was said elsewhere, where nothing is said here.
    fn or(&self, other: &Self) -> Self {
        RepositoryArg {
            repo: self.repo.clone().or_else(|| other.repo.clone()),
            images: self.images.clone().or_else(|| other.images.clone()),
        }
    }

    /// A file in the folder of images, if one is said, or one that came with this command, unless there is a repository.
    fn built(&self, name: &str) -> Result<Option<PathBuf>, CliError> {
        let said = std::env::var_os(IMAGES).filter(|folder| !folder.is_empty());
        let Some(folder) = self.images.clone().or_else(|| said.map(PathBuf::from)) else {
            return match Repository::find(self.repo.as_deref()) {
                Err(NoRepository::Nowhere) => {
                    let unpacked = prebuilt::image(name);
                    unpacked.map_err(|error| CliError::new(format_args!("the firmware in this command: {error}")))
                }
                _ => Ok(None),
            };
        };
        let path = folder.join(format!("{name}.elf"));
        match path.is_file() {
            true => Ok(Some(path)),
            false => Err(CliError::file(
                &folder,
                format!("there is no {name}.elf in this folder of images"),
            )),
        }
    }

    /// The same, or else what the repository has.
    fn built_or(
        &self,
        name: &str,
        of: impl FnOnce(&Repository) -> Result<PathBuf, CliError>,
    ) -> Result<PathBuf, CliError> {
        match self.built(name)? {
            Some(path) => Ok(path),
            None => of(&Repository::find(self.repo.as_deref())?),
        }
    }

    /// Where Hopwise's own image for a board is once it has been built.
    fn elf_path(&self, board: &str) -> Result<PathBuf, CliError> {
        self.built_or(board, |repository| Ok(Firmware::new(board).path(repository)))
    }

    /// Where the boot loader of a board is once Hopwise's own image has been built.
    fn loader_path(&self, board: &str) -> Result<PathBuf, CliError> {
        self.built_or(&format!("{board}-boot"), |repository| {
            Ok(Firmware::new(board).loader_path(repository))
        })
    }

    /// Hopwise's own image for a board, linked for the first slot and for the second, and the boot loader; built if need be.
    fn both_slots(&self, board: &str) -> Result<[PathBuf; 3], CliError> {
        if let Some(first) = self.built(board)? {
            let second = self.built(&format!("{board}-second-slot"))?.unwrap_or_default();
            return Ok([first, second, self.loader_path(board)?]);
        }
        let repository = Repository::find(self.repo.as_deref())?;
        let first = Firmware::new(board);
        let loader = first.loader_path(&repository);
        let second = first.clone().for_second_slot();
        Ok([first.build(&repository, say)?, second.build(&repository, say)?, loader])
    }

    /// The given image, or Hopwise's own for a board, which is built if need be.
    fn elf(&self, given: Option<&Path>, board: &str) -> Result<PathBuf, CliError> {
        if let Some(path) = given {
            return Ok(path.to_path_buf());
        }
        self.built_or(board, |repository| Ok(Firmware::new(board).build(repository, say)?))
    }
}

/// What runs on the boards, if not Hopwise's own image.
#[derive(Args)]
struct ImageArg {
    /// The firmware, the ELF file that is flashed [default: Hopwise's own]
    #[arg(long, value_name = "FILE", conflicts_with = "app")]
    elf: Option<PathBuf>,
    /// A program of yours: its crate, which is built, or an ELF file
    #[arg(long, value_name = "PATH")]
    app: Option<PathBuf>,
}

impl ImageArg {
    /// The image for a board of a network, built if need be.
    fn find(&self, repository: &RepositoryArg, board: &str, network: &Network) -> Result<PathBuf, CliError> {
        match &self.app {
            Some(path) => Ok(app::elf(path, board, network, say)?),
            None => repository.elf(self.elf.as_deref(), board),
        }
    }

    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.elf.iter().chain(&self.app)
    }
}

/// The network that most commands are about.
#[derive(Args)]
struct NetworkArg {
    /// The network, as an expression: rdn(ring(3),1), re(ring(4),complete(3),3), rcr(2,2,1), torus(4,4) ...
    #[arg(value_name = "EXPR")]
    expression: String,
}

impl NetworkArg {
    fn network(&self) -> Result<Network, CliError> {
        parse(&self.expression)
    }
}

/// The mesh file that the rig's commands are about.
#[derive(Args)]
struct MeshArg {
    /// The mesh file; `hopwise mesh new` writes one
    #[arg(value_name = "MESH.toml")]
    path: PathBuf,
}

impl MeshArg {
    fn read(&self) -> Result<Mesh, CliError> {
        Ok(Mesh::read(&self.path)?)
    }
}

/// A kind of board for a mesh whose file says the kinds.
const BOARD_OF_MESH: &str = "--board is for an expression; the mesh file says which boards there are";

/// Of a command that could also look at emulated boards.
fn no_boards(error: NoPortSelected) -> CliError {
    match error {
        NoPortSelected::None => CliError::new(format_args!(
            "give --port TTY, the serial port of one of the boards, or --emulated: {}",
            advice::NO_BOARD
        )),
        several => several.into(),
    }
}

/// Of a command that has a mesh file, too. If several boards are plugged in, the file names none of them.
fn none_of_mesh(error: NoPortSelected) -> CliError {
    match error {
        NoPortSelected::Several(boards) => CliError::new(format_args!(
            "the mesh file names none of the {} boards that are plugged in: {}; or give --port {}, or that of another board",
            boards.len(),
            advice::ASSIGN,
            boards[0].path.display()
        )),
        other => no_boards(other),
    }
}

/// The kind of some boards, if they are all of one; `what` says what to do if they are not.
fn one_kind(
    kinds: impl IntoIterator<Item = &'static BoardKind>,
    what: &'static str,
) -> Result<&'static BoardKind, CliError> {
    let names: BTreeSet<&str> = kinds.into_iter().map(|kind| kind.name).collect();
    match names.first().and_then(|name| kind(name)) {
        Some(kind) if names.len() == 1 => Ok(kind),
        _ => {
            let kinds = Vec::from_iter(names).join(", ");
            Err(CliError::new(format_args!(
                "the boards are of several kinds ({kinds}): {what}"
            )))
        }
    }
}

/// Reads an expression. Exact searches may take what a host has to spare.
fn parse(expression: &str) -> Result<Network, CliError> {
    let parsed: Result<Network, _> = expression.parse();
    let network = parsed.map_err(|error| CliError::expression(expression, &error))?;
    Ok(network.with_search_memory(usize::MAX))
}

/// A node, if the network has it.
fn check(network: &Network, node: Node) -> Result<Node, CliError> {
    network.check(node).map_err(|error| CliError::network(network, error))
}

/// Parses the name of one of these values.
fn by_name<T: Clone + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = all.iter().cloned().map(name);
    PossibleValuesParser::new(names).try_map(move |word| {
        let found = all.iter().find(|&one| name(one.clone()) == word);
        found.cloned().ok_or("there is no such thing")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use clap::Parser;

    use super::Hopwise;

    /// The commands of ours among the code blocks of a page, as a shell would split them.
    fn commands(page: &str) -> Vec<Vec<String>> {
        let mut in_fence = false;
        let mut found = vec![];
        for line in page.lines() {
            if line.starts_with("```") {
                in_fence = !in_fence;
                continue;
            }
            if !in_fence && !line.starts_with("    ") {
                continue;
            }
            let line = line.trim().trim_start_matches("$ ").trim_start_matches("cargo ");
            if !line.starts_with("hopwise ") || line.contains('$') {
                continue;
            }
            found.push(words(line));
        }
        found
    }

    /// The words of a line up to what the command does not see: a comment, a pipe, a second command.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![];
        for (place, part) in line.split('\'').enumerate() {
            if place % 2 == 1 {
                words.push(part.into());
                continue;
            }
            for word in part.split_whitespace() {
                if ["#", "|", ">", "&&", ";"].contains(&word) || word.starts_with('#') {
                    return words;
                }
                words.push(word.into());
            }
        }
        words
    }

    #[test]
    fn the_book_shows_commands_that_there_are() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let entries = |folder: &str| {
            let entries = fs::read_dir(repository.join(folder)).unwrap();
            entries.map(|entry| entry.unwrap().path())
        };
        let crates = entries(".")
            .chain(entries("host-sim"))
            .map(|path| path.join("README.md"));
        let pages = entries("docs").chain(crates.filter(|path| path.is_file()));
        let pages = pages.chain(["README.md", "CONTRIBUTING.md"].map(|name| repository.join(name)));
        let mut count = 0;
        for path in pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
            for command in commands(&fs::read_to_string(&path).unwrap()) {
                let parsed = Hopwise::try_parse_from(&command);
                let refused = parsed.err().filter(|error| error.exit_code() != 0);
                assert!(
                    refused.is_none(),
                    "{}: {}\n{}",
                    path.display(),
                    command.join(" "),
                    refused.unwrap()
                );
                count += 1;
            }
        }
        assert!(count > 100, "{count} commands");
    }
}
