//! `hopwise play`: serves the mesh in the browser, on this machine alone.

use std::process::{Command, Stdio};

use clap::Args;
use hopwise_emulate::repository::{NoRepository, Repository};

use super::RepositoryArg;
use super::error::CliError;
use super::output::{print, say};
use super::web_server::{HTML, listen, refusal, serve};

#[derive(Args)]
#[command(after_help = "\
The page is one file, target/play/index.html in the repository, which also opens from disk. It is built first, by tools/play.")]
pub(super) struct PlayArgs {
    /// The port to serve it at; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = 8017)]
    port: u16,
}

pub(super) fn run(args: &PlayArgs, repository: &RepositoryArg) -> Result<(), CliError> {
    let page = page(repository)?;
    let (listener, address) = listen(args.port)?;
    print(|out| writeln!(out, "{address}/ (open it in a browser; Ctrl-C ends this)"))?;
    serve(&listener, |request| {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/" | "/index.html") => ("200 OK", HTML, page.clone()),
            _ => refusal("404 Not Found", "there is no such thing here"),
        }
    });
    Ok(())
}

/// The page, up to date with its sources.
fn page(repository: &RepositoryArg) -> Result<Vec<u8>, CliError> {
    let repository = Repository::find(repository.repo.as_deref()).map_err(|error| match error {
        NoRepository::Nowhere => CliError::new(
            "the page is built from Hopwise's repository: run this inside it, or say where it is with --repo PATH or HOPWISE_REPO",
        ),
        other => other.into(),
    })?;
    say("building the page (a minute or two when it is first built)");
    let tool = repository.root().join("tools/play");
    let built = Command::new(&tool).stdout(Stdio::null()).status();
    match built {
        Ok(status) if status.success() => {}
        Ok(_) => return Err(CliError::new("the page cannot be built: see above")),
        Err(error) => return Err(CliError::file(&tool, error)),
    }
    let file = repository.root().join("target/play/index.html");
    std::fs::read(&file).map_err(|error| CliError::file(&file, error))
}
