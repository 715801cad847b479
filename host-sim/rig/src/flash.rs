//! Image and configuration pages into boards, through the probe-rs program.
//!
//! All boards of a mesh get the same image; what makes them differ is their page, in a sector of its own.

use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use super::mesh::Mesh;

/// What is done to a board, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The program.
    Image,
    /// The configuration page.
    Page,
    /// The board starts with both.
    Reset,
}

impl Step {
    /// All of them.
    pub const ALL: [Step; 3] = [Step::Image, Step::Page, Step::Reset];
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Image => "image",
            Step::Page => "page",
            Step::Reset => "reset",
        })
    }
}

/// Why a board is not flashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What failed.
    pub step: Step,
    /// What probe-rs said last.
    pub reason: String,
}

/// One board to flash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its node.
    pub node: u64,
    /// Its probe, as probe-rs selects it.
    pub probe: String,
    /// The file with its page.
    pub page: PathBuf,
}

/// What is the same for all boards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flasher {
    /// The probe-rs program.
    pub program: String,
    /// What probe-rs calls the chip.
    pub chip: &'static str,
    /// The image.
    pub elf: PathBuf,
    /// Where pages go.
    pub page_at: u32,
}

/// The jobs for nodes; those without a probe are told in a sentence.
pub fn jobs(mesh: &Mesh, nodes: &[u64], folder: &Path) -> Result<Vec<Job>, String> {
    let without: Vec<String> = nodes
        .iter()
        .filter(|node| mesh.probe(**node).is_none())
        .map(u64::to_string)
        .collect();
    if !without.is_empty() {
        return Err(format!(
            "the mesh file names no probe for {}: `probe-rs list` shows the numbers of those that are plugged in",
            without.join(", ")
        ));
    }
    let job = |node: &u64| Job {
        node: *node,
        probe: mesh.probe(*node).unwrap_or_default(),
        page: folder.join(format!("page-{node}.bin")),
    };
    Ok(nodes.iter().map(job).collect())
}

impl Flasher {
    /// The arguments of probe-rs for one step.
    pub fn arguments(&self, job: &Job, step: Step) -> Vec<String> {
        let text = |path: &Path| path.display().to_string();
        let board = ["--chip", self.chip, "--probe", &job.probe].map(String::from);
        let (command, more) = match step {
            Step::Image => ("download", vec!["--disable-progressbars".into(), text(&self.elf)]),
            Step::Page => {
                let address = format!("{:#010x}", self.page_at);
                let place = [
                    "--binary-format",
                    "bin",
                    "--base-address",
                    &address,
                    "--disable-progressbars",
                ];
                let place = place.map(String::from).into_iter();
                ("download", place.chain([text(&job.page)]).collect())
            }
            Step::Reset => ("reset", Vec::new()),
        };
        [command.to_string()].into_iter().chain(board).chain(more).collect()
    }

    /// Flashes one board.
    pub fn flash(&self, job: &Job, progress: &dyn Fn(Step)) -> Result<(), Failure> {
        for step in Step::ALL {
            progress(step);
            let failed = |reason: String| Failure { step, reason };
            let output = Command::new(&self.program).args(self.arguments(job, step)).output();
            let output = output.map_err(|error| failed(format!("{}: {error}", self.program)))?;
            if !output.status.success() {
                let said = [output.stderr, output.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                let last = said
                    .iter()
                    .flat_map(|text| text.lines().rev())
                    .map(str::trim)
                    .find(|line| !line.is_empty());
                return Err(failed(last.map_or_else(|| output.status.to_string(), String::from)));
            }
        }
        Ok(())
    }

    /// Flashes boards, several at once. The results are in the order of the jobs.
    pub fn flash_all(
        &self,
        jobs: &[Job],
        at_once: usize,
        progress: &(dyn Fn(usize, Step) + Sync),
        done: &(dyn Fn(usize, &Result<(), Failure>) + Sync),
    ) -> Vec<Result<(), Failure>> {
        let waiting: Mutex<VecDeque<usize>> = Mutex::new((0..jobs.len()).collect());
        let results: Mutex<Vec<Option<Result<(), Failure>>>> = Mutex::new(vec![None; jobs.len()]);
        let next = || waiting.lock().ok()?.pop_front();
        let work = || {
            while let Some(place) = next() {
                let result = self.flash(&jobs[place], &|step| progress(place, step));
                done(place, &result);
                if let Ok(mut results) = results.lock() {
                    results[place] = Some(result);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..at_once.clamp(1, jobs.len().max(1)) {
                scope.spawn(work);
            }
        });
        let lost = || Failure {
            step: Step::Image,
            reason: "not tried".into(),
        };
        let results = results.into_inner().unwrap_or_default();
        results
            .into_iter()
            .map(|result| result.unwrap_or_else(|| Err(lost())))
            .collect()
    }
}

/// Writes the pages of jobs.
pub fn write_pages(mesh: &Mesh, jobs: &[Job]) -> Result<(), String> {
    for job in jobs {
        let page = mesh.page(job.node).map_err(|error| error.to_string())?;
        std::fs::write(&job.page, page).map_err(|error| format!("{}: {error}", job.page.display()))?;
    }
    Ok(())
}
