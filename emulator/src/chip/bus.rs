//! The chip as the core sees it: addresses that are read and written, dates, and interrupts.

use super::Chip;
use super::rules::Rule;
use super::slots::{LINES, Unit};
use crate::cpu::{Bus, Cycles, FlashReading, InterruptLines, Notice, Stop};
use crate::hash::mix;
use crate::memory::{FLASH, Memory};

impl Bus for Chip {
    fn read(&mut self, address: u32, bytes: u32, now: Cycles, memory: &mut Memory) -> Option<u32> {
        let word = match self.read_constant(address) {
            Some(word) => word,
            None => {
                let (at, unit, offset) = self.find(address, true)?;
                // Reading takes bytes and flags from units with a time of their own; interrupts of others it leaves alone.
                self.dirty |= self.slots.at(at).touches & !LINES;
                match unit {
                    Unit::Dbgmcu if offset < 4 => self.description.id_code,
                    Unit::Dbgmcu => self.debug_control[(offset as usize / 4).min(3)],
                    unit => {
                        self.bring_up_to(unit, now, memory);
                        let word = self
                            .peripheral(unit)
                            .map_or(0, |peripheral| peripheral.read(offset & !3, now));
                        if unit == Unit::Rtc {
                            self.check_unit(unit);
                        }
                        let pvdo = if unit == Unit::Pwr {
                            self.pvdo(offset & !3, now)
                        } else {
                            0
                        };
                        word | pvdo
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
            // Some bits stay ones.
            let value = if self.lacks_supply(now) {
                value | mix(now) as u32
            } else {
                value
            };
            let busy = self.flash.program(address, bytes, value, now, memory);
            self.stall += self.clocks.cycles_in(busy);
            self.check_unit(Unit::Flash);
            return Some(());
        }
        let (at, unit, offset) = self.find(address, false)?;
        if self.is_backup_locked(at, unit, offset) {
            return Some(());
        }
        self.dirty |= self.slots.at(at).touches;
        if unit == Unit::Dbgmcu {
            let place = &mut self.debug_control[(offset as usize / 4).min(3)];
            let changed = std::mem::replace(place, value) ^ value;
            self.check_known(at, offset, changed);
        }
        if let Unit::I2c(port) = unit {
            self.connect_i2c(at, port);
        }
        self.bring_up_to(unit, now, memory);
        if let Some(peripheral) = self.peripheral(unit) {
            let (offset, shift) = (offset & !3, 8 * (offset & 3));
            let mask = if bytes == 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 } << shift;
            let before = peripheral.rest(offset);
            let value = before & !mask | value << shift & mask;
            peripheral.write(offset, value, now);
            self.check_known(at, offset, value ^ before);
            self.after_write(at, unit, now, memory);
        }
        Some(())
    }

    fn poll(&mut self, now: Cycles, memory: &mut Memory) -> Cycles {
        if self.dirty == 0 && now < self.next {
            return self.next;
        }
        let dirty = std::mem::take(&mut self.dirty);
        let mut due = dirty & self.slots.all_timed();
        if now >= self.next {
            due |= self.slots.due(now);
        }
        while due != 0 {
            self.advance_timed(due.trailing_zeros() as usize, now, memory);
            due &= due - 1;
        }
        if (dirty | self.dirty) & LINES != 0 {
            self.dirty &= !LINES;
            for number in 0..self.slots.line_units() {
                let unit = self.slots.line_unit(number);
                let requested = self.peripheral(unit).map_or(0, |peripheral| peripheral.interrupts());
                if let Some(changed) = self.slots.set_requested(number, requested) {
                    self.set_lines(changed);
                }
            }
        }
        self.next = self.slots.next();
        self.next
    }

    fn wants_poll(&self) -> bool {
        self.dirty != 0
    }

    fn interrupt_lines(&self) -> InterruptLines {
        self.lines
    }

    fn take_stall(&mut self) -> Cycles {
        std::mem::take(&mut self.stall)
    }

    /// Wait states are counted in cycles of the flash.
    fn flash_access(&self) -> u32 {
        let access = self.flash.access();
        let wait = u64::from(access & 0xf) * self.clocks.ahb;
        access & !0xf | wait.min(0xf) as u32
    }

    fn flash_reading(&self) -> FlashReading {
        self.description.flash_reading
    }

    fn meets_torn_flash(&mut self, address: u32) -> bool {
        self.flash.meet_torn(address)
    }

    fn take_flash_change(&mut self) -> Option<std::ops::Range<u32>> {
        self.flash.account().changed.take()
    }

    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::StaleData(address) => self.violate(
                Rule::FlashCache,
                format!(
                    "the data cache still has what was at {:#010x} before the flash was changed",
                    address & !0xf
                ),
            ),
            Notice::DeepSleep => {
                let how = "the core sleeps with SLEEPDEEP set: its clocks stop, and with them its links";
                self.violate(Rule::Sleep, how.into());
            }
            Notice::Vectors { address, multiple } => {
                let how = format!("VTOR is set to {address:#010x}, which is no multiple of {multiple:#x}");
                self.violate(Rule::VectorTable, how);
            }
            Notice::Unmodeled { register, bits } => {
                self.remark(format!("bits {bits:#x} of {register} are not modeled"));
            }
        }
    }

    fn done_at(&mut self, pc: u32) {
        self.place_remarks(pc);
    }

    fn take_event(&mut self) -> bool {
        self.exti.take_event()
    }

    fn wants_stop(&self) -> Option<Stop> {
        if self.iwdg.has_expired() {
            Some(Stop::Reset)
        } else if self.clock_changed {
            Some(Stop::Clock)
        } else {
            None
        }
    }
}
