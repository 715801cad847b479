//! Files that are whole or what they were.
//!
//! What is written goes into a new file beside the old one, which takes its place when all of it is on the disk. A program that is
//! ended before leaves the old file as it was, and beside it what it had written, as `NAME.XXXXXX.partial`.
//!
//! - [`write_whole`]: a text that is there already; [`create_whole`]: the same, for a file that must not be there;
//! - [`NewFile`]: what is written bit by bit; [`create_private`]: what others may not read;
//! - [`check_writable`]: whether they could, told before the work is done;
//! - [`read_text`]: a text of limited size, so that what never ends is not read until memory does;
//! - [`is_same_file`]: whether two paths lead to one file, by whatever spelling or link.
//!
//! ```
//! use hopwise_files::{is_same_file, write_whole};
//!
//! let path = std::env::temp_dir().join(format!("hopwise-files-{}", std::process::id()));
//! write_whole(&path, "whole\n")?;
//! assert_eq!(std::fs::read_to_string(&path)?, "whole\n");
//! assert!(is_same_file(&path, &path.parent().unwrap().join(".").join(path.file_name().unwrap())));
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), std::io::Error>(())
//! ```

/// Its examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// Writes a file that is there in full or not at all, whoever else writes it.
pub fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(text.as_ref())?;
    file.finish()
}

/// Writes a file that must not be there; it is there in full or not at all.
pub fn create_whole(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = NewFile::beside(path.to_path_buf())?;
    file.write_all(text.as_ref())?;
    file.out.flush()?;
    let beside = file.beside.ok_or(io::ErrorKind::InvalidInput)?;
    beside.persist_noclobber(path).map_err(|error| error.error)
}

/// The longest text that a person or a script writes for us. A file may be anything, also one without an end.
pub const MAX_TEXT: u64 = 64 << 20;
/// The largest image with debug information, or package of images.
pub const MAX_IMAGE: u64 = 256 << 20;

/// Reads a file of at most so many bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if count as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// Begins a file that must not be there and that only its owner may read, where the system can tell them apart.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether [`NewFile::create`] could write a file. Nothing is changed.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match path.metadata() {
        // Who opens and closes a pipe has told its reader that this was all.
        Ok(there) if !there.is_file() && !there.is_dir() => Ok(()),
        _ => NewFile::create(path).map(drop),
    }
}

pub fn is_same_file(one: &Path, other: &Path) -> bool {
    // Not opened to find out: a pipe would wait for its other end.
    #[cfg(unix)]
    let file = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        path.metadata().ok().map(|about| (about.dev(), about.ino()))
    };
    #[cfg(not(unix))]
    let file = |path: &Path| path.canonicalize().ok();
    file(one).is_some_and(|one| Some(one) == file(other))
}

/// A file that is being written. Until [`NewFile::finish`] the file of that name stays what it was; if that never comes, so
/// does the file, and what was written is removed.
pub struct NewFile {
    out: BufWriter<File>,
    /// Where it is to be. A link has been followed: it stays one.
    path: PathBuf,
    /// Where it is until then, unless it is written to its place at once.
    beside: Option<TempPath>,
}

impl NewFile {
    /// Begins a file. One that cannot be written is noticed now.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = followed(path);
        match path.metadata() {
            // A pipe or a terminal has no place to take.
            Ok(there) if !there.is_file() => Self::at_once(OpenOptions::new().write(true).open(&path)?, path),
            Ok(there) => {
                // A file that may not be written may not be replaced either.
                drop(OpenOptions::new().append(true).open(&path)?);
                let new = Self::beside(path)?;
                new.out.get_ref().set_permissions(there.permissions())?;
                Ok(new)
            }
            Err(_) => Self::beside(path),
        }
    }

    /// Begins a file that is of use before it is whole, such as a trace. Where there is none, it is written to its place at once;
    /// a file that is there is replaced when the new one is whole, all the same.
    pub fn create_live(path: &Path) -> io::Result<Self> {
        let path = followed(path);
        match File::create_new(&path) {
            Ok(file) => Self::at_once(file, path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::create(&path),
            Err(error) => Err(error),
        }
    }

    fn at_once(file: File, path: PathBuf) -> io::Result<Self> {
        Ok(NewFile {
            out: BufWriter::new(file),
            path,
            beside: None,
        })
    }

    fn beside(path: PathBuf) -> io::Result<Self> {
        let mut begin = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
        begin.push(".");
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(&begin).suffix(".partial");
        // As the system makes files: less what the user's mask takes away.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder)?;
        let (file, beside) = file.into_parts();
        Ok(NewFile {
            out: BufWriter::new(file),
            path,
            beside: Some(beside),
        })
    }

    /// All of it is written: it takes its place.
    pub fn finish(self) -> io::Result<()> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        match self.beside {
            Some(beside) => {
                file.sync_all()?;
                beside.persist(&self.path).map_err(|error| error.error)
            }
            None => Ok(()),
        }
    }

    /// There will be no more of it: what there is stays where it is, and the file of that name is what it was.
    pub fn keep_partial(self) -> io::Result<PathBuf> {
        self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        match self.beside {
            Some(beside) => beside.keep().map_err(|error| error.error),
            None => Ok(self.path),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Where a path leads. A link need not lead to something.
fn followed(path: &Path) -> PathBuf {
    let link = || Some(path.parent()?.join(path.read_link().ok()?));
    let place = path.canonicalize().ok().or_else(link);
    place.unwrap_or_else(|| path.to_path_buf())
}

#[cfg(all(test, unix))]
mod tests;
