//! A mesh file on emulated boards.
//!
//! Boards of every kind are emulated as the one that can be: their links have the same numbers, if not the same pins.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use hopwise_emulator::image::Image;
use hopwise_emulator::time::{SECOND, Time};
use hopwise_emulator::world::{Action, Port, Script, World};

use super::mesh::{End, Mesh};
use super::talk::Talk;
use hopwise_emulate::computers::{Computers, Question};
use hopwise_emulate::firmware;
use hopwise_emulate::host_port::Reply;
use hopwise_emulate::setup::{self, Blueprint, Differences, LINKS};

/// A question is answered within this, or not at all.
const ANSWERS_WITHIN: Time = SECOND;

/// The firmware, from its file.
pub struct Firmware {
    /// What runs on the boards.
    pub image: Arc<Image>,
    /// The file, which also says how to read the log.
    pub elf: Vec<u8>,
}

impl Firmware {
    /// Reads an ELF file, or builds Hopwise's own for emulated boards.
    pub fn load(path: Option<&Path>) -> Result<Self, String> {
        let path = match path {
            Some(path) => path.to_path_buf(),
            None => firmware::build(firmware::BOARDS[0]).map_err(|error| error.to_string())?,
        };
        let refused = |reason: String| format!("{}: {reason}", path.display());
        let elf = std::fs::read(&path).map_err(|error| refused(error.to_string()))?;
        let image = Image::from_elf(&elf).map_err(|error| refused(error.to_string()))?;
        if setup::configuration_page(&image).is_none() {
            return Err(refused("it is not Hopwise's firmware".into()));
        }
        Ok(Firmware {
            image: Arc::new(image),
            elf,
        })
    }
}

/// The serial port of an emulated board that a port of the mesh is at.
pub fn port(mesh: &Mesh, end: End) -> Result<Port, String> {
    let link = mesh.link(end);
    emulated_port(end.node, link).ok_or_else(|| {
        let (name, most) = (mesh.uart(end).name, LINKS.len());
        format!("{end} is at {name}, link {link}, and emulated boards have {most} links")
    })
}

/// Boards and wires as the mesh file says.
pub fn blueprint(mesh: &Mesh) -> Result<Blueprint, String> {
    let mut blueprint = Blueprint::default();
    for node in mesh.nodes() {
        blueprint
            .pages
            .push(mesh.page(node).map_err(|error| error.to_string())?);
        for end in (0..mesh.degree(node)).map(|port| End { node, port }) {
            // Each cable once, from its end with the lower number.
            if let Some(far) = mesh.far_end(end).filter(|far| far.node > node) {
                blueprint.wires.push((port(mesh, end)?, port(mesh, far)?));
            }
        }
    }
    Ok(blueprint)
}

/// Boards and wires, switched on.
pub fn build(mesh: &Mesh, image: &Arc<Image>, differences: Differences) -> Result<World, String> {
    setup::assemble(&blueprint(mesh)?, image, differences).map_err(|error| error.to_string())
}

/// What is done to the cables before anyone looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    /// Plugs that are exchanged.
    pub swapped: Vec<(End, End)>,
    /// Ports whose cable is pulled.
    pub cut: Vec<End>,
    /// Ports that nothing arrives at.
    pub one_way: Vec<End>,
    /// Cables between links that the plan leaves free.
    pub extra: Vec<(FreeLink, FreeLink)>,
    /// Boards that have the page of another node.
    pub pages: Vec<(u64, u64)>,
}

/// A serial port of a board, written `3.UART5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeLink {
    node: u64,
    uart: String,
}

impl FromStr for FreeLink {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('.');
        let parts = parts.and_then(|(node, uart)| Some((node.parse().ok()?, uart.to_string())));
        let (node, uart) = parts.ok_or_else(|| format!("'{text}' is no serial port of a board such as 3.UART5"))?;
        Ok(FreeLink { node, uart })
    }
}

impl FreeLink {
    fn port(&self, mesh: &Mesh) -> Result<Port, String> {
        let FreeLink { node, uart } = self;
        let link = mesh.kind.link_of(uart).filter(|_| mesh.network.check(*node).is_ok());
        let link = link.ok_or_else(|| format!("there is no link {node}.{uart}"))?;
        match mesh.port_at(*node, link) {
            Some(end) => Err(format!("{node}.{uart} is not free: it is port {end}")),
            None => emulated_port(*node, link).ok_or_else(|| format!("emulated boards have no link {link}")),
        }
    }
}

fn emulated_port(node: u64, link: usize) -> Option<Port> {
    Some(Port {
        board: node as usize,
        uart: *LINKS.get(link)?,
    })
}

impl Mistakes {
    fn script(&self, mesh: &Mesh) -> Result<Script, String> {
        let place = |end: End| mesh.check_end(end).and_then(|end| port(mesh, end));
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
            events.push((0, Action::PlugInto(a.port(mesh)?, b.port(mesh)?)));
        }
        Ok(Script::new(events))
    }
}

/// Emulated boards with computers at their serial ports.
pub struct EmulatedMesh {
    /// The boards.
    pub world: World,
    computers: Computers,
    entrances: Vec<usize>,
}

impl EmulatedMesh {
    /// Switches boards on, wired as planned but for the mistakes. Questions are asked at the boards of `entrances`, or at all.
    pub fn start(mesh: &Mesh, image: &Arc<Image>, mistakes: &Mistakes, entrances: &[u64]) -> Result<Self, String> {
        let differences = Differences {
            seed: 1,
            drift_ppm: 20.0,
        };
        let mut blueprint = blueprint(mesh)?;
        for (board, node) in &mistakes.pages {
            let page = mesh.page(*node).map_err(|error| error.to_string())?;
            let nodes = mesh.nodes();
            let place = blueprint
                .pages
                .get_mut(*board as usize)
                .filter(|_| nodes.contains(node));
            *place.ok_or_else(|| format!("{} has no nodes {board} and {node}", mesh.network))? = page;
        }
        let assembled = setup::assemble(&blueprint, image, differences);
        let mut world = assembled.map_err(|error| error.to_string())?;
        let script = mistakes.script(mesh)?;
        world.set_script(script).map_err(|error| error.to_string())?;
        let computers = Computers::connect(&mut world, mesh.baud).map_err(|error| error.to_string())?;
        let mut places: Vec<usize> = entrances.iter().map(|node| *node as usize).collect();
        if let Some(wrong) = places.iter().find(|place| **place >= world.boards().len()) {
            return Err(format!("there is no board {wrong}"));
        }
        if places.is_empty() {
            places = (0..world.boards().len()).collect();
        }
        Ok(EmulatedMesh {
            world,
            computers,
            entrances: places,
        })
    }

    /// Lets time pass.
    pub fn run_for(&mut self, time: Time) {
        let end = self.world.now() + time;
        self.computers.run_until(&mut self.world, end);
    }
}

impl Talk for EmulatedMesh {
    fn entrances(&self) -> Vec<u64> {
        self.entrances.iter().map(|place| *place as u64).collect()
    }

    fn ask(&mut self, questions: &[Question]) -> Vec<Option<Reply>> {
        let at_board = |question: &Question| Question {
            at: self.entrances[question.at],
            ..question.clone()
        };
        let questions: Vec<Question> = questions.iter().map(at_board).collect();
        self.computers.ask(&mut self.world, &questions, ANSWERS_WITHIN)
    }
}
