//! Networks too large to build out: every hop lowers the distance by one, and the way back is as long.

use hopwise_core::{Method, Network, Rule};
use proptest::prelude::*;

/// Follows the exact rule between two nodes picked by two random numbers.
fn hops_lower_the_distance(expression: &str, from: u64, to: u64) {
    let network: Network = expression.parse().unwrap();
    let (from, to) = (from % network.nodes(), to % network.nodes());
    let pair = format!("{network}: {from} to {to}");
    assert_eq!(network.method(from, to, Rule::Exact), Ok(Method::Shortest), "{pair}");
    let mut distance = network.distance(from, to).unwrap().unwrap();
    assert_eq!(network.distance(to, from), Ok(Some(distance)), "{pair}, back");
    assert!(
        distance <= network.longest_route(Rule::Exact),
        "{pair}: {distance} hops"
    );
    let mut here = from;
    while here != to {
        let next = network.next_hop(here, to, Rule::Exact).unwrap();
        assert!(
            network.port_to(here, next).unwrap().is_some(),
            "{pair}: no link from {here} to {next}"
        );
        let closer = network.distance(next, to).unwrap().unwrap();
        assert_eq!(closer + 1, distance, "{pair}: from {here} to {next}");
        (here, distance) = (next, closer);
    }
    assert_eq!(distance, 0, "{pair}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn swapped_networks(from: u64, to: u64, index in 0..14usize) {
        let expression = [
            "hcn(6)",
            "hcn(31)",
            "hfn(31)",
            "rsn(2,complete(3000000000))",
            "rsn(2,ring(2000),diameter)",
            "rsn(2,torus(50,40,8),diameter)",
            "rsn(2,star(1000000),diameter)",
            "rsn(2,folded-hypercube(20),diameter)",
            "rsn(3,hypercube(15))",
            "rsn(3,hypercube(3),diameter)",
            "rsn(6,complete(2))",
            "rsn(4,petersen)",
            "hsn(8,hypercube(7))",
            "hcn3(21)",
        ][index];
        hops_lower_the_distance(expression, from, to);
    }
}
