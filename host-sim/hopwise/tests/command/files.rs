//! Files and terminals: nothing that a board or a file says reaches a terminal or a page but as text. What becomes of files is in
//! `transcripts/files.txt`.

use std::process::Output;

use crate::support::{Folder, hopwise, like};

/// Clears a terminal, in both ways, and begins a page's script.
const HARMFUL: &str = "\u{1b}[2J\u{9b}2J<script>";

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Nothing but text, and not too much of it.
fn assert_harmless(output: &Output) {
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap());
    for text in said {
        let control = text.chars().find(|letter| letter.is_control() && *letter != '\n');
        assert_eq!(control, None, "{text:?}");
        assert!(text.len() < 20_000, "{} bytes", text.len());
    }
}

#[test]
fn what_files_say_is_shown_as_text() {
    let folder = Folder::new("harmful");
    let json = serde_json::to_string(HARMFUL).unwrap();
    let long = "ring".repeat(2_500_000);
    let name = |text: &str| {
        format!("network = \"ring(3)\"\nboard = \"nucleo-f446re\"\n[[node]]\naddress = 0\nname = {text}\n")
    };
    let trace = folder.write("trace.jsonl", &format!("{{\"network\":{json}}}\n"));
    let page = folder.path("page.html");
    let bad = format!("network = {}\n", json.replace('\u{9b}', "\\u009b"));
    let bad_mesh = folder.write("bad.toml", &bad);
    let long_mesh = folder.mesh("long.toml", &long, "");
    let commands: [&[&str]; 7] = [
        &["report", &trace],
        &["view", &trace, "-o", &page],
        &["view", HARMFUL, "-o", &page],
        &["topo", HARMFUL],
        &["sim", "ring(4)", "--script", HARMFUL],
        &["plan", &bad_mesh],
        &["plan", &long_mesh],
    ];
    for command in commands {
        let output = hopwise(command);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stderr.len() > 20);
        assert_harmless(&output);
    }
    // The name of a board, on the terminal and in a drawing.
    let mesh = folder.write("mesh.toml", &name("\"\\u001b[2J<b>\\u202e\""));
    let drawing = folder.path("plan.svg");
    let output = hopwise(&["plan", &mesh, "--svg", &drawing]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("board 0 (\u{fffd}[2J<b>\u{fffd})"), "{said}");
    let drawing = read(&drawing);
    assert!(drawing.contains("\u{fffd}[2J&lt;b&gt;\u{fffd}") && !drawing.contains('\u{1b}'));
}

#[test]
fn what_boards_log_is_shown_as_text() {
    let folder = Folder::new("harmful-log");
    let mesh = folder.mesh("mesh.toml", "path(2)", "[[node]]\naddress = 0\nprobe = \"AA\"\n");
    let image = folder.write("image.elf", "");
    let program = folder.stand_in(
        "printf '1.0|INFO|\\033[2J\\302\\2332J\\r<b>\\n'\nprintf '2.0|INFO|'\nhead -c 10000000 /dev/zero | tr '\\0' x\necho\nprintf 'but \\033[2J\\n' >&2\nsleep 1\nkill -INT $PPID\nexec sleep 60",
    );
    let trace = folder.path("trace.jsonl");
    // The program ends the capture as Ctrl-C does.
    let output = hopwise(&["capture", &mesh, "-o", &trace, "--elf", &image, "--probe-rs", &program]);
    assert!(output.status.success(), "{output:?}");
    assert_harmless(&output);
    like(
        &String::from_utf8_lossy(&output.stderr),
        "[..]board 0: but \u{fffd}[2J[..]",
    );
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("\u{fffd}[2J\u{fffd}2J\u{fffd}<b>\n"), "{said}");
    assert!(read(&trace).len() < 10_000);
}
