//! Why a command cannot be carried out.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use hopwise_collective::CannotRun;
use hopwise_computer::serial_line::BadPort;
use hopwise_computer::{NoConnection, SendError, TooLong};
use hopwise_core::{NoSuchNode, Node, ParseError};
use hopwise_emulate::app::NoApp;
use hopwise_emulate::firmware::CannotBuildFirmware;
use hopwise_emulate::gdb::GdbFailed;
use hopwise_emulate::repository::NoRepository;
use hopwise_emulate::serial::CannotOpenPort;
use hopwise_emulate::setup::CannotBuild;
use hopwise_emulator::world::BadWire;
use hopwise_experiment::Refused;
use hopwise_experiment::folder::FolderError;
use hopwise_experiment::plan::BadPlan;
use hopwise_experiment::share::BadShare;
use hopwise_language::script::{NoSuchPlace, ScriptError};
use hopwise_load::settings::BadSettings as BadLoad;
use hopwise_networks::figures::CannotSearch;
use hopwise_networks::graph::CannotBuildOut;
use hopwise_networks::papers::CannotMeasure;
use hopwise_networks::routes::CannotRoute;
use hopwise_node::router::ConfigError;
use hopwise_rig::capture::CannotCapture;
use hopwise_rig::emulated::{BadFirmware, CannotEmulate};
use hopwise_rig::flash::{NoPageWritten, NoProbes};
use hopwise_rig::mesh::{BadMesh, CannotAssign, MeshRule};
use hopwise_rig::ports::NoPortMeant;
use hopwise_rig::probe_rs::Unfit;
use hopwise_rig::update::BadPackage;
use hopwise_sim::run::RunError;
use hopwise_sim::settings::BadSettings;
use hopwise_view::data::NoPage;

use super::hint;
use super::new_app::NoNewApp;

/// Bad input, said in one sentence; the exit status is 2.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// The expression is not a network.
    #[error("'{expression}' is not a network: {error}{}", hint::advice(.expression, .error))]
    Expression {
        /// As it was written.
        expression: String,
        /// What is wrong with it.
        error: ParseError,
    },
    /// A node that the network does not have.
    #[error("{expression}: {error}")]
    Node {
        /// The network.
        expression: String,
        /// Which node.
        error: NoSuchNode,
    },
    /// The network is larger than this command takes.
    #[error("{expression} has {nodes} nodes, too many to build out (at most {most})")]
    TooLarge {
        /// The network.
        expression: String,
        /// How many nodes it has.
        nodes: u64,
        /// How many are possible.
        most: u64,
    },
    /// A node with too many neighbours to list.
    #[error("{expression}: node {node} has {degree} neighbours, too many to list (at most {most})")]
    TooManyNeighbors {
        /// The network.
        expression: String,
        /// The node.
        node: u64,
        /// How many it has.
        degree: u64,
        /// How many are listed.
        most: u64,
    },
    /// A route that cannot be listed.
    #[error(transparent)]
    Route(#[from] CannotRoute),
    /// The network is too large to build out.
    #[error(transparent)]
    BuildOut(#[from] CannotBuildOut),
    /// The network is too large to search.
    #[error(transparent)]
    Search(#[from] CannotSearch),
    /// A collective that cannot be carried out.
    #[error(transparent)]
    Collective(#[from] CannotRun),
    /// A paper's claim cannot be measured.
    #[error(transparent)]
    Measure(#[from] CannotMeasure),
    /// There is no firmware.
    #[error(transparent)]
    Firmware(#[from] CannotBuildFirmware),
    /// A serial port cannot be opened to other programs.
    #[error(transparent)]
    SerialPort(#[from] CannotOpenPort),
    /// A serial port that a board does not have.
    #[error("--serial: {0}")]
    NoSerialPort(NoSuchPlace),
    /// A kind of board for a mesh whose file says the kinds.
    #[error("--board is for an expression; the mesh file says which boards there are")]
    BoardOfMesh,
    /// One image for boards that need several.
    #[error(
        "--elf is one image, and the mesh file has boards of several kinds: --images names a folder with one for each"
    )]
    OneImage,
    /// Boards of several kinds where one is expected.
    #[error("the boards are of several kinds ({kinds}): {what}")]
    SeveralKinds {
        /// Which.
        kinds: String,
        /// What to do about it.
        what: &'static str,
    },
    /// GDB cannot be served.
    #[error(transparent)]
    Gdb(#[from] GdbFailed),
    /// The sources of the firmware are not found.
    #[error(transparent)]
    Repository(#[from] NoRepository),
    /// A network that cannot be built of boards.
    #[error("{expression}: {error}")]
    Boards {
        /// The network.
        expression: String,
        /// What is in the way.
        error: CannotBuild,
    },
    /// An image for boards that run none.
    #[error("--elf is for emulated boards: say --boards emulated, too")]
    ElfOfSimulated,
    /// A cable that the network does not have.
    #[error("there is no cable between {a} and {b}")]
    NoCable {
        /// One end.
        a: Node,
        /// The other.
        b: Node,
    },
    /// A node with more links than the boards of a simulation.
    #[error("node {node} has more than {most} links, which is more than these boards have")]
    TooManyLinks {
        /// Which node.
        node: Node,
        /// How many there may be.
        most: u64,
    },
    /// A node of a simulation that cannot be.
    #[error(transparent)]
    SimulatedNode(#[from] ConfigError),
    /// A script about a wire or a board that the network does not have.
    #[error("{expression}: {error}")]
    Script {
        /// The network.
        expression: String,
        /// Which wire or board.
        error: BadWire,
    },
    /// A board that is not there.
    #[error("there is no board {0}")]
    NoBoard(usize),
    /// Events that cannot happen.
    #[error("events, {0}")]
    Events(ScriptError),
    /// A rate that is none.
    #[error("'{0}' is not a rate: a number, or FROM:TO:STEP with a step above 0")]
    Rate(String),
    /// A load that makes no sense.
    #[error(transparent)]
    Load(#[from] BadLoad),
    /// The folder of an experiment.
    #[error(transparent)]
    Jobs(#[from] FolderError),
    /// A run of an experiment, or a table about its runs.
    #[error(transparent)]
    Run(#[from] Refused),
    /// A share of the jobs of an experiment.
    #[error(transparent)]
    Share(#[from] BadShare),
    /// A simulation that makes no sense.
    #[error(transparent)]
    Settings(#[from] BadSettings),
    /// The file of an experiment that makes no sense.
    #[error(transparent)]
    Plan(#[from] BadPlan),
    /// A simulation that did not come to its end.
    #[error(transparent)]
    Simulation(#[from] RunError),
    /// Neither a file nor a network.
    #[error("there is no file '{name}', and {refusal}")]
    NoFile {
        /// As it was written.
        name: String,
        /// Why it is no network.
        refusal: Box<Refusal>,
    },
    /// A trace of which there is no page.
    #[error(transparent)]
    Page(#[from] NoPage),
    /// A mesh file that cannot be read.
    #[error(transparent)]
    MeshFile(#[from] BadMesh),
    /// A mesh that cannot be.
    #[error(transparent)]
    Mesh(#[from] MeshRule),
    /// A mesh that cannot be emulated as asked.
    #[error(transparent)]
    Emulated(#[from] CannotEmulate),
    /// A file that is no update.
    #[error("{}: {error}", path.display())]
    Package {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: BadPackage,
    },
    /// A file that is no firmware.
    #[error(transparent)]
    FirmwareFile(#[from] BadFirmware),
    /// No mesh behind a serial port.
    #[error(transparent)]
    Connection(#[from] NoConnection),
    /// A serial port that fails.
    #[error(transparent)]
    Port(#[from] BadPort),
    /// More than a packet carries.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// A program of a user's that is none.
    #[error(transparent)]
    App(#[from] NoApp),
    /// No new program of a user's.
    #[error(transparent)]
    NewApp(#[from] NoNewApp),
    /// A message that could not be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// Bytes that are none.
    #[error("'{0}' is not a list of bytes, two hexadecimal digits each")]
    Hex(String),
    /// A place where only programs of this computer may come.
    #[error("--listen takes an address of this computer only, such as 127.0.0.1:7000, not {0}")]
    NotLoopback(SocketAddr),
    /// A socket that cannot be opened.
    #[error("--listen {address}: {error}")]
    Socket {
        /// Where it was to be.
        address: SocketAddr,
        /// Why it is not.
        error: io::Error,
    },
    /// A system that has no random numbers.
    #[error("the system provides no random numbers: {0}")]
    NoRandom(io::Error),
    /// No port is said, and none is meant.
    #[error(transparent)]
    NoPort(#[from] NoPortMeant),
    /// A probe that cannot be written into the mesh file.
    #[error("{}: {error}", path.display())]
    Assign {
        /// The mesh file.
        path: PathBuf,
        /// Why not.
        error: CannotAssign,
    },
    /// Boards that no probe is named for.
    #[error(transparent)]
    NoProbes(#[from] NoProbes),
    /// No probe-rs to do it.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A configuration page that cannot be written.
    #[error(transparent)]
    NoPageWritten(#[from] NoPageWritten),
    /// No trace of boards.
    #[error(transparent)]
    Capture(CannotCapture),
    /// A board that the mesh does not have.
    #[error("{expression} has no node {node}")]
    NoNode {
        /// The network.
        expression: String,
        /// Which node.
        node: u64,
    },
    /// More cables than the plan has.
    #[error("the plan has {most} cables, not {cables}")]
    TooManyCables {
        /// How many it has.
        most: usize,
        /// How many were said.
        cables: usize,
    },
    /// Something for real boards, where all are emulated.
    #[error("all boards of this mesh are emulated: {0}")]
    AllEmulated(&'static str),
    /// Nothing to look at.
    #[error("give --port TTY, the serial port of one of the boards, or --emulated")]
    NoBoards,
    /// The end of a capture could not be waited for.
    #[error("cannot wait for Ctrl-C: {0}")]
    Interrupt(#[from] ctrlc::Error),
    /// A file that cannot be read, or does not hold what it should.
    #[error("{path}: {reason}")]
    File {
        /// Which file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What is written would destroy what is read.
    #[error("{}: this file is read; write to another one", .0.display())]
    OutputIsInput(PathBuf),
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(String),
}

impl Refusal {
    /// An expression with a caret under the place that is wrong.
    pub(super) fn caret(&self) -> Option<String> {
        match self {
            Refusal::Expression { expression, error } => hint::caret(expression, error),
            Refusal::NoFile { refusal, .. } => refusal.caret(),
            _ => None,
        }
    }

    /// Of a file.
    pub(super) fn file(path: &Path, reason: impl ToString) -> Self {
        Refusal::File {
            path: path.display().to_string(),
            reason: reason.to_string(),
        }
    }

    /// Of a file that cannot be written.
    pub(super) fn output(path: &Path, error: &io::Error) -> Self {
        Refusal::Output(format!("{}: {error}", path.display()))
    }
}

impl From<CannotCapture> for Refusal {
    fn from(error: CannotCapture) -> Self {
        match error {
            CannotCapture::Output { path, error } => Refusal::output(&path, &error),
            CannotCapture::Show(error) => Refusal::Output(error.to_string()),
            error => Refusal::Capture(error),
        }
    }
}
