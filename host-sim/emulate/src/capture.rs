//! The logs of emulated boards as a capture.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::World;
use hopwise_node::wire::{Pattern, Traffic};
use hopwise_rig::board_log::LogFormat;
use hopwise_rig::capture::{CannotCapture, Capture};
use hopwise_rig::log_sources::{log_line, stream_of};
use hopwise_rig::mesh::Mesh;

use crate::rig::{CannotEmulate, blueprint};
use crate::setup::{self, Differences};

/// How often emulated boards' logs are read.
const SLICE: Time = 10 * MILLISECOND;
/// Emulated boards are switched on one after the other, as by hand, within this.
const STARTS_WITHIN: Time = 200 * MILLISECOND;
const DRIFT_PPM: f64 = 30.0;

#[derive(Clone, Debug)]
pub struct EmulatedRun {
    pub seed: u64,
    pub duration: Time,
    /// Packets a second that each board sends, besides what the mesh file says.
    pub traffic: Option<u32>,
    /// Where the streams are kept, as `0.rtt`, `1.rtt` ...
    pub record: Option<PathBuf>,
}

/// Boards that log their packets, with clocks that differ, switched on.
pub fn boards(mesh: &Mesh, image: &Arc<Image>, run: &EmulatedRun) -> Result<World, CannotEmulate> {
    let mut mesh = mesh.clone();
    mesh.log_packets = true;
    if let Some(rate) = run.traffic {
        mesh.traffic = Some(Traffic::new(rate, 0, Pattern::Uniform, 32));
    }
    let mut blueprint = blueprint(&mesh)?;
    let nodes = mesh.network.nodes();
    // In another order than that of their numbers.
    let start = |node| STARTS_WITHIN * (node * 7 % nodes) / nodes;
    blueprint.starts = mesh.nodes().map(start).collect();
    let differences = Differences::new(run.seed, DRIFT_PPM);
    Ok(setup::assemble(&blueprint, image, differences)?)
}

/// The lines of such boards, until the time is over or `stop` is set. The ELF file of their image says how to read them.
pub fn from_emulated(
    mut world: World,
    elf: &[u8],
    run: &EmulatedRun,
    capture: &mut Capture<'_>,
    stop: &AtomicBool,
) -> Result<(), CannotCapture> {
    let format = LogFormat::of_elf(elf)?;
    let mut streams = run.record.as_deref().map(Streams::create).transpose()?;
    let mut readers = format.readers(world.boards().len());
    while world.now() < run.duration && !stop.load(Ordering::Relaxed) {
        world.run_until((world.now() + SLICE).min(run.duration));
        let mut lines = Vec::new();
        for (board, emulated) in world.boards_mut().iter_mut().enumerate() {
            for (at, bytes) in emulated.take_log() {
                lines.extend(readers.decode(board, at, &bytes));
                if let Some(streams) = &mut streams {
                    streams.append(board, &bytes)?;
                }
            }
        }
        lines.sort_by_key(|line| (line.at, line.board));
        for line in lines {
            let arrived = line.at as f64 / SECOND as f64;
            capture.add(&log_line(line, Some(arrived)))?;
        }
    }
    capture.undecodable += readers.undecodable;
    streams.map_or(Ok(()), Streams::finish)
}

/// A folder with the streams of boards. Streams that are there are replaced when the new ones are whole.
struct Streams<'a> {
    folder: &'a Path,
    begun: BTreeSet<usize>,
}

impl<'a> Streams<'a> {
    fn create(folder: &'a Path) -> Result<Self, CannotCapture> {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))?;
        let begun = BTreeSet::new();
        Ok(Streams { folder, begun })
    }

    fn append(&mut self, board: usize, bytes: &[u8]) -> Result<(), CannotCapture> {
        let path = partial_stream_of(self.folder, board as u64);
        // Opened for each piece: there may be more boards than files can be open.
        let opened = match self.begun.insert(board) {
            true => File::create(&path),
            false => File::options().append(true).open(&path),
        };
        let written = opened.and_then(|mut file| file.write_all(bytes));
        written.map_err(|error| cannot_write(&path, error))
    }

    fn finish(self) -> Result<(), CannotCapture> {
        for board in self.begun.into_iter().map(|board| board as u64) {
            let path = stream_of(self.folder, board);
            std::fs::rename(partial_stream_of(self.folder, board), &path)
                .map_err(|error| cannot_write(&path, error))?;
        }
        Ok(())
    }
}

fn partial_stream_of(folder: &Path, node: u64) -> PathBuf {
    folder.join(format!("{node}.rtt.partial"))
}

fn cannot_write(path: &Path, error: io::Error) -> CannotCapture {
    CannotCapture::Output {
        path: path.to_path_buf(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_what_they_were_until_the_new_ones_are_whole() {
        let folder = std::env::temp_dir().join(format!("hopwise-streams-{}", std::process::id()));
        let read = || std::fs::read_to_string(stream_of(&folder, 0)).unwrap();
        let mut streams = Streams::create(&folder).unwrap();
        streams.append(0, b"good").unwrap();
        streams.finish().unwrap();
        let mut streams = Streams::create(&folder).unwrap();
        streams.append(0, b"bet").unwrap();
        assert_eq!(read(), "good");
        drop(streams);
        let mut streams = Streams::create(&folder).unwrap();
        streams.append(0, b"bett").unwrap();
        streams.append(0, b"er").unwrap();
        streams.finish().unwrap();
        assert_eq!(read(), "better");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
