//! Settings as `hopwise sim` is given them, a network and options; and their runs.

use hopwise_sim::run::Account;
use hopwise_sim::{Settings, simulate};
use serde_json::{Map, Value};

/// Of a line such as `ring(5) --packets 20 --confirmed`. What is in quotes is a text.
pub(crate) fn on(line: &str) -> Settings {
    let (network, options) = line.split_once(' ').unwrap_or((line, ""));
    let settings = Settings {
        network: Some(network.into()),
        ..Settings::default()
    };
    also(settings, options)
}

/// The same with more options, or others.
pub(crate) fn also(settings: Settings, options: &str) -> Settings {
    let mut table: Map<String, Value> = settings.table();
    for option in format!(" {options}").split(" --").skip(1).map(str::trim) {
        let value = match option.split_once(' ') {
            None => true.into(),
            Some((_, value)) => serde_json::from_str(value).unwrap_or_else(|_| value.trim_matches('\'').into()),
        };
        let name = option.split(' ').next().unwrap_or_default();
        table.insert(name.into(), value);
    }
    Settings::of(&table).unwrap_or_else(|error| panic!("{options}: {error}"))
}

/// An option that is given, or nothing.
pub(crate) fn flag(option: &str, is_given: bool) -> &str {
    if is_given { option } else { "" }
}

/// A run in which no guarantee is broken.
pub(crate) fn run(settings: &Settings) -> Account {
    kept(settings, simulate(&settings.run().unwrap(), None, &mut |_| ()).unwrap())
}

pub(crate) fn kept(settings: &Settings, account: Account) -> Account {
    assert_eq!(account.violation, None, "{}", settings.command());
    account
}

pub(crate) fn assert_all_delivered(settings: &Settings, account: &Account) {
    let command = settings.command();
    assert!(account.tally.sent > 0, "{command}");
    assert_eq!(account.tally.delivered, account.tally.sent, "{command}");
}
