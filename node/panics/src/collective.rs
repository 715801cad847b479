//! The phases of every operation, and who sends to whom in them.

use core::hint::black_box;

use hopwise_core::Network;
use hopwise_core::collective::{Mesh, Operation, Phase, Plan, Ports, Step};

pub fn run() {
    let Ok(network) = black_box("").parse::<Network>() else {
        return;
    };
    let (node, round, ports) = (black_box(0), black_box(0), black_box(Ports::One));
    let Ok(plan) = Plan::new(&network, black_box(Operation::Scan), ports, node) else {
        return;
    };
    if let Some(mesh) = Mesh::new(&network) {
        let _ = black_box((mesh.place(node), mesh.node(node)));
        let _ = black_box((mesh.next(node, round), mesh.previous(node, round)));
    }
    match plan.phase(round) {
        Some(Phase::Up(tree) | Phase::Down(tree)) => {
            let _ = black_box((tree.parent(node), tree.told(node), tree.rounds(), tree.period()));
        }
        Some(Phase::Step(Step::Share(axis))) => {
            black_box((
                axis.rounds(ports),
                axis.digit(node),
                axis.sends(node, round, ports).count(),
            ));
        }
        Some(Phase::Step(Step::Swap(swap) | Step::Return(swap))) => {
            black_box((swap.partner(node), swap.kind(node)));
        }
        Some(Phase::Step(Step::Pass(pass))) => {
            black_box((pass.rounds(), pass.send(node, round)));
        }
        Some(Phase::Step(Step::Tell(tell))) => {
            let unit = tell.unit();
            black_box(tell.tree(&unit, ports).rounds());
        }
        Some(Phase::Step(Step::Lend(lend))) => {
            black_box((lend.send(node), lend.lent()));
        }
        Some(Phase::Compare(sorting, stage)) => {
            black_box(sorting.comparator(stage, node));
        }
        Some(Phase::Route) | None => (),
    }
}
