//! Every guarantee, on all pairs of many small networks besides the golden ones.

use crate::audit::{audit, audit_all, network};
use hopwise_core::graph::Shape;
use hopwise_core::{Family, Rule, Tree};
use hopwise_networks::broadcast::Broadcast;
use hopwise_networks::distances::hops_from;
use hopwise_networks::graph::Graph;

#[test]
fn base_graphs() {
    audit_all([
        "ring(3)",
        "ring(4)",
        "ring(8)",
        "path(2)",
        "path(5)",
        "complete(2)",
        "star(2)",
        "hypercube(1)",
        "hypercube(5)",
        "folded-hypercube(2)",
        "folded-hypercube(3)",
        "folded-hypercube(7)",
        "torus(2)",
        "torus(2,2,6)",
        "mesh(2,5,3)",
        "ghc(2,3,4)",
        "nstar(2)",
        "nstar(3)",
        "nstar(5)",
    ]);
}

#[test]
fn recursive_dual_nets() {
    audit_all([
        "rdn(ring(3),0)",
        "rdn(ring(4),2)",
        "rdn(ring(6),1)",
        "rdn(complete(2),2)",
        "rdn(path(3),2)",
        "rdn(star(4),1)",
        "rdn(folded-hypercube(3),1)",
        "rdn(torus(4,2),1)",
        "rdn(mesh(3,2),1)",
        "rdn(ghc(3,2),1)",
        "rdn(nstar(3),1)",
        "rdn(nstar(4),1)",
        "rdn(petersen,1)",
        "rdn(torus(4,4),1)",
    ]);
}

#[test]
fn recursive_expansions_with_one_pivot() {
    audit_all([
        "re(ring(3),complete(3),1)",
        "re(ring(4),complete(3),5)",
        "re(ring(3),ring(3),6)",
        "re(complete(2),ring(5),7)",
        "re(complete(2),hypercube(3),8)",
        "re(ring(4),path(3),3)",
        "re(path(3),path(4),4)",
        "re(ring(5),star(4),4)",
        "re(star(4),star(5),3)",
        "re(complete(2),complete(2),4)",
        "re(ring(3),petersen,3)",
        "re([mesh(2,3),star(4)],mesh(3,2))",
        "re(complete(4),nstar(3),3)",
        "re(folded-hypercube(2),folded-hypercube(3),2)",
        "re(ghc(2,3),torus(3,3),2)",
        "re(complete(2),complete(4),4)",
    ]);
}

#[test]
fn recursive_expansions_with_pivot_sets() {
    audit_all([
        "re(ring(4),ring(8),2,sd)",
        "re(ring(4),ring(4),1,sd)",
        "re(ring(3),ring(4),4,sd)",
        "re(ring(3),complete(3),4,sd)",
        "re(complete(4),ring(6),2,sd)",
        "re(complete(2),ring(4),3,sd)",
        "re(star(4),hypercube(3),2,sd)",
        "re(path(4),mesh(3,2),3,sd)",
        "re([ring(3),complete(4),path(3)],ring(7),sd)",
        "re([petersen,ring(3)],complete(6),sd)",
        "re(heawood,heawood,1,sd)",
    ]);
}

#[test]
fn recursive_cubes_of_rings() {
    audit_all([
        "rcr(1,5,4)",
        "rcr(1,6,5)",
        "rcr(2,5,3)",
        "rcr(2,6,4)",
        "rcr(3,4,2)",
        "rcr(3,5,4)",
        "rcr(2,3,1)",
        "rcr(3,7,1)",
        "rcr(4,2,4)",
        "rcr(2,7,3)",
        "rcr(3,2,1)",
        "rcr(1,9,3)",
        "rcr(1,11,4)",
        "rcr(0,2,0)",
        "rcr(2,2,0)",
        "rcr(2,9,1)",
        "rcr(1,8,7)",
    ]);
}

#[test]
fn cubes_of_rings_and_cube_connected_cycles() {
    audit_all([
        "ccc(3)", "ccc(4)", "ccc(5)", "ccc(6)", "ccc(7)", "ccc(8)", "cor(1,2)", "cor(1,3)", "cor(2,2)", "cor(2,3)",
        "cor(2,4)", "cor(3,2)", "cor(3,3)", "cor(4,2)", "cor(5,2)",
    ]);
}

#[test]
fn dual_cubes_and_biswapped_networks() {
    audit_all([
        "dualcube(2)",
        "dualcube(3)",
        "dualcube(4)",
        "dualcube(5)",
        "bsw(ring(5))",
        "bsw(petersen)",
        "bsw(mesh(3,2))",
    ]);
}

#[test]
fn wk_recursive_networks() {
    audit_all([
        "wk(2,1)", "wk(2,2)", "wk(2,7)", "wk(3,2)", "wk(3,3)", "wk(3,5)", "wk(3,6)", "wk(4,3)", "wk(5,3)", "wk(6,1)",
        "wk(7,3)", "wk(12,2)",
    ]);
}

#[test]
fn symmetric_hypernets() {
    audit_all([
        "symmetric-hypernet(1,1)",
        "symmetric-hypernet(1,6)",
        "symmetric-hypernet(2,2)",
        "symmetric-hypernet(2,3)",
        "symmetric-hypernet(2,4)",
        "symmetric-hypernet(3,1)",
        "symmetric-hypernet(3,2)",
        "symmetric-hypernet(3,3)",
        "symmetric-hypernet(4,2)",
    ]);
}

#[test]
fn hypernets() {
    audit_all([
        "hypernet(1,1)",
        "hypernet(2,1)",
        "hypernet(2,2)",
        "hypernet(2,3)",
        "hypernet(2,5)",
        "hypernet(2,7)",
        "hypernet(3,2)",
        "hypernet(3,3)",
        "hypernet(4,2)",
        "hypernet(5,2)",
    ]);
}

#[test]
fn exchanged_hypercubes() {
    audit_all([
        "exchanged-hypercube(1,1)",
        "exchanged-hypercube(1,3)",
        "exchanged-hypercube(4,2)",
        "exchanged-hypercube(3,3)",
        "exchanged-hypercube(2,5)",
    ]);
}

#[test]
fn lifts() {
    audit_all([
        "lift(2,a1)",
        "lift(1,b,c)",
        "lift(5,a1b,b2)",
        "lift(9,a1a4)",
        "lift(31,ba1,c5b3,c7)",
        "lift(33,b,b4b7)",
        "lift(70,b9b,b1b3)",
        "moebius-kantor",
        "pappus",
        "mcgee",
        "tutte-coxeter",
        "hoffman-singleton",
        "cage(3,12)",
        "cage(5,6)",
        "generalized-petersen(12,5)",
        "circulant(40,1,9,20)",
        "chordal-ring(30,9)",
        // 1,024 nodes, in many orbits and in few.
        "lift(64,a3b,b9c,c1d5,e,f7,f2g9,h,i11,j,k5,l3,m,n13,o,p7,p5)",
        "lift(512,b1b,b37b101)",
    ]);
}

#[test]
fn networks_of_lifts() {
    audit_all([
        "rdn(pappus,1)",
        "rdn(lift(3,a1b,b1),2)",
        "re(lift(5,a1b,b2),complete(3),2)",
        "re(ring(3),lift(6,a1b,b1),3)",
        "re(ring(4),mcgee,1)",
        "re(lift(4,a1a2),lift(4,a1b,b1),1,sd)",
        "rsn(2,moebius-kantor)",
        "rsn(2,mcgee)",
        "rsn(2,moebius-kantor,diameter)",
        "hsn(2,pappus)",
        "folded(moebius-kantor,2)",
        "root-folded(lift(3,a1b,b1),3)",
        "flooded(lift(3,a1b,b1),4)",
    ]);
}

/// The cages and their like are what they are called: the distances of each are those by which it is known.
#[test]
fn named_lifts_have_the_distances_of_their_names() {
    for (name, levels) in [
        ("moebius-kantor", &[1, 3, 6, 5, 1][..]),
        ("pappus", &[1, 3, 6, 6, 2]),
        ("mcgee", &[1, 3, 6, 12, 2]),
        ("tutte-coxeter", &[1, 3, 6, 12, 8]),
        ("hoffman-singleton", &[1, 7, 42]),
        ("cage(3,12)", &[1, 3, 6, 12, 24, 48, 32]),
        ("cage(4,6)", &[1, 4, 12, 9]),
        ("cage(5,5)", &[1, 5, 20, 4]),
        ("cage(5,6)", &[1, 5, 20, 16]),
        ("cage(6,6)", &[1, 6, 30, 25]),
        ("chordal-ring(14,5)", &[1, 3, 6, 4]),
    ] {
        let graph = Graph::build(&network(name)).unwrap();
        for node in 0..graph.nodes() {
            let mut found = vec![0; levels.len()];
            for hops in hops_from(&graph, node) {
                found[hops as usize] += 1;
            }
            assert_eq!(found, levels, "{name} from {node}");
        }
    }
}

/// A hop depends on the two orbits and the difference of the places alone.
#[test]
fn routes_of_a_lift_turn_with_it() {
    for expression in ["mcgee", "lift(33,b,b4b7)", "lift(16,b1bcd8,b5c4,d9,d7)"] {
        let network = network(expression);
        let Family::Base(base) = network.family() else {
            unreachable!()
        };
        let Shape::Lift(lift) = base.shape() else {
            unreachable!()
        };
        let m = lift.places();
        let turn = |node: u64| node / m * m + (node % m + 1) % m;
        for here in 0..network.nodes() {
            for dest in 0..network.nodes() {
                let port = network.next_port(here, dest, Rule::Exact);
                assert_eq!(
                    network.next_port(turn(here), turn(dest), Rule::Exact),
                    port,
                    "{expression}: {here} to {dest}"
                );
            }
        }
    }
}

/// Where only a distance is defined, the next hop is the lowest-numbered neighbor that is closer.
#[test]
fn lowest_numbered_closer_neighbor() {
    for expression in [
        "wk(3,4)",
        "wk(4,3)",
        "wk(9,2)",
        "hypernet(2,4)",
        "hypernet(3,3)",
        "symmetric-hypernet(2,4)",
        "symmetric-hypernet(3,2)",
        "symmetric-hypernet(3,3)",
    ] {
        let network = crate::audit::network(expression);
        let graph = Graph::build(&network).unwrap();
        for dest in 0..graph.nodes() {
            let hops = hops_from(&graph, dest);
            for here in (0..graph.nodes()).filter(|&here| here != dest) {
                let closer = graph
                    .neighbors(here)
                    .iter()
                    .filter(|&&w| hops[w as usize] < hops[here])
                    .min()
                    .unwrap();
                let next = network.next_hop(here as u64, dest as u64, Rule::Exact);
                assert_eq!(next, Ok(u64::from(*closer)), "{expression}: {here} to {dest}");
            }
        }
    }
}

#[test]
fn folded_networks() {
    audit_all([
        "folded(heawood,1)",
        "folded(heawood,2)",
        "folded(heawood,3)",
        "folded(petersen,2)",
        "folded(petersen,3)",
        "folded(ring(3),4)",
        "folded(ring(5),3)",
        "folded(path(4),3)",
        "folded(star(5),3)",
        "folded(complete(6),3)",
        "folded(hypercube(3),3)",
        "folded(torus(4,3),2)",
        "folded(nstar(4),2)",
    ]);
}

#[test]
fn root_folded_networks() {
    audit_all([
        "root-folded(heawood,1)",
        "root-folded(heawood,2)",
        "root-folded(heawood,3)",
        "root-folded(petersen,2)",
        "root-folded(petersen,3)",
        "root-folded(ring(3),5)",
        "root-folded(ring(5),4)",
        "root-folded(path(3),4)",
        "root-folded(star(4),4)",
        "root-folded(complete(5),4)",
        "root-folded(hypercube(2),4)",
        "root-folded(folded-hypercube(3),3)",
        "root-folded(mesh(3,2),3)",
        "root-folded(nstar(4),2)",
    ]);
}

#[test]
fn flooded_networks() {
    audit_all([
        "flooded(heawood,1)",
        "flooded(heawood,2)",
        "flooded(heawood,3)",
        "flooded(petersen,2)",
        "flooded(petersen,3)",
        "flooded(ring(3),1)",
        "flooded(ring(3),6)",
        "flooded(ring(6),4)",
        "flooded(path(3),5)",
        "flooded(star(4),5)",
        "flooded(complete(5),4)",
        "flooded(hypercube(3),3)",
        "flooded(ghc(3,2),3)",
        "flooded(mesh(2,3),4)",
        "flooded(nstar(3),4)",
    ]);
}

#[test]
fn heawood_expansions_with_all_links_at_each_port() {
    audit_all(["re-heawood-2(2)", "re-heawood-2(3)"]);
}

#[test]
fn heawood_expansions_with_one_link_at_each_port() {
    audit_all(["re-heawood-2(2,one)", "re-heawood-2(3,one)"]);
}

/// One-port steps of the tree of fewest steps, the most over all sources.
#[test]
fn broadcasts_of_fewest_steps() {
    for (expression, steps) in [
        ("heawood", 4),
        ("petersen", 4),
        ("complete(2)", 1),
        ("complete(8)", 3),
        ("complete(9)", 4),
        ("ghc(5,6)", 6),
        ("hypercube(5)", 5),
        ("rdn(heawood,1)", 2 * 4 + 2),
        ("folded(heawood,2)", 8),
        ("folded(petersen,2)", 8),
        ("folded(complete(5),3)", 9),
        // To the root of the own copy, then as from there.
        ("root-folded(heawood,2)", 3 + 8),
        ("flooded(heawood,2)", 3 + 8),
    ] {
        let network = network(expression);
        let most = (0..network.nodes())
            .map(|source| Broadcast::follow(&network, source, Tree::FewestSteps).one_port_steps())
            .max();
        assert_eq!(most, Some(steps), "{expression}");
    }
    let deeper = Broadcast::follow(&network("folded(heawood,3)"), 1_234, Tree::FewestSteps);
    assert_eq!(deeper.one_port_steps(), 12);
}

#[test]
fn recursive_swapped_networks() {
    audit_all([
        "rsn(1,ring(5))",
        "rsn(1,petersen,diameter)",
        "rsn(2,hypercube(2))",
        "rsn(2,complete(5))",
        "rsn(2,ring(8))",
        "rsn(2,path(7))",
        "rsn(2,star(6))",
        "rsn(2,mesh(3,3))",
        "rsn(2,torus(4,4))",
        "rsn(2,ghc(3,4))",
        "rsn(2,petersen)",
        "rsn(2,heawood)",
        "rsn(3,hypercube(2))",
        "rsn(3,star(4))",
        "rsn(4,complete(2))",
        "hfn(2)",
        "hfn(3)",
        "hfn(4)",
    ]);
}

#[test]
fn recursive_swapped_networks_with_diameter_links() {
    audit_all([
        "hcn(1)",
        "hcn(2)",
        "hcn(3)",
        "hcn(4)",
        // A shortcut that is right up to `hcn(5)` is wrong here.
        "hcn(6)",
        "rsn(2,folded-hypercube(3),diameter)",
        "rsn(2,folded-hypercube(4),diameter)",
        "rsn(2,complete(2),diameter)",
        "rsn(2,complete(7),diameter)",
        "rsn(2,ring(8),diameter)",
        "rsn(2,ring(9),diameter)",
        "rsn(2,path(9),diameter)",
        "rsn(2,star(2),diameter)",
        "rsn(2,star(7),diameter)",
        "rsn(2,star(8),diameter)",
        "rsn(2,mesh(3,4),diameter)",
        "rsn(2,torus(5,3),diameter)",
        "rsn(2,ghc(3,4),diameter)",
        "rsn(2,nstar(3),diameter)",
        "rsn(2,petersen,diameter)",
        "rsn(2,heawood,diameter)",
        "rsn(3,hypercube(2),diameter)",
        "rsn(3,complete(3),diameter)",
        "rsn(3,ring(4),diameter)",
        "rsn(3,path(4),diameter)",
        "rsn(4,complete(2),diameter)",
    ]);
}

#[test]
fn hierarchical_swapped_networks() {
    audit_all([
        "hsn(2,ring(5))",
        "hsn(2,petersen)",
        "hsn(3,hypercube(2))",
        "hsn(3,complete(4))",
        "hsn(3,path(4))",
        "hsn(3,star(5))",
        "hsn(4,ring(4))",
        "hsn(4,path(3))",
        "hsn(6,complete(2))",
        // More wrong digits than are permuted: not always shortest, but it arrives within the bound.
        "hsn(9,complete(2))",
    ]);
}

#[test]
fn three_level_hierarchical_cubic_networks() {
    audit_all(["hcn3(1)", "hcn3(2)", "hcn3(3)"]);
}

/// There is only this one, so it is audited in every run.
#[test]
fn partially_linked_swapped_network() {
    audit("partial-swapped");
}
