//! Where an expression is wrong, and what may have been meant.

use hopwise_core::network::expression::BrokenRule;
use hopwise_core::{Base, Family, ParseError};

/// An expression is shown whole up to here.
const WIDEST: usize = 100;

/// The end of a sentence about a word that is not in the language: the one that may have been meant, or all that there are.
pub(super) fn advice(expression: &str, error: &ParseError) -> String {
    let families = match error.rule {
        BrokenRule::Expected(what) if what.contains("network") => Family::WORDS,
        BrokenRule::Expected(what) if what.contains("base graph") => &[],
        _ => return String::new(),
    };
    let known: Vec<&str> = [families, Base::WORDS, Base::NAMES].concat();
    match similar(word_at(expression, error), &known) {
        Some(word) => format!("; did you mean {word}?"),
        None if known.contains(&word_at(expression, error)) => String::new(),
        None => format!("; there are {}", known.join(", ")),
    }
}

/// The word at which an expression is wrong.
fn word_at<'a>(expression: &'a str, error: &ParseError) -> &'a str {
    let rest = expression.get(error.position..).unwrap_or("");
    let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    &rest[..end.unwrap_or(rest.len())]
}

/// The known word that is most like another, if one is like it.
pub(super) fn similar<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.len() < 2 || known.contains(&word) {
        return None;
    }
    let word = word.to_ascii_lowercase();
    // A third of its letters may be wrong; of several words the one that begins like it is meant.
    let most_wrong = (word.len() / 3).max(1);
    let near = known
        .iter()
        .filter(|known| strsim::damerau_levenshtein(&word, known) <= most_wrong);
    let likeness = |known: &str| strsim::jaro_winkler(&word, known);
    near.copied()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)))
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

    fn hint(expression: &str) -> (String, String) {
        let error = expression.parse::<Network>().unwrap_err();
        let caret = caret(expression, &error).unwrap_or_default();
        (advice(expression, &error), caret)
    }

    #[test]
    fn words_that_are_nearly_right_are_recognised() {
        assert_eq!(
            hint("rin(5)"),
            ("; did you mean ring?".into(), "    rin(5)\n    ^".into())
        );
        assert_eq!(
            hint("rdn(rung(3),1)"),
            ("; did you mean ring?".into(), "    rdn(rung(3),1)\n        ^".into())
        );
        assert_eq!(hint("Torus(4,4)").0, "; did you mean torus?");
        assert_eq!(hint("hypercbue(4)").0, "; did you mean hypercube?");
    }

    #[test]
    fn other_words_are_answered_with_those_that_there_are() {
        for expression in ["", "5", "banana(4)"] {
            let advice = hint(expression).0;
            assert!(advice.starts_with("; there are rdn, "), "{expression}: {advice}");
            assert!(advice.contains(", ring, ") && advice.contains(", mcgee, "), "{advice}");
        }
        for expression in ["rdn(banana,1)", "rdn(rdn(ring(3),1),1)"] {
            let advice = hint(expression).0;
            assert!(advice.starts_with("; there are ring, "), "{expression}: {advice}");
            assert!(!advice.contains("rdn"), "{advice}");
        }
    }

    #[test]
    fn nothing_is_made_up() {
        for expression in ["ring(", "ring(2)", "ring(3))", "torus(4,x)"] {
            assert_eq!(hint(expression).0, "", "{expression}");
        }
        assert_eq!(hint("ring(3").1, "    ring(3\n          ^");
        for expression in ["rin\u{1b}[31m(5)", "ringö(5)"] {
            assert_eq!(hint(expression).1, "", "{expression}");
        }
    }
}
