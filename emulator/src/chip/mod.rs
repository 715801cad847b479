//! A microcontroller around the core: clocks, pins, timers, serial ports, DMA, watchdog and flash controller.
//!
//! What is known of a chip is data: a file of [`model`] each, with the map of its peripherals. What a peripheral does is
//! a file with a struct that implements [`Peripheral`]. [`Chip`] finds the peripheral of an address, knows which of them
//! have something to do, and joins them where one acts on another: requests to DMA, clocks to timers, pins to EXTI.

mod adc;
mod backup;
mod bus;
pub mod clocks;
mod cordic;
mod dac;
mod dma;
mod exti;
mod flash;
mod gpio;
mod hse;
pub mod i2c;
mod iwdg;
mod known;
pub mod map;
pub mod model;
mod parts;
pub mod peripheral;
pub mod pins;
mod pwr;
mod rcc;
mod rng;
mod rtc;
mod rule_check;
pub mod rules;
pub mod rx_pin;
mod serial;
mod slots;
mod spi;
mod spi_v3;
mod supply;
mod syscfg;
#[cfg(test)]
mod tests;
mod timer;
pub mod usart;
pub(crate) mod wave;

use std::hash::{Hash, Hasher};

use crate::cpu::{Cycles, InterruptLines};
use crate::memory::Memory;
use clocks::Clocks;
use dma::Controllers;
use exti::Exti;
use gpio::Gpio;
use i2c::I2cTarget;
use iwdg::Iwdg;
use map::Kind;
use parts::{FlashControl, Parts, PowerControl};

use peripheral::Input;
use pins::{Pin, Side, Sockets, Wiring};
use rcc::{Family, Rcc};
use rtc::Rtc;
use rules::{Rule, Violation};
use slots::{Changed, LINES, Slots, Unit};
use supply::Voltage;
use syscfg::Syscfg;
use usart::Usart;

pub use map::{UART_NAMES, UARTS};
pub use model::{Description, Model};
pub use parts::Individual;
pub use peripheral::{Digest, Peripheral, ResetCause};
pub use slots::CannotAdd;

/// Something that firmware has done and the chip does not model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Remark {
    /// What that was.
    pub what: String,
    /// The address of the instruction that did it first.
    pub pc: Option<u32>,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.what)?;
        self.pc.map_or(Ok(()), |pc| write!(out, ", at {pc:#010x}"))
    }
}

/// No more are told.
const MAX_REMARKS: usize = 100;

/// The chip without core and memory.
pub struct Chip {
    description: &'static Description,
    unique_id: [u32; 3],
    rcc: Rcc,
    power: Box<dyn PowerControl>,
    voltage: Voltage,
    flash: Box<dyn FlashControl>,
    dma: Controllers,
    uarts: [Option<Box<Usart>>; UARTS],
    /// How far each of them has been brought.
    served: [Cycles; UARTS],
    gpio: [Gpio; gpio::PORTS],
    exti: Exti,
    syscfg: Syscfg,
    iwdg: Iwdg,
    rtc: Rtc,
    i2c: Vec<Box<dyn i2c::Port>>,
    /// The oscillator of watchdog and calendar, in Hz.
    lsi: u32,
    /// Peripherals that act on no other: timers, and what was added from outside.
    others: Vec<Box<dyn Peripheral>>,
    debug_control: [u32; 4],
    /// Where the cables of the serial ports are plugged in.
    sockets: [Option<Sockets>; UARTS],
    /// Which of them have a cable: what receives at a pin without one needs a pull-up.
    wired: [bool; UARTS],
    /// The others that DMA serves, or that have pins: which of the others, its number among the ports, and its bit when it is touched.
    ports: Vec<(usize, usize, u64)>,
    /// Pins that are joined by a wire, each in both directions.
    ties: Vec<(Pin, Pin)>,
    slots: Slots,
    clocks: Clocks,
    /// Set when `clocks` has changed and the board has not yet taken notice.
    clock_changed: bool,
    lines: InterruptLines,
    next: Cycles,
    /// What software has touched since the last poll: a bit for each timed unit, and [`LINES`].
    dirty: u64,
    stall: Cycles,
    remarks: Vec<Remark>,
    /// It is not yet said where the last of them were done.
    has_unplaced: bool,
    violations: Vec<Violation>,
}

impl Hash for Chip {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let parts: [&dyn Peripheral; 3] = [&self.rcc, &*self.power, &*self.flash];
        let uarts = self.uarts.iter().flatten().map(|uart| &**uart as &dyn Peripheral);
        let others = self.others.iter().map(|other| &**other);
        for peripheral in parts.into_iter().chain(uarts).chain(others) {
            peripheral.digest(hasher);
        }
        self.dma.digest(hasher);
        self.rtc.digest(hasher);
        self.i2c.iter().for_each(|port| port.digest(hasher));
        (&self.gpio, &self.exti, &self.syscfg, &self.iwdg, self.debug_control).hash(hasher);
        (self.unique_id, self.clocks, self.clock_changed, self.lines).hash(hasher);
        (self.slots.dates(), self.next, self.dirty, self.stall, self.voltage).hash(hasher);
        (&self.remarks, &self.violations).hash(hasher);
    }
}

impl Chip {
    /// A chip that has just been powered, with cables at the pins of its serial ports.
    pub fn new(description: &'static Description, wiring: &[Wiring], individual: Individual) -> Self {
        let Parts {
            rcc,
            power,
            flash,
            dma,
            uarts,
        } = (description.parts)(&individual);
        let clocks = rcc.clocks();
        let wakeup_line = match rcc.family() {
            Family::F4 => 22,
            Family::L4 | Family::G4 => 20,
            Family::H7 => 19,
        };
        let (slots, others) = Slots::new(description.map());
        let mut chip = Chip {
            description,
            unique_id: individual.unique_id,
            rcc,
            power,
            voltage: Voltage::STEADY,
            flash,
            dma,
            uarts,
            served: [0; UARTS],
            gpio: std::array::from_fn(|port| Gpio::new(port, description.pins)),
            exti: Exti::new(slots.exti(), wakeup_line),
            syscfg: Syscfg::default(),
            iwdg: Iwdg::new(individual.lsi),
            rtc: Rtc::new(slots.rtc()),
            i2c: slots.i2c(),
            lsi: individual.lsi,
            others,
            debug_control: [0; 4],
            sockets: std::array::from_fn(|uart| Sockets::of(uart, wiring, description.functions())),
            wired: [false; UARTS],
            ports: slots.ports(),
            ties: Vec::new(),
            slots,
            clocks,
            clock_changed: false,
            lines: 0,
            next: 0,
            dirty: u64::MAX,
            stall: 0,
            remarks: Vec::new(),
            has_unplaced: false,
            violations: Vec::new(),
        };
        chip.distribute_clocks(0);
        chip
    }

    /// Adds a peripheral, at addresses where there is none, or in place of one that is not modeled. What kind `entry` says
    /// does not matter.
    pub fn add(&mut self, entry: map::MapEntry, peripheral: Box<dyn Peripheral>) -> Result<(), CannotAdd> {
        self.slots.add(entry, self.others.len())?;
        self.others.push(peripheral);
        self.distribute_clocks(0);
        Ok(())
    }

    /// System reset: everything but what reset leaves alone. Pins, wires and statistics are outside of the chip.
    pub(crate) fn reset(&mut self, cause: ResetCause, now: Cycles) {
        self.rcc.reset_by(cause);
        for unit in self.slots.units() {
            if let Some(peripheral) = self.peripheral(unit) {
                peripheral.reset(now);
            }
        }
        (self.dirty, self.lines) = (u64::MAX, 0);
        self.slots.forget_lines();
        (0..UARTS).for_each(|uart| self.connect_pins(uart, now));
        self.update_ties();
        self.update_clocks(now);
    }

    /// All that is known of the chip.
    pub fn description(&self) -> &'static Description {
        self.description
    }

    /// The present clocks.
    pub fn clocks(&self) -> Clocks {
        self.clocks
    }

    pub(crate) fn acknowledge_clocks(&mut self) {
        self.clock_changed = false;
    }

    pub(crate) fn take_torn(&mut self) -> Option<std::ops::Range<u32>> {
        self.flash.account().torn.take()
    }

    /// Whether the flash erases or programs something while the core goes on.
    pub(crate) fn is_flash_busy(&self, now: Cycles) -> bool {
        self.flash.is_busy(now)
    }

    pub(crate) fn watchdog_expired(&self) -> bool {
        self.iwdg.has_expired()
    }

    /// What was done that is not modeled, in the order in which it was first done.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The rules that were broken, in the order in which that was first done.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// A serial port, by its number in [`UART_NAMES`]; `None` if the chip does not have it.
    pub fn uart(&self, uart: usize) -> Option<&Usart> {
        self.uarts.get(uart)?.as_deref()
    }

    /// The same, to be changed from outside: its dates are looked at again.
    pub fn uart_mut(&mut self, uart: usize) -> Option<&mut Usart> {
        let port = self.uarts.get_mut(uart)?.as_deref_mut()?;
        self.dirty |= self.slots.bit_of_uart(uart);
        Some(port)
    }

    /// The level that a pin puts out; `None` if it is no output. Ports are numbered from A.
    pub fn output(&self, port: usize, pin: u32) -> Option<bool> {
        self.gpio.get(port)?.output(pin)
    }

    /// Drives an input pin from outside, or lets go of it.
    pub fn drive_pin(&mut self, port: usize, pin: u32, level: Option<bool>) {
        let Some(gpio) = self.gpio.get_mut(port) else { return };
        let before = gpio.input(pin);
        gpio.drive(pin, level);
        let after = gpio.input(pin);
        if before != after && self.syscfg.port_of(pin) == port {
            self.exti.edge(pin, after);
            self.dirty |= LINES;
            self.next = 0;
        }
    }

    /// A cable has been plugged into a serial port.
    pub(crate) fn wire(&mut self, uart: usize) {
        self.wired[uart] = true;
    }

    /// Joins two pins by a wire: what the chip puts out at one it reads at the other, unless it drives that too.
    pub fn join_pins(&mut self, a: Pin, b: Pin) {
        self.ties.extend([(a, b), (b, a)]);
        self.update_ties();
    }

    /// The level of a wire follows the pins that it joins. One that nobody drives has the level of the pulls. SPI ports see that, too.
    fn update_ties(&mut self) {
        for place in 0..self.ties.len() {
            let (from, to) = self.ties[place];
            let level = self
                .gpio
                .get(from.port)
                .and_then(|gpio| gpio.level_at_wire(from.number));
            self.drive_pin(to.port, to.number, level);
        }
        self.update_inputs();
    }

    /// What SPI ports receive: their own frames if a wire joins MOSI and MISO, else the level at MISO. With nothing there they receive ones.
    fn update_inputs(&mut self) {
        if self.ties.is_empty() {
            return;
        }
        for place in 0..self.ports.len() {
            let (other, port, _) = self.ports[place];
            let connected = |side: Side| {
                let mut own = self.description.functions().iter().filter(|pins| pins.uart == port);
                own.find_map(|pins| {
                    let mut all = pins.side(side).iter().copied();
                    all.find(|pin| self.is_connected(*pin, pins.function))
                })
            };
            let (sends, receives) = (connected(Side::Tx), connected(Side::Rx));
            let input = match (sends, receives) {
                (Some(sends), Some(receives)) if self.ties.contains(&(sends, receives)) => Input::Own,
                (_, Some(pin)) if self.ties.iter().any(|tie| tie.1 == pin) => {
                    Input::Level(self.gpio[pin.port].input(pin.number))
                }
                _ => Input::Level(true),
            };
            self.others[other].set_input(input);
        }
    }

    /// PA4 and PA5 of the F4 are the outputs of its DAC, and inputs 4 and 5 of its ADC.
    fn lead_analog(&mut self, unit: Unit) {
        let outputs = self.peripheral(unit).and_then(|peripheral| peripheral.analog_outputs());
        for (channel, level) in (4..).zip(outputs.into_iter().flatten()) {
            self.others
                .iter_mut()
                .for_each(|other| other.set_analog(channel, level));
        }
    }

    /// Puts something at the wires of an I2C port, with an address of 7 bits. Says whether the chip has the port.
    pub fn attach_i2c(&mut self, port: &str, address: u8, target: Box<dyn I2cTarget>) -> bool {
        let mut ports = self.description.map().iter().filter(|entry| entry.i2c().is_some());
        let Some(number) = ports.position(|entry| entry.name == port) else {
            return false;
        };
        self.i2c[number].bus().attach(address, target);
        true
    }

    fn remark(&mut self, text: String) {
        if self.remarks.len() < MAX_REMARKS && !self.remarks.iter().any(|remark| remark.what == text) {
            self.remarks.push(Remark { what: text, pc: None });
            self.has_unplaced = true;
        }
    }

    /// What was remarked since the last call was done at an address.
    fn place_remarks(&mut self, pc: u32) {
        if std::mem::take(&mut self.has_unplaced) {
            let unplaced = self.remarks.iter_mut().rev().take_while(|remark| remark.pc.is_none());
            unplaced.for_each(|remark| remark.pc = Some(pc));
        }
    }

    fn update_clocks(&mut self, now: Cycles) {
        let clocks = self.rcc.clocks();
        if clocks != self.clocks {
            self.iwdg.rescale(now, self.clocks.hclk, clocks.hclk);
            self.clock_changed |= clocks.source != self.clocks.source || clocks.hclk != self.clocks.hclk;
            self.clocks = clocks;
            self.distribute_clocks(now);
        }
        self.update_backup_domain(now);
        self.check_clocks();
    }

    /// The calendar gets the clock that the RCC has for it.
    fn update_backup_domain(&mut self, now: Cycles) {
        let domain = self.rcc.backup_domain();
        let hertz = domain.clock.hertz(self.lsi);
        self.rtc.set_clocks(self.clocks.hclk, hertz, now);
        self.dirty = u64::MAX;
        if domain.is_reset {
            self.rtc.reset_domain();
        }
    }

    fn distribute_clocks(&mut self, now: Cycles) {
        for at in 0..self.slots.len() {
            let cycles = self.rcc.cycles_of(&self.slots.at(at).entry);
            if let Some(peripheral) = self.peripheral(self.slots.at(at).unit) {
                peripheral.set_clock(cycles, now);
            }
        }
        self.iwdg.set_core_clock(self.clocks.hclk);
        self.flash.account().hertz = self.clocks.hclk;
        self.dirty = u64::MAX;
    }

    /// The place of an address with the unit there and the offset into it. Where nothing answers there is no place; where the
    /// unit has no clock, or is not modeled, that is told and there is no unit.
    #[inline]
    fn find(&mut self, address: u32, is_read: bool) -> Option<(usize, Unit, u32)> {
        let at = self.slots.find(address)?;
        let (entry, unit) = (&self.slots.at(at).entry, self.slots.at(at).unit);
        let (name, offset) = (entry.name, address - entry.base);
        if unit == Unit::Unmodeled {
            self.remark(format!("{name} is not modeled"));
            return Some((at, Unit::Unmodeled, 0));
        }
        if entry.gate.is_some_and(|gate| !self.rcc.is_on(gate)) {
            // A program may look at the time before it has set up its timer: it is zero.
            if !(is_read && matches!(entry.kind, Kind::Timer(_))) {
                self.violate(Rule::Clocked, format!("{name} is used while its clock is off"));
            }
            return Some((at, Unit::Unmodeled, 0));
        }
        Some((at, unit, offset))
    }

    fn peripheral(&mut self, unit: Unit) -> Option<&mut dyn Peripheral> {
        Some(match unit {
            Unit::Rcc => &mut self.rcc,
            Unit::Pwr => &mut *self.power,
            Unit::Flash => &mut *self.flash,
            Unit::Gpio(port) => &mut self.gpio[port],
            Unit::Exti => &mut self.exti,
            Unit::Syscfg => &mut self.syscfg,
            Unit::Uart(uart) => &mut **self.uarts[uart].as_mut()?,
            Unit::Dma(part) => self.dma.part(part),
            Unit::Iwdg => &mut self.iwdg,
            Unit::Rtc => &mut self.rtc,
            Unit::I2c(port) => &mut *self.i2c[port],
            Unit::Other(other) => &mut *self.others[other],
            Unit::Dbgmcu | Unit::Unmodeled => return None,
        })
    }

    /// What follows from a write to a register besides what the unit itself does.
    fn after_write(&mut self, at: usize, unit: Unit, now: Cycles, memory: &mut Memory) {
        match unit {
            Unit::Rcc => {
                for gate in self.rcc.take_resets() {
                    self.reset_gate(gate, now);
                }
                self.check_unit(unit);
                self.check_model(at, unit);
                self.update_clocks(now);
                (0..UARTS).for_each(|uart| self.connect_pins(uart, now));
            }
            Unit::Pwr => {
                self.check_unit(unit);
                self.update_clocks(now);
            }
            Unit::Flash => {
                let busy = self.flash.start_erase(now, memory);
                if busy > 0 {
                    self.lacks_supply(now);
                }
                self.stall += self.clocks.cycles_in(busy);
                self.check_unit(unit);
                self.update_clocks(now);
            }
            Unit::Dma(_) => {
                self.dma.copy_memory(memory);
                self.check_dma();
                for (uart, port) in self.uarts.iter().enumerate() {
                    if port
                        .as_ref()
                        .is_some_and(|port| port.wants_dma_read() || port.wants_dma_write())
                    {
                        self.dirty |= self.slots.bit_of_uart(uart);
                    }
                }
                let asking = self
                    .ports
                    .iter()
                    .filter(|port| self.others[port.0].dma_requests() != [false; 2]);
                self.dirty |= asking.fold(0, |bits, port| bits | port.2);
            }
            Unit::Uart(uart) => {
                self.check_unit(unit);
                self.connect_pins(uart, now);
            }
            Unit::I2c(port) => {
                self.check_i2c_pins(at, port);
                self.check_model(at, unit);
                self.check_unit(unit);
            }
            Unit::Other(_) | Unit::Rtc => {
                self.check_model(at, unit);
                self.check_unit(unit);
                self.lead_analog(unit);
            }
            Unit::Gpio(port) => {
                (0..UARTS).for_each(|uart| self.connect_pins(uart, now));
                self.check_debug_pins(port);
                self.update_ties();
            }
            _ => {}
        }
    }

    fn reset_gate(&mut self, gate: map::Gate, now: Cycles) {
        for at in 0..self.slots.len() {
            if self.slots.at(at).entry.gate != Some(gate) {
                continue;
            }
            let unit = self.slots.at(at).unit;
            if let Some(peripheral) = self.peripheral(unit) {
                peripheral.reset(now);
            }
            if let Unit::Gpio(_) = unit {
                (0..UARTS).for_each(|uart| self.connect_pins(uart, now));
                self.update_ties();
            }
            self.dirty |= self.slots.at(at).touches;
        }
    }

    fn read_constant(&self, address: u32) -> Option<u32> {
        let (chip, address) = (self.description, address & !3);
        if let Some(word) = address.checked_sub(chip.system.unique_id)
            && let Some(word) = self.unique_id.get(word as usize / 4)
        {
            return Some(*word);
        }
        if address == chip.system.flash_size & !3 {
            let kilobytes = chip.memory.sectors.iter().sum::<u32>() / 1024;
            return Some(kilobytes << (8 * (chip.system.flash_size & 3)));
        }
        let mut constants = chip.system.constants.iter();
        let found = constants.find(|(first, last, _)| (*first..=*last).contains(&address))?;
        Some(found.2)
    }

    /// What a unit requests has changed. A line that several units share is requested as long as one of them does.
    fn set_lines(&mut self, changed: Changed) {
        for (place, interrupt) in changed.interrupts.iter().enumerate() {
            if changed.bits >> place & 1 == 0 {
                continue;
            }
            let bit = InterruptLines::checked_shl(1, *interrupt as u32).unwrap_or(0);
            let is_requested = self.slots.is_requested(*interrupt);
            self.lines = if is_requested {
                self.lines | bit
            } else {
                self.lines & !bit
            };
        }
    }

    /// Advances a port event by event, so that DMA serves each when it comes. Returns when it is due next.
    fn serve_other(&mut self, other: usize, port: usize, now: Cycles, memory: &mut Memory) -> Cycles {
        let (peripheral, mut raised) = (&mut *self.others[other], false);
        loop {
            let then = peripheral.next_event().min(now);
            peripheral.advance(then);
            raised |= self.dma.serve(port, peripheral, then, memory);
            if then == now {
                break;
            }
        }
        let due = peripheral.next_event();
        if raised {
            self.dirty |= LINES;
            self.check_dma();
        }
        due
    }

    fn advance_timed(&mut self, timed: usize, now: Cycles, memory: &mut Memory) {
        let unit = self.slots.timed(timed);
        let Some(due) = self.bring_up_to(unit, now, memory) else {
            return;
        };
        let requested = self.peripheral(unit).map_or(0, |peripheral| peripheral.interrupts());
        if let Some(changed) = self.slots.set_date(timed, due, requested) {
            self.set_lines(changed);
        }
    }

    /// Before software looks at a unit. DMA comes first: it would have taken a byte before the core could. Returns when the unit
    /// is due next.
    fn bring_up_to(&mut self, unit: Unit, now: Cycles, memory: &mut Memory) -> Option<Cycles> {
        if let Unit::Uart(uart) = unit {
            return Some(self.serve_uart(uart, now, memory));
        }
        if let Unit::Other(other) = unit
            && let Some((_, port, _)) = self.ports.iter().find(|port| port.0 == other)
        {
            return Some(self.serve_other(other, *port, now, memory));
        }
        let woken = self.rtc.wakes();
        let peripheral = self.peripheral(unit)?;
        peripheral.advance(now);
        let due = peripheral.next_event();
        if unit == Unit::Rtc && !woken && self.rtc.wakes() {
            self.exti.wake_up();
            self.dirty |= LINES;
        }
        Some(due)
    }
}
