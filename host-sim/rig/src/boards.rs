//! The kinds of boards: which serial ports are links, where their pins are, how probe-rs calls the chip.
//!
//! The firmware has the same pins in `firmware/src/boards`; a test compares the two.

use serde::Serialize;

/// A pin of the chip, and where it is on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pin {
    /// The chip's name for it.
    pub name: &'static str,
    /// Connector and number of the pin, as printed on the board.
    pub header: &'static str,
    /// Its name on the Arduino connector, or nothing.
    pub arduino: &'static str,
}

/// A serial port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Uart {
    /// The chip's name for it.
    pub name: &'static str,
    /// The pin that sends.
    pub tx: Pin,
    /// The pin that receives.
    pub rx: Pin,
}

/// A kind of board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BoardKind {
    /// Its name, which is also the firmware's feature.
    pub name: &'static str,
    /// What probe-rs calls its chip.
    pub chip: &'static str,
    /// USB vendor and product of its ST-LINK.
    pub probe: &'static str,
    /// Where the configuration is in the flash: two slots, one behind the other.
    pub slots: u32,
    /// The bytes of each.
    pub slot_bytes: u32,
    /// The clocks in Hz that its serial ports divide to their rate.
    pub buses: &'static [u32],
    /// The serial ports that are links, by the number of the link.
    pub links: &'static [Uart],
    /// The serial port that the ST-LINK makes a USB port of.
    pub serial: Uart,
    /// Pins that are ground.
    pub ground: &'static [&'static str],
}

const fn pin(name: &'static str, header: &'static str, arduino: &'static str) -> Pin {
    Pin { name, header, arduino }
}

const fn uart(name: &'static str, tx: Pin, rx: Pin) -> Uart {
    Uart { name, tx, rx }
}

/// Where the pins are on the headers CN7 and CN10 of every Nucleo-64.
mod nucleo64 {
    use super::{Pin, Uart, pin, uart};

    pub(super) const GROUND: &[&str] = &["CN7-8", "CN7-19", "CN7-20", "CN7-22", "CN10-9", "CN10-20"];
    const PA0: Pin = pin("PA0", "CN7-28", "A0");
    const PA1: Pin = pin("PA1", "CN7-30", "A1");
    pub(super) const PA2: Pin = pin("PA2", "CN10-35", "D1");
    pub(super) const PA3: Pin = pin("PA3", "CN10-37", "D0");
    const PA9: Pin = pin("PA9", "CN10-21", "D8");
    const PA10: Pin = pin("PA10", "CN10-33", "D2");
    pub(super) const PB3: Pin = pin("PB3", "CN10-31", "D3");
    pub(super) const PB4: Pin = pin("PB4", "CN10-27", "D5");
    pub(super) const PB10: Pin = pin("PB10", "CN10-25", "D6");
    pub(super) const PB11: Pin = pin("PB11", "CN10-18", "");
    pub(super) const PC0: Pin = pin("PC0", "CN7-38", "A5");
    pub(super) const PC1: Pin = pin("PC1", "CN7-36", "A4");
    pub(super) const PC4: Pin = pin("PC4", "CN10-34", "");
    pub(super) const PC5: Pin = pin("PC5", "CN10-6", "");
    const PC6: Pin = pin("PC6", "CN10-4", "");
    const PC7: Pin = pin("PC7", "CN10-19", "D9");
    pub(super) const PC10: Pin = pin("PC10", "CN7-1", "");
    pub(super) const PC11: Pin = pin("PC11", "CN7-2", "");
    const PC12: Pin = pin("PC12", "CN7-3", "");
    const PD2: Pin = pin("PD2", "CN7-4", "");

    pub(super) const USART1: Uart = uart("USART1", PA9, PA10);
    pub(super) const USART2: Uart = uart("USART2", PA2, PA3);
    pub(super) const UART4: Uart = uart("UART4", PA0, PA1);
    pub(super) const UART5: Uart = uart("UART5", PC12, PD2);
    pub(super) const USART6: Uart = uart("USART6", PC6, PC7);
}

use nucleo64::{GROUND, PA2, PA3, PB3, PB4, PB10, PB11, PC0, PC1, PC4, PC5, PC10, PC11};

const ST_LINK_V2_1: &str = "0483:374b";
const ST_LINK_V3: &str = "0483:374e";

const F446RE: BoardKind = BoardKind {
    name: "nucleo-f446re",
    buses: &[90_000_000, 45_000_000],
    chip: "STM32F446RE",
    probe: ST_LINK_V2_1,
    slots: 0x0800_8000,
    slot_bytes: 16 << 10,
    links: &[
        nucleo64::USART1,
        uart("USART3", PB10, PC5),
        nucleo64::UART4,
        nucleo64::UART5,
        nucleo64::USART6,
    ],
    serial: nucleo64::USART2,
    ground: GROUND,
};

const F401RE: BoardKind = BoardKind {
    name: "nucleo-f401re",
    buses: &[84_000_000, 42_000_000],
    chip: "STM32F401RE",
    links: &[nucleo64::USART1, nucleo64::USART6],
    ..F446RE
};

const F411RE: BoardKind = BoardKind {
    name: "nucleo-f411re",
    buses: &[100_000_000, 50_000_000],
    chip: "STM32F411RE",
    ..F401RE
};

const G474RE: BoardKind = BoardKind {
    name: "nucleo-g474re",
    buses: &[150_000_000],
    chip: "STM32G474RE",
    probe: ST_LINK_V3,
    slots: 0x0807_e000,
    slot_bytes: 4 << 10,
    links: &[
        // On this board these two, not PA2 and PA3, are D1 and D0.
        uart("USART1", Pin { arduino: "D1", ..PC4 }, Pin { arduino: "D0", ..PC5 }),
        uart("USART2", PB3, PB4),
        uart("USART3", PB10, PB11),
        uart("UART4", PC10, PC11),
        nucleo64::UART5,
    ],
    serial: uart("LPUART1", Pin { arduino: "", ..PA2 }, Pin { arduino: "", ..PA3 }),
    ground: GROUND,
};

const L476RG: BoardKind = BoardKind {
    name: "nucleo-l476rg",
    buses: &[80_000_000],
    chip: "STM32L476RG",
    probe: ST_LINK_V2_1,
    slots: 0x080f_e000,
    slot_bytes: 4 << 10,
    links: &[
        nucleo64::USART1,
        uart("USART3", PC4, PC5),
        nucleo64::UART4,
        nucleo64::UART5,
        uart("LPUART1", PC1, PC0),
    ],
    serial: nucleo64::USART2,
    ground: GROUND,
};

const H743ZI: BoardKind = BoardKind {
    name: "nucleo-h743zi",
    buses: &[100_000_000],
    chip: "STM32H743ZI",
    probe: ST_LINK_V2_1,
    slots: 0x081c_0000,
    slot_bytes: 128 << 10,
    links: &[
        uart("USART2", pin("PD5", "CN9-6", "D53"), pin("PD6", "CN9-4", "D52")),
        uart("UART4", pin("PC10", "CN8-6", "D45"), pin("PC11", "CN8-8", "D46")),
        uart("UART5", pin("PC12", "CN8-10", "D47"), pin("PD2", "CN8-12", "D48")),
        uart("UART7", pin("PE8", "CN10-18", "D42"), pin("PE7", "CN10-20", "D41")),
        uart("USART6", pin("PG14", "CN10-14", "D1"), pin("PG9", "CN10-16", "D0")),
        uart("USART1", pin("PB6", "CN10-13", "D26"), pin("PB15", "CN7-3", "D17")),
    ],
    // On the board only: the pins go to the ST-LINK and to the outer headers.
    serial: uart("USART3", pin("PD8", "CN12-10", ""), pin("PD9", "CN11-69", "")),
    ground: &["CN7-8", "CN8-11", "CN8-13", "CN9-12", "CN10-5", "CN10-17", "CN10-22"],
};

/// A pin of a board that names its pins after the chip's.
const fn bare(name: &'static str) -> Pin {
    pin(name, name, "")
}

/// Any board with this chip and a crystal of 8 MHz: its pins are where its maker has put them.
const F405RG: BoardKind = BoardKind {
    name: "plain-f405rg",
    buses: &[84_000_000, 42_000_000],
    chip: "STM32F405RG",
    links: &[
        uart("USART1", bare("PA9"), bare("PA10")),
        uart("USART3", bare("PB10"), bare("PB11")),
        uart("UART4", bare("PA0"), bare("PA1")),
        uart("UART5", bare("PC12"), bare("PD2")),
        uart("USART6", bare("PC6"), bare("PC7")),
    ],
    serial: uart("USART2", bare("PA2"), bare("PA3")),
    ground: &["GND"],
    ..F446RE
};

/// All kinds, the default first.
pub const KINDS: [&BoardKind; 7] = [&F446RE, &F401RE, &F411RE, &G474RE, &H743ZI, &L476RG, &F405RG];

/// The kind of a name.
pub fn kind(name: &str) -> Option<&'static BoardKind> {
    KINDS.into_iter().find(|kind| kind.name == name)
}

impl BoardKind {
    /// The number of the link that a serial port is.
    pub fn link_of(&self, uart: &str) -> Option<usize> {
        self.links.iter().position(|link| link.name.eq_ignore_ascii_case(uart))
    }
}
