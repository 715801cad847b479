//! Mesh files, read and written.

use std::path::{Path, PathBuf};

use hopwise_core::Network;
use hopwise_files::{MAX_TEXT, read_text};
use hopwise_node::authority::MeshKeys;
use hopwise_node::key::{BadKey, Secret};
use hopwise_node::wire::{Pattern, Traffic};
use serde::Deserialize;
use toml::Spanned;

use super::rule::{BadMesh, BrokenRule, MeshRule};
use super::{CableRate, EMULATED, MAX_NAME, Mesh, NodeKind, NodeSettings, is_same_probe};
use crate::boards::{BoardKind, kind};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct MeshTable {
    network: Spanned<String>,
    board: Spanned<String>,
    baud: Option<Spanned<CableRate>>,
    host_baud: Option<Spanned<u32>>,
    rule: Option<RuleName>,
    #[serde(default)]
    log_packets: bool,
    #[serde(default, alias = "computers-anywhere")]
    hosts_anywhere: bool,
    traffic: Option<Spanned<TrafficTable>>,
    key: Option<Spanned<String>>,
    key_file: Option<Spanned<PathBuf>>,
    owner: Option<Spanned<String>>,
    probe: Option<Spanned<String>>,
    #[serde(default)]
    node: Vec<NodeTable>,
    #[serde(default)]
    cable: Vec<CableTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CableTable {
    at: Spanned<String>,
    baud: Option<Spanned<u32>>,
    serial: Option<Spanned<PathBuf>>,
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

/// Maximum size of the file of a key: a thousand times what the largest has.
const MAX_KEY_BYTES: u64 = 64 << 10;

/// Reads the file of a key: the key, and perhaps lines that begin with `#`.
pub fn read_keys(path: &Path) -> Result<MeshKeys, BadMesh> {
    let text = read_text(path, MAX_KEY_BYTES).map_err(|error| BadMesh::Unreadable {
        path: path.to_path_buf(),
        error,
    })?;
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let secret: Result<Secret, BadKey> = line.unwrap_or_default().parse();
    match secret {
        Ok(secret) => Ok(MeshKeys::of(&secret)),
        Err(error) => Err(BadMesh::Key {
            path: path.to_path_buf(),
            error,
        }),
    }
}

type Broken = (usize, MeshRule);

fn at<T>(place: &Spanned<T>, rule: MeshRule) -> Broken {
    (place.span().start, rule)
}

fn told<T>(place: &Spanned<T>, why: impl ToString) -> Broken {
    at(place, MeshRule::other(why))
}

impl Mesh {
    /// Whether a file is a mesh file, and not one of another kind. A file that cannot be read is none.
    pub fn is_mesh_file(path: &Path) -> bool {
        let text = read_text(path, MAX_TEXT).unwrap_or_default();
        // Even one that is damaged further down, so that the mistake is told as one in a mesh file.
        let says_board = |line: &str| {
            let after = line.trim_start().strip_prefix("board");
            after.is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        text.lines().any(says_board)
    }

    /// Reads a file. What is wrong with it is told in a sentence with file and line.
    pub fn read(path: &Path) -> Result<Self, BadMesh> {
        let text = read_text(path, MAX_TEXT).map_err(|error| BadMesh::Unreadable {
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
            with_line(text, (place, MeshRule::Other(message)))
        })?;
        Self::checked(table).map_err(|broken| with_line(text, broken))
    }

    fn checked(table: MeshTable) -> Result<Self, Broken> {
        let network: Network = table.network.get_ref().parse().map_err(|error| {
            let expression = table.network.get_ref();
            told(&table.network, format!("'{expression}' is not a network: {error}"))
        })?;
        let kind = known_kind(&table.board)?;
        let mut mesh = Mesh::without_nodes(network, kind).map_err(|rule| at(&table.network, rule))?;
        mesh.paper_rule = table.rule == Some(RuleName::Paper);
        mesh.log_packets = table.log_packets;
        mesh.hosts_anywhere = table.hosts_anywhere;
        mesh.choose(CableRate::Auto);
        if let Some(baud) = &table.baud {
            mesh.choose(*baud.get_ref());
            mesh.check_config().map_err(|error| told(baud, error))?;
        }
        if let Some(traffic) = &table.traffic {
            mesh.traffic = Some(read_traffic(traffic.get_ref()).map_err(|rule| at(traffic, rule))?);
        }
        if let Some(key) = &table.key {
            let secret = key.get_ref().trim().parse();
            let secret = secret.map_err(|error| told(key, error))?;
            mesh.keys = Some(MeshKeys::of(&secret));
        }
        if let Some(file) = &table.key_file {
            if mesh.keys.is_some() {
                return Err(told(file, "a mesh has a key or a key-file, not both"));
            }
            mesh.key_file = Some(file.get_ref().clone());
        }
        if let Some(owner) = &table.owner {
            let key = owner.get_ref().trim().parse();
            mesh.owner = Some(key.map_err(|error| told(owner, error))?);
        }
        if let Some(probe) = &table.probe {
            if probe.get_ref() != EMULATED {
                let why = format!("probe = \"{EMULATED}\" is for all boards; a real probe belongs to one [[node]]");
                return Err(told(probe, why));
            }
            mesh.emulated = true;
        }
        for node in &table.node {
            mesh.add_node(node)?;
        }
        mesh.check_links().map_err(|rule| at(&table.network, rule))?;
        for cable in &table.cable {
            let end = cable.at.get_ref().parse();
            let end = end.map_err(|error| told(&cable.at, error))?;
            match (&cable.baud, &cable.serial) {
                (Some(baud), None) => mesh
                    .set_cable_rate(end, *baud.get_ref())
                    .map_err(|rule| at(baud, rule))?,
                (None, Some(serial)) => mesh
                    .set_serial(end, serial.get_ref())
                    .map_err(|rule| at(serial, rule))?,
                _ => return Err(told(&cable.at, "a cable has a baud or a serial")),
            }
        }
        mesh.fix_rates().map_err(|rule| at(&table.network, rule))?;
        if let Some(baud) = &table.host_baud {
            mesh.set_host_baud(*baud.get_ref()).map_err(|rule| at(baud, rule))?;
        }
        if let Some(baud) = &table.baud {
            mesh.check_rates().map_err(|rule| at(baud, rule))?;
        }
        Ok(mesh)
    }

    fn add_node(&mut self, table: &NodeTable) -> Result<(), Broken> {
        let address = *table.address.get_ref();
        let known = self.network.check(address);
        known.map_err(|error| told(&table.address, format!("{}: {error}", self.network)))?;
        if self.nodes.contains_key(&address) {
            return Err(told(&table.address, format!("node {address} is there twice")));
        }
        let mut settings = NodeSettings {
            kind: table.board.as_ref().map(known_kind).transpose()?,
            ..NodeSettings::default()
        };
        let kind = settings.kind.unwrap_or(self.kind);
        if let Some(name) = &table.name {
            settings.name = name.get_ref().clone();
            if settings.name.len() > MAX_NAME {
                return Err(told(name, format!("a name has at most {MAX_NAME} bytes")));
            }
        }
        if let Some(probe) = &table.probe {
            match NodeKind::named(probe.get_ref()).filter(|_| !self.emulated) {
                Some(kind) => settings.node_kind = kind,
                None => settings.probe = Some(self.check_probe(address, probe)?),
            }
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
            let why = format!("node {address} has an empty probe: leave the line out");
            return Err(told(probe, why));
        }
        if self.emulated {
            let why = format!("node {address} has a probe, but all boards are {EMULATED}");
            return Err(told(probe, why));
        }
        let same = |other: &&String| is_same_probe(other, &text);
        let taken = self
            .nodes
            .iter()
            .find(|(_, node)| node.probe.as_ref().is_some_and(|probe| same(&probe)));
        match taken {
            Some((&node, _)) => Err(told(probe, format!("probe {text} is already that of node {node}"))),
            None => Ok(text),
        }
    }

    fn check_uarts(&self, node: u64, kind: &'static BoardKind, uarts: &[String]) -> Result<Vec<usize>, MeshRule> {
        let (degree, named) = (self.degree(node), uarts.len());
        if named as u64 != degree {
            let why = format!("node {node} has {degree} ports, and uarts names {named}");
            return Err(MeshRule::Other(why));
        }
        let mut links = Vec::new();
        for uart in uarts {
            let no_link = || {
                let links: Vec<&str> = kind.links.iter().map(|link| link.name).collect();
                let links = links.join(", ");
                MeshRule::Other(format!("{uart} is not a link of a {}, which has {links}", kind.name))
            };
            let link = kind.link_of(uart).ok_or_else(no_link)?;
            if links.contains(&link) {
                return Err(MeshRule::Other(format!("node {node} uses {uart} twice")));
            }
            links.push(link);
        }
        Ok(links)
    }

    /// The text of a file for this mesh, for people to go on with.
    pub fn template(&self) -> String {
        let baud = match self.is_auto {
            true => "\"auto\"    # the ends of each cable choose its rate; or a number".into(),
            false => self.baud.to_string(),
        };
        let mut text = format!(
            "# {} boards. `hopwise plan` says how to wire them.\n\
             network = \"{}\"\n\
             board = \"{}\"\n\
             baud = {baud}\n\
             # host-baud = 115200    # of the ports to hosts, if it differs\n\
             # log-packets = true    # every packet in the boards' logs, for `hopwise capture`\n\
             # traffic = {{ rate = 10, count = 100, pattern = \"uniform\", size = 32 }}\n\
             # probe = \"{EMULATED}\"    # no real boards: everything runs on emulated ones\n\n\
             # `hopwise mesh assign` fills in the probes; `probe-rs list` shows their numbers. A node may also have:\n\
             #   name = \"north\"                   up to {MAX_NAME} bytes, shown in logs and reports\n\
             #   board = \"nucleo-f401re\"          if it differs from the others\n\
             #   probe = \"process\" or \"{EMULATED}\"   no real board, for `hopwise mesh run`\n\
             #   uarts = [\"USART3\", \"USART1\"]     where port 0, port 1 ... are, if not in the usual order\n\
             # A [[cable]] with at = \"0.1\", one of its ends, and a baud runs at a rate of its own.\n",
            self.network.nodes(),
            self.network,
            self.kind.name
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

fn read_traffic(table: &TrafficTable) -> Result<Traffic, MeshRule> {
    let pattern = Pattern::try_from(table.pattern).map_err(MeshRule::other)?;
    let traffic = Traffic::new(table.rate, table.count, pattern, table.size);
    if traffic.rate == 0 {
        return Err(MeshRule::other("traffic needs a rate of at least 1 packet a second"));
    }
    let (least, size) = (Traffic::SMALLEST, traffic.size);
    let too_large = |_| MeshRule::Other(format!("packets have {least} to 200 bytes, not {size}"));
    traffic.checked().map_err(too_large)
}

fn with_line(text: &str, (place, rule): Broken) -> BrokenRule {
    let line = text[..place.min(text.len())].matches('\n').count() + 1;
    BrokenRule { line, rule }
}
