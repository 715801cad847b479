//! `hopwise view`: the page is whole by itself, and works in a browser.

pub(crate) mod browser;

use crate::support::{Folder, like, printed, printed_json, simulate};
use browser::Browser;
use serde_json::Value;

fn page(folder: &Folder, args: &[&str]) -> String {
    let file = folder.path("page.html");
    let all = [&["view"], args, &["-o", &file]].concat();
    assert_eq!(printed(&all), "");
    std::fs::read_to_string(file).unwrap()
}

fn data(page: &str) -> Value {
    let (_, rest) = page
        .split_once("<script type=\"application/json\" id=\"data\">")
        .unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Does in a browser what the script beside this file says, and returns what that found; `None` without a browser.
fn try_out(folder: &Folder) -> Option<Value> {
    let mut browser = Browser::start(folder, "what the page does, whose structure is checked")?;
    browser.open(&folder.path("page.html"));
    let found = browser.evaluate(concat!(include_str!("selftest.js"), "selftest()"));
    assert_eq!(browser.errors, Vec::<String>::new());
    Some(found)
}

#[test]
fn a_trace_is_replayed_in_a_browser() {
    let folder = Folder::new("replayed");
    let trace = folder.path("trace.jsonl");
    let settings = "rdn(ring(3),1) --packets 400 --ber 1e-4 --events";
    simulate(
        &trace,
        &settings.split(' ').chain(["520ms cut 0.0"]).collect::<Vec<_>>(),
    );
    let page = page(&folder, &[&trace]);
    assert_eq!(data(&page)["network"], "rdn(ring(3),1)");
    let Some(found) = try_out(&folder) else { return };
    assert_eq!(found["findings"], serde_json::json!([]));
    assert_eq!((&found["nodes"], &found["depth"]), (&18.into(), &4.into()));
    let report = printed_json(&["report", &trace, "--json"]);
    let (told, totals) = (&report["delivery"]["datagram"], &found["end"]["totals"]);
    let seen = (&totals["accepted"], &totals["delivered"]);
    assert_eq!(seen, (&told["packets"], &told["arrivals"]));
    let links = report["links"].as_array().unwrap().iter();
    let shown = found["end"]["links"].as_array().unwrap();
    for (link, shown) in links.zip(shown) {
        let keys = [
            ("frames", "frames"),
            ("retransmissions", "retransmitted"),
            ("damaged", "damaged"),
            ("downs", "downs"),
        ];
        for (told, key) in keys {
            assert_eq!(link[told], shown[key], "{key} of {link}");
        }
    }
    let route = printed_json(&["route", "rdn(ring(3),1)", "1", "17", "--json"]);
    assert_eq!(found["path"], route["path"]);
}

#[test]
fn every_family_opens_in_a_browser() {
    let folder = Folder::new("families");
    for expression in ["re(ring(4),complete(3),3)", "root-folded(heawood,2)", "rdn(ring(3),2)"] {
        let page = page(&folder, &[expression]);
        let nodes = data(&page)["places"].as_array().unwrap().len();
        assert!(nodes > 100, "{expression}");
        let Some(found) = try_out(&folder) else { continue };
        assert_eq!(found["findings"], serde_json::json!([]), "{expression}");
        assert_eq!(found["nodes"], nodes, "{expression}");
    }
}

#[test]
fn a_mesh_file_is_drawn_with_the_pins_of_its_cables() {
    let folder = Folder::new("mesh");
    let node = "[[node]]\naddress = 4\nuarts = [\"UART5\", \"USART1\", \"UART4\"]\n";
    let mesh = folder.mesh("mesh.toml", "rdn(ring(3),1)", node);
    let page = page(&folder, &[&mesh]);
    let wiring = &data(&page)["wiring"];
    let first = serde_json::json!(["USART1", "PA9 CN10-21", "PA10 CN10-33"]);
    assert_eq!(wiring[3][0], first);
    assert_eq!(wiring[4][0], serde_json::json!(["UART5", "PC12 CN7-3", "PD2 CN7-4"]));
    let Some(found) = try_out(&folder) else { return };
    assert_eq!(found["findings"], serde_json::json!([]));
}

/// Phones, small and large screens.
const SIZES: [(u32, u32); 3] = [(390, 844), (800, 600), (3840, 2160)];

#[test]
fn everyone_can_use_the_page() {
    let folder = Folder::new("everyone");
    let trace = folder.path("trace.jsonl");
    simulate(&trace, &["rdn(ring(3),1)", "--packets", "60"]);
    let mesh = folder.write("mesh.toml", "network = \"rdn(ring(3),1)\"\nboard = \"nucleo-f446re\"\n");
    page(&folder, &[&trace, "--mesh", &mesh]);
    let Some(mut browser) = Browser::start(&folder, "whether everyone can use the page") else {
        return;
    };
    let looked_at = look_for_barriers(&mut browser, &folder, &["replay", "broadcast", "route", "wiring"]);
    assert_eq!(looked_at, 24);
    // The details are beside the drawing, not below it, from a small window on.
    for (width, height, beside) in [(390, 844, false), (800, 600, true), (3840, 2160, true)] {
        browser.resize(width, height);
        let found = browser.evaluate(
            "setMode('wiring'); var [left, right] = ['#stage', 'aside'].map((part) => \
             document.querySelector(part).getBoundingClientRect()); ({ beside: right.left >= left.right, width: left.width, height: left.height })",
        );
        assert_eq!(found["beside"], beside, "{width} x {height}: {found}");
        let large = |side: &str| found[side].as_f64().unwrap() > 350.0;
        assert!(large("width") && large("height"), "{width} x {height}: {found}");
    }
    // Large screens are read from further away.
    let size = browser.evaluate("parseFloat(getComputedStyle(document.body).fontSize)");
    assert!(size.as_f64() >= Some(20.0), "{size}");
    page(&folder, &["rsn(2,hypercube(2))", "--collective", "sort"]);
    // Rounds are where others have the replay.
    let looked_at = look_for_barriers(&mut browser, &folder, &["replay", "broadcast", "route"]);
    assert_eq!(looked_at, 18);
    assert_eq!(browser.errors, Vec::<String>::new());
}

/// Opens the page of a folder at all sizes, in some modes and both themes, and asserts that nothing keeps anyone from using it; returns how
/// many times it looked.
fn look_for_barriers(browser: &mut Browser, folder: &Folder, modes: &[&str]) -> usize {
    browser.open(&folder.path("page.html"));
    // Not committed, and not always there: tools/axe brings it.
    let axe = std::env::var("HOPWISE_AXE")
        .ok()
        .map(|path| std::fs::read_to_string(path).expect("axe-core"));
    if let Some(axe) = &axe {
        browser.evaluate(&format!("{axe}; 0"));
    }
    browser.evaluate(concat!(include_str!("everyone.js"), "; 0"));
    let mut looks = 0;
    for (width, height) in SIZES {
        browser.resize(width, height);
        for mode in modes {
            for theme in ["light", "dark"] {
                browser.evaluate(&format!(
                    "setTheme('{theme}'); setMode('{mode}'); timeline.play(false); select(-1)"
                ));
                let found = browser.evaluate("barriers()");
                let place = format!("{mode} at {width} x {height}, {theme}");
                assert_eq!(found, serde_json::json!([]), "{place}");
                if axe.is_some() {
                    let found = browser.evaluate(
                        "axe.run().then((found) => found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(', ')}`))",
                    );
                    assert_eq!(found, serde_json::json!([]), "{place}, by axe-core");
                }
                looks += 1;
            }
        }
    }
    looks
}

#[test]
fn cables_are_ticked_off_by_keyboard_and_there_is_a_sheet_for_each_board() {
    let folder = Folder::new("assistant");
    let mesh = folder.write("mesh.toml", "network = \"ring(4)\"\nboard = \"nucleo-f446re\"\n");
    let known = data(&page(&folder, &[&mesh]));
    let cables = serde_json::json!([[0, 0, 1, 1], [0, 1, 3, 0], [3, 1, 2, 0], [1, 0, 2, 1]]);
    assert_eq!(known["cables"], cables);
    let Some(mut browser) = Browser::start(&folder, "the wiring assistant") else {
        return;
    };
    browser.open(&folder.path("page.html"));
    let card = |browser: &mut Browser| {
        let text = browser.evaluate("byId('selection').textContent");
        text.as_str().unwrap_or("").to_string()
    };
    let said = card(&mut browser);
    assert!(said.starts_with("Cable 1 of 40 plugged in"), "{said}");
    like(&said, "[..]board 0 TX PA9 CN10-21 to board 1 RX PC5 CN10-6[..]");
    let marked =
        browser.evaluate("[...document.querySelectorAll('#selection .pin.here')].map((pin) => pin.dataset.pin)");
    assert_eq!(marked, serde_json::json!(["CN10-21", "CN10-33", "CN10-6", "CN10-25"]));
    // With the keyboard alone: to the button, and pressed.
    for _ in 0..40 {
        browser.press("Tab");
        if browser.evaluate("document.activeElement.id") == "plugged-in" {
            break;
        }
    }
    browser.press("Enter");
    let said = card(&mut browser);
    assert!(said.starts_with("Cable 2 of 41 plugged in"), "{said}");
    let heard = browser.evaluate("byId('said').textContent");
    assert_eq!(heard, "Cable 1 is plugged in. Next is cable 2.");
    browser.evaluate("document.querySelectorAll('#cables input')[1].click()");
    assert!(card(&mut browser).starts_with("Cable 3 of 4"));
    // Pins are known in every mode.
    for mode in ["broadcast", "route", "wiring"] {
        browser.evaluate(&format!("setMode('{mode}')"));
        let cables = browser.evaluate("byId('cables').textContent");
        let is_shown = cables.as_str().is_some_and(|text| text.contains("PB10 CN10-25"));
        assert!(is_shown, "{mode}: {cables}");
    }
    assert_eq!(browser.print_pages(), 4);
    let sheet = browser.evaluate("document.querySelectorAll('.sheet')[2].textContent");
    let sheet = sheet.as_str().unwrap_or("");
    like(
        sheet,
        "[..]Board 2 of ring(4)[..]cable 4: USART3 TX PB10 CN10-25 to board 1[..]",
    );
    assert_eq!(browser.errors, Vec::<String>::new());
}

/// The rounds of a collective are those that `hopwise collective` counts, and the page plays them.
#[test]
fn rounds_of_a_collective_are_played() {
    let folder = Folder::new("rounds");
    let network = "rsn(2,hypercube(2))";
    for (ports, op) in [("all", "fft"), ("one", "sort"), ("all", "all-reduce")] {
        let page = page(&folder, &[network, "--collective", op, "--port-model", ports]);
        let told = printed_json(&["collective", network, "--op", op, "--port-model", ports, "--json"]);
        let rounds = data(&page)["rounds"]["sent"].as_array().unwrap().clone();
        let all = told["rounds"].as_u64().unwrap() + told["reorder_rounds"].as_u64().unwrap_or(0);
        assert_eq!(rounds.len() as u64, all, "{op}");
        let messages: usize = rounds.iter().map(|round| round.as_array().unwrap().len()).sum();
        assert_eq!(told["messages"], messages, "{op}");
        let Some(mut browser) = Browser::start(&folder, "the replay of rounds") else {
            return;
        };
        browser.open(&folder.path("page.html"));
        let found = browser.evaluate(
            "timeline.play(false); timeline.seek(2.5e6); draw(); ({ clock: byId('clock').textContent, under: hopsAt(2.5e6).length, \
             card: byId('rounds').innerText, facts: byId('facts').textContent })",
        );
        assert_eq!(browser.errors, Vec::<String>::new());
        assert_eq!(found["clock"], format!("round 3 of {all}"));
        assert_eq!(found["under"], rounds[2].as_array().unwrap().len(), "{op}");
        let card = found["card"].as_str().unwrap();
        assert!(card.contains(op) && card.contains(&messages.to_string()), "{card}");
        let facts = found["facts"].as_str().unwrap();
        like(facts, &format!("[..]{all} rounds, {messages} messages"));
    }
}
