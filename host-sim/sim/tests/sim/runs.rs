//! Runs that keep every guarantee, by name in a table: some that once did not, and some that are hard.

use rayon::prelude::*;

use crate::{on, run};

const RUNS: &str = include_str!("runs.txt");

/// Plays the runs of a group with each of their seeds: as much as said must come of each.
fn assert_kept(group: &str) {
    let title = format!("[{group}]");
    let own = RUNS.lines().skip_while(|line| *line != title).skip(1);
    let own = own.take_while(|line| !line.starts_with('['));
    let rows = own.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let runs: Vec<(&str, &str, u64)> = rows.flat_map(seeds).collect();
    assert!(!runs.is_empty(), "the group {title} is empty");
    runs.into_par_iter().for_each(|(least, line, seed)| {
        let settings = on(&format!("{line} --seed {seed}"));
        let tally = serde_json::to_value(run(&settings).tally).unwrap();
        let (what, least) = least.split_once(' ').expect(least);
        let is_enough = tally[what].as_u64() >= least.parse().ok();
        assert!(
            is_enough,
            "{}: {what} is less than {least}: {tally}",
            settings.command()
        );
    });
}

/// What must come of the run of a row at least, the run, and each of its seeds.
fn seeds(row: &'static str) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
    let [least, seeds, line] = row.splitn(3, " | ").collect::<Vec<_>>()[..] else {
        panic!("{row}")
    };
    let (first, end) = seeds.split_once("..").expect(row);
    let [first, end] = [first, end].map(|seed| seed.parse::<u64>().expect(row));
    (first..end).map(move |seed| (least, line, seed))
}

#[test]
fn nothing_arrives_twice_when_every_board_restarts_all_the_time() {
    assert_kept("nothing_arrives_twice_when_every_board_restarts_all_the_time");
}

#[test]
fn resets_double_nothing() {
    assert_kept("resets_double_nothing");
}

#[test]
fn a_long_ring_with_one_cut() {
    assert_kept("a_long_ring_with_one_cut");
}

#[test]
fn dead_boards_at_a_steady_load_and_at_a_quarter_of_the_most_cost_no_broadcast() {
    assert_kept("dead_boards_at_a_steady_load_and_at_a_quarter_of_the_most_cost_no_broadcast");
}

#[test]
fn what_is_encrypted_arrives_as_it_was_said() {
    assert_kept("what_is_encrypted_arrives_as_it_was_said");
}

#[test]
fn a_packet_that_was_kept_may_come_late() {
    assert_kept("a_packet_that_was_kept_may_come_late");
}

#[test]
fn what_was_once_taken_for_a_broken_guarantee_is_none() {
    assert_kept("what_was_once_taken_for_a_broken_guarantee_is_none");
}
