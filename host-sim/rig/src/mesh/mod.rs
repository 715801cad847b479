//! The mesh file: which network, of which boards, and which board is which node.
//!
//! ```toml
//! network = "rdn(ring(3),1)"
//! board = "nucleo-f446re"
//! baud = "auto"                       # of the cables: their ends choose it, as they do unless said otherwise; or a number
//! host-baud = 115200                  # of the serial ports to hosts; as `baud` unless said otherwise, but 1000000 if that is above 2000000
//! log-packets = true                  # false unless said otherwise
//! hosts-anywhere = true           # false unless said otherwise
//! key-file = "mesh.key"               # beside this file; or key = "..."; no key unless said
//! traffic = { rate = 10, count = 100, pattern = "uniform", size = 32 }
//!
//! [[node]]
//! address = 0
//! probe = "066DFF515055657867152331"
//! name = "north"
//! board = "nucleo-f401re"             # as above unless said otherwise
//! uarts = ["USART6", "USART1"]        # port 0, port 1 ...: in the order of the board's links unless said otherwise
//!
//! [[cable]]
//! at = "0.1"                          # either of its ends: port 1 of node 0
//! baud = 5625000
//! ```
//!
//! For `hopwise mesh run`, `probe = "process"` or `"emulated"` says what a node is instead of a real board; in a mesh with such nodes those without a probe
//! are processes. A cable between one of them and a real board has `serial = "/dev/ttyUSB0"` in place of `baud`.
//!
//! A file is a mesh file if it has the key `board`.

mod assign;
mod file;
mod node_port;
pub(crate) mod rates;
mod rule;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hopwise_core::Network;
use hopwise_node::authority::MeshKeys;
use hopwise_node::signature::OwnerKey;
use hopwise_node::wire::{AUTOMATIC_RATES, BadConfig, BoardConfig, CONFIG_BYTES, DEFAULT_BAUD, Traffic};

use super::boards::{BoardKind, Uart};
pub use assign::{CannotAssign, with_probe};
pub use file::read_keys;
pub use node_port::{NoPort, NodePort};
pub use rates::CableRate;
pub use rule::{BadMesh, BrokenRule, MeshRule};

/// The probe of boards that are emulated.
pub const EMULATED: &str = "emulated";
/// More boards than this are no rig.
pub const MAX_NODES: u64 = 4096;
/// A name is a line on a label.
const MAX_NAME: usize = 16;

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeKind {
    #[default]
    Board,
    Emulated,
    Process,
}

impl NodeKind {
    /// The kind that is written in place of a probe.
    fn named(probe: &str) -> Option<Self> {
        match probe {
            EMULATED => Some(NodeKind::Emulated),
            "process" => Some(NodeKind::Process),
            _ => None,
        }
    }
}

/// What is said of one node; what is not said has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct NodeSettings {
    kind: Option<&'static BoardKind>,
    node_kind: NodeKind,
    probe: Option<String>,
    name: String,
    /// The link that each port is at; empty for the order of the links.
    links: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct Mesh {
    pub network: Network,
    /// The kind of all boards that no other is said of: [`kind_of`](Self::kind_of) knows each.
    pub kind: &'static BoardKind,
    /// Speed of the cables for which no other is said: [`rate`](Self::rate) knows each.
    pub baud: u32,
    /// The ends of those cables change it together.
    pub is_auto: bool,
    host_baud: Option<u32>,
    /// Rates of single cables, at both ends.
    cable_rates: BTreeMap<NodePort, u32>,
    /// Serial ports of this machine that real boards are wired to, by the port of the node that is here.
    serials: BTreeMap<NodePort, PathBuf>,
    /// Routes are those of the network's paper.
    pub paper_rule: bool,
    pub log_packets: bool,
    /// Boards take a host for one at any link, not only at their serial ports.
    pub hosts_anywhere: bool,
    /// Packets that boards send by themselves.
    pub traffic: Option<Traffic>,
    pub keys: Option<MeshKeys>,
    /// Who signs the images of all boards.
    pub owner: Option<OwnerKey>,
    key_file: Option<PathBuf>,
    emulated: bool,
    nodes: BTreeMap<u64, NodeSettings>,
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
            is_auto: false,
            host_baud: None,
            cable_rates: BTreeMap::new(),
            serials: BTreeMap::new(),
            paper_rule: false,
            log_packets: false,
            hosts_anywhere: false,
            traffic: None,
            keys: None,
            owner: None,
            key_file: None,
            emulated: false,
            nodes: BTreeMap::new(),
        };
        let nodes = mesh.network.nodes();
        if nodes > MAX_NODES {
            let why = format!("{network} has {nodes} nodes, too many for a mesh file (at most {MAX_NODES})");
            return Err(MeshRule::Other(why));
        }
        if matches!(mesh.network.family(), hopwise_core::Family::Table(_)) {
            let why = "is routed by tables, which boards do not have: give them a lift, `hopwise choose` finds one";
            return Err(MeshRule::Other(format!("{network} {why}")));
        }
        mesh.config(0).map_err(|_| mesh.too_long())?;
        Ok(mesh)
    }

    fn too_long(&self) -> MeshRule {
        MeshRule::Other(format!("the expression {} is too long for a config", self.network))
    }

    fn check_links(&self) -> Result<(), MeshRule> {
        let links = |node: u64| self.kind_of(node).links.len() as u64;
        match self.nodes().find(|node| self.degree(*node) > links(*node)) {
            Some(node) => {
                let (network, degree) = (&self.network, self.degree(node));
                let (board, links) = (self.kind_of(node).name, links(node));
                Err(MeshRule::Other(format!(
                    "node {node} of {network} has {degree} links, and a {board} has {links} UARTs for links"
                )))
            }
            None => Ok(()),
        }
    }

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

    fn check_config(&self) -> Result<(), BadConfig> {
        BoardConfig::read(&self.config(0)?).map(drop)
    }

    pub fn degree(&self, node: u64) -> u64 {
        self.network.degree(node).unwrap_or(0)
    }

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

    pub fn is_emulated(&self) -> bool {
        self.emulated
    }

    /// Whether not all nodes are real boards, or stand for such.
    pub fn is_mixed(&self) -> bool {
        self.nodes
            .values()
            .any(|settings| settings.node_kind != NodeKind::Board)
    }

    /// What a node is; in a mixed mesh one of which nothing is said is a process.
    pub fn node_kind(&self, node: u64) -> NodeKind {
        match self.nodes.get(&node) {
            Some(settings) if settings.node_kind != NodeKind::Board || settings.probe.is_some() => settings.node_kind,
            _ if self.is_mixed() => NodeKind::Process,
            _ => NodeKind::Board,
        }
    }

    /// The nodes that are real boards.
    pub fn real_nodes(&self) -> impl Iterator<Item = u64> + '_ {
        self.nodes().filter(|node| self.node_kind(*node) == NodeKind::Board)
    }

    /// The serial port of this machine at which the cable of a node's port leads to a real board.
    pub fn serial(&self, end: NodePort) -> Option<&Path> {
        self.serials.get(&end).map(PathBuf::as_path)
    }

    fn set_serial(&mut self, at: NodePort, path: &Path) -> Result<(), MeshRule> {
        if !path.starts_with("/") && !path.to_string_lossy().starts_with("COM") {
            let why = "a serial port is a path such as /dev/ttyUSB0, or COM3, not";
            return Err(MeshRule::Other(format!("{why} '{}'", path.display())));
        }
        let is_real = |end: NodePort| self.node_kind(end.node) == NodeKind::Board;
        let far = self.cable_at(at)?;
        let here = match (is_real(at), is_real(far)) {
            (false, true) => at,
            (true, false) => far,
            _ => {
                return Err(MeshRule::Other(format!(
                    "the cable at {at} does not join a real board to another kind of node; write `probe = \"process\"` for the node that is not a board"
                )));
            }
        };
        self.serials.insert(here, path.to_path_buf());
        Ok(())
    }

    /// The other end of a cable that a file names.
    fn cable_at(&self, at: NodePort) -> Result<NodePort, MeshRule> {
        let known = (at.node < self.network.nodes()).then_some(at);
        let far = known.and_then(|at| self.far_end(at));
        far.ok_or_else(|| MeshRule::Other(format!("there is no cable at {at}")))
    }

    pub fn name(&self, node: u64) -> &str {
        self.nodes.get(&node).map_or("", |settings| &settings.name)
    }

    pub fn link(&self, end: NodePort) -> usize {
        let said = self.nodes.get(&end.node).map(|node| &node.links);
        said.and_then(|links| links.get(end.port as usize))
            .copied()
            .unwrap_or(end.port as usize)
    }

    pub fn port_at(&self, node: u64, link: usize) -> Option<NodePort> {
        let mut ends = (0..self.degree(node)).map(|port| NodePort { node, port });
        ends.find(|end| self.link(*end) == link)
    }

    pub fn uart(&self, end: NodePort) -> &'static Uart {
        let links = &self.kind_of(end.node).links;
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

    fn options(&self) -> u8 {
        let automatic = if self.is_auto { AUTOMATIC_RATES } else { 0 };
        u8::from(self.log_packets) | u8::from(self.paper_rule) << 1 | u8::from(self.hosts_anywhere) << 2 | automatic
    }

    pub fn config(&self, node: u64) -> Result<[u8; CONFIG_BYTES], BadConfig> {
        let config = BoardConfig {
            baud: self.slowest_rate(),
            host_baud: self.host_baud(),
            link_rates: self.link_rates(node).into_iter().collect(),
            name: self.name(node).try_into().unwrap_or_default(),
            options: self.options(),
            traffic: self.traffic,
            ..BoardConfig::new(&self.network.to_string(), node)?
        };
        Ok(config.write())
    }
}

/// Whether two texts select the same probe: their numbers count, with or without vendor and product.
pub fn is_same_probe(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|probe| probe.rsplit(':').next());
    one.unwrap_or_default().eq_ignore_ascii_case(other.unwrap_or_default())
}
