//! The expression parser.

use hopwise_core::{Base, Family, Network};

use hopwise_testing::fuzz::Input;

/// What stands between the words of the language, and what nearly does.
const REST: [&str; 26] = [
    "(",
    ")",
    ",",
    "[",
    "]",
    "(",
    ")",
    ",",
    ",sk",
    ",sd",
    ",diameter",
    ",all",
    ",one",
    " ",
    "\t",
    "0",
    "1",
    "2",
    "3",
    "20",
    "63",
    "64",
    "9223372036854775808",
    "18446744073709551616",
    "-",
    "é",
];

/// A word of the language, or something else.
fn token(number: u8) -> &'static str {
    let tokens = || Base::WORDS.iter().chain(Family::WORDS).chain(&REST);
    let place = usize::from(number) % tokens().count();
    tokens().nth(place).copied().unwrap_or_default()
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

/// The smallest text of each shape, with numbers of any size in the places of numbers.
fn shaped(bytes: &[u8]) -> String {
    let mut input = Input::new(bytes);
    let base = |input: &mut Input| {
        let word = input.one_of(Base::WORDS);
        match word {
            "petersen" | "heawood" => word.to_string(),
            "torus" | "mesh" | "ghc" => {
                let sizes: Vec<_> = (0..=input.below(10))
                    .map(|_| (input.number() >> 32).to_string())
                    .collect();
                format!("{word}({})", sizes.join(","))
            }
            _ => format!("{word}({})", input.number()),
        }
    };
    let [a, b, c] = [input.number(), input.number(), input.number()];
    let [frame, unit] = [base(&mut input), base(&mut input)];
    match input.below(10) {
        0 => frame,
        1 => format!(
            "{}({a})",
            input.one_of(&["ccc", "dualcube", "hcn", "hfn", "hcn3", "re-heawood-2"])
        ),
        2 => format!(
            "{}({a},{b})",
            input.one_of(&["cor", "wk", "symmetric-hypernet", "hypernet", "exchanged-hypercube"])
        ),
        3 => format!(
            "{}({frame},{a})",
            input.one_of(&["rdn", "folded", "root-folded", "flooded"])
        ),
        4 => format!("rcr({a},{b},{c})"),
        5 => format!("re({frame},{unit},{a}{})", input.one_of(&["", ",sk", ",sd"])),
        6 => format!(
            "re([{frame},{frame},{unit}],{unit}{})",
            input.one_of(&["", ",sk", ",sd"])
        ),
        7 => format!("rsn({a},{frame}{})", input.one_of(&["", ",diameter"])),
        8 => format!("hsn({a},{frame})"),
        _ => format!("bsw({frame})"),
    }
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

#[test]
fn any_numbers_parse_or_are_refused() {
    hopwise_testing::check!(4_096, |bytes: &[u8]| parses_or_says_where(&shaped(bytes)));
}
