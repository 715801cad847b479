//! Which commit a crate of Hopwise is built from: for its build script.
//!
//! ```no_run
//! let origin = hopwise_origin::of("firmware/", "core/src firmware/src node/src");
//! let commit = origin.commit.unwrap_or("unknown".into());
//! println!("cargo::rustc-env=HOPWISE_COMMIT={commit}");
//! ```

use std::path::Path;
use std::process::Command;

/// What a crate is built from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `None` outside a clone of Hopwise's repository.
    pub commit: Option<String>,
    /// Whether the sources differ from that commit.
    pub changed: bool,
}

/// What the crate in `folder` of the repository is built from, if its result depends on `sources` there. Also makes cargo run the build script
/// again when that changes.
pub fn of(folder: &str, sources: &str) -> Origin {
    let (origin, watched) = look(Path::new("."), folder, sources);
    watched
        .iter()
        .for_each(|path| println!("cargo::rerun-if-changed={path}"));
    origin
}

/// The origin of the crate whose build script runs in `place`, and the paths by which it changes, from there.
fn look(place: &Path, folder: &str, sources: &str) -> (Origin, Vec<String>) {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(place).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_string())
    };
    let root = "../".repeat(folder.matches('/').count());
    let sources: Vec<String> = sources.split(' ').map(|path| format!("{root}{path}")).collect();
    // A copy of the crate in another repository does not take that one's commits for Hopwise's.
    let is_here = git(&["rev-parse", "--show-prefix"]).as_deref() == Some(folder);
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(sources.iter().map(String::as_str));
    let origin = Origin {
        commit: git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| is_here),
        changed: is_here && git(&status).is_none_or(|changes| !changes.is_empty()),
    };
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|_| is_here);
    // cargo would run the script every time for a path that does not exist.
    let watched = sources.into_iter().chain(log).filter(|path| place.join(path).exists());
    (origin, watched.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_and_changes_are_seen_only_in_the_repository_itself() {
        let repository = tempfile::tempdir().unwrap();
        let crate_folder = repository.path().join("firmware");
        std::fs::create_dir_all(crate_folder.join("src")).unwrap();
        let write = |text: &str| std::fs::write(crate_folder.join("src/lib.rs"), text).unwrap();
        let git = |arguments: &str| {
            let mut command = Command::new("git");
            let who = ["-c", "user.name=A", "-c", "user.email=a@b"];
            let output = command
                .args(who)
                .args(arguments.split(' '))
                .current_dir(repository.path())
                .output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        let look = |folder| look(&crate_folder, folder, "firmware/src absent/src");
        let of = |commit: Option<&str>, changed| Origin {
            commit: commit.map(String::from),
            changed,
        };
        write("// one");
        assert_eq!(look("firmware/").0, of(None, false), "no repository");
        git("init -q");
        git("add .");
        git("commit -q -m one");
        let commit = git("rev-parse --short=12 HEAD");
        let commit = Some(commit.trim());
        let (origin, watched) = look("firmware/");
        assert_eq!(origin, of(commit, false));
        assert!(
            watched[0] == "../firmware/src" && watched[1].ends_with("logs/HEAD"),
            "{watched:?}"
        );
        write("// two");
        assert_eq!(look("firmware/").0, of(commit, true));
        assert_eq!(look("vendor/firmware/").0, of(None, false), "someone else's repository");
    }
}
