//! The tables of `docs/collectives.md`.

use crate::support::printed;

#[test]
fn the_tables_of_the_documentation_are_up_to_date() {
    let printed = printed(&["collective", "--markdown"]);
    let written = include_str!("../../../../docs/collectives.md");
    let (_, tables) = written.split_once("# Rounds of every family").unwrap();
    let from = tables.find("## All ports").unwrap();
    for (written, printed) in tables[from..].trim().lines().zip(printed.trim().lines()) {
        assert_eq!(written, printed);
    }
    assert_eq!(tables[from..].trim().lines().count(), printed.trim().lines().count());
}
