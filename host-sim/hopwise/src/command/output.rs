//! What commands print and write, and how they end. Names, logs and files come from elsewhere: nothing of them reaches a terminal
//! but text.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hopwise_figures::{printable, printable_json, printable_line};
use hopwise_files::{check_writable, create_whole, is_same_file, write_whole};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::error::CliError;

/// How a command ended that was not refused.
pub(super) enum Outcome {
    Done,
    /// A check failed; the sentence says which.
    CheckFailed(String),
    /// By Ctrl-C, before it was done; the sentence says what there is of it.
    Stopped(String),
}

impl Outcome {
    /// Of a check: the sentence is for where it fails.
    pub(super) fn of(is_so: bool, sentence: impl FnOnce() -> String) -> Self {
        match is_so {
            true => Outcome::Done,
            false => Outcome::CheckFailed(sentence()),
        }
    }
}

/// Writes to standard output, text only. A reader that has heard enough, such as `head`, is no error.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    print_colored(|out| write(&mut Printable(out)))
}

pub(super) fn print_line(line: impl Display) -> Result<(), CliError> {
    print(|out| writeln!(out, "{line}"))
}

/// Writes to standard output what may color or clear the terminal: texts from elsewhere are to be made
/// [printable](printable_line) before.
pub(super) fn print_colored(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::output(error)),
        _ => Ok(()),
    }
}

/// Whether what is printed may be colored: on a terminal that can, unless `NO_COLOR` says otherwise (<https://no-color.org>).
pub(super) fn colored() -> bool {
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    may_color(io::stdout().is_terminal(), &said("NO_COLOR"), &said("TERM"))
}

fn may_color(terminal: bool, no_color: &str, term: &str) -> bool {
    terminal && no_color.is_empty() && term != "dumb"
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Color {
    /// Something is wrong.
    Red,
    /// Something may be.
    Yellow,
    /// All is well.
    Green,
    /// Not so important.
    Dim,
}

impl Color {
    pub(super) fn of_level(level: &str) -> Self {
        match level {
            "error" => Color::Red,
            "warn" => Color::Yellow,
            "info" => Color::Green,
            _ => Color::Dim,
        }
    }

    /// A text in this color, where that is wanted.
    pub(super) fn paint(self, text: &str, colored: bool) -> String {
        let number = match self {
            Color::Red => 31,
            Color::Yellow => 33,
            Color::Green => 32,
            Color::Dim => 2,
        };
        match colored {
            true => format!("\x1b[{number}m{text}\x1b[0m"),
            false => text.into(),
        }
    }
}

pub(super) fn clear_screen() -> Result<(), CliError> {
    match io::stdout().is_terminal() {
        true => print_colored(|out| write!(out, "\x1b[2J\x1b[H")),
        false => Ok(()),
    }
}

/// Passes on text without control characters.
struct Printable<'a>(&'a mut dyn Write);

impl Write for Printable<'_> {
    /// Whole characters each time, as all that is formatted comes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(printable(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Says a sentence on standard error: on one line, and not without end.
pub(super) fn say(sentence: &str) {
    eprintln!("{}", printable_line(sentence));
}

/// A value as JSON, on one line.
pub(super) fn json(value: &impl Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string(value).map_err(CliError::output)?;
    Ok(printable_json(&text).into_owned())
}

/// Writes one JSON object on a line.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    print_line(json(value)?)
}

/// Prints a value as JSON if that is asked for, or else as people read it.
pub(super) fn print_either<T: Serialize>(
    as_json: bool,
    value: &T,
    show: impl FnOnce(&T) -> Result<(), CliError>,
) -> Result<(), CliError> {
    match as_json {
        true => print_json(value),
        false => show(value),
    }
}

/// Whether a file can be written, and is none of those that are read. Asked before the work is done.
pub(super) fn check_output<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), CliError> {
    match inputs.into_iter().any(|input| is_same_file(output, input)) {
        true => Err(CliError::file(output, "this file is read; write to another one")),
        false => check_writable(output).map_err(|error| CliError::output_file(output, &error)),
    }
}

/// Writes a file, which is whole or what it was.
pub(super) fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    write_whole(path, text).map_err(|error| CliError::output_file(path, &error))
}

/// Whether a file can be created. Asked before the work is done.
pub(super) fn check_new(path: &Path) -> Result<(), CliError> {
    match path.exists() {
        true => Err(CliError::not_created(path, &io::ErrorKind::AlreadyExists.into())),
        false => check_output(path, None),
    }
}

pub(super) fn create_file(path: &Path, text: &str) -> Result<(), CliError> {
    create_whole(path, text).map_err(|error| CliError::not_created(path, &error))
}

/// Says that the last line of a trace was left out, if it was.
pub(super) fn say_if_cut(trace: &Path, cut: Option<u64>) {
    if let Some(line) = cut {
        let name = trace.display();
        say(&format!(
            "hopwise: {name}: line {line} has no end and is left out: the trace was cut short"
        ));
    }
}

/// Set by Ctrl-C, and when the program is asked to end.
pub(super) fn stop_on_ctrl_c() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = stop.clone();
    ctrlc::set_handler(move || set.store(true, Ordering::Relaxed))
        .map_err(|error| CliError::new(format_args!("cannot wait for Ctrl-C: {error}")))?;
    Ok(stop)
}

/// Writes names and values in two columns.
pub(super) fn print_facts(title: &str, facts: &[(&str, String)]) -> Result<(), CliError> {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    print(|out| {
        writeln!(out, "{title}")?;
        facts
            .iter()
            .try_for_each(|(name, value)| writeln!(out, "  {name:width$}  {value}"))
    })
}

/// How many there are of what has an s, or after another an es, in the plural.
pub(super) fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ if what.ends_with('s') => format!("{count} {what}es"),
        _ => format!("{count} {what}s"),
    }
}

/// Things with commas between.
pub(super) fn listed(things: impl IntoIterator<Item = impl ToString>) -> String {
    Vec::from_iter(things.into_iter().map(|thing| thing.to_string())).join(", ")
}

/// A progress bar on a terminal; nothing where the output goes elsewhere.
pub(super) fn progress_bar(total: u64, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
    ProgressBar::new(total)
        .with_message(what)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_for_terminals_that_want_them() {
        assert!(may_color(true, "", "xterm-256color"));
        assert!(!may_color(false, "", "xterm-256color"));
        assert!(!may_color(true, "1", "xterm-256color"));
        assert!(!may_color(true, "", "dumb"));
        assert_eq!(Color::Red.paint("wrong", true), "\x1b[31mwrong\x1b[0m");
        assert_eq!(Color::Red.paint("wrong", false), "wrong");
    }

    #[test]
    fn control_characters_are_not_printed() {
        let mut out = Vec::new();
        let name = "\u{1b}]0;title\u{7}\u{9b}2Jé";
        writeln!(Printable(&mut out), "{name:>20} → {}\tx\ry", 3).unwrap();
        let printed = String::from_utf8(out).unwrap();
        assert_eq!(
            printed.trim_start(),
            "\u{fffd}]0;title\u{fffd}\u{fffd}2Jé → 3\tx\u{fffd}y\n"
        );
    }
}
