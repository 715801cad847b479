//! Simulations in virtual time as jobs.

use std::time::Instant;

use hopwise_sim::report::Report;
use hopwise_sim::{Settings, simulate};
use serde_json::{Map, Value};

use crate::{Finding, Job, Kind, Refused};

/// What `hopwise sim` does.
pub struct Sim;

impl Sim {
    pub fn report(settings: &Settings) -> Result<Report, Refused> {
        let run = settings.run()?;
        let started = Instant::now();
        let account = simulate(&run, None, &mut |_| ())?;
        Ok(Report::new(settings, &run, &account, started.elapsed().as_secs_f64()))
    }
}

impl Kind for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn check_option(&self, name: &str, value: &Value) -> Result<(), Refused> {
        Settings::of(&Map::from_iter([(name.to_string(), value.clone())]))?;
        Ok(())
    }

    fn check(&self, job: &Job) -> Result<(), Refused> {
        Settings::of(&job.settings())?.run()?;
        Ok(())
    }

    fn run(&self, job: &Job) -> Result<Finding, Refused> {
        let report = Sim::report(&Settings::of(&job.settings())?)?;
        Ok(Finding {
            passed: report.violation.is_none(),
            result: serde_json::to_value(report)?,
        })
    }
}
