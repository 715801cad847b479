//! The `hopwise` command as a script sees it: keys, exit status, one sentence for bad input.

use serde_json::{Value, json};

use crate::support::{command, hopwise, like, printed, printed_json, refuses};

#[test]
fn the_demo_checks_itself() {
    let text = printed(&["demo"]);
    assert!(text.contains("306 of 306 routes are shortest paths"), "{text}");
    like(&text, "[..]18 of 18 broadcasts reach every node exactly once[..]");
}

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
fn a_page_is_named_after_what_it_shows() {
    let folder = tempfile::tempdir().unwrap();
    let mut view = command(&["view", "rdn(ring(3),1)"]);
    let output = view.current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("rdn-ring-3-1.html").exists());
}

#[test]
fn shells_and_man_are_told_of_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(printed(&["completions", shell]).contains("emulate"), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man");
    printed(&["man", pages.to_str().unwrap()]);
    for page in ["hopwise.1", "hopwise-sim.1", "hopwise-mesh-new.1"] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
}

#[test]
fn scripts_find_the_keys_that_they_rely_on() {
    let figures = json!({
        "nodes": 648, "edges": 1296, "degree_min": 4, "degree_max": 4, "connected": true, "diameter": 10,
        "distance_sum": 2_706_048, "method": "closed form",
    });
    let searched = json!({"distance_sum": 2_706_048, "method": "breadth-first search from every node"});
    let tree = json!({"reached": 648, "duplicates": 0, "sends": 647, "depth": 10, "one_port_steps": 14});
    for (command, expected) in [
        ("topo rdn(ring(3),2) --json", figures),
        ("topo rdn(ring(3),2) --json --verify", searched),
        // Huge networks need no search.
        (
            "topo re(heawood,heawood,14) --json",
            json!({"nodes": 14u64.pow(15), "diameter": 56}),
        ),
        (
            "topo rcr(4,20,40) --json",
            json!({"nodes": 20 * (1u64 << 44), "distance_sum": null}),
        ),
        (
            "neighbors rdn(ring(3),1) 2 --json",
            json!({"neighbors": [0, 1, 15], "by_port": [0, 1, 15], "address": "(0,0,2)"}),
        ),
        ("route rdn(ring(3),2) 0 638 --json", json!({"hops": 8, "distance": 8})),
        ("broadcast rdn(ring(3),2) 5 --json", tree),
    ] {
        let printed = printed_json(&command.split_whitespace().collect::<Vec<_>>());
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&printed[key], value, "{command}: {key}");
        }
    }
    let route = |words: &[&str]| printed_json(&[&["route", "--json"], words].concat());
    let found = route(&["rdn(ring(3),2)", "0", "638"])["path"].as_array().unwrap().len();
    assert_eq!(found, 9);
    let longer = route(&["re(complete(2),ring(6),6)", "0", "383", "--rule", "paper"]);
    assert!(longer["hops"].as_u64() > longer["distance"].as_u64());
    let searched = route(&["re(ring(4),ring(4),2,sd)", "0", "63"]);
    assert_eq!(searched["hops"], searched["distance"]);
}

#[test]
fn edges_are_listed_once_and_sorted() {
    assert_eq!(printed(&["edges", "ring(4)"]), "0 1\n0 3\n1 2\n2 3\n");
}

#[test]
fn one_hop_is_not_hops() {
    for (dest, shown) in [("0", "0 hops by"), ("1", "\n1 hop by"), ("2", "2 hops by")] {
        let text = printed(&["route", "ring(5)", "0", dest]);
        assert!(text.contains(shown), "{text}");
    }
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
fn bad_input_gets_one_sentence_and_status_2() {
    refuses(include_str!("refusals.txt"));
    assert_eq!(hopwise(&["route", "ring(3)", "0", "-1"]).status.code(), Some(2));
    assert_eq!(hopwise(&["topo"]).status.code(), Some(2));
    let found = hopwise(&["choose", "--nodes", "1", "--ports", "3"]).status.code();
    assert_eq!(found, Some(2));
}

#[test]
fn compare_puts_networks_side_by_side() {
    let found = printed_json(&["compare", "rdn(ring(3),1)", "hypercube(4)", "--json"]);
    let first = &found["networks"][0];
    assert_eq!(first["expression"], "rdn(ring(3),1)");
    assert_eq!((&first["diameter"], &first["cost"]), (&4.into(), &12.into()));
    assert_eq!(first["bisection"]["least"], 5);
    assert_eq!(first["broadcast_steps"], 6);
    assert_eq!(found["networks"][1]["bisection"]["most"], 8);
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
}

/// Beside the best network a readable one, where it is nearly as good.
#[test]
fn choose_recommends_what_a_person_can_read() {
    let text = printed(&["choose", "--nodes", "18", "--ports", "3", "--top", "1"]);
    like(
        &text,
        "[..]\nbest         lift([..]next hop by search\nrecommended  none with a formula is within 5% of the best\n[..]",
    );
    let found = printed_json(&["choose", "--nodes", "16", "--ports", "3", "--json", "--top", "1"]);
    let (best, recommended) = (&found["best"], &found["recommended"]);
    assert_eq!(
        (&best["next_hop"], &recommended["next_hop"]),
        (&"search".into(), &"formula".into())
    );
    let above = recommended["mean"].as_f64().expect("known") / best["mean"].as_f64().expect("known");
    assert!((1.0..=1.05).contains(&above), "{recommended} is {above} times the best");
}

/// `hopwise mesh new $(hopwise choose .. --best)` is a plan.
#[test]
fn the_best_network_goes_straight_to_a_mesh_file() {
    let expression = printed(&["choose", "--nodes", "24", "--ports", "3", "--best"]);
    like(&expression, "lift(8,[..])\n");
    printed(&["mesh", "new", expression.trim()]);
}

/// What was two networks of 200 nodes is one, under the shorter name; and frames whose links pivots share are listed.
#[test]
fn choose_lists_every_graph_once() {
    let found = printed_json(&["choose", "--nodes", "200", "--ports", "4", "--json"]);
    let networks = found["networks"].as_array().expect("a list");
    let row = networks
        .iter()
        .find(|network| network["expression"] == "rdn(petersen,1)");
    assert_eq!(
        row.expect("it is near the best")["also"],
        json!(["re(petersen,complete(2),2)"])
    );
    let text = printed(&["choose", "--nodes", "196", "--ports", "5"]);
    assert!(text.contains("\nre(complete(7),ring(4),2,sd) "), "{text}");
}

#[test]
fn a_network_is_recognised_by_its_edges() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.edges");
    let name = file.to_str().expect("a name");
    let write = |text: &str| std::fs::write(&file, text).expect("it can be written");
    write(&printed(&["edges", "bsw(petersen)"]));
    let found = printed_json(&["recognise", name, "--json"]);
    assert_eq!((&found["verdict"], &found["edges"]), (&"network".into(), &400.into()));
    assert_eq!(found["mapping"].as_array().map(Vec::len), Some(200));
    let is_it = "this is rdn(petersen,1).\nIt is also re(petersen,complete(2),2).";
    like(
        &printed(&["recognise", name]),
        &format!("200 nodes and 400 links: {is_it}\n[..]"),
    );
    write("0 1\n1 2\n2 0\n2 3\n");
    assert_eq!(
        printed(&["recognise", name]),
        "4 nodes and 4 links: no network that is known.\n"
    );
    let found = printed_json(&["recognise", name, "--json"]);
    assert_eq!((&found["verdict"], &found["network"]), (&"graph".into(), &Value::Null));
    write("0 1\n1 2 3\n");
    refuses(&format!(
        "recognise '{name}' => [..]mine.edges: line 2 must be two node numbers"
    ));
}

/// Ends of cables that do not pair up, and primes: said, with what is near.
#[test]
fn choose_says_what_cannot_be() {
    let text = printed(&["choose", "--nodes", "15", "--ports", "3"]);
    like(
        &text,
        "[..]15 boards cannot all have 3 links: 45 ends of cables are odd. 14 and 16 boards can, or 2 links[..]",
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("edges");
    let file = file.to_str().expect("a name");
    let prime = printed_json(&["choose", "--nodes", "53", "--ports", "4", "--json", "--write", file]);
    let remarks = prime["remarks"].as_array().expect("a list");
    let names_sizes = |remark: &Value| remark.as_str().is_some_and(|remark| remark.contains("boards come"));
    assert!(remarks.iter().any(names_sizes), "{remarks:?}");
    let graph = format!("graph:{file}");
    let figures = printed_json(&["topo", &graph, "--json"]);
    assert_eq!((&figures["nodes"], &figures["degree_max"]), (&53.into(), &4.into()));
    assert_eq!(figures["mean_distance"], prime["graph"]["mean_distance"]);
}

/// A graph from a file goes wherever an expression does, but not onto boards.
#[test]
fn a_graph_from_a_file_is_a_network() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.edges");
    let edges = hopwise(&["edges", "rdn(ring(3),1)"]);
    std::fs::write(&file, edges.stdout).expect("it can be written");
    let graph = format!("graph:{}", file.display());
    assert_eq!(printed_json(&["topo", &graph, "--json"])["diameter"], 4);
    let compared = printed_json(&["compare", &graph, "rdn(ring(3),1)", "--json"]);
    let mean = |network: usize| &compared["networks"][network]["mean_distance"];
    assert_eq!(mean(0), mean(1));
    assert!(hopwise(&["deadlock", &graph]).status.success());
    let load = printed_json(&["load", &graph, "--rate", "0.05", "--json"]);
    let found = (&load["saturated"], &load["network"]);
    assert_eq!(found, (&false.into(), &graph.clone().into()));
    let sim = printed_json(&["sim", &graph, "--packets", "100", "--json"]);
    assert_eq!(sim["delivered"], 100);
    let page = folder.path().join("page.html");
    printed(&["view", &graph, "--output", page.to_str().expect("a name")]);
    refuses(&format!(
        "mesh new {graph} => [..]is routed by tables, which boards do not have[..]"
    ));
    std::fs::write(&file, "0 1\n2 3\n").expect("it can be written");
    refuses(&format!(
        "topo {graph} => [..]it falls into 2 parts without an edge between them[..]"
    ));
}

/// Failures, paths and schedules of `hopwise load`, from the outside.
#[test]
fn a_load_has_failures_paths_and_schedules() {
    let load = ["load", "ring(8)", "--most-cycles", "2048"];
    let json = |arguments: &[&str]| printed_json(&[&load, arguments, &["--json"]].concat());
    let cut = json(&["--events", "0s cut 0.0", "--threads", "2"]);
    assert_eq!((&cut["failed_links"], &cut["lost"]), (&1.into(), &0.into()));
    assert_eq!(cut["hops_histogram"].as_array().map(Vec::len), Some(8));
    assert_eq!(json(&["--paths", "valiant"])["paths"], "valiant");
    let reduce = json(&["--collective", "reduce", "--root", "3"]);
    assert_eq!((&reduce["traffic"], &reduce["packets"]), (&"reduce".into(), &7.into()));
    let text = printed(&[&load[..], &["--collective", "broadcast"]].concat());
    assert!(text.contains("finished") && text.contains("the busiest in"), "{text}");
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
    like(&table, "kind,network,scenario,seed,figure,value,command\n[..]");
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
    // Resumed, the files are the same to the byte; edited, the plan is another, and its folder is not mixed with the first.
    run();
    assert_eq!(read("experiment.csv"), table);
    let refused = |text: &str, sentence: &str| {
        std::fs::write(&file, text).expect("it can be written");
        let output = run();
        let why = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{why}");
        assert!(why.contains(sentence) && why.lines().count() == 1, "{why}");
    };
    let of_another = "experiment-jobs holds the jobs of another plan";
    refused(&text.replace("0.05", "0.06"), of_another);
    std::fs::remove_dir_all(folder.path().join("experiment-jobs")).expect("it is there");
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
