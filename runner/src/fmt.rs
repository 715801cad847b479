//! Logging by defmt, or not at all without that feature.

// A line is attributed to where it is written, not to this macro.
#[collapse_debuginfo(yes)]
macro_rules! log {
    ($level:ident, $text:literal $(, $value:expr)* $(,)?) => {{
        #[cfg(feature = "defmt")]
        defmt::$level!($text $(, $value)*);
        #[cfg(not(feature = "defmt"))]
        let _ = ($(&$value),*);
    }};
}
