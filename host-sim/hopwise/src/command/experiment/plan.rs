//! What an experiment's file says: which commands to run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Value;

/// The commands that can be run.
const KINDS: [&str; 3] = ["load", "sim", "emulate"];
/// More jobs than this are a mistake.
const MOST_JOBS: usize = 100_000;

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Job {
    /// The command.
    pub(super) kind: String,
    /// The network, as an expression.
    pub(super) network: String,
    /// Its options but the seed, by name; an empty value is an option without one.
    pub(super) options: BTreeMap<String, String>,
    /// The seed.
    pub(super) seed: u64,
}

impl Job {
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![self.kind.clone(), self.network.clone()];
        for (name, value) in &self.options {
            arguments.push(format!("--{name}"));
            arguments.extend(Some(value).filter(|value| !value.is_empty()).cloned());
        }
        arguments.extend(["--seed".into(), self.seed.to_string(), "--json".into()]);
        arguments
    }

    /// As a person would type it.
    pub(super) fn command(&self) -> String {
        let quoted = |text: &String| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.,:/".contains(&byte);
            if text.bytes().all(plain) {
                text.clone()
            } else {
                format!("'{text}'")
            }
        };
        let words: Vec<String> = self.arguments().iter().map(quoted).collect();
        format!("hopwise {}", words.join(" "))
    }

    /// What tells it from other runs of its command and network, without the seed.
    pub(super) fn scenario(&self) -> String {
        let written = self.options.iter().map(|(name, value)| match value.as_str() {
            "" => name.clone(),
            value => format!("{name}={value}"),
        });
        written.collect::<Vec<_>>().join(" ")
    }
}

/// All runs, in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) jobs: Vec<Job>,
}

/// Why a file is no experiment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadPlan {
    #[error("{0}")]
    Toml(String),
    #[error("'networks' must be a list of expressions")]
    Networks,
    #[error("'seeds' must be a number from 1 to 10000")]
    Seeds,
    #[error("there is no [{0}]: the tables are [load], [sim] and [emulate]")]
    Kind(String),
    #[error("[{kind}] {key} must be a value or a list of values")]
    Option { kind: String, key: String },
    #[error("[{kind}] {key} is set by the experiment itself")]
    Reserved { kind: String, key: String },
    #[error("there is nothing to run: a table [load], [sim] or [emulate] is missing")]
    Nothing,
    #[error("these are more than {MOST_JOBS} runs")]
    TooMany,
}

impl Plan {
    pub(super) fn read(text: &str) -> Result<Plan, BadPlan> {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| BadPlan::Toml(error.to_string()))?;
        let networks = table
            .get("networks")
            .and_then(Value::as_array)
            .ok_or(BadPlan::Networks)?;
        let networks: Option<Vec<&str>> = networks.iter().map(Value::as_str).collect();
        let networks = networks
            .filter(|networks| !networks.is_empty())
            .ok_or(BadPlan::Networks)?;
        let seeds = match table.get("seeds") {
            None => 5,
            Some(seeds) => seeds
                .as_integer()
                .filter(|seeds| (1..=10_000).contains(seeds))
                .ok_or(BadPlan::Seeds)?,
        };
        let mut jobs = Vec::new();
        let tables = table
            .iter()
            .filter(|(name, _)| !["networks", "seeds"].contains(&name.as_str()));
        for (kind, options) in tables {
            let options = options.as_table().filter(|_| KINDS.contains(&kind.as_str()));
            let options = options.ok_or_else(|| BadPlan::Kind(kind.clone()))?;
            let combinations = combine(kind, options)?;
            if combinations.len() * networks.len() * seeds as usize + jobs.len() > MOST_JOBS {
                return Err(BadPlan::TooMany);
            }
            for &network in &networks {
                for options in &combinations {
                    jobs.extend((1..=seeds as u64).map(|seed| Job {
                        kind: kind.clone(),
                        network: network.into(),
                        options: options.clone(),
                        seed,
                    }));
                }
            }
        }
        if jobs.is_empty() {
            return Err(BadPlan::Nothing);
        }
        Ok(Plan { jobs })
    }
}

/// Every combination of the values of the options.
fn combine(kind: &str, options: &toml::Table) -> Result<Vec<BTreeMap<String, String>>, BadPlan> {
    let mut combinations = vec![BTreeMap::new()];
    for (key, value) in options {
        let (kind, key) = (kind.to_string(), key.clone());
        if ["seed", "seeds", "json", "network"].contains(&key.as_str()) {
            return Err(BadPlan::Reserved { kind, key });
        }
        let list: Option<Vec<Option<String>>> = match value {
            Value::Array(values) => values.iter().map(written).collect(),
            value => written(value).map(|value| vec![value]),
        };
        let list = list
            .filter(|list| !list.is_empty())
            .ok_or(BadPlan::Option { kind, key: key.clone() })?;
        combinations = combinations
            .iter()
            .flat_map(|before| {
                list.iter().map(|value| {
                    let mut options = before.clone();
                    if let Some(value) = value {
                        options.insert(key.clone(), value.clone());
                    }
                    options
                })
            })
            .collect();
    }
    Ok(combinations)
}

/// A value as an option has it: `None` if it is none that an option can have, `Some(None)` if the option is left out.
fn written(value: &Value) -> Option<Option<String>> {
    match value {
        Value::String(text) if text.is_empty() => Some(None),
        Value::String(text) => Some(Some(text.clone())),
        Value::Integer(number) => Some(Some(number.to_string())),
        Value::Float(number) => Some(Some(number.to_string())),
        Value::Boolean(true) => Some(Some(String::new())),
        Value::Boolean(false) => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_run() {
        let plan = Plan::read(
            "networks = ['ring(5)', 'petersen']\nseeds = 2\n[load]\nrate = [0.05, 0.1]\n[sim]\nfor = '1s'\nconfirmed = true\nevents = ['', \
             '1s cut 0.0']\n",
        );
        let plan = plan.expect("it is sound");
        assert_eq!(plan.jobs.len(), 2 * 2 * 2 + 2 * 2 * 2);
        assert_eq!(
            plan.jobs[0].command(),
            "hopwise load 'ring(5)' --rate 0.05 --seed 1 --json"
        );
        let last = plan.jobs.last().expect("there are some");
        assert_eq!(
            last.command(),
            "hopwise sim petersen --confirmed --events '1s cut 0.0' --for 1s --seed 2 --json"
        );
        assert_eq!(last.scenario(), "confirmed events=1s cut 0.0 for=1s");
    }

    #[test]
    fn what_is_no_experiment_is_refused() {
        for (text, why) in [
            ("seeds = 1\n[load]\n", "'networks' must be a list of expressions"),
            (
                "networks = ['ring(5)']\nseeds = 0\n[load]\n",
                "'seeds' must be a number from 1 to 10000",
            ),
            (
                "networks = ['ring(5)']\n",
                "there is nothing to run: a table [load], [sim] or [emulate] is missing",
            ),
            (
                "networks = ['ring(5)']\n[lood]\n",
                "there is no [lood]: the tables are [load], [sim] and [emulate]",
            ),
            (
                "networks = ['ring(5)']\n[load]\nseed = 3\n",
                "[load] seed is set by the experiment itself",
            ),
            (
                "networks = ['ring(5)']\n[load]\nrate = { a = 1 }\n",
                "[load] rate must be a value or a list of values",
            ),
        ] {
            assert_eq!(Plan::read(text).expect_err(text).to_string(), why);
        }
    }
}
