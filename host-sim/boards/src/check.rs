//! What must hold of the file of a board. Each rule names the field that breaks it.

use std::collections::BTreeMap;

use super::{BoardKind, Region, Uart};

/// A field, and what is wrong with it.
type CliError = (String, String);

/// The router has a set of links in one word; the console is one of them.
const MAX_LINKS: usize = 31;
/// As long a name as a board says of itself.
const MAX_NAME: usize = 16;
/// The rate of a mesh for which none is given.
const BAUD: u32 = 1_000_000;
/// How far a serial port may be from that: two then differ by no more than receivers bear.
const MAX_BAUD_ERROR: f64 = 0.0075;
const MIN_IMAGE_KIB: u32 = 192;
const FLASH_BEGIN: u32 = 0x0800_0000;
/// Where the RAM begins that DMA reaches: on most chips, and on the H7.
const RAM_BEGINS: [u32; 2] = [0x2000_0000, 0x2400_0000];

pub(super) fn check(kind: &BoardKind) -> Result<(), CliError> {
    let (name, chip, probe, links) = (kind.name, kind.chip, kind.probe, kind.links.len());
    let why = format!("{name} has more than {MAX_NAME} characters");
    rule(name.len() <= MAX_NAME, "name", why)?;
    let why = format!("a board has 1 to {MAX_LINKS} links, not {links}");
    rule((1..=MAX_LINKS).contains(&links), "link", why)?;
    let why = format!("'{chip}' is no chip such as STM32F446RE");
    rule(family(chip).is_some(), "chip", why)?;
    let is_number = |text: &str| text.len() == 4 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let numbers = probe
        .split_once(':')
        .map(|(vendor, product)| is_number(vendor) && is_number(product));
    let why = format!("'{probe}' is no vendor and product such as 0483:374b");
    rule(numbers == Some(true), "probe", why)?;
    check_clock(kind)?;
    check_pins(kind)?;
    check_memory(kind)
}

fn rule(holds: bool, field: &str, why: String) -> Result<(), CliError> {
    if holds { Ok(()) } else { Err((field.into(), why)) }
}

/// The family of a chip, as the firmware has it: `f4`.
pub(super) fn family(chip: &str) -> Option<String> {
    let family = chip.strip_prefix("STM32")?.get(..2)?;
    let whole = chip.len() == 11 && chip.bytes().all(|letter| letter.is_ascii_alphanumeric());
    whole.then(|| family.to_lowercase())
}

fn check_clock(kind: &BoardKind) -> Result<(), CliError> {
    let clock = &kind.clock;
    let buses = [("ahb", clock.ahb), ("apb1", clock.apb1), ("apb2", clock.apb2)];
    for (field, by) in buses {
        let why = format!("no bus divides by {by}");
        rule(by.is_power_of_two(), &format!("clock.{field}"), why)?;
    }
    for bus in &kind.buses {
        let divisor = (bus.saturating_add(BAUD / 2) / BAUD).max(1);
        let error = (f64::from(*bus) / f64::from(divisor) / f64::from(BAUD) - 1.0).abs();
        let why = format!("a serial port cannot run at {BAUD} baud from a bus of {bus} Hz");
        rule(error <= MAX_BAUD_ERROR, "clock", why)?;
    }
    Ok(())
}

/// Names that may be used once, each with the field that uses it.
#[derive(Default)]
struct Used(BTreeMap<&'static str, String>);

impl Used {
    fn take(&mut self, name: &'static str, field: &str) -> Result<(), CliError> {
        let other = self.0.insert(name, field.into());
        let why = format!("{name} is already that of {}", other.as_deref().unwrap_or_default());
        rule(other.is_none(), field, why)
    }
}

/// The serial ports with the names of their fields.
fn fields(kind: &BoardKind) -> impl Iterator<Item = (String, &Uart)> {
    let links = kind.links.iter().enumerate();
    let links = links.map(|(number, uart)| (format!("link[{number}]"), uart));
    links.chain([("console".to_string(), &kind.serial)])
}

fn check_pins(kind: &BoardKind) -> Result<(), CliError> {
    let (mut uarts, mut pins) = (Used::default(), Used::default());
    let (mut streams, mut places) = (Used::default(), Used::default());
    for (field, uart) in fields(kind) {
        let name = format!("{field}.uart");
        let why = format!("'{}' is no serial port such as USART1", uart.name);
        rule(uart.name.contains("UART") || uart.name.contains("USART"), &name, why)?;
        uarts.take(uart.name, &name)?;
        for (side, pin) in [("tx", uart.tx), ("rx", uart.rx)] {
            let field = |what: &str| format!("{field}.{side}.{what}");
            check_pin(&field("pin"), pin.name, &mut pins)?;
            let why = format!(
                "'{}' is neither a stream such as DMA1_STREAM0 nor a channel such as DMA1_CHANNEL1",
                pin.dma
            );
            rule(is_stream(pin.dma), &field("dma"), why)?;
            streams.take(pin.dma, &field("dma"))?;
            places.take(pin.header, &field("header"))?;
            // That of the console may be anywhere: its cable is the ST-LINK's.
            if uart.name != kind.serial.name {
                check_place(kind, &field("header"), pin.header)?;
            }
        }
    }
    check_pin("led", kind.led, &mut pins)?;
    check_pin("button", kind.button, &mut pins)?;
    for place in &kind.ground {
        places.take(place, "ground")?;
        check_place(kind, "ground", place)?;
    }
    Ok(())
}

fn check_pin(field: &str, name: &'static str, pins: &mut Used) -> Result<(), CliError> {
    let is_pin = (b'A'..=b'K').any(|port| (0..16).any(|number| name == format!("P{}{number}", char::from(port))));
    rule(is_pin, field, format!("'{name}' is no pin such as PA9"))?;
    pins.take(name, field)
}

fn is_stream(name: &str) -> bool {
    let is = |controller, stream, kind: &str| name == format!("DMA{controller}_{kind}{stream}");
    let mut all = (1..=2).flat_map(|controller| (0..=8).map(move |stream| (controller, stream)));
    all.any(|(controller, stream)| is(controller, stream, "STREAM") || is(controller, stream, "CHANNEL"))
}

fn check_place(kind: &BoardKind, field: &str, place: &str) -> Result<(), CliError> {
    let exists = |(name, number): (&str, &str)| {
        let connector = kind.connectors.iter().find(|connector| connector.name == name)?;
        Some((1..=connector.pins).contains(&number.parse().ok()?))
    };
    let exists = kind.connectors.is_empty() || place.split_once('-').and_then(exists) == Some(true);
    let why = format!("'{place}' is no pin of a connector of this board");
    rule(exists, field, why)
}

fn check_memory(kind: &BoardKind) -> Result<(), CliError> {
    let memory = &kind.memory;
    let mut borders = vec![u64::from(FLASH_BEGIN)];
    for (count, kib) in &memory.sectors {
        let (bytes, last) = (u64::from(*kib) << 10, borders[borders.len() - 1]);
        borders.extend((1..=u64::from(*count).min(4096)).map(|number| last + number * bytes));
    }
    let (kib, at) = (memory.slots.kib / 2, memory.slots.at);
    let mut parts = [
        ("boot", memory.boot),
        ("state", memory.state),
        ("slots", memory.slots),
        ("flash", memory.flash),
        ("next", memory.next),
    ];
    for (name, part) in parts.into_iter().chain([("slots: its first half", Region { at, kib })]) {
        let is_border = |address: u64| borders.binary_search(&address).is_ok();
        let why = format!("{:#010x} to {:#010x} are no whole sectors", part.at, part.end());
        let whole = part.kib > 0 && is_border(part.at.into()) && is_border(part.end());
        rule(whole, &format!("memory.{name}"), why)?;
    }
    let why = format!("the processor starts at {FLASH_BEGIN:#010x}");
    rule(memory.boot.at == FLASH_BEGIN, "memory.boot.at", why)?;
    for (field, part) in [("memory.flash.kib", memory.flash), ("memory.next.kib", memory.next)] {
        let why = format!("a program needs {MIN_IMAGE_KIB}, not {}", part.kib);
        rule(part.kib >= MIN_IMAGE_KIB, field, why)?;
    }
    parts.sort_by_key(|(_, part)| part.at);
    for two in parts.windows(2) {
        let why = format!("it begins inside {}", two[0].0);
        let fits = two[0].1.end() <= two[1].1.at.into();
        rule(fits, &format!("memory.{}", two[1].0), why)?;
    }
    let why = "a stack that runs over must meet the beginning of RAM".to_string();
    rule(RAM_BEGINS.contains(&memory.stack.at), "memory.stack.at", why)?;
    let end = memory.stack.end();
    let why = format!("the stack ends at {end:#010x}");
    rule(end == u64::from(memory.ram.at), "memory.ram.at", why)
}
