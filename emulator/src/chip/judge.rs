//! Sees whether firmware keeps the [rules](super::rules).

use super::rules::{Rule, Violation};
use super::{Chip, UART_NAMES, pins};
use crate::cpu::Cycles;

/// No more are told: firmware that breaks a rule all over the flash would never come to an end.
const MOST: usize = 100;

impl Chip {
    pub(super) fn violate(&mut self, rule: Rule, how: String) {
        let violation = Violation { rule, how };
        if self.violations.len() < MOST && !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    /// Clocks and what they need.
    pub(super) fn judge_clocks(&mut self) {
        let clocks = self.clocks;
        for how in clocks.beyond(self.power.limits(), self.rcc.running_pll()) {
            self.violate(Rule::ClockLimits, how);
        }
        let needed = clocks.flash_wait_states();
        if self.flash.latency() < needed {
            let (latency, hclk) = (self.flash.latency(), clocks.hclk);
            self.violate(
                Rule::WaitStates,
                format!("{latency} at {hclk} Hz, which needs {needed}"),
            );
        }
    }

    pub(super) fn judge_flash(&mut self) {
        for (rule, how) in self.flash.take_broken() {
            self.violate(rule, how);
        }
    }

    pub(super) fn judge_dma(&mut self, dma: usize) {
        for how in self.dma[dma].take_broken() {
            self.violate(Rule::Dma, format!("DMA{}: {how}", dma + 1));
        }
    }

    /// A serial port has its pins if they are in its alternate function.
    pub(super) fn connect_pins(&mut self, uart: usize, now: Cycles) {
        let pins = pins::of(self.model, uart);
        let connected = |pin: pins::Pin| self.gpio[pin.port].alternate_function(pin.number) == Some(pins.function);
        let (tx, rx) = (connected(pins.tx), connected(pins.rx));
        self.uarts[uart].set_pins(tx, rx, now);
        if self.uarts[uart].listens_nowhere() {
            self.lacks_pin(uart, "receives", pins.rx);
        }
        if self.uarts[uart].listens() && self.gpio[pins.rx.port].is_pulled_down(pins.rx.number) {
            let (name, pin) = (UART_NAMES[uart], pins.rx);
            self.violate(Rule::Pull, format!("{name} receives at {pin}, which is pulled down"));
        }
    }

    pub(super) fn lacks_pin(&mut self, uart: usize, verb: &str, pin: pins::Pin) {
        let (name, function) = (UART_NAMES[uart], pins::of(self.model, uart).function);
        let how = format!("{name} {verb} while {pin} is not in alternate function {function}");
        self.violate(Rule::Pins, how);
    }
}
