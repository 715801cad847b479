//! The folder of an experiment: a list of independent, numbered jobs with resumable results.
//!
//! A folder holds the jobs (`plan.json`) and one file for each that is done (`job-NNNNN.json`). If the plan may be edited, its name is a
//! hash of the job's own settings and of the files that it reads, so that a job keeps its result. A job's file appears in one step,
//! so that a process can be ended at any time: what is not there is done again, what is there stays. So is a job whose file has
//! been damaged since. Whoever does a job that another process is doing finds the same.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

use hopwise_core::Network;
use hopwise_files::write_whole;
use rayon::iter::Either;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::share::Share;
use crate::{Finding, Job, Kind, Refused, origin};

const VERSION: u64 = 1;
/// More jobs than this are a mistake.
const MAX_JOBS: usize = 100_000;

/// What `plan.json` holds.
#[derive(Serialize, Deserialize)]
struct PlanFile {
    version: u64,
    /// Whether the plan may be edited: then the files of jobs have hashes as names, else numbers.
    #[serde(default)]
    editable: bool,
    jobs: Vec<Job>,
}

/// What a job's file holds.
#[derive(Deserialize)]
struct JobFile {
    /// Of the job, which tells it from others.
    command: String,
    #[serde(default)]
    origin: Value,
    finding: Finding,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    #[error("{0}; whoever works on the folder does that job again")]
    Damaged(String),
    /// It cannot be read or written, it is another plan's or version's, or a job of it is not or cannot be done.
    #[error("{0}")]
    Unfit(String),
}

/// What became of a job that was to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worked {
    Before,
    Now,
    /// It is done now, again, for the file with its result was damaged, as the sentence says.
    Again(String),
}

fn unfit<E: Display>(what: &str, path: &Path) -> impl FnOnce(E) -> FolderError {
    let begin = format!("cannot {what} {}", path.display());
    move |error| FolderError::Unfit(format!("{begin}: {error}"))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, FolderError> {
    match hopwise_files::read(path, hopwise_files::MAX_IMAGE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unfit("read", path)(error)),
    }
}

/// A job that cannot be run, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Infeasible {
    #[serde(flatten)]
    pub job: Job,
    pub reason: String,
}

/// The jobs that can be run, and those that cannot. What is no network, and a kind of which nothing can be run, is an error.
pub fn feasible(jobs: Vec<Job>, kinds: &[&dyn Kind]) -> Result<(Vec<Job>, Vec<Infeasible>), FolderError> {
    let (good, bad): (Vec<Job>, Vec<Infeasible>) = jobs.into_par_iter().partition_map(|job| {
        let reason = check(&job, kinds).err().map(|why| why.to_string());
        match reason {
            None => Either::Left(job),
            Some(reason) => Either::Right(Infeasible { job, reason }),
        }
    });
    let run: HashSet<&str> = good.iter().map(|job| job.kind.as_str()).collect();
    let is_error = |Infeasible { job, .. }: &&Infeasible| {
        !run.contains(job.kind.as_str()) || job.network.parse::<Network>().is_err()
    };
    match bad.iter().find(is_error) {
        Some(Infeasible { job, reason }) => Err(failed(job)(reason.clone().into())),
        None => Ok((good, bad)),
    }
}

fn kind<'k>(job: &Job, kinds: &[&'k dyn Kind]) -> Result<&'k dyn Kind, Refused> {
    let found = kinds.iter().copied().find(|kind| kind.name() == job.kind);
    found.ok_or_else(|| format!("nothing here runs {}", job.kind).into())
}

fn check(job: &Job, kinds: &[&dyn Kind]) -> Result<(), Refused> {
    kind(job, kinds).and_then(|kind| kind.check(job))
}

/// The names of the files of jobs whose plan may be edited. An input that does not exist counts as empty.
fn hashed(jobs: &[Job]) -> Vec<String> {
    let mut contents = HashMap::new();
    let mut name = |job: &Job| {
        let mut hash = Sha256::new_with_prefix(job.command());
        for path in job.inputs() {
            let read = || hopwise_files::read(path, hopwise_files::MAX_IMAGE).unwrap_or_default();
            let entry = contents.entry(path.to_path_buf());
            hash.update(entry.or_insert_with(|| Sha256::digest(read())));
        }
        let hash: String = hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("job-{hash}.json")
    };
    jobs.iter().map(&mut name).collect()
}

pub struct Folder<'k> {
    path: PathBuf,
    /// The jobs; the number of one is its place.
    pub jobs: Vec<Job>,
    /// Of their files.
    names: Vec<String>,
    kinds: &'k [&'k dyn Kind],
}

impl<'k> Folder<'k> {
    /// Puts jobs into a folder. The same may be there already, with results. Others make way if the plan is `editable`, and those that
    /// stay keep their results; else they are refused. So is a job that makes no sense.
    pub fn create(path: &Path, jobs: Vec<Job>, kinds: &'k [&'k dyn Kind], editable: bool) -> Result<Self, FolderError> {
        let file = path.join("plan.json");
        // Texts are compared, since a number may be read with another last digit than it was written with.
        let version = VERSION;
        let plan = PlanFile {
            version,
            editable,
            jobs,
        };
        let text = serde_json::to_string_pretty(&plan).map_err(unfit("write", &file))?;
        match read(&file)? {
            Some(there) if there == text.as_bytes() => (),
            Some(_) if Self::open(path, kinds).map(|_| !editable)? => {
                let path = path.display();
                return Err(FolderError::Unfit(format!(
                    "{path} holds the jobs of another plan, perhaps of this one before it was edited; choose another folder"
                )));
            }
            _ => {
                let folder = Self::understand(path, text.as_bytes(), kinds)?;
                // Of several that are wrong the first is told, whichever is found first.
                let wrong = |job: &Job| check(job, kinds).map_err(failed(job)).err();
                let wrong = folder.jobs.par_iter().find_map_first(wrong);
                wrong.map_or(Ok(()), Err)?;
                fs::create_dir_all(path).map_err(unfit("make the folder", path))?;
                write_whole(&file, &text).map_err(unfit("write", &file))?;
            }
        }
        Self::open(path, kinds)
    }

    pub fn open(path: &Path, kinds: &'k [&'k dyn Kind]) -> Result<Self, FolderError> {
        let file = path.join("plan.json");
        let bytes = hopwise_files::read(&file, hopwise_files::MAX_IMAGE).map_err(unfit("read", &file))?;
        Self::understand(path, &bytes, kinds)
    }

    fn understand(path: &Path, bytes: &[u8], kinds: &'k [&'k dyn Kind]) -> Result<Self, FolderError> {
        let file = path.join("plan.json");
        let value: Value = serde_json::from_slice(bytes).map_err(unfit("understand", &file))?;
        let version = value["version"].as_u64().unwrap_or_default();
        if version != VERSION {
            let file = file.display();
            return Err(FolderError::Unfit(format!(
                "{file} has version {version}, and this program reads version {VERSION}: choose another folder, or take the program that wrote it"
            )));
        }
        let plan: PlanFile = serde_json::from_value(value).map_err(unfit("understand", &file))?;
        let count = plan.jobs.len();
        if count > MAX_JOBS {
            let why = format!("these are {count} jobs, and a folder holds at most {MAX_JOBS}");
            return Err(FolderError::Unfit(why));
        }
        Ok(Self {
            path: path.into(),
            names: match plan.editable {
                true => hashed(&plan.jobs),
                false => (0..count).map(|number| format!("job-{number:05}.json")).collect(),
            },
            jobs: plan.jobs,
            kinds,
        })
    }

    fn file(&self, number: usize) -> PathBuf {
        self.path.join(&self.names[number])
    }

    /// What a job found, if it is done, and what made that.
    fn finding(&self, number: usize) -> Result<Option<(Finding, Value)>, FolderError> {
        let path = self.file(number);
        let Some(bytes) = read(&path)? else { return Ok(None) };
        let damaged = |what: &dyn Display| FolderError::Damaged(format!("{} is damaged: {what}", path.display()));
        match serde_json::from_slice::<JobFile>(&bytes) {
            Ok(file) if file.command == self.jobs[number].command() => Ok(Some((file.finding, file.origin))),
            Ok(_) => Err(damaged(&"it holds the result of another job")),
            Err(error) => Err(damaged(&error)),
        }
    }

    /// Does a job unless it is done.
    pub fn work(&self, number: usize) -> Result<Worked, FolderError> {
        let worked = match self.finding(number) {
            Ok(Some(_)) => return Ok(Worked::Before),
            Ok(None) => Worked::Now,
            Err(FolderError::Damaged(job)) => Worked::Again(job),
            Err(error) => return Err(error),
        };
        let job = &self.jobs[number];
        let found = kind(job, self.kinds).and_then(|kind| kind.run(job));
        let finding = found.map_err(failed(job))?;
        let file = self.file(number);
        let text = json!({ "command": job.command(), "origin": origin(), "finding": finding }).to_string();
        write_whole(&file, &text).map_err(unfit("write", &file))?;
        Ok(worked)
    }

    /// The numbers of the jobs of a share.
    pub fn share(&self, share: Share) -> Vec<usize> {
        (0..self.jobs.len()).filter(|&number| share.includes(number)).collect()
    }

    /// Does jobs on all cores, unless they are done; `done` is told what became of each. Returns how many there were to do.
    pub fn work_all(&self, numbers: &[usize], done: impl Fn(&Worked) + Sync) -> Result<usize, FolderError> {
        let work = |&number: &usize| {
            let worked = self.work(number)?;
            done(&worked);
            Ok(usize::from(worked != Worked::Before))
        };
        numbers.par_iter().map(work).sum()
    }

    /// What made the results, each once.
    pub fn origins(&self) -> Result<Vec<Value>, FolderError> {
        let mut origins = Vec::new();
        for number in 0..self.jobs.len() {
            let origin = self.finding(number)?.map(|(_, origin)| origin);
            origins.extend(origin.filter(|origin| !origins.contains(origin)));
        }
        Ok(origins)
    }

    pub fn findings(&self) -> Result<Vec<(&Job, Finding)>, FolderError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            match self.finding(number)? {
                Some((finding, _)) => found.push((job, finding)),
                None => missing.push(number),
            }
        }
        match missing.first() {
            None => Ok(found),
            Some(first) => Err(FolderError::Unfit(format!(
                "{} of {} jobs are not done, the first is number {first}",
                missing.len(),
                self.jobs.len()
            ))),
        }
    }
}

fn failed(job: &Job) -> impl FnOnce(Refused) -> FolderError {
    let command = job.command();
    move |why| FolderError::Unfit(format!("{command}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    /// Finds its own seed, or why it cannot.
    struct Echo;

    impl Kind for Echo {
        fn name(&self) -> &'static str {
            "echo"
        }

        fn check(&self, job: &Job) -> Result<(), Refused> {
            match job.seed {
                0 => Err("there is no seed 0".into()),
                _ => Ok(()),
            }
        }

        fn run(&self, job: &Job) -> Result<Finding, Refused> {
            Ok(Finding {
                passed: true,
                result: json!({ "seed": job.seed, "share": job.options.get("share") }),
            })
        }
    }

    const KINDS: &[&dyn Kind] = &[&Echo];

    fn jobs(seeds: &str) -> Vec<Job> {
        // A number that takes all its digits.
        let text = format!("network = 'ring(5)'\nseed = {seeds}\n[echo]\nshare = 0.30000000000000004\n");
        Plan::parse(&text, KINDS).unwrap().jobs().unwrap()
    }

    fn create(path: &Path, seeds: &str) -> Result<Folder<'static>, String> {
        Folder::create(path, jobs(seeds), KINDS, false).map_err(|error| error.to_string())
    }

    #[test]
    fn a_damaged_job_is_named_and_done_again() {
        let path = tempfile::tempdir().unwrap();
        let folder = create(path.path(), "[1, 2, 3, 4, 5]").unwrap();
        let all = folder.share(Share::ALL);
        assert_eq!(folder.work_all(&all, |_| ()).unwrap(), 5);
        let findings = folder.findings().unwrap();
        let whole = fs::read(folder.file(0)).unwrap();
        let others = fs::read(folder.file(4)).unwrap();
        // Cut short, another's, no text, empty, and one that is well.
        for (number, bytes) in [&whole[..20], &others, b"\xff\xfe", b""].into_iter().enumerate() {
            fs::write(folder.file(number), bytes).unwrap();
            let sentence = folder.findings().unwrap_err().to_string();
            let file = folder.file(number).display().to_string();
            let names_it = sentence.contains(&file) && sentence.contains("is damaged");
            assert!(names_it, "{sentence}");
            let Worked::Again(damaged) = folder.work(number).unwrap() else {
                panic!("{file} passes for whole");
            };
            assert!(damaged.contains(&file), "{damaged}");
            assert_eq!(folder.work(number).unwrap(), Worked::Before);
        }
        assert_eq!(folder.work(4).unwrap(), Worked::Before);
        assert_eq!(folder.findings().unwrap(), findings);
    }

    #[test]
    fn an_edited_plan_keeps_results() {
        let path = tempfile::tempdir().unwrap();
        let edit = |seeds| Folder::create(path.path(), jobs(seeds), KINDS, true).unwrap();
        edit("[1, 2]").work(1).unwrap();
        let worked = [0, 1, 2].map(|number| edit("[3, 2, 4]").work(number).unwrap());
        assert_eq!(worked, [Worked::Now, Worked::Before, Worked::Now]);
        assert_eq!(edit("[2, 3]").origins().unwrap(), [origin()]);
    }

    #[test]
    fn two_workers_at_the_same_jobs_leave_whole_files() {
        let path = tempfile::tempdir().unwrap();
        let folder = create(path.path(), "{ from = 1, to = 200 }").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| folder.work_all(&folder.share(Share::ALL), |_| ()).unwrap());
            }
        });
        assert_eq!(folder.findings().unwrap().len(), 200);
        let left_over = fs::read_dir(path.path()).unwrap().count();
        assert_eq!(left_over, 200 + 1, "nothing half-written stays");
    }

    #[test]
    fn a_folder_is_of_one_plan_and_one_version() {
        let path = tempfile::tempdir().unwrap();
        let path = path.path();
        let assert_refused = |seeds: &str, why: &str| {
            let sentence = create(path, seeds).err().expect(why);
            assert!(sentence.contains(why), "{sentence}");
        };
        assert_refused("[1, 0]", "--seed 0 --json: there is no seed 0");
        assert_eq!(fs::read_dir(path).unwrap().count(), 0, "a refused plan is not written");
        let folder = create(path, "[1, 2]").unwrap();
        folder.work(1).unwrap();
        // Planned again, it goes on; edited meanwhile, it is another.
        assert_eq!(create(path, "[1, 2]").unwrap().work(1).unwrap(), Worked::Before);
        assert_refused("[2, 1]", "holds the jobs of another plan");
        let sentence = folder.findings().unwrap_err().to_string();
        assert_eq!(sentence, "1 of 2 jobs are not done, the first is number 0");
        for (text, why) in [
            (
                r#"{"version":2,"jobs":0}"#,
                "version 2, and this program reads version 1",
            ),
            (r#"{"jobs":[]}"#, "version 0, and this program reads version 1"),
            (r#"{"version":1,"jo"#, "cannot understand "),
            (r#"{"version":1,"jobs":[5]}"#, "cannot understand "),
        ] {
            fs::write(path.join("plan.json"), text).unwrap();
            assert_refused("[1, 2]", why);
        }
    }
}
