//! Firmware that comes with a release: beside the command, and for the default board inside it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hopwise_files::NewFile;

/// The images inside this command, packed: none unless it was built with them.
const INSIDE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/prebuilt.rs"));
/// The folder of images in a release.
const BESIDE: &str = "hopwise-images";

/// An image that comes with this command, if there is one.
pub(super) fn image(name: &str) -> io::Result<Option<PathBuf>> {
    let file = format!("{name}.elf");
    let command = std::env::current_exe()?;
    let beside = command.with_file_name(BESIDE).join(&file);
    if beside.is_file() {
        return Ok(Some(beside));
    }
    match INSIDE.iter().find(|(inside, _)| *inside == name) {
        Some((_, packed)) => unpack(packed, &cache(), &file).map(Some),
        None => Ok(None),
    }
}

/// Where this user keeps what can be made again.
fn cache() -> PathBuf {
    let variable = |name| {
        std::env::var_os(name)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let home = || variable("HOME").map(|home| home.join(".cache"));
    let folder = variable("XDG_CACHE_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(home);
    folder.unwrap_or_else(std::env::temp_dir).join("hopwise")
}

/// Writes an image into a folder, unless it is there.
fn unpack(packed: &[u8], folder: &Path, file: &str) -> io::Result<PathBuf> {
    let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, hopwise_files::MAX_IMAGE as usize);
    let image = unpacked.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
    std::fs::create_dir_all(folder)?;
    let path = folder.join(file);
    // That of another version, or of somebody who wishes to be flashed, is replaced.
    if hopwise_files::read(&path, hopwise_files::MAX_IMAGE).ok().as_deref() != Some(&image[..]) {
        let mut new = NewFile::create(&path)?;
        new.write_all(&image)?;
        new.finish()?;
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_what_was_packed_whatever_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let image: Vec<u8> = (0..100_000_u32).map(|number| (number / 7) as u8).collect();
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&image, 6);
        for before in [None, Some("another"), Some("")] {
            if let Some(text) = before {
                std::fs::write(folder.path().join("x.elf"), text).expect("a file");
            }
            let path = unpack(&packed, folder.path(), "x.elf").expect("an image");
            assert!(std::fs::read(&path).expect("a file") == image);
        }
        let written = |path: &Path| path.metadata().and_then(|file| file.modified()).expect("a time");
        let path = folder.path().join("x.elf");
        let before = written(&path);
        unpack(&packed, folder.path(), "x.elf").expect("the same");
        assert_eq!(written(&path), before, "it was there");
        assert!(unpack(&packed[..100], folder.path(), "x.elf").is_err());
    }
}
