//! An experiment in one file: its plan, the files that it reads, and the data, for another machine to rerun and compare.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Job;
use crate::folder::FolderError;

const VERSION: u64 = 1;
/// Options of `emulate` that write files, open ports or run what others wrote.
const NOT_ARCHIVED: [&str; 5] = ["app", "elf", "gdb", "serial", "trace"];

#[derive(Serialize, Deserialize)]
pub struct Archive {
    version: u64,
    plan: PathBuf,
    /// The plan and what it reads.
    files: BTreeMap<PathBuf, String>,
    pub data: String,
    pub provenance: Value,
}

fn bad(path: &Path, why: impl Display) -> FolderError {
    FolderError::Unfit(format!("{}{why}", path.display()))
}

/// Whether a path leads to a file below the working folder, on any machine.
fn is_inside(path: &Path) -> bool {
    let mut parts = path.components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn read(path: &Path, most: u64) -> Result<String, FolderError> {
    hopwise_files::read_text(path, most).map_err(|error| bad(path, format_args!(": {error}")))
}

impl Archive {
    /// Of what is to be run, without its results.
    pub fn new(plan: &Path, jobs: &[&Job]) -> Result<Self, FolderError> {
        let text = read(plan, hopwise_files::MAX_TEXT)?;
        let outside = plan.file_name().filter(|_| !is_inside(plan));
        let plan = outside.map_or(plan, Path::new).to_path_buf();
        let mut files = BTreeMap::from([(plan.clone(), text)]);
        for path in jobs.iter().flat_map(|job| job.inputs()).filter(|path| path.is_file()) {
            if !is_inside(path) {
                return Err(bad(path, " cannot be archived: it is not below the working folder"));
            }
            files.insert(path.into(), read(path, hopwise_files::MAX_TEXT)?);
        }
        let version = VERSION;
        let archive = Archive {
            version,
            plan,
            files,
            data: String::new(),
            provenance: Value::Null,
        };
        archive.check(jobs).map(|()| archive)
    }

    /// Whoever reruns an archive runs what somebody else wrote: jobs may read what is in it, and nothing else; they build no program and write no file.
    pub fn check(&self, jobs: &[&Job]) -> Result<(), FolderError> {
        let refused = |what: &str| Err(FolderError::Unfit(format!("the archive {what}")));
        let mut unread: BTreeSet<&Path> = self.files.keys().map(PathBuf::as_path).collect();
        unread.remove(self.plan.as_path());
        for job in jobs {
            let is_there = |name: &&&str| job.kind == "emulate" && job.options.contains_key(**name);
            if let Some(name) = NOT_ARCHIVED.iter().find(is_there) {
                return refused(&format!("cannot have runs with the option {name}"));
            }
            for path in job.inputs() {
                if !unread.remove(path) && !self.files.contains_key(path) && path.exists() {
                    return refused(&format!("lacks {}", path.display()));
                }
            }
        }
        let Some(path) = unread.first() else { return Ok(()) };
        refused(&format!("has {}, which no run reads", path.display()))
    }

    pub fn read(path: &Path) -> Result<Self, FolderError> {
        let text = read(path, hopwise_files::MAX_IMAGE)?;
        let what = " is no archive of an experiment, or is damaged: ";
        let damaged = |error| bad(path, format_args!("{what}{error}"));
        let value: Value = serde_json::from_str(&text).map_err(damaged)?;
        if let Some(version) = value["version"].as_u64().filter(|&version| version != VERSION) {
            let why = format!(" has version {version}, and this program reads {VERSION}: take the one that wrote it");
            return Err(bad(path, why));
        }
        let archive: Self = serde_json::from_value(value).map_err(damaged)?;
        let is_whole = archive.files.contains_key(&archive.plan);
        match is_whole && archive.files.keys().all(|name| is_inside(name)) {
            true => Ok(archive),
            false => Err(bad(path, " has no plan, or a file outside of its folder")),
        }
    }

    /// Writes the files into a folder, and returns where the plan is. If it reads others, that becomes the working folder.
    pub fn unpack(&self, folder: &Path) -> io::Result<PathBuf> {
        for (path, text) in &self.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        match self.files.len() {
            1 => Ok(folder.join(&self.plan)),
            _ => std::env::set_current_dir(folder).map(|()| self.plan.clone()),
        }
    }

    /// The first line in which other data differ; `None` if they are the same, byte for byte.
    pub fn difference(&self, data: &str) -> Option<String> {
        let pairs = self.data.bytes().zip(data.bytes());
        let same = pairs.take_while(|(one, other)| one == other);
        let line = same.filter(|(byte, _)| *byte == b'\n').count();
        let [one, other] = [&self.data, data].map(|text| text.lines().nth(line).unwrap_or_default());
        let what = format!("line {} of the data is '{one}' in the archive", line + 1);
        (self.data != data).then(|| format!("{what}, and '{other}' here"))
    }
}
