//! A board's headers as a picture, with the pins of its links: for the book, for `hopwise board`, and for the page's wiring assistant.
//!
//! Pins are numbered as on the board: odd ones in the left column, even ones in the right. Every pin has its place in `data-pin`, as
//! `CN10-21`, by which the page finds it.

use std::fmt::Write;

use hopwise_figures::escape;

use super::boards::{BoardKind, Connector, Pin};
use super::drawing::color;

const ROW: f64 = 17.0;
const PIN: f64 = 11.0;
const COLUMN: f64 = 320.0;
const TOP: f64 = 64.0;
/// Where the left pin of a connector is in its column.
const LEFT: f64 = 140.0;

const GROUND: &str = "#1c2530";

/// What stands beside a pin, and its color; nothing for pins that are none of ours.
fn note(kind: &BoardKind, place: &str) -> Option<(String, &'static str)> {
    let described = |pin: &Pin, role: &str, uart: &str| match pin.arduino {
        "" => format!("{uart} {role} {}", pin.name),
        arduino => format!("{uart} {role} {} {arduino}", pin.name),
    };
    for (link, uart) in kind.links.iter().enumerate() {
        for (pin, role) in [(&uart.tx, "TX"), (&uart.rx, "RX")] {
            if pin.header == place {
                return Some((described(pin, role, uart.name), color(link)));
            }
        }
    }
    kind.ground.contains(&place).then(|| ("ground".into(), GROUND))
}

/// The picture, as SVG. Of a board without connectors, a list of pins.
pub fn svg(kind: &BoardKind) -> String {
    let connectors = kind.connectors.iter();
    let rows = connectors.map(|connector| connector.above + connector.pins / 2).max();
    let lines = 2 * kind.links.len() as u32 + 1;
    let height = TOP + ROW * f64::from(rows.unwrap_or(lines) + 1) + 14.0;
    let width = 2.0 * COLUMN + 10.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
         aria-label=\"Pins of a {name}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"white\" stroke=\"#5b6877\"/>\n\
         <text x=\"16\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{name}</text>\n",
        name = escape(kind.name),
    );
    match &kind.connectors[..] {
        [] => list_pins(&mut out, kind),
        connectors => {
            let usb = width / 2.0;
            let _ = writeln!(
                out,
                "<text x=\"{usb:.0}\" y=\"24\" text-anchor=\"middle\" fill=\"#5b6877\">USB and ST-LINK at this end</text>"
            );
            connectors.iter().for_each(|connector| draw(&mut out, kind, connector));
        }
    }
    out += "</svg>\n";
    out
}

fn draw(out: &mut String, kind: &BoardKind, connector: &Connector) {
    let left = COLUMN * f64::from(connector.column) + LEFT;
    let top = TOP + ROW * f64::from(connector.above);
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"bold\" text-anchor=\"middle\">{}</text>\
         <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" fill=\"#e3e6ea\"/>",
        left + ROW / 2.0,
        top - 13.0,
        connector.name,
        left - ROW / 2.0,
        top - ROW / 2.0,
        2.0 * ROW,
        ROW * f64::from(connector.pins / 2),
    );
    for number in 1..=connector.pins {
        let place = format!("{}-{number}", connector.name);
        let right = number % 2 == 0;
        let x = left + if right { ROW } else { 0.0 };
        let y = top + ROW * f64::from((number - 1) / 2);
        let note = note(kind, &place);
        let color = note.as_ref().map_or("white", |(_, color)| *color);
        let _ = write!(
            out,
            "<rect class=\"pin\" data-pin=\"{place}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{PIN}\" height=\"{PIN}\" rx=\"2\" \
             fill=\"{color}\" stroke=\"#5b6877\"/>",
            x - PIN / 2.0,
            y - PIN / 2.0,
        );
        if let Some((text, color)) = note {
            let (at, anchor, text) = match right {
                true => (x + 12.0, "start", format!("{number}  {text}")),
                false => (x - 12.0, "end", format!("{text}  {number}")),
            };

            let _ = write!(
                out,
                "<text data-note=\"{place}\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{color}\">{}</text>",
                y + 4.0,
                escape(&text)
            );
        }
        out.push('\n');
    }
}

fn list_pins(out: &mut String, kind: &BoardKind) {
    let _ = writeln!(
        out,
        "<text x=\"16\" y=\"44\" fill=\"#5b6877\">Where the pins are, the board's maker says.</text>"
    );
    let mut y = TOP;
    for (link, uart) in kind.links.iter().enumerate() {
        for (pin, role) in [(&uart.tx, "TX"), (&uart.rx, "RX")] {
            let _ = writeln!(
                out,
                "<rect class=\"pin\" data-pin=\"{}\" x=\"16\" y=\"{:.1}\" width=\"{PIN}\" height=\"{PIN}\" rx=\"2\" fill=\"{}\" \
                 stroke=\"#5b6877\"/><text x=\"34\" y=\"{y:.1}\">{} {role} {}</text>",
                pin.header,
                y - PIN + 1.0,
                color(link),
                uart.name,
                pin.name
            );
            y += ROW;
        }
    }
    let ground = kind.ground.join(", ");
    let _ = writeln!(out, "<text x=\"34\" y=\"{y:.1}\">ground {ground}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boards::KINDS;

    #[test]
    fn every_pin_of_every_link_is_drawn_once_and_named() {
        for kind in KINDS.iter() {
            let picture = svg(kind);
            for uart in &kind.links {
                for (pin, role) in [(uart.tx, "TX"), (uart.rx, "RX")] {
                    let place = format!("data-pin=\"{}\"", pin.header);
                    assert_eq!(picture.matches(&place).count(), 1, "{}: {place}", kind.name);
                    let note = format!("{} {role} {}", uart.name, pin.name);
                    assert_eq!(picture.matches(&note).count(), 1, "{}: {note}", kind.name);
                }
            }
            let grounds = picture.matches(">ground").count() + picture.matches("  ground<").count();
            assert!(grounds >= 1, "{}", kind.name);
            let drawn = picture.matches("class=\"pin\"").count() as u32;
            match &kind.connectors[..] {
                [] => assert_eq!(drawn, 2 * kind.links.len() as u32),
                connectors => assert_eq!(drawn, connectors.iter().map(|connector| connector.pins).sum::<u32>()),
            }
        }
    }
}
