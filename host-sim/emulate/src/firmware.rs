//! The firmware image: built from the repository when it is needed.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::repository::{NoRepository, Repository};

const TARGET: &str = "thumbv7em-none-eabihf";
const ALL_NETWORKS: &str = "all-networks";
/// Keys, encryption, clock and update.
const SERVICES: &str = "services";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotBuildFirmware {
    #[error(transparent)]
    NoRepository(#[from] NoRepository),
    #[cfg_attr(unix, error("there is no ARM compiler: run tools/arm-target once"))]
    #[cfg_attr(not(unix), error("there is no ARM compiler: run rustup target add {TARGET} once"))]
    NoCompiler,
    #[error("the firmware for {board} cannot be built: {error}")]
    NoCargo { board: String, error: String },
    #[error("the firmware for {board} does not build; cargo says why above")]
    Failed { board: String },
}

/// Which image to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firmware<'a> {
    board: &'a str,
    /// The firmware's features; base graphs are in every image.
    families: Vec<&'a str>,
    log_level: Option<&'a str>,
    /// One of the firmware's examples, instead of what is flashed.
    example: Option<&'a str>,
    /// Linked for the second slot of the flash instead of the first.
    second_slot: bool,
}

impl<'a> Firmware<'a> {
    /// For a board, with all networks, as it is flashed.
    pub fn new(board: &'a str) -> Self {
        Firmware {
            board,
            families: vec![ALL_NETWORKS],
            log_level: None,
            example: None,
            second_slot: false,
        }
    }

    /// Linked for the second slot of the flash, as an update of a board that runs from the first.
    pub fn for_second_slot(self) -> Self {
        Firmware {
            second_slot: true,
            ..self
        }
    }

    /// With some families of networks only, by the names of the firmware's features.
    pub fn with_families(self, families: &[&'a str]) -> Self {
        let families = families.to_vec();
        Firmware { families, ..self }
    }

    /// With what is of a level of `DEFMT_LOG` in its log.
    pub fn with_log_level(self, level: &'a str) -> Self {
        let log_level = Some(level);
        Firmware { log_level, ..self }
    }

    /// One of the programs in `firmware/examples` instead of what is flashed.
    pub fn with_example(self, name: &'a str) -> Self {
        let example = Some(name);
        Firmware { example, ..self }
    }

    fn name(&self) -> String {
        let mut name = self.board.to_string();
        if self.families != [ALL_NETWORKS] {
            name = format!("{name}-with-{}", self.families.join("-"));
        }
        if self.example.is_some() {
            name.push_str("-examples");
        }
        if self.second_slot {
            name.push_str("-second-slot");
        }
        match self.log_level {
            Some(level) => format!("{name}-{level}"),
            None => name,
        }
    }

    /// Where its ELF file is once it has been built.
    pub fn path(&self, repository: &Repository) -> PathBuf {
        let folder = target_folder(repository, &self.name());
        let folder = folder.join(TARGET).join("release");
        match self.example {
            Some(example) => folder.join("examples").join(example),
            None => folder.join("hopwise-firmware"),
        }
    }

    /// Where the ELF file of the board's boot loader is once the image that is flashed has been built.
    pub fn loader_path(&self, repository: &Repository) -> PathBuf {
        self.path(repository).with_file_name("hopwise-boot")
    }

    /// Builds it as far as it has changed, and returns its ELF file. `told` hears, line by line, what there is to wait for;
    /// nothing if the file is up to date.
    pub fn build(&self, repository: &Repository, mut told: impl FnMut(&str)) -> Result<PathBuf, CannotBuildFirmware> {
        let elf = self.path(repository);
        let board = self.board.to_string();
        let toolchain = toolchain(repository).ok_or(CannotBuildFirmware::NoCompiler)?;
        let mut cargo = self.cargo(repository, &toolchain, &["build", "--release"]);
        cargo.args(self.example.into_iter().flat_map(|name| ["--example", name]));
        let mut running = cargo.spawn().map_err(|error| CannotBuildFirmware::NoCargo {
            board: board.clone(),
            error: error.to_string(),
        })?;
        let lines = running.stderr.take().into_iter();
        let lines = lines.flat_map(|stream| BufReader::new(stream).lines().map_while(Result::ok));
        let mut news = lines.filter(|line| is_news(line)).peekable();
        if news.peek().is_some() {
            told(&match elf.exists() {
                false => format!("building the firmware for {board}: this happens once and takes a few minutes"),
                true => format!("building the firmware for {board} again: its sources have changed"),
            });
        }
        let packages = if elf.exists() {
            0
        } else {
            self.packages(repository, &toolchain)
        };
        let mut compiled = 0;
        news.for_each(
            |line| match line.trim_start().starts_with("Compiling ") && packages > 0 {
                true => {
                    compiled += 1;
                    told(&format!("{line} ({compiled} of {packages} at most)"));
                }
                false => told(&line),
            },
        );
        match running.wait() {
            Ok(status) if status.success() => Ok(elf),
            _ => Err(CannotBuildFirmware::Failed { board }),
        }
    }

    fn features(&self) -> Vec<&'a str> {
        let mut features = vec![self.board, SERVICES];
        features.extend(&self.families);
        features.extend(self.second_slot.then_some("second-slot"));
        features
    }

    /// How many packages there are to compile; 0 if that is unknown.
    fn packages(&self, repository: &Repository, toolchain: &str) -> usize {
        let arguments = ["tree", "--target", TARGET, "--edges=normal,build", "--prefix=none"];
        let mut tree = self.cargo(repository, toolchain, &arguments);
        let output = tree.stderr(Stdio::null()).stdout(Stdio::piped()).output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        // What was said before is said again with a mark.
        let packages = text.lines().map(|line| line.trim_end_matches(" (*)"));
        packages.collect::<BTreeSet<_>>().len()
    }

    fn cargo(&self, repository: &Repository, toolchain: &str, arguments: &[&str]) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .args(arguments)
            .args(["--locked", "--no-default-features", "--features"])
            .arg(self.features().join(","))
            .current_dir(repository.root().join("firmware"))
            .env("RUSTUP_TOOLCHAIN", toolchain)
            .env("CARGO_TARGET_DIR", target_folder(repository, &self.name()))
            .env_remove("RUSTFLAGS")
            // Set by the cargo that may run this, for its own compiler.
            .env_remove("CARGO")
            .env_remove("RUSTC")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        match self.log_level {
            Some(level) => cargo.env("DEFMT_LOG", level),
            // What the images have in common is compiled once. The log's level goes through all of them.
            None => cargo.env("CARGO_BUILD_BUILD_DIR", target_folder(repository, "build")),
        };
        cargo
    }
}

/// Whether a line of cargo's tells more than that an image is up to date, or that another cargo is at work.
pub(crate) fn is_news(line: &str) -> bool {
    let line = line.trim_start();
    !line.starts_with("Finished") && !line.starts_with("Blocking")
}

pub(crate) fn target_folder(repository: &Repository, name: &str) -> PathBuf {
    repository.root().join("target/firmware").join(name)
}

/// The toolchain that compiles for ARM, by the name that rustup knows it by. Where there is no shell, the active one must.
#[cfg(not(unix))]
pub(crate) fn toolchain(repository: &Repository) -> Option<String> {
    let said = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(repository.root()).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let name = said("rustup", &["show", "active-toolchain"])?;
    let name = name.split_whitespace().next()?.to_string();
    let sysroot = said("rustc", &[&format!("+{name}"), "--print", "sysroot"])?;
    let library = PathBuf::from(sysroot).join("lib/rustlib").join(TARGET);
    library.is_dir().then_some(name)
}

/// The toolchain that compiles for ARM, by the name that rustup knows it by. If there is none, one is installed: on a terminal, the user is asked
/// first.
#[cfg(unix)]
pub(crate) fn toolchain(repository: &Repository) -> Option<String> {
    let mut command = Command::new(repository.root().join("tools/arm-target"));
    let output = command.stdin(Stdio::inherit()).stderr(Stdio::inherit()).output().ok()?;
    let name = String::from_utf8_lossy(&output.stdout).trim().to_string();
    (output.status.success() && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_is_up_to_date_is_no_news() {
        assert!(!is_news(
            "    Finished `release` profile [optimized + debuginfo] target(s) in 0.05s"
        ));
        assert!(!is_news("    Blocking waiting for file lock on build directory"));
        assert!(is_news("   Compiling hopwise-core v0.1.0"));
        assert!(is_news("error: could not compile"));
    }

    #[test]
    fn every_image_has_a_file_of_its_own() {
        let stock = Firmware::new("nucleo-f446re");
        let images = [
            stock.clone(),
            Firmware::new("nucleo-f401re"),
            stock.clone().with_families(&[]),
            stock.clone().with_families(&["rdn"]),
            stock.clone().with_log_level("trace"),
            stock.clone().with_example("chat"),
            stock.clone().for_second_slot(),
        ];
        let names: std::collections::BTreeSet<String> = images.iter().map(Firmware::name).collect();
        assert_eq!(names.len(), images.len(), "{names:?}");
    }
}
