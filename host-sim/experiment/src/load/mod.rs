//! Latency against load as jobs, and what is written about many of them.

pub mod plot;
pub mod report;
pub mod study;

use hopwise_load::settings::{Found, Settings};
use serde_json::{Map, Value};

use crate::{Finding, Job, Kind, Refused};

/// What `hopwise load` does.
pub struct Load;

impl Kind for Load {
    fn name(&self) -> &'static str {
        "load"
    }

    fn check_option(&self, name: &str, value: &Value) -> Result<(), Refused> {
        Settings::of(&Map::from_iter([(name.to_string(), value.clone())]))?;
        Ok(())
    }

    fn check(&self, job: &Job) -> Result<(), Refused> {
        Ok(Settings::of(&job.settings())?.check()?)
    }

    fn run(&self, job: &Job) -> Result<Finding, Refused> {
        let found = Settings::of(&job.settings())?.run(&|_, _| ())?;
        Ok(Finding {
            passed: !matches!(&found, Found::Point(point) if point.deadlock.is_some()),
            result: serde_json::to_value(found)?,
        })
    }
}
