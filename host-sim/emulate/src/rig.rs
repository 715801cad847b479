//! A mesh file on emulated boards.
//!
//! [`build`] and [`EmulatedMesh::start_real`] emulate every board as what it is. A rehearsal of the rig, by [`EmulatedMesh::start`], has default
//! boards instead: links have the same numbers, if not the same pins, and one image does for all.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hopwise_emulator::boards::{self, BOARDS, BoardKind};
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MICROSECOND, MILLISECOND, SECOND, Time};
use hopwise_emulator::world::{Action, BadWire, Port, Script, World};
use hopwise_host::talk::{BoardRequest, Reply, Talk};
use hopwise_language::script::{PortName, PortOf};
use hopwise_node::authority::MeshKeys;
use hopwise_node::key::{KEY_BYTES, Key, Secret};
use hopwise_node::store::Keys;
use hopwise_node::wire::{AppPort, BadConfig, VERSION};
use hopwise_rig::mesh::{Mesh, NodePort};
use hopwise_rig::update::Boards;

use crate::hosts::Hosts;
use crate::setup::{self, Blueprint, CannotBuild, Differences, Program};

/// A request is answered within this, or not at all.
const RESPONSE_TIMEOUT: Time = SECOND;
/// A board that takes no packet for so long takes none any more: links to its neighbors may pause.
const TAKES_WITHIN: Time = 5 * SECOND;
const DIFFERENCES: Differences = Differences::new(1, 20.0);

pub struct Firmware {
    pub image: Arc<Image>,
    /// The file, which also says how to read the log.
    pub elf: Vec<u8>,
}

/// Why a file is no firmware for emulated boards: a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadFirmware(String);

/// An ELF file, and the image that it has.
pub fn read_elf(path: &Path) -> Result<(Vec<u8>, Image), BadFirmware> {
    let bad = |why: &dyn std::fmt::Display| BadFirmware(format!("{}: {why}", path.display()));
    let elf = hopwise_files::read(path, hopwise_files::MAX_IMAGE).map_err(|error| bad(&error))?;
    let image = Image::from_elf(&elf).map_err(|error| bad(&error))?;
    Ok((elf, image))
}

impl Firmware {
    /// The same, with a boot loader before it.
    pub fn with_loader(self, path: &Path) -> Result<Self, BadFirmware> {
        let (_, loader) = read_elf(path)?;
        Ok(Firmware {
            image: Arc::new(self.image.with_loader(&loader)),
            elf: self.elf,
        })
    }

    /// Reads an ELF file.
    pub fn load(path: &Path) -> Result<Self, BadFirmware> {
        let (elf, image) = read_elf(path)?;
        if setup::configuration_slots(&image).is_none() {
            let name = path.display();
            return Err(BadFirmware(format!("{name}: it is not Hopwise's firmware")));
        }
        Ok(Firmware {
            image: Arc::new(image),
            elf,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotEmulate {
    /// It is told apart from all else: its name may be like that of one that there is.
    #[error("there is no emulated {0}, only {known}", known = boards::names())]
    NoSuchBoard(String),
    #[error("{0}")]
    Build(#[from] CannotBuild),
    #[error("{0}")]
    Wire(#[from] BadWire),
    #[error("{0}")]
    Config(#[from] BadConfig),
    /// A sentence.
    #[error("{0}")]
    Other(String),
}

impl CannotEmulate {
    pub(crate) fn no_link(link: usize) -> Self {
        CannotEmulate::Other(format!("emulated boards have no link {link}"))
    }

    fn no_board(board: usize) -> Self {
        CannotEmulate::Other(format!("there is no board {board}"))
    }

    pub fn no_image(node: u64) -> Self {
        CannotEmulate::Other(format!("there is no image for node {node}"))
    }
}

pub fn board(name: &str) -> Result<&'static BoardKind, CannotEmulate> {
    boards::find(name).ok_or_else(|| CannotEmulate::NoSuchBoard(name.into()))
}

/// The serial port of an emulated board that a port of the mesh is at.
pub fn port(mesh: &Mesh, port: NodePort) -> Result<Port, CannotEmulate> {
    port_on(board(mesh.kind_of(port.node).name)?, mesh, port)
}

/// The same, in a rehearsal.
fn default_port(mesh: &Mesh, port: NodePort) -> Result<Port, CannotEmulate> {
    port_on(BOARDS[0], mesh, port)
}

fn port_on(kind: &'static BoardKind, mesh: &Mesh, port: NodePort) -> Result<Port, CannotEmulate> {
    let link = mesh.link(port);
    emulated_port(kind, port.node, link).ok_or_else(|| {
        let (uart, board, links) = (mesh.uart(port).name, kind.name, kind.links().len());
        CannotEmulate::Other(format!(
            "{port} is at {uart}, link {link}, and an emulated {board} has {links} links"
        ))
    })
}

/// Default boards, wired as the mesh file says.
pub fn blueprint(mesh: &Mesh) -> Result<Blueprint, CannotEmulate> {
    wired(mesh, default_port)
}

pub(crate) fn wired(
    mesh: &Mesh,
    port: impl Fn(&Mesh, NodePort) -> Result<Port, CannotEmulate>,
) -> Result<Blueprint, CannotEmulate> {
    let mut blueprint = Blueprint {
        owner: mesh.owner,
        ..Blueprint::default()
    };
    for node in mesh.nodes() {
        blueprint.configs.push(mesh.config(node)?);
        blueprint.keys.push(mesh.keys.map(|keys| keys.of_board(node)));
        for end in (0..mesh.degree(node)).map(|port| NodePort { node, port }) {
            // Each cable once, from its end with the lower number.
            if let Some(far) = mesh.far_end(end).filter(|far| far.node > node) {
                blueprint.wires.push((port(mesh, end)?, port(mesh, far)?));
            }
        }
    }
    Ok(blueprint)
}

/// Boards and wires, switched on, each board with the program for its kind.
pub fn build(mesh: &Mesh, programs: &[Program], differences: Differences) -> Result<World, CannotEmulate> {
    let mut blueprint = wired(mesh, port)?;
    for node in mesh.nodes() {
        let kind = board(mesh.kind_of(node).name)?;
        let program = programs.iter().find(|program| program.kind.name == kind.name);
        let program = program.ok_or_else(|| CannotEmulate::no_image(node))?;
        blueprint.programs.push(program.clone());
    }
    let image = &programs.first().ok_or_else(|| CannotEmulate::no_image(0))?.image;
    Ok(setup::assemble(&blueprint, image, differences)?)
}

/// What is done to the cables before anyone looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    pub swapped: Vec<(NodePort, NodePort)>,
    pub cut: Vec<NodePort>,
    /// Ports that nothing arrives at.
    pub one_way: Vec<NodePort>,
    /// Cables between links that the plan leaves free, by their serial ports.
    pub extra: Vec<(PortName, PortName)>,
    /// Boards that have the config of another node.
    pub configs: Vec<(u64, u64)>,
    pub keyless: Vec<u64>,
    pub other_key: Vec<u64>,
}

/// Where a link that the plan leaves free is on an emulated board.
fn free_port(mesh: &Mesh, name: &PortName) -> Result<Port, CannotEmulate> {
    let link = match &name.port {
        PortOf::Uart(uart) if mesh.network.check(name.node).is_ok() => mesh.kind_of(name.node).link_of(uart),
        _ => None,
    };
    let link = link.ok_or_else(|| CannotEmulate::Other(format!("there is no link {name}")))?;
    match mesh.port_at(name.node, link) {
        Some(port) => Err(CannotEmulate::Other(format!("{name} is not free: it is port {port}"))),
        None => emulated_port(BOARDS[0], name.node, link).ok_or_else(|| CannotEmulate::no_link(link)),
    }
}

fn another_key() -> Keys {
    let secret = Secret::new(Key::new([0; KEY_BYTES]), false);
    MeshKeys::of(&secret).of_board(0)
}

fn emulated_port(kind: &BoardKind, node: u64, link: usize) -> Option<Port> {
    Some(Port::new(node as usize, kind.links().get(link)?.uart))
}

impl Mistakes {
    fn script(&self, mesh: &Mesh) -> Result<Script, CannotEmulate> {
        let place = |at: NodePort| match mesh.check_port(at) {
            Some(at) => default_port(mesh, at),
            None => Err(CannotEmulate::Other(format!("{}: there is no port {at}", mesh.network))),
        };
        let mut events = Vec::new();
        for end in &self.cut {
            events.push((0, Action::Cut(place(*end)?)));
        }
        for end in &self.one_way {
            events.push((0, Action::OneWay(place(*end)?)));
        }
        for (a, b) in &self.swapped {
            events.push((0, Action::Swap(place(*a)?, place(*b)?)));
        }
        for (a, b) in &self.extra {
            events.push((0, Action::PlugInto(free_port(mesh, a)?, free_port(mesh, b)?)));
        }
        Ok(Script::new(events))
    }
}

/// Emulated boards with hosts at their serial ports.
pub struct EmulatedMesh {
    pub world: World,
    pub(crate) hosts: Hosts,
    entrances: Vec<usize>,
    /// A board need not have the config of the node of its place.
    pub(crate) has_any_config: bool,
}

impl EmulatedMesh {
    /// Switches boards on, wired as planned but for the mistakes. Requests are asked at the boards of `entrances`, or at all.
    pub fn start(
        mesh: &Mesh,
        image: &Arc<Image>,
        mistakes: &Mistakes,
        entrances: &[u64],
    ) -> Result<Self, CannotEmulate> {
        let mut blueprint = blueprint(mesh)?;
        for (board, node) in &mistakes.configs {
            let config = mesh.config(*node)?;
            let nodes = mesh.nodes();
            let place = blueprint.configs.get_mut(*board as usize);
            let place = place.filter(|_| nodes.contains(node));
            let none = || CannotEmulate::Other(format!("{} has no nodes {board} and {node}", mesh.network));
            *place.ok_or_else(none)? = config;
        }
        for (nodes, keys) in [(&mistakes.keyless, None), (&mistakes.other_key, Some(another_key()))] {
            for node in nodes {
                let place = blueprint.keys.get_mut(*node as usize);
                *place.ok_or_else(|| CannotEmulate::no_board(*node as usize))? = keys;
            }
        }
        let mut world = setup::assemble(&blueprint, image, DIFFERENCES)?;
        world.set_script(mistakes.script(mesh)?)?;
        Self::connect(world, mesh.host_baud(), mesh.keys, entrances)
    }

    /// The same with each board as what it is, and with the program for its kind; without mistakes.
    pub fn start_real(mesh: &Mesh, programs: &[Program], entrances: &[u64]) -> Result<Self, CannotEmulate> {
        let world = build(mesh, programs, DIFFERENCES)?;
        Self::connect(world, mesh.host_baud(), mesh.keys, entrances)
    }

    pub(crate) fn connect(
        mut world: World,
        baud: u32,
        keys: Option<MeshKeys>,
        entrances: &[u64],
    ) -> Result<Self, CannotEmulate> {
        let mut hosts = Hosts::connect(&mut world, baud)?;
        if let Some(keys) = keys {
            hosts.lock(&keys, Some(keys.management));
        }
        let mut places: Vec<usize> = entrances.iter().map(|node| *node as usize).collect();
        if let Some(wrong) = places.iter().find(|place| **place >= world.boards().len()) {
            return Err(CannotEmulate::no_board(*wrong));
        }
        if places.is_empty() {
            places = (0..world.boards().len()).collect();
        }
        Ok(EmulatedMesh {
            world,
            hosts,
            entrances: places,
            has_any_config: false,
        })
    }

    pub fn run_for(&mut self, time: Time) {
        let end = self.world.now() + time;
        self.hosts.run_until(&mut self.world, end);
    }
}

impl Boards for EmulatedMesh {
    fn wait(&mut self, time: Duration) {
        self.run_for(time.as_millis() as Time * MILLISECOND);
    }

    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.world.now() / MICROSECOND)
    }

    fn wire_version(&self) -> u8 {
        let entrance = self.entrances.first();
        entrance.map_or(VERSION, |board| self.hosts.wire_version(*board))
    }

    fn stream(&mut self, blocks: Vec<Vec<u8>>) {
        let Some(entrance) = self.entrances.first() else { return };
        let (world, hosts) = (&mut self.world, &mut self.hosts);
        hosts.stream(world, *entrance, AppPort::UPDATE, blocks, TAKES_WITHIN);
    }
}

impl Talk for EmulatedMesh {
    fn entrances(&self) -> Vec<u64> {
        let address = |place: &usize| self.hosts.address(*place).filter(|_| self.has_any_config);
        let node = |place: &usize| address(place).unwrap_or(*place as u64);
        self.entrances.iter().map(node).collect()
    }

    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        let at_board = |request: &BoardRequest| BoardRequest {
            at: self.entrances[request.at],
            ..request.clone()
        };
        let requests: Vec<BoardRequest> = requests.iter().map(at_board).collect();
        self.hosts.ask(&mut self.world, &requests, RESPONSE_TIMEOUT)
    }
}
