//! Many experiments: a list of independent, numbered jobs with resumable results.
//!
//! A folder holds the plan (`plan.json`) and one file a finished job (`job-NNNNN.json`). A job's file appears in one
//! step, so that a process can be ended at any time: what is not there is done again, what is there stays. So is a job whose file
//! has been damaged since.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hopwise_core::{Network, ParseError, Rule};
use hopwise_files::write_whole;
use hopwise_language::Traffic;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::failures::{BadFailures, FailurePlan, Failures};
use super::measure::{self, BadExperiment, Effort, Experiment, Point};
use super::parameters::{Parameters, Process};
use super::saturation::{self, BadSearch, Saturation};

/// What a job finds out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// The latency at a rate.
    Point {
        /// Packets a node a cycle.
        rate: f64,
    },
    /// The highest rate that is carried.
    Saturation {
        /// How closely, relative to it.
        precision: f64,
    },
}

/// One job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The network, as an expression.
    pub network: String,
    /// The rule, as it is written.
    pub rule: String,
    /// Who sends to whom.
    pub traffic: Traffic,
    /// When.
    pub process: Process,
    /// The routers.
    pub parameters: Parameters,
    /// How long.
    pub effort: Effort,
    /// The seed.
    pub seed: u64,
    /// What to find out.
    pub task: Task,
    /// What fails.
    #[serde(default, skip_serializing_if = "FailurePlan::is_nothing")]
    pub failures: FailurePlan,
}

/// What a job found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The latency at a rate.
    Point(Box<Point>),
    /// The highest rate that is carried.
    Saturation(Saturation),
}

/// A list of jobs; a job's number is its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobList {
    /// The jobs.
    pub jobs: Vec<Job>,
}

/// A job that makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadJob {
    /// The expression is not a network.
    #[error("'{expression}' is not a network: {error}")]
    Network {
        /// As it was written.
        expression: String,
        /// What is wrong with it.
        error: ParseError,
    },
    /// There is no such rule.
    #[error("'{0}' is not a rule: exact or paper")]
    Rule(String),
    /// The experiment makes no sense.
    #[error(transparent)]
    Experiment(#[from] BadExperiment),
    /// The search makes no sense.
    #[error(transparent)]
    Search(#[from] BadSearch),
    /// The failures make no sense.
    #[error(transparent)]
    Failures(#[from] BadFailures),
}

/// Something is wrong with the folder of a sweep.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A job makes no sense.
    #[error(transparent)]
    Job(#[from] BadJob),
    /// A file or folder cannot be read or written.
    #[error("cannot {what} {path}: {error}", path = .path.display())]
    Io {
        /// What was to be done.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A file does not hold what it should.
    #[error("cannot understand {path}: {error}", path = .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: serde_json::Error,
    },
    /// The file of a job does not hold its result.
    #[error("{0}; `hopwise load work` does that job again")]
    Damaged(DamagedJob),
    /// The folder is another sweep's.
    #[error("{path} holds the results of another plan; choose another folder", path = .0.display())]
    AnotherPlan(PathBuf),
    /// Results are missing.
    #[error("{missing} of {all} jobs are not done, the first is number {first}")]
    NotDone {
        /// How many are missing.
        missing: usize,
        /// How many jobs there are.
        all: usize,
        /// The first of the missing.
        first: usize,
    },
}

/// A file that does not hold the result of its job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} is damaged: {what}", path = .path.display())]
pub struct DamagedJob {
    /// The file.
    pub path: PathBuf,
    /// What it holds instead.
    pub what: String,
}

/// What became of a job that was to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worked {
    /// It was done before.
    Before,
    /// It is done now.
    Now,
    /// It is done now, again, for the file with its result was damaged.
    Again(DamagedJob),
}

fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_path_buf();
    move |error| FolderError::Io { what, path, error }
}

fn content_error(path: &Path) -> impl FnOnce(serde_json::Error) -> FolderError {
    let path = path.to_path_buf();
    move |error| FolderError::Content { path, error }
}

impl Job {
    /// Does the job.
    pub fn run(&self) -> Result<Finding, BadJob> {
        let network = self.network()?;
        let failures = self.failures.on(&network)?;
        let experiment = self.experiment(&network, failures.as_ref())?;
        match self.task {
            Task::Point { .. } => Ok(Finding::Point(Box::new(measure::run(&experiment)?))),
            Task::Saturation { precision } => {
                let found = saturation::find(&experiment, precision, &|_| ())?;
                Ok(Finding::Saturation(found))
            }
        }
    }

    /// Whether the job makes sense.
    pub fn check(&self) -> Result<(), BadJob> {
        let network = self.network()?;
        let failures = self.failures.on(&network)?;
        Ok(measure::check(&self.experiment(&network, failures.as_ref())?)?)
    }

    /// Whether a result can be this job's.
    fn is_answered_by(&self, finding: &Finding) -> bool {
        match (self.task, finding) {
            (Task::Point { rate }, Finding::Point(point)) => {
                let network = self.network().map(|network| network.to_string());
                // Read from a file, the last digit of a number may differ.
                let same_rate = (rate - point.rate).abs() < 1e-12;
                let same = (&self.rule, self.seed) == (&point.rule, point.seed);
                same && same_rate && network.is_ok_and(|network| network == point.network)
            }
            (Task::Saturation { .. }, Finding::Saturation(_)) => true,
            _ => false,
        }
    }

    fn network(&self) -> Result<Network, BadJob> {
        let parsed: Result<Network, _> = self.network.parse();
        let network = parsed.map_err(|error| BadJob::Network {
            expression: self.network.clone(),
            error,
        })?;
        Ok(network.with_search_memory(usize::MAX))
    }

    /// The experiment, at the job's rate if it has one.
    fn experiment<'a>(&self, network: &'a Network, failures: Option<&'a Failures>) -> Result<Experiment<'a>, BadJob> {
        Ok(Experiment {
            network,
            rule: match self.rule.as_str() {
                "exact" => Rule::Exact,
                "paper" => Rule::Paper,
                other => return Err(BadJob::Rule(other.into())),
            },
            parameters: self.parameters,
            traffic: self.traffic,
            process: self.process,
            rate: match self.task {
                Task::Point { rate } => rate,
                Task::Saturation { .. } => 0.0,
            },
            seed: self.seed,
            effort: self.effort,
            failures,
            // The jobs themselves are done side by side.
            threads: 1,
        })
    }
}

/// A folder with a plan and results.
pub struct Folder {
    path: PathBuf,
    /// The plan.
    pub list: JobList,
}

impl Folder {
    /// Puts a plan into a folder. The same plan may be there already, with results; a different one is refused, and so
    /// is one with a job that makes no sense.
    pub fn create(path: &Path, list: JobList) -> Result<Self, FolderError> {
        list.jobs.iter().try_for_each(Job::check)?;
        fs::create_dir_all(path).map_err(io_error("make the folder", path))?;
        let file = path.join("plan.json");
        if file.exists() {
            let folder = Self::open(path)?;
            if folder.list != list {
                return Err(FolderError::AnotherPlan(path.into()));
            }
            return Ok(folder);
        }
        let text = serde_json::to_string_pretty(&list).map_err(content_error(&file))?;
        write_whole(&file, &text).map_err(io_error("write", &file))?;
        Ok(Self {
            path: path.into(),
            list,
        })
    }

    /// Reads the plan of a folder.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let file = path.join("plan.json");
        let text = fs::read_to_string(&file).map_err(io_error("read", &file))?;
        let list = serde_json::from_str(&text).map_err(content_error(&file))?;
        Ok(Self {
            path: path.into(),
            list,
        })
    }

    fn file(&self, number: usize) -> PathBuf {
        self.path.join(format!("job-{number:05}.json"))
    }

    /// The result of a job, if it is done.
    pub fn finding(&self, number: usize) -> Result<Option<Finding>, FolderError> {
        let path = self.file(number);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io_error("read", &path)(error)),
        };
        let damaged = |what: String| FolderError::Damaged(DamagedJob { path, what });
        match serde_json::from_slice(&bytes) {
            Ok(finding) if self.list.jobs[number].is_answered_by(&finding) => Ok(Some(finding)),
            Ok(_) => Err(damaged("it holds the result of another job".into())),
            Err(error) => Err(damaged(error.to_string())),
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
        let finding = self.list.jobs[number].run()?;
        let file = self.file(number);
        let text = serde_json::to_string(&finding).map_err(content_error(&file))?;
        write_whole(&file, &text).map_err(io_error("write", &file))?;
        Ok(worked)
    }

    /// The numbers of the jobs of a share.
    pub fn share(&self, share: Share) -> Vec<usize> {
        (0..self.list.jobs.len())
            .filter(|&number| share.includes(number))
            .collect()
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

    /// All jobs with their results.
    pub fn findings(&self) -> Result<Vec<(&Job, Finding)>, FolderError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (number, job) in self.list.jobs.iter().enumerate() {
            match self.finding(number)? {
                Some(finding) => found.push((job, finding)),
                None => missing.push(number),
            }
        }
        match missing.first() {
            None => Ok(found),
            Some(&first) => Err(FolderError::NotDone {
                missing: missing.len(),
                all: self.list.jobs.len(),
                first,
            }),
        }
    }
}

/// Which jobs are this process's: those whose number leaves `index` when divided by `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of this process, from 0.
    pub index: usize,
    /// How many processes share the work.
    pub count: usize,
}

/// A batch system that says something else than expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadShare {
    /// A variable is no number.
    #[error("{name} is '{text}', not a number")]
    NoNumber {
        /// The variable.
        name: &'static str,
        /// What it is.
        text: String,
    },
    /// The number of this process is too high or too low.
    #[error("this process's number is not among the {count} that share the work")]
    NotAmong {
        /// How many share it.
        count: usize,
    },
}

impl Share {
    /// All jobs.
    pub const ALL: Self = Self { index: 0, count: 1 };

    /// Whether a job is in it.
    pub fn includes(self, number: usize) -> bool {
        number % self.count == self.index
    }

    /// From the variables that batch systems set for the members of an array: Slurm, Kubernetes indexed jobs, GNU parallel.
    ///
    /// `shards` is how many members there are. Slurm says so itself; for the others, and without it, every job has a
    /// member of its own. `None` outside of them.
    pub fn from_environment(
        variable: impl Fn(&str) -> Option<String>,
        shards: Option<usize>,
        jobs: usize,
    ) -> Result<Option<Self>, BadShare> {
        let number = |name: &'static str| match variable(name) {
            None => Ok(None),
            Some(text) => text
                .parse::<usize>()
                .map(Some)
                .map_err(|_| BadShare::NoNumber { name, text }),
        };
        let mut count = shards;
        let index = if let Some(task) = number("SLURM_ARRAY_TASK_ID")? {
            count = count.or(number("SLURM_ARRAY_TASK_COUNT")?);
            task.checked_sub(number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0))
        } else if let Some(index) = number("JOB_COMPLETION_INDEX")? {
            Some(index)
        } else if let Some(sequence) = number("PARALLEL_SEQ")? {
            sequence.checked_sub(1)
        } else {
            return Ok(None);
        };
        let count = count.unwrap_or(jobs);
        match index {
            Some(index) if index < count => Ok(Some(Self { index, count })),
            _ => Err(BadShare::NotAmong { count }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Preset;

    fn job(seed: u64) -> Job {
        Job {
            network: "ring( 8 )".into(),
            rule: "exact".into(),
            traffic: Preset::Booksim.traffic(),
            process: Process::Bernoulli,
            parameters: Preset::Booksim.parameters(),
            effort: Effort {
                least_cycles: 1 << 10,
                most_cycles: 1 << 10,
                ..Effort::default()
            },
            seed,
            task: Task::Point { rate: 0.05 },
            failures: FailurePlan::default(),
        }
    }

    #[test]
    fn a_damaged_job_is_named_and_done_again() {
        let path = std::env::temp_dir().join(format!("hopwise-jobs-{}", std::process::id()));
        let jobs = (1..=5).map(job).collect();
        let folder = Folder::create(&path, JobList { jobs }).unwrap();
        let all = folder.share(Share::ALL);
        assert_eq!(folder.work_all(&all, |_| ()).unwrap(), 5);
        let whole = fs::read(folder.file(0)).unwrap();
        let others = fs::read(folder.file(4)).unwrap();
        // Cut short, another's, no text, empty, and one that is well.
        for (number, bytes) in [&whole[..20], &others, b"\xff\xfe", b""].into_iter().enumerate() {
            fs::write(folder.file(number), bytes).unwrap();
            let sentence = folder.findings().unwrap_err().to_string();
            let file = folder.file(number).display().to_string();
            assert!(
                sentence.contains(&file) && sentence.contains("is damaged"),
                "{sentence}"
            );
            let Worked::Again(damaged) = folder.work(number).unwrap() else {
                panic!("{file} passes for whole");
            };
            assert_eq!(damaged.path, folder.file(number));
            assert_eq!(folder.work(number).unwrap(), Worked::Before);
        }
        assert_eq!(folder.work(4).unwrap(), Worked::Before);
        assert_eq!(folder.findings().unwrap().len(), 5);
        fs::remove_dir_all(path).unwrap();
    }
}
