//! `hopwise experiment`

mod page;
mod plan;
mod results;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::CliError;
use super::output::{Outcome, print, progress_bar, write_file};
use hopwise_files::write_whole;
use hopwise_load::sweep::Share;
use plan::{Job, Plan};
use results::Results;

#[derive(Args)]
#[command(after_help = "\
The file has the networks, the number of seeds, and a table for each command that runs them: [load], [sim], [emulate]. The keys of a
table are options of that command; every combination of the values in lists is run with every network and every seed:

    networks = [\"torus(4,4)\", \"lift(8,a1b,b3)\"]
    seeds = 5

    [load]
    rate = [0.05, 0.2]

    [sim]
    for = \"5s\"
    events = [\"\", \"1s cut 0.0\"]

Every run is a command of its own, in a folder of numbered jobs. Several processes share them as with `hopwise load work`, in Slurm,
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
    /// How many processes share the work; this one's number comes from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or
    /// PARALLEL_SEQ
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    shards: Option<u32>,
    /// Print the commands and run nothing
    #[arg(long)]
    list: bool,
}

/// What a job found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Done {
    /// What was done.
    job: Job,
    /// Whether all checks of the run passed.
    passed: bool,
    /// What the command printed.
    result: Value,
}

pub(super) fn run(args: &ExperimentArgs) -> Result<Outcome, CliError> {
    let text = std::fs::read_to_string(&args.file).map_err(|error| CliError::file(&args.file, error))?;
    let plan = Plan::read(&text).map_err(|error| CliError::file(&args.file, error))?;
    if args.list {
        print(|out| plan.jobs.iter().try_for_each(|job| writeln!(out, "{}", job.command())))?;
        return Ok(Outcome::Done);
    }
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
    if args.work {
        print(|out| writeln!(out, "{} of {} jobs are done here", done.len(), plan.jobs.len()))?;
        return Ok(Outcome::Done);
    }
    let results = Results::of(&done);
    std::fs::create_dir_all(&args.out).map_err(|error| CliError::file(&args.out, error))?;
    let json = serde_json::to_string_pretty(&results).map_err(CliError::output)?;
    for (name, text) in [
        ("experiment.csv", results::csv(&done)?),
        ("experiment.json", json + "\n"),
        ("experiment.html", page::html(&results)),
    ] {
        let path = args.out.join(name);
        write_file(&path, &text)?;
        print(|out| writeln!(out, "{}", path.display()))?;
    }
    Ok(match done.iter().find(|done| !done.passed) {
        Some(failed) => Outcome::CheckFailed(format!("a check failed in {}", failed.job.command())),
        None => Outcome::Done,
    })
}

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
    Ok(done)
}
