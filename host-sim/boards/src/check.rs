//! What must hold of the file of a board. Each rule names the field that breaks it.

use std::collections::BTreeMap;

use super::{BoardKind, Region, Uart};

/// A field, and what is wrong with it.
type Refusal = (String, String);

/// The router has a set of links in one word; the console is one of them.
const MAX_LINKS: usize = 31;
/// As long a name as a board says of itself.
const MAX_NAME: usize = 16;
/// The rate of a mesh for which none is given.
const BAUD: u32 = 1_000_000;
/// How far a serial port may be from that, in thousandths of it: two then differ by no more than receivers bear.
const MAX_BAUD_ERROR: f64 = 7.5;
/// The least room for a program.
const MIN_IMAGE_KIB: u32 = 192;
const FLASH_BEGIN: u32 = 0x0800_0000;
/// Where the RAM begins that DMA reaches: on most chips, and on the H7.
const RAM_BEGINS: [u32; 2] = [0x2000_0000, 0x2400_0000];
/// The stack is aligned to this many bytes.
const STACK_ALIGNMENT: u64 = 8;

pub(super) fn check(kind: &BoardKind) -> Result<(), Refusal> {
    if kind.name.len() > MAX_NAME {
        return refuse("name", format!("{} has more than {MAX_NAME} characters", kind.name));
    }
    if kind.links.is_empty() || kind.links.len() > MAX_LINKS {
        let count = kind.links.len();
        return refuse("link", format!("a board has 1 to {MAX_LINKS} links, not {count}"));
    }
    if family(kind.chip).is_none() {
        return refuse("chip", format!("'{}' is no chip such as STM32F446RE", kind.chip));
    }
    let is_number = |text: &str| text.len() == 4 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !kind
        .probe
        .split_once(':')
        .is_some_and(|(vendor, product)| is_number(vendor) && is_number(product))
    {
        return refuse(
            "probe",
            format!("'{}' is no vendor and product such as 0483:374b", kind.probe),
        );
    }
    check_clock(kind)?;
    check_pins(kind)?;
    check_headers(kind)?;
    check_memory(kind)
}

/// The family of a chip, as the firmware has it: `f4`.
pub(super) fn family(chip: &str) -> Option<String> {
    let family = chip.strip_prefix("STM32")?.get(..2)?;
    let whole = chip
        .bytes()
        .all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit());
    (whole && chip.len() == 11).then(|| family.to_lowercase())
}

fn refuse(field: impl Into<String>, why: String) -> Result<(), Refusal> {
    Err((field.into(), why))
}

/// Names that may be used once, each with the field that uses it.
#[derive(Default)]
struct Used(BTreeMap<&'static str, String>);

impl Used {
    fn take(&mut self, name: &'static str, field: &str) -> Result<(), Refusal> {
        match self.0.insert(name, field.into()) {
            Some(other) => refuse(field, format!("{name} is already that of {other}")),
            None => Ok(()),
        }
    }
}

fn check_clock(kind: &BoardKind) -> Result<(), Refusal> {
    let clock = &kind.clock;
    let numbers = [
        ("hertz", clock.hertz),
        ("pll.prediv", clock.pll.prediv),
        ("pll.mul", clock.pll.mul),
        ("pll.div", clock.pll.div),
        ("ahb", clock.ahb),
        ("apb1", clock.apb1),
        ("apb2", clock.apb2),
    ];
    if let Some((field, _)) = numbers.iter().find(|(_, number)| *number == 0) {
        return refuse(format!("clock.{field}"), "it is 0".into());
    }
    for (field, by) in &numbers[4..] {
        if !by.is_power_of_two() {
            return refuse(format!("clock.{field}"), format!("no bus divides by {by}"));
        }
    }
    for bus in &kind.buses {
        let divisor = (bus.saturating_add(BAUD / 2) / BAUD).max(1);
        let error = (f64::from(*bus) / f64::from(divisor) / f64::from(BAUD) - 1.0).abs() * 1000.0;
        if error > MAX_BAUD_ERROR {
            return refuse(
                "clock",
                format!("a serial port cannot run at {BAUD} baud from a bus of {bus} Hz"),
            );
        }
    }
    Ok(())
}

/// The serial ports with the names of their fields.
fn fields(kind: &BoardKind) -> impl Iterator<Item = (String, &Uart)> {
    let links = kind.links.iter().enumerate();
    let links = links.map(|(number, uart)| (format!("link[{number}]"), uart));
    links.chain([("console".to_string(), &kind.serial)])
}

fn check_pins(kind: &BoardKind) -> Result<(), Refusal> {
    let (mut uarts, mut pins, mut streams) = (Used::default(), Used::default(), Used::default());
    for (field, uart) in fields(kind) {
        if !uart.name.contains("UART") && !uart.name.contains("USART") {
            return refuse(
                format!("{field}.uart"),
                format!("'{}' is no serial port such as USART1", uart.name),
            );
        }
        uarts.take(uart.name, &format!("{field}.uart"))?;
        for (side, pin) in [("tx", uart.tx), ("rx", uart.rx)] {
            let field = format!("{field}.{side}");
            check_pin(&format!("{field}.pin"), pin.name, &mut pins)?;
            if !is_stream(pin.dma) {
                let why = format!(
                    "'{}' is neither a stream such as DMA1_STREAM0 nor a channel such as DMA1_CHANNEL1",
                    pin.dma
                );
                return refuse(format!("{field}.dma"), why);
            }
            streams.take(pin.dma, &format!("{field}.dma"))?;
        }
    }
    check_pin("led", kind.led, &mut pins)?;
    check_pin("button.pin", kind.button.pin, &mut pins)
}

fn check_pin(field: &str, name: &'static str, pins: &mut Used) -> Result<(), Refusal> {
    let number = name
        .strip_prefix('P')
        .filter(|rest| rest.starts_with(|port: char| ('A'..='K').contains(&port)));
    let number = number.and_then(|rest| {
        rest[1..]
            .parse::<u8>()
            .ok()
            .filter(|number| number.to_string() == rest[1..])
    });
    if !number.is_some_and(|number| number < 16) {
        return refuse(field, format!("'{name}' is no pin such as PA9"));
    }
    pins.take(name, field)
}

fn is_stream(name: &str) -> bool {
    let number = |text: &str| text.len() == 1 && text.as_bytes()[0].is_ascii_digit();
    let parts = name.strip_prefix("DMA").and_then(|rest| rest.split_once('_'));
    parts.is_some_and(|(controller, stream)| {
        let kinds = ["STREAM", "CHANNEL"].map(|kind| stream.strip_prefix(kind));
        number(controller) && kinds.into_iter().flatten().any(number)
    })
}

fn check_headers(kind: &BoardKind) -> Result<(), Refusal> {
    let mut places = Used::default();
    for (field, uart) in fields(kind) {
        for (side, pin) in [("tx", uart.tx), ("rx", uart.rx)] {
            let field = format!("{field}.{side}.header");
            places.take(pin.header, &field)?;
            // That of the console may be anywhere: its cable is the ST-LINK's.
            if uart.name != kind.serial.name {
                check_place(kind, &field, pin.header)?;
            }
        }
    }
    for place in &kind.ground {
        places.take(place, "ground")?;
        check_place(kind, "ground", place)?;
    }
    Ok(())
}

fn check_place(kind: &BoardKind, field: &str, place: &str) -> Result<(), Refusal> {
    let exists = |(name, number): (&str, &str)| {
        let connector = kind.connectors.iter().find(|connector| connector.name == name)?;
        number
            .parse()
            .ok()
            .filter(|number| (1..=connector.pins).contains(number))
    };
    if kind.connectors.is_empty() || place.split_once('-').and_then(exists).is_some() {
        return Ok(());
    }
    refuse(field, format!("'{place}' is no pin of a connector of this board"))
}

fn check_memory(kind: &BoardKind) -> Result<(), Refusal> {
    let memory = &kind.memory;
    let mut borders = vec![u64::from(FLASH_BEGIN)];
    for (count, kib) in &memory.sectors {
        let bytes = u64::from(*kib) << 10;
        let last = borders[borders.len() - 1];
        borders.extend((1..=u64::from(*count).min(4096)).map(|number| last + number * bytes));
    }
    let half = Region {
        kib: memory.slots.kib / 2,
        ..memory.slots
    };
    let mut parts = [
        ("boot", memory.boot),
        ("state", memory.state),
        ("slots", memory.slots),
        ("flash", memory.flash),
        ("next", memory.next),
    ];
    for (name, part) in parts.into_iter().chain([("slots", half)]) {
        let is_border = |address: u64| borders.binary_search(&address).is_ok();
        if part.kib == 0 || !is_border(part.at.into()) || !is_border(part.end()) {
            let what = if part == half { "the first of two slots" } else { "it" };
            let why = format!(
                "{what} is at {:#010x} to {:#010x}, which are no whole sectors",
                part.at,
                part.end()
            );
            return refuse(format!("memory.{name}"), why);
        }
    }
    if memory.boot.at != FLASH_BEGIN {
        return refuse("memory.boot.at", format!("the processor starts at {FLASH_BEGIN:#010x}"));
    }
    for (name, part) in [("flash", memory.flash), ("next", memory.next)] {
        if part.kib < MIN_IMAGE_KIB {
            return refuse(
                format!("memory.{name}.kib"),
                format!("a program needs {MIN_IMAGE_KIB}, not {}", part.kib),
            );
        }
    }
    parts.sort_by_key(|(_, part)| part.at);
    for two in parts.windows(2) {
        if two[0].1.end() > two[1].1.at.into() {
            return refuse(format!("memory.{}", two[1].0), format!("it begins inside {}", two[0].0));
        }
    }
    if !RAM_BEGINS.contains(&memory.stack.at) {
        return refuse(
            "memory.stack.at",
            "a stack that runs over must meet the beginning of RAM".into(),
        );
    }
    if memory.stack.end() != u64::from(memory.ram.at) || memory.stack.end() % STACK_ALIGNMENT != 0 {
        return refuse(
            "memory.ram.at",
            format!("the stack ends at {:#010x}", memory.stack.end()),
        );
    }
    Ok(())
}
