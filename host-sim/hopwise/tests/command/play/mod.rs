//! `hopwise play`, `tools/play`: the mesh in the browser, tried out in one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use hopwise_testing::not_tested;
use serde_json::json;

use crate::support::{Folder, command, json as printed_json};
use crate::view::browser::Browser;

/// A phone, a small window and a large screen.
const SIZES: [(u32, u32); 3] = [(380, 800), (1280, 720), (3840, 2160)];

/// The page, built once; `None` if this machine has no compiler for it.
fn page() -> Option<&'static Path> {
    static PAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let root = Path::new("../..").canonicalize().expect("the repository");
        let targets = Command::new("rustup").args(["target", "list", "--installed"]).output();
        let has_target =
            targets.is_ok_and(|list| String::from_utf8_lossy(&list.stdout).contains("wasm32-unknown-unknown"));
        let built = Command::new(root.join("tools/play"))
            .output()
            .expect("tools/play starts");
        if !built.status.success() && !has_target {
            not_tested("this machine cannot add the target wasm32-unknown-unknown: no mesh in the browser.");
            return None;
        }
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(root.join("target/play/index.html"))
    };
    PAGE.get_or_init(build).as_deref()
}

/// The page in a browser, with the script beside this file; `None` without one.
fn open(folder: &Folder, hash: &str) -> Option<Browser> {
    let page = page()?;
    let mut browser = Browser::start(folder, "the mesh in the browser")?;
    browser.open(&format!("{}{hash}", page.display()));
    browser.resize(1280, 720);
    browser.evaluate(concat!(include_str!("selftest.js"), "; 0"));
    Some(browser)
}

/// Does what a script says, a line each, and waits until what it expects holds.
pub(crate) fn follow(browser: &mut Browser, script: &str) {
    for line in script.lines().filter(|line| !line.starts_with('#')) {
        match line.split_once(' ').expect("a verb") {
            ("click", place) => browser.click_at(place),
            ("drag", places) => {
                let (from, to) = places.split_once(" to ").expect("two places");
                browser.drag(from, to);
            }
            ("press", "Space") => browser.press(" "),
            ("press", key) => browser.press(key),
            ("do", deed) => drop(browser.evaluate(&format!("{deed}; 0"))),
            ("until", condition) => {
                let holds = browser.evaluate(&format!("until(() => {condition})"));
                assert_eq!(holds, true, "{line}: {}", browser.evaluate("document.body.innerText"));
            }
            _ => panic!("{line}"),
        }
    }
    assert_eq!(browser.errors, Vec::<String>::new());
}

#[test]
fn figures_and_routes_are_those_of_the_command() {
    let folder = Folder::new("play-figures");
    let Some(mut browser) = open(&folder, "") else { return };
    for expression in [
        "rdn(ring(3),1)",
        "re(ring(4),complete(3),2)",
        "heawood",
        "torus(22,23)",
        "hypercube(40)",
        "rcr(3,3,1)",
    ] {
        let (_, mut topo) = printed_json(&["topo", expression, "--json"]);
        // The command adds the time that it took.
        topo.as_object_mut()
            .expect("an object")
            .remove("seconds")
            .expect("a time");
        // A number of JavaScript has 53 bits.
        for key in ["edges", "distance_sum"] {
            topo[key] = json!(topo[key].as_f64());
        }
        let mut found = browser.evaluate(&format!("hopwise.topo('{expression}')"));
        for key in ["edges", "distance_sum"] {
            found[key] = json!(found[key].as_f64());
        }
        assert_eq!(found, topo, "{expression}");
        let (_, route) = printed_json(&["route", expression, "0", "13", "--json"]);
        let found = browser.evaluate(&format!("hopwise.route('{expression}', 0, 13)"));
        assert_eq!(found, route["path"], "{expression}");
    }
    follow(
        &mut browser,
        "until (() => { try { hopwise.topo('rong(3)') } catch (error) { return /is not a network: /.test(error.message) } })()",
    );
}

#[test]
fn clicks_send_cut_and_detour() {
    let folder = Folder::new("play-clicks");
    let Some(mut browser) = open(&folder, "") else { return };
    follow(&mut browser, include_str!("clicks.txt"));
    // The link that holds this state brings it about again, to the nanosecond.
    browser.evaluate("share.write()");
    let state = "({ now: mesh.now, cut: [...mesh.cut], trace: mesh.trace, hash: location.hash })";
    let before = browser.evaluate(state);
    let hash = before["hash"].as_str().expect("a link").to_string();
    let other_folder = Folder::new("play-shared");
    let mut other = open(&other_folder, &hash).expect("the browser is there");
    assert!(
        other.evaluate(state) == before,
        "{hash}: {}",
        other.evaluate("byId('log').innerText")
    );
    // What the page saves is a trace.
    let trace = browser.evaluate("savedTrace()");
    let trace = folder.write("trace.jsonl", trace.as_str().expect("text"));
    let (_, report) = printed_json(&["report", &trace, "--json"]);
    let datagrams = &report["delivery"]["datagram"];
    let found = (&datagrams["packets"], &datagrams["delivered"]);
    assert_eq!(found, (&json!(2), &json!(2)), "{report}");
    follow(&mut browser, include_str!("repairs.txt"));
    let (_, report) = printed_json(&["collective", "rdn(ring(3),1)", "--op", "all-reduce", "--json"]);
    assert_eq!(browser.evaluate("collective.done.report.rounds"), report["rounds"]);
    assert_eq!(other.errors, Vec::<String>::new());
}

#[test]
fn everything_can_be_done_and_heard_without_a_mouse() {
    let folder = Folder::new("play-keys");
    let Some(mut browser) = open(&folder, "") else { return };
    follow(&mut browser, include_str!("keys.txt"));
    browser.evaluate(concat!(include_str!("../view/everyone.js"), "; 0"));
    for (width, height) in SIZES {
        browser.resize(width, height);
        for tool in ["send", "broadcast", "cut", "collective", "look"] {
            for theme in ["light", "dark"] {
                let lesson = if tool == "look" { 0 } else { -1 };
                let show =
                    format!("do setTheme('{theme}'); setTool('{tool}'); teach({lesson}, true)\nuntil !state.stale");
                follow(&mut browser, &show);
                let found = browser.evaluate("barriers()");
                assert_eq!(found, json!([]), "{tool} at {width} x {height}, {theme}");
            }
        }
    }
}

#[test]
fn the_lesson_can_be_followed_to_its_end() {
    let folder = Folder::new("play-lesson");
    let Some(mut browser) = open(&folder, "") else { return };
    let step = |step: u8| {
        format!(
            "until byId('lesson').textContent.startsWith('{step}.') && !state.lessonDone\n\
             do document.querySelector('[data-key=do]').click(); skip()\n\
             until state.lessonDone && byId('lesson').querySelector('.done')\n\
             do document.querySelector('[data-key=next]').click()\n"
        )
    };
    let steps: String = (1..=10).map(step).collect();
    let lesson = format!("click middleOf('#lesson-button')\n{steps}until byId('lesson').hidden");
    follow(&mut browser, &lesson);
}

#[test]
fn a_frame_of_500_boards_is_drawn_in_50_ms() {
    let folder = Folder::new("play-frames");
    let browser = open(&folder, "#n=torus(22,23)&do=b0@0");
    let Some(mut browser) = browser else { return };
    // Other tests run beside this one and hold up some frames: those of the quickest quarter show what drawing takes.
    let quarter = browser.evaluate("frameTimes(20).then((times) => times.sort((a, b) => a - b)[5])");
    eprintln!("506 boards: a frame in {quarter} ms");
    assert!(quarter.as_f64().is_some_and(|quarter| quarter <= 50.0), "{quarter}");
    follow(&mut browser, "until mesh.frames.length > 0");
}

#[test]
fn the_page_is_one_file_that_the_command_serves() {
    let Some(file) = page() else { return };
    let text = std::fs::read_to_string(file).expect("a page");
    for outside in [
        "http:", "https:", "src=", "href=\"", "@import", "url(", "fetch(", "import(", "<!--",
    ] {
        assert!(!text.contains(outside), "{outside}");
    }
    let mut server = command(&["play", "--port", "0"]);
    let mut server = server.stdout(Stdio::piped()).spawn().expect("the command starts");
    let mut line = String::new();
    let mut said = BufReader::new(server.stdout.take().expect("a pipe"));
    said.read_line(&mut line).expect("a line");
    let address = line
        .strip_prefix("http://")
        .and_then(|rest| rest.split('/').next())
        .expect("an address");
    let get = |path: &str| {
        let mut stream = TcpStream::connect(address).expect("a connection");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("a request");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
    };
    let (head, body) = (get("/"), get("/elsewhere"));
    server.kill().and_then(|()| server.wait()).expect("it ends");
    let is_whole = head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with(&text);
    assert!(is_whole, "{}", &head[..200]);
    assert!(body.starts_with("HTTP/1.1 404 "), "{body}");
}
