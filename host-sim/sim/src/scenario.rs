//! Scenario files: the settings of `hopwise sim` as TOML, each a value, a list or a range. The runs are the product of them.
//!
//! ```toml
//! network = ["rdn(ring(3),1)", "heawood"]
//! confirmed = true
//! ber = [0, 1e-5, 1e-4]
//! seed = { from = 1, to = 50 }
//! events = """
//! 0s off 3          # node 3 is dead
//! """
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml::Spanned;

use super::settings::Settings;

/// A sweep of more runs is taken for a mistake.
const MOST_RUNS: usize = 1_000_000;

/// A setting and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// All it shall be.
    pub values: Vec<Value>,
}

/// A sweep over settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    axes: Vec<Axis>,
}

/// A scenario that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("{path}: {error}", path = .0.display(), error = .1)]
    Read(PathBuf, std::io::Error),
    /// The file makes no sense.
    #[error("{path} {error}", path = .0.display(), error = .1)]
    File(PathBuf, BadScenario),
    /// There are too many runs.
    #[error("the scenario has more than {MOST_RUNS} runs")]
    TooManyRuns,
    /// The settings of a run do not go together.
    #[error("{0}")]
    Settings(#[from] serde_json::Error),
}

/// A line that is no setting and its values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadScenario {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: BadAxis,
}

/// What is wrong with a setting and its values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAxis {
    /// The file is not TOML.
    #[error("{0}")]
    Toml(String),
    /// There is no such setting.
    #[error("{0}")]
    Unknown(String),
    /// A setting without values.
    #[error("{0} has no values")]
    NoValues(String),
    /// A table that is no range.
    #[error("{0} is a value, a list of values or a range {{ from = 1, to = 50, step = 1 }} of whole numbers")]
    Range(String),
    /// A number that is none.
    #[error("{0} cannot be {1}")]
    NotFinite(String, String),
    /// A value that the setting cannot have.
    #[error("{0}: {1}")]
    Value(String, String),
}

impl Scenario {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(path).map_err(|error| ScenarioError::Read(path.into(), error))?;
        let mut scenario = Self::parse(&text).map_err(|error| ScenarioError::File(path.into(), error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for axis in scenario.axes.iter_mut().filter(|axis| axis.name == "script") {
            for value in &mut axis.values {
                // A scenario's scripts are beside it.
                let beside = value.as_str().map(|script| folder.join(script).display().to_string());
                *value = beside.into();
            }
        }
        Ok(scenario)
    }

    /// Reads a scenario.
    pub fn parse(text: &str) -> Result<Self, BadScenario> {
        let at = |place: usize, reason| BadScenario {
            line: text[..place.min(text.len())].matches('\n').count() + 1,
            reason,
        };
        let settings: BTreeMap<String, Spanned<toml::Value>> = toml::from_str(text).map_err(|error| {
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            at(error.span().map_or(0, |span| span.start), BadAxis::Toml(message))
        })?;
        let mut settings: Vec<_> = settings.into_iter().collect();
        // In the order of the file, so that its first setting varies last.
        settings.sort_by_key(|(_, value)| value.span().start);
        let axis = |(name, value): (String, Spanned<toml::Value>)| {
            let place = value.span().start;
            let values = values(&name, value.into_inner()).map_err(|reason| at(place, reason))?;
            Ok(Axis { name, values })
        };
        let axes = settings.into_iter().map(axis).collect::<Result<_, BadScenario>>()?;
        Ok(Scenario { axes })
    }

    /// Sets what was said elsewhere, to one value each.
    pub fn set(&mut self, said: Map<String, Value>) {
        self.axes.retain(|axis| !said.contains_key(&axis.name));
        self.axes.extend(said.into_iter().map(|(name, value)| Axis {
            name,
            values: vec![value],
        }));
    }

    /// The names of the settings that differ between runs.
    pub fn varied(&self) -> impl Iterator<Item = &str> {
        self.axes
            .iter()
            .filter(|axis| axis.values.len() > 1)
            .map(|axis| axis.name.as_str())
    }

    /// The settings of all runs.
    pub fn runs(&self) -> Result<Vec<Settings>, ScenarioError> {
        let count = self
            .axes
            .iter()
            .try_fold(1_usize, |count, axis| count.checked_mul(axis.values.len()));
        let count = count
            .filter(|&count| count <= MOST_RUNS)
            .ok_or(ScenarioError::TooManyRuns)?;
        (0..count).map(|run| Ok(self.run(run)?)).collect()
    }

    fn run(&self, mut number: usize) -> Result<Settings, serde_json::Error> {
        let mut table = Map::new();
        for axis in self.axes.iter().rev() {
            let value = &axis.values[number % axis.values.len()];
            number /= axis.values.len();
            table.insert(axis.name.clone(), value.clone());
        }
        Settings::of(&table)
    }
}

/// The values of a setting, each of which it can have.
fn values(name: &str, value: toml::Value) -> Result<Vec<Value>, BadAxis> {
    let values = match value {
        toml::Value::Array(values) => values,
        toml::Value::Table(range) => range_of(&range).ok_or_else(|| BadAxis::Range(name.into()))?,
        value => vec![value],
    };
    if values.is_empty() {
        return Err(BadAxis::NoValues(name.into()));
    }
    values.into_iter().map(|value| checked(name, value)).collect()
}

fn checked(name: &str, value: toml::Value) -> Result<Value, BadAxis> {
    let refused = |error: serde_json::Error| BadAxis::Value(name.into(), error.to_string());
    let value = match value {
        toml::Value::Float(number) if !number.is_finite() => {
            return Err(BadAxis::NotFinite(name.into(), number.to_string()));
        }
        value => serde_json::to_value(value).map_err(refused)?,
    };
    let alone = Map::from_iter([(name.to_string(), value.clone())]);
    match Settings::of(&alone) {
        Ok(_) => Ok(value),
        Err(error) if error.to_string().starts_with("unknown field") => {
            Err(BadAxis::Unknown(error.to_string().replace("field", "setting")))
        }
        Err(error) => Err(refused(error)),
    }
}

/// `{ from = 1, to = 50 }`, with both ends, perhaps with a `step`; `None` if it is no range.
fn range_of(range: &toml::Table) -> Option<Vec<toml::Value>> {
    if range.keys().any(|key| !["from", "to", "step"].contains(&key.as_str())) {
        return None;
    }
    let number = |key: &str| range.get(key).and_then(toml::Value::as_integer);
    let (from, to) = (number("from")?, number("to")?);
    let step = if range.contains_key("step") { number("step")? } else { 1 };
    let step = usize::try_from(step).ok().filter(|&step| step > 0)?;
    let numbers = (from..=to).step_by(step).take(MOST_RUNS + 1);
    Some(numbers.map(toml::Value::Integer).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_product_the_last_setting_first() {
        let text = "network = [\"ring(4)\", \"heawood\"]\nber = [0, 1e-4]\nseed = { from = 3, to = 7, step = 2 }\npull-every = \"1s\"\n";
        let mut scenario = Scenario::parse(text).unwrap();
        assert_eq!(scenario.varied().collect::<Vec<_>>(), ["network", "ber", "seed"]);
        let runs = scenario.runs().unwrap();
        let row = |run: &Settings| (run.network.clone().unwrap(), run.ber.unwrap(), run.seed.unwrap());
        let rows: Vec<_> = runs.iter().map(row).collect();
        assert_eq!(rows.len(), 12);
        assert_eq!(rows[1], ("ring(4)".into(), 0.0, 5));
        assert_eq!(rows[3], ("ring(4)".into(), 1e-4, 3));
        assert_eq!(rows[11], ("heawood".into(), 1e-4, 7));
        assert!(runs.iter().all(|run| run.pull_every == Some("1s".parse().unwrap())));
        scenario.set(Map::from_iter([("seed".into(), 9.into())]));
        let runs = scenario.runs().unwrap();
        assert_eq!((runs.len(), runs[3].seed), (4, Some(9)));
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        for (text, reason) in [
            (
                "seed = 1\npakets = 5",
                "line 2: unknown setting `pakets`, expected one of ",
            ),
            (
                "seed = \"one\"",
                "line 1: seed: invalid type: string \"one\", expected u64",
            ),
            ("seed = [1, -1]", "line 1: seed: invalid "),
            (
                "\n\ntraffic = \"some\"",
                "line 3: traffic: 'some' is not a traffic pattern; the patterns are uniform, ",
            ),
            (
                "pull-every = \"often\"",
                "line 1: pull-every: 'often' is not a time such as",
            ),
            ("pull-every = 3", "line 1: pull-every: invalid type: "),
            ("seed = []", "line 1: seed has no values"),
            ("seed = { from = 3, to = 1 }", "line 1: seed has no values"),
            (
                "seed = { from = 1 }",
                "line 1: seed is a value, a list of values or a range",
            ),
            ("ber = nan", "line 1: ber cannot be NaN"),
            (
                "[more]\nseed = 1",
                "line 1: more is a value, a list of values or a range",
            ),
            ("seed = 1\nseed = 2", "line 2: duplicate key"),
            ("seed 1", "line 1: "),
        ] {
            let refusal = Scenario::parse(text).unwrap_err().to_string();
            assert!(refusal.starts_with(reason), "{text:?}: {refusal}");
            assert!(!refusal.contains('\n'), "{refusal}");
        }
        let many = "seed = { from = 1, to = 9000000000000000000 }";
        let refusal = Scenario::parse(many).unwrap().runs().unwrap_err();
        assert_eq!(refusal.to_string(), "the scenario has more than 1000000 runs");
    }
}
