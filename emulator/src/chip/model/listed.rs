//! What `chips.txt` lists of each chip.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::super::dma::Request;
use super::super::exti;
use super::super::i2c::{I2cPins, Registers};
use super::super::map::{Gate, Kind, MapEntry, PORTS, port_named};
use super::super::pins::{Pin, Side, UartPins};
use super::super::rcc::Family;
use super::super::rtc;
use super::kinds::{ADC_V2, ADC_V3, ADVANCED, CORDIC, DAC, NARROW, RNG, SPI_V1, SPI_V2, SPI_V3, WIDE};

#[derive(Default)]
pub(super) struct Listed {
    pub(super) map: Vec<MapEntry>,
    pub(super) functions: Vec<UartPins>,
    pub(super) requests: Vec<Request>,
    pub(super) mux: [(u32, u32); PORTS],
}

/// By the names of the chips, without what all begin with.
pub(super) static LISTED: LazyLock<BTreeMap<&str, Listed>> = LazyLock::new(|| {
    let mut chips: BTreeMap<&str, Listed> = BTreeMap::new();
    let lines = include_str!("chips.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(" | ").collect();
        for chip in fields[1].split(' ') {
            chips.entry(chip).or_default().add(chip, &fields);
        }
    }
    chips
});

impl Listed {
    fn add(&mut self, chip: &str, fields: &[&'static str]) {
        match *fields {
            ["at", _, place, name, kind, clock, interrupts] => {
                let (base, size) = place.split_once('+').unwrap_or((place, "400"));
                self.map.push(MapEntry {
                    base: hexadecimal(base),
                    size: hexadecimal(size),
                    name,
                    kind: read_kind(kind, name),
                    gate: clock.split_once(' ').map(|(bus, bit)| Gate {
                        register: enable_register(chip, bus),
                        bit: number(bit),
                    }),
                    interrupts: list(interrupts.trim_start_matches('-'), ' ', |text| number(text) as usize),
                });
            }
            ["pins", _, name, function, tx, rx] => self.functions.push(UartPins {
                uart: port(name),
                function: number(function),
                tx: list(tx.trim_start_matches('-'), ' ', Pin::named),
                rx: list(rx.trim_start_matches('-'), ' ', Pin::named),
            }),
            ["dma", _, name, side, requests] => self.requests.extend(list(requests, ';', |request| {
                let [controller, channel, selection] = *list(request, ' ', number) else {
                    panic!("{fields:?}")
                };
                Request {
                    uart: port(name),
                    side: if side == "rx" { Side::Rx } else { Side::Tx },
                    controller: controller as usize,
                    channel: channel as usize,
                    selection,
                }
            })),
            ["mux", _, name, receives, sends] => self.mux[port(name)] = (number(receives), number(sends)),
            _ => panic!("{fields:?}"),
        }
    }
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn hexadecimal(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{text} is no hexadecimal number"))
}

fn list<T>(text: &'static str, separator: char, read: impl Fn(&'static str) -> T) -> &'static [T] {
    let parts = text.split(separator).filter(|part| !part.is_empty());
    parts.map(read).collect::<Vec<T>>().leak()
}

fn port(name: &str) -> usize {
    port_named(name).unwrap_or_else(|| panic!("{name} is no port"))
}

fn enable_register(chip: &str, bus: &str) -> u32 {
    let mut families = Family::NAMED.into_iter();
    let family = families.find(|(name, _)| chip.starts_with(name));
    let register = family.and_then(|(_, family)| family.enable_register(bus));
    register.unwrap_or_else(|| panic!("{chip} has no bus {bus}"))
}

fn read_kind(text: &'static str, name: &str) -> Kind {
    match text {
        "no model" => Kind::Unmodeled,
        "rcc" => Kind::Rcc,
        "pwr" => Kind::Pwr,
        "flash" => Kind::Flash,
        "gpio" => Kind::Gpio(usize::from(name.as_bytes()[4] - b'A')),
        "exti mask-first" => Kind::Exti(exti::Layout::MaskFirst),
        "exti edges-first" => Kind::Exti(exti::Layout::EdgesFirst),
        "syscfg" => Kind::Syscfg,
        "uart" => Kind::Uart(port(name)),
        "dma 1" => Kind::Dma(0),
        "dma 2" => Kind::Dma(1),
        "dma mux" => Kind::Dma(2),
        "rtc v2" => Kind::Rtc(rtc::Layout::V2),
        "rtc v3" => Kind::Rtc(rtc::Layout::V3),
        "iwdg" => Kind::Iwdg,
        "dbgmcu" => Kind::Dbgmcu,
        "timer of 16 bits" => NARROW,
        "timer of 32 bits" => WIDE,
        "advanced timer" => ADVANCED,
        "spi v1" => SPI_V1,
        "spi v2" => SPI_V2,
        "spi v3" => SPI_V3,
        "adc v2" => ADC_V2,
        "adc v3" => ADC_V3,
        "rng" => RNG,
        "dac v2" => DAC,
        "cordic" => CORDIC,
        _ => {
            let v1 = text.strip_prefix("i2c v1 ").map(|pins| (Registers::V1, pins));
            let found = v1.or_else(|| Some((Registers::V2, text.strip_prefix("i2c v2 ")?)));
            let (registers, pins) = found.unwrap_or_else(|| panic!("{text} is no kind of peripheral"));
            Kind::I2c(registers, list(pins, ' ', i2c_pins))
        }
    }
}

/// Such as `4:PB6,PB8/PB7,PB9`.
fn i2c_pins(text: &'static str) -> I2cPins {
    let (function, pins) = text.split_once(':').expect("an alternate function and pins");
    let (scl, sda) = pins.split_once('/').expect("pins for the clock and for the data");
    I2cPins {
        function: number(function),
        scl: list(scl, ',', Pin::named),
        sda: list(sda, ',', Pin::named),
    }
}
