//! Events in boards' logs: what defmt prints of an [`Event`], read back.
//!
//! defmt prints structures as Rust's `Debug` does, `LinkDown { link: 2, reason: Silent }`. A small [`Deserializer`] reads that
//! form, so no field is listed here.

use std::fmt;

use hopwise_node::router::Event;
use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, VariantAccess, Visitor};

/// The event of a line of a log, if it is one.
pub fn read_event(text: &str) -> Option<Event> {
    let mut reader = Reader { rest: text };
    let event = Event::deserialize(&mut reader).ok()?;
    reader.rest.trim().is_empty().then_some(event)
}

/// The text is no value of the type that is asked for. Nobody asks why: most lines of a log tell of no event.
#[derive(Debug)]
struct NoValue;

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such value")
    }
}

impl std::error::Error for NoValue {}

impl de::Error for NoValue {
    fn custom<T: fmt::Display>(_: T) -> Self {
        NoValue
    }
}

struct Reader<'de> {
    rest: &'de str,
}

impl<'de> Reader<'de> {
    fn skip(&mut self, mark: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, mark: char) -> Result<(), NoValue> {
        if self.skip(mark) { Ok(()) } else { Err(NoValue) }
    }

    /// Letters, digits and what else is in names and numbers.
    fn word(&mut self) -> Result<&'de str, NoValue> {
        self.rest = self.rest.trim_start();
        let in_word = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
        let end = self.rest.find(|letter| !in_word(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.is_empty() { Err(NoValue) } else { Ok(word) }
    }

    /// `{ field: value, .. }`
    fn fields<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, NoValue> {
        self.expect('{')?;
        visitor.visit_map(Fields { reader: self })
    }

    /// Passes over a value, up to the comma or the bracket after it.
    fn pass_over(&mut self) -> Result<(), NoValue> {
        let mut depth = 0_usize;
        for (place, letter) in self.rest.char_indices() {
            match letter {
                '{' | '(' => depth += 1,
                ',' | '}' | ')' if depth == 0 => {
                    self.rest = &self.rest[place..];
                    return Ok(());
                }
                '}' | ')' => depth -= 1,
                _ => {}
            }
        }
        Err(NoValue)
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
            visitor.$visit(self.word()?.parse().map_err(|_| NoValue)?)
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = NoValue;

    numbers! {
        deserialize_bool visit_bool
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32 deserialize_u64 visit_u64
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32 deserialize_i64 visit_i64
    }

    /// `None` or `Some(4)`
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        match self.word()? {
            "None" => visitor.visit_none(),
            "Some" => {
                self.expect('(')?;
                let value = visitor.visit_some(&mut *self)?;
                self.expect(')')?;
                Ok(value)
            }
            _ => Err(NoValue),
        }
    }

    /// `Name { field: value }`
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        if self.word()? != name {
            return Err(NoValue);
        }
        self.fields(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        visitor.visit_enum(self)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        visitor.visit_borrowed_str(self.word()?)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoValue> {
        self.pass_over()?;
        visitor.visit_unit()
    }

    /// The text alone does not tell what it is.
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoValue> {
        Err(NoValue)
    }

    serde::forward_to_deserialize_any! {
        i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple tuple_struct map
    }
}

struct Fields<'a, 'de> {
    reader: &'a mut Reader<'de>,
}

impl<'de> MapAccess<'de> for Fields<'_, 'de> {
    type Error = NoValue;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, NoValue> {
        if self.reader.skip('}') {
            return Ok(None);
        }
        let name = self.reader.word()?;
        self.reader.expect(':')?;
        seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, NoValue> {
        let value = seed.deserialize(&mut *self.reader)?;
        self.reader.skip(',');
        Ok(value)
    }
}

impl<'de> EnumAccess<'de> for &mut Reader<'de> {
    type Error = NoValue;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), NoValue> {
        let name = words(self.word()?, '-');
        let variant = seed.deserialize(IntoDeserializer::<NoValue>::into_deserializer(name))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for &mut Reader<'de> {
    type Error = NoValue;

    fn unit_variant(self) -> Result<(), NoValue> {
        Ok(())
    }

    /// `Name(value)`
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, NoValue> {
        self.expect('(')?;
        let value = seed.deserialize(&mut *self)?;
        self.expect(')')?;
        Ok(value)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, NoValue> {
        self.fields(visitor)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, NoValue> {
        Err(NoValue)
    }
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
