//! Programs at boards that end, by a stand-in for probe-rs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::capture::{Capture, CaptureSummary, LogLine};
use crate::mesh::Mesh;
use crate::probe_logs::{PAUSES, ProbeNews, ProbeRun, from_probes};
use hopwise_testing::Folder;
use hopwise_trace::line::Record;

/// Waits, as a person would, for what should have come long before.
const TIMEOUT: Duration = Duration::from_secs(30);

struct Heard {
    summary: CaptureSummary,
    news: Vec<ProbeNews>,
    texts: Vec<String>,
    given_up: Vec<u64>,
    lasted: Duration,
}

/// A capture of two boards, until a line says so.
fn capture(folder: &Folder, program: &str, pauses: &[Duration]) -> Heard {
    let mesh = "network = 'path(2)'\nboard = 'nucleo-f446re'\n\
                [[node]]\naddress = 0\nprobe = 'A'\n[[node]]\naddress = 1\nprobe = 'B'\n";
    let mesh = Mesh::parse(mesh).unwrap();

    let program = folder.stand_in(program);
    let stop = AtomicBool::new(false);
    let (mut texts, mut news) = (Vec::new(), Vec::new());
    let mut show = |_: f64, line: &LogLine, _: &Record| {
        texts.push(format!("{} {}", line.node, line.text));
        stop.fetch_or(line.text == "stop", Ordering::Relaxed);
        Ok(())
    };
    let mut capture = Capture::create(&folder.folder().join("trace.jsonl"), &mesh, &mut show).unwrap();
    let run = ProbeRun {
        program: &program,
        elf: &folder.folder().join("image.elf"),
        duration: Some(TIMEOUT),
        pauses,
    };
    let begin = Instant::now();
    let mut note = |told: &ProbeNews| news.push(told.clone());
    let given_up = from_probes(&mesh, &run, &mut capture, &mut note, &stop).unwrap();
    let lasted = begin.elapsed();
    let summary = capture.finish().unwrap();
    Heard {
        summary,
        news,
        texts,
        given_up,
        lasted,
    }
}

#[test]
fn a_program_that_ends_is_started_again() {
    let folder = Folder::new("again");
    let here = folder.folder().display();
    // Board 1 has none of it. Board 0's ends twice, and says why.
    let program = format!(
        "case \"$*\" in *374b:B*) exec sleep 60;; esac\n\
         echo x >> '{here}/starts'\n\
         case $(wc -l < '{here}/starts') in\n\
         1) echo '1.0|INFO|first'; echo 'the probe was pulled out' >&2; exit 3;;\n\
         2) echo '2.0|INFO|second'; kill -9 $$;;\n\
         *) echo '3.0|INFO|third'; echo '3.1|INFO|stop'; exec sleep 60;;\n\
         esac"
    );
    let pauses = [10, 20, 30].map(Duration::from_millis);
    let heard = capture(&folder, &program, &pauses);
    assert_eq!(heard.texts, ["0 first", "0 second", "0 third", "0 stop"]);
    let ended = |status: &str, pause: usize| ProbeNews::Ended {
        node: 0,
        status: status.into(),
        again_in: Some(pauses[pause]),
    };
    let says = ProbeNews::Says {
        node: 0,
        text: "the probe was pulled out".into(),
    };
    let expected = [says, ended("exit status: 3", 0), ended("signal: 9 (SIGKILL)", 1)];
    assert_eq!(heard.news, expected);
    assert_eq!((heard.summary.lines, heard.given_up), (4, vec![]));
    assert!(heard.lasted < TIMEOUT / 2, "{:?}", heard.lasted);
    let told = "board 0: probe-rs has ended (exit status: 3) and is started again in 0.0 s";
    assert_eq!(heard.news[1].to_string(), told);
}

#[test]
fn a_program_that_ends_too_often_is_given_up() {
    let folder = Folder::new("given-up");
    let here = folder.folder().display();
    let program = format!("echo x >> '{here}/starts'; exit 1");
    let heard = capture(&folder, &program, &[Duration::ZERO; 3]);
    let found = (heard.given_up, folder.read("starts").lines().count());
    assert_eq!(found, (vec![0, 1], 2 * 4));
    let lasted = heard.lasted;
    assert!(lasted < TIMEOUT / 2, "it waits for the end of its time: {lasted:?}");
    let last = heard.news.last().unwrap().to_string();
    let given_up = "probe-rs has ended (exit status: 1) once too often: it is given up";
    assert!(last.ends_with(given_up), "{last}");
    assert!(PAUSES.is_sorted() && PAUSES.iter().sum::<Duration>() > Duration::from_secs(30));
}

/// What was said before the end is not lost, and neither is what is said because of it.
#[test]
fn programs_are_ended_in_the_end_and_their_last_words_are_kept() {
    let folder = Folder::new("last-words");
    let here = folder.folder().display();
    let program = format!(
        "[ $again ] || exec env --default-signal=INT again=1 \"$0\" \"$@\"\n\
         trap \"echo '9.0|INFO|last'; echo $$ >> '{here}/asked'; exit\" INT\n\
         case \"$*\" in *374b:B*) : > '{here}/ready';; esac\n\
         while [ ! -e '{here}/ready' ]; do sleep 0.02; done\n\
         case \"$*\" in *374b:A*) echo '1.0|INFO|stop';; esac\n\
         while :; do sleep 0.02; done"
    );
    let heard = capture(&folder, &program, &PAUSES);
    assert_eq!((heard.news, heard.given_up), (vec![], vec![]));
    let found = folder.read("asked").lines().count();
    assert_eq!(found, 2, "both were asked as Ctrl-C does");
    let last = heard.texts.iter().filter(|text| text.ends_with("last")).count();
    assert_eq!((heard.summary.lines, last), (3, 2), "{:?}", heard.texts);
}
