use std::path::PathBuf;

use clap::Args;
use hopwise_emulate::about::About;

use super::error::CliError;
use super::output::{print, print_either};

#[derive(Args)]
pub(super) struct AboutArgs {
    /// The image, an ELF file, such as a release's nucleo-f446re.elf
    image: PathBuf,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &AboutArgs) -> Result<(), CliError> {
    let wrong = |reason: &dyn std::fmt::Display| CliError::file(&args.image, reason);
    let file = hopwise_files::read(&args.image, hopwise_files::MAX_IMAGE).map_err(|error| wrong(&error))?;
    let about = About::of(&file).map_err(|error| wrong(&error))?;
    print_either(args.json, &about, show)
}

fn show(about: &About) -> Result<(), CliError> {
    let commit = about.commit.as_deref().unwrap_or("unknown");
    let changes = if about.changed { ", with changes" } else { "" };
    print(|out| {
        writeln!(out, "board      {}", about.board)?;
        writeln!(out, "version    {}", about.version)?;
        writeln!(out, "commit     {commit}{changes}")?;
        writeln!(out, "features   {}", about.features.join(", "))?;
        writeln!(out, "slot       {}, {} bytes", about.slot, about.bytes)?;
        writeln!(out, "sha256     {}", about.sha256)?;
        writeln!(out, "signature  none: `hopwise sign` signs an update file")
    })
}
