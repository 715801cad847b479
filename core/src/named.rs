//! Enumerations whose values have names.

/// Makes an enumeration of a list of values and names: the values, `ALL` of them, and the `name` of each.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $visibility:vis enum $Name:ident { $($(#[$doc:meta])* $Value:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        $visibility enum $Name {
            $($(#[$doc])* $Value,)+
        }

        impl $Name {
            /// All of them, in this order.
            $visibility const ALL: [$Name; [$($name),+].len()] = [$($Name::$Value),+];

            /// Its name in commands and reports.
            $visibility const fn name(self) -> &'static str {
                match self {
                    $($Name::$Value => $name,)+
                }
            }
        }
    };
}
