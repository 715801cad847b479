//! Printing of networks: the canonical spelling of their expressions.
//!
//! A board prints no text, but the network ID is computed from the spelling. This avoids the formatting of `core::fmt`, which would take a
//! twentieth of a small image.

use core::fmt;

/// What has an expression.
pub(crate) trait WriteExpr {
    fn write_expr(&self, out: &mut ExprWriter<'_>);
}

pub(crate) struct ExprWriter<'a>(&'a mut dyn FnMut(&str));

impl<'a> ExprWriter<'a> {
    /// `write` is called with each piece.
    pub(crate) fn new(write: &'a mut dyn FnMut(&str)) -> Self {
        ExprWriter(write)
    }

    #[inline(never)]
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        (self.0)(text);
        self
    }

    pub(crate) fn part(&mut self, part: &impl WriteExpr) -> &mut Self {
        part.write_expr(self);
        self
    }

    /// A name with one parameter.
    pub(crate) fn call(&mut self, name: &str, parameter: impl Into<u64>) -> &mut Self {
        self.text(name).text("(").number(parameter).text(")")
    }

    pub(crate) fn number(&mut self, number: impl Into<u64>) -> &mut Self {
        self.digits(number.into())
    }

    #[inline(never)]
    fn digits(&mut self, mut rest: u64) -> &mut Self {
        // Enough for any 64-bit number.
        let mut digits = [b'0'; 20];
        let mut first = 0;
        for (place, digit) in digits.iter_mut().enumerate().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
            first = place;
            if rest == 0 {
                break;
            }
        }
        let digits = digits.get(first..).unwrap_or_default();
        self.text(str::from_utf8(digits).unwrap_or_default())
    }
}

/// Implements [`fmt::Display::fmt`] by [`WriteExpr`].
pub(crate) fn display(spelled: &impl WriteExpr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut result = Ok(());
    spelled.write_expr(&mut ExprWriter::new(&mut |text| {
        result = result.and_then(|()| f.write_str(text));
    }));
    result
}
