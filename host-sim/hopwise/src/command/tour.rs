use std::io::{self, BufRead, IsTerminal};
use std::time::Instant;

use clap::{Args, Parser};

use super::error::CliError;
use super::output::{Outcome, print, print_line, say};
use super::{Hopwise, RepositoryArg, carry_out};

#[derive(Args)]
pub(super) struct TourArgs {
    /// List the stops of the tour, and do nothing
    #[arg(long)]
    list: bool,
    /// Only this stop, by number
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=steps().len() as i64))]
    step: Option<u8>,
    /// Do not wait for Enter between stops; without a terminal it never waits
    #[arg(long)]
    no_wait: bool,
}

struct Step {
    title: &'static str,
    text: &'static str,
    /// The command as one types it, without its name.
    command: &'static str,
}

/// Each has its title after a #, its text, and its command after a $.
fn steps() -> Vec<Step> {
    let steps = include_str!("tour.txt").trim_start_matches("# ").split("\n\n# ");
    let step = |step: &'static str| {
        let (title, rest) = step.split_once('\n')?;
        let (text, command) = rest.trim_end().split_once("\n$ ")?;
        Some(Step { title, text, command })
    };
    steps.filter_map(step).collect()
}

enum Answer {
    Go,
    Skip,
    End,
}

pub(super) fn run(args: &TourArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    if args.list {
        return list();
    }
    print_line(format_args!(
        "A tour of {} stops. Each says what to look at, shows a command after a $, and runs it. You can type the same; in a\n\
         clone of the repository, say cargo hopwise for hopwise. A stop takes a second or two, except for the one with boards.",
        steps().len()
    ))?;
    let waits = !args.no_wait && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut failed = vec![];
    for (number, Step { title, text, command }) in (1..).zip(steps()) {
        if args.step.is_some_and(|only| only != number) {
            continue;
        }
        print(|out| {
            writeln!(out, "\n{number}. {title}\n\n{text}\n\n$ hopwise {command}")?;
            if waits {
                write!(
                    out,
                    "\nEnter runs it, s and Enter skips it, q and Enter ends the tour: "
                )?;
            }
            Ok(())
        })?;
        // What was typed early is an answer too.
        match if waits {
            ask(&mut io::stdin().lock())
        } else {
            Answer::Go
        } {
            Answer::Go => {}
            Answer::Skip => continue,
            Answer::End => return Ok(outcome(&failed)),
        }
        print_line("")?;
        let mut hopwise = Hopwise::parse_from(std::iter::once("hopwise").chain(words(command)));
        hopwise.repository = repository.clone();
        let begin = Instant::now();
        let reason = match carry_out(&hopwise) {
            Ok(Outcome::Done) => {
                let took = begin.elapsed().as_secs_f64();
                print(|out| writeln!(out, "\n({took:.1} s)"))?;
                continue;
            }
            Ok(Outcome::Stopped(what)) => return Ok(Outcome::Stopped(what)),
            Ok(Outcome::CheckFailed(what)) => what,
            Err(error) => error.to_string(),
        };
        // The rest can be shown without it.
        say(&format!("hopwise: {reason}"));
        failed.push(number.to_string());
    }
    print_line(
        "\nNext: docs/getting-started.md leads to a program of yours, docs/first-steps.md explains all this; hopwise help lists the commands.",
    )?;
    Ok(outcome(&failed))
}

/// How a tour ends on which these stops failed.
fn outcome(failed: &[String]) -> Outcome {
    Outcome::of(failed.is_empty(), || {
        format!("of the tour, stop {} failed", failed.join(", "))
    })
}

fn list() -> Result<Outcome, CliError> {
    print(|out| {
        for (number, step) in (1..).zip(steps()) {
            writeln!(out, "{number}  {:<12} hopwise {}", step.title, step.command)?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// The words of a command; quotes hold blanks together.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let parts = command.split('\'').enumerate();
    parts.flat_map(|(place, part)| match place % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    })
}

fn ask(input: &mut impl BufRead) -> Answer {
    let mut answer = String::new();
    match input.read_line(&mut answer) {
        Ok(0) | Err(_) => Answer::End,
        Ok(_) => match answer.trim() {
            "s" => Answer::Skip,
            "q" => Answer::End,
            _ => Answer::Go,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_that_was_typed_early_is_an_answer() {
        let mut typed = &b"\ns\nq\n"[..];
        let answers = [(); 4].map(|()| match ask(&mut typed) {
            Answer::Go => "go",
            Answer::Skip => "skip",
            Answer::End => "end",
        });
        assert_eq!(answers, ["go", "skip", "end", "end"]);
    }
}
