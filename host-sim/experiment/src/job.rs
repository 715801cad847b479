//! A job, and what can do it.

use std::error::Error;
use std::path::Path;

use hopwise_sim::settings::quoted;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What does it: the name of a [`Kind`].
    pub kind: String,
    /// The network, as an expression.
    pub network: String,
    /// All settings but network and seed, by name.
    pub options: Map<String, Value>,
    pub seed: u64,
}

impl Job {
    pub fn settings(&self) -> Map<String, Value> {
        let mut settings = self.options.clone();
        settings.insert("network".into(), self.network.clone().into());
        settings.insert("seed".into(), self.seed.into());
        settings
    }

    /// The words of the command that does the same.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![self.kind.clone(), self.network.clone()];
        for (name, value) in &self.options {
            arguments.push(format!("--{name}"));
            arguments.extend((*value != Value::Bool(true)).then(|| written(value)));
        }
        arguments.extend(["--seed".into(), self.seed.to_string(), "--json".into()]);
        arguments
    }

    /// That command, as a person would type it.
    pub fn command(&self) -> String {
        let words = self.arguments().into_iter().map(|word| quoted(&word.into()));
        format!("hopwise {}", words.collect::<Vec<_>>().join(" "))
    }

    /// The files that it reads: a graph or a mesh file, and those that options name.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        let option = if self.kind == "emulate" { "elf" } else { "trace" };
        let mesh = Some(self.network.as_str()).filter(|name| name.ends_with(".toml"));
        let network = self.network.strip_prefix("graph:").or(mesh);
        let named = ["script", "routes", option].map(|name| self.options.get(name)?.as_str());
        network.into_iter().chain(named.into_iter().flatten()).map(Path::new)
    }

    /// What tells it from other runs of its kind and network, without the seed.
    pub fn scenario(&self) -> String {
        let said = self.options.iter().map(|(name, value)| match value {
            Value::Bool(_) => name.clone(),
            value => format!("{name}={}", written(value)),
        });
        said.collect::<Vec<_>>().join(" ")
    }
}

/// A value as an option has it. Numbers are written out: 0.00001, not 1e-5.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        value => value.to_string(),
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub passed: bool,
    /// What its command prints with `--json`.
    pub result: Value,
}

/// What makes results here: this program, on this machine.
pub fn origin() -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commit": env!("HOPWISE_COMMIT"),
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
    })
}

/// Why something makes no sense, or did not come to its end; a sentence.
pub type Refused = Box<dyn Error + Send + Sync>;

pub trait Kind: Sync {
    /// The name of its table in a plan, and of the command that does the same.
    fn name(&self) -> &'static str;

    /// Whether there is such an option, and it can have this value. What only shows together with others is for
    /// [`check`](Kind::check).
    fn check_option(&self, _name: &str, _value: &Value) -> Result<(), Refused> {
        Ok(())
    }

    fn check(&self, job: &Job) -> Result<(), Refused>;

    fn run(&self, job: &Job) -> Result<Finding, Refused>;
}
