//! `hopwise play`, `tools/play`: the mesh in the browser, tried out in one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::support::{Folder, json as printed_json, refuses};
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
            eprintln!(
                "\n*** NOT TESTED: this machine cannot add the target wasm32-unknown-unknown: no mesh in the browser. ***\n"
            );
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
    let Some(mut browser) = Browser::start(&folder.path("browser")) else {
        eprintln!("THERE IS NO CHROMIUM ON THIS MACHINE: the mesh in the browser is NOT TESTED");
        return None;
    };
    browser.open(&format!("{}{hash}", page.display()));
    browser.resize(1280, 720);
    browser.evaluate(concat!(include_str!("selftest.js"), "; 0"));
    Some(browser)
}

fn holds(browser: &mut Browser, condition: &str) {
    let found = browser.evaluate(&format!("until(() => {condition})"));
    assert_eq!(
        found,
        true,
        "{condition}: {}",
        browser.evaluate("byId('log').innerText")
    );
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
    let sentence = browser.evaluate("try { hopwise.topo('rong(3)') } catch (error) { error.message }");
    assert!(
        sentence
            .as_str()
            .is_some_and(|text| text.starts_with("'rong(3)' is not a network: ")),
        "{sentence}"
    );
    assert_eq!(browser.errors, Vec::<String>::new());
}

#[test]
fn clicks_send_cut_and_detour() {
    let folder = Folder::new("play-clicks");
    let Some(mut browser) = open(&folder, "") else { return };
    browser.click_at("placeOf(17)");
    holds(
        &mut browser,
        "mesh.followed?.delivered.has(17) && String(pathOf(mesh.followed)) === '0,2,15,17'",
    );
    holds(
        &mut browser,
        "byId('packet').textContent.includes('delivered') && byId('rule').textContent.includes('cross link')",
    );
    browser.click_at("middleOf('[data-tool=cut]')");
    browser.click_at("placeOfLink(2, 15)");
    assert_eq!(
        browser.evaluate("[...mesh.cut].map((link) => data.links[link].slice(0, 2))"),
        json!([[2, 15]])
    );
    browser.click_at("middleOf('[data-tool=send]')");
    browser.click_at("placeOf(17)");
    browser.click_at("middleOf('#skip')");
    holds(
        &mut browser,
        "mesh.followed.detours > 0 && mesh.followed.delivered.has(17) && !mesh.busy",
    );
    assert_eq!(browser.evaluate("mesh.stateOf(linkBetween(2, 15))"), "dead");
    assert_eq!(
        browser.evaluate("[...document.querySelectorAll('#log .detour')].length > 0"),
        true
    );
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
    assert_eq!(
        (&datagrams["packets"], &datagrams["delivered"]),
        (&json!(2), &json!(2)),
        "{report}"
    );
    // A board that is off gets nothing; plugged in and switched on again, everything works.
    browser.click_at("middleOf('[data-tool=cut]')");
    browser.click_at("placeOf(16)");
    browser.evaluate("state.confirmed = true; state.to = 16; send(); skip()");
    holds(
        &mut browser,
        "!mesh.busy && mesh.off.has(16) && !mesh.followed.delivered.size",
    );
    browser.click_at("middleOf('[data-key=restore]')");
    browser.evaluate("skip()");
    holds(
        &mut browser,
        "!mesh.busy && data.links.every((_, link) => mesh.stateOf(link) === 'whole')",
    );
    browser.evaluate("act('b3'); skip()");
    holds(
        &mut browser,
        "mesh.followed.kind === 'broadcast' && mesh.followed.delivered.size === 17",
    );
    browser.evaluate("setTool('collective'); collective.run('all-reduce'); skip()");
    let (_, report) = printed_json(&["collective", "rdn(ring(3),1)", "--op", "all-reduce", "--json"]);
    assert_eq!(browser.evaluate("collective.done.report.rounds"), report["rounds"]);
    assert_eq!(browser.evaluate("collective.done.held[7]"), "153");
    let bad = "byId('expression').value = 'rong(3)'; byId('open').requestSubmit(); [byId('expression').getAttribute('aria-invalid'), data.network]";
    assert_eq!(browser.evaluate(bad), json!(["true", "rdn(ring(3),1)"]));
    for errors in [&browser.errors, &other.errors] {
        assert_eq!(*errors, Vec::<String>::new());
    }
}

#[test]
fn everything_can_be_done_and_heard_without_a_mouse() {
    let folder = Folder::new("play-keys");
    let Some(mut browser) = open(&folder, "") else { return };
    browser.evaluate("canvas.focus()");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    let at = browser.evaluate("state.cursor");
    assert_ne!(at, 0);
    let said = browser.evaluate("byId('said').textContent");
    assert!(
        said.as_str()
            .is_some_and(|said| said.starts_with(&format!("Board {at}, address ("))),
        "{said}"
    );
    browser.press("Enter");
    browser.press("s");
    holds(
        &mut browser,
        &format!("mesh.followed?.dest === {at} && mesh.followed.delivered.has({at}) && !mesh.busy"),
    );
    browser.press(" ");
    assert_eq!(browser.evaluate("state.playing"), false);
    browser.evaluate("send()");
    let before = browser.evaluate("mesh.now");
    browser.press(".");
    assert!(browser.evaluate("mesh.now").as_f64() >= before.as_f64() && browser.evaluate("state.steps") == 1);
    assert_eq!(
        browser.evaluate("[byId('log').getAttribute('role'), byId('log').getAttribute('aria-live')]"),
        json!(["log", "polite"])
    );
    // A board's cables can be cut by its buttons, which keep the focus.
    browser.evaluate("select(2); new Promise((done) => setTimeout(done, 300))");
    browser.evaluate("[...document.querySelectorAll('#neighbors button')].find((one) => one.getAttribute('aria-label') === 'Cut the cable to board 15').focus()");
    browser.press("Enter");
    holds(
        &mut browser,
        "mesh.cut.size === 1 && document.activeElement.textContent === 'Plug in'",
    );
    browser.evaluate(concat!(include_str!("../view/everyone.js"), "; 0"));
    for (width, height) in SIZES {
        browser.resize(width, height);
        for tool in ["send", "broadcast", "cut", "collective", "look"] {
            for theme in ["light", "dark"] {
                browser.evaluate(&format!(
                    "setTheme('{theme}'); setTool('{tool}'); teach({}, true)",
                    if tool == "look" { 0 } else { -1 }
                ));
                holds(&mut browser, "!state.stale");
                assert_eq!(
                    browser.evaluate("barriers()"),
                    json!([]),
                    "{tool} at {width} x {height}, {theme}"
                );
            }
        }
    }
    assert_eq!(browser.errors, Vec::<String>::new());
}

#[test]
fn the_lesson_can_be_followed_to_its_end() {
    let folder = Folder::new("play-lesson");
    let Some(mut browser) = open(&folder, "") else { return };
    browser.click_at("middleOf('#lesson-button')");
    for step in 1..=10 {
        holds(
            &mut browser,
            &format!("byId('lesson').textContent.startsWith('{step}.') && !state.lessonDone"),
        );
        browser.evaluate("document.querySelector('[data-key=do]').click(); skip()");
        holds(
            &mut browser,
            "state.lessonDone && byId('lesson').querySelector('.done')",
        );
        browser.evaluate("document.querySelector('[data-key=next]').click()");
    }
    holds(&mut browser, "byId('lesson').hidden");
    assert_eq!(browser.errors, Vec::<String>::new());
}

#[test]
fn a_frame_of_500_boards_is_drawn_in_50_ms() {
    let folder = Folder::new("play-frames");
    let Some(mut browser) = open(&folder, "#n=torus(22,23)&do=b0@0") else {
        return;
    };
    let Value::Array(times) = browser.evaluate("frameTimes(20)") else {
        panic!("times")
    };
    let mut times: Vec<f64> = times.iter().filter_map(Value::as_f64).collect();
    times.sort_by(f64::total_cmp);
    // Other tests run beside this one and hold up some frames: those of the quickest quarter show what drawing takes.
    let quarter = times[times.len() / 4];
    eprintln!(
        "506 boards: a frame in {quarter:.1} ms, from {:.1} to {:.1}",
        times[0],
        times[times.len() - 1]
    );
    assert!(quarter <= 50.0, "{times:?}");
    assert!(
        browser.evaluate("mesh.frames.length").as_u64() > Some(0),
        "packets are drawn, too"
    );
    assert_eq!(browser.errors, Vec::<String>::new());
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
    let mut server = Command::new(env!("CARGO_BIN_EXE_hopwise"))
        .args(["play", "--port", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("a pipe"))
        .read_line(&mut line)
        .expect("a line");
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
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with(&text),
        "{}",
        &head[..200]
    );
    assert!(body.starts_with("HTTP/1.1 404 "), "{body}");
    let outside = Folder::new("play-outside");
    refuses(&format!(
        "play --repo {0} => {0} is not Hopwise's repository: [..]",
        outside.path("")
    ));
}
