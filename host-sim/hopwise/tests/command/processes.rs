//! Nodes in processes: `hopwise node` and `hopwise mesh run`.

use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::running::Ending;
use crate::support::{Folder, command, elf, hopwise, json, printed, until};

/// One node, whose host is at the terminal `host-ADDRESS` of the folder.
fn node(folder: &Folder, network: &str, address: u64, links: &[&str]) -> Ending {
    let terminal = folder.path(&format!("host-{address}"));
    let _ = std::fs::remove_file(&terminal);
    let host = format!("pty:{terminal}");
    let mut node = command(&["node", network, &address.to_string(), "--host", &host]);
    node.args(links.iter().flat_map(|link| ["--link", link]));
    let node = Ending::of(node.stderr(Stdio::null()));
    until(5, || Path::new(&terminal).exists());
    node
}

/// What a command has started, by number.
fn children(command: &Ending) -> Vec<String> {
    let pid = command.0.id();
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().map(String::from).collect()
}

/// Whether one ping of a node is answered.
fn is_there(folder: &Folder, from: u64, to: u64) -> bool {
    let port = folder.path(&format!("host-{from}"));
    let output = hopwise(&["ping", &to.to_string(), "--count", "1", "--port", &port]);
    output.status.success()
}

fn links_up(folder: &Folder, at: u64) -> u64 {
    let port = folder.path(&format!("host-{at}"));
    let (_, counters) = json(&["counters", &at.to_string(), "--json", "--port", &port]);
    counters["nodes"][0]["neighbors_up"].as_u64().expect("a count")
}

/// The source is that of boards.
#[test]
fn a_program_for_boards_runs_in_processes() {
    let folder = Folder::new("processes-app");
    let (mesh, app) = (folder.mesh("mesh.toml", "ring(3)", ""), folder.path("uptime"));
    printed(&["new-app", &app, "--example", "requests"]);
    let (status, found) = json(&["mesh", "run", &mesh, "--app", &app, "--check", "--json"]);
    assert_eq!((status, &found["pongs"]), (0, &6.into()), "{found}");
    let run = folder.path("run");
    let mut mesh_run = command(&["mesh", "run", &mesh, "--app", &app, "--folder", &run]);
    let _mesh_run = Ending::of(mesh_run.stdout(Stdio::null()).stderr(Stdio::null()));
    let port = format!("{run}/node-0");
    until(20, || Path::new(&port).exists());
    std::thread::sleep(Duration::from_millis(1_000));
    // How many seconds node 2 has been running, as postcard writes them.
    let seconds = hopwise(&[
        "request",
        "2",
        "--service",
        "16",
        "--hex",
        "c0843d",
        "--json",
        "--port",
        &port,
    ]);
    let seconds = String::from_utf8(seconds.stdout).expect("text");
    assert!(seconds.starts_with("{\"hex\":\"0"), "{seconds}");
    let port = format!("{run}/node-1");
    let (_, counters) = json(&["counters", "1", "--json", "--port", &port]);
    assert!(counters["nodes"][0]["delivered"].as_u64() >= Some(2), "{counters}");
}

/// One of three is killed, and then one stopped for longer than its neighbors wait.
#[test]
fn processes_that_die_or_stand_still_come_back() {
    let folder = Folder::new("processes-die");
    let mesh = folder.mesh("mesh.toml", "path(3)", "");
    let run = folder.path("run");
    let mut mesh_run = command(&["mesh", "run", &mesh, "--folder", &run]);
    let mesh_run = Ending::of(mesh_run.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let port = format!("{run}/node-0");
    let ping = |count: &str| {
        hopwise(&["ping", "2", "--count", count, "--port", &port])
            .status
            .success()
    };
    until(10, || Path::new(&format!("{run}/node-2")).exists() && ping("1"));
    let children = || children(&mesh_run);
    let before = children();
    assert_eq!(before.len(), 3);
    let kill = |signal: &str, pid: &str| {
        assert!(
            std::process::Command::new("kill")
                .args([signal, pid])
                .status()
                .unwrap()
                .success()
        );
    };
    kill("-KILL", &before[1]);
    until(10, || {
        children().len() == 3 && !children().contains(&before[1]) && ping("1")
    });
    let (status, found) = json(&["check", &mesh, "--json", "--port", &port]);
    assert_eq!((status, &found["as_planned"]), (0, &true.into()), "{found}");
    let middle = children()
        .into_iter()
        .find(|pid| !before.contains(pid))
        .expect("the new one");
    kill("-STOP", &middle);
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(!ping("1"));
    kill("-CONT", &middle);
    until(10, || ping("1"));
    mesh_run.interrupt();
    until(5, || children().is_empty());
    let output = mesh_run.wait();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("node 1 has ended (signal: 9 (SIGKILL)) and is started again"),
        "{said}"
    );
}

/// A process that others hold up for half a second drops no link; one that stands still for longer does.
#[test]
fn a_busy_machine_drops_no_link() {
    let folder = Folder::new("processes-busy");
    let cable = format!("0=unix:{}", folder.path("cable"));
    let nodes = [0, 1].map(|address| node(&folder, "path(2)", address, &[&cable]));
    until(10, || is_there(&folder, 0, 1));
    for (pause, up) in [(500, 1), (500, 1), (1_200, 0)] {
        nodes[1].signal("-STOP");
        std::thread::sleep(Duration::from_millis(pause));
        assert_eq!(links_up(&folder, 0), up, "after {pause} ms");
        nodes[1].signal("-CONT");
        until(10, || is_there(&folder, 0, 1));
    }
}

/// Somebody else connects first and sends garbage, and then nothing.
#[test]
fn strangers_at_a_socket_do_no_harm() {
    let folder = Folder::new("processes-tcp");
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let _listens = node(&folder, "path(2)", 0, &[&format!("0=listen:{}", free.port())]);
    let mut stranger = TcpStream::connect(free).unwrap();
    let garbage: Vec<u8> = (0..100_000u32)
        .map(|byte| (byte.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    // It may be thrown out while it speaks.
    let _ = stranger.write_all(&garbage);
    drop(stranger);
    let silent = TcpStream::connect(free).unwrap();
    let connects = node(&folder, "path(2)", 1, &[&format!("0=tcp:{free}")]);
    until(15, || is_there(&folder, 0, 1));
    drop((silent, connects));
    until(10, || !is_there(&folder, 0, 1));
    let _again = node(&folder, "path(2)", 1, &[&format!("0=tcp:{free}")]);
    until(15, || is_there(&folder, 0, 1));
}

/// Pseudo-terminals stand for the adapters that a real board is wired to, and a process for that board.
#[test]
fn processes_emulated_boards_and_real_ones_are_one_mesh() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("processes-mixed");
    let key = "key = \"000102030405060708090a0b0c0d0e0f\"\n";
    let emulated = |node: u64| format!("[[node]]\naddress = {node}\nprobe = \"emulated\"\n");
    let mesh = folder.mesh("ring.toml", "ring(5)", &format!("{key}{}{}", emulated(1), emulated(2)));
    let (status, found) = json(&["mesh", "run", &mesh, "--check", "--json"]);
    let counts = [
        "processes",
        "emulated",
        "restarts",
        "links_up",
        "pongs",
        "broadcast_deliveries",
    ]
    .map(|key| &found[key]);
    assert_eq!(
        (status, counts),
        (0, [3, 2, 0, 5, 20, 20].map(Value::from).each_ref()),
        "{found}"
    );

    let adapters = ["a", "b"].map(|name| folder.path(name));
    let links = [0, 1].map(|port| format!("{port}=pty:{}", adapters[port]));
    let real_node = || node(&folder, "ring(4)", 3, &links.each_ref().map(String::as_str));
    let first = real_node();
    let cables = [0, 1].map(|port| format!("[[cable]]\nat = \"3.{port}\"\nserial = \"{}\"\n", adapters[port]));
    let real = "[[node]]\naddress = 3\nboard = \"nucleo-f401re\"\nprobe = \"066DFF\"\n";
    let more = format!("{}{}{real}{}", emulated(1), emulated(2), cables.concat());
    let (mesh, run) = (folder.mesh("mixed.toml", "ring(4)", &more), folder.path("run"));
    // For real boards no image is needed.
    std::fs::create_dir(&run).unwrap();
    for (built, image) in [
        ("hopwise-firmware", "nucleo-f446re"),
        ("hopwise-boot", "nucleo-f446re-boot"),
    ] {
        std::fs::copy(Path::new(elf).with_file_name(built), format!("{run}/{image}.elf")).unwrap();
    }
    // A run that was killed has left its sockets, and a terminal that is another by now.
    std::os::unix::fs::symlink(folder.path("host-3"), format!("{run}/node-3")).unwrap();
    (1..=4).for_each(|cable| drop(std::os::unix::net::UnixListener::bind(format!("{run}/cable-{cable}")).unwrap()));
    let mut mesh_run = command(&["mesh", "run", &mesh, "--folder", &run, "--images", &run]);
    let mesh_run = Ending::of(mesh_run.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let port = format!("{run}/node-1");
    until(60, || Path::new(&port).exists());
    assert!(!Path::new(&format!("{run}/node-3")).is_symlink());
    let is_whole = || json(&["check", &mesh, "--json", "--port", &port]).1["as_planned"] == true;
    until(20, is_whole);
    // Both adapters are unplugged and come back.
    adapters
        .iter()
        .for_each(|adapter| std::fs::remove_file(adapter).unwrap());
    drop(first);
    until(10, || !is_whole());
    let _second = real_node();
    until(20, is_whole);
    let started = children(&mesh_run);
    mesh_run.interrupt();
    let output = mesh_run.wait();
    assert_eq!((output.status.code(), started.len()), (Some(0), 1), "{output:?}");
    until(5, || !Path::new(&format!("/proc/{}", started[0])).exists());
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    let runs = "ring(4) runs: 1 process, 2 emulated boards, 1 real board; ";
    assert!(out.starts_with(runs), "{out}");
    assert_eq!(err.matches(&format!("{} is gone", adapters[1])).count(), 1, "{err}");
}
