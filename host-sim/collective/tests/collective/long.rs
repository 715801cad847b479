//! Every operation on every golden network of up to 4,096 nodes: minutes.

mod support;

#[test]
fn every_operation_is_right_on_all_golden_networks() {
    let networks = support::golden(4096);
    assert!(networks.len() > 55);
    for (seed, network) in (1..).zip(networks) {
        let begin = std::time::Instant::now();
        support::all_operations(&network, seed);
        println!("{network}: {:.1} s", begin.elapsed().as_secs_f64());
    }
}
