//! The expression parser.

use hopwise_core::{Base, Family, Network};
use hopwise_testing::cases;
use hopwise_testing::fuzz::Input;
use proptest::prelude::*;

use crate::strategies::expression;

/// What stands between the words of the language, and what nearly does, with `~` between them.
const REST: &str =
    "(~)~,~[~]~(~)~,~,sk~,sd~,diameter~,all~,one~ ~\t~0~1~2~3~20~63~64~9223372036854775808~18446744073709551616~-~é";

/// A word of the language, or something else.
fn token(number: u8) -> &'static str {
    let tokens = || Base::WORDS.iter().chain(Family::WORDS).copied().chain(REST.split('~'));
    let place = usize::from(number) % tokens().count();
    tokens().nth(place).unwrap_or_default()
}

/// A text of arbitrary bytes, or of tokens of the language in any order.
fn text(bytes: &[u8]) -> String {
    let mut input = Input::new(bytes);
    if input.byte().is_multiple_of(4) {
        return String::from_utf8_lossy(input.bytes(usize::MAX)).into_owned();
    }
    let mut text = String::new();
    while !input.is_empty() {
        match input.byte() {
            digit @ 200.. => text.push_str(&digit.to_string()),
            number => text.push_str(token(number)),
        }
    }
    text
}

/// A text is refused with a position in it, or is a network that prints as a text that is the same network.
fn parses_or_says_where(text: &str) {
    let _ = text.parse::<Base>();
    match text.parse::<Network>() {
        Ok(network) => {
            let printed = network.to_string();
            assert_eq!(printed.parse(), Ok(network), "{text} prints as {printed}");
            assert_eq!(printed.parse::<Network>().map(|again| again.id()), Ok(network.id()));
            assert!(network.nodes() >= 2, "{text}");
        }
        Err(error) => {
            assert!(error.position <= text.len(), "{text}: {error}");
            assert!(text.is_char_boundary(error.position), "{text}: {error}");
            assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn any_text_parses_or_says_where_it_fails() {
    hopwise_testing::check!(4_096, |bytes: &[u8]| parses_or_says_where(&text(bytes)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4_096), ..ProptestConfig::default() })]

    #[test]
    fn any_expression_prints_as_itself_or_is_refused(text in expression()) {
        parses_or_says_where(&text);
    }
}
