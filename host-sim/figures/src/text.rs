//! Text and numbers on pages, on drawings and on the terminal. Names, logs and files come from elsewhere: here they are made
//! harmless, for each place that shows them.

use std::borrow::Cow;

/// Of one text that comes from elsewhere, such as a line of a log or a sentence about a file, so many characters are shown.
pub const LONGEST_TEXT: usize = 4096;

/// Whether a letter does something instead of being shown: it moves the cursor, colors or clears the terminal, or changes the
/// direction in which the text around it is read.
fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text for HTML, XML and SVG, between tags and in quoted attributes. Control characters, which XML does not allow, are
/// replaced.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(letter),
            letter if is_control(letter) => escaped.push(char::REPLACEMENT_CHARACTER),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Lines for a terminal: all control characters are replaced but for the ends of lines and tabs.
pub fn printable(text: &str) -> Cow<'_, str> {
    let harmful = |letter: char| is_control(letter) && !matches!(letter, '\n' | '\t');
    match text.contains(harmful) {
        true => Cow::Owned(text.replace(harmful, "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}

/// A text for a part of a line of the terminal: [`printable`], on one line, and no longer than [`LONGEST_TEXT`].
pub fn printable_line(text: &str) -> String {
    let (shown, rest) = match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => text.split_at(end),
        None => (text, ""),
    };
    let shown = printable(shown).replace(['\n', '\t'], " ");
    match rest.len() {
        0 => shown,
        more => format!("{shown} ... and {more} bytes more"),
    }
}

/// A cell of a Markdown table: it stays in its cell, and is not read as HTML. Stars and the like are its own.
pub fn markdown_cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        match letter {
            '|' => cell.push_str("\\|"),
            // Before anything else it is less than.
            '<' if next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?') => cell.push_str("\\<"),
            '\t' | '\n' => cell.push(' '),
            letter if is_control(letter) => cell.push(char::REPLACEMENT_CHARACTER),
            letter => cell.push(letter),
        }
    }
    cell
}

/// JSON that may be shown on a terminal: the same values, with the control characters that JSON allows written as numbers.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    // Outside of texts JSON has none but ends of lines.
    let harmful = |letter: char| is_control(letter) && letter != '\n';
    if !json.contains(harmful) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        match harmful(letter) {
            // All of them are below 2^16.
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => escaped.push(letter),
        }
    }
    Cow::Owned(escaped)
}

/// A number with at most so many decimal places, and no zeros at its end: `0.5`, `12`.
pub fn decimal(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_do_not_pass() {
        let text = "<a href=\"x\" id='y'>&\u{1b}[31m\n\u{0}é";
        let escaped = "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;\u{fffd}[31m\n\u{fffd}é";
        assert_eq!(escape(text), escaped);
        assert_eq!(escape("a\u{202e}b\u{9b}c\u{2028}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
    }

    /// Clears the screen, begins a line anew, and the same in one byte more; writes from right to left.
    const HARMFUL: &str = "\u{1b}[2J\rx\u{9b}2J\u{7f}\u{202e}y";

    #[test]
    fn a_terminal_is_told_nothing_but_text() {
        assert_eq!(printable(HARMFUL), "\u{fffd}[2J\u{fffd}x\u{fffd}2J\u{fffd}\u{fffd}y");
        assert!(matches!(printable("1 → 2,\té\n"), Cow::Borrowed("1 → 2,\té\n")));
        assert_eq!(printable_line("a\nb\tc\u{1b}"), "a b c\u{fffd}");
    }

    #[test]
    fn texts_are_bounded() {
        let long = "é".repeat(10 << 20);
        let shown = printable_line(&long);
        let rest = long.len() - 2 * LONGEST_TEXT;
        assert_eq!(shown, format!("{} ... and {rest} bytes more", "é".repeat(LONGEST_TEXT)));
        let just = "x".repeat(LONGEST_TEXT);
        assert_eq!(printable_line(&just), just);
    }

    #[test]
    fn a_cell_of_markdown_stays_a_cell() {
        let found = markdown_cell("**holds** | <b>\n</b> <!-- a <= b < c \u{1b}");
        assert_eq!(found, "**holds** \\| \\<b> \\</b> \\<!-- a <= b < c \u{fffd}");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let found = printable_json("{\n\"a\u{9b}\":\"\u{202e}\u{7f}é\"}");
        assert_eq!(found, "{\n\"a\\u009b\":\"\\u202e\\u007fé\"}");
    }

    #[test]
    fn idle_zeros_are_left_out() {
        for (number, places, text) in [
            (0.5, 4, "0.5"),
            (12.0, 4, "12"),
            (100.0, 0, "100"),
            (0.05, 4, "0.05"),
            (0.12345, 4, "0.1235"),
            (0.0, 4, "0"),
        ] {
            assert_eq!(decimal(number, places), text);
        }
    }
}
