//! What commands print, and how it ends.

use std::io::{self, Write};

use hopwise_core::{Network, Node};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::refusal::Refusal;

/// How a command ended that was not refused.
pub(super) enum Outcome {
    /// Well.
    Done,
    /// A check failed; the sentence says which.
    CheckFailed(String),
}

/// Writes to standard output. A reader that has heard enough, such as `head`, is no error.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Refusal> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Refusal::Output(error.to_string())),
        _ => Ok(()),
    }
}

/// Writes one JSON object on a line.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Refusal> {
    let text = serde_json::to_string(value).map_err(|error| Refusal::Output(error.to_string()))?;
    print(|out| writeln!(out, "{text}"))
}

/// Writes names and values in two columns.
pub(super) fn print_facts(title: &str, facts: &[(&str, String)]) -> Result<(), Refusal> {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    print(|out| {
        writeln!(out, "{title}")?;
        facts
            .iter()
            .try_for_each(|(name, value)| writeln!(out, "  {name:width$}  {value}"))
    })
}

/// A node's address as people write it.
pub(super) fn address(network: &Network, node: Node) -> String {
    let address = network.address(node);
    address.map(|address| address.to_string()).unwrap_or_default()
}

/// A progress bar on a terminal; nothing where the output goes elsewhere.
pub(super) fn progress_bar(total: u64, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
    ProgressBar::new(total)
        .with_message(what)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
