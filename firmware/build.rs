//! Gives the linker the memory layout of the chosen board, and the compiler its table and the family of its chip, all from the board's file.

use std::path::PathBuf;
use std::{env, fs};

use hopwise_boards::firmware::{family, layout, table};
use hopwise_boards::{KINDS, names};
use hopwise_origin::Origin;

fn main() {
    let mut chosen = KINDS.iter().filter(|board| {
        let feature = board.name.replace('-', "_").to_uppercase();
        env::var_os(format!("CARGO_FEATURE_{feature}")).is_some()
    });
    let (Some(board), None) = (chosen.next(), chosen.next()) else {
        panic!(
            "choose one board: --no-default-features --features BOARD, where BOARD is one of {}",
            names()
        );
    };
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    fs::write(out.join("board.rs"), table(board)).unwrap();
    let memory = layout(board);
    fs::write(out.join("layout.x"), &memory).unwrap();
    let memory = match env::var_os("CARGO_FEATURE_SECOND_SLOT") {
        Some(_) => exchange(&memory, "FLASH :", "NEXT  :"),
        None => memory,
    };
    fs::write(out.join("memory.x"), memory).unwrap();
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-search={}", root.join("memory").display());
    for script in ["boot.x", "loader.x"] {
        println!("cargo:rerun-if-changed=memory/{script}");
    }
    for board in KINDS.iter() {
        println!("cargo:rustc-check-cfg=cfg({})", family(board));
    }
    println!("cargo:rustc-cfg={}", family(board));
    fs::write(out.join("about.json"), about(board.name)).unwrap();
    for argument in ["--nmagic", "-Tlink.x", "-Tboot.x", "-Tdefmt.x"] {
        println!("cargo:rustc-link-arg-bin=hopwise-firmware={argument}");
        println!("cargo:rustc-link-arg-examples={argument}");
    }
    for argument in ["--nmagic", "-Tloader.x"] {
        println!("cargo:rustc-link-arg-bin=hopwise-boot={argument}");
    }
}

/// What `hopwise about` shows of an image.
fn about(board: &str) -> String {
    let sources = "Cargo.toml app/Cargo.toml app/src boards codec/Cargo.toml codec/src core/Cargo.toml core/src \
                   firmware/.cargo firmware/Cargo.lock firmware/Cargo.toml firmware/boot firmware/build.rs firmware/memory \
                   firmware/src host-sim/boards/build.rs host-sim/boards/src host-sim/origin/src node/Cargo.toml node/src runner/Cargo.toml runner/src";
    let Origin { commit, changed } = hopwise_origin::of("firmware/", sources);
    let commit = commit.map_or("null".into(), |commit| format!("\"{commit}\""));
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let features = names.filter_map(|name| name.strip_prefix("CARGO_FEATURE_").map(str::to_lowercase));
    let mut features: Vec<String> = features.map(|name| format!("\"{}\"", name.replace('_', "-"))).collect();
    features.sort();
    let (version, features) = (env::var("CARGO_PKG_VERSION").unwrap(), features.join(","));
    format!(
        r#"{{"board":"{board}","version":"{version}","commit":{commit},"changed":{changed},"features":[{features}]}}"#
    )
}

/// A text in which two others are in each other's place.
fn exchange(text: &str, one: &str, other: &str) -> String {
    text.replace(one, "\0").replace(other, one).replace('\0', other)
}
