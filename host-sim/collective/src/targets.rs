//! Where values go in permutations and shifts.

use hopwise_core::collective::{Mesh, Operation, Ring};
use hopwise_core::{Network, Node};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{CannotRun, Request, refused};

/// Where the value of each node goes in a permutation or a shift; nowhere at the end of a path.
pub(crate) fn targets(network: &Network, request: &Request) -> Result<Vec<Option<Node>>, CannotRun> {
    let nodes = 0..network.nodes();
    Ok(match (request.operation, request.dimension) {
        (Operation::Shift, None) => {
            let ring = Ring::new(network);
            nodes.map(|node| ring.next(node).map(Some)).collect::<Result<_, _>>()?
        }
        (Operation::Shift, Some(dimension)) => {
            let mesh = Mesh::new(network);
            let dimensions = mesh.map_or(0, |mesh| mesh.dimensions());
            let none = || {
                let those = match dimensions {
                    0 => "its node numbers have no digits with links of their own".into(),
                    1 => "it has 0 only".into(),
                    _ => format!("it has 0 to {}", dimensions - 1),
                };
                refused(format!(
                    "{network} has no dimension {dimension} to shift along: {those}"
                ))
            };
            let mesh = mesh.filter(|_| dimension < dimensions).ok_or_else(none)?;
            nodes.map(|node| mesh.next(node, dimension)).collect::<Result<_, _>>()?
        }
        (operation, Some(_)) => {
            let name = operation.name();
            return Err(refused(format!("only a shift goes along a dimension, {name} does not")));
        }
        _ => {
            let mut to: Vec<Option<Node>> = nodes.map(Some).collect();
            to.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(request.seed));
            to
        }
    })
}
