//! Probes written into a mesh file, with all else as it was.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::{BrokenRule, Mesh};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotAssign {
    /// The file, or what it would become, breaks a rule.
    #[error(transparent)]
    Broken(#[from] BrokenRule),
    #[error("the nodes are not written as [[node]] tables")]
    Form,
}

/// A mesh file's text with the probe of a node: comments, order and blanks stay as they are.
pub fn with_probe(text: &str, node: u64, probe: &str) -> Result<String, CannotAssign> {
    // What is wrong with the file is told as ever.
    Mesh::parse(text)?;
    let mut document: DocumentMut = text.parse().map_err(|_| CannotAssign::Form)?;
    let nodes = document
        .entry("node")
        .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let nodes = nodes.as_array_of_tables_mut().ok_or(CannotAssign::Form)?;
    let is_said = |table: &Table| table.get("address").and_then(Item::as_integer) == i64::try_from(node).ok();
    let place = nodes.iter().position(is_said);
    match place.and_then(|place| nodes.get_mut(place)) {
        Some(table) => {
            table.insert("probe", value(probe));
        }
        None => {
            let mut table = Table::new();
            table.insert("address", value(node as i64));
            table.insert("probe", value(probe));
            nodes.push(table);
        }
    }
    // The line that `hopwise mesh new` leaves to be filled in has done its work.
    let written = document.to_string();
    let filled = format!("probe = \"{probe}\"\n");
    let written = written.replace(&format!("{filled}# probe = \"\"\n"), &filled);
    Mesh::parse(&written)?;
    Ok(written)
}
