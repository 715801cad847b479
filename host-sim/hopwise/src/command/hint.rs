//! Where an expression is wrong, and what may have been meant.

use hopwise_core::{Base, Family, ParseError};

/// An expression is shown whole up to here.
const WIDEST: usize = 100;

/// The word of the language that is most like the one at which a text is wrong, if one is like it.
pub(super) fn similar_word(expression: &str, error: &ParseError) -> Option<&'static str> {
    let rest = expression.get(error.position..)?;
    let word = &rest[..rest
        .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
        .unwrap_or(rest.len())];
    let words = || {
        Family::WORDS
            .iter()
            .copied()
            .chain([Base::WORDS, Base::NAMES].into_iter().flatten().copied())
    };
    if word.len() < 2 || words().any(|known| known == word) {
        return None;
    }
    let word = word.to_ascii_lowercase();
    // A third of its letters may be wrong; of several words the one that begins like it is meant.
    let most_wrong = (word.len() / 3).max(1);
    let near = words().filter(|known| strsim::damerau_levenshtein(&word, known) <= most_wrong);
    let likeness = |known: &str| strsim::jaro_winkler(&word, known);
    near.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))
}

/// The expression, with a caret under the place that is wrong; `None` if it cannot be shown on a line.
pub(super) fn caret(expression: &str, error: &ParseError) -> Option<String> {
    let shown = expression.len() <= WIDEST && expression.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    shown.then(|| format!("    {expression}\n    {:>1$}", '^', error.position + 1))
}

#[cfg(test)]
mod tests {
    use hopwise_core::Network;

    use super::*;

    fn hint(expression: &str) -> (Option<&'static str>, String) {
        let error = expression.parse::<Network>().unwrap_err();
        let caret = caret(expression, &error).unwrap_or_default();
        (similar_word(expression, &error), caret)
    }

    #[test]
    fn words_that_are_nearly_right_are_recognised() {
        assert_eq!(hint("rin(5)"), (Some("ring"), "    rin(5)\n    ^".into()));
        assert_eq!(
            hint("rdn(rung(3),1)"),
            (Some("ring"), "    rdn(rung(3),1)\n        ^".into())
        );
        assert_eq!(hint("Torus(4,4)").0, Some("torus"));
        assert_eq!(hint("hypercbue(4)").0, Some("hypercube"));
    }

    #[test]
    fn nothing_is_made_up() {
        for expression in ["", "5", "banana(4)", "ring(", "ring(2)", "r", "rdn(rdn(ring(3),1),1)"] {
            assert_eq!(hint(expression).0, None, "{expression}");
        }
        assert_eq!(hint("ring(3").1, "    ring(3\n          ^");
        for expression in ["rin\u{1b}[31m(5)", "ringö(5)"] {
            assert_eq!(hint(expression).1, "", "{expression}");
        }
    }
}
