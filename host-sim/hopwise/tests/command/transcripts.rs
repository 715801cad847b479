//! Transcripts: files of cases, each of which runs commands in a folder of its own and looks at what they print. A case begins with
//! `== NAME`, and has lines of these kinds:
//!
//! - `file NAME`, `program NAME`: the indented lines below are the text of that file, or of that program in the language of the shell.
//! - `$ ARGUMENTS`: runs `hopwise`; quotes hold blanks together. With `=> SENTENCE` it is refused in that one sentence.
//! - `exit STATUS`, right below: how it ends, if not well. With 2 it must have printed nothing, and said why.
//! - `| TEXT`: such lines are all that was printed; `> TEXT`: this was printed; `! TEXT`: this was said on stderr; `- TEXT`: neither was.
//!   `^ TEXT`: this is all that was said on stderr. In these but the first `\n` is the end of a line.
//! - `running NETWORK OPTIONS`: such a mesh is emulated until the case ends, and `{port}` is the serial port of its first board.
//! - `count NUMBER TEXT`: how often this was printed.
//! - `KEY = JSON`, and `!=`, `<`, `>`, `<=`, `>=`: what the JSON that was printed has there. `KEY ~ TEXT`: that string. A key is a path such
//!   as `boards.0.links`; `*` in it stands for each member, `name=A` for those with that name, of which there must be one, and `#` for how
//!   many there are. What is not there is null. `all` is all that was printed, `lines` the number of its lines.
//! - `sum KEY = NUMBER`, and the other operators: what all those values come to.
//! - `KEY as NAME`: from here on `{NAME}` stands for that value.
//! - `save NAME` writes what was printed into a file; `read NAME` looks at that file in place of what was printed.
//! - `files NAMES`: these files are in the folder.
//! - `sh COMMAND`: as `$`, but of the shell, which knows no repository; `{hopwise}` is the command.
//! - `needs image`, `needs test image`, `needs app`: without a compiler for ARM the rest is left out. `{image}` is the image, and `{app}` the
//!   folder of a program as `hopwise new-app` writes it.
//!
//! In a TEXT and a SENTENCE `[..]` stands for any text.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

use hopwise_testing::is_like;
use serde_json::{Deserializer, Value};

use crate::running::{Running, new_app};
use crate::support::{Folder, command, elf, quoted_words};

struct Case<'a> {
    /// The file, and the name of the case in it.
    name: String,
    running: Option<Running>,
    folder: Folder,
    values: BTreeMap<&'a str, String>,
    printed: String,
    said: String,
}

macro_rules! transcripts {
    ($($file:ident)*) => {
        $(
            #[test]
            fn $file() {
                follow(stringify!($file), include_str!(concat!("transcripts/", stringify!($file), ".txt")));
            }
        )*
    };
}

transcripts!(adopt basics check clock collective doctor emulate experiment files load_sweep processes refusals report repository rig sim view);

/// Follows all cases of a file.
fn follow(file: &str, text: &'static str) {
    let cases: Vec<(&str, &str)> = text
        .split("\n== ")
        .skip(1)
        .filter_map(|case| case.split_once('\n'))
        .collect();
    assert!(!cases.is_empty(), "{file}: no case");
    // A case that fails does not keep the others from being tried.
    let mut failed = Vec::new();
    for (name, lines) in cases {
        let (folder, repository) = (Folder::new("transcript"), Path::new("../..").canonicalize());
        let repository = repository.expect("the repository").display().to_string();
        let mut case = Case {
            name: format!("{file}, {name}"),
            running: None,
            values: BTreeMap::from([
                ("repository", repository),
                ("folder", folder.path("")),
                ("hopwise", env!("CARGO_BIN_EXE_hopwise").into()),
            ]),
            folder,
            printed: String::new(),
            said: String::new(),
        };
        let lines = lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let followed = catch_unwind(AssertUnwindSafe(|| case.follow(&mut lines.peekable())));
        failed.extend(followed.err().map(|_| name));
    }
    assert!(failed.is_empty(), "{file}: failed, each as said above: {failed:?}");
}

impl<'a> Case<'a> {
    fn follow(&mut self, lines: &mut Peekable<impl Iterator<Item = &'a str>>) {
        while let Some(line) = lines.next() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            let text = self.with_values(rest);
            match kind {
                "needs" => {
                    let image = match rest {
                        "image" => elf().map(|path| path.to_string()),
                        "app" => new_app().map(|app| {
                            let folder = app.folder.display().to_string();
                            self.values.insert("app", folder);
                            app.elf.clone()
                        }),
                        "test image" => crate::emulator_support::elf().map(|path| path.display().to_string()),
                        _ => panic!("{}: there is no {rest}", self.name),
                    };
                    let Some(image) = image else { return };
                    self.values.insert("image", image);
                }
                "running" => {
                    let words = quoted_words(&text);
                    let running = Running::with(&self.folder, words[0], &self.values["image"], &words[1..]);
                    self.values.insert("port", running.ports[0].clone());
                    self.running = Some(running);
                }
                "file" | "program" => {
                    let mut lines = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("    ")));
                    let written: String = lines.by_ref().map(|line| self.with_values(&line[4..]) + "\n").collect();
                    let parent = self.folder.folder().join(&text).parent().map(Path::to_path_buf);
                    std::fs::create_dir_all(parent.expect("a folder")).expect("a folder");
                    match kind {
                        "file" => self.folder.write(&text, &written),
                        _ => self.folder.program(&text, &written),
                    };
                }
                "$" | "sh" => {
                    let exit = lines.next_if(|line| line.starts_with("exit "));
                    let exit = exit.map_or(0, |line| line[5..].parse().expect("a status"));
                    self.run(kind, &text, exit);
                }
                "|" => {
                    let more = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("| ")));
                    let all: String = [text + "\n"]
                        .into_iter()
                        .chain(more.map(|line| self.with_values(&line[2..]) + "\n"))
                        .collect();
                    self.check(line, is_like(&self.printed, &all));
                }
                ">" => self.check(line, has(&self.printed, &text)),
                "!" => self.check(line, has(&self.said, &text)),
                "^" => self.check(line, is_like(&self.said, &text.replace("\\n", "\n"))),
                "-" => self.check(line, !has(&self.printed, &text) && !has(&self.said, &text)),
                "count" => {
                    let (number, text) = text.split_once(' ').expect("a number and a text");
                    let found = self.printed.matches(text).count();
                    self.check(line, number.parse() == Ok(found));
                }
                "sum" => {
                    let condition: Vec<&str> = text.splitn(3, ' ').collect();
                    let sum: u64 = self.found(condition[0]).iter().filter_map(Value::as_u64).sum();
                    self.check(line, holds(&sum.into(), condition[1], condition[2]));
                }
                "files" => self.check(line, self.folder.files().join(" ") == text),
                "save" => drop(self.folder.write(&text, &self.printed)),
                "read" => self.printed = std::fs::read_to_string(self.folder.path(&text)).expect(line),
                key => {
                    let found = self.found(key);
                    match rest.split_once(' ').expect("an operator and a value") {
                        ("as", name) => {
                            let [value] = &found[..] else {
                                panic!("{}: {line}: {found:?}", self.name)
                            };
                            let value = value.as_str().map_or_else(|| value.to_string(), String::from);
                            self.values.insert(name, value);
                        }
                        (operator, expected) => {
                            let expected = self.with_values(expected);
                            let all_hold = found.iter().all(|found| holds(found, operator, &expected));
                            self.check(line, !found.is_empty() && all_hold);
                        }
                    }
                }
            }
        }
    }

    fn with_values(&self, text: &str) -> String {
        let values = self.values.iter();
        values.fold(text.into(), |text: String, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
    }

    fn check(&self, line: &str, holds: bool) {
        let Case {
            name, printed, said, ..
        } = self;
        assert!(holds, "{name}: {line}\nprinted:\n{printed}\nsaid:\n{said}");
    }

    fn run(&mut self, kind: &str, line: &str, status: i32) {
        let (arguments, sentence) = line.split_once(" => ").unzip();
        let arguments = arguments.unwrap_or(line);
        let mut command = if kind == "$" {
            let mut command = command(&quoted_words(arguments));
            command.env("HOPWISE_REPO", &self.values["repository"]);
            command
        } else {
            let mut shell = Command::new("sh");
            for variable in ["HOPWISE_REPO", "HOPWISE_IMAGES", "HOPWISE_PORT", "HOPWISE_BENCH"] {
                shell.env_remove(variable);
            }
            shell.args(["-c", arguments]);
            shell
        };
        let output = command
            .current_dir(self.folder.folder())
            .output()
            .expect("the command starts");
        self.printed = String::from_utf8(output.stdout).expect("text");
        self.said = String::from_utf8(output.stderr).expect("text");
        let status = if sentence.is_some() { 2 } else { status };
        let is_quiet = status != 2 || (self.printed.is_empty() && self.said.len() > 10 && !has(&self.said, "panicked"));
        self.check(line, output.status.code() == Some(status) && is_quiet);
        if let Some(sentence) = sentence {
            let is_one = self.said.lines().count() == 1;
            self.check(
                line,
                is_one && is_like(self.said.trim_end(), &format!("hopwise: {sentence}")),
            );
        }
    }

    /// The values at this path in the JSON that was printed.
    fn found(&self, path: &str) -> Vec<Value> {
        match path {
            "all" => return vec![self.printed.trim().into()],
            "lines" => return vec![self.printed.lines().count().into()],
            _ => {}
        }
        let printed = Deserializer::from_str(&self.printed).into_iter();
        let printed: Vec<Value> = printed
            .map(|value| value.unwrap_or_else(|error| panic!("{}: {error}: {}", self.name, self.printed)))
            .collect();
        let whole = if let [value] = &printed[..] {
            value.clone()
        } else {
            Value::Array(printed)
        };
        path.split('.').fold(vec![whole], |values, part| {
            let members = values.into_iter().flat_map(|value| match (part, value) {
                ("*", Value::Array(members)) => members,
                ("*", Value::Object(members)) => members.into_iter().map(|(_, member)| member).collect(),
                (part, member @ Value::Object(_)) if part.contains('=') => {
                    let is_it = part.split_once('=').is_some_and(|(key, value)| member[key] == value);
                    is_it.then_some(member).into_iter().collect()
                }
                ("#", Value::Array(members)) => vec![members.len().into()],
                ("#", Value::Object(members)) => vec![members.len().into()],
                ("#", Value::String(text)) => vec![text.len().into()],
                (part, Value::Array(mut members)) => match part.split_once('=') {
                    Some((key, value)) => {
                        members.retain(|member| member[key] == value);
                        members
                    }
                    None => vec![
                        members
                            .get(part.parse::<usize>().expect("a place"))
                            .cloned()
                            .unwrap_or_default(),
                    ],
                },
                (key, value) => vec![value[key].clone()],
            });
            members.collect()
        })
    }
}

fn has(text: &str, pattern: &str) -> bool {
    is_like(text, &format!("[..]{}[..]", pattern.replace("\\n", "\n")))
}

fn holds(found: &Value, operator: &str, expected: &str) -> bool {
    if operator == "~" {
        return found.as_str().is_some_and(|found| is_like(found, expected));
    }
    let expected: Value = serde_json::from_str(expected).unwrap_or_else(|error| panic!("{expected}: {error}"));
    let orders = |is_so: fn(f64, f64) -> bool| {
        found
            .as_f64()
            .zip(expected.as_f64())
            .is_some_and(|(found, expected)| is_so(found, expected))
    };
    match operator {
        "=" => *found == expected,
        "!=" => *found != expected && !found.is_null(),
        "<" => orders(|found, expected| found < expected),
        ">" => orders(|found, expected| found > expected),
        "<=" => orders(|found, expected| found <= expected),
        ">=" => orders(|found, expected| found >= expected),
        _ => panic!("there is no operator {operator}"),
    }
}
