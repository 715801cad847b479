use clap::{Args, FromArgMatches};
use hopwise_experiment::{Finding, Job, Kind, Refused};
use indicatif::ProgressBar;

use super::{EmulateArgs, Subject, figures, findings};
use crate::command::RepositoryArg;

/// Emulated meshes as jobs of an experiment. Firmware is built as this says.
pub(in crate::command) struct Emulate<'a>(pub(in crate::command) &'a RepositoryArg);

impl Emulate<'_> {
    fn args(job: &Job) -> Result<EmulateArgs, Refused> {
        let command = EmulateArgs::augment_args(clap::Command::new("emulate"));
        let parsed = command.try_get_matches_from(job.arguments());
        let parsed = parsed.and_then(|matches| EmulateArgs::from_arg_matches(&matches));
        parsed.map_err(|error| {
            let text = error.to_string();
            let sentence = text.lines().next().unwrap_or_default();
            sentence.trim_start_matches("error: ").into()
        })
    }
}

impl Kind for Emulate<'_> {
    fn name(&self) -> &'static str {
        "emulate"
    }

    fn check(&self, job: &Job) -> Result<(), Refused> {
        let subject = Subject::of(&Self::args(job)?)?;
        Ok(subject.check_size()?)
    }

    fn run(&self, job: &Job) -> Result<Finding, Refused> {
        let args = Self::args(job)?;
        let (figures, _) = figures(&args, self.0, &ProgressBar::hidden())?;
        Ok(Finding {
            passed: findings(&args, &figures).is_empty(),
            result: serde_json::to_value(figures)?,
        })
    }
}
