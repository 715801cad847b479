//! Gives the linker the memory layout of the chosen board, and the compiler the family of its chip.

use std::path::PathBuf;
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
    let memory = fs::read_to_string(&layout).unwrap();
    fs::write(out.join("layout.x"), &memory).unwrap();
    let memory = match env::var_os("CARGO_FEATURE_SECOND_SLOT") {
        Some(_) => exchange(&memory, "FLASH :", "NEXT  :"),
        None => memory,
    };
    fs::write(out.join("memory.x"), memory).unwrap();
    println!("cargo:rerun-if-changed={}", layout.display());
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-search={}", root.join("memory").display());
    for script in ["boot.x", "loader.x"] {
        println!("cargo:rerun-if-changed=memory/{script}");
    }
    // Serial ports and reset flags of the F4 differ from those of the other chips.
    println!("cargo:rustc-check-cfg=cfg(chip_f4)");
    if board.contains("-f4") {
        println!("cargo:rustc-cfg=chip_f4");
    }
    for argument in ["--nmagic", "-Tlink.x", "-Tboot.x", "-Tdefmt.x"] {
        println!("cargo:rustc-link-arg-bin=hopwise-firmware={argument}");
        println!("cargo:rustc-link-arg-examples={argument}");
    }
    for argument in ["--nmagic", "-Tloader.x"] {
        println!("cargo:rustc-link-arg-bin=hopwise-boot={argument}");
    }
}

/// A text in which two others are in each other's place.
fn exchange(text: &str, one: &str, other: &str) -> String {
    text.replace(one, "\0").replace(other, one).replace('\0', other)
}
