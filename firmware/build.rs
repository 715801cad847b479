//! Gives the linker the memory layout of the chosen board, and the compiler the family of its chip.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The layout of this one is at the root of the repository; in a package, where that is not, the link in `memory/` has become a file.
const DEFAULT: &str = "nucleo-f446re";
const OTHERS: [&str; 6] = [
    "nucleo-f401re",
    "nucleo-f411re",
    "nucleo-g474re",
    "nucleo-h743zi",
    "nucleo-l476rg",
    "plain-f405rg",
];

fn main() {
    let chosen = |board: &&str| {
        let feature = board.replace('-', "_").to_uppercase();
        env::var_os(format!("CARGO_FEATURE_{feature}")).is_some()
    };
    let mut boards = OTHERS.iter().chain([&DEFAULT]).filter(|board| chosen(board));
    let (Some(board), None) = (boards.next(), boards.next()) else {
        panic!(
            "choose one board: --no-default-features --features BOARD, where BOARD is {DEFAULT} or one of {OTHERS:?}"
        );
    };
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let layout = match *board {
        DEFAULT if root.join("../memory.x").exists() => root.join("../memory.x"),
        other => root.join(format!("memory/{other}.x")),
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    fs::copy(&layout, Path::new(&out).join("memory.x")).unwrap();
    println!("cargo:rerun-if-changed={}", layout.display());
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-search={}", root.join("memory").display());
    println!("cargo:rerun-if-changed=memory/boot.x");
    // Serial ports and reset flags of the F4 differ from those of the other chips.
    println!("cargo:rustc-check-cfg=cfg(chip_f4)");
    if board.contains("-f4") {
        println!("cargo:rustc-cfg=chip_f4");
    }
    for argument in ["--nmagic", "-Tlink.x", "-Tboot.x", "-Tdefmt.x"] {
        println!("cargo:rustc-link-arg-bins={argument}");
        println!("cargo:rustc-link-arg-examples={argument}");
    }
}
