//! `hopwise experiment`

use std::path::{Path, PathBuf};

use clap::Args;
use hopwise_experiment::folder::{Folder, Worked};
use hopwise_experiment::load::Load;
use hopwise_experiment::plan::Plan;
use hopwise_experiment::results::{self, Results};
use hopwise_experiment::share::Share;
use hopwise_experiment::sim::Sim;
use hopwise_experiment::{Kind, page};
use serde::Serialize;

<<<<<<< HEAD
use super::error::CliError;
use super::output::{Outcome, print, progress_bar, write_file};
use hopwise_files::write_whole;
use hopwise_load::sweep::Share;
use plan::{Job, Plan};
use results::Results;
=======
use super::RepositoryArg;
use super::emulate::Emulate;
use super::output::{Outcome, print, progress_bar, say, write_file};
use super::refusal::Refusal;

/// What runs without firmware.
pub(super) const KINDS: &[&dyn Kind] = &[&Load, &Sim];
>>>>>>> 867e60ebd4380d177fc14aeea709848cd36c260e

#[derive(Args)]
#[command(after_help = "\
The file has the networks, the seeds, and a table for each command that runs them: [load], [sim], [emulate]. The keys of a table are
options of that command, each a value, a list or a range { from = 1, to = 50 }; every combination is run with every network and every
seed. A file without tables is a scenario of `hopwise sim`.

    networks = [\"torus(4,4)\", \"lift(8,a1b,b3)\"]
    seeds = 5

    [load]
    rate = [0.05, 0.2]

    [sim]
    for = \"5s\"
    events = [\"\", \"1s cut 0.0\"]

All runs are checked before the first begins. They are numbered jobs of a folder. Several processes share them as with `hopwise load work`, in Slurm,
Kubernetes or GNU parallel: start each as `hopwise experiment FILE.toml --work`. Once all are done, the same command without --work
writes experiment.csv, experiment.json and experiment.html.")]
pub(super) struct ExperimentArgs {
    /// What to run
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// The folder of the jobs
    #[arg(long, default_value = "experiment-jobs")]
    jobs: PathBuf,
    /// Where the table and the page go
    #[arg(long, default_value = ".")]
    out: PathBuf,
    /// Do this process's share of the jobs, and nothing else
    #[arg(long)]
    work: bool,
    #[command(flatten)]
    share: ShareArg,
    /// Print the commands and run nothing
    #[arg(long)]
    list: bool,
}

/// The part of the jobs that this process does.
#[derive(Args)]
pub(super) struct ShareArg {
    /// How many processes share the work; this one's number comes from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or
    /// PARALLEL_SEQ
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    shards: Option<u32>,
}

<<<<<<< HEAD
pub(super) fn run(args: &ExperimentArgs) -> Result<Outcome, CliError> {
    let text = std::fs::read_to_string(&args.file).map_err(|error| CliError::file(&args.file, error))?;
    let plan = Plan::read(&text).map_err(|error| CliError::file(&args.file, error))?;
=======
impl ShareArg {
    /// As the batch system says that started this process; without one, all.
    pub(super) fn share(&self, jobs: usize) -> Result<Share, Refusal> {
        let variable = |name: &str| std::env::var(name).ok();
        let share = Share::from_environment(variable, self.shards.map(|count| count as usize), jobs)?;
        Ok(share.unwrap_or(Share::ALL))
    }
}

pub(super) fn run(args: &ExperimentArgs, repository: &RepositoryArg) -> Result<Outcome, Refusal> {
    let emulate = Emulate(repository);
    let kinds: [&dyn Kind; 3] = [&Load, &Sim, &emulate];
    let jobs = Plan::read(&args.file, &kinds)?.jobs();
    let jobs = jobs.map_err(|error| Refusal::file(&args.file, error))?;
>>>>>>> 867e60ebd4380d177fc14aeea709848cd36c260e
    if args.list {
        print(|out| jobs.iter().try_for_each(|job| writeln!(out, "{}", job.command())))?;
        return Ok(Outcome::Done);
    }
<<<<<<< HEAD
    std::fs::create_dir_all(&args.jobs).map_err(|error| CliError::file(&args.jobs, error))?;
    let variable = |name: &str| std::env::var(name).ok();
    let share = match args.work {
        true => Share::from_environment(variable, args.shards.map(|count| count as usize), plan.jobs.len())?,
        false => None,
    }
    .unwrap_or(Share::ALL);
    let mine: Vec<usize> = (0..plan.jobs.len()).filter(|&number| share.includes(number)).collect();
    let bar = progress_bar(mine.len() as u64, "running");
    let done: Result<Vec<Done>, CliError> = mine
        .par_iter()
        .map(|&number| {
            let done = do_once(&args.jobs, number, &plan.jobs[number]);
            bar.inc(1);
            done
        })
        .collect();
    bar.finish_and_clear();
    let done = done?;
=======
    let folder = Folder::create(&args.jobs, jobs, &kinds)?;
>>>>>>> 867e60ebd4380d177fc14aeea709848cd36c260e
    if args.work {
        let mine = folder.share(args.share.share(folder.jobs.len())?);
        work(&folder, &mine)?;
        print(|out| writeln!(out, "{} of {} jobs are done here", mine.len(), folder.jobs.len()))?;
        return Ok(Outcome::Done);
    }
<<<<<<< HEAD
    let results = Results::of(&done);
    std::fs::create_dir_all(&args.out).map_err(|error| CliError::file(&args.out, error))?;
    let json = serde_json::to_string_pretty(&results).map_err(CliError::output)?;
    for (name, text) in [
        ("experiment.csv", results::csv(&done)?),
        ("experiment.json", json + "\n"),
=======
    work(&folder, &folder.share(Share::ALL))?;
    let found = folder.findings()?;
    let results = Results::of(&found);
    let files = [
        ("experiment.csv", results::csv(&found).map_err(cannot_write)?),
        ("experiment.json", pretty(&results)?),
>>>>>>> 867e60ebd4380d177fc14aeea709848cd36c260e
        ("experiment.html", page::html(&results)),
    ];
    write_files(&args.out, &files)?;
    Ok(match found.iter().find(|(_, finding)| !finding.passed) {
        Some((failed, _)) => Outcome::CheckFailed(format!("a check failed in {}", failed.command())),
        None => Outcome::Done,
    })
}

<<<<<<< HEAD
/// Does a job, unless the folder has its result.
fn do_once(folder: &Path, number: usize, job: &Job) -> Result<Done, CliError> {
    let path = folder.join(format!("job-{number:05}.json"));
    if let Ok(text) = std::fs::read_to_string(&path) {
        match serde_json::from_str::<Done>(&text) {
            Ok(done) if done.job == *job => return Ok(done),
            Ok(_) => {
                return Err(CliError::file(
                    &path,
                    "it holds a job of another plan; choose another folder",
                ));
            }
            // Damaged: it is done again.
            Err(_) => (),
        }
    }
    let program = std::env::current_exe().map_err(CliError::output)?;
    let output = Command::new(program).args(job.arguments()).output();
    let output = output.map_err(CliError::output)?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let last = printed.trim_end().lines().next_back().unwrap_or_default();
    let parsed = serde_json::from_str(&printed).or_else(|_| serde_json::from_str(last));
    // Status 1 is a check that failed, which is a result too.
    let (Some(0 | 1), Ok(result)) = (output.status.code(), parsed) else {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(CliError::output(format!("{} fails: {}", job.command(), why.trim())));
    };
    let done = Done {
        job: job.clone(),
        passed: output.status.success(),
        result,
    };
    let text = serde_json::to_string(&done).map_err(CliError::output)?;
    write_whole(&path, text).map_err(|error| CliError::file(&path, error))?;
=======
/// Does jobs that are not done, on all cores, and says which were damaged. Returns how many there were to do.
pub(super) fn work(folder: &Folder<'_>, numbers: &[usize]) -> Result<usize, Refusal> {
    let bar = progress_bar(numbers.len() as u64, "running");
    let done = folder.work_all(numbers, |worked| {
        if let Worked::Again(damaged) = worked {
            bar.suspend(|| say(&format!("hopwise: {damaged}: done again")));
        }
        bar.inc(1);
    })?;
    bar.finish_and_clear();
>>>>>>> 867e60ebd4380d177fc14aeea709848cd36c260e
    Ok(done)
}

/// Writes files into a folder and prints where they are.
pub(super) fn write_files(folder: &Path, files: &[(impl AsRef<str>, String)]) -> Result<(), Refusal> {
    std::fs::create_dir_all(folder).map_err(|error| Refusal::output(folder, &error))?;
    for (name, text) in files {
        let path = folder.join(name.as_ref());
        write_file(&path, text)?;
        print(|out| writeln!(out, "{}", path.display()))?;
    }
    Ok(())
}

/// JSON for people too.
pub(super) fn pretty(value: &impl Serialize) -> Result<String, Refusal> {
    let text = serde_json::to_string_pretty(value).map_err(cannot_write)?;
    Ok(text + "\n")
}

pub(super) fn cannot_write(error: impl ToString) -> Refusal {
    Refusal::Output(error.to_string())
}
