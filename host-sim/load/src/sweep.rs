//! Many experiments: a list of independent, numbered jobs with resumable results.
//!
//! A folder holds the plan (`plan.json`) and one file a finished job (`job-NNNNN.json`). A job's file appears in one
//! step, so that a process can be ended at any time: what is not there is done again, what is there stays.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hopwise_core::{Network, Rule};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::measure::{self, Effort, Experiment, Point};
use super::parameters::{Parameters, Process};
use super::saturation::{self, Saturation};
use super::traffic::Traffic;

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
    /// Who sends to whom, as it is written.
    pub traffic: String,
    /// When, as it is written.
    pub process: String,
    /// The routers.
    pub parameters: Parameters,
    /// How long.
    pub effort: Effort,
    /// The seed.
    pub seed: u64,
    /// What to find out.
    pub task: Task,
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
pub struct Plan {
    /// The jobs.
    pub jobs: Vec<Job>,
}

/// Something about the folder of a sweep, in a sentence.
fn trouble(path: &Path, what: &str, error: impl std::fmt::Display) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

impl Job {
    /// Does the job. One sentence if it makes no sense.
    pub fn run(&self) -> Result<Finding, String> {
        let network = self.network()?;
        let experiment = self.experiment(&network)?;
        match self.task {
            Task::Point { .. } => measure::run(&experiment).map(|point| Finding::Point(Box::new(point))),
            Task::Saturation { precision } => {
                saturation::find(&experiment, precision, &|_| ()).map(Finding::Saturation)
            }
        }
    }

    /// One sentence if the job makes no sense.
    pub fn check(&self) -> Result<(), String> {
        measure::check(&self.experiment(&self.network()?)?)
    }

    fn network(&self) -> Result<Network, String> {
        let parsed: Result<Network, _> = self.network.parse();
        let network = parsed.map_err(|error| format!("'{}' is not a network: {error}", self.network))?;
        Ok(network.with_search_memory(usize::MAX))
    }

    /// The experiment, at the job's rate if it has one.
    fn experiment<'a>(&self, network: &'a Network) -> Result<Experiment<'a>, String> {
        Ok(Experiment {
            network,
            rule: match self.rule.as_str() {
                "exact" => Rule::Exact,
                "paper" => Rule::Paper,
                other => return Err(format!("'{other}' is not a rule: exact or paper")),
            },
            parameters: self.parameters,
            traffic: self.traffic.parse::<Traffic>()?,
            process: self.process.parse::<Process>()?,
            rate: match self.task {
                Task::Point { rate } => rate,
                Task::Saturation { .. } => 0.0,
            },
            seed: self.seed,
            effort: self.effort,
        })
    }
}

/// A folder with a plan and results.
pub struct Folder {
    path: PathBuf,
    /// The plan.
    pub plan: Plan,
}

impl Folder {
    /// Puts a plan into a folder. The same plan may be there already, with results; a different one is refused, and so
    /// is one with a job that makes no sense.
    pub fn create(path: &Path, plan: Plan) -> Result<Self, String> {
        plan.jobs.iter().try_for_each(Job::check)?;
        fs::create_dir_all(path).map_err(|error| trouble(path, "make the folder", error))?;
        let file = path.join("plan.json");
        if file.exists() {
            let folder = Self::open(path)?;
            if folder.plan != plan {
                return Err(format!(
                    "{} holds the results of another plan; choose another folder",
                    path.display()
                ));
            }
            return Ok(folder);
        }
        let text = serde_json::to_string_pretty(&plan).map_err(|error| error.to_string())?;
        write_whole(&file, &text).map_err(|error| trouble(&file, "write", error))?;
        Ok(Self {
            path: path.into(),
            plan,
        })
    }

    /// Reads the plan of a folder.
    pub fn open(path: &Path) -> Result<Self, String> {
        let file = path.join("plan.json");
        let text = fs::read_to_string(&file).map_err(|error| trouble(&file, "read", error))?;
        let plan = serde_json::from_str(&text).map_err(|error| trouble(&file, "understand", error))?;
        Ok(Self {
            path: path.into(),
            plan,
        })
    }

    fn file(&self, number: usize) -> PathBuf {
        self.path.join(format!("job-{number:05}.json"))
    }

    /// The result of a job, if it is done.
    pub fn finding(&self, number: usize) -> Result<Option<Finding>, String> {
        let file = self.file(number);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(trouble(&file, "read", error)),
        };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| trouble(&file, "understand", error))
    }

    /// Does a job unless it is done; says whether there was something to do.
    pub fn work(&self, number: usize) -> Result<bool, String> {
        if self.finding(number)?.is_some() {
            return Ok(false);
        }
        let finding = self.plan.jobs[number].run()?;
        let text = serde_json::to_string(&finding).map_err(|error| error.to_string())?;
        let file = self.file(number);
        write_whole(&file, &text).map_err(|error| trouble(&file, "write", error))?;
        Ok(true)
    }

    /// The numbers of the jobs of a share.
    pub fn share(&self, share: Share) -> Vec<usize> {
        (0..self.plan.jobs.len())
            .filter(|&number| share.includes(number))
            .collect()
    }

    /// Does jobs on all cores, unless they are done; `done` is called after each. Returns how many there were to do.
    pub fn work_all(&self, numbers: &[usize], done: impl Fn() + Sync) -> Result<usize, String> {
        let work = |&number: &usize| {
            let worked = self.work(number).map(usize::from);
            done();
            worked
        };
        numbers.par_iter().map(work).sum()
    }

    /// All jobs with their results; one sentence if some are missing.
    pub fn findings(&self) -> Result<Vec<(&Job, Finding)>, String> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (number, job) in self.plan.jobs.iter().enumerate() {
            match self.finding(number)? {
                Some(finding) => found.push((job, finding)),
                None => missing.push(number),
            }
        }
        match missing.first() {
            None => Ok(found),
            Some(first) => Err(format!(
                "{} of {} jobs are not done, the first is number {first}",
                missing.len(),
                self.plan.jobs.len()
            )),
        }
    }
}

/// Writes a file so that it is there in full or not at all, whoever else writes it.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let part = path.with_extension(format!("part-{}", std::process::id()));
    fs::write(&part, text)?;
    fs::rename(&part, path)
}

/// Which jobs are this process's: those whose number leaves `index` when divided by `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of this process, from 0.
    pub index: usize,
    /// How many processes share the work.
    pub count: usize,
}

impl Share {
    /// All jobs.
    pub const ALL: Self = Self { index: 0, count: 1 };

    fn includes(self, number: usize) -> bool {
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
    ) -> Result<Option<Self>, String> {
        let number = |name: &str| match variable(name) {
            None => Ok(None),
            Some(text) => text
                .parse::<usize>()
                .map(Some)
                .map_err(|_| format!("{name} is '{text}', not a number")),
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
            _ => Err(format!(
                "this process's number is not among the {count} that share the work"
            )),
        }
    }
}
