//! The book in docs/: what it shows is what the command prints, and what it and other files point to is there.

use crate::support::{command, hopwise, quoted_words};
use hopwise_testing::is_like;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Stands for what differs from run to run; on a line of its own, for all that follows.
const ANYTHING: &str = "[..]";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages of the book, and the READMEs of everything.
fn pages() -> Vec<(PathBuf, String)> {
    let folder = fs::read_dir(repository().join("docs")).unwrap();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.extend(
        ["README.md", "CONTRIBUTING.md", "RELEASE-CHECKLIST.md", "SECURITY.md"].map(|name| repository().join(name)),
    );
    for folder in [repository(), repository().join("host-sim")] {
        let crates = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.extend(crates.map(|path| path.join("README.md")).filter(|path| path.is_file()));
    }
    paths.sort();
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).unwrap());
    paths.into_iter().map(read).collect()
}

/// The fenced blocks of a page: what kind each is of, and its text.
pub(crate) fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

fn is_as_shown(shown: &str, printed: &str) -> bool {
    let mut printed = printed.lines();
    for line in shown.lines() {
        if line == ANYTHING {
            return true;
        }
        let Some(found) = printed.next() else { return false };
        if !is_like(found, line) {
            return false;
        }
    }
    printed.next().is_none()
}

#[test]
fn commands_print_what_the_book_shows() {
    let mut commands = 0;
    for (path, text) in pages() {
        for (_, block) in blocks(&text).into_iter().filter(|(kind, _)| *kind == "console") {
            let (line, shown) = block.split_once('\n').expect("a command and its output");
            let arguments = quoted_words(line.strip_prefix("$ hopwise ").expect("a command of ours"));
            let output = command(&arguments).output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{}: {line}", path.display());
            let page = path.display();
            assert!(is_as_shown(shown, &printed), "{page}: {line} prints\n{printed}");
            commands += 1;
        }
    }
    assert!(commands >= 5, "{commands} commands");
}

/// Lines of code, without comments.
fn code(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect()
}

/// The same of a source: the examples in its comments are compiled as well.
fn source(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.trim_start();
        let shown = ["//! ", "/// "].into_iter().find_map(|mark| line.strip_prefix(mark));
        shown.unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// All Rust below a folder, with what `hopwise new-app` writes.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "target" {
            sources(&path, found);
        } else if name.ends_with(".rs") || name.ends_with(".rs.txt") {
            found.push(source(&fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Whether code is in a source, perhaps with lines left out.
fn is_from(block: &[&str], source: &[&str]) -> bool {
    let mut source = source.iter();
    block.iter().all(|line| source.any(|other| other == line))
}

/// The tutorial's programs are run by a test of `hopwise new-app`, the READMEs of crates by those crates.
#[test]
fn rust_in_the_book_is_code_that_is_compiled() {
    let mut texts = vec![];
    for folder in ["core", "app", "team", "firmware/examples", "host-sim"] {
        sources(&repository().join(folder), &mut texts);
    }
    let sources: Vec<Vec<&str>> = texts.iter().map(|text| code(text)).collect();
    let mut found = 0;
    for (path, page) in pages() {
        let library = fs::read_to_string(path.with_file_name("src/lib.rs")).unwrap_or_default();
        if path.ends_with("docs/tutorial.md") || library.contains("include_str!(\"../README.md\")") {
            continue;
        }
        for (_, block) in blocks(&page).into_iter().filter(|(kind, _)| kind.starts_with("rust")) {
            let block = code(block);
            let compiled = sources.iter().any(|source| is_from(&block, source));
            assert!(compiled, "{}: in no source: {block:#?}", path.display());
            found += 1;
        }
    }
    assert!(found > 9, "{found} blocks");
}

/// Sections of the pages about guarantees that promise nothing.
const EXPLAINED: [&str; 4] = [
    "What is not guaranteed",
    "How to use one",
    "How it is tested",
    "What it costs",
];

/// What a guarantee is shown by, in backticks: names of tests, and commands that measure it.
fn shown_by(text: &str) -> impl Iterator<Item = &str> {
    let is_test = |name: &str| {
        name.matches('_').count() > 1 && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    };
    let measures = |name: &str| {
        ["hopwise ", "tools/", "cargo test "]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(move |name| is_test(name) || measures(name))
}

#[test]
fn every_promise_names_its_test() {
    let mut texts = vec![];
    for folder in ["codec", "node", "runner", "host-sim"] {
        sources(&repository().join(folder), &mut texts);
    }
    let lines = texts.iter().flat_map(|text| text.lines());
    let functions: BTreeSet<&str> = lines
        .filter_map(|line| Some(line.trim().strip_prefix("fn ")?.split_once('(')?.0))
        .collect();
    let mut promises = 0;
    for page in ["delivery.md", "keys.md"] {
        let text = fs::read_to_string(repository().join("docs").join(page)).unwrap();
        let sections = text.split("\n## ").skip(1);
        for section in sections.filter(|section| !EXPLAINED.iter().any(|heading| section.starts_with(heading))) {
            let paragraphs = section.split("\n\n").skip(1).flat_map(|block| block.split("\n- "));
            for paragraph in paragraphs.filter(|paragraph| !paragraph.starts_with(['|', '#'])) {
                assert!(
                    shown_by(paragraph).next().is_some(),
                    "{page}: this names no test: {paragraph}"
                );
                let missing = shown_by(paragraph).find(|name| !name.contains(['/', ' ']) && !functions.contains(name));
                assert_eq!(missing, None, "{page} names a test that is not there");
                promises += 1;
            }
        }
    }
    assert!(promises > 25, "{promises} promises");
}

#[test]
fn code_that_differs_is_noticed() {
    let text = source("//! let a = 1;\n//! /// How.\nfn f() {\n    // Why.\n    g();\n}\n");
    let source = code(&text);
    assert_eq!(source, ["let a = 1;", "fn f() {", "g();", "}"]);
    assert!(is_from(&["fn f() {", "}"], &source));
    assert!(!is_from(&["g();", "fn f() {"], &source) && !is_from(&["g()"], &source));
}

#[test]
fn what_differs_is_noticed() {
    assert!(is_as_shown("a\nb [..] c\n[..]\n", "a\nb 17 c\nd\ne\n"));
    for printed in ["a\n", "a\nb\n", "a\nb 17 d\nd\n", "b\nb 1 c\nd\n", ""] {
        assert!(!is_as_shown("a\nb [..] c\n", printed), "{printed}");
    }
    assert!(!is_as_shown("a\n", "a\nb\n"));
}

/// Files that pages name by their path: those below a folder of the repository, apart from what is built.
#[test]
fn files_that_pages_name_are_there() {
    let mut named = 0;
    for (path, text) in pages() {
        for name in text.split('`').skip(1).step_by(2) {
            let is_pattern = ["NAME", "BOARD", " ", "*", "{", "="]
                .iter()
                .any(|part| name.contains(part));
            let folder = name.split_once('/').map_or("", |(folder, _)| folder);
            let is_file = name.contains('.') && !is_pattern && !["", "target", "src", "tests"].contains(&folder);
            if is_file && repository().join(folder).is_dir() {
                assert!(repository().join(name).exists(), "{}: {name}", path.display());
                named += 1;
            }
        }
    }
    assert!(named >= 50, "{named} files");
}

/// What a heading is called in links to it.
fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    let kept: String = heading.to_lowercase().chars().filter(kept).collect();
    kept.replace(' ', "-")
}

#[test]
fn links_lead_to_a_file_and_to_a_heading() {
    let (mut files, mut headings_named) = (0, 0);
    for (path, text) in pages() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            if file.contains("://") {
                continue;
            }
            let page = match file {
                "" => path.clone(),
                _ => path.parent().unwrap().join(file),
            };
            assert!(page.exists(), "{}: there is no {target}", path.display());
            files += usize::from(!file.is_empty());
            if place.is_empty() || page.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let page = fs::read_to_string(page).unwrap();
            let mut headings = page.lines().filter(|line| line.starts_with('#'));
            let there = headings.any(|line| anchor(line.trim_start_matches('#').trim()) == place);
            assert!(there, "{}: {target} leads to no heading", path.display());
            headings_named += 1;
        }
    }
    assert!(files > 50 && headings_named > 20, "{files}, {headings_named}");
}

/// In workflows and in the container.
#[test]
fn tools_that_other_files_name_are_there() {
    let workflows = fs::read_dir(repository().join(".github/workflows")).unwrap();
    let files = workflows.map(|file| file.unwrap().path());
    let mut named = 0;
    for file in files.chain([repository().join("Containerfile")]) {
        let text = fs::read_to_string(&file).unwrap();
        let words = text.split(|letter: char| letter.is_whitespace() || "\"'`,;()".contains(letter));
        for word in words.filter(|word| word.starts_with("tools/") || word.starts_with("host-sim/")) {
            assert!(repository().join(word).exists(), "{}: {word}", file.display());
            named += 1;
        }
    }
    assert!(named > 8, "{named}");
}

#[test]
fn the_book_lists_every_command_as_the_help_does() {
    let output = hopwise(&["help"]);
    let help = String::from_utf8(output.stdout).unwrap();
    let (_, help) = help.split_once("\n\nTo begin:").unwrap();
    let (groups, _) = help.split_once("\n\nOptions:").unwrap();
    let expected: Vec<String> = format!("To begin:{groups}")
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| match line.trim().split_once("  ") {
            Some((name, about)) => format!("| `{name}` | {} |", about.trim()),
            None => format!("## {}", line.trim_end_matches(':')),
        })
        .collect();
    let page = fs::read_to_string(repository().join("docs/commands.md")).unwrap();
    let tables = page.split("\n## For scripts").next().unwrap();
    let listed: Vec<String> = tables
        .lines()
        .filter(|line| line.starts_with("| `") || line.starts_with("## "))
        .map(|line| match line.rsplitn(3, " |").last() {
            Some(row) if row.starts_with('|') => format!("{row} |"),
            _ => line.into(),
        })
        .collect();
    assert_eq!(listed, expected);
    assert!(expected.len() > 30, "{} commands", expected.len());
}

#[test]
fn the_book_has_every_page() {
    let summary = fs::read_to_string(repository().join("docs/SUMMARY.md")).unwrap();
    for (path, _) in pages() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let in_docs = path.parent().unwrap().ends_with("docs");
        let is_listed = name == "SUMMARY.md" || summary.contains(&format!("({name})"));
        assert!(!in_docs || is_listed, "docs/SUMMARY.md lacks {name}");
    }
}

/// What the pictures of the book are drawn by. Those of boards are compared with their files by a test of the rig.
const PICTURES: [(&str, &[&str]); 4] = [
    ("ring-3.svg", &["view", "ring(3)"]),
    ("rdn-3-1.svg", &["view", "rdn(ring(3),1)"]),
    ("rdn-3-1-addresses.svg", &["view", "rdn(ring(3),1)", "--addresses"]),
    (
        "rdn-3-1-route.svg",
        &["view", "rdn(ring(3),1)", "--addresses", "--route", "0", "17"],
    ),
];

#[test]
fn pictures_are_those_that_our_tools_draw() {
    let folder = tempfile::tempdir().unwrap();
    for (name, arguments) in PICTURES {
        let file = folder.path().join(name);
        let output = command(arguments).arg("--svg").arg(&file).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let drawn = fs::read_to_string(file).unwrap();
        let kept = fs::read_to_string(repository().join("docs").join(name));
        let again = format!("hopwise {} --svg docs/{name}", arguments.join(" "));
        assert!(kept.is_ok_and(|kept| kept == drawn), "docs/{name} is another: {again}");
    }
}

#[test]
fn the_keys_that_the_book_lists_are_printed() {
    let text = fs::read_to_string(repository().join("docs/json.md")).unwrap();
    let mut commands = 0;
    for (_, block) in blocks(&text).into_iter().filter(|(kind, _)| *kind == "keys") {
        let (line, listed) = block.split_once('\n').expect("a command and its keys");
        let arguments = quoted_words(line.strip_prefix("$ hopwise ").expect("a command of ours"));
        let output = command(&arguments).output().unwrap();
        let printed: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
        let is_whole = !listed.lines().any(|line| line == "...");
        // Keys stand before two blanks, with commas between them.
        let listed = listed.lines().filter(|line| *line != "...");
        let listed: Vec<&str> = listed
            .flat_map(|line| line.split("  ").next().unwrap().split(", "))
            .collect();
        for key in &listed {
            assert!(printed.contains_key(*key), "{line} prints no {key}");
        }
        let missing: Vec<_> = printed.keys().filter(|key| !listed.contains(&key.as_str())).collect();
        assert!(
            !is_whole || missing.is_empty(),
            "docs/json.md: {line} prints {missing:?} besides"
        );
        commands += 1;
    }
    assert!(commands > 8, "{commands} commands");
}
