//! Events in boards' logs: what defmt prints of an [`Event`], read back.
//!
//! defmt prints structures as Rust's `Debug` does, `LinkDown { link: 2, reason: Silent }`. Written as JSON, serde reads it, so no field
//! is listed here.

use hopwise_node::router::Event;

/// The structures in events: the text alone does not tell them from variants, which serde wants by name.
const STRUCTURES: [&str; 2] = ["Identity", "PacketId"];

pub fn read_event(text: &str) -> Option<Event> {
    serde_json::from_str(&to_json(text)?).ok()
}

/// The same value as JSON, if the text is one: what is missing or too much is left to serde.
fn to_json(text: &str) -> Option<String> {
    let mut json = String::new();
    // What is written for the brackets that are to be closed.
    let mut closing = Vec::new();
    let mut rest = text.trim_start();
    while let Some(letter) = rest.chars().next() {
        let in_word = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
        let (word, after) = rest.split_at(rest.find(|letter| !in_word(letter)).unwrap_or(rest.len()));
        rest = after.trim_start();
        match rest.chars().next() {
            _ if word.is_empty() => {
                rest = rest[letter.len_utf8()..].trim_start();
                match letter {
                    '[' | '(' => {
                        json.push('[');
                        closing.push("]");
                    }
                    ']' | ')' | '}' => json += closing.pop()?,
                    ',' | ':' => json.push(letter),
                    _ => return None,
                }
            }
            Some(open @ ('{' | '(')) => {
                rest = rest[1..].trim_start();
                let (opened, closed) = match (open, word) {
                    ('(', "Some") => (String::new(), ""),
                    ('(', _) => (format!("{{\"{}\":", words(word, '-')), "}"),
                    _ if STRUCTURES.contains(&word) => ("{".into(), "}"),
                    _ => (format!("{{\"{}\":{{", words(word, '-')), "}}"),
                };
                json += &opened;
                closing.push(closed);
            }
            Some(':') => json += &format!("\"{word}\""),
            _ if word == "None" => json += "null",
            _ if word.parse::<i128>().is_ok() || word.parse::<bool>().is_ok() => json += word,
            _ => json += &format!("\"{}\"", words(word, '-')),
        }
    }
    Some(json)
}

/// A name of the source in words: serde knows `LinkDown`, which defmt prints, by the words of traces, `link-down`.
pub fn words(name: &str, between: char) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(between);
        }
        words.extend(letter.to_lowercase());
    }
    words
}
