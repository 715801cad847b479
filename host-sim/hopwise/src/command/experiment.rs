use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use hopwise_experiment::archive::Archive;
use hopwise_experiment::folder::{Folder, Infeasible, Worked, feasible};
use hopwise_experiment::load::Load;
use hopwise_experiment::plan::Plan;
use hopwise_experiment::results::{self, Results};
use hopwise_experiment::share::Share;
use hopwise_experiment::sim::Sim;
use hopwise_experiment::{Job, Kind, origin, page};
use hopwise_sim::settings::quoted;
use serde::Serialize;
use serde_json::json;

use super::RepositoryArg;
use super::emulate::Emulate;
use super::error::CliError;
use super::output::{Outcome, check_new, counted, create_file, print, progress_bar, say, write_file};

/// What runs without firmware.
pub(super) const KINDS: &[&dyn Kind] = &[&Load, &Sim];

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

All runs are checked before the first begins. Combinations that cannot be run are listed as n/a with the reason, the others are run; nothing is,
if a table has none that can. Runs are jobs of a folder, which keeps the results of those that an edited file still has. Several processes share
them as with `hopwise load work`, in Slurm, Kubernetes or GNU parallel: start each as `hopwise experiment FILE.toml --work`. Once all are
done, the same command without --work writes experiment.csv, experiment.json and experiment.html.

--archive puts plan, inputs and data into one file, and --verify reruns it on any machine.")]
pub(super) struct ExperimentArgs {
    /// What to run
    #[arg(value_name = "FILE.toml", required_unless_present = "verify")]
    file: Option<PathBuf>,
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
    /// Also put the plan, the files that it reads and the data into this file, which must not be there yet
    #[arg(long, value_name = "ARCHIVE", conflicts_with_all = ["work", "list"])]
    archive: Option<PathBuf>,
    /// Rerun an archive, and compare the data byte for byte; exit status 1 if they differ
    #[arg(long, value_name = "ARCHIVE", conflicts_with_all = ["file", "jobs", "out", "work", "list", "archive"])]
    verify: Option<PathBuf>,
}

/// The part of the jobs that this process does.
#[derive(Args)]
pub(super) struct ShareArg {
    /// How many processes share the work; this one's number comes from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or
    /// PARALLEL_SEQ
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    shards: Option<u32>,
}

impl ShareArg {
    /// As the batch system says that started this process; without one, all.
    pub(super) fn share(&self, jobs: usize) -> Result<Share, CliError> {
        let variable = |name: &str| std::env::var(name).ok();
        let share = Share::from_environment(variable, self.shards.map(|count| count as usize), jobs)?;
        Ok(share.unwrap_or(Share::ALL))
    }
}

pub(super) fn run(args: &ExperimentArgs, repository: &RepositoryArg) -> Result<Outcome, CliError> {
    let emulate = Emulate(repository);
    let kinds: [&dyn Kind; 3] = [&Load, &Sim, &emulate];
    let Some(file) = &args.file else {
        return verify(args.verify.as_deref().unwrap_or(Path::new("")), &kinds);
    };
    args.archive.as_deref().map_or(Ok(()), check_new)?;
    let (jobs, infeasible) = jobs(file, &kinds)?;
    let all: Vec<&Job> = jobs.iter().chain(infeasible.iter().map(|one| &one.job)).collect();
    let archive = (args.archive.as_ref()).map(|path| Archive::new(file, &all).map(|archive| (path, archive)));
    let archive = archive.transpose()?;
    if let Some(Infeasible { job, reason }) = infeasible.first() {
        let (count, all, command) = (infeasible.len(), infeasible.len() + jobs.len(), job.command());
        let sentence = format!("hopwise: {count} of {all} runs are n/a, such as {command}: {reason}");
        say(&sentence);
    }
    if args.list {
        print(|out| jobs.iter().try_for_each(|job| writeln!(out, "{}", job.command())))?;
        return Ok(Outcome::Done);
    }
    let folder = Folder::create(&args.jobs, jobs, &kinds, true)?;
    if args.work {
        let mine = folder.share(args.share.share(folder.jobs.len())?);
        work(&folder, &mine)?;
        print(|out| writeln!(out, "{} of {} jobs are done here", mine.len(), folder.jobs.len()))?;
        return Ok(Outcome::Done);
    }
    work(&folder, &folder.share(Share::ALL))?;
    let found = folder.findings()?;
    let data = results::csv(&found, &infeasible).map_err(CliError::output)?;
    let mut results = Results::of(&found);
    let words: Vec<String> = std::env::args().skip(1).map(|word| quoted(&word.into())).collect();
    let seeds: BTreeSet<u64> = folder.jobs.iter().map(|job| job.seed).collect();
    let command = format!("hopwise {}", words.join(" "));
    results.provenance = json!({ "command": command, "seeds": seeds, "made_by": folder.origins()? });
    if let Some((path, mut archive)) = archive {
        (archive.provenance, archive.data) = (results.provenance.clone(), data.clone());
        create_file(path, &pretty(&archive)?)?;
    }
    results.infeasible = infeasible;
    let files = [
        ("experiment.csv", data),
        ("experiment.json", pretty(&results)?),
        ("experiment.html", page::html(&results)),
    ];
    write_files(&args.out, &files)?;
    Ok(match found.iter().find(|(_, finding)| !finding.passed) {
        Some((failed, _)) => Outcome::CheckFailed(format!("a check failed in {}", failed.command())),
        None => Outcome::Done,
    })
}

/// The jobs of a file that can be run, and those that cannot.
fn jobs(file: &Path, kinds: &[&dyn Kind]) -> Result<(Vec<Job>, Vec<Infeasible>), CliError> {
    let jobs = Plan::read(file, kinds)?.jobs();
    Ok(feasible(jobs.map_err(|error| CliError::file(file, error))?, kinds)?)
}

fn verify(path: &Path, kinds: &[&dyn Kind]) -> Result<Outcome, CliError> {
    let archive = Archive::read(path)?;
    let scratch = tempfile::tempdir()?;
    let plan = archive.unpack(scratch.path())?;
    let (jobs, infeasible) = jobs(&plan, kinds)?;
    let others = infeasible.iter().map(|one| &one.job);
    archive.check(&jobs.iter().chain(others).collect::<Vec<_>>())?;
    // Results that an archive brings are not taken for results from here.
    let results = tempfile::tempdir()?;
    let folder = Folder::create(results.path(), jobs, kinds, false)?;
    work(&folder, &folder.share(Share::ALL))?;
    let found = folder.findings()?;
    let data = results::csv(&found, &infeasible).map_err(CliError::output)?;
    let made = format!("archived by {}, rerun by {}", archive.provenance["made_by"], origin());
    if let Some(difference) = archive.difference(&data) {
        let path = path.display();
        return Ok(Outcome::CheckFailed(format!("{path}: {difference} ({made})")));
    }
    let runs = counted(found.len() as u64, "run");
    print(|out| writeln!(out, "the same data from {runs}, byte for byte\n{made}"))?;
    Ok(Outcome::Done)
}

/// Does jobs that are not done, on all cores, and says which were damaged. Returns how many there were to do.
pub(super) fn work(folder: &Folder<'_>, numbers: &[usize]) -> Result<usize, CliError> {
    let bar = progress_bar(numbers.len() as u64, "running");
    let done = folder.work_all(numbers, |worked| {
        if let Worked::Again(damaged) = worked {
            bar.suspend(|| say(&format!("hopwise: {damaged}: done again")));
        }
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    Ok(done)
}

/// Writes files into a folder and prints where they are.
pub(super) fn write_files(folder: &Path, files: &[(impl AsRef<str>, String)]) -> Result<(), CliError> {
    std::fs::create_dir_all(folder).map_err(|error| CliError::output_file(folder, &error))?;
    for (name, text) in files {
        let path = folder.join(name.as_ref());
        write_file(&path, text)?;
        print(|out| writeln!(out, "{}", path.display()))?;
    }
    Ok(())
}

/// JSON for people too.
pub(super) fn pretty(value: &impl Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string_pretty(value).map_err(CliError::output)?;
    Ok(text + "\n")
}
