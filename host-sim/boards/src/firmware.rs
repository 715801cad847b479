//! What the firmware is compiled and linked with, from the file of a board.

use std::fmt::Write;

use super::{BoardKind, Clock, ClockSource, KINDS, Pin, check};

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
        let (controller, number) = controller(pin.dma);
        format!("{} {channel} {} {controller} {number}", pin.name, pin.dma)
    };
    let mut ports = String::new();
    for uart in kind.uarts() {
        let _ = writeln!(
            ports,
            "        {}: clock {} {}, tx {}, rx {};",
            uart.name,
            uart.clock,
            uart.is_low_power(),
            side(&uart.tx),
            side(&uart.rx)
        );
    }
    let Clock {
        source,
        hertz,
        prediv,
        mul,
        div,
        ahb,
        apb1,
        apb2,
    } = kind.clock;
    let (fed, pll_input) = (source == ClockSource::Fed, kind.clock.pll_input());
    let BoardKind {
        name,
        led,
        button,
        pressed_high,
        ..
    } = kind;
    format!(
        "macro_rules! describe {{ () => {{ board! {{
    name: {name:?},
    ports: {{
{ports}    }},
    led: {led},
    button: {button},
    pressed_high: {pressed_high},
    clock: {{ fed: {fed}, hertz: {hertz}, pll_input: {pll_input}, prediv: DIV{prediv}, mul: MUL{mul}, div: DIV{div},
        ahb: DIV{ahb}, apb1: DIV{apb1}, apb2: DIV{apb2} }},
}} }} }}
"
    )
}

/// The controller of a DMA stream or channel, and its number there: streams are counted from 0, channels from 1.
fn controller(dma: &str) -> (&str, u8) {
    let (controller, place) = dma.split_once('_').expect("checked when the file was read");
    let number = |digits: &str| digits.parse::<u8>().expect("checked when the file was read");
    match place.strip_prefix("STREAM") {
        Some(digits) => (controller, number(digits)),
        None => (controller, number(place.trim_start_matches("CHANNEL")) - 1),
    }
}

/// The symbol by which tools know which board an image is for.
pub fn symbol(name: &str) -> String {
    format!("_board_{}", name.replace('-', "_"))
}

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
