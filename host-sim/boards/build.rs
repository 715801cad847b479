//! Lists the files in `boards/`, so that a board is there as soon as its file is.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    // Where links are not checked out as links, the one in this folder leads nowhere; in a package it has become a folder.
    let folders = ["../../boards", "boards"].map(|folder| root.join(folder));
    let folder = folders.iter().find(|folder| folder.is_dir());
    let folder = folder.expect("a folder of boards");
    println!("cargo:rerun-if-changed={}", folder.display());
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    let mut list = String::from("[\n");
    for path in files {
        let name = path.file_stem().unwrap().to_str().expect("a name in ASCII");
        writeln!(list, "({name:?}, include_str!({path:?})),").unwrap();
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    fs::write(out.join("files.rs"), list + "]").unwrap();
}
