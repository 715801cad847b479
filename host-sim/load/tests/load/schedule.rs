//! Traces and collectives as traffic.

use crate::support::network;
use hopwise_core::collective::Operation;
use hopwise_load::failures::FailurePlan;
use hopwise_load::measure::{self, Experiment};
use hopwise_load::schedule::Schedule;
use hopwise_testing::networks;

/// A message over one link takes 12 cycles when nothing else is there.
const HOP: u64 = 12;

#[test]
fn a_broadcast_takes_its_rounds() {
    let network = network("hypercube(4)");
    let schedule = Schedule::collective(&network, Operation::Broadcast, 3).unwrap();
    assert_eq!(schedule.messages().len(), 15);
    let point = measure::replay(&Experiment::new(&network), &schedule).unwrap();
    assert_eq!((point.packets_measured, point.unsent, point.lost), (15, 0, 0));
    // Four rounds, and in each the root sends its copies one a cycle at most.
    let finished = point.finished.unwrap();
    assert!((4 * HOP..4 * HOP + 20).contains(&finished), "{finished}");
}

#[test]
fn every_collective_is_carried_out() {
    for expression in networks("with_collectives") {
        let network = network(expression);
        for operation in Operation::ALL {
            let schedule = match Schedule::collective(&network, operation, 0) {
                Ok(schedule) => schedule,
                Err(refusal) => {
                    assert!(matches!(operation, Operation::Permute | Operation::Fft), "{refusal}");
                    continue;
                }
            };
            let point = measure::replay(&Experiment::new(&network), &schedule).unwrap();
            let name = operation.name();
            let expected = schedule.messages().len() as u64;
            assert_eq!(point.packets_measured, expected, "{expression} {name}");
            let rounds = schedule.messages().iter().filter_map(|message| message.round);
            let rounds = rounds.max().unwrap();
            let finished = point.finished.unwrap();
            assert!(finished >= HOP, "{expression} {name}: {finished} cycles");
            // A chain of rounds in which the last waits for the first takes at least a hop each.
            if matches!(operation, Operation::Reduce | Operation::Broadcast) {
                let least = u64::from(rounds + 1) * HOP;
                assert!(finished >= least, "{expression} {name}: {finished} cycles");
            }
        }
    }
}

#[test]
fn a_collective_round_a_dead_router_says_what_was_not_sent() {
    let network = network("ring(6)");
    let schedule = Schedule::collective(&network, Operation::AllReduce, 0).unwrap();
    let plan = FailurePlan {
        events: "0s off 3".into(),
        ..FailurePlan::default()
    };
    let failures = plan.on(&network).unwrap();
    let mut experiment = Experiment::new(&network);
    experiment.failures = failures.as_ref();
    let point = measure::replay(&experiment, &schedule).unwrap();
    let (lost, unsent) = (point.lost, point.unsent);
    assert!(lost > 0 && unsent > 0, "{lost} lost, {unsent} unsent");
    let all = schedule.messages().len() as u64;
    assert_eq!(point.packets_measured + point.lost + point.unsent, all);
}

#[test]
fn the_packets_of_a_trace_are_sent_at_their_times() {
    let network = network("ring(5)");
    let packet =
        |number: u32| format!(r#"{{"source":0,"from_host":false,"epoch":1,"kind":"datagram","number":{number}}}"#);
    let accepted = |t: &str, number: u32, dest: u32| {
        let packet = packet(number);
        format!(r#"{{"t":{t},"node":0,"event":"accepted","packet":{packet},"dest":{dest}}}"#)
    };
    let trace = format!(
        "{}\n{}\n{}\n{}\n",
        r#"{"version":1,"network":"ring(5)","nodes":5,"baud":1000000}"#,
        accepted("0.1", 1, 1),
        accepted("0.2", 2, 2),
        accepted("0.9", 3, 4),
    );
    let schedule = Schedule::trace(&network, trace.as_bytes()).unwrap();
    // A flit of 80 bits takes 80 us.
    let messages = schedule.messages().iter();
    let times: Vec<(u32, u32)> = messages.map(|message| (message.at, message.to)).collect();
    assert_eq!(times, [(0, 1), (1_250, 2), (10_000, 4)]);
    let point = measure::replay(&Experiment::new(&network), &schedule).unwrap();
    assert_eq!((point.packets_measured, point.finished), (3, Some(10_000 + HOP)));
    assert_eq!(point.hops_histogram, [0, 2, 1]);
    let without = trace.lines().skip(1).collect::<Vec<_>>().join("\n");
    let refusal = Schedule::trace(&network, without.as_bytes()).unwrap_err().to_string();
    assert!(refusal.contains("baud"), "{refusal}");
}
