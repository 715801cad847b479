//! Programs that behave and programs that do not, on emulated boards: `firmware/examples/trials`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use hopwise_emulate::cost::Trial;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_node::wire::{
    AppPort, BoardState, Content, Header, Kind, OVERHEAD, Packet, Query, Request, Response, encoded_len,
};
use hopwise_sim::{Settings, simulate_programs};

use crate::firmware_busy::assert_links_stay_up;
use crate::firmware_programs::{example, lines, order};
use crate::firmware_support::Rig;
use script::Note;

#[allow(dead_code, reason = "the boards' image uses the rest")]
#[path = "../../../../firmware/examples/trials/script.rs"]
mod script;

/// The trials, by their numbers in the image.
const PANIC: u8 = 0;
const FLOOD: u8 = 1;
const SCRIPT: u8 = 2;
const ASK: u8 = Trial::Ask as u8;

/// What a board says after it has asked a hundred times: how many failed, and the mean and longest time in microseconds.
fn asked(rig: &mut Rig, board: usize) -> (u32, u64, u64) {
    let lines = lines(rig);
    let found = lines.iter().find_map(|(at, text)| {
        let rest = text.strip_prefix("asked 100 times, ").filter(|_| *at == board)?;
        let mut numbers = rest.split(' ').filter_map(|word| word.parse::<u64>().ok());
        Some((numbers.next()? as u32, numbers.next()?, numbers.next()?))
    });
    found.unwrap_or_else(|| panic!("board {board} has not asked: {lines:?}"))
}

/// Boards with the trials, whose links are up; `None` if there is no ARM compiler.
fn trials(network: &str) -> Option<Rig> {
    Some(Rig::new(example("trials")?, network).linked())
}

#[test]
fn a_program_that_panics_restarts_its_board_alone() {
    let Some(mut rig) = trials("ring(4)") else { return };
    order(&mut rig, 2, PANIC, 0);
    // Boards 0 and 1 do not need board 2.
    order(&mut rig, 0, ASK, 1);
    rig.run_for(SECOND);
    assert_eq!(rig.resets(), [0, 0, 1, 0]);
    let fault = rig.status(2).fault.unwrap_or_default();
    let is_it = fault.contains("panic main.rs:") && fault.ends_with("as it was told");
    assert!(is_it, "{fault}");
    let (failed, _, longest) = asked(&mut rig, 0);
    assert_eq!(failed, 0);
    assert!(longest < 50_000, "{longest} us");
    // It is back, with its program.
    rig.wait_for_links(SECOND);
    order(&mut rig, 2, ASK, 1);
    rig.run_for(SECOND);
    assert_eq!(asked(&mut rig, 2).0, 0);
}

/// Bytes come to ports that a board without configuration does not use.
#[test]
fn a_board_in_a_crash_loop_stays_up_beside_neighbors_that_talk() {
    let Some(mut rig) = trials("path(2)") else { return };
    for _ in 0..4 {
        rig.wait_for_links(5 * SECOND);
        order(&mut rig, 1, PANIC, 0);
        rig.run_for(200 * MILLISECOND);
    }
    assert_eq!(rig.status(1).state, BoardState::CrashLoop);
    rig.run_for(10 * SECOND);
    assert_eq!(rig.status(1).state, BoardState::CrashLoop);
    assert_eq!(rig.world.boards()[1].resets(), 4);
    rig.assert_healthy();
}

/// A board sends without end to one that never reads, and to all. The others still speak with each other, and no link goes down.
#[test]
fn a_program_that_floods_others_that_never_read_stops_nobody() {
    let Some(mut rig) = trials("ring(5)") else { return };
    order(&mut rig, 0, FLOOD, 1);
    rig.run_for(200 * MILLISECOND);
    lines(&mut rig);
    // Across the flood, and beside it.
    for (board, node) in [(1, 2), (3, 2), (4, 1)] {
        order(&mut rig, board, ASK, node);
    }
    rig.run_for(6 * SECOND);
    let all = rig.log();
    assert_links_stay_up(&all);
    let lines = all
        .iter()
        .map(|line| (line.board, line.text.strip_prefix("asked 100 times, ")));
    let asked: BTreeMap<usize, &str> = lines.filter_map(|(board, text)| Some((board, text?))).collect();
    println!("{asked:?}");
    assert_eq!(asked.keys().copied().collect::<Vec<_>>(), [1, 3, 4]);
    for (board, text) in asked {
        assert!(text.starts_with("0 failed"), "board {board}: {text}");
    }
    let counters = rig.counters(1);
    assert!(counters.dropped_in_all() > 100, "{counters:?}");
    assert_eq!(rig.resets(), [0; 5]);
    rig.assert_healthy();
}

#[test]
fn boards_and_simulator_deliver_the_same_to_the_same_program() {
    const NETWORK: &str = "rdn(ring(3),1)";
    let Some(mut rig) = trials(NETWORK) else { return };
    const NODES: u64 = 18;
    type Delivered = BTreeMap<u64, Vec<(String, u64, usize, u32)>>;
    let mut on_boards: Delivered = (0..NODES).map(|node| (node, Vec::new())).collect();
    let mut in_simulator = on_boards.clone();

    for board in 0..NODES as usize {
        order(&mut rig, board, SCRIPT, 0);
    }
    rig.run_for(4 * SECOND);
    for (board, text) in lines(&mut rig) {
        let words: Vec<&str> = text.split(' ').collect();
        let &[what, from, length, sum] = &words[..] else {
            continue;
        };
        if let (Ok(from), Ok(length), Ok(sum)) = (from.parse(), length.parse(), sum.parse()) {
            let notes = on_boards.get_mut(&(board as u64)).expect("a node");
            notes.push((what.to_string(), from, length, sum));
        }
    }
    rig.assert_healthy();

    let settings = Settings {
        network: Some(NETWORK.into()),
        duration: Some("5s".parse().unwrap()),
        ..Settings::default()
    };
    let notes: Rc<RefCell<Vec<(u64, Note)>>> = Rc::default();
    let book = notes.clone();
    let account = simulate_programs(&settings.run().unwrap(), &move |mesh| {
        let book = book.clone();
        let here = mesh.address();
        Box::pin(async move { script::run(mesh, |note| book.borrow_mut().push((here, note))).await })
    });
    assert_eq!(account.unwrap().violation, None);
    for &(here, note) in &*notes.borrow() {
        let of_node = in_simulator.get_mut(&here).expect("a node");
        of_node.push((note.what.to_string(), note.from, note.length, note.sum));
    }

    for delivered in [&mut on_boards, &mut in_simulator] {
        delivered.values_mut().for_each(|notes| notes.sort());
    }
    for node in 0..NODES {
        // 17 broadcasts, and one each of all else.
        let found = in_simulator[&node].len();
        assert_eq!(found, 17 + 8, "node {node}: {:?}", in_simulator[&node]);
        assert_eq!(on_boards[&node], in_simulator[&node], "node {node}");
    }
}

/// What a request and its response of 32 bytes take on the wire between nodes 0 and 1, in microseconds at 1 Mbaud.
fn wire_time() -> f64 {
    let query = Query::Application(AppPort(101));
    let request = Content::Request(Request::new(query, 0, &[0; 32]));
    let response = Content::Response(Response {
        query,
        asked: 0,
        number: 0,
        payload: &[0; 33],
    });
    let bytes = |content: &Content<'_>, kind| {
        let header = Header::new(kind, 0, 1);
        let body = content.write::<hopwise_node::wire::Body<244>>().expect("it fits");
        encoded_len(OVERHEAD + Packet { header, body }.length())
    };
    (bytes(&request, Kind::Request) + bytes(&response, Kind::Response)) as f64 * 10.0
}

fn instructions(rig: &mut Rig, trial: Trial) -> [u64; 2] {
    let costs = rig.measured().trial(trial).expect("it is measured");
    costs.map(|cost| cost.instructions)
}

#[test]
fn what_programs_cost() {
    let Some(mut rig) = trials("path(2)") else { return };
    let [send, receive] = instructions(&mut rig, Trial::Send);
    let said = lines(&mut rig);
    let bytes = said.iter().find(|(_, text)| text.starts_with("bytes of"));
    println!("{}", bytes.map_or("", |(_, text)| text));
    assert!(said.iter().any(|(_, text)| text == "sent 100 messages"), "{said:?}");
    // Whatever the bytes of a program's messages, they are not taken for the board's own traffic, nor for text.
    let report = rig.traffic(1);
    let heard = said.iter().filter(|(_, text)| text.contains("bytes from")).count();
    assert_eq!((report.received, heard), (0, 0));
    let mut rig = trials("path(2)").expect("there is a compiler");
    let [ask, response] = instructions(&mut rig, Trial::Ask);
    let (failed, mean, longest) = asked(&mut rig, 0);
    let ratio = mean as f64 / wire_time();
    println!(
        "instructions: send {send}, receive {receive}, ask {ask}, answer {response}; a request of 32 bytes over one hop: {mean} us in the mean, {longest} at most, {ratio:.2} times its wire time of {} us",
        wire_time()
    );
    assert_eq!(failed, 0);
    assert!(ratio <= 1.5, "{ratio}");
    // A tenth more than they take.
    assert!(send <= 5_240 && receive <= 5_150, "send {send}, receive {receive}");
    assert!(ask <= 13_170 && response <= 12_890, "ask {ask}, answer {response}");
}
