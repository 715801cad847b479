//! The `hopwise` command as a script sees it: keys, exit status, one sentence for bad input.

use std::path::Path;

use serde_json::Value;

use crate::support::{command, hopwise, like, printed, printed_json};

/// Where nobody can press Enter it does not wait.
#[test]
fn the_tour_shows_each_step_and_its_command() {
    let list = printed(&["tour", "--list"]);
    assert_eq!(list.lines().count(), 6, "{list}");
    for (number, shows) in [
        ("1", "diameter"),
        ("2", "as short as possible"),
        ("3", "one-port steps"),
        ("4", "lost              0"),
    ] {
        let text = printed(&["tour", "--step", number]);
        assert!(text.contains(shows), "{text}");
        let command = list.lines().find_map(|line| line.strip_prefix(number)).unwrap();
        let command = &command[command.find("hopwise").unwrap()..];
        assert!(text.contains(&format!("$ {command}\n")), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let page = command(&["tour", "--step", "6"]).current_dir(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&page.stderr);
    assert!(said.contains("wrote tour.html (open it in a browser)"), "{said}");
    assert!(folder.path().join("tour.html").exists());
    assert_eq!(hopwise(&["tour", "--step", "7"]).status.code(), Some(2));
    // Where images are is said to the tour, and meant for its stops.
    let images = folder.path().to_str().unwrap();
    let output = hopwise(&["tour", "--step", "5", "--images", images]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("there is no nucleo-f446re.elf in this folder"), "{said}");
    assert!(said.ends_with("of the tour, stop 5 failed\n"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn deadlock_has_its_keys_and_shows_a_cycle() {
    let safe = printed_json(&["deadlock", "rcr(2,2,2)", "--json"]);
    assert_eq!(safe["acyclic"], true);
    assert!(safe["classes"].as_u64() >= Some(2));
    let output = hopwise(&["deadlock", "rcr(2,2,2)", "--scheme", "one", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let unsafe_: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(unsafe_["acyclic"], false);
    let cycle = unsafe_["cycle"].as_array().unwrap();
    for (first, second) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        assert_eq!(first["to"], second["from"], "{cycle:?}");
    }
}

#[test]
fn choose_ranks_what_fits() {
    let found = printed_json(&["choose", "--nodes", "18", "--ports", "3", "--json"]);
    let networks = found["networks"].as_array().expect("a list");
    assert!(networks.len() > 10);
    let mean = |network: &Value| network["mean_distance"].as_f64().expect("known for 18 nodes");
    let rises = networks.windows(2).all(|pair| mean(&pair[0]) <= mean(&pair[1]));
    assert!(rises, "best first");
    let excess = networks[0]["excess"].as_f64().expect("known for 18 nodes");
    assert!((0.0..0.03).contains(&excess), "{excess} above the bound");
    let regular = networks
        .iter()
        .find(|network| network["expression"] == "rdn(ring(3),1)");
    assert!(regular.is_some(), "the papers' networks are ranked too");
    for network in networks {
        assert_eq!(network["nodes"], 18);
        assert!(network["degree_max"].as_u64().expect("a number") <= 3, "{network}");
        let expression = network["expression"].as_str().expect("text");
        let searches = expression.starts_with("lift(") || expression.ends_with(",sd)");
        assert_eq!(
            network["next_hop"],
            if searches { "search" } else { "formula" },
            "{expression}"
        );
    }
    let best = (
        &found["best"]["network"],
        &found["best"]["mean"],
        &found["best"]["bound"],
    );
    let first = (
        &networks[0]["expression"],
        &networks[0]["mean_distance"],
        &found["bound_mean_distance"],
    );
    assert_eq!(best, first);
    assert!(found["recommended"].is_null(), "rdn(ring(3),1) is 15% above");
    let readable = printed_json(&["choose", "--nodes", "16", "--ports", "3", "--json", "--top", "1"]);
    let (best, recommended) = (&readable["best"], &readable["recommended"]);
    let next_hops = (&best["next_hop"], &recommended["next_hop"]);
    assert_eq!(next_hops, (&"search".into(), &"formula".into()));
    let above = recommended["mean"].as_f64().expect("known") / best["mean"].as_f64().expect("known");
    assert!((1.0..=1.05).contains(&above), "{recommended} is {above} times the best");
}

/// Networks, loads, faults and seeds of one file: table and page, every figure with its command.
#[test]
fn an_experiment_is_one_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("experiment.toml");
    let text = "networks = ['ring(5)', 'petersen']\nseeds = 2\n[load]\nrate = [0.05]\ncycles = 2048\nmost-cycles = 2048\n[sim]\npackets = 50\n\
                events = ['', '900s cut 0.0']\n";
    std::fs::write(&file, text).expect("it can be written");
    let run = || {
        let mut command = command(&["experiment", "experiment.toml"]);
        command.current_dir(folder.path()).output().expect("the command starts")
    };
    let output = run();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    let table = read("experiment.csv");
    like(
        &table,
        "kind,network,cycles,[..],seed,figure,value,unit,command,reason\n[..]",
    );
    let results: Value = serde_json::from_str(&read("experiment.json")).expect("one JSON object");
    let figures = results["figures"].as_array().expect("a list");
    let mut means = figures.iter().filter(|figure| figure["figure"] == "latency_mean");
    let latency = means.next().expect("it was measured");
    assert_eq!((&latency["network"], &latency["seeds"]), (&"ring(5)".into(), &2.into()));
    assert!(latency["ci95"].as_f64().is_some_and(|half| half > 0.0), "{latency}");
    like(latency["command"].as_str().unwrap(), "hopwise load 'ring(5)'[..]");
    let remarks = results["remarks"].to_string();
    assert!(remarks.contains("The faults met no traffic"), "{remarks}");
    assert!(read("experiment.html").contains("<svg"));
    // Resumed, the files are the same to the byte.
    run();
    assert_eq!(read("experiment.csv"), table);
    let refused = |text: &str, sentence: &str| {
        std::fs::write(&file, text).expect("it can be written");
        let output = run();
        let why = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{why}");
        assert!(why.contains(sentence) && why.lines().count() == 1, "{why}");
    };
    refused(
        &text.replace("packets = 50", "packets = 50\nber = 2"),
        "--ber 2 --packets 50 --seed 1 --json: ber is a chance from 0 to 1, not 2",
    );
    refused(
        &text.replace("rate", "rte"),
        "experiment.toml line 4: unknown setting `rte`, expected one of `batch-bits`, ",
    );
    assert_eq!(read("experiment.csv"), table);
}

#[test]
fn every_scenario_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let file = format!("../../scenarios/{}", name.to_str().unwrap());
        let reports = printed(&["sim", &file, "--packets", "60", "--seed", "3", "--json"]);
        assert!(!reports.is_empty(), "{file}");
        for report in reports.lines() {
            let report: Value = serde_json::from_str(report).unwrap();
            let found = (&report["sent"], &report["violation"]);
            assert_eq!(found, (&60.into(), &Value::Null), "{file}");
        }
    }
}
