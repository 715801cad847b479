//! The boards that there is firmware for: a chip, what feeds its clock, and which pins lead where.

use crate::chip::Model;
use crate::chip::clocks::Hse;
use crate::chip::pins::{Pin, Wiring};

/// A kind of board.
#[derive(Debug)]
pub struct BoardKind {
    /// Its name, which is also that of the firmware's feature.
    pub name: &'static str,
    /// The chip that is on it.
    pub model: Model,
    /// What is at the HSE pins.
    pub hse: Hse,
    /// The serial ports: the links in the order of their numbers, then the one to the computer.
    pub ports: &'static [Wiring],
    /// The pin of the LED that programs can use.
    pub led: Pin,
    /// The pin of the button.
    pub button: Pin,
    /// The level of the button's pin while it is pressed.
    pub pressed_high: bool,
}

impl BoardKind {
    /// The serial ports that make links, in the order of the node's ports.
    pub fn links(&self) -> &'static [Wiring] {
        self.ports.split_last().map_or(&[], |(_, links)| links)
    }

    /// The serial port to the computer; that of a board without any is the first.
    pub fn computer(&self) -> usize {
        self.ports.last().map_or(0, |port| port.uart)
    }
}

/// Nucleo-F446RE.
pub static NUCLEO_F446RE: BoardKind = BoardKind {
    name: "nucleo-f446re",
    model: Model::F446,
    hse: Hse::Fed(8_000_000),
    ports: &[
        Wiring::new(0, "PA9", "PA10"),
        Wiring::new(2, "PB10", "PC5"),
        Wiring::new(3, "PA0", "PA1"),
        Wiring::new(4, "PC12", "PD2"),
        Wiring::new(5, "PC6", "PC7"),
        Wiring::new(1, "PA2", "PA3"),
    ],
    led: Pin::named("PA5"),
    button: Pin::named("PC13"),
    pressed_high: false,
};

/// Nucleo-F401RE.
pub static NUCLEO_F401RE: BoardKind = BoardKind {
    name: "nucleo-f401re",
    model: Model::F401,
    ports: &[
        Wiring::new(0, "PA9", "PA10"),
        Wiring::new(5, "PC6", "PC7"),
        Wiring::new(1, "PA2", "PA3"),
    ],
    hse: Hse::Fed(8_000_000),
    led: Pin::named("PA5"),
    button: Pin::named("PC13"),
    pressed_high: false,
};

/// Nucleo-F411RE.
pub static NUCLEO_F411RE: BoardKind = BoardKind {
    name: "nucleo-f411re",
    model: Model::F411,
    ports: &[
        Wiring::new(0, "PA9", "PA10"),
        Wiring::new(5, "PC6", "PC7"),
        Wiring::new(1, "PA2", "PA3"),
    ],
    hse: Hse::Fed(8_000_000),
    led: Pin::named("PA5"),
    button: Pin::named("PC13"),
    pressed_high: false,
};

/// Any board with an F405RG and a crystal of 8 MHz.
pub static PLAIN_F405RG: BoardKind = BoardKind {
    name: "plain-f405rg",
    model: Model::F405,
    hse: Hse::Crystal(8_000_000),
    ports: &[
        Wiring::new(0, "PA9", "PA10"),
        Wiring::new(2, "PB10", "PB11"),
        Wiring::new(3, "PA0", "PA1"),
        Wiring::new(4, "PC12", "PD2"),
        Wiring::new(5, "PC6", "PC7"),
        Wiring::new(1, "PA2", "PA3"),
    ],
    led: Pin::named("PA5"),
    button: Pin::named("PC13"),
    pressed_high: false,
};

/// Nucleo-G474RE. LPUART1 goes to the ST-LINK.
pub static NUCLEO_G474RE: BoardKind = BoardKind {
    name: "nucleo-g474re",
    model: Model::G474,
    hse: Hse::Crystal(24_000_000),
    ports: &[
        Wiring::new(0, "PC4", "PC5"),
        Wiring::new(1, "PB3", "PB4"),
        Wiring::new(2, "PB10", "PB11"),
        Wiring::new(3, "PC10", "PC11"),
        Wiring::new(4, "PC12", "PD2"),
        Wiring::new(8, "PA2", "PA3"),
    ],
    led: Pin::named("PA5"),
    button: Pin::named("PC13"),
    pressed_high: true,
};

/// Nucleo-L476RG, as it is delivered: nothing is fed into the HSE pin.
pub static NUCLEO_L476RG: BoardKind = BoardKind {
    name: "nucleo-l476rg",
    model: Model::L476,
    hse: Hse::Absent,
    ports: &[
        Wiring::new(0, "PA9", "PA10"),
        Wiring::new(2, "PC4", "PC5"),
        Wiring::new(3, "PA0", "PA1"),
        Wiring::new(4, "PC12", "PD2"),
        Wiring::new(8, "PC1", "PC0"),
        Wiring::new(1, "PA2", "PA3"),
    ],
    led: Pin::named("PA5"),
    button: Pin::named("PC13"),
    pressed_high: false,
};

/// Nucleo-H743ZI. USART3 goes to the ST-LINK.
pub static NUCLEO_H743ZI: BoardKind = BoardKind {
    name: "nucleo-h743zi",
    model: Model::H743,
    hse: Hse::Fed(8_000_000),
    ports: &[
        Wiring::new(1, "PD5", "PD6"),
        Wiring::new(3, "PC10", "PC11"),
        Wiring::new(4, "PC12", "PD2"),
        Wiring::new(6, "PE8", "PE7"),
        Wiring::new(5, "PG14", "PG9"),
        Wiring::new(0, "PB6", "PB15"),
        Wiring::new(2, "PD8", "PD9"),
    ],
    led: Pin::named("PB0"),
    button: Pin::named("PC13"),
    pressed_high: true,
};

/// All of them. The first is the default.
pub static BOARDS: [&BoardKind; 7] = [
    &NUCLEO_F446RE,
    &NUCLEO_F401RE,
    &NUCLEO_F411RE,
    &PLAIN_F405RG,
    &NUCLEO_G474RE,
    &NUCLEO_H743ZI,
    &NUCLEO_L476RG,
];

/// The board of a name.
pub fn find(name: &str) -> Option<&'static BoardKind> {
    BOARDS.into_iter().find(|board| board.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::UART_NAMES;
    use crate::chip::map::Kind;
    use crate::chip::pins::Side;

    /// The firmware's file of a board.
    fn firmware(board: &BoardKind) -> String {
        let name = board.name.replace('-', "_");
        let path = format!("{}/../firmware/src/boards/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A line such as `USART1: tx PA9 DMA2_CH7 DMA2_STREAM7, rx PA10 DMA2_CH5 DMA2_STREAM5;`: the port, then pin and DMA channel of
    /// each side.
    fn port_of(line: &str) -> Option<(usize, [(&str, &str); 2])> {
        let (uart, sides) = line.trim().strip_suffix(';')?.split_once(": tx ")?;
        let (tx, rx) = sides.split_once(", rx ")?;
        let both = [tx, rx].map(|side| {
            let mut words = side.split(' ');
            Some((words.next()?, words.next()?))
        });
        let uart = UART_NAMES.iter().position(|name| *name == uart)?;
        Some((uart, [both[0]?, both[1]?]))
    }

    #[test]
    fn pins_and_dma_are_those_of_the_firmware_and_the_chip_has_them() {
        for board in BOARDS {
            let (name, chip) = (board.name, board.model.description());
            let text = firmware(board);
            let ports: Vec<_> = text.lines().filter_map(port_of).collect();
            let wired: Vec<Wiring> = ports
                .iter()
                .map(|(uart, [tx, rx])| Wiring::new(*uart, tx.0, rx.0))
                .collect();
            assert_eq!(wired, board.ports, "{name}");
            assert!(text.contains(&format!("led: {},", board.led)), "{name}");
            assert!(
                text.contains(&format!("pressed_high: {},", board.pressed_high)),
                "{name}"
            );
            for (uart, sides) in ports {
                let has = |kind: Kind| matches!(kind, Kind::Uart(number) if number == uart);
                let entry = chip.map.iter().find(|entry| has(entry.kind));
                assert_eq!(entry.map(|entry| entry.name), Some(UART_NAMES[uart]), "{name}");
                for (side, (pin, channel)) in [Side::Tx, Side::Rx].into_iter().zip(sides) {
                    let mut functions = chip.functions.iter().filter(|function| function.uart == uart);
                    assert!(
                        functions.any(|function| function.side(side).contains(&Pin::named(pin))),
                        "{name}: {} has no {side:?} of {} at {pin}",
                        chip.name,
                        UART_NAMES[uart]
                    );
                    // A multiplexer lets any port ask any channel.
                    let own = chip
                        .requests
                        .iter()
                        .filter(|request| (request.uart, request.side) == (uart, side));
                    let first = usize::from(board.model == Model::L476);
                    let mut reached =
                        own.map(|request| format!("DMA{}_CH{}", request.controller + 1, request.channel + first));
                    assert!(
                        chip.requests.is_empty() || reached.any(|reached| reached == channel),
                        "{name}: {channel} does not serve {side:?} of {}",
                        UART_NAMES[uart]
                    );
                }
            }
        }
    }

    #[test]
    fn what_feeds_the_clock_is_what_the_firmware_expects() {
        for board in [&NUCLEO_F446RE, &NUCLEO_F401RE, &NUCLEO_F411RE, &PLAIN_F405RG] {
            let expected = match board.hse {
                Hse::Fed(8_000_000) => "HseMode::Bypass",
                Hse::Crystal(8_000_000) => "HseMode::Oscillator",
                _ => "",
            };
            assert!(
                !expected.is_empty() && firmware(board).contains(expected),
                "{}",
                board.name
            );
        }
    }

    #[test]
    fn no_pin_is_in_two_functions_of_one_port_and_side() {
        for model in crate::chip::Model::ALL {
            let chip = model.description();
            for side in [Side::Tx, Side::Rx] {
                let all = chip.functions.iter();
                let pins =
                    all.flat_map(|function| function.side(side).iter().map(|pin| (function.uart, pin.to_string())));
                let mut seen = std::collections::BTreeSet::new();
                for pin in pins {
                    assert!(seen.insert(pin.clone()), "{}: {side:?} of {pin:?}", chip.name);
                }
            }
        }
    }
}
