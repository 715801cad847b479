//! Sees whether firmware keeps the [rules](super::rules).

use super::Chip;
use super::i2c::I2cPins;
use super::map::{Kind, UART_NAMES};
use super::pins::{Pin, Socket};
use super::rules::{Rule, Violation};
use super::slots::Unit;

use crate::cpu::Cycles;

/// No more are told: firmware that breaks a rule all over the flash would never come to an end.
const MAX_VIOLATIONS: usize = 100;

impl Chip {
    pub(super) fn violate(&mut self, rule: Rule, how: String) {
        let violation = Violation { rule, how };
        if self.violations.len() < MAX_VIOLATIONS && !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    pub(super) fn check_clocks(&mut self) {
        let clocks = self.clocks;
        let limits = self.power.limits();
        for how in clocks.beyond(limits, self.rcc.running_pll()) {
            self.violate(Rule::ClockLimits, how);
        }
        let (latency, hclk) = (self.flash.access() & 0xf, clocks.hclk / clocks.ahb);
        let needed = limits.wait_states(hclk);
        if latency < needed {
            let how = format!("{latency} at {hclk} Hz, which needs {needed}");
            self.violate(Rule::WaitStates, how);
        }
        if hclk > self.flash.highest_writing() {
            self.violate(Rule::WaitStates, format!("WRHIGHFREQ is too low for {hclk} Hz"));
        }
    }

    pub(super) fn check_unit(&mut self, unit: Unit) {
        let broken = self.peripheral(unit).map(|peripheral| peripheral.take_broken());
        for Violation { rule, how } in broken.into_iter().flatten() {
            self.violate(rule, how);
        }
    }

    pub(super) fn check_dma(&mut self) {
        for Violation { rule, how } in self.dma.take_broken() {
            self.violate(rule, how);
        }
    }

    /// Whether a unit is in a mode that its model does not have.
    pub(super) fn check_model(&mut self, at: usize, unit: Unit) {
        let beyond = self.peripheral(unit).and_then(|peripheral| peripheral.beyond_model());
        if let Some(what) = beyond {
            self.remark(format!("{}: {what} is not modeled", self.slots.at(at).entry.name));
        }
    }

    /// A serial port has its pins if they are in its alternate function.
    pub(super) fn connect_pins(&mut self, uart: usize, now: Cycles) {
        let sockets = self.sockets[uart];
        let connected = |socket: Socket| self.is_connected(socket.pin, socket.function);
        let drives = |socket: Socket| connected(socket) && !self.lacks_pull_up(socket.pin);
        let (tx, rx) = sockets.map_or((false, false), |both| (drives(both.tx), connected(both.rx)));
        let Some(port) = &mut self.uarts[uart] else { return };
        port.set_pins(tx, rx, now);
        let (listens, listens_nowhere) = (port.reaction_time().is_some(), port.listens_nowhere());
        // One whose clock is off receives nothing anyway: drivers let go of its pins then.
        if listens_nowhere && self.has_clock(uart) {
            self.lacks_pin(uart, "receives", sockets.map(|both| both.rx));
        }
        let Some(pin) = sockets.map(|both| both.rx.pin).filter(|_| listens) else {
            return;
        };
        let Some(gpio) = self.gpio.get(pin.port) else { return };
        let is_driven = self.wired[uart] || self.ties.iter().any(|(_, to)| *to == pin);
        let how = if gpio.is_pulled_down(pin.number) {
            "is pulled down"
        } else if !is_driven && !gpio.is_pulled_up(pin.number) {
            "floats: it has neither a cable nor a pull-up, and reads noise"
        } else {
            return;
        };
        let name = UART_NAMES[uart];
        self.violate(Rule::Pull, format!("{name} receives at {pin}, which {how}"));
    }

    /// Whether a pin is in an alternate function.
    pub(super) fn is_connected(&self, pin: Pin, function: u32) -> bool {
        let gpio = self.gpio.get(pin.port);
        gpio.is_some_and(|gpio| gpio.alternate_function(pin.number) == Some(function))
    }

    fn has_clock(&self, uart: usize) -> bool {
        let mut map = self.description.map().iter();
        let entry = map.find(|entry| matches!(entry.kind, Kind::Uart(number) if number == uart));
        entry.is_some_and(|entry| entry.gate.is_none_or(|gate| self.rcc.is_on(gate)))
    }

    pub(super) fn sends_nowhere(&mut self, uart: usize) {
        self.lacks_pin(uart, "sends", self.sockets[uart].map(|both| both.tx));
    }

    fn lacks_pull_up(&self, pin: Pin) -> bool {
        let gpio = self.gpio.get(pin.port);
        gpio.is_some_and(|gpio| gpio.is_open_drain(pin.number) && !gpio.is_pulled_up(pin.number))
    }

    /// A probe reaches the chip by PA13 and PA14, in their alternate function 0.
    pub(super) fn check_debug_pins(&mut self, port: usize) {
        for (number, name) in [(13, "SWDIO"), (14, "SWCLK")] {
            if port == 0 && self.gpio[0].alternate_function(number) != Some(0) {
                let how = format!("PA{number} is no longer {name}: the probe has lost the board");
                self.violate(Rule::DebugPins, how);
            }
        }
    }

    fn lacks_pin(&mut self, uart: usize, verb: &str, socket: Option<Socket>) {
        let name = UART_NAMES[uart];
        let how = match socket {
            Some(Socket { pin, .. }) if verb == "sends" && self.lacks_pull_up(pin) => {
                format!("{name} {verb} while {pin} is open drain without a pull-up: it never drives its line high")
            }
            Some(Socket { pin, function }) => {
                format!("{name} {verb} while {pin} is not in alternate function {function}")
            }
            None => format!("{name} {verb}, but the board has nothing at its pins"),
        };
        self.violate(Rule::Pins, how);
    }

    /// Whether a write goes to the backup domain and is lost, because DBP is 0.
    pub(super) fn is_backup_locked(&mut self, at: usize, unit: Unit, offset: u32) -> bool {
        let is_there = match unit {
            Unit::Rtc => true,
            Unit::Rcc => offset & !3 == self.rcc.backup_register(),
            _ => false,
        };
        let is_locked = is_there && !self.power.opens_backup_domain();
        if is_locked {
            let name = self.slots.at(at).entry.name;
            let what = if unit == Unit::Rcc { "BDCR" } else { name };
            self.violate(Rule::Backup, format!("{what} is written while DBP of the PWR is 0"));
        }
        is_locked
    }

    /// An I2C port has its wires if a pin for each is in its alternate function, and open drain. Before it is written.
    pub(super) fn connect_i2c(&mut self, at: usize, number: usize) {
        let Some((_, pins)) = self.slots.at(at).entry.i2c() else {
            return;
        };
        let is_at =
            |pin: &Pin, function| self.is_connected(*pin, function) && self.gpio[pin.port].is_open_drain(pin.number);
        let has = |wire: fn(&I2cPins) -> &'static [Pin]| {
            let mut all = pins.iter();
            all.any(|pins| wire(pins).iter().any(|pin| is_at(pin, pins.function)))
        };
        self.i2c[number].bus().is_connected = has(|pins| pins.scl) && has(|pins| pins.sda);
    }

    pub(super) fn check_i2c_pins(&mut self, at: usize, number: usize) {
        if std::mem::take(&mut self.i2c[number].bus().is_missed) {
            let name = self.slots.at(at).entry.name;
            let how = format!("{name} begins a transfer, but no two pins are its clock and its data, open drain");
            self.violate(Rule::Pins, how);
        }
    }
}
