//! Boards without a config, wired as a network at links that are chosen at random, to be adopted.

use std::collections::BTreeMap;

use hopwise_core::Network;
use hopwise_emulator::time::{MILLISECOND, Time};
use hopwise_emulator::world::Port;
use hopwise_node::wire::{CONFIG_BYTES, DEFAULT_BAUD};

use crate::rig::{CannotEmulate, EmulatedMesh};
use crate::setup::{self, Blueprint, CannotBuild, Differences, Program, check_size, scatter};

/// Boards are powered one after the other within this time.
const POWERED_WITHIN: Time = 200 * MILLISECOND;

/// What is missing of the network, at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    pub boards: u64,
    pub cables: u64,
}

/// Random numbers of a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = scatter(self.0);
        (self.0 % bound.max(1) as u64) as usize
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            list.swap(place, self.below(place + 1));
        }
    }
}

/// Wires boards, and switches them on. Requests are asked at the serial port of board 0, which is any node of the network.
pub fn boards_without_configs(
    network: &Network,
    program: &Program,
    seed: u64,
    lost: Lost,
) -> Result<EmulatedMesh, CannotEmulate> {
    check_size(program.kind, network)?;
    let mut dice = Dice(scatter(seed));
    let mut nodes: Vec<u64> = (0..network.nodes()).collect();
    dice.shuffle(&mut nodes);
    nodes.truncate(nodes.len().saturating_sub(lost.boards as usize));
    if nodes.is_empty() {
        return Err(CannotEmulate::Other(format!("{network} has no more boards to lose")));
    }
    let board_of: BTreeMap<u64, usize> = nodes.iter().enumerate().map(|(board, node)| (*node, board)).collect();
    let mut cables = Vec::new();
    for (&node, &board) in &board_of {
        let later = network
            .neighbors(node)
            .map_err(CannotBuild::Node)?
            .filter(|neighbor| *neighbor > node);
        cables.extend(later.filter_map(|neighbor| Some([board, *board_of.get(&neighbor)?])));
    }
    dice.shuffle(&mut cables);
    cables.truncate(cables.len().saturating_sub(lost.cables as usize));
    let uarts = || program.kind.links().iter().map(|link| link.uart);
    let mut free: Vec<Vec<usize>> = nodes.iter().map(|_| uarts().collect()).collect();
    free.iter_mut().for_each(|uarts| dice.shuffle(uarts));
    let mut blueprint = Blueprint {
        programs: vec![program.clone(); nodes.len()],
        configs: vec![[0xff; CONFIG_BYTES]; nodes.len()],
        ..Blueprint::default()
    };
    blueprint.starts = nodes
        .iter()
        .map(|_| dice.below(POWERED_WITHIN as usize) as Time)
        .collect();
    for cable in cables {
        let [one, other] = cable.map(|board| free[board].pop().map(|uart| Port::new(board, uart)));
        blueprint.wires.extend(one.zip(other));
    }
    let world = setup::assemble(&blueprint, &program.image, Differences::new(seed, 20.0))?;
    let mut mesh = EmulatedMesh::connect(world, DEFAULT_BAUD, None, &[0])?;
    mesh.has_any_config = true;
    Ok(mesh)
}
