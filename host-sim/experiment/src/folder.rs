//! The folder of an experiment: a list of independent, numbered jobs with resumable results.
//!
//! A folder holds the jobs (`plan.json`) and one file for each that is done (`job-NNNNN.json`). A job's file appears in one step,
//! so that a process can be ended at any time: what is not there is done again, what is there stays. So is a job whose file has
//! been damaged since. Whoever does a job that another process is doing finds the same.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

use hopwise_files::write_whole;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::share::Share;
use crate::{Finding, Job, Kind, Refused};

const VERSION: u64 = 1;
/// More jobs than this are a mistake.
const MAX_JOBS: usize = 100_000;

/// What `plan.json` holds.
#[derive(Serialize, Deserialize)]
struct PlanFile {
    version: u64,
    jobs: Vec<Job>,
}

/// What can be told of a `plan.json` of any version. Those before the first said none.
#[derive(Deserialize)]
struct AnyVersion {
    #[serde(default)]
    version: u64,
}

/// What `job-NNNNN.json` holds.
#[derive(Serialize, Deserialize)]
struct JobFile {
    /// Of the job, which tells it from others.
    command: String,
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

/// Jobs of before all experiments had the same folder.
fn earlier(path: &Path) -> FolderError {
    let path = path.display();
    FolderError::Unfit(format!(
        "{path} holds jobs of an earlier version, which cannot be continued: give the command that planned them another folder (--jobs)"
    ))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, FolderError> {
    match hopwise_files::read(path, hopwise_files::MAX_IMAGE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unfit("read", path)(error)),
    }
}

pub struct Folder<'k> {
    path: PathBuf,
    /// The jobs; the number of one is its place.
    pub jobs: Vec<Job>,
    kinds: &'k [&'k dyn Kind],
}

impl<'k> Folder<'k> {
    /// Puts jobs into a folder. The same may be there already, with results; others are refused, and so is a job that makes no
    /// sense.
    pub fn create(path: &Path, jobs: Vec<Job>, kinds: &'k [&'k dyn Kind]) -> Result<Self, FolderError> {
        if jobs.len() > MAX_JOBS {
            let jobs = jobs.len();
            return Err(FolderError::Unfit(format!(
                "these are {jobs} jobs, and a folder holds at most {MAX_JOBS}"
            )));
        }
        let file = path.join("plan.json");
        let version = VERSION;
        // Texts are compared, since a number may be read with another last digit than it was written with.
        let text = serde_json::to_string_pretty(&PlanFile { version, jobs }).map_err(unfit("understand", &file))?;
        match read(&file)? {
            Some(there) if there == text.as_bytes() => (),
            Some(_) => {
                Self::open(path, kinds)?;
                let path = path.display();
                return Err(FolderError::Unfit(format!(
                    "{path} holds the jobs of another plan, perhaps of this one before it was edited; choose another folder"
                )));
            }
            None => {
                let folder = Self::understand(path, text.as_bytes(), kinds)?;
                let mut there = fs::read_dir(path).into_iter().flatten().flatten();
                if there.any(|file| file.file_name().to_string_lossy().starts_with("job-")) {
                    return Err(earlier(path));
                }
                // Of several that are wrong the first is told, whichever is found first.
                let wrong = folder.jobs.par_iter().find_map_first(|job| folder.check(job).err());
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
        let about: AnyVersion = serde_json::from_slice(bytes).map_err(unfit("understand", &file))?;
        match about.version {
            0 => return Err(earlier(path)),
            VERSION => (),
            version => {
                let file = file.display();
                return Err(FolderError::Unfit(format!(
                    "{file} has version {version}, and this program reads version {VERSION}: take the one that wrote it, or a later one"
                )));
            }
        }
        let plan: PlanFile = serde_json::from_slice(bytes).map_err(unfit("understand", &file))?;
        Ok(Self {
            path: path.into(),
            jobs: plan.jobs,
            kinds,
        })
    }

    fn kind(&self, job: &Job) -> Result<&'k dyn Kind, Refused> {
        let found = self.kinds.iter().copied().find(|kind| kind.name() == job.kind);
        found.ok_or_else(|| format!("nothing here runs {}", job.kind).into())
    }

    fn check(&self, job: &Job) -> Result<(), FolderError> {
        self.kind(job).and_then(|kind| kind.check(job)).map_err(failed(job))
    }

    fn file(&self, number: usize) -> PathBuf {
        self.path.join(format!("job-{number:05}.json"))
    }

    /// What a job found, if it is done.
    pub fn finding(&self, number: usize) -> Result<Option<Finding>, FolderError> {
        let path = self.file(number);
        let Some(bytes) = read(&path)? else { return Ok(None) };
        let damaged = |what: &dyn Display| FolderError::Damaged(format!("{} is damaged: {what}", path.display()));
        match serde_json::from_slice::<JobFile>(&bytes) {
            Ok(file) if file.command == self.jobs[number].command() => Ok(Some(file.finding)),
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
        let finding = self.kind(job).and_then(|kind| kind.run(job)).map_err(failed(job))?;
        let (file, command) = (self.file(number), job.command());
        let text = serde_json::to_string(&JobFile { command, finding }).map_err(unfit("understand", &file))?;
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

    pub fn findings(&self) -> Result<Vec<(&Job, Finding)>, FolderError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (number, job) in self.jobs.iter().enumerate() {
            match self.finding(number)? {
                Some(finding) => found.push((job, finding)),
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
    use serde_json::json;

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
        Folder::create(path, jobs(seeds), KINDS).map_err(|error| error.to_string())
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
                r#"{"version":2,"jobs":"elsewhere"}"#,
                "has version 2, and this program reads version 1",
            ),
            (
                r#"{"jobs":[{"network":"ring(5)","task":{}}]}"#,
                "holds jobs of an earlier version",
            ),
            (r#"{"version":1,"jo"#, "cannot understand "),
            (r#"{"version":1,"jobs":[5]}"#, "cannot understand "),
        ] {
            fs::write(path.join("plan.json"), text).unwrap();
            assert_refused("[1, 2]", why);
        }
        // Folders of experiments once had no plan.
        fs::remove_file(path.join("plan.json")).unwrap();
        assert_refused("[1, 2]", "holds jobs of an earlier version");
    }
}
