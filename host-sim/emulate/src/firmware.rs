//! The firmware image: built from this repository when it is needed.

use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "thumbv7em-none-eabihf";
const ALL_NETWORKS: &str = "all-networks";

/// The boards that there is firmware for. The first is the default.
pub const BOARDS: [&str; 6] = [
    "nucleo-f446re",
    "nucleo-f401re",
    "nucleo-f411re",
    "nucleo-g474re",
    "nucleo-h743zi",
    "nucleo-l476rg",
];

/// Why there is no image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotBuildFirmware {
    /// Nothing compiles for ARM.
    #[error("there is no compiler for ARM: run tools/arm-target once")]
    NoCompiler,
    /// The compiler failed.
    #[error("the firmware for {0} does not build: {1}")]
    Failed(String, String),
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The toolchain that compiles for ARM, by the name that rustup knows it by.
pub fn toolchain() -> Option<String> {
    let output = Command::new(repository().join("tools/arm-target"))
        .arg("--check")
        .output()
        .ok()?;
    let name = String::from_utf8_lossy(&output.stdout).trim().to_string();
    (output.status.success() && !name.is_empty()).then_some(name)
}

fn target_folder(image: &str) -> PathBuf {
    repository().join("target/firmware").join(image)
}

fn elf_in(folder: &Path) -> PathBuf {
    folder.join(TARGET).join("release/hopwise-firmware")
}

/// Where the ELF file for a board is, once it has been built.
pub fn path(board: &str) -> PathBuf {
    elf_in(&target_folder(board))
}

/// Builds the firmware for a board, as far as it has changed, and returns its ELF file.
pub fn build(board: &str) -> Result<PathBuf, CannotBuildFirmware> {
    compile(board, &[ALL_NETWORKS], board, None)
}

/// The same with some families of networks only, by the names of the firmware's features. Base graphs are in every image.
pub fn build_with(board: &str, families: &[&str]) -> Result<PathBuf, CannotBuildFirmware> {
    let image = [&[board, "with"], families].concat().join("-");
    compile(board, families, &image, None)
}

/// The same with all networks, and in its log what is of a level of `DEFMT_LOG`.
pub fn build_logging(board: &str, level: &str) -> Result<PathBuf, CannotBuildFirmware> {
    compile(board, &[ALL_NETWORKS], &format!("{board}-{level}"), Some(level))
}

fn compile(board: &str, families: &[&str], image: &str, level: Option<&str>) -> Result<PathBuf, CannotBuildFirmware> {
    let target = target_folder(image);
    let failed = |reason: String| CannotBuildFirmware::Failed(board.to_string(), reason);
    let toolchain = toolchain().ok_or(CannotBuildFirmware::NoCompiler)?;
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "build",
            "--release",
            "--quiet",
            "--locked",
            "--no-default-features",
            "--features",
        ])
        .arg([&[board], families].concat().join(","))
        .current_dir(repository().join("firmware"))
        .env("RUSTUP_TOOLCHAIN", toolchain)
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS")
        // Set by the cargo that may run this, for its own compiler.
        .env_remove("CARGO")
        .env_remove("RUSTC");
    match level {
        Some(level) => cargo.env("DEFMT_LOG", level),
        // What the images have in common is compiled once. The log's level goes through all of them.
        None => cargo.env("CARGO_BUILD_BUILD_DIR", target_folder("build")),
    };
    let output = cargo.output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(elf_in(&target))
}
