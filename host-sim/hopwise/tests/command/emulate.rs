//! `hopwise emulate` from the outside: figures, determinism, refusals.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use crate::emulator_support::elf as test_elf;
use crate::support::{Folder, command, hopwise, like, printed, printed_json, refuses, rejected, words};

fn emulate(arguments: &[&str]) -> Output {
    hopwise(&[&["emulate"], arguments].concat())
}

/// The figures of a run that ends well.
fn emulated(arguments: &[&str]) -> serde_json::Value {
    printed_json(&[&["emulate"], arguments].concat())
}

fn figures(elf: &Path, arguments: &[&str]) -> serde_json::Value {
    let elf = elf.to_str().expect("a path");
    emulated(&[&["ring(4)", "--elf", elf, "--for", "300ms", "--json"], arguments].concat())
}

#[test]
fn figures_have_their_keys_and_are_the_same_every_time() {
    let Some(elf) = test_elf() else { return };
    let first = figures(&elf, &["--seed", "5", "--drift", "50"]);
    let found = (&first["boards"], &first["board"]);
    assert_eq!(found, (&4.into(), &"nucleo-f446re".into()));
    assert_eq!(first["virtual_seconds"], 0.3);
    assert_eq!((&first["faults"], &first["uart_overruns"]), (&0.into(), &0.into()));
    assert_eq!(first["unmodelled"], serde_json::json!([]));
    assert!(first["wall_seconds"].as_f64() > Some(0.0) && first["instructions"].as_u64() > Some(1000));
    assert_eq!(first["log_lines"], 4);
    let hash = |arguments: &[&str]| figures(&elf, arguments)["state_hash"].clone();
    let again = hash(&["--seed", "5", "--drift", "50", "--threads", "2"]);
    assert_eq!(first["state_hash"], again);
    assert_ne!(first["state_hash"], hash(&["--seed", "6", "--drift", "50"]));
}

#[test]
fn the_log_is_decoded_with_its_place() {
    let Some(elf) = test_elf() else { return };
    let elf = elf.to_str().expect("a path");
    let text = printed(&["emulate", "ring(3)", "--elf", elf, "--for", "50ms", "--boards", "2"]);
    let line = text.lines().next().expect("a line");
    like(
        line,
        "[..]   2 info  board is up: 0 frames at 115200 baud  main.rs:[..]",
    );
    assert_eq!(text.matches("board is up").count(), 1, "{text}");
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let file = file.to_str().expect("a path");
    refuses(&format!(
        r#"
        emulate ring(4) --elf /nowhere => /nowhere: there is no such file or folder
        emulate ring(4) --elf {file} => {file}: no 32-bit ELF file: Unsupported ELF header
        "#
    ));
}

#[test]
fn options_and_scripts_that_make_no_sense_are_refused() {
    let Some(elf) = test_elf() else { return };
    let elf = elf.to_str().expect("a path");
    let folder = Folder::new("emulate-script");
    let script = folder.write("script", "1s swap 0.USART1 1.USART6\n");
    refuses(&format!(
        r#"
        emulate ring(3) --elf {elf} --boards 7 => there is no board 7
        emulate ring(3) --elf {elf} --serial 0.USART1=pty => [..]port 0.USART1 already has a wire[..]
        emulate ring(3) --elf {elf} --script {script} => [..]there is no wire at port 1.USART6[..]
        emulate ring(3) --elf {elf} --events '1s cut 0.2' => events, line 1: ring(3): node 0 has ports 0 to 1, not 2
        emulate ring(3) --elf {elf} --events '1s break 0.0' => [..]'break' cannot happen to emulated boards; what can is cut, plug[..]
        "#
    ));
    for (option, value, words) in [
        ("--drift", "1e9", "a number from 0 to 10000"),
        ("--faults", "nan", "a number from 0 to 1000"),
        ("--for", "soon", "is not a time such as"),
    ] {
        let text = rejected(&["emulate", "ring(3)", "--elf", elf, option, value]);
        assert!(text.contains(words), "{option} {value}: {text}");
    }
}

/// Sends a packet of GDB's protocol and returns the response without its frame.
fn ask(stream: &mut TcpStream, packet: &str) -> String {
    let sum = packet.bytes().fold(0u8, |sum, byte| sum.wrapping_add(byte));
    write!(stream, "${packet}#{sum:02x}").expect("the server listens");
    let (mut response, mut byte) = (Vec::new(), [0]);
    while !(response.len() > 3 && response[response.len() - 3] == b'#') {
        stream.read_exact(&mut byte).expect("a response");
        if !(response.is_empty() && byte[0] == b'+') {
            response.push(byte[0]);
        }
    }
    stream.write_all(b"+").expect("the server listens");
    expand(&response[1..response.len() - 3])
}

/// Undoes the run-length encoding of the protocol: `c*n` is `c` and 29 less than the code of `n` more of it.
fn expand(response: &[u8]) -> String {
    let mut text = String::new();
    for (place, byte) in response.iter().enumerate() {
        match (place.checked_sub(1).map(|before| response[before]), *byte) {
            (_, b'*') => {}
            (Some(b'*'), count) => {
                let last = text.chars().last().expect("something to repeat");
                text.extend(std::iter::repeat_n(last, usize::from(count) - 29));
            }
            (_, byte) => text.push(char::from(byte)),
        }
    }
    text
}

/// Starts the emulation of three boards; it, and the first line that it says.
fn emulation(elf: impl AsRef<std::ffi::OsStr>, options: &[&str]) -> (Child, String) {
    let mut command = command(&["emulate", "ring(3)", "--elf"]);
    command.arg(elf).args(options);
    command.stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().expect("hopwise");
    let mut line = String::new();
    // The pipe stays with the child: more may be said.
    let said = child.stderr.as_mut().expect("a pipe");
    BufReader::new(said).read_line(&mut line).expect("a line");
    (child, line.trim_end().into())
}

#[test]
fn gdb_reads_registers_steps_and_stops_at_a_breakpoint() {
    let Some(elf) = test_elf() else { return };
    let (mut child, line) = emulation(&elf, &["--for", "20ms", "--gdb", "0", "--node", "1"]);
    let address = line.rsplit(' ').next().expect("an address").trim_end_matches('\'');
    let mut gdb = TcpStream::connect(address).expect("the server");
    gdb.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let image = crate::emulator_support::firmware().expect("it was built");
    let pc = |registers: &str| {
        let byte = |place: usize| u8::from_str_radix(&registers[120 + place * 2..122 + place * 2], 16).expect("hex");
        let bytes: Vec<u8> = (0..4).map(byte).collect();
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let found = pc(&ask(&mut gdb, "g"));
    assert_eq!(found, image.address_of("Reset").expect("a reset handler"));
    let stopped = ask(&mut gdb, "s");
    assert!(stopped.contains("05"), "{stopped}");
    let main = image.address_of("main").expect("a main function");
    assert_eq!(ask(&mut gdb, &format!("Z0,{main:x},2")), "OK");
    let stopped = ask(&mut gdb, "c");
    assert!(stopped.contains("05"), "{stopped}");
    assert_eq!(pc(&ask(&mut gdb, "g")), main);
    assert_eq!(ask(&mut gdb, "m8000000,4").len(), 8);
    assert_eq!(ask(&mut gdb, "D"), "OK");
    assert!(child.wait().expect("an end").success());
}

#[test]
fn a_serial_port_is_a_socket() {
    let Some(elf) = test_elf() else { return };
    let path = std::env::temp_dir().join(format!("hopwise-serial-{}", std::process::id()));
    let place = format!("0.USART2=unix:{}", path.display());
    let (mut child, line) = emulation(&elf, &["--for", "100ms", "--json", "--serial", &place]);
    assert_eq!(line, format!("board 0 is at {}", path.display()));
    // The run may be over before we come.
    let _ = UnixStream::connect(&path);
    assert!(child.wait().expect("an end").success());
    assert!(!path.exists(), "the socket is cleaned away");
}

#[test]
fn boards_that_cannot_be_are_refused_before_an_image_is_built() {
    let folder = Folder::new("emulate-kinds");
    let mesh = folder.mesh(
        "mesh.toml",
        "ring(3)",
        "[[node]]\naddress = 1\nboard = \"nucleo-f401re\"\n",
    );
    refuses(&format!(
        r#"
        emulate ring(3) --board nucleo-f401 => there is no emulated nucleo-f401, only nucleo-f446re, nucleo-f401re, [..]; did you mean nucleo-f401re?
        emulate complete(4) --board nucleo-f401re => complete(4): node 0 has 3 links, but a nucleo-f401re has 2 serial ports for links
        emulate {mesh} --board nucleo-f401re => --board is for an expression; the mesh file says which boards there are[..]
        emulate {mesh} --elf any => --elf is one image, and the mesh file has boards of several kinds[..]
        "#
    ));
}

#[test]
fn each_board_says_what_it_has_done() {
    let Some(elf) = crate::support::elf() else { return };
    let traffic = ["--traffic", "100", "--payload", "40", "--payload-bytes", "random"];
    let run = ["path(3)", "--elf", elf, "--for", "4s", "--baud", "500000", "--json"];
    let whole = emulated(&[&run[..], &traffic].concat());
    let boards = whole["by_board"].as_array().expect("a list");
    let number = |board: usize, key: &str| {
        boards[board][key]
            .as_u64()
            .unwrap_or_else(|| panic!("{key} of {board}"))
    };
    let sum = |key: &str| (0..3).map(|board| number(board, key)).sum::<u64>();
    assert_eq!(Some(sum("instructions")), whole["instructions"].as_u64());
    for (board, degree) in [1, 2, 1].into_iter().enumerate() {
        assert_eq!(number(board, "address"), board as u64);
        let idle = number(board, "idle_instructions");
        assert!(0 < idle && idle < number(board, "instructions"));
        let links = boards[board]["links"].as_array().expect("a list");
        assert_eq!(links.len(), degree);
        for link in links {
            assert_eq!((&link["baud"], &link["retransmitted"]), (&500_000.into(), &0.into()));
            let share = link["line_share"].as_f64().expect("a share");
            assert!((0.05..0.5).contains(&share), "{share}");
        }
    }
    // Of the traffic of the ends, half is for the other end, through the middle. A few packets are on their way.
    assert_eq!([number(0, "forwarded"), number(2, "forwarded")], [0, 0]);
    let through = number(0, "received") + number(2, "received") - number(1, "sent");
    let as_many = number(1, "forwarded").abs_diff(through) < 5;
    assert!(through > 100 && as_many, "{boards:?}");
    let as_many = sum("sent").abs_diff(sum("received")) < 10;
    assert!(sum("sent") > 500 && as_many, "{boards:?}");

    // Random bytes are encoded otherwise than zeros.
    let zeros = emulated(&[&run[..], &traffic[..4]].concat());
    assert_ne!(zeros["instructions"], whole["instructions"]);
}

#[test]
fn links_run_at_the_rates_of_their_cables() {
    let Some(elf) = crate::support::elf() else { return };
    let rates = "baud = 3000000\nhost-baud = 115200\n[[cable]]\nat = \"2.0\"\nbaud = 5625000\n";
    let folder = Folder::new("rates");
    let mesh = folder.mesh("mesh.toml", "path(3)", rates);
    let run = [&mesh, "--elf", elf, "--for", "2s", "--check", "--json"];
    let whole = emulated(&run);
    let rates: Vec<Vec<u64>> = whole["by_board"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|board| {
            let links = board["links"].as_array().expect("a list");
            links.iter().filter_map(|link| link["baud"].as_u64()).collect()
        })
        .collect();
    assert_eq!(rates, [vec![3_000_000], vec![5_625_000, 3_000_000], vec![5_625_000]]);
    assert_eq!((&whole["links_up"], &whole["pongs"]), (&2.into(), &6.into()));
}

#[test]
fn links_alone_are_checked_if_that_is_wanted() {
    let Some(elf) = crate::support::elf() else { return };
    let links = |more: &[&str]| {
        let run = words("ring(3) --elf {} --for 1s --check=links --level error", &[elf]);
        let output = emulate(&[&run[..], more].concat());
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (status, text) = links(&[]);
    assert!(text.starts_with("links up           3 of 3\n"), "{text}");
    assert!(status == Some(0) && !text.contains("pings"), "{text}");
    let (status, text) = links(&["--events", "0s cut 0.0"]);
    assert!(status == Some(1) && text.contains("MISSING links up: 2 of 3"), "{text}");
}

/// The processor is the limit, and what it cannot carry is not sent.
#[test]
fn full_links_at_a_high_rate_lose_nothing() {
    let Some(elf) = crate::support::elf() else { return };
    let run = "complete(6) --elf {} --for 1300ms --baud 4500000 --json --traffic 100000 --payload 200";
    let whole = emulated(&words(run, &[elf]));
    let found = (&whole["uart_overruns"], &whole["violations"]);
    assert_eq!(found, (&0.into(), &serde_json::json!([])));
    for board in whole["by_board"].as_array().expect("a list") {
        assert!(board["received"].as_u64() > Some(500), "{board}");
        for link in board["links"].as_array().expect("a list") {
            assert_eq!((&link["baud"], &link["retransmitted"]), (&4_500_000.into(), &0.into()));
        }
    }
}

#[test]
fn a_profile_is_of_one_board_or_of_all_and_without_idle_time() {
    let Some(elf) = crate::support::elf() else { return };
    let run = ["path(2)", "--elf", elf, "--for", "2s", "--json", "--traffic", "50"];
    let all = emulated(&[&run[..], &["--profile"]].concat());
    assert_eq!(all["profile"]["instructions"], all["instructions"]);
    let one = emulated(&[&run[..], &["--profile=1", "--without-idle"]].concat());
    let board = &one["by_board"][1];
    let [executed, idle] = ["instructions", "idle_instructions"].map(|key| board[key].as_i64().expect("a number"));
    assert_eq!(one["profile"]["instructions"], executed - idle);
    let room = |room: &&serde_json::Value| room["room"] == "codec::decode";
    let rooms = one["profile"]["rooms"].as_array().expect("a list");
    let room = rooms.iter().find(room).expect("a room");
    assert!(room["instructions"].as_i64() > Some(0));
    let text = printed(&["emulate", "path(2)", "--elf", elf, "--for", "100ms", "--profile"]);
    like(&text, "[..]node::link[..]functions more: --json has all of them[..]");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    for (options, sentence) in [
        ("--traffic 5 --payload 4", "4 is not in 5..=200"),
        ("--payload 40", "--traffic <RATE>"),
        ("--baud 5", "boards run at"),
        ("--baud fast", "boards run at"),
        ("--baud 6000000", "the nearest rate is 5625000"),
        ("--without-idle", "--profile"),
    ] {
        let said = rejected(&words(&format!("emulate ring(3) {options}"), &[]));
        assert!(said.contains(sentence), "{options}: {said}");
    }
    let Some(elf) = crate::support::elf() else { return };
    refuses(&format!(
        "emulate ring(3) --elf {elf} --profile=3 => there is no board 3"
    ));
}

#[test]
fn cost_has_a_row_for_every_payload_with_and_without_a_key() {
    let Some(elf) = crate::support::elf() else { return };
    let costs = printed_json(&words("cost --elf {} --network ring(5) --profile --json", &[elf]));
    assert_eq!(costs["board"], "nucleo-f446re");
    let rows = costs["rows"].as_array().expect("a list");
    let mut kinds = Vec::new();
    for row in rows {
        let found = (&row["operation"], &row["network"]);
        assert_eq!(found, (&"forward".into(), &"ring(5)".into()));
        let whole = row["instructions"].as_i64().expect("a number");
        assert!((3_000..60_000).contains(&whole), "{row}");
        let payload = row["payload"].as_u64().expect("a number");
        let sent = row["sent_bytes"].as_u64().expect("a number");
        assert!((payload + 10..payload + 60).contains(&sent), "{row}");
        let rooms = row["rooms"].as_array().expect("a list");
        let each = rooms
            .iter()
            .map(|room| room["instructions"].as_i64().expect("a number"));
        let rooms: i64 = each.sum();
        // Each room is rounded.
        assert!(whole.abs_diff(rooms) < 150, "{rooms}: {row}");
        kinds.push((
            row["payload"].as_u64(),
            row["payload_bytes"].as_str(),
            row["keyed"].as_bool(),
        ));
    }
    kinds.dedup();
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    refuses(&format!(
        "cost --elf {elf} --network complete(3) => complete(3) has no node that forwards packets between opposite nodes"
    ));
}
