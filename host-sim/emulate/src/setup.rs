//! From a network to boards with wires.

use std::sync::Arc;

use hopwise_core::{Network, NoSuchNode};
use hopwise_emulator::boards::{BOARDS, BoardKind};
use hopwise_emulator::chip::clocks::Hse;
use hopwise_emulator::cpu::Cycles;
pub(crate) use hopwise_emulator::hash::mix as scatter;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::Time;
use hopwise_emulator::world::{BadWire, Board, BoardOptions, Port, World};
use hopwise_node::signature::OwnerKey;
use hopwise_node::store::{Keys, OWNED_BYTES, committed};
use hopwise_node::wire::{BadConfig, BoardConfig, CONFIG_BYTES};

/// Boards that one process emulates at most.
pub const MAX_BOARDS: u64 = 4096;

/// The serial ports of the default board that make links, in the order of the node's ports: USART1, USART3, UART4, UART5
/// and USART6. USART2 goes to the ST-LINK.
pub const LINKS: [usize; 5] = [0, 2, 3, 4, 5];

/// What the clock of an STM32F4's watchdog may run at, in Hz.
const LSI: std::ops::RangeInclusive<u32> = 17_000..=47_000;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotBuild {
    #[error("{nodes} boards are too many to emulate (at most {MAX_BOARDS})")]
    TooMany { nodes: u64 },
    #[error("node {node} has {degree} links, but a {board} has {links} serial ports for links")]
    TooManyLinks {
        node: u64,
        degree: u64,
        board: &'static str,
        links: usize,
    },
    /// The network's expression does not fit a board's config.
    #[error("{0}")]
    Config(BadConfig),
    #[error("{0}")]
    Node(#[from] NoSuchNode),
    #[error("the wire between nodes {0} and {1} cannot be laid: {2}")]
    Wire(u64, u64, BadWire),
}

#[derive(Clone, Copy, Debug)]
pub struct Differences {
    pub seed: u64,
    /// Crystals are off by up to this many parts in a million, each by its own amount.
    pub drift_ppm: f64,
    /// Every interrupt comes late, by less than so many cycles of the core.
    pub late_interrupts: Cycles,
    /// The clock at the HSE pins begins so many microseconds after power-on; `None` is what the kind of board has.
    pub late_clock: Option<u32>,
}

impl Differences {
    /// Of a seed, and with crystals that are off by up to so many parts in a million.
    pub const fn new(seed: u64, drift_ppm: f64) -> Self {
        Differences {
            seed,
            drift_ppm,
            late_interrupts: 0,
            late_clock: None,
        }
    }
}

/// Where a firmware looks for its configuration: the first of two slots. `None` if it is not Hopwise's.
pub fn configuration_slots(image: &Image) -> Option<u32> {
    image.address_of("_configuration_slots")
}

/// Gives a board its configuration, as a probe would: what it had before is gone. Another firmware than Hopwise's has no place for
/// one.
pub fn configure(board: &mut Board, image: &Image, config: &[u8; CONFIG_BYTES], keys: Option<Keys>, epoch: u32) {
    configure_owned(board, image, config, keys, None, epoch);
}

/// The same for a board that may have an owner.
pub fn configure_owned(
    board: &mut Board,
    image: &Image,
    config: &[u8; CONFIG_BYTES],
    keys: Option<Keys>,
    owner: Option<OwnerKey>,
    epoch: u32,
) {
    let (Some(slots), Some(bytes)) = (configuration_slots(image), image.address_of("_slot_bytes")) else {
        return;
    };
    for (at, bytes) in [
        (slots, &committed(config, keys, owner, epoch)[..]),
        (slots.wrapping_add(bytes), &[0xff; OWNED_BYTES]),
    ] {
        // The linker has seen to it that the slots are in the flash.
        let _ = board.write_flash(at, bytes);
    }
}

/// A kind of board, and what is in its flash.
#[derive(Clone)]
pub struct Program {
    pub kind: &'static BoardKind,
    pub image: Arc<Image>,
}

impl Program {
    pub fn new(kind: &'static BoardKind, image: Arc<Image>) -> Self {
        Program { kind, image }
    }

    pub fn on_default(image: &Arc<Image>) -> Self {
        Program::new(BOARDS[0], image.clone())
    }
}

/// Which boards there are, and how they are wired.
#[derive(Clone, Default)]
pub struct Blueprint {
    /// What each board is; those that are not said are of the default kind.
    pub programs: Vec<Program>,
    pub configs: Vec<[u8; CONFIG_BYTES]>,
    /// The keys of the boards; the mesh has none unless said.
    pub keys: Vec<Option<Keys>>,
    pub owner: Option<OwnerKey>,
    /// When each board is powered; those that are not said, at once.
    pub starts: Vec<Time>,
    pub wires: Vec<(Port, Port)>,
}

/// Boards and wires, with an image for the boards that the blueprint says nothing about. Boards with Hopwise's firmware get
/// their configs; others have no place for them.
pub fn assemble(blueprint: &Blueprint, image: &Arc<Image>, differences: Differences) -> Result<World, CannotBuild> {
    let default = Program::on_default(image);
    let mut world = World::new(differences.seed);
    for (node, config) in blueprint.configs.iter().enumerate() {
        let Program { kind, image } = blueprint.programs.get(node).unwrap_or(&default);
        let options = BoardOptions {
            start: blueprint.starts.get(node).copied().unwrap_or(0),
            ..options(node as u64, kind, differences)
        };
        let mut board = Board::new(image, options);
        let seed = scatter(differences.seed ^ scatter(!(node as u64)));
        board.cpu.delay_interrupts(seed, differences.late_interrupts);
        let keys = blueprint.keys.get(node).copied().flatten();
        let random = scatter(differences.seed ^ node as u64) as u32;
        // One without any of these is as flashed: its slots are erased.
        if *config != [0xff; CONFIG_BYTES] || keys.is_some() || blueprint.owner.is_some() {
            configure_owned(&mut board, image, config, keys, blueprint.owner, random);
        }
        world.add(board);
    }
    for (a, b) in &blueprint.wires {
        let failed = |error| CannotBuild::Wire(a.board as u64, b.board as u64, error);
        world.wire(*a, *b).map_err(failed)?;
    }
    Ok(world)
}

/// A default board for each node and a wire for each edge. Boards with Hopwise's firmware are told their addresses.
pub fn build(network: &Network, image: &Arc<Image>, differences: Differences) -> Result<World, CannotBuild> {
    build_of(&Program::on_default(image), network, differences)
}

/// The same, of boards of another kind.
pub fn build_of(program: &Program, network: &Network, differences: Differences) -> Result<World, CannotBuild> {
    check_size(program.kind, network)?;
    let nodes = network.nodes();
    let mut blueprint = Blueprint::default();
    for node in 0..nodes {
        let config = match configuration_slots(&program.image) {
            Some(_) => BoardConfig::new(&network.to_string(), node)
                .map_err(CannotBuild::Config)?
                .write(),
            None => [0; CONFIG_BYTES],
        };
        blueprint.configs.push(config);
        blueprint.programs.push(program.clone());
        lay_wires(program.kind, network, node, &mut blueprint.wires)?;
    }
    assemble(&blueprint, &program.image, differences)
}

/// Whether boards of a kind are enough for a network: so many of them, with so many links.
pub fn check_size(kind: &BoardKind, network: &Network) -> Result<(), CannotBuild> {
    let nodes = network.nodes();
    if nodes > MAX_BOARDS {
        return Err(CannotBuild::TooMany { nodes });
    }
    let links = kind.links().len();
    for node in 0..nodes {
        let degree = network.degree(node)?;
        if degree > links as u64 {
            return Err(CannotBuild::TooManyLinks {
                node,
                degree,
                board: kind.name,
                links,
            });
        }
    }
    Ok(())
}

/// Every edge is laid once, from its end with the lower number.
pub(crate) fn lay_wires(
    kind: &BoardKind,
    network: &Network,
    node: u64,
    wires: &mut Vec<(Port, Port)>,
) -> Result<(), CannotBuild> {
    for port in 0..network.degree(node)? {
        let Some(neighbor) = network.neighbor(node, port)?.filter(|neighbor| *neighbor > node) else {
            continue;
        };
        let here = place(kind, network, node, Some(port))?;
        let there = place(kind, network, neighbor, network.port_to(neighbor, node)?)?;
        wires.push((here, there));
    }
    Ok(())
}

/// The serial port of a node's port.
pub fn place(kind: &BoardKind, network: &Network, node: u64, port: Option<u64>) -> Result<Port, CannotBuild> {
    match port.and_then(|port| kind.links().get(port as usize)) {
        Some(link) => Ok(Port::new(node as usize, link.uart)),
        None => Err(CannotBuild::TooManyLinks {
            node,
            degree: network.degree(node)?,
            board: kind.name,
            links: kind.links().len(),
        }),
    }
}

fn options(node: u64, kind: &'static BoardKind, differences: Differences) -> BoardOptions {
    let first = scatter(differences.seed ^ scatter(node));
    let second = scatter(first);
    // A number between -1 and 1.
    let chance = |bits: u64| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    BoardOptions {
        hse_ppm: differences.drift_ppm * chance(first),
        // The internal oscillator is good to one percent.
        hsi_ppm: if differences.drift_ppm == 0.0 {
            0.0
        } else {
            10_000.0 * chance(second)
        },
        // What data sheets leave open, whatever the drift: firmware must bear all of it.
        lsi: drawn(&LSI, second),
        flash_wear: (scatter(second) % 101) as u32,
        hse_start: match (differences.late_clock, kind.hse) {
            (Some(start), _) => start,
            (None, Hse::Crystal(_)) => drawn(&Hse::CRYSTAL_STARTS, scatter(scatter(second))),
            (None, Hse::Fed(_) | Hse::Absent) => 0,
        },
        unique_id: [node as u32, first as u32, second as u32],
        ..BoardOptions::of(kind)
    }
}

fn drawn(range: &std::ops::RangeInclusive<u32>, bits: u64) -> u32 {
    range.start() + (bits % u64::from(range.end() - range.start() + 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopwise_emulator::boards::find;

    fn try_build(expression: &str) -> Result<usize, CannotBuild> {
        let image = Arc::new(Image::from_bytes(vec![0; 8]));
        let network: Network = expression.parse().expect("a network");
        let differences = Differences::new(1, 0.0);
        build(&network, &image, differences).map(|world| world.wired_ports().len())
    }

    #[test]
    fn every_edge_is_a_wire() {
        assert_eq!(try_build("ring(5)"), Ok(10));
        assert_eq!(try_build("torus(4,4)"), Ok(64));
    }

    #[test]
    fn watchdogs_and_flashes_differ_by_seed() {
        let of_seed = |seed| {
            let differences = Differences::new(seed, 0.0);
            let boards = (0..100).map(|node| options(node, BOARDS[0], differences));
            boards.map(|board| (board.lsi, board.flash_wear)).collect::<Vec<_>>()
        };
        let boards = of_seed(1);
        assert_eq!(boards, of_seed(1));
        assert_ne!(boards, of_seed(2));
        assert!(boards.iter().all(|(lsi, wear)| LSI.contains(lsi) && *wear <= 100));
        assert!(boards.iter().any(|board| board.0 < 20_000) && boards.iter().any(|board| board.0 > 44_000));
        assert!(boards.iter().any(|board| board.1 < 10) && boards.iter().any(|board| board.1 > 90));
    }

    #[test]
    fn crystals_start_differently_by_seed_and_clocks_that_are_fed_at_once() {
        let starts = |seed, kind| {
            let differences = Differences::new(seed, 0.0);
            let boards = (0..100).map(|node| options(node, kind, differences).hse_start);
            boards.collect::<Vec<_>>()
        };
        let plain = find("plain-f405rg").expect("a board");
        let crystals = starts(1, plain);
        assert_eq!(crystals, starts(1, plain));
        assert_ne!(crystals, starts(2, plain));
        assert!(crystals.iter().all(|start| Hse::CRYSTAL_STARTS.contains(start)));
        assert!(crystals.iter().any(|start| *start < 3_000) && crystals.iter().any(|start| *start > 9_000));
        assert_eq!(starts(1, BOARDS[0]), [0; 100]);
    }

    #[test]
    fn a_board_has_five_links_and_no_more() {
        assert_eq!(try_build("complete(6)"), Ok(30));
        assert_eq!(
            try_build("complete(7)"),
            Err(CannotBuild::TooManyLinks {
                node: 0,
                degree: 6,
                board: "nucleo-f446re",
                links: 5
            })
        );
        assert_eq!(try_build("ring(5000)"), Err(CannotBuild::TooMany { nodes: 5000 }));
        let links: Vec<usize> = BOARDS[0].links().iter().map(|link| link.uart).collect();
        assert_eq!(links, LINKS);
    }

    #[test]
    fn every_kind_of_board_has_its_own_links() {
        for kind in BOARDS.iter() {
            let program = Program::new(kind, Arc::new(Image::from_bytes(vec![0; 8])));
            let differences = Differences::new(1, 0.0);
            let most = kind.links().len();
            let network = |nodes: usize| format!("complete({nodes})").parse::<Network>().expect("a network");
            let world = build_of(&program, &network(most + 1), differences).expect("as many links as the board has");
            let of_first = world.wired_ports().into_iter().filter(|port| port.board == 0);
            let mut of_first: Vec<usize> = of_first.map(|port| port.uart).collect();
            let mut expected: Vec<usize> = kind.links().iter().map(|link| link.uart).collect();
            of_first.sort_unstable();
            expected.sort_unstable();
            assert_eq!(of_first, expected, "{}", kind.name);
            let refused = build_of(&program, &network(most + 2), differences).map(drop);
            let sentence = refused.expect_err("one link too many").to_string();
            let end = format!("but a {} has {most} serial ports for links", kind.name);
            assert!(sentence.ends_with(&end), "{sentence}");
        }
    }
}
