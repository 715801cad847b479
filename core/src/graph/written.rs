//! How base graphs are printed.

use core::fmt;

use super::{Base, Factor, Shape};
use crate::expr_writer::{ExprWriter, WriteExpr, display};

impl WriteExpr for Base {
    fn write_expr(&self, out: &mut ExprWriter<'_>) {
        match self.shape() {
            Shape::Line(factor, n) => {
                let name = match factor {
                    Factor::Ring => "ring",
                    Factor::Path => "path",
                    Factor::Complete => "complete",
                };
                out.call(name, n)
            }
            Shape::Product(factor, sizes) => {
                out.text(match factor {
                    Factor::Ring => "torus",
                    Factor::Path => "mesh",
                    Factor::Complete => "ghc",
                });
                for (place, &size) in sizes.iter().enumerate() {
                    out.text(if place == 0 { "(" } else { "," }).number(size);
                }
                out.text(")")
            }
            Shape::Star(n) => out.call("star", n),
            Shape::Hypercube(n) => out.call("hypercube", n),
            Shape::FoldedHypercube(n) => out.call("folded-hypercube", n),
            Shape::NStar(n) => out.call("nstar", n),
            Shape::Petersen => out.text("petersen"),
            Shape::Heawood => out.text("heawood"),
            #[cfg(feature = "lift")]
            Shape::Lift(lift) => lift.write_expr(out),
        };
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self, f)
    }
}
