//! A rehearsal: what people do with a box of boards, done at a bench of emulated ones with the same commands.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use hopwise_testing::rows;

use crate::play::follow;
use crate::running::Ending;
use crate::support::{Folder, command, elf, like, refuses, until, words};
use crate::view::browser::Browser;

struct AtBench {
    _bench: Ending,
    /// `127.0.0.1:8018`
    host: String,
}

impl AtBench {
    fn start(mesh: &str) -> Self {
        let mut bench = Ending::of(command(&["bench", mesh, "--port", "0"]).stdout(Stdio::piped()));
        let mut said = BufReader::new(bench.0.stdout.take().expect("a pipe")).lines();
        let [page, export] = [(); 2].map(|()| said.next().expect("a line").expect("text"));
        let host = export.strip_prefix("export HOPWISE_BENCH=http://").expect("to paste");
        assert_eq!(page, format!("http://{host}/ (open it in a browser; Ctrl-C ends this)"));
        AtBench {
            host: host.into(),
            _bench: bench,
        }
    }

    fn command(&self, line: &str, given: &[&str]) -> Command {
        let mut command = command(&words(line, given));
        command.env("HOPWISE_BENCH", format!("http://{}/", self.host));
        command
    }

    /// Exit status, and all that it said.
    fn hopwise(&self, line: &str, given: &[&str]) -> (Option<i32>, String) {
        let output = self.command(line, given).output().expect("the command starts");
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).expect("text"))
    }

    /// What comes back, from the status on.
    fn ask(&self, request: &str, fields: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).expect("a connection");
        let (host, length) = (&self.host, body.len());
        let head = format!("{request} HTTP/1.1\r\n{fields}Host: {host}\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).expect("a request");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
    }

    fn act(&self, text: &str) {
        let response = self.ask("POST /do", "", text);
        assert!(response.starts_with("HTTP/1.1 200 OK"), "{text}: {response}");
    }
}

#[test]
fn a_box_of_boards_becomes_a_mesh() {
    if elf().is_none() {
        return;
    }
    let folder = Folder::new("bench");
    let more = "key = \"000102030405060708090a0b0c0d0e0f\"\nlog-packets = true\ntraffic = { rate = 10 }\n";
    let mesh = &folder.mesh("mesh.toml", "ring(3)", more);
    let bench = AtBench::start(mesh);
    assert_eq!(bench.hopwise("check {}", &[mesh]).0, Some(2), "no board is plugged in");

    let mut assign = bench.command("mesh assign {}", &[mesh]);
    let assign = Ending::of(assign.stdout(Stdio::piped()).stderr(Stdio::null()));
    // The second board on the bench is node 0.
    for (assigned, board) in (1..).zip([1, 0, 2]) {
        bench.act(&format!("usb in {board}"));
        let file = || std::fs::read_to_string(mesh).expect("the file");
        until(60, || file().matches("probe = ").count() == assigned);
    }
    let assigned = String::from_utf8(assign.wait().stdout).expect("text");
    like(&assigned, "node 0  ring(3)  [..]node 1  [..]node 2  [..]");
    let flashed = (Some(0), "3 of 3 boards flashed\n".into());
    assert_eq!(bench.hopwise("flash {}", &[mesh]), flashed);

    // The guide names nodes, and a label says which board on the bench each is.
    let board = |node: &str| ["1", "0", "2"][node.parse::<usize>().expect("a node")];
    let mut watch = Ending::of(bench.command("check {} --watch", &[mesh]).stdout(Stdio::piped()));
    let mut is_wrong = false;
    for line in BufReader::new(watch.0.stdout.take().expect("a pipe")).lines() {
        let line = line.expect("text");
        let said: Vec<&str> = line.split([' ', ':']).collect();
        match said[..] {
            // The first time in the wrong socket.
            ["cable", "2", "of", "3", "", ..] if !std::mem::replace(&mut is_wrong, true) => {
                bench.act(&format!("plug {}.USART3 {}.UART5", board("0"), board("1")));
            }
            ["cable", number, _, _, _, _, a, link, _, _, b, far, ..] if number != "2" => {
                bench.act(&format!("plug {}.{link} {}.{far}", board(a), board(b)));
            }
            ["", "", "swapped", ..] => {
                like(&line, "  swapped     0.1 (USART3): leads to 1[..] instead of 2.0");
                bench.act(&format!("plug {}.USART3 {}.USART1", board("0"), board("2")));
            }
            _ => {}
        }
    }
    assert!(is_wrong && watch.wait().status.success());

    let check_says = |status: i32, text: &str| {
        let is_so = |(found, said): (_, String)| found == Some(status) && said.contains(text);
        until(60, || is_so(bench.hopwise("check {}", &[mesh])));
    };
    check_says(0, "3 of 3 boards answer, 3 of 3 cables are right");
    bench.act("swap 1.USART1 1.USART3");
    let unassigned = &folder.mesh("unassigned.toml", "ring(3)", "");
    let (status, said) = bench.hopwise("check {}", &[unassigned]);
    assert_eq!(status, Some(2));
    like(
        &said,
        "hopwise: the mesh file names none of the 3 boards that are plugged in: `hopwise mesh assign MESH.toml` [..]",
    );
    check_says(
        1,
        "1. exchange the plugs at board 1 USART3 and board 2 USART1 (or those at ",
    );
    bench.act("swap 1.USART1 1.USART3");
    check_says(0, "3 of 3 cables are right");

    let trace = &folder.path("trace.jsonl");
    until(60, || {
        let (status, said) = bench.hopwise("capture {} --for 2s --quiet -o {}", &[mesh, trace]);
        status == Some(0) && said.contains(" of 3 nodes, ") && said.contains("clocks: aligned by ")
    });

    // One cable at the host is enough now.
    bench.act("usb power 0");
    bench.act("usb power 2");
    let (status, said) = bench.hopwise("update {}", &[mesh]);
    assert_eq!(status, Some(0), "{said}");
    like(&said, "[..]3 boards have the new image after [..] s\n[..]");
    let (status, said) = bench.hopwise("flash {} --only 0,1", &[mesh]);
    assert_eq!(status, Some(1), "{said}");
    let failed = "1 of 2 boards flashed\n  board 1 (probe [..]) failed at its image: Error: Probe not found: plug its USB cable into this host\n[..]";
    like(&said, failed);
    check_says(0, "3 of 3 boards answer, 3 of 3 cables are right");
    bench.act("usb out 1");
    let (_, said) = bench.hopwise("ping 1", &[]);
    like(&said, "hopwise: [..]no board with an ST-LINK is plugged in[..]");
}

#[test]
fn pages_from_elsewhere_and_mistakes_are_refused() {
    let folder = Folder::new("bench-refused");
    let mesh = &folder.mesh("mesh.toml", "ring(3)", "");
    let bench = AtBench::start(mesh);
    bench.act("plug 0.USART1 1.USART3");
    for (text, sentence) in rows(include_str!("bench-refusals.txt")) {
        let response = bench.ask("POST /do", "", &text);
        let refusal = format!("HTTP/1.1 400 Bad Request\r\n[..]\r\n\r\n{sentence}\n");
        like(&response, &refusal);
    }
    bench.act("cut 1.USART3");
    bench.act("plug 1.USART3 2.USART1");
    let own = format!("Origin: http://{}\r\n", bench.host);
    for (request, fields, status) in [
        ("POST /do", own.as_str(), "200"),
        ("POST /do", "Origin: http://example.org\r\n", "403"),
        ("POST /do", "Origin: http://127.0.0.1:1\r\n", "403"),
        ("GET /state", "Host: example.org\r\n", "403"),
        ("GET /state", "", "200"),
        ("GET /do", "", "404"),
        ("POST /do", "Content-Length: 99999999999\r\n", "413"),
    ] {
        let response = bench.ask(request, fields, "reset 0");
        like(&response, &format!("HTTP/1.1 {status} [..]"));
    }
    let emulated = folder.mesh("emulated.toml", "ring(3)", "probe = \"emulated\"\n");
    let port = bench.host.rsplit(':').next().expect("a port");
    refuses(&format!(
        "bench {emulated} => with `probe = \"emulated\"` in the mesh file commands need no bench: take out that line\n\
         bench {mesh} --port {port} => cannot serve at port {port}: [..]; choose another one with --port, or --port 0 [..]"
    ));
    for line in ["check {}", "flash {} --only 0"] {
        let probe = folder.mesh("probe.toml", "ring(3)", "[[node]]\naddress = 0\nprobe = \"AA\"\n");
        let mut command = bench.command(line, &[&probe]);
        let output = command.env("HOPWISE_BENCH", "127.0.0.1:1").output();
        let said = String::from_utf8(output.expect("the command starts").stderr).expect("text");
        let expected = "hopwise: there is no bench at 127.0.0.1:1: [..] or `unset HOPWISE_BENCH`\n";
        like(&said, expected);
    }
}

#[test]
fn boards_are_plugged_in_with_mouse_and_keys() {
    let folder = Folder::new("bench-page");
    let bench = AtBench::start(&folder.mesh("mesh.toml", "ring(3)", ""));
    let Some(mut browser) = Browser::start(&folder, "the page of the bench") else {
        return;
    };
    browser.open(&format!("http://{}/", bench.host));
    browser.resize(1280, 1000);
    browser.evaluate(concat!(include_str!("play/selftest.js"), "; 0"));
    follow(&mut browser, include_str!("bench.txt"));
}
