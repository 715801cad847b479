//! `hopwise play`: serves the mesh in the browser, on this machine alone.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use hopwise_emulate::repository::{NoRepository, Repository};

use super::RepositoryArg;
use super::error::CliError;
use super::output::{Outcome, print, say};

/// A browser that says nothing for so long is gone.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Args)]
#[command(after_help = "\
The page is one file, target/play/index.html in the repository, which also opens from disk. It is built first, by tools/play.")]
pub(super) struct PlayArgs {
    /// The port to serve it at; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = 8017)]
    port: u16,
}

pub(super) fn run(args: &PlayArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let page = page(repository)?;
    let PlayArgs { port } = *args;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        CliError::new(format_args!(
            "cannot serve at port {port}: {error}; choose another one with --port, or --port 0 for any that is free"
        ))
    })?;
    let port = listener.local_addr().map_or(port, |address| address.port());
    print(|out| writeln!(out, "http://127.0.0.1:{port}/ (open it in a browser; Ctrl-C ends this)"))?;
    std::thread::scope(|connections| {
        for stream in listener.incoming().flatten() {
            let page = &page;
            // A browser that has gone needs no response.
            connections.spawn(move || respond(&stream, page).ok());
        }
    });
    Ok(Outcome::Done)
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

fn respond(mut stream: &TcpStream, page: &[u8]) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    // The rest of the request says nothing that matters here, but has to be read.
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = request.split(' ').nth(1).unwrap_or_default();
    let found = request.starts_with("GET ") && matches!(path, "/" | "/index.html");
    let (status, body) = if found {
        ("200 OK", page)
    } else {
        ("404 Not Found", &[][..])
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(body)
}
