//! Tables for people.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use hopwise_figures::{markdown_cell, printable_line};

/// As wide as what a page, or half a screen, shows.
const WIDTH: u16 = 120;

/// Columns with wrapped cells; a column may be given a width.
pub(super) fn plain(titles: &[(&str, Option<u16>)], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(titles.iter().map(|title| title.0))
        .add_rows(rows);
    for (column, (_, width)) in table.column_iter_mut().zip(titles) {
        if let Some(width) = width {
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(*width)));
        }
    }
    table.trim_fmt()
}

/// One line a row, as wide as it takes; all columns but the first to the right. Titles have a | between them.
pub(super) fn lines(titles: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    // A cell that moves the cursor is none.
    let rows = rows.map(|row| row.iter().map(|cell| printable_line(cell)).collect::<Vec<_>>());
    table
        .load_style(presets::NOTHING)
        .set_header(titles.split('|'))
        .add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
        if column.index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// A Markdown table, each row on a line. Titles have a | between them.
pub(super) fn markdown(titles: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let escaped = |row: Vec<String>| row.iter().map(|cell| markdown_cell(cell)).collect::<Vec<_>>();
    let titles: Vec<String> = titles.split('|').map(String::from).collect();
    let rule = format!("|{}\n", "---|".repeat(titles.len()));
    let body: String = rows.map(|row| line(&escaped(row))).collect();
    line(&titles) + &rule + &body
}

/// A figure, if it is known.
pub(super) fn known(figure: Option<impl ToString>) -> String {
    figure.map_or_else(|| "?".into(), |figure| figure.to_string())
}

/// The degrees of a network: one, or from the least to the most.
pub(super) fn degrees(least: u64, most: u64) -> String {
    match least == most {
        true => most.to_string(),
        false => format!("{least}-{most}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_cell() {
        let rows = || [vec!["0".to_string(), "\u{1b}[2J\n|<b>".to_string()]].into_iter();
        assert_eq!(lines("node|name", rows()).lines().count(), 2);
        assert!(lines("node|name", rows()).contains("\u{fffd}[2J |<b>"));
        assert!(markdown("node|name", rows()).ends_with("| 0 | \u{fffd}[2J \\|\\<b> |\n"));
    }
}
