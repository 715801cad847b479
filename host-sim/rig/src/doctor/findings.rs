//! What an examination has found, as a report to be pasted.

use std::fmt;

use hopwise_node::wire::CONFIG_BYTES;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Good,
    Fault,
    Skipped,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Of what: board, configuration, flash, clock, baud, links, port, update, power, watchdog, stack or cable.
    pub what: &'static str,
    pub verdict: Verdict,
    pub text: String,
}

/// Something that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub what: String,
    pub value: f64,
    /// `s`, `ms`, `%`, `frames` or `bytes`; empty for a count.
    pub unit: String,
}

impl Figure {
    /// Whether another board of the kind may well have this value instead.
    fn is_like(&self, other: f64) -> bool {
        let (part, more) = match self.unit.as_str() {
            "s" => (0.5, 0.5),
            "ms" => (1.0, 10.0),
            "%" => (0.0, 0.3),
            "frames" => (0.2, 2.0),
            "bytes" => (0.2, 0.0),
            _ => (0.0, 0.0),
        };
        (self.value - other).abs() <= other.abs() * part + more
    }
}

/// What the file of a kit says; it has more for those who read it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct KitReport {
    pub board: String,
    /// All boards, that one first.
    #[serde(default)]
    pub boards: Vec<String>,
    pub figures: Vec<Figure>,
}

/// A figure of a board that an emulated one does not have, or has another value for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub what: String,
    pub board: f64,
    pub emulated: Option<f64>,
    pub unit: String,
}

pub fn differences(board: &[Figure], emulated: &[Figure]) -> Vec<Difference> {
    let difference = |figure: &Figure| {
        let other = emulated.iter().find(|other| other.what == figure.what);
        let is_like = other.is_some_and(|other| figure.is_like(other.value));
        (!is_like).then(|| Difference {
            what: figure.what.clone(),
            board: figure.value,
            emulated: other.map(|other| other.value),
            unit: figure.unit.clone(),
        })
    };
    board.iter().filter_map(difference).collect()
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examination {
    /// In the order in which it was looked at.
    pub findings: Vec<Finding>,
    pub figures: Vec<Figure>,
    /// The configuration that the board had and has, if it could be read.
    pub config: Option<[u8; CONFIG_BYTES]>,
}

impl Examination {
    /// Adds what was found of something else, with its name.
    pub fn add(&mut self, name: &str, other: Examination) {
        self.findings.extend(other.findings.into_iter().map(|finding| Finding {
            text: format!("{name}: {}", finding.text),
            ..finding
        }));
        self.figures.extend(other.figures.into_iter().map(|figure| Figure {
            what: format!("{name}: {}", figure.what),
            ..figure
        }));
    }

    pub fn faults(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.verdict == Verdict::Fault)
    }
}

impl fmt::Display for Examination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Finding { what, verdict, text } in &self.findings {
            let mark = match verdict {
                Verdict::Good => "good ",
                Verdict::Fault => "FAULT",
                Verdict::Skipped => "-    ",
            };
            writeln!(f, "{mark}  {what:<14}{text}")?;
        }
        if let Some(config) = self.config.filter(|config| config.iter().any(|byte| *byte != 0xff)) {
            writeln!(f, "\nits config:")?;
            for line in config.chunks(32) {
                let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
                writeln!(f, "  {}", bytes.join(" "))?;
            }
        }
        Ok(())
    }
}
