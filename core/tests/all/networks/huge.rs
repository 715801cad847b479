//! Networks far too large to build out: from random pairs each hop is one closer, and the way back is as long.

use crate::support::*;

/// Routes are followed for so many hops.
const HOPS: u64 = 64;

/// Pairs tried in each network.
const PAIRS: u32 = 6;

fn descend(network: &Network, from: Node, to: Node) {
    let distance = |a, b| network.distance(a, b).unwrap().expect("an exact distance");
    let hops = distance(from, to);
    assert_eq!(distance(to, from), hops, "{network}: {from} to {to} and back");
    assert!(hops <= network.longest_route(Rule::Exact), "{network}: {from} to {to}");
    let mut here = from;
    for hop in 1..=HOPS.min(hops) {
        let next = network.next_hop(here, to, Rule::Exact).unwrap();
        let port = network.next_port(here, to, Rule::Exact).unwrap().expect("a port");
        assert_eq!(
            network.neighbor(here, port),
            Ok(Some(next)),
            "{network}: {here} to {to}"
        );
        assert_eq!(
            distance(next, to),
            hops - hop,
            "{network}: from {from} to {to} at {next}"
        );
        here = next;
    }
    for (port, child) in network.fanout(from, to).unwrap().take(64) {
        assert_eq!(network.neighbor(from, port), Ok(Some(child)));
        assert_eq!(
            network.next_hop(child, to, Rule::Exact),
            Ok(from),
            "{network}: {child} of {to}"
        );
    }
}

#[test]
fn each_hop_is_one_closer() {
    for expression in [
        "ring(1000000000000)",
        "torus(1000,2000,3000)",
        "mesh(99999,88888)",
        "nstar(20)",
        "folded-hypercube(62)",
        "rdn(ring(5),3)",
        "rdn(complete(2),5)",
        "rdn(nstar(5),2)",
        "re(ring(4),ring(16),16)",
        "re(ring(5),complete(20),20)",
        "re(complete(2),path(20),40)",
        "re(ring(4),star(20),20)",
        "re([heawood,torus(9,9),ring(1000),star(12)],torus(3,4))",
        "re(heawood,hypercube(3),8)",
        "rcr(4,20,40)",
        "rcr(1,40,39)",
        "rcr(3,100,50)",
        "ccc(57)",
        "cor(9,6)",
        "folded(heawood,16)",
        "root-folded(heawood,15)",
        "flooded(ring(3),61)",
        "flooded(nstar(5),8)",
        "dualcube(32)",
        "bsw(torus(40,50,60))",
        "exchanged-hypercube(40,22)",
        "wk(2,63)",
        "wk(3,39)",
        "symmetric-hypernet(1,63)",
        "symmetric-hypernet(7,9)",
        "hypernet(2,62)",
        "hypernet(3,6)",
        "hypernet(4,4)",
        "hypernet(4,5)",
        "hcn(31)",
        "hfn(31)",
        "rsn(3,hypercube(15))",
        "rsn(2,torus(50,40,8),diameter)",
        "rsn(2,star(1025),diameter)",
        "rsn(6,complete(2))",
        "hsn(8,hypercube(7))",
        "hcn3(21)",
    ] {
        let network = network(expression);
        let mut random = Random(network.nodes());
        for _ in 0..cases(PAIRS) {
            if network.degree(0).unwrap() > 100 {
                continue;
            }
            let (from, to) = (random.below(network.nodes()), random.below(network.nodes()));
            descend(&network, from, to);
        }
    }
}
