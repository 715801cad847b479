//! Programs of users: crates outside the repository, as `hopwise new-app` writes them, and images of theirs.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hopwise_core::Network;
use hopwise_emulator::boards::{BOARDS, BoardKind};
use hopwise_emulator::image::Image;
use serde_json::Value;

use crate::firmware::{is_news, target_folder, toolchain};
use crate::repository::Repository;
use crate::setup::configuration_slots;

/// Why there is no image of a program: a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoApp(String);

/// The board that an image is for; `None` if it does not say.
pub fn board_of(image: &Image) -> Option<&'static BoardKind> {
    let is_for = |board: &BoardKind| {
        image
            .address_of(&hopwise_boards::firmware::symbol(board.name))
            .is_some()
    };
    BOARDS.iter().copied().find(|board| is_for(board))
}

/// The features of the firmware that a network needs: its family, and lifts. Base graphs are in every image.
fn families(network: &Network) -> Vec<&'static str> {
    let lift = network.to_string().contains("lift(").then_some("lift");
    network.family().feature().into_iter().chain(lift).collect()
}

/// The image of a program for a board, as an ELF file: `path` is that, or a crate, which is built as far as it has changed, with what the network
/// needs. `told` hears, line by line, what there is to wait for.
pub fn elf(path: &Path, board: &str, network: &Network, told: impl FnMut(&str)) -> Result<PathBuf, NoApp> {
    let name = path.display();
    let no = |why: &dyn Display| NoApp(format!("{name}: {why}"));
    let elf = match path.is_dir() {
        true if path.join("Cargo.toml").is_file() => build(path, board, network, told)?,
        false if path.is_file() => path.to_path_buf(),
        _ => {
            let why = "there is neither a crate nor an image: a crate is a folder with a Cargo.toml, `hopwise new-app` writes one";
            return Err(no(&why));
        }
    };
    let bytes = hopwise_files::read(&elf, hopwise_files::MAX_IMAGE).map_err(|error| no(&error))?;
    let image = Image::from_elf(&bytes).map_err(|error| no(&error))?;
    match board_of(&image) {
        _ if configuration_slots(&image).is_none() => Err(NoApp(format!(
            "{name} is not built on hopwise-firmware: it has no place for the configuration"
        ))),
        Some(kind) if kind.name != board => {
            let image = kind.name;
            Err(NoApp(format!(
                "{name} is an image for {image}, and the board is a {board}"
            )))
        }
        _ => Ok(elf),
    }
}

fn build(folder: &Path, board: &str, network: &Network, told: impl FnMut(&str)) -> Result<PathBuf, NoApp> {
    let name = folder.display().to_string();
    let package = package_of(folder);
    let mut cargo = cargo(folder);
    if let Some(repository) = repository_of(folder, &package) {
        // What the firmware has compiled is not compiled again.
        cargo.env("CARGO_BUILD_BUILD_DIR", target_folder(&repository, "build"));
        // Where the compiler for ARM is not the one that rustup would take, the repository knows which.
        if let Some(toolchain) = toolchain(&repository) {
            cargo.env("RUSTUP_TOOLCHAIN", toolchain);
        }
    }
    cargo.args([
        "build",
        "--release",
        "--bins",
        "--message-format=json-render-diagnostics",
    ]);
    let wanted = [vec![board], families(network)].concat();
    if let Some(features) = to_choose(&package["features"], &wanted) {
        cargo.args(["--no-default-features", "--features", &features]);
    }
    built(&mut cargo, name, told)
}

/// The one program that a run of cargo makes.
fn built(cargo: &mut Command, name: String, mut told: impl FnMut(&str)) -> Result<PathBuf, NoApp> {
    let no_cargo = |error| NoApp(format!("{name}: cargo cannot be run: {error}"));
    let running = cargo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut running = running.map_err(no_cargo)?;
    let stdout = running.stdout.take();
    let reports = std::thread::spawn(move || {
        let mut text = Vec::new();
        stdout.map(|mut stream| stream.read_to_end(&mut text));
        text
    });
    let lines = running.stderr.take().into_iter();
    let lines = lines.flat_map(|stream| BufReader::new(stream).lines().map_while(Result::ok));
    lines.filter(|line| is_news(line)).for_each(|line| told(&line));
    if !running.wait().map_err(no_cargo)?.success() {
        return Err(NoApp(format!("{name} does not build; cargo says why above")));
    }
    let mut programs = programs(&reports.join().unwrap_or_default());
    match (programs.pop(), programs.len()) {
        (Some(program), 0) => Ok(program),
        (last, others) => {
            let programs = others + usize::from(last.is_some());
            let why = "one is needed, or the ELF file of one";
            Err(NoApp(format!("{name} has {programs} programs; {why}")))
        }
    }
}

/// Packages that programs for boards depend on and that are for chips.
const FOR_CHIPS: [&str; 4] = ["cortex-m", "embassy-executor", "embassy-stm32", "hopwise-firmware"];

/// The program of a crate for this machine, as an executable for [`hopwise_process::main`]: `path` is that, or a crate, which is built as far as it has
/// changed. Its source is what runs on boards, `src/program.rs`; only what is around it is another.
///
/// [`hopwise_process::main`]: https://docs.rs/hopwise-process
pub fn for_host(path: &Path, told: impl FnMut(&str)) -> Result<PathBuf, NoApp> {
    let name = path.display().to_string();
    if path.is_file() {
        return Ok(path.to_path_buf());
    }
    let unreadable = |error| NoApp(format!("{name}: {error}"));
    let program = path.join("src/program.rs").canonicalize().map_err(unreadable)?;
    let package = package_of(path);
    let repository = repository_of(path, &package);
    let folder = path.join("target/hopwise-node");
    std::fs::create_dir_all(folder.join("src")).map_err(unreadable)?;
    let write = |file: &str, text: String| match std::fs::read_to_string(folder.join(file)) {
        // What is the same is not built again.
        Ok(before) if before == text => Ok(()),
        _ => std::fs::write(folder.join(file), text).map_err(unreadable),
    };
    if !folder.join("Cargo.lock").exists() {
        // The versions that the crate has; without them cargo chooses.
        let _ = std::fs::copy(path.join("Cargo.lock"), folder.join("Cargo.lock"));
    }
    write("Cargo.toml", host_manifest(&package, repository.as_ref()))?;
    let main = format!(
        "#[path = {program:?}]\nmod program;\n\nfn main() -> std::io::Result<std::convert::Infallible> {{\n    hopwise_process::main(program::program)\n}}\n"
    );
    write("src/main.rs", main)?;
    let mut cargo = cargo(&folder);
    cargo.args([
        "build",
        "--target",
        "host-tuple",
        "--message-format=json-render-diagnostics",
    ]);
    built(&mut cargo, name, told)
}

/// The manifest of a crate around a program: what the program depends on, and a process.
fn host_manifest(package: &Value, repository: Option<&Repository>) -> String {
    let mut text = format!(
        "[package]\nname = \"{}-node\"\n",
        package["name"].as_str().unwrap_or("program")
    );
    // A node waits most of the time, and its user for the build.
    text += "edition = \"2024\"\npublish = false\n\n[workspace]\n\n[profile.dev]\nopt-level = 1\ndebug = false\n\n[dependencies]\n";
    let process = match repository {
        Some(repository) => format!("path = {:?}", repository.root().join("host-sim/process")),
        None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
    };
    text += &format!("hopwise-process = {{ {process}, features = [\"defmt\"] }}\n");
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let name = dependency["name"].as_str().unwrap_or_default();
        let is_normal = dependency["kind"].is_null() && dependency["optional"] != true;
        if !is_normal || FOR_CHIPS.iter().any(|chips| name.starts_with(chips)) {
            continue;
        }
        let from = match dependency["path"].as_str() {
            Some(path) => format!("path = {path:?}"),
            None => format!("version = {}", dependency["req"]),
        };
        let (features, default) = (&dependency["features"], &dependency["uses_default_features"]);
        text += &format!("{name} = {{ {from}, features = {features}, default-features = {default} }}\n");
    }
    text
}

/// Cargo in a crate's folder, as its user would run it.
fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(folder)
        // Set by the cargo that may run this, for its own compiler.
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("RUSTFLAGS")
        .stdin(Stdio::null());
    cargo
}

/// The repository that is meant, or that a crate is in, or that it depends on by path.
fn repository_of(folder: &Path, package: &Value) -> Option<Repository> {
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let mut paths = dependencies.filter(|dependency| dependency["name"] == "hopwise-firmware");
    let on_firmware = || Repository::around(Path::new(paths.find_map(|firmware| firmware["path"].as_str())?)).ok();
    let meant = Repository::find(None).or_else(|_| Repository::around(folder));
    meant.ok().or_else(on_firmware)
}

/// What cargo says of a crate; nothing if it does not.
fn package_of(folder: &Path) -> Value {
    let output = cargo(folder)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output();
    let read = |output: std::process::Output| serde_json::from_slice(&output.stdout).ok();
    let metadata = output.ok().and_then(read);
    let metadata: Value = metadata.unwrap_or_default();
    let manifest = folder.join("Cargo.toml").canonicalize().unwrap_or_default();
    let packages = metadata["packages"].as_array();
    let package = packages.and_then(|packages| {
        let is_it = |package: &&Value| package["manifest_path"].as_str().map(Path::new) == Some(&manifest);
        packages.iter().find(is_it)
    });
    package.cloned().unwrap_or_default()
}

/// The features to build a crate with, of those that are wanted, the board first; `None` for its default: it may be a crate that cannot be told,
/// or one that has all families in every image.
fn to_choose(features: &Value, wanted: &[&str]) -> Option<String> {
    let has = |feature: &str| !features[feature].is_null();
    let board = *wanted.first().filter(|board| has(board))?;
    if has("rdn") && wanted.iter().all(|feature| has(feature)) {
        return Some(wanted.join(","));
    }
    let default = features["default"].as_array();
    let is_default = default.is_some_and(|default| default.iter().any(|feature| feature == board));
    (!is_default).then(|| board.into())
}

/// The programs among what cargo says that it has made.
fn programs(reports: &[u8]) -> Vec<PathBuf> {
    let values = reports
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    values
        .filter_map(|value| Some(PathBuf::from(value["executable"].as_str()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_what_cargo_says() {
        let reports = b"{\"reason\":\"compiler-artifact\",\"executable\":null}\nnoise\n\
            {\"reason\":\"compiler-artifact\",\"executable\":\"/x/app\"}\n{\"reason\":\"build-finished\"}\n";
        assert_eq!(programs(reports), [PathBuf::from("/x/app")]);
    }

    #[test]
    fn programs_are_built_with_what_the_mesh_needs() {
        let families = |expression: &str| families(&expression.parse().expect("a network"));
        assert_eq!(families("ring(4)"), [] as [&str; 0]);
        assert_eq!(families("bsw(path(2))"), ["rdn"]);
        assert_eq!(families("mcgee"), ["lift"]);
        assert_eq!(families("rdn(lift(8,bcc2,b4c7),1)"), ["rdn", "lift"]);
        let features = serde_json::json!({ "default": ["a"], "a": [], "b": [], "rdn": [], "re": [] });
        let chosen = |wanted: &[&str]| to_choose(&features, wanted);
        assert_eq!(chosen(&["a", "re"]).as_deref(), Some("a,re"));
        assert_eq!(chosen(&["b"]).as_deref(), Some("b"));
        // A family that the crate does not know: it is built as it is by default, or for another board.
        assert_eq!(chosen(&["a", "wk"]), None);
        assert_eq!(chosen(&["b", "wk"]).as_deref(), Some("b"));
        assert_eq!(chosen(&["c"]), None);
        let old = serde_json::json!({ "default": ["a"], "a": [], "b": [] });
        assert_eq!(
            (to_choose(&old, &["a"]), to_choose(&old, &["b"])),
            (None, Some("b".into()))
        );
    }

    #[test]
    fn what_is_no_program_is_said() {
        let network: Network = "ring(3)".parse().expect("a network");
        let sentence = |path: &Path| {
            elf(path, BOARDS[0].name, &network, |_| {})
                .expect_err("no program")
                .to_string()
        };
        assert!(sentence(Path::new("/nowhere")).starts_with("/nowhere: there is neither a crate nor an image"));
        assert!(sentence(Path::new("src")).starts_with("src: there is neither a crate nor an image"));
        assert!(sentence(Path::new("Cargo.toml")).starts_with("Cargo.toml: "));
    }
}
