//! The `hopwise` command: parses arguments, calls the rooms, prints.

mod command;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    hopwise_networks::tables::install();
    command::run(&command::Hopwise::parse())
}
