//! Sums of all that a node asks its network, compiled once with numbers of 64 bits and once with 32.

use hopwise_core::{Network, Number, Rule};

/// Networks of every family and base graph, most of them such as boards of five links can be wired to.
pub(crate) const EXPRESSIONS: &[&str] = &[
    "ring(7)",
    "path(5)",
    "complete(6)",
    "star(6)",
    "hypercube(4)",
    "folded-hypercube(4)",
    "torus(4,3)",
    "mesh(3,3,2)",
    "ghc(3,2,2)",
    "nstar(4)",
    "petersen",
    "heawood",
    "rdn(ring(3),1)",
    "rdn(path(2),2)",
    "dualcube(3)",
    "bsw(complete(4))",
    "re(ring(3),complete(3),1)",
    "re(ring(3),ring(3),1)",
    "re(ring(4),complete(3),3)",
    "re([ring(3),path(2),complete(3)],petersen)",
    "re(ring(4),ring(5),3,sd)",
    "re(path(2),ring(40),2)",
    "re-heawood-2(2)",
    "re-heawood-2(2,one)",
    "rcr(2,2,1)",
    "rcr(1,7,4)",
    "cor(2,3)",
    "ccc(4)",
    "wk(4,3)",
    "symmetric-hypernet(3,2)",
    "hypernet(3,3)",
    "hypernet(2,5)",
    "exchanged-hypercube(2,3)",
    "folded(ring(3),3)",
    "root-folded(ring(4),3)",
    "flooded(petersen,2)",
    "rsn(2,hypercube(2))",
    "rsn(3,path(2))",
    "rsn(2,hypercube(3),diameter)",
    "hcn(3)",
    "hfn(3)",
    "hsn(3,ring(4))",
    "hcn3(2)",
    "partial-swapped",
];

/// All pairs up to so many nodes; of larger networks, as many evenly spread nodes.
const NODES: Number = 128;

/// A sum over the neighbours of all nodes and the next hops, distances and broadcast children of all pairs, or why there is
/// no such network.
pub(crate) fn sum(expression: &str) -> String {
    let network: Network = match expression.parse() {
        Ok(network) => network,
        Err(error) => return error.to_string(),
    };
    let mut sum = Sum(0xcbf2_9ce4_8422_2325);
    let step = network.nodes().div_ceil(NODES) as usize;
    let nodes = || (0..network.nodes()).step_by(step);
    sum.add(network.id());
    for rule in [Rule::Exact, Rule::Paper] {
        sum.add(network.longest_route(rule));
    }
    for here in nodes() {
        network
            .neighbors(here)
            .into_iter()
            .flatten()
            .for_each(|node| sum.add(node));
        for there in nodes() {
            for rule in [Rule::Exact, Rule::Paper] {
                sum.add_any(network.next_hop(here, there, rule).ok());
            }
            sum.add_any(network.distance(here, there).ok().flatten());
            for (port, node) in network.fanout(here, there).into_iter().flatten() {
                sum.add(port);
                sum.add(node);
            }
        }
    }
    format!("{:016x}", sum.0)
}

/// FNV-1a, a number at a time.
struct Sum(u64);

impl Sum {
    fn add(&mut self, number: impl Into<u64>) {
        self.0 = (self.0 ^ number.into()).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// The same whether there is a number or not.
    fn add_any(&mut self, number: Option<impl Into<u64>>) {
        self.add(number.map_or(u64::MAX, Into::into));
    }
}
