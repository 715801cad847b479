//! What `hopwise --help` shows: the commands in groups.

use std::fmt::Write;

use clap::Subcommand;
use clap::builder::Styles;

use super::Command;

/// Every command but `help`, in one group; docs/commands.md has the same groups.
const GROUPS: [(&str, &str); 6] = [
    ("To begin", "demo tour play"),
    (
        "Networks",
        "topo edges export neighbors route broadcast collective deadlock compare choose lifts recognise paper",
    ),
    ("Simulation", "emulate cost sim load clock experiment report view"),
    (
        "Boards",
        "mesh board plan check adopt doctor flash update sign about capture bench node new-app",
    ),
    ("A running mesh", "ping trace counters send request listen bridge"),
    ("The command itself", "completions man"),
];

/// clap lists all commands under one heading, so the template has the groups in it.
pub(super) fn template() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("hopwise"));
    let width = commands.get_subcommands().map(|command| command.get_name().len()).max();
    let width = width.unwrap_or_default();
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_string();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "\n{header}{title}:{header:#}");
        for command in names.split(' ').filter_map(|name| commands.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{:width$}{literal:#}  {about}", command.get_name());
        }
    }
    let _ = writeln!(text, "\n{header}Options:{header:#}\n{{options}}\n");
    text + "`hopwise help COMMAND` shows the options of a command."
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::command::Hopwise;

    #[test]
    fn every_command_is_in_one_group() {
        let commands = Hopwise::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.split(' ')).collect();
        grouped.sort_unstable();
        let mut names: Vec<&str> = commands
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        names.sort_unstable();
        assert_eq!(grouped, names);
        let help = Hopwise::command().render_help().to_string();
        for name in names {
            assert_eq!(help.matches(&format!("\n  {name} ")).count(), 1, "{name}: {help}");
        }
    }

    /// `--repo` and `--images` once were options of every command.
    #[test]
    fn no_command_shows_options_of_others() {
        let shows = |command: &clap::Command, option: &str| {
            let mut options = command.get_arguments().filter(|arg| !arg.is_hide_set());
            options.any(|arg| arg.get_long() == Some(option))
        };
        let with = |option: &str| -> Vec<String> {
            let commands = Hopwise::command();
            let with = commands.get_subcommands().filter(|command| shows(command, option));
            with.map(|command| command.get_name().to_string()).collect()
        };
        let images = [
            "tour", "emulate", "cost", "clock", "check", "adopt", "doctor", "flash", "update", "capture", "bench",
        ];
        assert_eq!(with("images"), images);
        assert_eq!(with("repo"), [&["tour", "play"], &images[1..], &["new-app"]].concat());
        assert!(!shows(&Hopwise::command(), "repo"));
        let load = Hopwise::command().find_subcommand("load").cloned().expect("a command");
        let with_out = load.get_subcommands().filter(|command| shows(command, "out"));
        let with_out: Vec<&str> = with_out.map(clap::Command::get_name).collect();
        assert_eq!(with_out, ["sweep", "merge", "study"]);
    }
}
