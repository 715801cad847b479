//! A finding of the wiring check, as `hopwise check` shows it.

use hopwise_rig::wiring_check::{Finding, FindingKind};

/// The column of the kinds in [`sentence`].
pub(super) const KIND_WIDTH: usize = 12;

pub(super) fn sentence(finding: &Finding) -> String {
    let place = match (finding.port, finding.uart) {
        (Some(port), Some(uart)) => format!("{}.{port} ({uart})", finding.node),
        (_, Some(uart)) => format!("{} {uart}", finding.node),
        _ => finding.node.to_string(),
    };
    let expected = finding.expected.as_deref().unwrap_or("nothing");
    let found = finding.found.as_deref().unwrap_or("nothing");
    match finding.kind {
        FindingKind::NoAnswer => format!("no answer   {place}"),
        FindingKind::WrongBoard => format!("wrong board {place}: {found} instead of {expected}"),
        FindingKind::Swapped => format!("swapped     {place}: leads to {found} instead of {expected}"),
        FindingKind::Missing => format!("missing     {place}: nothing is heard of {expected}"),
        FindingKind::Extra => format!("extra       {place}: leads to {found}, and should be free"),
        FindingKind::Key => {
            format!("key         {place}: who is there, and should be {expected}, has another key, or none")
        }
        FindingKind::Version => {
            format!(
                "version     {place}: who is there, and should be {expected}, speaks another version of the wire format"
            )
        }
        FindingKind::OneWay => format!("one way     {place}: nothing arrives from {expected}, which hears this end"),
    }
}
