//! What a shell and `man` want to know of the command.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Hopwise;
use super::error::CliError;
use super::output::{print_colored, print_line};

#[derive(Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints what makes a shell complete the command's words.
pub(super) fn completions(args: &CompletionsArgs) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Hopwise::command(), "hopwise", &mut script);
    // It is ours, and tabs are part of it.
    print_colored(|out| out.write_all(&script))
}

#[derive(Args)]
pub(super) struct ManArgs {
    /// The folder to write the pages into, one for each command; it is created if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub(super) fn man(args: &ManArgs) -> Result<(), CliError> {
    let written =
        std::fs::create_dir_all(&args.folder).and_then(|()| clap_mangen::generate_to(Hopwise::command(), &args.folder));
    written.map_err(|error| CliError::output_file(&args.folder, &error))?;
    let folder = args.folder.display();
    print_line(format_args!(
        "wrote the manual pages into {folder} (read one with: man -l {folder}/hopwise.1)"
    ))
}
