//! Files and terminals: nothing good is overwritten before its replacement is whole, a cut trace can be read, and nothing that a
//! board or a file says reaches a terminal or a page but as text.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::running::Ending;
use crate::support::{Folder, command, failed, hopwise, like, printed, printed_json, simulate, until};

/// Clears a terminal, in both ways, and begins a page's script.
const HARMFUL: &str = "\u{1b}[2J\u{9b}2J<script>";

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The files in the folder of a file whose names begin with its name.
fn beside(path: &str) -> Vec<PathBuf> {
    let path = Path::new(path);
    let name = path.file_name().unwrap().to_str().unwrap();
    let files = path.parent().unwrap().read_dir().unwrap();
    let mut found: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    found.retain(|file| file != path && file.file_name().unwrap().to_str().unwrap().starts_with(name));
    found
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

/// A key is for its owner alone.
#[test]
fn nobody_else_reads_a_key() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("key");
    let key = folder.path("mesh.key");
    printed(&["mesh", "key", "-o", &key]);
    let mode = std::fs::metadata(&key).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A run that takes longer than the test, with its trace. It ends with the test.
fn long_run(trace: &str) -> Ending {
    let words = ["sim", "torus(8,8)", "--packets", "1000000", "--trace", trace];
    Ending::of(command(&words).stdout(Stdio::null()).stderr(Stdio::piped()))
}

fn has_lines(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.len() > 100_000)
}

#[test]
fn a_killed_run_leaves_the_old_trace_and_its_own_up_to_the_cut() {
    let folder = Folder::new("killed");
    let trace = folder.path("trace.jsonl");
    simulate(&trace, &["ring(5)", "--packets", "20"]);
    let old = read(&trace);
    let run = long_run(&trace);
    until(20, || beside(&trace).iter().any(|file| has_lines(file)));
    drop(run);
    assert_eq!(read(&trace), old);
    let [partial] = &beside(&trace)[..] else {
        panic!("{:?}", beside(&trace));
    };
    let told = printed(&["report", partial.to_str().unwrap()]);
    assert!(told.starts_with("# torus(8,8): 64 nodes\n"), "{told}");
}

#[test]
fn ctrl_c_ends_a_run_with_a_trace_that_can_be_read() {
    let folder = Folder::new("interrupted");
    let trace = folder.path("trace.jsonl");
    let run = long_run(&trace);
    until(20, || has_lines(Path::new(&trace)));
    run.interrupt();
    let output = run.wait();
    let sentence = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{sentence}");
    assert_eq!(sentence, format!("hopwise: stopped; the trace up to here is {trace}\n"));
    assert!(read(&trace).ends_with("}\n"), "the last line is whole");
    let report = hopwise(&["report", &trace]);
    assert!(report.status.success() && report.stderr.is_empty());
}

#[test]
fn a_cut_trace_is_read_up_to_the_cut() {
    let folder = Folder::new("cut");
    let trace = folder.path("trace.jsonl");
    simulate(&trace, &["ring(5)", "--packets", "20"]);
    let whole = read(&trace);
    let lines = whole.lines().count();
    let cut = folder.write("cut.jsonl", &whole[..whole.len() - 10]);
    let page = folder.path("page.html");
    for command in [
        &["report", &cut, "--json"][..],
        &["report", &cut],
        &["view", &cut, "-o", &page],
    ] {
        let output = hopwise(command);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let sentence = format!("hopwise: {cut}: line {lines} has no end and is left out: the trace was cut short\n");
        assert!(said.starts_with(&sentence), "{said}");
    }
    let [of_cut, of_whole] = [&cut, &trace].map(|trace| printed_json(&["report", trace, "--json"]));
    let found = of_cut["events"].as_u64().unwrap() + 1;
    assert_eq!(found, of_whole["events"].as_u64().unwrap());
    let found = (of_cut["cut"].as_u64(), of_whole["cut"].as_u64());
    assert_eq!(found, (Some(lines as u64), None));
    assert!(printed(&["report", &cut]).contains(&format!("The trace is cut short in line {lines}.")));
}

fn do_jobs(folder: &str, rates: &str) {
    let short = ["--cycles", "1024", "--most-cycles", "1024"];
    let plan = ["load", "plan", "ring(8)", "--jobs", folder, "--rates", rates];
    printed(&[&plan, &short[..]].concat());
    printed(&["load", "work", folder]);
}

#[test]
fn a_damaged_job_is_named_and_done_again() {
    let folder = Folder::new("damaged-job");
    let jobs = folder.path("jobs");
    do_jobs(&jobs, "0.02,0.1");
    let [first, second] = ["job-00000.json", "job-00001.json"].map(|name| format!("{jobs}/{name}"));
    let (good, other) = (read(&first), read(&second));
    std::fs::write(&first, &good[..good.len() / 2]).unwrap();
    let (_, sentence) = failed(&["load", "merge", &jobs, "--out", &folder.path("out")]);
    like(&sentence, &format!("[..]{first}[..]does that job again[..]"));
    let worked = hopwise(&["load", "work", &jobs]);
    let said = String::from_utf8(worked.stderr).unwrap();
    assert_eq!(worked.status.code(), Some(0), "{said}");
    like(&said, &format!("hopwise: {first} is damaged: [..]: done again\n"));
    let found = String::from_utf8(worked.stdout).unwrap();
    assert_eq!(found, "jobs done now: 1, before: 1\n");
    // Times of the machine differ.
    let figures = |text: &str| {
        let file: serde_json::Value = serde_json::from_str(text).unwrap();
        assert!(file["finding"]["result"]["latency_mean"].is_number(), "{text}");
        file["finding"]["result"]["latency_mean"].clone()
    };
    assert_eq!((figures(&read(&first)), read(&second)), (figures(&good), other));
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

/// A plan that somebody else has written.
#[test]
fn what_jobs_say_is_text_on_the_page() {
    let folder = Folder::new("harmful-jobs");
    let (jobs, out) = (folder.path("jobs"), folder.path("out"));
    do_jobs(&jobs, "0.02");
    for name in ["plan.json", "job-00000.json"] {
        let path = format!("{jobs}/{name}");
        let text = read(&path).replace("\"exact\"", "\"<script>alert(1)</script>\"");
        let text = text.replace("--rule exact", "--rule '<script>alert(1)</script>'");
        assert!(text.contains("<script>"));
        std::fs::write(path, text).unwrap();
    }
    printed(&["load", "merge", &jobs, "--out", &out]);
    for name in ["load.html", "load.svg"] {
        let text = read(&format!("{out}/{name}"));
        assert!(!text.contains("<script"), "{name}: {text}");
    }
    assert!(read(&format!("{out}/load.html")).contains("&lt;script&gt;"));
}
