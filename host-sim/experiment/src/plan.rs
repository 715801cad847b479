//! The file of an experiment: settings as TOML, each a value, a list or a range. The runs are all combinations of them.
//!
//! ```toml
//! networks = ["torus(4,4)", "heawood"]
//! seeds = 5                         # or seed = { from = 1, to = 50 }
//!
//! [load]
//! rate = [0.05, 0.2]
//!
//! [sim]
//! for = "5s"
//! events = ["", "1s cut 0.0"]       # an empty value leaves the setting out
//! ```
//!
//! Without tables, all settings are those of `[sim]`, and runs are without a seed unless one is said: a scenario.

use std::path::Path;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::{Job, Kind};

/// More runs are taken for a mistake.
const MAX_RUNS: usize = 1_000_000;
/// In all runs: each takes some 150 bytes.
const MAX_SETTINGS: usize = 4_000_000;
/// Numbers of one range.
const MAX_RANGE: usize = 100_000;
/// The seeds of a plan with tables that says nothing about them.
const DEFAULT_SEEDS: u64 = 5;
const MAX_SEEDS: u64 = 10_000;
/// The kind of a plan without tables.
const SCENARIO: &str = "sim";

#[derive(Clone, Debug, PartialEq)]
struct Axis {
    name: String,
    values: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
struct Table {
    kind: String,
    /// The first varies slowest.
    axes: Vec<Axis>,
}

/// All runs of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    tables: Vec<Table>,
}

/// The kind of a run, and its settings.
pub type Run<'p> = (&'p str, Map<String, Value>);

/// Why a file is no plan: a sentence, with the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadPlan(String);

impl Plan {
    /// Reads a file. Scripts are beside it, or where they say from here.
    pub fn read(path: &Path, kinds: &[&dyn Kind]) -> Result<Self, BadPlan> {
        let name = path.display();
        let text = hopwise_files::read_text(path, hopwise_files::MAX_TEXT)
            .map_err(|error| BadPlan(format!("{name}: {error}")))?;
        let mut plan = Self::parse(&text, kinds).map_err(|error| BadPlan(format!("{name} {error}")))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let axes = plan.tables.iter_mut().flat_map(|table| &mut table.axes);
        let scripts = axes.filter(|axis| axis.name == "script");
        for value in scripts.flat_map(|axis| &mut axis.values) {
            let beside = value.as_str().map(|script| folder.join(script));
            if let Some(beside) = beside.filter(|beside| beside.is_file()) {
                *value = beside.display().to_string().into();
            }
        }
        Ok(plan)
    }

    pub fn parse(text: &str, kinds: &[&dyn Kind]) -> Result<Self, BadPlan> {
        let line = |place: usize| text.bytes().take(place).filter(|byte| *byte == b'\n').count() + 1;
        let at = |place: usize| move |reason: String| BadPlan(format!("line {}: {reason}", line(place)));
        let whole = DeTable::parse(text).map_err(|error| {
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            at(error.span().map_or(0, |span| span.start))(message)
        })?;
        let (tables, settings): (Vec<Entry>, Vec<Entry>) =
            entries(whole.into_inner()).into_iter().partition(Entry::is_table);
        let mut axes: Vec<Axis> = Vec::new();
        for entry in settings {
            let at = at(entry.place);
            let axis = match entry.shared().map_err(&at)? {
                Some(axis) => axis,
                None if tables.is_empty() => kind(SCENARIO, kinds).and_then(|kind| entry.axis(kind)).map_err(&at)?,
                None => {
                    let why = "is in no table, and the file has some: put it into one of them";
                    return Err(at(format!("{} {why}", entry.name)));
                }
            };
            if axes.iter().any(|other| other.name == axis.name) {
                return Err(at(format!("{} is said twice", axis.name)));
            }
            axes.push(axis);
        }
        if !axes.iter().any(|axis| axis.name == "network") {
            return Err(at(0)("no network is given: networks = [\"ring(8)\", ...]".into()));
        }
        if tables.is_empty() {
            let kind = SCENARIO.into();
            let tables = vec![Table { kind, axes }];
            return Ok(Plan { tables });
        }
        let (mut seeds, networks): (Vec<Axis>, Vec<Axis>) = axes.into_iter().partition(|axis| axis.name == "seed");
        if seeds.is_empty() {
            let (name, values) = ("seed".into(), seeds_up_to(DEFAULT_SEEDS));
            seeds.push(Axis { name, values });
        }
        let table = |entry: Entry| {
            let kind = kind(&entry.name, kinds).map_err(at(entry.place))?;
            let option = |option: Entry| match option.name.as_str() {
                name @ ("network" | "networks" | "seed" | "seeds" | "json") => Err(at(option.place)(format!(
                    "{name} is said once for all tables, above them"
                ))),
                _ => option.axis(kind).map_err(at(option.place)),
            };
            let options = entry.value.get_ref().as_table().cloned().into_iter().flat_map(entries);
            let options = options.map(option).collect::<Result<Vec<Axis>, BadPlan>>()?;
            Ok(Table {
                kind: kind.name().into(),
                axes: [&networks[..], &options, &seeds].concat(),
            })
        };
        let tables = tables.into_iter().map(table).collect::<Result<_, BadPlan>>()?;
        Ok(Plan { tables })
    }

    /// The tables that there are.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().map(|table| table.kind.as_str())
    }

    /// Sets what was said elsewhere, to one value each.
    pub fn set(&mut self, said: &Map<String, Value>) {
        for Table { axes, .. } in &mut self.tables {
            axes.retain(|axis| !said.contains_key(&axis.name));
            axes.extend(said.iter().map(|(name, value)| Axis {
                name: name.clone(),
                values: vec![value.clone()],
            }));
        }
    }

    /// The names of the settings that differ between runs.
    pub fn varied(&self) -> impl Iterator<Item = &str> {
        let axes = self.tables.iter().flat_map(|table| &table.axes);
        axes.filter(|axis| axis.values.len() > 1).map(|axis| axis.name.as_str())
    }

    pub fn runs(&self) -> Result<Vec<Run<'_>>, BadPlan> {
        let mut runs = Vec::new();
        for Table { kind, axes } in &self.tables {
            let times = |count: usize, axis: &Axis| count.checked_mul(axis.values.len());
            let count = axes.iter().try_fold(1, times);
            let most = MAX_RUNS.min(MAX_SETTINGS / axes.len().max(1));
            let count = count
                .filter(|count| count.checked_add(runs.len()).is_some_and(|all| all <= most))
                .ok_or_else(|| BadPlan(format!("these are more than {most} runs of {} settings", axes.len())))?;
            runs.extend((0..count).map(|number| (kind.as_str(), combination(axes, number))));
        }
        Ok(runs)
    }

    pub fn jobs(&self) -> Result<Vec<Job>, BadPlan> {
        let job = |(kind, mut options): Run<'_>| Job {
            kind: kind.into(),
            network: options.remove("network").and_then(text).unwrap_or_default(),
            seed: options.remove("seed").and_then(|seed| seed.as_u64()).unwrap_or(1),
            options,
        };
        Ok(self.runs()?.into_iter().map(job).collect())
    }
}

/// The settings of a run by its number. What is empty or false is left out.
fn combination(axes: &[Axis], mut number: usize) -> Map<String, Value> {
    let mut settings = Map::new();
    for axis in axes.iter().rev() {
        let value = &axis.values[number % axis.values.len()];
        number /= axis.values.len();
        if !is_left_out(value) {
            settings.insert(axis.name.clone(), value.clone());
        }
    }
    settings
}

fn is_left_out(value: &Value) -> bool {
    *value == Value::Bool(false) || value.as_str() == Some("")
}

fn text(value: Value) -> Option<String> {
    value.as_str().map(str::to_string)
}

fn seeds_up_to(last: u64) -> Vec<Value> {
    (1..=last).map(Value::from).collect()
}

fn kind<'k>(name: &str, kinds: &[&'k dyn Kind]) -> Result<&'k dyn Kind, String> {
    let found = kinds.iter().copied().find(|kind| kind.name() == name);
    found.ok_or_else(|| {
        let tables: Vec<String> = kinds.iter().map(|kind| format!("[{}]", kind.name())).collect();
        format!("there is no [{name}]: the tables are {}", tables.join(", "))
    })
}

struct Entry<'t> {
    name: String,
    place: usize,
    value: Spanned<DeValue<'t>>,
}

fn entries(table: DeTable<'_>) -> Vec<Entry<'_>> {
    let entry = |(name, value): (Spanned<DeString<'_>>, _)| Entry {
        place: name.span().start,
        name: name.into_inner().to_string(),
        value,
    };
    let mut entries: Vec<Entry<'_>> = table.into_iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.place);
    entries
}

impl Entry<'_> {
    /// Whether it is a table of settings, and no range.
    fn is_table(&self) -> bool {
        let is_range =
            |table: &DeTable<'_>| !table.is_empty() && table.keys().all(|key| RANGE.contains(&key.get_ref().as_ref()));
        self.value.get_ref().as_table().is_some_and(|table| !is_range(table))
    }

    /// A setting of a kind with its values, each of which it can have.
    fn axis(&self, kind: &dyn Kind) -> Result<Axis, String> {
        let values = self.values()?.into_iter().map(|value| checked(kind, &self.name, value));
        Ok(Axis {
            name: self.name.clone(),
            values: values.collect::<Result<_, _>>()?,
        })
    }

    fn shared(&self) -> Result<Option<Axis>, String> {
        let all = |name: &str, is: fn(&Value) -> bool, what: &str| {
            let values = self.values()?;
            match values.iter().find(|value| !is(value)) {
                Some(value) => Err(format!("a {name} is {what}, not {value}")),
                None => Ok((name.to_string(), values)),
            }
        };
        let (name, values) = match self.name.as_str() {
            "network" | "networks" => all("network", Value::is_string, "an expression such as \"ring(8)\"")?,
            "seed" => all("seed", Value::is_u64, "a whole number")?,
            "seeds" => match self.values()?[..] {
                [ref number] if number.as_u64().is_some_and(|number| (1..=MAX_SEEDS).contains(&number)) => {
                    ("seed".into(), seeds_up_to(number.as_u64().unwrap_or(1)))
                }
                _ => return Err(format!("seeds is a number from 1 to {MAX_SEEDS}")),
            },
            _ => return Ok(None),
        };
        Ok(Some(Axis { name, values }))
    }

    fn values(&self) -> Result<Vec<Value>, String> {
        let name = &self.name;
        let value = toml::Value::deserialize(self.value.clone().into_deserializer());
        let values = match value.map_err(|error| error.message().to_string())? {
            toml::Value::Array(values) => values,
            toml::Value::Table(range) => range_of(&range).ok_or_else(|| format!("{name} is {FORMS}"))?,

            value => vec![value],
        };
        let json = |value: toml::Value| match value {
            toml::Value::Float(number) if !number.is_finite() => Err(format!("{name} cannot be {number}")),
            value => serde_json::to_value(value).map_err(|error| format!("{name}: {error}")),
        };
        match values.len() {
            0 => Err(format!("{name} has no values")),
            count if count > MAX_RANGE => Err(format!("{name} has more than {MAX_RANGE} values")),
            _ => values.into_iter().map(json).collect(),
        }
    }
}

/// A value that a setting can have. A number may be in quotes, or a text of digits without them.
fn checked(kind: &dyn Kind, name: &str, value: Value) -> Result<Value, String> {
    if is_left_out(&value) {
        return Ok(value);
    }
    let Err(error) = kind.check_option(name, &value) else {
        return Ok(value);
    };
    let other = match &value {
        Value::String(text) => match text.parse::<i64>() {
            Ok(number) => Some(number.into()),
            Err(_) => text.parse::<f64>().ok().map(Value::from).filter(Value::is_number),
        },
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    };
    if let Some(other) = other.filter(|other| kind.check_option(name, other).is_ok()) {
        return Ok(other);
    }
    Err(match error.to_string() {
        unknown if unknown.starts_with("unknown ") => unknown.replace("field", "setting"),
        error => format!("{name}: {error}"),
    })
}

const RANGE: [&str; 3] = ["from", "to", "step"];
const FORMS: &str = "a value, a list of values or a range { from = 1, to = 50, step = 1 } of whole numbers";

/// `{ from = 1, to = 50 }`, with both ends, perhaps with a `step`; `None` if it is no range.
fn range_of(range: &toml::Table) -> Option<Vec<toml::Value>> {
    if range.keys().any(|key| !RANGE.contains(&key.as_str())) {
        return None;
    }
    let number = |key: &str| range.get(key).and_then(toml::Value::as_integer);
    let (from, to) = (number("from")?, number("to")?);
    let step = if range.contains_key("step") { number("step")? } else { 1 };
    let step = usize::try_from(step).ok().filter(|&step| step > 0)?;
    let numbers = (from..=to).step_by(step).take(MAX_RANGE + 1);
    Some(numbers.map(toml::Value::Integer).collect())
}

#[cfg(test)]
mod tests {
    use hopwise_sim::Settings;
    use hopwise_testing::rows;

    use super::*;
    use crate::load::Load;
    use crate::sim::Sim;

    fn parse(text: &str) -> Result<Plan, BadPlan> {
        Plan::parse(text, &[&Load, &Sim])
    }

    #[test]
    fn runs_are_the_product_the_last_setting_first() {
        let text = "network = [\"ring(4)\", \"heawood\"]\nber = [0, 1e-4]\nseed = { from = 3, to = 7, step = 2 }\npull-every = \"1s\"\n";
        let mut scenario = parse(text).unwrap();
        assert_eq!(scenario.varied().collect::<Vec<_>>(), ["network", "ber", "seed"]);
        let settings = |scenario: &Plan| -> Vec<Settings> {
            let runs = scenario.runs().unwrap();
            runs.iter().map(|(_, run)| Settings::of(run).unwrap()).collect()
        };
        let runs = settings(&scenario);
        let row = |run: &Settings| (run.network.clone().unwrap(), run.ber.unwrap(), run.seed.unwrap());
        let rows: Vec<_> = runs.iter().map(row).collect();
        assert_eq!(rows.len(), 12);
        assert_eq!(rows[1], ("ring(4)".into(), 0.0, 5));
        assert_eq!(rows[3], ("ring(4)".into(), 1e-4, 3));
        assert_eq!(rows[11], ("heawood".into(), 1e-4, 7));
        assert!(runs.iter().all(|run| run.pull_every == Some("1s".parse().unwrap())));
        scenario.set(&Map::from_iter([("seed".into(), 9.into())]));
        let runs = settings(&scenario);
        assert_eq!((runs.len(), runs[3].seed), (4, Some(9)));
    }

    #[test]
    fn every_combination_is_run() {
        let plan = parse(
            "networks = ['ring(5)', 'petersen']\nseeds = 2\n[load]\nrate = [0.05, '0.00001']\n[sim]\nfor = '1s'\nconfirmed = true\nhost = 3\n\
             events = ['', '1s cut 0.0']\n",
        );
        let jobs = plan.unwrap().jobs().unwrap();
        assert_eq!(jobs.len(), 2 * 2 * 2 + 2 * 2 * 2);
        assert_eq!(jobs[0].command(), "hopwise load 'ring(5)' --rate 0.05 --seed 1 --json");
        let found = jobs[3].command();
        assert_eq!(found, "hopwise load 'ring(5)' --rate 0.00001 --seed 2 --json");
        let last = jobs.last().unwrap();
        let command = "hopwise sim petersen --confirmed --events '1s cut 0.0' --for 1s --host 3 --seed 2 --json";
        assert_eq!(last.command(), command);
        assert_eq!(last.scenario(), "confirmed events=1s cut 0.0 for=1s host=3");
        assert_eq!(parse("networks = 'ring(5)'\n[sim]\n").unwrap().jobs().unwrap().len(), 5);
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        for (text, reason) in rows(
            r#"
            network = 'ring(4)'\npakets = 5 => line 2: unknown setting `pakets`, expected one of
            seed = "one" => line 1: a seed is a whole number, not "one"
            seed = [1, -1] => line 1: a seed is a whole number, not -1
            \n\ntraffic = "some" => line 3: traffic: 'some' is not a traffic pattern; the patterns are uniform,
            pull-every = "often" => line 1: pull-every: 'often' is not a time such as
            pull-every = 3 => line 1: pull-every: invalid type:
            seed = [] => line 1: seed has no values
            seed = { from = 3, to = 1 } => line 1: seed has no values
            seed = { from = 1, to = 9000000000000000000 } => line 1: seed has more than 100000 values
            seed = { from = 1 } => line 1: seed is a value, a list of values or a range
            ber = nan => line 1: ber cannot be NaN
            seed = 1\nseed = 2 => line 2: duplicate key
            seed = 1\nseeds = 2 => line 2: seed is said twice
            seed 1 => line 1:
            seeds = 1\n[load] => line 1: no network is given:
            networks = [5] => line 1: a network is an expression such as "ring(8)", not 5
            seeds = 0\n[load]\n => line 1: seeds is a number from 1 to 10000
            networks = ['ring(5)']\n[lood]\n => line 2: there is no [lood]: the tables are [load], [sim]
            networks = ['ring(5)']\n\n[load]\nseed = 3\n => line 4: seed is said once for all tables, above them
            networks = ['ring(5)']\npackets = 3\n[sim]\n => line 2: packets is in no table, and the file has some: put it into one of them
            networks = ['ring(5)']\n[load]\ncycles = 5\nrate = { a = 1 }\n => line 4: rate is a value, a list of values or a range
            networks = ['ring(5)']\n[load]\nrte = 1\n => line 3: unknown setting `rte`, expected one of
            "#,
        ) {
            let refusal = parse(&text).unwrap_err().to_string();
            assert!(refusal.starts_with(&reason), "{text:?}: {refusal}");
            assert!(!refusal.contains('\n'), "{refusal}");
        }
        for (values, more, most) in [
            (1_001, "", "1000000 runs of 3"),
            (1_000, "ber = 0\nbaud = 9600", "800000 runs of 5"),
        ] {
            let range = format!("= {{ from = 1, to = {values} }}\n");
            let plan = parse(&format!("network = 'ring(4)'\nseed {range}packets {range}{more}")).unwrap();
            let refusal = plan.runs().unwrap_err().to_string();
            assert_eq!(refusal, format!("these are more than {most} settings"));
        }
    }
}
