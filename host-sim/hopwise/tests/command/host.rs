//! The host as a neighbor of the boards: `send`, `request`, `listen` and `bridge`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json as value};

use crate::running::{Ending, Running};
use crate::support::{Folder, command, elf, failed, hopwise, json, like, refuses, words};

fn listening(args: &[&str]) -> Ending {
    let mut listener = command(&[&["listen"], args].concat());
    let mut listener = Ending::of(listener.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let said = listener.0.stderr.as_mut().expect("a pipe");
    let expected = "listening through node 0 of ring(3)\n";
    // No byte more than the line.
    let mut line = vec![0; expected.len()];
    said.read_exact(&mut line).expect("a line");
    assert_eq!(String::from_utf8_lossy(&line), expected);
    listener
}

#[test]
fn messages_go_to_hosts_and_requests_to_boards() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("host");
    let running = Running::start(&folder, "ring(3)", elf);
    let ports = running.ports.clone();
    let [here, there] = ports.each_ref().map(String::as_str);

    let listener = listening(&words("--port {} --from 1 --service 20 --count 2 --for 60s", &[here]));
    let sentence = "another program uses this port; end it first, or let both talk through one `hopwise bridge`; `fuser -v [..]` names it";
    refuses(&format!(
        r#"
        ping 1 --port {here} => {here}: {sentence}
        listen --port {here} => {here}: {sentence}
        bridge --port {here} => {here}: {sentence}
        "#
    ));
    let send = |args: &[&str]| json(&[&["send", "0", "--to-host"], args, &["--port", there, "--json"]].concat());
    for args in [&["not for us", "--service", "21"][..], &["hello", "--service", "20"]] {
        let (status, sent) = send(args);
        assert_eq!((status, &sent["outcome"]), (0, &value!("sent")), "{sent}");
    }
    let harmful = folder.write("harmful", "\u{1b}[2J\u{1b}]0;title\u{7}");
    assert_eq!(send(&["--file", &harmful, "--service", "20"]).0, 0);
    let output = listener.wait();
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(0), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    like(lines[0], "[..]the host at node 1, service 20: 68656c6c6f \"hello\"");
    assert!(lines[1].ends_with("service 20: 1b5b324a1b5d303b7469746c6507"), "{text}");

    let (_, said) = failed(&["listen", "--port", here, "--count", "1", "--for", "200ms"]);
    assert_eq!(said.lines().last(), Some("hopwise: 0 of 1 messages came in time"));
    let none = hopwise(&["listen", "--port", here, "--for", "100ms", "--json"]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(0), 0));

    let listener = listening(&["--port", here, "--json"]);
    assert_eq!(send(&["--hex", "ff00", "--service", "255"]).0, 0);
    std::thread::sleep(Duration::from_millis(300));
    listener.interrupt();
    let output = listener.wait();
    let found = (output.status.code(), output.stderr.len());
    assert_eq!(found, (Some(0), 0), "Ctrl-C ends it well");
    let message: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    assert_eq!((&message["hex"], &message["service"]), (&value!("ff00"), &value!(255)));

    let listener = listening(&["--port", here]);
    drop(running);
    let output = listener.wait();
    assert_eq!(output.status.code(), Some(2), "the port is gone");
    let found = String::from_utf8_lossy(&output.stderr);
    assert_eq!(found, format!("hopwise: {here}: the port is gone\n"));
}

struct Client {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
}

impl Client {
    fn at(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("a bridge");
        let timeout = Some(Duration::from_secs(60));
        stream.set_read_timeout(timeout).expect("a limit");
        let lines = BufReader::new(stream.try_clone().expect("the same socket"));
        Client { stream, lines }
    }

    fn say(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).expect("a bridge that reads");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, request: &str) -> Value {
        self.say(&format!("{request}\n"));
        self.hear()
    }

    /// Asks for something confirmed. On a busy machine the bridge may stand still for so long that the board takes it for gone and
    /// drops the confirmation; that nothing is known of the message is true then, and it is retransmitted. Or the emulated boards do not keep pace,
    /// so that their uptime does not show that they have not restarted meanwhile.
    fn ask_until_known(&mut self, request: &str) -> Value {
        let responses = (0..3).map(|_| self.ask(request));
        let mut known =
            responses.skip_while(|response| ["unknown", "interrupted"].iter().any(|kind| response["kind"] == *kind));
        known.next().expect("word of one of three")
    }
}

#[test]
fn a_bridge_serves_good_clients_whatever_the_others_do() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("bridge");
    let running = Running::start(&folder, "ring(3)", elf);
    let ports = running.ports.clone();
    let [here, there] = ports.each_ref().map(String::as_str);
    let mut bridge = command(&["bridge", "--port", here, "--listen", "127.0.0.1:0"]);
    let mut bridge = Ending::of(bridge.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut said = BufReader::new(bridge.0.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("clients are served at ").expect("an address");
    let address = address.to_string();

    let mut good = Client::at(&address);
    let hello = value!({"hello": {"version": 1, "network": "ring(3)", "nodes": 3, "board": 0}});
    assert_eq!(good.hear(), hello);
    // One that says garbage, and reads nothing, for as long as it is let to.
    let mut garbage = Client::at(&address);
    garbage.stream.set_nonblocking(true).expect("a mode");
    let nonsense = "\u{0}nonsense\n".repeat(10_000);
    for _ in 0..100 {
        let _ = garbage.stream.write(nonsense.as_bytes());
    }
    // One that wants to hear everything, and reads nothing.
    let mut deaf = Client::at(&address);
    deaf.say("{\"do\":\"listen\"}\n");
    // One that goes in the middle of a line, with a request under way.
    let mut half = Client::at(&address);
    half.say("{\"id\":1,\"do\":\"send_confirmed\",\"node\":2,\"service\":2,\"text\":\"x\"}\n{\"id\":2,\"do");
    half.stream.shutdown(Shutdown::Both).expect("an end");
    drop(half);
    // One that is a web page's.
    let mut browser = Client::at(&address);
    browser.hear();
    browser.say(
        "POST / HTTP/1.1\r\nHost: x\r\n\r\n{\"id\":1,\"do\":\"send\",\"node\":2,\"service\":2,\"text\":\"web\"}\n",
    );
    assert_eq!(browser.hear()["error"], "this is not a web server");
    let mut rest = String::new();
    let _ = browser.lines.read_to_string(&mut rest);
    assert_eq!(rest, "", "and nothing else");

    let sent = good.ask_until_known(r#"{"id":1,"do":"send_confirmed","node":2,"service":2,"text":"hi"}"#);
    assert_eq!(sent, value!({"id": 1, "outcome": "delivered"}));
    let wrong = good.ask("what?");
    assert_eq!((&wrong["id"], &wrong["kind"]), (&Value::Null, &value!("bad-line")));
    let long = good.ask(&format!("{{\"id\":2,\"x\":\"{}\"}}", "y".repeat(5_000)));
    assert_eq!(long["error"], "a line has at most 4096 bytes");
    for (request, kind, sentence) in [
        (
            r#"{"id":"a","do":"request","node":1,"service":99}"#,
            "port-unreachable",
            "no application there serves the port",
        ),
        (
            r#"{"id":"a","do":"send","node":7,"service":20}"#,
            "no-such-node",
            "there is no node 7: the network has nodes 0 to 2",
        ),
        (
            r#"{"id":"a","do":"send_confirmed","node":1,"service":99}"#,
            "port-unreachable",
            "undeliverable: port-unreachable",
        ),
    ] {
        let response = good.ask_until_known(request);
        assert_eq!(response, value!({"id": "a", "kind": kind, "error": sentence}));
    }
    let many = "z".repeat(201);
    let too_long = good.ask(&format!(
        r#"{{"id":3,"do":"send","node":1,"service":20,"text":"{many}"}}"#
    ));
    assert_eq!(too_long["kind"], "too-long");

    // More requests at once than there may be: those are told so, and all others are answered.
    let requests =
        (0..40).map(|id| format!("{{\"id\":{id},\"do\":\"send\",\"node\":1,\"service\":20,\"hex\":\"{id:02x}\"}}\n"));
    good.say(&requests.collect::<String>());
    let responses: Vec<Value> = (0..40).map(|_| good.hear()).collect();
    let ids = responses.iter().filter_map(|response| response["id"].as_u64());
    let ids: std::collections::BTreeSet<u64> = ids.collect();
    assert_eq!(ids.len(), 40);
    let with = |key: &str, value: &str| responses.iter().filter(|response| response[key] == value).count();
    let sent = with("outcome", "sent");
    let too_many = with("kind", "too-many");
    assert!(sent >= 16 && sent + too_many == 40, "{responses:?}");

    let listening = good.ask(r#"{"id":4,"do":"listen","node":1,"service":20}"#);
    assert_eq!(listening["outcome"], "listening");
    for service in ["21", "20"] {
        let sent = hopwise(&["send", "0", "news", "--to-host", "--service", service, "--port", there]);
        assert!(sent.status.success());
    }
    let news = value!({"node": 1, "from_host": true, "service": 20, "hex": "6e657773", "text": "news"});
    assert_eq!(good.hear(), value!({"message": news}));
    assert_eq!(good.ask(r#"{"id":5,"do":"quiet"}"#)["outcome"], "quiet");

    // The host at the other port asks the one here.
    let given = ["how many?", there];
    let to_host = words("request 0 {} --to-host --service 21 --port {} --json", &given);
    let (status, unserved) = json(&to_host);
    let found = (status, &unserved["kind"]);
    assert_eq!(found, (1, &value!("port-unreachable")), "{unserved}");
    assert_eq!(good.ask(r#"{"id":6,"do":"serve","service":21}"#)["outcome"], "serving");
    let to_host: Vec<String> = to_host.into_iter().map(String::from).collect();
    let asked = std::thread::spawn(move || json(&Vec::from_iter(to_host.iter().map(String::as_str))));
    assert_eq!(
        good.hear(),
        value!({"request": {"number": 1, "node": 1, "from_host": true, "service": 21, "hex": "686f77206d616e793f", "text": "how many?"}})
    );
    let sent = good.ask(r#"{"id":7,"do":"respond","request":1,"text":"many"}"#);
    assert_eq!(sent["outcome"], "sent");
    let (status, response) = asked.join().expect("a response");
    assert_eq!((status, &response["text"]), (0, &value!("many")), "{response}");
    let again = good.ask(r#"{"id":8,"do":"respond","request":1,"text":"more"}"#);
    assert_eq!(again["kind"], "no-request");
    assert_eq!(good.ask(r#"{"id":9,"do":"leave","service":21}"#)["outcome"], "left");

    // Through the other port as through a pipe, whose end is the end.
    let mut pipe = command(&["bridge", "--port", there]);
    let mut pipe = Ending::of(pipe.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut input = pipe.0.stdin.take().expect("a pipe");
    input
        .write_all(b"{\"id\":1,\"do\":\"broadcast\",\"service\":2,\"text\":\"to all\"}")
        .expect("a reader");
    drop(input);
    let output = pipe.wait();
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(text.lines().nth(1), Some("{\"id\":1,\"outcome\":\"sent\"}"), "{text}");
    std::thread::sleep(Duration::from_millis(500));
    let log = std::fs::read_to_string(folder.path("log.txt")).expect("a log");
    for heard in [
        " 0 info  broadcast ",
        " 1 info  6 bytes from node 1",
        " 2 info  broadcast ",
    ] {
        assert_eq!(log.lines().filter(|line| line.contains(heard)).count(), 1, "{heard:?}");
    }

    // No more clients than so many.
    let clients: Vec<Client> = (0..16).map(|_| Client::at(&address)).collect();
    let mut last = Client::at(&address);
    assert_eq!(last.hear()["error"], "there are 16 clients already");
    drop((clients, last));

    drop(running);
    let gone = value!({"id": null, "kind": "port-gone", "error": format!("{here}: the port is gone")});
    assert_eq!(good.hear(), gone);
    assert_eq!(bridge.wait().status.code(), Some(2));
    let mut sentence = String::new();
    said.read_to_string(&mut sentence).expect("text");
    assert_eq!(sentence, format!("hopwise: {here}: the port is gone\n"));
}

#[test]
fn a_board_that_is_switched_off_is_noticed() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("switched-off");
    let running = Running::with(&folder, "ring(3)", elf, &["--events", "8s off 0"]);
    let mut bridge = command(&["bridge", "--port", &running.ports[0]]);
    let mut bridge = Ending::of(bridge.stdin(Stdio::piped()).stdout(Stdio::piped()));
    let mut input = bridge.0.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(bridge.0.stdout.take().expect("a pipe")).lines();
    let mut hear = || -> Value { serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON") };
    assert!(hear()["hello"].is_object());
    let mut kinds = Vec::new();
    for id in 0..20 {
        writeln!(
            input,
            "{{\"id\":{id},\"do\":\"request\",\"node\":1,\"service\":99,\"within\":2}}"
        )
        .expect("a reader");
        kinds.push(hear()["kind"].as_str().expect("nobody answers").to_string());
        if kinds.last().is_some_and(|kind| kind == "no-board") {
            return;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    panic!("nobody has noticed: {kinds:?}");
}
