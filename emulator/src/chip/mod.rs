//! An STM32F4 around the core: clocks, pins, timers, serial ports, DMA, watchdog and flash controller.
//!
//! Every peripheral is a file with a struct that holds its registers and implements `Peripheral`. [`Chip`] finds
//! the peripheral of an address in `map`, knows which of them have something to do, and joins them where one acts on
//! another: requests to DMA, clocks to timers, pins to EXTI.

mod backup;
pub mod clocks;
mod dma;
mod exti;
mod flash;
mod gpio;
mod judge;
mod map;
mod model;
mod pins;
mod power;
mod rcc;
pub mod rules;
pub(crate) mod rx_pin;
mod supply;
mod syscfg;
#[cfg(test)]
mod tests;
mod timer;
pub mod usart;
mod watchdog;

use crate::cpu::{Bus, Cycles, InterruptLines, NEVER, Stop};
use crate::memory::{FLASH, Memory};
use backup::Backup;
use clocks::{Clocks, Hse};
use dma::Dma;
use exti::Exti;
use flash::FlashController;
use gpio::Gpio;
use map::Unit;
use power::Power;
use rcc::Rcc;
use rules::{Rule, Violation};
use syscfg::Syscfg;
use timer::Timer;
use usart::Usart;
use watchdog::Watchdog;

pub use map::{UART_NAMES, UARTS};
pub use model::Model;
pub(crate) use rcc::ResetCause;

/// Registers on a bus. Offsets are those of the reference manual; accesses are whole words.
trait Peripheral {
    /// Reads a register, with what reading does to it.
    fn read(&mut self, offset: u32, now: Cycles) -> u32;
    /// Writes a register.
    fn write(&mut self, offset: u32, value: u32, now: Cycles);
    /// What a register holds besides the bytes that are written, when a store is narrower than the register.
    fn rest(&self, _offset: u32) -> u32 {
        0
    }
    /// Does all that is due up to `now`.
    fn advance(&mut self, _now: Cycles) {}
    /// When something is due next.
    fn next_event(&self) -> Cycles {
        NEVER
    }
    /// Whether it requests its interrupt.
    fn interrupt(&self) -> bool {
        false
    }
}

const TIMERS: usize = 4;
const TIMER_INTERRUPTS: [usize; TIMERS] = [28, 29, 30, 50];
const UART_INTERRUPTS: [usize; UARTS] = [37, 38, 39, 52, 53, 71];
const FLASH_INTERRUPT: usize = 4;
/// Timed units, for the list of what is due: timers, then UARTs, then the watchdog.
const TIMED: usize = TIMERS + UARTS + 1;
const WATCHDOG: usize = TIMERS + UARTS;
const ALL_DIRTY: u32 = (1 << TIMED) - 1;

/// Something that firmware has done and the chip does not model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Remark(pub String);

/// What differs between chips of one model.
#[derive(Clone, Copy, Debug)]
pub struct Individual {
    /// The number that is unique to the chip.
    pub unique_id: [u32; 3],
    /// What is at its HSE pins.
    pub hse: Hse,
    /// The clock of its watchdog in Hz: 17,000 to 47,000.
    pub lsi: u32,
    /// How far the times of its flash are from typical to longest, in percent.
    pub flash_wear: u32,
}

/// The chip without core and memory.
#[derive(Hash)]
pub struct Chip {
    model: Model,
    unique_id: [u32; 3],
    rcc: Rcc,
    power: Power,
    flash: FlashController,
    gpio: [Gpio; gpio::PORTS],
    exti: Exti,
    syscfg: Syscfg,
    timers: [Timer; TIMERS],
    uarts: [Usart; UARTS],
    dma: [Dma; 2],
    watchdog: Watchdog,
    backup: Backup,
    debug_control: [u32; 4],
    clocks: Clocks,
    /// Set when `clocks` has changed and the board has not yet taken notice.
    clock_changed: bool,
    lines: InterruptLines,
    /// When each timed unit is due.
    due: [Cycles; TIMED],
    /// The earliest of them.
    next: Cycles,
    /// Timed units that software has touched since the last poll, one bit each.
    dirty: u32,
    dma_dirty: bool,
    stall: Cycles,
    remarks: Vec<Remark>,
    violations: Vec<Violation>,
}

impl Chip {
    /// A chip that has just been powered.
    pub fn new(model: Model, individual: Individual) -> Self {
        let Individual {
            unique_id,
            hse,
            lsi,
            flash_wear,
        } = individual;
        let rcc = Rcc::new(hse, ResetCause::PowerOn);
        let clocks = rcc.clocks();
        let mut chip = Chip {
            model,
            unique_id,
            rcc,
            power: Power::new(model.has_overdrive()),
            flash: FlashController::new(flash_wear),
            gpio: Default::default(),
            exti: Exti::default(),
            syscfg: Syscfg::default(),
            timers: [true, false, false, true].map(Timer::new),
            uarts: Default::default(),
            dma: Default::default(),
            watchdog: Watchdog::new(lsi),
            backup: Backup::default(),
            debug_control: [0; 4],
            clocks,
            clock_changed: false,
            lines: [0; 4],
            due: [NEVER; TIMED],
            next: 0,
            dirty: ALL_DIRTY,
            dma_dirty: true,
            stall: 0,
            remarks: Vec::new(),
            violations: Vec::new(),
        };
        chip.distribute_clocks(0);
        chip
    }

    /// System reset: everything but what reset leaves alone. Pins, wires and statistics are outside of the chip.
    pub(crate) fn reset(&mut self, cause: ResetCause, now: Cycles) {
        self.rcc = self.rcc.after_reset(cause);
        self.power = Power::new(self.model.has_overdrive());
        self.flash.reset();
        for port in &mut self.gpio {
            port.reset();
        }
        self.exti = Exti::default();
        self.syscfg = Syscfg::default();
        for timer in &mut self.timers {
            timer.reset();
        }
        for uart in &mut self.uarts {
            uart.reset(now);
        }
        self.dma = Default::default();
        self.watchdog.reset();
        (self.dirty, self.dma_dirty, self.lines) = (ALL_DIRTY, true, [0; 4]);
        (0..UARTS).for_each(|uart| self.connect_pins(uart, now));
        self.update_clocks(now);
    }

    /// The present clocks.
    pub fn clocks(&self) -> Clocks {
        self.clocks
    }

    /// Says that the change of clocks has been noticed.
    pub(crate) fn acknowledge_clocks(&mut self) {
        self.clock_changed = false;
    }

    /// Whether the watchdog has run out.
    pub(crate) fn watchdog_expired(&self) -> bool {
        self.watchdog.has_expired()
    }

    /// What was done that is not modelled, in the order in which it was first done.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The rules that were broken, in the order in which that was first done.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// A serial port: 0 to 5 are USART1, USART2, USART3, UART4, UART5 and USART6.
    pub fn uart(&self, uart: usize) -> &Usart {
        &self.uarts[uart]
    }

    /// The same, to be changed from outside: its dates are looked at again.
    pub fn uart_mut(&mut self, uart: usize) -> &mut Usart {
        self.dirty |= 1 << (TIMERS + uart);
        &mut self.uarts[uart]
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
            self.dma_dirty = true;
            self.next = 0;
        }
    }

    fn remark(&mut self, text: String) {
        if !self.remarks.iter().any(|remark| remark.0 == text) {
            self.remarks.push(Remark(text));
        }
    }

    fn update_clocks(&mut self, now: Cycles) {
        let clocks = self.rcc.clocks();
        if clocks != self.clocks {
            self.watchdog.rescale(now, self.clocks.hclk, clocks.hclk);
            self.clock_changed |= clocks.source != self.clocks.source || clocks.hclk != self.clocks.hclk;
            self.clocks = clocks;
            self.distribute_clocks(now);
        }
        self.judge_clocks();
    }

    fn distribute_clocks(&mut self, now: Cycles) {
        for timer in &mut self.timers {
            timer.set_clock(self.clocks.timer1(), now);
        }
        for (uart, unit) in self.uarts.iter_mut().enumerate() {
            // USART1 and USART6 are on the fast bus.
            unit.set_clock(if uart == 0 || uart == 5 {
                self.clocks.apb2
            } else {
                self.clocks.apb1
            });
        }
        self.watchdog.set_clock(self.clocks.hclk);
        self.dirty = ALL_DIRTY;
    }

    /// The unit at an address with the offset into it, if its clock is on.
    fn find(&mut self, address: u32) -> Option<(Unit, u32)> {
        let place = map::find(address)?;
        if place.unit == Unit::Unmodelled {
            self.remark(format!("{} is not modelled", place.name));
            return Some((Unit::Unmodelled, 0));
        }
        if !self.rcc.is_clocked(place) {
            self.violate(Rule::Clocked, format!("{} is used while its clock is off", place.name));
            return Some((Unit::Unmodelled, 0));
        }
        Some((place.unit, address - place.base))
    }

    fn peripheral(&mut self, unit: Unit) -> Option<&mut dyn Peripheral> {
        Some(match unit {
            Unit::Rcc => &mut self.rcc,
            Unit::Power => &mut self.power,
            Unit::Flash => &mut self.flash,
            Unit::Gpio(port) => &mut self.gpio[port],
            Unit::Exti => &mut self.exti,
            Unit::Syscfg => &mut self.syscfg,
            Unit::Timer(timer) => &mut self.timers[timer],
            Unit::Uart(uart) => &mut self.uarts[uart],
            Unit::Dma(dma) => &mut self.dma[dma],
            Unit::Watchdog => &mut self.watchdog,
            Unit::Backup => &mut self.backup,
            Unit::DebugControl | Unit::Unmodelled => return None,
        })
    }

    fn touch(&mut self, unit: Unit) {
        match unit {
            Unit::Timer(timer) => self.dirty |= 1 << timer,
            Unit::Uart(uart) => self.dirty |= 1 << (TIMERS + uart),
            Unit::Watchdog => self.dirty |= 1 << WATCHDOG,
            Unit::Dma(_) => {
                self.dma_dirty = true;
                self.dirty |= ALL_DIRTY >> (TIMED - WATCHDOG) << TIMERS & ALL_DIRTY;
            }
            Unit::Exti | Unit::Flash | Unit::Gpio(_) | Unit::Syscfg => self.dma_dirty = true,
            _ => {}
        }
    }

    /// What follows from a write to a register besides what the unit itself does.
    fn after_write(&mut self, unit: Unit, now: Cycles, memory: &mut Memory) {
        match unit {
            Unit::Rcc => {
                for unit in self.rcc.take_resets() {
                    self.reset_unit(unit, now);
                }
                for Violation { rule, how } in self.rcc.take_broken() {
                    self.violate(rule, how);
                }
                self.update_clocks(now);
            }
            Unit::Power => self.update_clocks(now),
            Unit::Flash => {
                let busy = self.flash.start_erase(memory);
                self.stall += self.clocks.cycles_in(busy);
                self.judge_flash();
                self.update_clocks(now);
            }
            Unit::Dma(dma) => {
                self.dma[dma].copy_memory(dma == 1, memory);
                self.judge_dma(dma);
            }
            Unit::Timer(timer) => {
                if let Some(what) = self.timers[timer].beyond_model() {
                    self.remark(format!("TIM{}: {what} is not modelled", timer + 2));
                }
            }
            Unit::Uart(uart) => {
                if let Some(what) = self.uarts[uart].beyond_model() {
                    self.remark(format!("{}: {what} is not modelled", UART_NAMES[uart]));
                }
                self.connect_pins(uart, now);
            }
            Unit::Gpio(_) => (0..UARTS).for_each(|uart| self.connect_pins(uart, now)),
            _ => {}
        }
    }

    fn reset_unit(&mut self, unit: Unit, now: Cycles) {
        match unit {
            Unit::Gpio(port) => {
                self.gpio[port].reset();
                (0..UARTS).for_each(|uart| self.connect_pins(uart, now));
            }
            Unit::Syscfg => self.syscfg = Syscfg::default(),
            Unit::Timer(timer) => self.timers[timer].reset(),
            Unit::Uart(uart) => self.uarts[uart].reset(now),
            Unit::Dma(dma) => self.dma[dma] = Dma::default(),
            Unit::Power => self.power = Power::new(self.model.has_overdrive()),
            _ => {}
        }
        self.touch(unit);
    }

    fn read_constant(&self, address: u32) -> Option<u32> {
        Some(match address & !3 {
            0x1fff_7a10 => self.unique_id[0],
            0x1fff_7a14 => self.unique_id[1],
            0x1fff_7a18 => self.unique_id[2],
            // Size of the flash in KiB, in the upper half.
            0x1fff_7a20 => (self.model.memory().sectors.iter().sum::<u32>() / 1024) << 16,
            0x1fff_0000..=0x1fff_7a0f => 0xffff_ffff,
            // The option bytes as they are delivered.
            0x1fff_c000 => 0x5500_aaff,
            0x1fff_c008 => 0x0000_ffff,
            _ => return None,
        })
    }

    fn set_line(&mut self, interrupt: usize, requested: bool) {
        let bit = 1 << (interrupt % 32);
        let word = &mut self.lines[interrupt / 32];
        *word = if requested { *word | bit } else { *word & !bit };
    }

    fn advance_timed(&mut self, unit: usize, now: Cycles, memory: &mut Memory) {
        match unit {
            0..TIMERS => {
                let timer = &mut self.timers[unit];
                timer.advance(now);
                self.due[unit] = timer.next_event();
                let requested = timer.interrupt();
                self.set_line(TIMER_INTERRUPTS[unit], requested);
            }
            WATCHDOG => {
                self.watchdog.advance(now);
                self.due[unit] = self.watchdog.next_event();
            }
            _ => {
                let uart = unit - TIMERS;
                self.serve_uart(uart, now, memory);
                self.due[unit] = self.uarts[uart].next_event();
                let requested = self.uarts[uart].interrupt();
                self.set_line(UART_INTERRUPTS[uart], requested);
            }
        }
    }

    /// Before software looks at a unit. DMA comes first: it would have taken a byte before the core could.
    fn bring_up_to(&mut self, unit: Unit, now: Cycles, memory: &mut Memory) {
        match unit {
            Unit::Uart(uart) => self.serve_uart(uart, now, memory),
            unit => _ = self.peripheral(unit).map(|peripheral| peripheral.advance(now)),
        }
    }

    /// Advances a UART event by event, so that DMA takes each byte when it comes and not when software next looks.
    fn serve_uart(&mut self, uart: usize, now: Cycles, memory: &mut Memory) {
        loop {
            let unit = &mut self.uarts[uart];
            let then = unit.next_event().min(now);
            unit.advance(then);
            let dma = &mut self.dma[dma::controller_of(uart)];
            self.dma_dirty |= dma.serve(uart, unit, then, memory);
            if then == now {
                break;
            }
        }
        if self.uarts[uart].take_sent_nowhere() {
            self.lacks_pin(uart, "sends", pins::of(self.model, uart).tx);
        }
        self.judge_dma(dma::controller_of(uart));
    }
}

impl Bus for Chip {
    fn read(&mut self, address: u32, bytes: u32, now: Cycles, memory: &mut Memory) -> Option<u32> {
        let word = match self.read_constant(address) {
            Some(word) => word,
            None => {
                let (unit, offset) = self.find(address)?;
                self.touch(unit);
                match unit {
                    Unit::DebugControl if offset < 4 => self.model.id_code(),
                    Unit::DebugControl => self.debug_control[(offset as usize / 4).min(3)],
                    unit => {
                        self.bring_up_to(unit, now, memory);
                        self.peripheral(unit)
                            .map_or(0, |peripheral| peripheral.read(offset & !3, now))
                    }
                }
            }
        };
        let word = word >> (8 * (address & 3));
        Some(if bytes == 4 {
            word
        } else {
            word & ((1 << (8 * bytes)) - 1)
        })
    }

    fn write(&mut self, address: u32, bytes: u32, value: u32, now: Cycles, memory: &mut Memory) -> Option<()> {
        if (FLASH..FLASH + memory.flash_size()).contains(&address) {
            let busy = self.flash.program(address, bytes, value, memory);
            self.stall += self.clocks.cycles_in(busy);
            self.judge_flash();
            return Some(());
        }
        let (unit, offset) = self.find(address)?;
        self.touch(unit);
        if unit == Unit::DebugControl {
            self.debug_control[(offset as usize / 4).min(3)] = value;
        }
        self.bring_up_to(unit, now, memory);
        if let Some(peripheral) = self.peripheral(unit) {
            let (offset, shift) = (offset & !3, 8 * (offset & 3));
            let mask = if bytes == 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 } << shift;
            let rest = peripheral.rest(offset) & !mask;
            peripheral.write(offset, rest | value << shift & mask, now);
            self.after_write(unit, now, memory);
        }
        Some(())
    }

    fn poll(&mut self, now: Cycles, memory: &mut Memory) -> Cycles {
        if self.dirty == 0 && !self.dma_dirty && now < self.next {
            return self.next;
        }
        let dirty = std::mem::take(&mut self.dirty);
        for unit in 0..TIMED {
            if dirty >> unit & 1 != 0 || now >= self.due[unit] {
                self.advance_timed(unit, now, memory);
            }
        }
        if std::mem::take(&mut self.dma_dirty) {
            for dma in 0..2 {
                for (stream, interrupt) in dma::INTERRUPTS[dma].into_iter().enumerate() {
                    let requested = self.dma[dma].interrupt(stream);
                    self.set_line(interrupt, requested);
                }
            }
            for (interrupt, requested) in self.exti.interrupts() {
                self.set_line(interrupt, requested);
            }
            let requested = self.flash.interrupt();
            self.set_line(FLASH_INTERRUPT, requested);
        }
        self.next = self.due.into_iter().min().unwrap_or(NEVER);
        self.next
    }

    fn interrupt_lines(&self) -> InterruptLines {
        self.lines
    }

    fn take_stall(&mut self) -> Cycles {
        std::mem::take(&mut self.stall)
    }

    fn flash_access(&self) -> u32 {
        self.flash.access()
    }

    fn take_flash_change(&mut self) -> Option<std::ops::Range<u32>> {
        self.flash.take_change()
    }

    fn stale_data(&mut self, address: u32) {
        let line = address & !0xf;
        self.violate(
            Rule::FlashCache,
            format!("the data cache still has what was at {line:#010x} before the flash was changed"),
        );
    }

    fn take_event(&mut self) -> bool {
        self.exti.take_event()
    }

    fn wants_stop(&self) -> Option<Stop> {
        if self.watchdog.has_expired() {
            Some(Stop::Reset)
        } else if self.clock_changed {
            Some(Stop::Clock)
        } else {
            None
        }
    }
}
