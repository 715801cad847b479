//! What an examination has found, as a report to be pasted.

use std::fmt;

use hopwise_node::wire::CONFIG_BYTES;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Good,
    Fault,
    Skipped,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Of what: board, configuration, flash, clock, baud, links, watchdog or stack.
    pub what: &'static str,
    pub verdict: Verdict,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// In the order in which it was looked at.
    pub findings: Vec<Finding>,
    /// The configuration that the board had and has, if it could be read.
    pub config: Option<[u8; CONFIG_BYTES]>,
}

impl Examination {
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
