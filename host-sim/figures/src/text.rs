//! Text and numbers on pages and drawings.

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
            letter if letter.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            letter => escaped.push(letter),
        }
    }
    escaped
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
