//! What others can call: every public item of the published crates, against a list that is checked in. A line that goes or changes there
//! breaks programs of others, and needs a new version and a line in CHANGELOG.md; `cargo semver-checks` in CI says the rest.
//!
//! The lint `unreachable_pub` sees to it that everything that is called `pub` can be reached from outside, so that reading the sources
//! is enough: no compiler, and no dependency.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the crates. Each has its list, `public-api.txt`.
const CRATES: [&str; 3] = ["core", "node", "app"];

/// Set to anything, it writes the lists anew, as it does the pinned answers of networks.
const PIN: &str = "HOPWISE_PIN";

#[test]
fn public_interfaces_are_as_listed() {
    for name in CRATES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
        let mut found = BTreeSet::new();
        for file in sources(&folder.join("src")) {
            let module = file.strip_prefix(folder.join("src")).unwrap().with_extension("");
            let module = module.to_str().unwrap().replace(['/', '\\'], "::");
            let module = module.trim_end_matches("::mod").trim_end_matches("lib");
            list(&tokens(&fs::read_to_string(&file).unwrap()), module, false, &mut found);
        }
        let path = folder.join("public-api.txt");
        let found = Vec::from_iter(found).join("\n") + "\n";
        if std::env::var_os(PIN).is_some() {
            fs::write(&path, &found).unwrap();
        }
        let listed = fs::read_to_string(&path).unwrap();
        let only = |one: &str, other: &str, sign: &str| {
            let other: BTreeSet<&str> = other.lines().collect();
            let lines = one.lines().filter(|line| !other.contains(line));
            lines.map(|line| format!("{sign} {line}\n")).collect::<String>()
        };
        let (gone, new) = (only(&listed, &found, "-"), only(&found, &listed, "+"));
        assert!(
            gone.is_empty() && new.is_empty(),
            "the public interface of {name} differs from {name}/public-api.txt:\n{gone}{new}if that is meant: \
             {PIN}=1 cargo test -p hopwise-core --test public_api"
        );
    }
}

/// The source files below a folder, tests aside.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let kept = entries.filter(|path| path.file_stem().is_none_or(|name| name != "tests"));
    let found = kept.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    found
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect()
}

/// The words and signs of a source, without comments.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = |end: &str, from: usize| {
            rest[from..]
                .find(end)
                .map_or(rest.len(), |place| from + place + end.len())
        };
        let word = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let is_char = rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'');
        let (length, kept) = match first {
            _ if first.is_whitespace() => (first.len_utf8(), false),
            '/' if rest.starts_with("//") => (after("\n", 0), false),
            '/' if rest.starts_with("/*") => (after("*/", 0), false),
            '"' => (end_of_quote(rest, 1, '"'), true),
            'r' if rest.starts_with("r#\"") => (after("\"#", 3), true),
            '\'' if is_char => (end_of_quote(rest, 1, '\''), true),
            '-' if rest.starts_with("->") => (2, true),
            ':' if rest.starts_with("::") => (2, true),
            '=' if rest.starts_with("=>") => (2, true),
            _ => (word.max(first.len_utf8()), true),
        };
        if kept {
            tokens.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    tokens
}

fn end_of_quote(text: &str, from: usize, quote: char) -> usize {
    let mut escaped = false;
    let end = text[from..].find(|c| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| from + end + 1)
}

/// How many tokens there are up to the end of the block that they begin with.
fn block(tokens: &[&str]) -> usize {
    let mut depth = 0;
    let ends = |token: &&str| {
        depth += i32::from(["(", "[", "{"].contains(token)) - i32::from([")", "]", "}"].contains(token));
        depth == 0
    };
    tokens.iter().position(ends).map_or(tokens.len(), |end| end + 1)
}

/// How many tokens there are before one of the signs, outside of blocks. In `Iterator<Item = u8>` nothing is assigned.
fn until(tokens: &[&str], signs: &[&str]) -> usize {
    let (mut place, mut angle) = (0, 0);
    while let Some(token) = tokens.get(place) {
        if signs.contains(token) && (angle == 0 || !["=", ","].contains(token)) {
            return place;
        }
        angle += i32::from(*token == "<") - i32::from(*token == ">");
        let opens = ["(", "[", "{"].contains(token);
        place += if opens { block(&tokens[place..]) } else { 1 };
    }
    tokens.len()
}

/// Adds the public items among those of a module, an impl or a trait. In a trait all are public.
fn list(mut tokens: &[&str], place: &str, all: bool, found: &mut BTreeSet<String>) {
    let mut attributes = String::new();
    while !tokens.is_empty() {
        if tokens[0] == "#" {
            let start = if tokens[1] == "!" { 2 } else { 1 };
            let (attribute, rest) = tokens.split_at(start + block(&tokens[start..]));
            if ["derive", "cfg", "non_exhaustive", "macro_export"].contains(&attribute[start + 1]) {
                attributes += &(attribute.join(" ") + " ");
            }
            tokens = rest;
            continue;
        }
        let (head, rest) = tokens.split_at(until(tokens, &["=", ";", "{"]));
        let (body, rest) = rest.split_at(match rest.first() {
            Some(&"{") => block(rest),
            _ => (until(rest, &[";"]) + 1).min(rest.len()),
        });
        let inner = body.get(1..body.len().max(2) - 1).unwrap_or_default();
        let is = |word: &str| head.iter().take(2).any(|token| *token == word);
        let is_public = all || (head.first() == Some(&"pub") && head.get(1) != Some(&"("));
        let name = format!("{place}: {}", head.join(" "));
        let line = format!("{place}: {attributes}{}", head.join(" "));
        let whole = format!("{line} {}", body.join(" "));
        if attributes.contains("cfg ( test )") {
            // Nobody else can call it.
        } else if head.first() == Some(&"impl") {
            list(inner, &name, false, found);
            found.extend(head.contains(&"for").then_some(line));
        } else if is("mod") && !inner.is_empty() {
            list(inner, &format!("{place}::{}", head[head.len() - 1]), false, found);
        } else if head.get(1) == Some(&"!") {
            // Macros that make public items are listed whole, and so is what they are given.
            found.extend((!is("macro_rules") || body.contains(&"pub")).then_some(whole));
        } else if is_public && is("trait") {
            list(inner, &name, true, found);
            found.insert(line);
        } else if is_public && is("struct") {
            for start in (0..inner.len()).filter(|start| inner[*start] == "pub" && inner[start + 1] != "(") {
                let field = &inner[start..][..until(&inner[start..], &[","])];
                found.insert(format!("{name}: {}", field.join(" ")));
            }
            found.insert(line);
        } else if is_public {
            let tells = is("enum") || is("use") || is("type");
            found.insert(if tells { whole } else { line });
        }
        attributes.clear();
        tokens = rest;
    }
}

#[test]
fn a_changed_signature_is_another_line() {
    let lines = |text: &str| {
        let mut found = BTreeSet::new();
        list(&tokens(text), "x", false, &mut found);
        Vec::from_iter(found)
    };
    let text = "/// pub fn comment();\npub fn f<'a>(n: &'a [u8; 2]) -> impl Fn() + use<'a> { '{' }\n fn private() {} pub(crate) fn ours() {}
        #[derive(Clone)] pub struct S<T> { pub a: Map<u8, T>, b: u8 } impl<T> S<T> { pub const fn g(&self) {} fn h() {} }
        impl Clone for S<u8> { fn clone(&self) -> Self { *self } } pub const C: &str = \"{;\"; pub use a::{b, c}; pub type N = u8;
        pub trait T { const N: u8 = 1; fn t(&self) -> impl Iterator<Item = u8> { 0 } } #[cfg(test)] mod tests { pub fn not() {} } pub enum E { A, B(u8) }";
    let expected = [
        "x: # [ derive ( Clone ) ] pub struct S < T >",
        "x: impl < T > S < T >: pub const fn g ( & self )",
        "x: impl Clone for S < u8 >",
        "x: pub const C : & str",
        "x: pub enum E { A , B ( u8 ) }",
        "x: pub fn f < ' a > ( n : & ' a [ u8 ; 2 ] ) -> impl Fn ( ) + use < ' a >",
        "x: pub struct S < T >: pub a : Map < u8 , T >",
        "x: pub trait T",
        "x: pub trait T: const N : u8",
        "x: pub trait T: fn t ( & self ) -> impl Iterator < Item = u8 >",
        "x: pub type N = u8 ;",
        "x: pub use a :: { b , c }",
    ];
    assert_eq!(lines(text), expected);
}
