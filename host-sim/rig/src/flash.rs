//! Image and configs into boards, through the probe-rs program.
//!
//! All boards of a mesh get the same image and boot loader; what makes them differ is their config, in a slot of its own.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hopwise_core::named;
use hopwise_files::create_private;
use hopwise_node::signature::OwnerKey;
use hopwise_node::store::{COMMITTED_BYTES, Keys, committed, count_from, last_epoch_in};
use hopwise_node::wire::{BadConfig, CONFIG_BYTES};

use super::mesh::Mesh;
use super::probe_rs::{Call, Program, Target, output_within};

named! {
    /// What is done to a board, in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FlashStep {
        Image = "image",
        /// The boot loader, with which the next program can come through the mesh.
        Loader = "boot loader",
        /// The number of its last start, if it has keys: it must not come again.
        Epoch = "number of starts",
        Config = "config",
        /// The board starts with both.
        Reset = "reset",
    }
}

impl fmt::Display for FlashStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlashFailure {
    pub step: FlashStep,
    /// What probe-rs said last.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlashJob {
    pub node: u64,
    /// Its probe, as probe-rs selects it.
    pub probe: String,
    pub config: PathBuf,
}

/// What is the same for all boards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flasher {
    /// What probe-rs calls the chip.
    pub chip: &'static str,
    pub elf: PathBuf,
    /// The boot loader, if there is to be one: it goes where the image has put its own beginning.
    pub loader: Option<PathBuf>,
    /// Where configs go.
    pub slots: u32,
    /// The size of a slot if the boards have keys.
    pub keyed_slot_bytes: Option<u32>,
    pub limit: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the mesh file names no probe for {}: `probe-rs list` shows the numbers of those that are plugged in",
    .0.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
)]
pub struct NoProbes(pub Vec<u64>);

pub fn jobs(mesh: &Mesh, nodes: &[u64], folder: &Path) -> Result<Vec<FlashJob>, NoProbes> {
    let without = nodes.iter().copied().filter(|node| mesh.probe(*node).is_none());
    let without: Vec<u64> = without.collect();
    if !without.is_empty() {
        return Err(NoProbes(without));
    }
    let job = |node: &u64| FlashJob {
        node: *node,
        probe: mesh.probe(*node).unwrap_or_default(),
        config: folder.join(format!("config-{node}.bin")),
    };
    Ok(nodes.iter().map(job).collect())
}

impl Flasher {
    /// What probe-rs is called for in a step; `None` if there is nothing to do.
    pub fn call<'a>(&'a self, job: &'a FlashJob, step: FlashStep) -> Option<Call<'a>> {
        let target = Target {
            chip: self.chip,
            probe: &job.probe,
        };
        Some(match step {
            FlashStep::Image => Call::Image(target, &self.elf),
            FlashStep::Loader => Call::Image(target, self.loader.as_ref()?),
            FlashStep::Epoch => Call::Read(target, self.slots, 2 * self.keyed_slot_bytes? / 4),
            FlashStep::Config => Call::Bytes(target, self.slots, &job.config),
            FlashStep::Reset => Call::Reset(target),
        })
    }

    pub fn flash(&self, program: &Program, job: &FlashJob, progress: &dyn Fn(FlashStep)) -> Result<(), FlashFailure> {
        for step in FlashStep::ALL {
            let Some(call) = self.call(job, step) else {
                continue;
            };
            progress(step);
            let failed = |reason: String| FlashFailure { step, reason };
            let output = output_within(&mut program.command(call), self.limit);
            let output = output.map_err(|error| failed(error.to_string()))?;
            if !output.status.success() {
                let said = [output.stderr, output.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                let mut lines = said.iter().flat_map(|text| text.lines().rev()).map(str::trim);
                let last = lines.find(|line| !line.is_empty());
                return Err(failed(last.map_or_else(|| output.status.to_string(), String::from)));
            }
            if step == FlashStep::Epoch {
                let bytes = 2 * self.keyed_slot_bytes.unwrap_or_default() as usize;
                let all = Some(&output.stdout).filter(|read| read.len() == bytes);
                let read = all.ok_or_else(|| failed(format!("{} of {bytes} bytes were read", output.stdout.len())))?;
                count_on(job, read).map_err(|error| failed(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Flashes boards, several at once. The results are in the order of the jobs.
    pub fn flash_all(
        &self,
        program: &Program,
        jobs: &[FlashJob],
        at_once: usize,
        progress: &(dyn Fn(usize, FlashStep) + Sync),
        done: &(dyn Fn(usize, &Result<(), FlashFailure>) + Sync),
    ) -> Vec<Result<(), FlashFailure>> {
        let waiting: Mutex<VecDeque<usize>> = Mutex::new((0..jobs.len()).collect());
        let results: Mutex<Vec<Option<Result<(), FlashFailure>>>> = Mutex::new(vec![None; jobs.len()]);
        let next = || waiting.lock().ok()?.pop_front();
        let work = || {
            while let Some(place) = next() {
                let result = self.flash(program, &jobs[place], &|step| progress(place, step));
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
        let lost = || FlashFailure {
            step: FlashStep::Image,
            reason: "not tried".into(),
        };
        let results = results.into_inner().unwrap_or_default();
        let whole = |result: Option<_>| result.unwrap_or_else(|| Err(lost()));
        results.into_iter().map(whole).collect()
    }
}

/// Lets the config of a board count on from the last start in what was read of its slots: the clock of the host may have been set back, and no
/// two starts may have the same number under one key.
fn count_on(job: &FlashJob, slots: &[u8]) -> io::Result<()> {
    let Some(last) = last_epoch_in(slots) else {
        return Ok(());
    };
    let mut bytes = std::fs::read(&job.config)?;
    count_from(&mut bytes, last).ok_or(io::ErrorKind::InvalidData)?;
    std::fs::write(&job.config, bytes)
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigNotWritten {
    #[error("{0}")]
    Config(BadConfig),
    #[error("{}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
}

/// What goes into the flash: a config in the first slot, and nothing in the second.
fn slots(config: &[u8; CONFIG_BYTES], keys: Option<Keys>, owner: Option<OwnerKey>, slot_bytes: usize) -> Vec<u8> {
    // A board counts its starts from here. Seconds run faster than boards are started, so no number comes twice.
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut bytes = vec![0xff; slot_bytes + COMMITTED_BYTES];
    let committed = committed(config, keys, owner, since_1970.as_secs() as u32);
    bytes[..committed.len()].copy_from_slice(&committed);
    bytes
}

pub fn write_configs(mesh: &Mesh, jobs: &[FlashJob]) -> Result<(), ConfigNotWritten> {
    for job in jobs {
        let config = mesh.config(job.node).map_err(ConfigNotWritten::Config)?;
        let keys = mesh.keys.map(|keys| keys.of_board(job.node));
        let bytes = slots(&config, keys, mesh.owner, mesh.kind_of(job.node).slot_bytes as usize);
        // Nobody else may read it: there may be keys in it.
        let written = create_private(&job.config).and_then(|mut file| file.write_all(&bytes));
        written.map_err(|error| ConfigNotWritten::Write {
            path: job.config.clone(),
            error,
        })?;
    }
    Ok(())
}
