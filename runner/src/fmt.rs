//! The log: lines of defmt, or nothing where that is not built in.

// A line is logged as from where it is written, not as from here.
#[collapse_debuginfo(yes)]
macro_rules! log {
    ($level:ident, $text:literal $(, $value:expr)* $(,)?) => {{
        #[cfg(feature = "defmt")]
        defmt::$level!($text $(, $value)*);
        #[cfg(not(feature = "defmt"))]
        let _ = ($(&$value),*);
    }};
}
