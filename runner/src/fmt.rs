//! The log: lines of defmt, or nothing where that is not built in.

macro_rules! log {
    ($level:ident, $text:literal $(, $value:expr)* $(,)?) => {{
        #[cfg(feature = "defmt")]
        defmt::$level!($text $(, $value)*);
        #[cfg(not(feature = "defmt"))]
        let _ = ($(&$value),*);
    }};
}
