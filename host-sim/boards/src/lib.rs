//! The boards that Hopwise runs on. Each is a file in `boards/`: chip, clock, links with their pins and DMA, LED, button, connectors, memory.
//!
//! The firmware's tables ([`firmware`]), the emulated boards, the rig, and the pages of the book that list boards all come from these files. A file
//! that contradicts itself is refused with a sentence that names the file and the field.
//!
//! ```
//! let board = hopwise_boards::kind("nucleo-f446re").expect("a board");
//! assert_eq!((board.links.len(), board.links[0].name, board.links[0].tx.header), (5, "USART1", "CN10-21"));
//! assert_eq!(board.links[0].clock, 90_000_000);
//! ```

mod check;
pub mod firmware;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// The board that is meant where none is named.
pub const DEFAULT: &str = "nucleo-f446re";

/// The serial ports on APB2, on all chips that there are files for; the others are on APB1.
const ON_APB2: [&str; 2] = ["USART1", "USART6"];

/// The files, by the name of the board.
static FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// All kinds of boards, the default first.
pub static KINDS: LazyLock<Vec<&'static BoardKind>> = LazyLock::new(|| {
    let kinds = FILES.iter().map(|(name, text)| match parse(name, text) {
        Ok(kind) => &*Box::leak(Box::new(kind)),
        Err(refusal) => panic!("{refusal}"),
    });
    let mut kinds: Vec<&BoardKind> = kinds.collect();
    kinds.sort_by_key(|kind| (kind.name != DEFAULT, kind.name));
    kinds
});

pub fn kind(name: &str) -> Option<&'static BoardKind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

/// The names of all kinds, the default first, with commas between them.
pub fn names() -> String {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    names.join(", ")
}

pub fn parse(name: &'static str, text: &'static str) -> Result<BoardKind, BoardFileError> {
    let refused = |field: String, why: String| BoardFileError { name, field, why };
    let mut kind: BoardKind = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        refused(format!("line {line}"), error.message().replace('\n', " "))
    })?;
    kind.name = name;
    kind.complete();
    check::check(&kind).map_err(|(field, why)| refused(field, why))?;
    Ok(kind)
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("boards/{name}.toml: {field}: {why}")]
pub struct BoardFileError {
    name: &'static str,
    field: String,
    why: String,
}

/// A kind of board. Its JSON is what `hopwise board --json` prints; in its file some fields have other names, and others follow from them.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))]
pub struct BoardKind {
    /// Its name: that of the file, and of the firmware's feature.
    #[serde(skip_deserializing)]
    pub name: &'static str,
    /// What probe-rs calls its chip.
    pub chip: &'static str,
    /// USB vendor and product of its ST-LINK.
    pub probe: &'static str,
    /// Where the configuration is in the flash: two slots, one behind the other.
    #[serde(skip_deserializing)]
    pub slots: u32,
    #[serde(skip_deserializing)]
    pub slot_bytes: u32,
    /// The clocks in Hz that its serial ports divide to their rate.
    #[serde(skip_deserializing)]
    pub buses: Vec<u32>,
    /// The serial ports that are links, by the number of the link.
    #[serde(rename(deserialize = "link"), default)]
    pub links: Vec<Uart>,
    /// The serial port that the ST-LINK makes a USB port of.
    #[serde(rename(deserialize = "console"))]
    pub serial: Uart,
    #[serde(borrow)]
    pub ground: Vec<&'static str>,
    /// The kind of circuit board, as its maker calls it: `Nucleo-64`.
    #[serde(skip_serializing)]
    pub form: &'static str,
    /// What embassy needs to be told besides the chip.
    #[serde(skip_serializing, default, borrow)]
    pub embassy_features: Vec<&'static str>,
    /// The USB connector of its ST-LINK; `None` on a board without one.
    #[serde(skip_serializing, default)]
    pub usb: Option<&'static str>,
    /// The pin of the LED, which a high level lights.
    #[serde(skip_serializing)]
    pub led: &'static str,
    #[serde(skip_serializing)]
    pub button: &'static str,
    /// The pin's level while it is pressed.
    #[serde(skip_serializing)]
    pub pressed_high: bool,
    /// Where its pins can be reached; none if its maker has not put them on connectors.
    #[serde(skip_serializing, default)]
    pub connectors: Vec<Connector>,
    /// What to know before wiring it, for the book.
    #[serde(skip_serializing)]
    pub notes: &'static str,
    #[serde(skip_serializing)]
    pub clock: Clock,
    #[serde(skip_serializing)]
    pub memory: Memory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Uart {
    /// The chip's name for it.
    #[serde(rename(deserialize = "uart"))]
    pub name: &'static str,
    /// The clock in Hz that it divides to its rate.
    #[serde(skip_deserializing)]
    pub clock: u32,
    pub tx: Pin,
    pub rx: Pin,
}

/// A pin of the chip, and where it is on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The chip's name for it.
    #[serde(rename(deserialize = "pin"))]
    pub name: &'static str,
    /// Connector and number of the pin, as printed on the board; on a board without connectors the pin's name.
    #[serde(default)]
    pub header: &'static str,
    /// Its name on the Arduino connector, or nothing.
    #[serde(default)]
    pub arduino: &'static str,
    /// The DMA stream or channel that serves it, by the name of its interrupt: `DMA1_STREAM0`.
    #[serde(skip_serializing)]
    pub dma: &'static str,
}

/// A connector of two rows of pins: odd numbers in one, even numbers in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connector {
    /// As printed on the board.
    pub name: &'static str,
    pub pins: u32,
    /// Where it is drawn: the column, from 0.
    pub column: u32,
    /// How many rows of pins are above it in that column.
    pub above: u32,
}

/// Where the clock of a chip comes from, and what is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// What the PLL multiplies.
    pub source: ClockSource,
    pub hertz: u32,
    /// What the PLL divides it by.
    pub prediv: u32,
    /// What it multiplies that by.
    pub mul: u32,
    /// What it divides that by for the core.
    pub div: u32,
    /// What the core's clock is divided by for the AHB.
    pub ahb: u32,
    /// What that is divided by for APB1.
    pub apb1: u32,
    /// What the AHB's is divided by for APB2.
    pub apb2: u32,
}

/// What the PLL multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockSource {
    /// A clock that is fed into the HSE pin, as by the ST-LINK of most Nucleos.
    Fed,
    /// A crystal at the HSE pins.
    Crystal,
    /// An oscillator of the chip.
    Internal,
}

/// The parts of a memory. Those of the flash have sectors of their own, since a sector is erased as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The sectors of the flash, in order: how many there are, and the KiB of each.
    pub sectors: Vec<(u32, u32)>,
    /// Where the processor starts. It holds the boot loader; before that is flashed it leads to the program.
    pub boot: Region,
    /// By which the boot loader knows what to start.
    pub state: Region,
    /// Two slots for the configuration, written in turn.
    pub slots: Region,
    pub flash: Region,
    /// Room for the next program, received while this one runs.
    pub next: Region,
    /// The beginning of RAM, so that a stack that runs over its end meets no memory, which is a fault.
    pub stack: Region,
    /// Everything else.
    pub ram: Region,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    pub at: u32,
    pub kib: u32,
}

impl Uart {
    /// Whether it is a low-power one, which divides its clock by 256ths.
    pub fn is_low_power(&self) -> bool {
        self.name.starts_with("LP")
    }
}

impl BoardKind {
    pub fn link_of(&self, uart: &str) -> Option<usize> {
        self.links.iter().position(|link| link.name.eq_ignore_ascii_case(uart))
    }

    /// All serial ports: the links in the order of their numbers, then the console.
    pub fn uarts(&self) -> impl Iterator<Item = &Uart> {
        self.links.iter().chain([&self.serial])
    }

    /// Fills in what follows from the rest.
    fn complete(&mut self) {
        self.slots = self.memory.slots.at;
        self.slot_bytes = self.memory.slots.kib.saturating_mul(1024) / 2;
        let [apb2, apb1] = self.clock.buses();
        self.buses = vec![apb2, apb1];
        self.buses.dedup();
        for uart in self.links.iter_mut().chain([&mut self.serial]) {
            uart.clock = if ON_APB2.contains(&uart.name) { apb2 } else { apb1 };
            if self.connectors.is_empty() {
                (uart.tx.header, uart.rx.header) = (uart.tx.name, uart.rx.name);
            }
        }
    }
}

impl Clock {
    /// What the PLL multiplies, in Hz.
    fn pll_input(&self) -> u32 {
        self.hertz.checked_div(self.prediv).unwrap_or(0)
    }

    /// The clocks of APB2 and APB1 in Hz.
    fn buses(&self) -> [u32; 2] {
        let core = self.pll_input().saturating_mul(self.mul).checked_div(self.div);
        let bus = |by: u32| core?.checked_div(self.ahb)?.checked_div(by);
        [self.apb2, self.apb1].map(|by| bus(by).unwrap_or(0))
    }
}

impl Region {
    pub fn end(&self) -> u64 {
        u64::from(self.at) + (u64::from(self.kib) << 10)
    }
}
