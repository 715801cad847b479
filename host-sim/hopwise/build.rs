//! Puts firmware into the command: the images of the default board in the folder that `HOPWISE_PREBUILT` names, as `tools/images` builds them. A
//! release has them; otherwise there are none, and firmware is built when it is needed.

use std::path::{Path, PathBuf};

/// With which the images of the default board begin.
const BOARD: &str = "nucleo-f446re";
const LEVEL: u8 = 9;

fn main() {
    println!("cargo::rerun-if-env-changed=HOPWISE_PREBUILT");
    let folder = std::env::var_os("HOPWISE_PREBUILT").filter(|folder| !folder.is_empty());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut list = String::new();
    for name in ["", "-boot", "-second-slot"].map(|part| format!("{BOARD}{part}")) {
        let Some(folder) = &folder else { continue };
        let path = Path::new(folder).join(format!("{name}.elf"));
        println!("cargo::rerun-if-changed={}", path.display());
        let image = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&image, LEVEL);
        let file = out.join(format!("{name}.zlib"));
        std::fs::write(&file, packed).expect("the folder of cargo's can be written");
        list += &format!("({name:?}, include_bytes!({file:?}) as &[u8]),");
    }
    std::fs::write(out.join("prebuilt.rs"), format!("&[{list}]")).expect("the folder of cargo's can be written");
}
