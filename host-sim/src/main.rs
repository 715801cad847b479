//! The `hopwise` command.

use std::process::ExitCode;

use clap::Parser;
use hopwise::command::Hopwise;

fn main() -> ExitCode {
    hopwise::command::run(&Hopwise::parse())
}
