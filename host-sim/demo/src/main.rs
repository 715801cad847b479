//! What `cargo hopwise` runs: the demo, without the rest of the command, which takes minutes to build; for all else the whole command.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, ExitCode};

use hopwise_demo::Demo;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    if words == ["demo"] { demo() } else { hand_over(&words) }
}

/// As `hopwise demo` does it.
fn demo() -> ExitCode {
    let demo = match Demo::run() {
        Ok(demo) => demo,
        Err(error) => return refuse(format_args!("{error}")),
    };
    match io::stdout().write_all(demo.text.as_bytes()) {
        // A reader that has heard enough, such as `head`, is no error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            return refuse(format_args!("cannot write the output: {error}"));
        }
        _ => {}
    }
    match demo.failure {
        None => ExitCode::SUCCESS,
        Some(failure) => {
            eprintln!("hopwise: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn refuse(reason: std::fmt::Arguments<'_>) -> ExitCode {
    eprintln!("hopwise: {reason}");
    ExitCode::from(2)
}

/// Runs the package `hopwise`, which cargo builds first if need be.
fn hand_over(words: &[OsString]) -> ExitCode {
    let built = env::current_exe().is_ok_and(|path| path.with_file_name(format!("hopwise{EXE_SUFFIX}")).exists());
    if !built {
        eprintln!("hopwise: only the demo is built so far; now the whole command is, once: a minute or two");
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    command.args(["run", "--profile", "quick", "--package", "hopwise", "--"]);
    command.args(words);
    match run(&mut command) {
        Ok(status) => status,
        Err(error) => refuse(format_args!("cannot run {}: {error}", cargo.display())),
    }
}

/// In place of this process, so that signals and the exit status are the command's own.
#[cfg(unix)]
fn run(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn run(command: &mut Command) -> io::Result<ExitCode> {
    let status = command.status()?;
    Ok(status
        .code()
        .map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8)))
}
