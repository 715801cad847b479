//! The boards that there is firmware for: a chip, what feeds its clock, and which pins lead where, from the files in `boards/`.

use std::sync::LazyLock;

use hopwise_boards::{ClockSource, KINDS};

use crate::chip::clocks::Hse;
use crate::chip::pins::{Pin, Wiring};
use crate::chip::{Model, UART_NAMES};

/// A kind of board.
#[derive(Debug)]
pub struct BoardKind {
    /// Its name, which is also that of the firmware's feature.
    pub name: &'static str,
    /// The chip that is on it.
    pub model: Model,
    /// What is at the HSE pins.
    pub hse: Hse,
    /// The serial ports: the links in the order of their numbers, then the one to the host.
    pub ports: &'static [Wiring],
    /// The pin of the LED that programs can use.
    pub led: Pin,
    /// The pin of the button.
    pub button: Pin,
    /// The level of the button's pin while it is pressed.
    pub pressed_high: bool,
}

impl BoardKind {
    /// A board as its file describes it; `None` if there is no model of its chip.
    fn described(kind: &hopwise_boards::BoardKind) -> Option<Self> {
        let mut models = Model::ALL.into_iter();
        let wiring = |uart: &hopwise_boards::Uart| {
            let number = UART_NAMES.iter().position(|name| *name == uart.name)?;
            Some(Wiring::new(number, uart.tx.name, uart.rx.name))
        };
        let ports: Vec<Wiring> = kind.uarts().map(wiring).collect::<Option<_>>()?;
        Some(BoardKind {
            name: kind.name,
            model: models.find(|model| kind.chip.starts_with(model.description().name))?,
            hse: match kind.clock.source {
                ClockSource::Fed => Hse::Fed(kind.clock.hertz),
                ClockSource::Crystal => Hse::Crystal(kind.clock.hertz),
                ClockSource::Internal => Hse::Absent,
            },
            ports: ports.leak(),
            led: Pin::named(kind.led),
            button: Pin::named(kind.button),
            pressed_high: kind.pressed_high,
        })
    }

    /// The serial ports that make links, in the order of the node's ports.
    pub fn links(&self) -> &'static [Wiring] {
        self.ports.split_last().map_or(&[], |(_, links)| links)
    }

    /// The serial port to the host; that of a board without any is the first.
    pub fn host(&self) -> usize {
        self.ports.last().map_or(0, |port| port.uart)
    }
}

/// Those whose chip is modeled. The first is the default.
pub static BOARDS: LazyLock<Vec<&'static BoardKind>> = LazyLock::new(|| {
    let boards = KINDS.iter().filter_map(|kind| BoardKind::described(kind));
    boards.map(|board| &*Box::leak(Box::new(board))).collect()
});

/// The board of a name.
pub fn find(name: &str) -> Option<&'static BoardKind> {
    BOARDS.iter().copied().find(|board| board.name == name)
}

/// The names of all, with commas between them.
pub fn names() -> String {
    let names: Vec<&str> = BOARDS.iter().map(|board| board.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use hopwise_boards::Uart;

    use super::*;
    use crate::chip::map::Kind;
    use crate::chip::pins::Side;

    /// Every board with its file.
    fn described() -> impl Iterator<Item = (&'static hopwise_boards::BoardKind, &'static BoardKind)> {
        KINDS.iter().filter_map(|kind| Some((*kind, find(kind.name)?)))
    }

    /// A DMA stream by its name in a board's file: controller and number, from 0.
    fn stream(name: &str) -> (usize, usize) {
        let digit = |at: usize| usize::from(name.as_bytes()[at] - b'0');
        (digit(3) - 1, digit(name.len() - 1))
    }

    #[test]
    fn the_chips_have_the_serial_ports_pins_and_dma_of_their_boards() {
        for (kind, board) in described() {
            let (name, chip) = (board.name, board.model.description());
            for (port, Uart { name: uart, tx, rx, .. }) in board.ports.iter().zip(kind.uarts()) {
                let has = |kind: Kind| matches!(kind, Kind::Uart(number) if number == port.uart);
                let entry = chip.map().iter().find(|entry| has(entry.kind));
                assert_eq!(entry.map(|entry| entry.name), Some(*uart), "{name}");
                for (side, pin) in [(Side::Tx, tx), (Side::Rx, rx)] {
                    let mut functions = chip.functions().iter().filter(|function| function.uart == port.uart);
                    assert!(
                        functions.any(|function| function.side(side).contains(&Pin::named(pin.name))),
                        "boards/{name}.toml: {} has no {side:?} of {uart} at {}",
                        chip.name,
                        pin.name
                    );
                    // A multiplexer lets any port ask any channel. Channels of the L4 are counted from 1.
                    let first = usize::from(board.model == Model::L476);
                    let mut requests = chip.requests().iter();
                    let served = requests.any(|request| {
                        (request.uart, request.side) == (port.uart, side)
                            && (request.controller, request.channel + first) == stream(pin.dma)
                    });
                    assert!(
                        chip.requests().is_empty() || served,
                        "boards/{name}.toml: {} does not serve {side:?} of {uart}",
                        pin.dma
                    );
                }
            }
        }
    }

    #[test]
    fn the_boards_of_every_chip_are_emulated() {
        let models: Vec<Model> = BOARDS.iter().map(|board| board.model).collect();
        assert!(Model::ALL.iter().all(|model| models.contains(model)), "{models:?}");
        assert_eq!(BOARDS[0].name, hopwise_boards::DEFAULT);
    }

    fn ends(sectors: impl Iterator<Item = u32>) -> Vec<u32> {
        let end = |end: &mut u32, bytes: u32| {
            *end += bytes;
            Some(*end)
        };
        sectors.scan(0, end).collect()
    }

    #[test]
    fn the_memory_of_a_board_is_that_of_its_chip() {
        for (kind, board) in described() {
            let (memory, chip) = (&kind.memory, board.model.memory());
            let sectors = memory.sectors.iter();
            let sectors = sectors.flat_map(|(count, kib)| std::iter::repeat_n(kib << 10, *count as usize));
            let (said, real) = (ends(sectors), ends(chip.sectors.iter().copied()));
            assert_eq!(said.last(), real.last(), "{}: memory.sectors", kind.name);
            let are_real = said.iter().all(|end| real.contains(end));
            assert!(are_real, "{}: memory.sectors", kind.name);
            assert_eq!(memory.stack.at, chip.sram_base, "{}: memory.stack", kind.name);
            let end = u64::from(chip.sram_base) + chip.sram as u64;
            assert!(memory.ram.end() <= end, "{}: memory.ram", kind.name);
        }
    }

    #[test]
    fn no_pin_is_in_two_functions_of_one_port_and_side() {
        for model in crate::chip::Model::ALL {
            let chip = model.description();
            for side in [Side::Tx, Side::Rx] {
                let all = chip.functions().iter();
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
