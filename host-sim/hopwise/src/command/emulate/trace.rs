use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use hopwise_core::Network;
use hopwise_emulate::rig::CannotEmulate;
use hopwise_emulator::boards::BoardKind;
use hopwise_emulator::time::SECOND;
use hopwise_node::wire::{Pattern, Traffic};
use hopwise_rig::board_log::BoardLine;
use hopwise_rig::mesh::Mesh;
use hopwise_trace::line::{Header, Nanos};
use hopwise_trace::text::read_event;
use hopwise_trace::writer::Writer;

use super::EmulateArgs;
use crate::command::error::CliError;
use crate::command::output::check_output;

/// The mesh of boards of a kind: what boards do besides routing is said in its configuration.
pub(super) fn mesh(network: Network, kind: &BoardKind) -> Result<Mesh, CliError> {
    let known = hopwise_rig::boards::kind(kind.name);
    let kind = known.ok_or_else(|| CannotEmulate::NoSuchBoard(kind.name.into()))?;
    Ok(Mesh::new(network, kind)?)
}

/// Boards log their packets, send some, and have another rate, as far as that is asked for.
pub(super) fn prepare(mesh: &mut Mesh, args: &EmulateArgs) -> Result<(), CliError> {
    mesh.log_packets |= args.trace.is_some();
    if let Some(baud) = args.baud {
        mesh.set_baud(baud)?;
    }
    if let Some(rate) = args.traffic {
        mesh.traffic = Some(Traffic {
            random: args.payload_bytes == "random",
            ..Traffic::new(rate, 0, Pattern::Uniform, args.payload)
        });
    }
    Ok(())
}

/// A trace while it is written.
pub(super) struct TraceFile {
    path: PathBuf,
    writer: Writer<BufWriter<File>>,
}

impl TraceFile {
    pub(super) fn create(path: &Path, args: &EmulateArgs, network: &Network, baud: u32) -> Result<Self, CliError> {
        let failed = |error| CliError::file(path, error);
        check_output(path, args.script.as_deref())?;
        let file = File::create(path).map_err(failed)?;
        let header = Header::new(network, baud);
        let writer = Writer::new(BufWriter::new(file), &header).map_err(failed)?;
        Ok(Self {
            path: path.into(),
            writer,
        })
    }

    /// Adds the events among the lines of boards' logs.
    pub(super) fn write(&mut self, lines: &[BoardLine]) -> Result<(), CliError> {
        for line in lines {
            if let Some(event) = read_event(&line.text) {
                let at = (line.at / (SECOND / 1_000_000_000)) as Nanos;
                let written = self.writer.event(at, line.board as u64, &event);
                written.map_err(|error| CliError::file(&self.path, error))?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), CliError> {
        let finished = self.writer.finish();
        finished.map(|_| ()).map_err(|error| CliError::file(&self.path, error))
    }
}
