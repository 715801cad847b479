//! Hosts at the serial ports of boards: they ask, are answered, go, and others come.

use hopwise_node::wire::DropReason;
use hopwise_sim::Settings;
use hopwise_sim::oracle::Service;

use super::{also, assert_all_delivered, on, run};

fn with_hosts(network: &str) -> Settings {
    on(&format!("{network} --host '0,5' --for 3s --rate 40"))
}

#[test]
fn everything_that_can_be_asked_is_answered() {
    for network in ["torus(3,3)", "rdn(ring(3),1)", "hypercube(3)"] {
        let settings = with_hosts(network);
        let account = run(&settings);
        assert_all_delivered(&settings, &account);
        assert!(account.tally.by_hosts > 150, "{}", account.tally.by_hosts);
        for (service, count) in Service::ALL.iter().zip(account.tally.services) {
            let asked = matches!(service, Service::Query(_));
            assert_eq!(count > 0, asked || *service == Service::Datagram, "{}", service.name());
        }
    }
}

/// What the one before it asked is no response to a host, though it comes while that one waits for its own.
#[test]
fn hosts_come_and_go_and_nobody_takes_a_response_for_another() {
    let mut asked = 0;
    for seed in 1..=6 {
        let more = format!("--detach-host-every 100ms --mixed --rate 5 --baud 9600 --for 5s --seed {seed}");
        let settings = also(with_hosts("ring(12)"), &more);
        asked += run(&settings).tally.by_hosts;
    }
    assert!(asked > 10, "{asked}");
}

/// A host at a board that restarts finds it again, and is taken for the same.
#[test]
fn boards_restart_under_their_hosts() {
    let resets = "--events '1s reset 0; 1500ms reset 5; 2s off 0,1; 2500ms on 0,1'";
    let settings = also(with_hosts("torus(3,3)"), resets);
    let account = run(&settings);
    let tally = &account.tally;
    let most_arrive = tally.delivered * 10 > tally.sent * 8;
    assert!(tally.by_hosts > 80 && most_arrive, "{tally:?}");
}

/// A request whose search for a path leads back through the board of its host goes on from there.
#[test]
fn requests_go_round_dead_boards() {
    let settings = also(with_hosts("ring(8)"), "--host '1' --events '0s off 4'");
    let account = run(&settings);
    let found = account.drops[DropReason::Malformed as usize];
    assert_eq!(found, 0, "{}", settings.command());
    assert!(account.detours > 0, "{}", settings.command());
}
