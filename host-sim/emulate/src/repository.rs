//! Where Hopwise's sources are. The firmware is built from them, and no path of theirs is compiled in.

use std::path::{Path, PathBuf};

/// The variable that says where the repository is.
pub const VARIABLE: &str = "HOPWISE_REPO";

/// The file by which a folder is known to be the repository.
const MARK: &str = "firmware/Cargo.toml";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRepository {
    /// Nobody has said where it is, and it is not around the working folder.
    #[error(
        "the firmware is built from Hopwise's repository: run this inside it, or say where it is with --repo PATH or {VARIABLE}, \
         or give a built image with --elf, or a folder of them with --images"
    )]
    Nowhere,
    #[error("{0} is not Hopwise's repository: it has no {MARK} of hopwise-firmware")]
    NotThere(String),
}

/// A checkout of Hopwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// As said; else as the variable `HOPWISE_REPO` says; else the one that the working folder is in.
    pub fn find(said: Option<&Path>) -> Result<Self, NoRepository> {
        if let Some(path) = said {
            return Self::at(path);
        }
        match std::env::var_os(VARIABLE) {
            Some(path) if !path.is_empty() => Self::at(Path::new(&path)),
            _ => Self::around(&std::env::current_dir().unwrap_or_default()),
        }
    }

    /// The repository whose root is this folder.
    pub fn at(path: &Path) -> Result<Self, NoRepository> {
        let root = path.canonicalize().ok().filter(|root| is_repository(root));
        let root = root.ok_or_else(|| NoRepository::NotThere(path.display().to_string()))?;
        Ok(Repository { root })
    }

    /// The repository that a folder is in.
    pub fn around(folder: &Path) -> Result<Self, NoRepository> {
        let root = folder.ancestors().find(|folder| is_repository(folder));
        let root = root.ok_or(NoRepository::Nowhere)?.to_path_buf();
        Ok(Repository { root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }
}

fn is_repository(folder: &Path) -> bool {
    let manifest = std::fs::read_to_string(folder.join(MARK));
    manifest.is_ok_and(|text| text.contains("name = \"hopwise-firmware\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_from_any_folder_inside_and_from_none_outside() {
        // Tests run in the folder of their crate.
        let here = std::env::current_dir().expect("a folder");
        let repository = Repository::around(&here.join("src")).expect("it is around this crate");
        assert!(repository.root().join("emulator/Cargo.toml").is_file());
        assert_eq!(Repository::at(repository.root()), Ok(repository));
        assert_eq!(Repository::around(Path::new("/")), Err(NoRepository::Nowhere));
        let wrong = here.join("src");
        let sentence = Repository::at(&wrong).expect_err("a folder inside").to_string();
        let begin = format!("{} is not Hopwise's", wrong.display());
        assert!(sentence.starts_with(&begin), "{sentence}");
    }
}
