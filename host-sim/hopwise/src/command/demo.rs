use hopwise_demo::Demo;

use super::error::CliError;
use super::output::{Outcome, print};

pub(super) fn run() -> Result<Outcome, CliError> {
    let demo = Demo::run().map_err(CliError::room)?;
    print(|out| write!(out, "{}", demo.text))?;
    Ok(demo.failure.map_or(Outcome::Done, Outcome::CheckFailed))
}
