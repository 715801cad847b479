//! Programs of users on simulated boards, with faults.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use hopwise_app::{AppPort, Outcome};
use hopwise_sim::{Settings, simulate_programs};

use super::{also, on, pulls};

const PORT: AppPort = AppPort(16);

fn for_seconds(settings: Settings, seconds: u64) -> Settings {
    also(settings, &format!("--for {seconds}s"))
}

#[test]
fn a_program_begins_with_its_board() {
    let starts: Rc<RefCell<Vec<u64>>> = Rc::default();
    let note = starts.clone();
    let resets = "--events '2s reset 1; 3s off 2; 4s on 2; 5s off 0'";
    let settings = also(for_seconds(on("ring(4)"), 6), resets);
    let account = simulate_programs(&settings.run().unwrap(), &move |mesh| {
        let note = note.clone();
        Box::pin(async move {
            note.borrow_mut().push(mesh.address());
            let mut receiver = mesh.receiver(PORT).unwrap();
            loop {
                receiver.recv().await;
            }
        })
    })
    .unwrap();
    assert_eq!(account.violation, None);
    let mut starts = starts.borrow().clone();
    starts.sort_unstable();
    assert_eq!(starts, [0, 1, 1, 2, 2, 3]);
}

/// Ten thousand boards find the mean of their readings: each sends what it has of its subtree to its parent in the tree of routes to node 0.
#[test]
fn ten_thousand_nodes_compute_a_mean() {
    let result = Rc::new(Cell::new(None));
    let given = result.clone();
    let network: hopwise_core::Network = "torus(100,100)".parse().unwrap();
    let parent = move |node: u64| network.next_hop(node, 0, hopwise_core::Rule::Exact).unwrap();
    let settings = for_seconds(on("torus(100,100)"), 60);
    let account = simulate_programs(&settings.run().unwrap(), &move |mesh| {
        let given = given.clone();
        Box::pin(async move {
            let here = mesh.address();
            let neighbors = mesh.network().neighbors(here).unwrap();
            let children = neighbors.filter(|&node| node != 0 && parent(node) == here).count();
            let mut receiver = mesh.receiver(PORT).unwrap();
            mesh.all_links_up().await;
            mesh.sleep(100_000).await;
            let (mut sum, mut nodes) = (here * 3, 1);
            for _ in 0..children {
                let incoming = receiver.recv().await;
                let (more, of) = incoming.bytes().split_at(8);
                let [more, of] = [more, of].map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
                (sum, nodes) = (sum + more, nodes + of);
            }
            if here == 0 {
                return given.set(Some((sum, nodes)));
            }
            let bytes = [u64::to_le_bytes(sum), u64::to_le_bytes(nodes)].concat();
            let outcome = mesh.send_confirmed(parent(here), PORT, &bytes).await;
            assert_eq!(outcome, Ok(Outcome::Delivered), "node {here}");
        })
    })
    .unwrap();
    assert_eq!(account.violation, None);
    assert_eq!(result.get(), Some((3 * 9_999 * 10_000 / 2, 10_000)));
}

/// A few of the thousand seeds of `sim-long`.
#[test]
fn cables_are_pulled_under_requests_large_messages_and_streams() {
    let seeds: Vec<u64> = match std::env::var("HOPWISE_SEED") {
        Ok(seed) => vec![seed.parse().expect("a number")],
        Err(_) => (1..=100).collect(),
    };
    pulls::assert_seeds(&seeds, 9);
}

/// Boards whose own clocks have nothing in common wait for the same time of the mesh.
#[test]
fn programs_go_on_at_the_same_time() {
    let settings = also(for_seconds(on("rdn(ring(3),1)"), 20), "--drift 50 --seed 3");
    let went_on: Rc<RefCell<BTreeMap<u64, [u64; 3]>>> = Rc::default();
    let shown = went_on.clone();
    simulate_programs(&settings.run().unwrap(), &move |mesh| {
        let went_on = went_on.clone();
        Box::pin(async move {
            assert_eq!(mesh.now(), None, "nobody has told it");
            while mesh.now().is_none() {
                mesh.sleep(100_000).await;
            }
            let next = (mesh.now().unwrap() / 10_000_000 + 1) * 10_000_000;
            mesh.wait_until(next).await;
            let now = mesh.now().unwrap();
            went_on
                .borrow_mut()
                .insert(mesh.address(), [next, now - next, mesh.uptime()]);
        })
    })
    .unwrap();
    let shown = shown.borrow();
    assert_eq!(shown.len(), 18);
    let at = shown[&0][0];
    let in_time = shown.values().all(|&[next, late, _]| next == at && late < 100);
    assert!(in_time, "{shown:?}");
    let own: std::collections::BTreeSet<u64> = shown.values().map(|of| of[2] / 1_000_000).collect();
    assert!(own.len() > 10, "{own:?}");
}
