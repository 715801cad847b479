//! The mesh file: which network, of which boards, and which board is which node.
//!
//! ```toml
//! network = "rdn(ring(3),1)"
//! board = "nucleo-f446re"
//! baud = 1000000                      # unless said otherwise
//! log-packets = true                  # false unless said otherwise
//! computers-anywhere = true           # false unless said otherwise
//! key-file = "mesh.key"               # beside this file; or key = "..."; no key unless said
//! traffic = { rate = 10, count = 100, pattern = "uniform", size = 32 }
//!
//! [[node]]
//! address = 0
//! probe = "066DFF515055657867152331"
//! name = "north"
//! board = "nucleo-f401re"             # as above unless said otherwise
//! uarts = ["USART6", "USART1"]        # port 0, port 1 ...: in the order of the board's links unless said otherwise
//! ```
//!
//! A file is a mesh file if it has the key `board`.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hopwise_core::authority::MeshKeys;
use hopwise_core::key::{BadKey, Key};
use hopwise_core::wire::{BadPage, DEFAULT_BAUD, PAGE_BYTES, Page, Pattern, Traffic, rates_agree};
use hopwise_core::{Network, NoSuchNode, ParseError};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::boards::{BoardKind, KINDS, Uart, kind};

/// The probe of boards that are emulated.
pub const EMULATED: &str = "emulated";
/// More boards than this are no rig.
pub const MOST_NODES: u64 = 4096;
/// A name is a line on a label.
const MOST_NAME: usize = 16;

/// A port of a node, written `3.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodePort {
    /// The node.
    pub node: u64,
    /// Its port, as `hopwise neighbors` numbers them.
    pub port: u64,
}

impl fmt::Display for NodePort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.node, self.port)
    }
}

/// A text that is no port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no port such as 3.1, port 1 of node 3")]
pub struct NoPort(String);

impl FromStr for NodePort {
    type Err = NoPort;

    fn from_str(text: &str) -> Result<Self, NoPort> {
        let parts = text.split_once('.');
        let parts = parts.and_then(|(node, port)| Some((node.parse().ok()?, port.parse().ok()?)));
        let (node, port) = parts.ok_or_else(|| NoPort(text.into()))?;
        Ok(NodePort { node, port })
    }
}

impl Serialize for NodePort {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What is said of one node; what is not said has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct NodeSettings {
    /// Its board, if it is not like the others.
    kind: Option<&'static BoardKind>,
    probe: Option<String>,
    name: String,
    /// The link that each port is at; empty for the order of the links.
    links: Vec<usize>,
}

/// A mesh file that holds what it should.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// The network.
    pub network: Network,
    /// The kind of all boards that no other is said of: [`kind_of`](Self::kind_of) knows each.
    pub kind: &'static BoardKind,
    /// Speed of the wires.
    pub baud: u32,
    /// Routes are those of the network's paper.
    pub paper_rule: bool,
    /// Boards log every packet.
    pub log_packets: bool,
    /// Boards take a computer for one at any link, not only at their serial ports.
    pub computers_anywhere: bool,
    /// Packets that boards send by themselves.
    pub traffic: Option<Traffic>,
    /// The keys, if the mesh has any.
    pub keys: Option<MeshKeys>,
    /// Where they are, if not in the mesh file.
    key_file: Option<PathBuf>,
    emulated: bool,
    nodes: BTreeMap<u64, NodeSettings>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct MeshTable {
    network: Spanned<String>,
    board: Spanned<String>,
    baud: Option<Spanned<u32>>,
    rule: Option<RuleName>,
    #[serde(default)]
    log_packets: bool,
    #[serde(default)]
    computers_anywhere: bool,
    traffic: Option<Spanned<TrafficTable>>,
    key: Option<Spanned<String>>,
    key_file: Option<Spanned<PathBuf>>,
    probe: Option<Spanned<String>>,
    #[serde(default)]
    node: Vec<NodeTable>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum RuleName {
    Exact,
    Paper,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrafficTable {
    rate: u32,
    #[serde(default)]
    count: u32,
    #[serde(default = "usual_pattern")]
    pattern: hopwise_language::Traffic,
    #[serde(default = "usual_size")]
    size: u8,
}

fn usual_pattern() -> hopwise_language::Traffic {
    hopwise_language::Traffic::Uniform
}

fn usual_size() -> u8 {
    32
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeTable {
    address: Spanned<u64>,
    board: Option<Spanned<String>>,
    probe: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    uarts: Option<Spanned<Vec<String>>>,
}

/// Why there is no mesh.
#[derive(Debug, thiserror::Error)]
pub enum BadMesh {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The file breaks a rule.
    #[error("{} {broken}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// Which rule, and where.
        broken: BrokenRule,
    },
    /// The file that it names as that of its key holds none.
    #[error("{}: {error}", path.display())]
    Key {
        /// The file of the key.
        path: PathBuf,
        /// What is wrong with it.
        error: BadKey,
    },
}

/// What the text of a mesh file breaks, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {rule}")]
pub struct BrokenRule {
    /// Counted from 1.
    pub line: usize,
    /// What is broken.
    pub rule: MeshRule,
}

/// What a mesh has to keep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentences say what they are")]
pub enum MeshRule {
    #[error("{0}")]
    Toml(String),
    #[error("'{expression}' is not a network: {error}")]
    Network { expression: String, error: ParseError },
    #[error("there is no board '{0}', only {known}", known = KINDS.map(|kind| kind.name).join(", "))]
    UnknownBoard(String),
    #[error("{network} has {nodes} nodes, too many for a mesh file (at most {MOST_NODES})")]
    TooManyNodes { network: String, nodes: u64 },
    #[error("node {node} of {network} has {degree} links, and a {board} has {links} UARTs for links")]
    TooManyLinks {
        node: u64,
        network: String,
        degree: u64,
        board: &'static str,
        links: u64,
    },
    #[error("{0} is routed by tables, which boards do not have: give them a lift, `hopwise choose` finds one")]
    Tables(String),
    #[error("{0}")]
    Key(BadKey),
    #[error("a mesh has a key or a key-file, not both")]
    TwoKeys,
    #[error("the expression {0} is too long for a configuration page")]
    TooLong(String),
    #[error("{0}")]
    Page(BadPage),
    #[error("the serial ports of a {board} differ by more than 1.5 % at {baud} baud")]
    Baud { baud: u32, board: String },
    #[error("{network}: {error}")]
    Node { network: String, error: NoSuchNode },
    #[error("node {0} is there twice")]
    Twice(u64),
    #[error("a name has at most {MOST_NAME} bytes")]
    LongName,
    #[error("probe = \"{EMULATED}\" is for all boards; a real probe belongs to one [[node]]")]
    ProbeForAll,
    #[error("node {0} has an empty probe: leave the line out")]
    EmptyProbe(u64),
    #[error("probe = \"{EMULATED}\" is for all boards: write it above the first [[node]]")]
    EmulatedNode,
    #[error("node {0} has a probe, but all boards are {EMULATED}")]
    ProbeOfEmulated(u64),
    #[error("probe {probe} is already that of node {node}")]
    ProbeTaken { probe: String, node: u64 },
    #[error("node {node} has {degree} ports, and uarts names {named}")]
    UartCount { node: u64, degree: u64, named: usize },
    #[error("{uart} is no link of a {}, which has {}", kind.name, kind.links.iter().map(|link| link.name).collect::<Vec<_>>().join(", "))]
    NoLink { uart: String, kind: &'static BoardKind },
    #[error("node {node} uses {uart} twice")]
    UartTwice { node: u64, uart: String },
    #[error(transparent)]
    Pattern(#[from] hopwise_language::UnsuitableTraffic),
    #[error("traffic needs a rate of at least 1 packet a second")]
    NoRate,
    #[error("packets have {least} to 200 bytes, not {0}", least = Traffic::SMALLEST)]
    PacketSize(u8),
}

/// Reads the file of a key: the key, and perhaps lines that begin with `#`.
pub fn read_keys(path: &Path) -> Result<MeshKeys, BadMesh> {
    let text = std::fs::read_to_string(path).map_err(|error| BadMesh::Unreadable {
        path: path.to_path_buf(),
        error,
    })?;
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let secret: Result<Key, BadKey> = line.unwrap_or_default().parse();
    match secret {
        Ok(secret) => Ok(MeshKeys::of(&secret)),
        Err(error) => Err(BadMesh::Key {
            path: path.to_path_buf(),
            error,
        }),
    }
}

/// What is broken, and where it stands in the text.
type Broken = (usize, MeshRule);

fn at<T>(place: &Spanned<T>, rule: MeshRule) -> Broken {
    (place.span().start, rule)
}

impl Mesh {
    /// A mesh of boards in their default state.
    pub fn new(network: Network, kind: &'static BoardKind) -> Result<Self, MeshRule> {
        let mesh = Mesh::without_nodes(network, kind)?;
        mesh.check_links()?;
        Ok(mesh)
    }

    /// The same, of which it is not yet known whether the boards have links enough.
    fn without_nodes(network: Network, kind: &'static BoardKind) -> Result<Self, MeshRule> {
        let mesh = Mesh {
            network,
            kind,
            baud: DEFAULT_BAUD,
            paper_rule: false,
            log_packets: false,
            computers_anywhere: false,
            traffic: None,
            keys: None,
            key_file: None,
            emulated: false,
            nodes: BTreeMap::new(),
        };
        let nodes = mesh.network.nodes();
        if nodes > MOST_NODES {
            return Err(MeshRule::TooManyNodes {
                network: mesh.network.to_string(),
                nodes,
            });
        }
        if matches!(mesh.network.family(), hopwise_core::Family::Table(_)) {
            return Err(MeshRule::Tables(mesh.network.to_string()));
        }
        mesh.page(0).map_err(|_| MeshRule::TooLong(mesh.network.to_string()))?;
        Ok(mesh)
    }

    /// Whether a file is a mesh file, and not one of another kind. A file that cannot be read is none.
    pub fn is_mesh_file(path: &Path) -> bool {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // Even one that is damaged further down, so that the mistake is told as one in a mesh file.
        let says_board = |line: &str| {
            let after = line.trim_start().strip_prefix("board");
            after.is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        text.lines().any(says_board)
    }

    /// Reads a file. What is wrong with it is told in a sentence with file and line.
    pub fn read(path: &Path) -> Result<Self, BadMesh> {
        let text = std::fs::read_to_string(path).map_err(|error| BadMesh::Unreadable {
            path: path.to_path_buf(),
            error,
        })?;
        let mut mesh = Self::parse(&text).map_err(|broken| BadMesh::InFile {
            path: path.to_path_buf(),
            broken,
        })?;
        if let Some(file) = &mesh.key_file {
            let beside = path.parent().unwrap_or(Path::new("")).join(file);
            mesh.keys = Some(read_keys(&beside)?);
        }
        Ok(mesh)
    }

    /// Reads the text of a file. What is wrong with it is told with its line.
    pub fn parse(text: &str) -> Result<Self, BrokenRule> {
        let table: MeshTable = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(0, |span| span.start);
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            with_line(text, (place, MeshRule::Toml(message)))
        })?;
        Self::checked(table).map_err(|broken| with_line(text, broken))
    }

    fn checked(table: MeshTable) -> Result<Self, Broken> {
        let network: Network = table.network.get_ref().parse().map_err(|error| {
            let expression = table.network.get_ref().clone();
            at(&table.network, MeshRule::Network { expression, error })
        })?;
        let kind = known_kind(&table.board)?;
        let mut mesh = Mesh::without_nodes(network, kind).map_err(|rule| at(&table.network, rule))?;
        mesh.paper_rule = table.rule == Some(RuleName::Paper);
        mesh.log_packets = table.log_packets;
        mesh.computers_anywhere = table.computers_anywhere;
        if let Some(baud) = &table.baud {
            mesh.baud = *baud.get_ref();
            mesh.check_page().map_err(|error| at(baud, MeshRule::Page(error)))?;
        }
        if let Some(traffic) = &table.traffic {
            mesh.traffic = Some(read_traffic(traffic.get_ref()).map_err(|rule| at(traffic, rule))?);
        }
        if let Some(key) = &table.key {
            let secret = key.get_ref().trim().parse();
            let secret = secret.map_err(|error| at(key, MeshRule::Key(error)))?;
            mesh.keys = Some(MeshKeys::of(&secret));
        }
        if let Some(file) = &table.key_file {
            if mesh.keys.is_some() {
                return Err(at(file, MeshRule::TwoKeys));
            }
            mesh.key_file = Some(file.get_ref().clone());
        }
        if let Some(probe) = &table.probe {
            if probe.get_ref() != EMULATED {
                return Err(at(probe, MeshRule::ProbeForAll));
            }
            mesh.emulated = true;
        }
        for node in &table.node {
            mesh.add_node(node)?;
        }
        mesh.check_links().map_err(|rule| at(&table.network, rule))?;
        if let Some(baud) = &table.baud {
            mesh.check_baud().map_err(|rule| at(baud, rule))?;
        }
        Ok(mesh)
    }

    fn add_node(&mut self, table: &NodeTable) -> Result<(), Broken> {
        let address = *table.address.get_ref();
        self.network.check(address).map_err(|error| {
            let network = self.network.to_string();
            at(&table.address, MeshRule::Node { network, error })
        })?;
        if self.nodes.contains_key(&address) {
            return Err(at(&table.address, MeshRule::Twice(address)));
        }
        let mut settings = NodeSettings {
            kind: table.board.as_ref().map(known_kind).transpose()?,
            ..NodeSettings::default()
        };
        let kind = settings.kind.unwrap_or(self.kind);
        if let Some(name) = &table.name {
            settings.name = name.get_ref().clone();
            if settings.name.len() > MOST_NAME {
                return Err(at(name, MeshRule::LongName));
            }
        }
        if let Some(probe) = &table.probe {
            settings.probe = Some(self.check_probe(address, probe)?);
        }
        if let Some(uarts) = &table.uarts {
            settings.links = self
                .check_uarts(address, kind, uarts.get_ref())
                .map_err(|rule| at(uarts, rule))?;
        }
        self.nodes.insert(address, settings);
        Ok(())
    }

    fn check_probe(&self, address: u64, probe: &Spanned<String>) -> Result<String, Broken> {
        let text = probe.get_ref().trim().to_string();
        if text.is_empty() {
            return Err(at(probe, MeshRule::EmptyProbe(address)));
        }
        if text == EMULATED {
            return Err(at(probe, MeshRule::EmulatedNode));
        }
        if self.emulated {
            return Err(at(probe, MeshRule::ProbeOfEmulated(address)));
        }
        let same = |other: &&String| serial_of(other).eq_ignore_ascii_case(serial_of(&text));
        let taken = self
            .nodes
            .iter()
            .find(|(_, node)| node.probe.as_ref().is_some_and(|probe| same(&probe)));
        match taken {
            Some((&node, _)) => Err(at(probe, MeshRule::ProbeTaken { probe: text, node })),
            None => Ok(text),
        }
    }

    fn check_uarts(&self, node: u64, kind: &'static BoardKind, uarts: &[String]) -> Result<Vec<usize>, MeshRule> {
        let (degree, named) = (self.degree(node), uarts.len());
        if named as u64 != degree {
            return Err(MeshRule::UartCount { node, degree, named });
        }
        let mut links = Vec::new();
        for uart in uarts {
            let link = kind.link_of(uart).ok_or_else(|| MeshRule::NoLink {
                uart: uart.clone(),
                kind,
            })?;
            if links.contains(&link) {
                return Err(MeshRule::UartTwice {
                    node,
                    uart: uart.clone(),
                });
            }
            links.push(link);
        }
        Ok(links)
    }

    fn check_links(&self) -> Result<(), MeshRule> {
        let links = |node: u64| self.kind_of(node).links.len() as u64;
        match self.nodes().find(|node| self.degree(*node) > links(*node)) {
            Some(node) => Err(MeshRule::TooManyLinks {
                node,
                network: self.network.to_string(),
                degree: self.degree(node),
                board: self.kind_of(node).name,
                links: links(node),
            }),
            None => Ok(()),
        }
    }

    /// Every serial port must agree with every other: a cable may connect any two.
    fn check_baud(&self) -> Result<(), MeshRule> {
        let kinds = self.kinds();
        let buses: Vec<u32> = kinds.iter().flat_map(|kind| kind.buses).copied().collect();
        if rates_agree(&buses, self.baud) {
            return Ok(());
        }
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        Err(MeshRule::Baud {
            baud: self.baud,
            board: names.join(" and a "),
        })
    }

    /// The kind of a node's board.
    pub fn kind_of(&self, node: u64) -> &'static BoardKind {
        let said = self.nodes.get(&node).and_then(|settings| settings.kind);
        said.unwrap_or(self.kind)
    }

    /// The kinds that there are, each once, in the order of the nodes.
    pub fn kinds(&self) -> Vec<&'static BoardKind> {
        let mut kinds = Vec::new();
        for node in self.nodes() {
            if !kinds.contains(&self.kind_of(node)) {
                kinds.push(self.kind_of(node));
            }
        }
        kinds
    }

    /// Whether boards will take the pages.
    fn check_page(&self) -> Result<(), BadPage> {
        Page::read(&self.page(0)?).map(drop)
    }

    /// How many ports a node has.
    pub fn degree(&self, node: u64) -> u64 {
        self.network.degree(node).unwrap_or(0)
    }

    /// All nodes.
    pub fn nodes(&self) -> std::ops::Range<u64> {
        0..self.network.nodes()
    }

    /// The probe of a node's board as probe-rs selects it, if the file says which it is.
    pub fn probe(&self, node: u64) -> Option<String> {
        let probe = self.nodes.get(&node)?.probe.as_ref()?;
        Some(match probe.contains(':') {
            true => probe.clone(),
            false => format!("{}:{probe}", self.kind_of(node).probe),
        })
    }

    /// Whether the file says that there are no real boards.
    pub fn is_emulated(&self) -> bool {
        self.emulated
    }

    /// The name of a node's board, or nothing.
    pub fn name(&self, node: u64) -> &str {
        self.nodes.get(&node).map_or("", |settings| &settings.name)
    }

    /// The number of the link that a port is at.
    pub fn link(&self, end: NodePort) -> usize {
        let said = self.nodes.get(&end.node).map(|node| &node.links);
        said.and_then(|links| links.get(end.port as usize))
            .copied()
            .unwrap_or(end.port as usize)
    }

    /// The port that a link is for, if it is for one.
    pub fn port_at(&self, node: u64, link: usize) -> Option<NodePort> {
        let mut ends = (0..self.degree(node)).map(|port| NodePort { node, port });
        ends.find(|end| self.link(*end) == link)
    }

    /// The serial port that a port is at.
    pub fn uart(&self, end: NodePort) -> &'static Uart {
        let links = self.kind_of(end.node).links;
        &links[self.link(end).min(links.len() - 1)]
    }

    /// The port at the other end of the cable that belongs to a port.
    pub fn far_end(&self, end: NodePort) -> Option<NodePort> {
        let node = self.network.neighbor(end.node, end.port).ok()??;
        let port = self.network.port_to(node, end.node).ok()??;
        Some(NodePort { node, port })
    }

    /// A port, if the mesh has it and it has a cable.
    pub fn check_port(&self, port: NodePort) -> Option<NodePort> {
        self.far_end(port).map(|_| port)
    }

    /// The configuration page of a node's board.
    pub fn page(&self, node: u64) -> Result<[u8; PAGE_BYTES], BadPage> {
        let page = Page {
            baud: self.baud,
            name: self.name(node).try_into().unwrap_or_default(),
            options: u8::from(self.log_packets)
                | u8::from(self.paper_rule) << 1
                | u8::from(self.computers_anywhere) << 2,
            traffic: self.traffic,
            ..Page::new(&self.network.to_string(), node)?
        };
        Ok(page.write())
    }

    /// The text of a file for this mesh, for people to go on with.
    pub fn template(&self) -> String {
        let mut text = format!(
            "# {} boards. `hopwise plan` says how to wire them.\n\
             network = \"{}\"\n\
             board = \"{}\"\n\
             baud = {}\n\
             # log-packets = true    # every packet in the boards' logs, for `hopwise capture`\n\
             # traffic = {{ rate = 10, count = 100, pattern = \"uniform\", size = 32 }}\n\
             # probe = \"{EMULATED}\"    # no boards at hand: everything runs on emulated ones\n\n\
             # `probe-rs list` shows the numbers of the probes. What is not said has its default:\n\
             #   name = \"north\"                   up to {MOST_NAME} bytes, shown in logs and reports\n\
             #   board = \"nucleo-f401re\"          if it is not like the others\n\
             #   uarts = [\"USART3\", \"USART1\"]     where port 0, port 1 ... are, if not in the usual order\n",
            self.network.nodes(),
            self.network,
            self.kind.name,
            self.baud
        );
        for node in self.nodes() {
            text += &format!("\n[[node]]\naddress = {node}\n# probe = \"\"\n");
        }
        text
    }
}

fn known_kind(name: &Spanned<String>) -> Result<&'static BoardKind, Broken> {
    kind(name.get_ref()).ok_or_else(|| at(name, MeshRule::UnknownBoard(name.get_ref().clone())))
}

/// The number of a probe without vendor and product.
fn serial_of(probe: &str) -> &str {
    probe.rsplit(':').next().unwrap_or(probe)
}

fn read_traffic(table: &TrafficTable) -> Result<Traffic, MeshRule> {
    let traffic = Traffic {
        rate: table.rate,
        count: table.count,
        pattern: Pattern::try_from(table.pattern)?,
        size: table.size,
    };
    if traffic.rate == 0 {
        return Err(MeshRule::NoRate);
    }
    traffic.checked().map_err(|_| MeshRule::PacketSize(traffic.size))
}

fn with_line(text: &str, (place, rule): Broken) -> BrokenRule {
    let line = text[..place.min(text.len())].matches('\n').count() + 1;
    BrokenRule { line, rule }
}
