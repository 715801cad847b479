//! Register scripts: what is written to a peripheral or to a chip, and what it must show then, by the reference manuals. They are the
//! text files in `scripts`.
//!
//! `[F446 SPI1, L476 SPI1] ...` begins a case: each of these peripherals is tried, as it is after power-on; `[F446]` is a whole chip.
//! `with` a number it has a flash that is worn so many percent, or a clock of the watchdog in Hz, and an RCC has its HSE behind it. `let` names numbers, which may be sums and
//! the like. Statements do something or show something, which is compared with what follows ` = `, if there is ` & ` in these bits only:
//!
//! - `write REGISTER VALUE`, `read REGISTER`, and `rest REGISTER`, which is what a narrower write leaves;
//! - `at TIME` and `after CYCLES` advance it, and `next` is when something is due;
//! - `interrupts` and `dma` are what it requests: of DMA, 1 is to be read and 2 is to be written;
//! - `broken` are the rules that were broken since it was last asked, and `beyond` is a mode in use without a model; `-` is none;
//! - `remarks` are what a whole chip has told of what is not modeled;
//! - `reset`, `clock CYCLES`, `miso LEVEL` and `analog OUTPUT` are what else a chip does with peripherals, and some have words of their own.

use std::collections::BTreeMap;

use super::super::i2c::{I2cMemory, Port};
use super::*;
use crate::chip::clocks::Source;
use crate::chip::map::Gate;
use crate::cpu::NEVER;

const SCRIPTS: [(&str, &str); 16] = [
    ("adc", include_str!("scripts/adc.txt")),
    ("chip", include_str!("scripts/chip.txt")),
    ("dma", include_str!("scripts/dma.txt")),
    ("flash", include_str!("scripts/flash.txt")),
    ("i2c", include_str!("scripts/i2c.txt")),
    ("iwdg", include_str!("scripts/iwdg.txt")),
    ("options", include_str!("scripts/options.txt")),
    ("pins", include_str!("scripts/pins.txt")),
    ("pwr", include_str!("scripts/pwr.txt")),
    ("rcc", include_str!("scripts/rcc.txt")),
    ("rng_dac", include_str!("scripts/rng_dac.txt")),
    ("rtc", include_str!("scripts/rtc.txt")),
    ("spi", include_str!("scripts/spi.txt")),
    ("spi_v3", include_str!("scripts/spi_v3.txt")),
    ("timer", include_str!("scripts/timer.txt")),
    ("usart", include_str!("scripts/usart.txt")),
];

type Names<'t> = BTreeMap<&'t str, u64>;
type Operator = (&'static str, fn(u64, u64) -> u64);

fn value(names: &Names<'_>, text: &str) -> u64 {
    let operators: [Operator; 6] = [
        ("|", |a, b| a | b),
        ("<<", |a, b| a << b),
        ("+", |a, b| a + b),
        ("-", |a, b| a - b),
        ("*", |a, b| a * b),
        ("/", |a, b| a / b),
    ];
    for (operator, apply) in operators {
        if let Some((left, right)) = text.rsplit_once(operator) {
            return apply(value(names, left), value(names, right));
        }
    }
    if let Some(inverted) = text.strip_prefix('!') {
        return value(names, inverted) ^ u64::from(u32::MAX);
    }
    let digits = text.replace('_', "");
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let named = names.get(text).copied().or(number.ok());
    named.unwrap_or_else(|| panic!("'{text}' is no number"))
}

/// Of a serial port: a byte that has come, and whether another can be sent.
#[derive(Hash)]
struct DataRegister(Option<u32>, bool);

impl Peripheral for DataRegister {
    fn read(&mut self, _offset: u32, _now: Cycles) -> u32 {
        self.0.take().expect("a byte has come")
    }

    fn write(&mut self, _offset: u32, _value: u32, _now: Cycles) {
        self.1 = false;
    }

    fn dma_requests(&self) -> [bool; 2] {
        [self.0.is_some(), self.1]
    }
}

enum Subject {
    Any(Box<dyn Peripheral>),
    I2c(Box<dyn Port>),
    Rtc(Rtc),
    Iwdg(Iwdg),
    Rcc(Box<Rcc>, Model),
    Pwr(Box<dyn PowerControl>),
    /// And which part of it is read and written.
    Dma(Box<Controllers>, usize, Memory),
    Uart(Box<Usart>),
    Flash(Box<dyn FlashControl>, Memory),
    /// And how many broken rules it has told.
    Chip(Box<Script>, usize),
}

impl Subject {
    fn named(name: &str) -> Self {
        let (name, number) = name.split_once(" with ").unwrap_or((name, "0"));
        let number = value(&Names::new(), number) as u32;
        let (chip, name) = name.split_once(' ').unwrap_or((name, ""));
        let model = Model::ALL.into_iter().find(|model| format!("{model:?}") == chip);
        let model = model.expect("a chip");
        if name.is_empty() {
            return Subject::Chip(Box::new(Script::new(model)), 0);
        }
        let description = model.description();
        if let Some(hse) = name.strip_prefix("RCC ") {
            let hertz = |digits| value(&Names::new(), digits) as u32;
            let hse = match hse.split_once(' ') {
                Some(("fed", digits)) => Hse::Fed(hertz(digits)),
                Some((_crystal, digits)) => Hse::Crystal(hertz(digits)),
                None => Hse::Absent,
            };
            let lse = name != "RCC no-lse";
            let parts = (description.parts)(&Individual { lse, ..individual(hse) });
            return Subject::Rcc(Box::new(parts.rcc), model);
        }
        let parts = (description.parts)(&Individual {
            flash_wear: number,
            ..individual(Hse::Absent)
        });
        let name = if name == "DMA" { "DMA1" } else { name };
        match description.entry(name).expect("a peripheral of the chip").kind {
            Kind::Own(make) | Kind::Timer(make) => Subject::Any(make()),
            Kind::I2c(registers, _) => {
                let mut port = registers.port();
                let memory = I2cMemory::new(16).with(&[10, 11, 12, 13]);
                port.bus().attach(0x50, Box::new(memory));
                port.bus().is_connected = true;
                Subject::I2c(port)
            }
            Kind::Rtc(layout) => Subject::Rtc(Rtc::new(layout)),
            Kind::Iwdg => Subject::Iwdg(Iwdg::new(number)),
            Kind::Uart(uart) => Subject::Uart(parts.uarts.into_iter().nth(uart).flatten().expect("a port")),
            Kind::Pwr => Subject::Pwr(parts.power),
            Kind::Dma(_) => {
                let image = Arc::new(Image::from_bytes(vec![0; 8]));
                Subject::Dma(Box::new(parts.dma), 0, Memory::new(description.memory, image))
            }
            Kind::Flash => {
                let mut flash = parts.flash;
                flash.account().hertz = 1_000_000;
                let image = Arc::new(Image::from_bytes(vec![0; 8]));
                Subject::Flash(flash, Memory::new(description.memory, image))
            }
            _ => panic!("{name} cannot be tried alone"),
        }
    }

    fn peripheral(&mut self) -> Option<&mut dyn Peripheral> {
        Some(match self {
            Subject::Any(peripheral) => &mut **peripheral,
            Subject::I2c(port) => &mut **port,
            Subject::Rtc(rtc) => rtc,
            Subject::Iwdg(iwdg) => iwdg,
            Subject::Rcc(rcc, _) => &mut **rcc,
            Subject::Pwr(power) => &mut **power,
            Subject::Dma(dma, part, _) => return Some(dma.part(*part)),
            Subject::Uart(port) => &mut **port,
            Subject::Flash(flash, _) => &mut **flash,
            Subject::Chip(..) => return None,
        })
    }

    fn advance(&mut self, now: Cycles) {
        match self {
            Subject::Chip(script, _) => script.run(now - script.now),
            // As a chip does, event by event.
            Subject::Uart(port) => {
                while port.next_event() < now {
                    port.advance(port.next_event());
                }
                port.advance(now);
            }
            alone => alone
                .peripheral()
                .into_iter()
                .for_each(|peripheral| peripheral.advance(now)),
        }
    }

    fn broken(&mut self) -> Vec<String> {
        match self {
            Subject::Chip(script, told) => script
                .violations()
                .split_off(std::mem::replace(told, script.chip.violations().len())),
            Subject::Dma(dma, ..) => dma.take_broken().iter().map(Violation::to_string).collect(),
            alone => {
                let broken = alone.peripheral().map(|peripheral| peripheral.take_broken());
                broken.iter().flatten().map(Violation::to_string).collect()
            }
        }
    }

    /// Words that peripherals have of their own.
    fn own_word(&mut self, word: &str, values: &[u64], now: Cycles) -> u64 {
        match (self, word, values) {
            // Whether the pins are there, and whether one was missed.
            (Subject::I2c(port), "connected", &[is]) => port.bus().is_connected = is != 0,
            (Subject::I2c(port), "missed", []) => return port.bus().is_missed.into(),
            // Clocks of the core and of its own, in Hz.
            (Subject::Rtc(rtc), "clocks", &[core, own]) => rtc.set_clocks(core, own, now),
            (Subject::Rtc(rtc), "reset-domain", []) => rtc.reset_domain(),
            (Subject::Rtc(rtc), "wakes", []) => return rtc.wakes().into(),
            (Subject::Iwdg(iwdg), "core", &[hertz]) => iwdg.set_core_clock(hertz),
            (Subject::Iwdg(iwdg), "rescale", &[now, before, after]) => iwdg.rescale(now, before, after),
            (Subject::Iwdg(iwdg), "expired", []) => return iwdg.has_expired().into(),
            (Subject::Rcc(rcc, _), "hclk", []) => return rcc.clocks().hclk,
            (Subject::Rcc(rcc, _), "external", []) => return (rcc.clocks().source == Source::External).into(),
            (Subject::Rcc(rcc, _), "ahb", []) => return rcc.clocks().ahb,
            (Subject::Rcc(rcc, _), "apb1", []) => return rcc.clocks().apb1,
            (Subject::Rcc(rcc, _), "apb2", []) => return rcc.clocks().apb2,
            (Subject::Rcc(rcc, model), "cycles-of-tim2" | "cycles-of-usart2", []) => {
                let name = word[10..].to_uppercase();
                return rcc.cycles_of(model.description().entry(&name).expect("a peripheral of the chip"));
            }
            (Subject::Rcc(rcc, _), "reset-by", &[cause]) => {
                let causes = [ResetCause::Pin, ResetCause::Software, ResetCause::Watchdog];
                rcc.reset_by(causes[cause as usize]);
            }
            (Subject::Rcc(rcc, _), "is-on", &[register, bit]) => {
                let (register, bit) = (register as u32, bit as u32);
                return rcc.is_on(Gate { register, bit }).into();
            }
            (Subject::Rcc(rcc, _), "taken-reset", []) => {
                let taken = rcc.take_resets();
                assert!(taken.len() < 2, "{taken:?}");
                return taken
                    .first()
                    .map_or(NEVER, |gate| u64::from(gate.register << 8 | gate.bit));
            }
            (Subject::Pwr(power), "limit", []) => return power.limits().hclk,
            (Subject::Pwr(power), "wait-states", &[hertz]) => return power.limits().wait_states(hertz).into(),
            (Subject::Dma(_, part, _), "part", &[number]) => *part = number as usize,
            (Subject::Dma(dma, _, memory), "copy", []) => dma.copy_memory(memory),
            (Subject::Dma(dma, _, memory), "receive" | "transmit", &[uart, ..]) => {
                let mut port = DataRegister(values.get(1).map(|byte| *byte as u32), word == "transmit");
                dma.serve(uart as usize, &mut port, now, memory);
                return (port.dma_requests() == [false; 2]).into();
            }
            (Subject::Dma(_, _, memory), "put", &[at, value]) => {
                memory.dma_store(at as u32, 4, value as u32).expect("RAM");
            }
            (Subject::Dma(_, _, memory), "word", &[at]) => {
                return memory.dma_load(at as u32, 4).map_or(NEVER, u64::from);
            }
            (Subject::Dma(_, _, memory), "byte", &[at]) => return memory.byte(at as u32).map_or(NEVER, u64::from),
            // Whether it has its pins, to send and to receive.
            (Subject::Uart(port), "pins", &[tx, rx]) => port.set_pins(tx != 0, rx != 0, now),
            // A level from a time on; a frame of so many levels that begins at a time.
            (Subject::Uart(port), "level", &[at, level]) => port.hear(Wave::level(at, level != 0)),
            (Subject::Uart(port), "frame", &[at, levels, count]) => {
                port.hear(Wave::frame(at, port.bit_time(), levels as u16, count as u32));
            }
            (Subject::Uart(port), "loop", []) => {
                let waves: Vec<Wave> = port.take_output().collect();
                waves.iter().for_each(|wave| port.hear(*wave));
                return waves.len() as u64;
            }
            // When its line was let go of, if that was last.
            (Subject::Uart(port), "released", []) => {
                let last = port.take_output().next_back().expect("a wave");
                return if last == Wave::level(last.at, true) {
                    last.at
                } else {
                    NEVER
                };
            }
            (Subject::Uart(port), "bit-time", []) => return port.bit_time(),
            (Subject::Uart(port), "sent", []) => return port.counters().sent,
            (Subject::Uart(port), "received", []) => return port.counters().received,
            (Subject::Uart(port), "overruns", []) => return port.counters().overruns,
            (Subject::Uart(port), "breaks", []) => return port.counters().breaks,
            (Subject::Uart(port), "discarded", []) => return port.counters().discarded,
            (Subject::Uart(port), "sent-nowhere", []) => return port.take_sent_nowhere().into(),
            (Subject::Uart(port), "listens-nowhere", []) => return port.listens_nowhere().into(),
            // Address, bytes and what they are: how many microseconds the core stands still.
            (Subject::Flash(flash, memory), "program", &[at, bytes, value]) => {
                return flash.program(at as u32, bytes as u32, value as u32, now, memory);
            }
            (Subject::Flash(flash, memory), "program-eight", &[at]) => {
                let words = (0..8).map(|word| flash.program(at as u32 + 4 * word, 4, word, now, memory));
                return words.sum();
            }
            (Subject::Flash(flash, memory), "erase", []) => return flash.start_erase(now, memory),
            (Subject::Flash(_, memory), "fill", &[at, bytes, value]) => {
                let bytes = vec![value as u8; bytes as usize];
                memory.write_flash(at as u32, &bytes).expect("flash");
            }
            (Subject::Flash(_, memory), "byte", &[at]) => return memory.byte(at as u32).map_or(NEVER, u64::from),
            // How many bytes a reset has left torn.
            (Subject::Flash(flash, memory), "cut-off", []) => {
                let Some(torn) = flash.account().torn.take() else {
                    return NEVER;
                };
                memory.tear(torn.clone());
                return torn.len() as u64;
            }
            (Subject::Flash(_, memory), "torn", &[at]) => return memory.is_torn(at as u32).into(),
            (Subject::Flash(flash, _), "meet-torn", &[at]) => return flash.meet_torn(at as u32).into(),
            (Subject::Flash(flash, _), "access", []) => return flash.access().into(),
            (Subject::Flash(flash, _), "highest-writing", []) => return flash.highest_writing(),
            (Subject::Chip(script, _), word, values) => return script.shown(word, values),
            _ => panic!("'{word}' with {values:?} is no statement"),
        }
        0
    }

    /// What a statement shows; 0 if it only does something.
    fn shown(&mut self, word: &str, values: &[u64], now: Cycles) -> u64 {
        let Some(peripheral) = self.peripheral() else {
            return self.own_word(word, values, now);
        };
        match (word, values) {
            ("write", &[register, value]) => peripheral.write(register as u32, value as u32, now),
            ("read", &[register]) => return peripheral.read(register as u32, now).into(),
            ("rest", &[register]) => return peripheral.rest(register as u32).into(),
            ("next", []) => return peripheral.next_event(),
            ("interrupts", []) => return peripheral.interrupts().into(),
            ("dma", []) => {
                let [is_read, is_written] = peripheral.dma_requests().map(u64::from);
                return is_read | is_written << 1;
            }
            ("reset", []) => peripheral.reset(now),
            ("clock", &[cycles]) => peripheral.set_clock(cycles, now),
            ("miso", &[level]) => peripheral.set_input(Input::Level(level != 0)),
            ("analog", &[output]) => {
                let levels = peripheral.analog_outputs().expect("outputs");
                return levels[output as usize].map_or(NEVER, u64::from);
            }
            _ => return self.own_word(word, values, now),
        }
        0
    }
}

impl Script {
    fn shown(&mut self, word: &str, values: &[u64]) -> u64 {
        match (word, values) {
            ("write", &[address, value]) => self.write(address as u32, value as u32),
            ("write-byte", &[address, value]) => {
                let written = self
                    .chip
                    .write(address as u32, 1, value as u32, self.now, &mut self.memory);
                written.expect("something there");
            }
            ("read", &[address]) => return self.read(address as u32).into(),
            ("flash-word", &[address]) => {
                let bytes = self.memory.bytes(address as u32, 4).expect("flash");
                return bytes.iter().rfold(0, |word, byte| word << 8 | u64::from(*byte));
            }
            ("requested", &[interrupt]) => return self.requested(interrupt as usize).into(),
            ("event", []) => return self.chip.take_event().into(),
            ("stall", []) => return self.chip.take_stall(),
            ("hclk", []) => return self.chip.clocks().hclk,
            // What the chip wants of its board: nothing, a reset, or notice of its clock.
            ("stop", []) => {
                return [None, Some(Stop::Reset), Some(Stop::Clock)]
                    .iter()
                    .position(|stop| *stop == self.chip.wants_stop())
                    .expect("a stop") as u64;
            }
            // Port, pin and level.
            ("drive", &[port, pin, level]) => self.chip.drive_pin(port as usize, pin as u32, Some(level != 0)),
            ("let-go", &[port, pin]) => self.chip.drive_pin(port as usize, pin as u32, None),
            ("output", &[port, pin]) => return self.chip.output(port as usize, pin as u32).map_or(NEVER, u64::from),
            ("sent", &[uart]) => return self.chip.uart(uart as usize).expect("a port").counters().sent,
            ("flash-size", []) => return self.memory.flash_size().into(),
            ("i2c-memory", []) => {
                let memory = I2cMemory::new(16).with(&[0, 0, 0, 42]);
                assert!(self.chip.attach_i2c("I2C1", 0x50, Box::new(memory)));
            }
            ("software-reset", []) => self.chip.reset(ResetCause::Software, self.now),
            ("power-on", []) => self.chip.reset(ResetCause::PowerOn, self.now),
            ("reset-by-watchdog", []) => self.chip.reset(ResetCause::Watchdog, self.now),
            _ => panic!("'{word}' with {values:?} is no statement"),
        }
        0
    }
}

/// Does what a statement says, at a time that it may change.
fn act(subject: &mut Subject, now: &mut Cycles, names: &Names<'_>, statement: &str, place: &str) {
    let (what, expected) = match statement.split_once(" = ") {
        Some((what, expected)) => (what, Some(expected)),
        None => (statement, None),
    };
    let (what, mask) = match what.split_once(" & ") {
        Some((what, mask)) => (what, value(names, mask)),
        None => (what, u64::MAX),
    };
    let mut words = what.split(' ');
    let word = words.next().unwrap_or_default();
    let values: Vec<u64> = words.map(|word| value(names, word)).collect();
    match (word, &values[..]) {
        ("at", &[time]) => *now = time,
        ("after", &[cycles]) => *now += cycles,
        ("broken" | "beyond" | "remarks", []) => {
            let told = match (word, &*subject) {
                ("broken", _) => subject.broken(),
                (_, Subject::Chip(script, _)) => script.remarks().into_iter().map(String::from).collect(),
                _ => {
                    let beyond = subject.peripheral().and_then(|peripheral| peripheral.beyond_model());
                    beyond.into_iter().map(String::from).collect()
                }
            };
            let told = if told.is_empty() { "-".into() } else { told.join(" / ") };
            return assert!(expected.is_none_or(|expected| expected == told), "{place}\n{told}");
        }
        (word, values) => {
            let found = subject.shown(word, values, *now) & mask;
            let is_right = expected.is_none_or(|expected| value(names, expected) == found);
            return assert!(is_right, "{place}\n{statement}: it is {found:#x}, {found}");
        }
    }
    subject.advance(*now);
}

#[test]
fn peripherals_do_what_the_manuals_say() {
    for (file, text) in SCRIPTS {
        let mut names = Names::from([("never", NEVER), ("none", NEVER)]);
        let mut tried: Vec<(Subject, Cycles)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let place = format!("{file}.txt, line {number}: {line}");
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some((subjects, _title)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
                tried = subjects.split(", ").map(|name| (Subject::named(name), 0)).collect();
                continue;
            }
            if let Some(pairs) = line.strip_prefix("let ") {
                for (name, number) in pairs.split(' ').filter_map(|pair| pair.split_once('=')) {
                    names.insert(name, value(&names, number));
                }
                continue;
            }
            let (times, line) = line.split_once(" times: ").unwrap_or(("1", line));
            let statements = line.split("; ").filter(|statement| !statement.is_empty());
            assert!(line.is_empty() || !tried.is_empty(), "{place}\nno case has begun");
            for (subject, now) in &mut tried {
                for _ in 0..value(&names, times) {
                    statements
                        .clone()
                        .for_each(|statement| act(subject, now, &names, statement, &place));
                }
            }
        }
    }
}
