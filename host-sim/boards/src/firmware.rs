//! What the firmware is compiled and linked with, from the file of a board.

use std::fmt::Write;

use super::{BoardKind, ClockSource, KINDS, Level, Pin, check};

/// The condition under which code of a chip's family is compiled: `chip_f4`.
pub fn family(kind: &BoardKind) -> String {
    let family = check::family(kind.chip).expect("checked when the file was read");
    format!("chip_{family}")
}

/// The features of the firmware's `Cargo.toml` that choose a board.
pub fn features() -> String {
    let mut kinds = KINDS.clone();
    kinds.sort_by_key(|kind| kind.name);
    let feature = |kind: &&BoardKind| {
        let chip = kind.chip.to_lowercase();
        let features = [chip.as_str()].into_iter().chain(kind.embassy_features.iter().copied());
        let features: Vec<String> = features.map(|feature| format!("\"embassy-stm32/{feature}\"")).collect();
        format!("{} = [{}]\n", kind.name, features.join(", "))
    };
    kinds.iter().map(feature).collect()
}

/// The board as the firmware's macro `board!` reads it, by a macro without arguments: panics then name the file that calls it, not one of the
/// machine that compiled it.
pub fn table(kind: &BoardKind) -> String {
    let side = |pin: &Pin| {
        // embassy has one name for streams and channels.
        let channel = pin.dma.replace("STREAM", "CH").replace("CHANNEL", "CH");
        format!("{} {channel} {}", pin.name, pin.dma)
    };
    let mut ports = String::new();
    for uart in kind.uarts() {
        let _ = writeln!(
            ports,
            "        {}: tx {}, rx {};",
            uart.name,
            side(&uart.tx),
            side(&uart.rx)
        );
    }
    let clock = &kind.clock;
    format!(
        "macro_rules! describe {{ () => {{ board! {{\n    name: {:?},\n    ports: {{\n{ports}    }},\n    led: {},\n    button: {},\n    pressed_high: {},\n    \
         clock: {{ fed: {}, hertz: {}, pll_input: {}, prediv: DIV{}, mul: MUL{}, div: DIV{}, ahb: DIV{}, apb1: DIV{}, apb2: DIV{} }},\n    \
         buses: {:?},\n}} }} }}\n",
        kind.name,
        kind.led,
        kind.button.pin,
        kind.button.pressed == Level::High,
        clock.source == ClockSource::Fed,
        clock.hertz,
        clock.pll_input(),
        clock.pll.prediv,
        clock.pll.mul,
        clock.pll.div,
        clock.ahb,
        clock.apb1,
        clock.apb2,
        kind.buses
    )
}

/// The symbol by which tools know which board an image is for.
pub fn symbol(name: &str) -> String {
    format!("_board_{}", name.replace('-', "_"))
}

/// The memory layout for the linker.
pub fn layout(kind: &BoardKind) -> String {
    let memory = &kind.memory;
    let mut regions = [
        ("BOOT", memory.boot),
        ("STATE", memory.state),
        ("SLOTS", memory.slots),
        ("FLASH", memory.flash),
        ("NEXT", memory.next),
        ("STACK", memory.stack),
        ("RAM", memory.ram),
    ];
    regions.sort_by_key(|(_, region)| region.at);
    let region = |(name, region): &(&str, super::Region)| {
        format!("  {name:<5} : ORIGIN = 0x{:08X}, LENGTH = {}K\n", region.at, region.kib)
    };
    let regions: String = regions.iter().map(region).collect();
    let symbol = symbol(kind.name);
    format!("MEMORY\n{{\n{regions}}}\n\n/* By this tools know which board an image is for. */\n{symbol} = 1;\n")
}
