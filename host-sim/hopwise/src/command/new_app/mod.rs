//! `hopwise new-app`: a crate outside the repository with a program for boards.

use std::path::{Path, PathBuf};

use clap::Args;
use hopwise_emulate::repository::{NoRepository, Repository};
use hopwise_rig::boards::{BoardKind, DEFAULT, KINDS};

use super::RepositoryArg;
use super::error::CliError;
use super::mesh::parse_kind;
use super::output::print;

/// The firmware's families of networks, by their features.
const FAMILIES: &str = "rdn re rcr wk hypernet exchanged lift hierarchy rsn hsn hcn3 partial-swapped";
/// Letters of a crate's name, at most.
const LONGEST_NAME: usize = 64;
/// Names that crates cannot have, or that others here have already.
const TAKEN: &str = "alloc async const core cortex-m-rt crate defmt embassy-executor embassy-futures embedded-io-async fn \
                     hopwise-app hopwise-firmware hopwise-team let loop mod self static static-cell std super test";

#[derive(Args)]
#[command(after_help = "\
The crates that the program is built on are those of the repository (--repo, HOPWISE_REPO, or around the working folder), unless --git or --release
says otherwise. Nothing is overwritten.")]
pub(super) struct NewAppArgs {
    /// The folder to create; its last part is the name of the crate
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// The kind of board that it is built for by default
    #[arg(long, value_name = "NAME", default_value = DEFAULT)]
    board: String,
    /// Build on a git repository of Hopwise
    #[arg(long, value_name = "URL", conflicts_with = "release")]
    git: Option<String>,
    /// The commit or tag of that repository
    #[arg(long, value_name = "REV", requires = "git")]
    rev: Option<String>,
    /// The program to begin with
    #[arg(long, value_name = "NAME", default_value = "hello")]
    example: Example,
    /// Build on this release of Hopwise's crates
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
}

/// The programs to begin with.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Example {
    /// Boards blink, say hello to the host, answer the button, and double numbers on request
    Hello,
    /// Every board sends node 0 a reading each second
    Sensors,
    /// Node 0 asks every other board something
    Requests,
    /// A byte stream between two boards
    Streams,
    /// All boards compute a mean together
    Collectives,
}

/// A program and its test.
macro_rules! texts {
    ($name:literal) => {
        [
            include_str!(concat!("examples/", $name, ".rs.txt")),
            include_str!(concat!("examples/", $name, "_test.rs.txt")),
        ]
    };
}

impl Example {
    fn texts(self) -> [&'static str; 2] {
        match self {
            Example::Hello => texts!("hello"),
            Example::Sensors => texts!("sensors"),
            Example::Requests => texts!("requests"),
            Example::Streams => texts!("streams"),
            Example::Collectives => texts!("collectives"),
        }
    }
}

/// Where Hopwise's crates are, as a Cargo.toml says it.
enum Source<'a> {
    Path(Repository),
    Git(&'a str, Option<&'a str>),
    Release(&'a str),
}

impl Source<'_> {
    fn dependency(&self, folder: &str) -> Result<String, CliError> {
        let quoted = |text: &str| match text.contains(['"', '\\']) || text.contains(char::is_control) {
            true => Err(CliError::new(format_args!("'{text}' cannot stand in a Cargo.toml"))),
            false => Ok(format!("\"{text}\"")),
        };
        Ok(match self {
            Source::Path(repository) => {
                let path = repository.root().join(folder);
                format!("path = {}", quoted(&path.to_string_lossy())?)
            }
            Source::Git(url, None) => format!("git = {}", quoted(url)?),
            Source::Git(url, Some(rev)) => format!("git = {}, rev = {}", quoted(url)?, quoted(rev)?),
            Source::Release(version) => format!("version = {}", quoted(version)?),
        })
    }
}

pub(super) fn run(args: &NewAppArgs, repository: &RepositoryArg) -> Result<(), CliError> {
    let name = name_of(&args.folder)?;
    let board = parse_kind(&args.board).map_err(CliError::new)?;
    let source = match (&args.git, &args.release) {
        (Some(url), _) => Source::Git(url, args.rev.as_deref()),
        (None, Some(version)) => Source::Release(version),
        (None, None) => match Repository::find(repository.repo.as_deref()) {
            Err(NoRepository::Nowhere) => {
                return Err(CliError::new(
                    "say where Hopwise's crates are: run this inside its repository, or say --repo PATH, --git URL or --release VERSION",
                ));
            }
            found => Source::Path(found?),
        },
    };
    let files = files(name, board, args.example, &source)?;
    write(&args.folder, &files)?;
    let folder = args.folder.display();
    print(|out| {
        writeln!(out, "{folder}: a program for {} boards", board.name)?;
        writeln!(
            out,
            "  cd {folder} && cargo emulated          tests it on emulated boards"
        )?;
        writeln!(out, "  cd {folder} && cargo run --release     flashes one board")?;
        writeln!(out, "  hopwise emulate 'ring(4)' --app {folder}")
    })
}

fn name_of(folder: &Path) -> Result<&str, CliError> {
    let bad = || {
        let rules = "use letters, digits, - and _, beginning with a letter, and no reserved word";
        CliError::new(format_args!(
            "'{}' cannot be the name of a crate: {rules}",
            folder.display()
        ))
    };
    let name = folder.file_name().and_then(|name| name.to_str()).ok_or_else(bad)?;
    let is_right = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
        && name.len() <= LONGEST_NAME
        && !TAKEN.split_whitespace().any(|taken| taken == name.replace('_', "-"));
    if is_right { Ok(name) } else { Err(bad()) }
}

/// The files of the crate, and what is in them.
fn files(
    name: &str,
    board: &BoardKind,
    example: Example,
    source: &Source<'_>,
) -> Result<Vec<(&'static str, String)>, CliError> {
    let feature = |name: &str| format!("{name} = [\"hopwise-firmware/{name}\"]");
    let boards: Vec<String> = KINDS.iter().map(|kind| feature(kind.name)).collect();
    let families: Vec<String> = FAMILIES.split_whitespace().map(feature).collect();
    let crates = ["firmware", "app", "team", "host-sim/emulate"].map(|folder| source.dependency(folder));
    let [firmware, app, team, emulate] = crates;
    let (firmware, app, team, emulate) = (firmware?, app?, team?, emulate?);
    let [program, test] = example.texts();
    let fill = |template: &str| {
        template
            .replace("{name}", name)
            .replace("{boards}", &boards.join("\n"))
            .replace("{families}", &families.join("\n"))
            .replace("{board}", board.name)
            .replace("{chip}", board.chip)
            .replace("{firmware}", &firmware)
            .replace("{app}", &app)
            .replace("{team}", &team)
            .replace("{emulate}", &emulate)
    };
    let mut files = vec![
        ("Cargo.toml", fill(include_str!("Cargo.toml.txt"))),
        ("build.rs", fill(include_str!("build.rs.txt"))),
        ("rust-toolchain.toml", fill(include_str!("rust-toolchain.toml.txt"))),
        (".gitignore", "target\n".into()),
        ("README.md", fill(include_str!("README.md.txt"))),
        (".cargo/config.toml", fill(include_str!("config.toml.txt"))),
        ("src/main.rs", fill(include_str!("main.rs.txt"))),
        ("src/program.rs", program.into()),
        ("tests/Cargo.toml", fill(include_str!("tests_Cargo.toml.txt"))),
        ("tests/.cargo/config.toml", fill(include_str!("tests_config.toml.txt"))),
        ("tests/mesh.rs", test.into()),
    ];
    if let Source::Path(repository) = source {
        // The versions that are known to work together.
        for (from, to) in [
            ("firmware/Cargo.lock", "Cargo.lock"),
            ("Cargo.lock", "tests/Cargo.lock"),
        ] {
            let path = repository.root().join(from);
            let lock = std::fs::read_to_string(&path).map_err(|error| CliError::file(&path, error))?;
            files.push((to, lock));
        }
    }
    Ok(files)
}

fn write(folder: &Path, files: &[(&'static str, String)]) -> Result<(), CliError> {
    std::fs::create_dir(folder).map_err(|error| CliError::not_created(folder, &error))?;
    for (name, text) in files {
        let path = folder.join(name);
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(&path, text))
            .map_err(|error| CliError::output_file(&path, &error))?;
    }
    Ok(())
}
