//! What is checked in and comes from `boards/*.toml`: with `HOPWISE_WRITE=1` this writes it, otherwise it fails where one differs.

use std::collections::BTreeSet;
use std::fs;

use hopwise_rig::boards::firmware::{features, layout};
use hopwise_rig::boards::{BoardKind, DEFAULT, KINDS};
use hopwise_rig::headers;
use hopwise_rig::plan::describe;

const AGAIN: &str = "HOPWISE_WRITE=1 cargo test -p hopwise-rig --test boards";

fn repository(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(repository(path)).unwrap_or_default()
}

/// A file, and what it holds if something else is between two of its marks.
fn between(path: &str, begin: &str, end: &str, written: &str) -> (String, String) {
    let text = read(path);
    let parts = text.split_once(begin);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    let (before, after) = parts.unwrap_or_else(|| panic!("{path} has no '{begin}' and '{end}'"));
    (path.into(), format!("{before}{begin}{written}{end}{after}"))
}

fn page(path: &str, written: &str) -> (String, String) {
    between(path, "<!-- From boards/*.toml: -->\n\n", "<!-- to here. -->", written)
}

/// The pictures of all boards, by the form of the circuit board.
fn pictures() -> String {
    let mut out = String::new();
    let mut forms: Vec<&str> = Vec::new();
    for form in KINDS.iter().map(|kind| kind.form) {
        if forms.contains(&form) {
            continue;
        }
        forms.push(form);
        out += &format!("## {form}\n\n");
        for BoardKind { name, .. } in KINDS.iter().filter(|kind| kind.form == form) {
            out += &format!("![Pins of a {name}](board-{name}.svg)\n\n");
        }
    }
    out
}

fn shopping() -> String {
    let row = |kind: &&BoardKind| {
        let none = "none: a probe, and a 3.3 V adapter for the serial port";
        let usb = kind.usb.unwrap_or(none);
        format!("| {} | {} | {} | {usb} |\n", kind.name, kind.chip, kind.links.len())
    };
    let rows: String = KINDS.iter().map(row).collect();
    format!("| board | chip | links | USB connector |\n|---|---|---|---|\n{rows}\n")
}

fn wiring(kind: &&BoardKind) -> String {
    let row = |(link, uart): (usize, &hopwise_rig::boards::Uart)| {
        let (tx, rx) = (describe(&uart.tx), describe(&uart.rx));
        format!("| {link} | {} | {tx} | {rx} |\n", uart.name)
    };
    let rows: String = kind.links.iter().enumerate().map(row).collect();
    let default = if kind.name == DEFAULT { " (default)" } else { "" };
    let uart = kind.serial;
    let console = if kind.usb.is_some() { "ST-LINK" } else { "Adapter" };
    format!(
        "### {}, {} links{default}\n\n| link | UART | TX | RX |\n|---|---|---|---|\n{rows}\n\
         Ground: {}. {console}: {}, {} and {}.\n{}\n\n",
        kind.name,
        kind.links.len(),
        kind.ground.join(", "),
        uart.name,
        uart.tx.name,
        uart.rx.name,
        kind.notes
    )
}

fn written() -> Vec<(String, String)> {
    let guide: String = KINDS.iter().map(wiring).collect();
    // A comment says what the parts of the memory are for.
    let mut memory = read("memory.x");
    memory.truncate(memory.find("MEMORY\n").expect("the parts of the memory"));
    let mut files = vec![
        ("memory.x".into(), memory + &layout(KINDS[0])),
        between(
            "firmware/Cargo.toml",
            "docs/adding-a-board.md.\n",
            "# Linked for",
            &features(),
        ),
        page("docs/pins.md", &pictures()),
        page("docs/shopping.md", &shopping()),
        page("docs/rig.md", &guide),
    ];
    let pictures = KINDS.iter();
    files.extend(pictures.map(|kind| (format!("docs/board-{}.svg", kind.name), headers::svg(kind))));
    files
}

#[test]
fn what_is_checked_in_is_what_the_files_of_boards_say() {
    for (path, text) in written() {
        if std::env::var_os("HOPWISE_WRITE").is_some() {
            fs::write(repository(&path), &text).expect("a file that can be written");
        }
        assert!(read(&path) == text, "{path} is not what boards/*.toml say: {AGAIN}");
    }
}

#[test]
fn no_picture_is_of_a_board_that_is_gone() {
    let files = fs::read_dir(repository("docs")).expect("a folder");
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let kind = |name: String| Some(name.strip_prefix("board-")?.strip_suffix(".svg")?.to_string());
    let drawn: BTreeSet<String> = names.filter_map(kind).collect();
    assert_eq!(drawn, KINDS.iter().map(|kind| kind.name.to_string()).collect());
}
