//! System configuration: RM0390 chapter 8. Only the choice of the EXTI ports has an effect here.

use super::peripheral::{Peripheral, load, store};
use crate::cpu::Cycles;

#[derive(Default, Hash)]
pub(super) struct Syscfg {
    registers: [u32; 12],
}

impl Syscfg {
    /// The GPIO port whose pin of this number is connected to the EXTI line of this number.
    pub(super) fn port_of(&self, pin: u32) -> usize {
        (self.registers[2 + pin as usize / 4] >> (4 * (pin % 4)) & 0xf) as usize
    }
}

impl Peripheral for Syscfg {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        // The compensation cell is ready when it is on.
        let power = (self.registers[8] & 1) << 8;
        let ready = if offset == 0x20 { power } else { 0 };
        self.rest(offset) | ready
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        store(&mut self.registers, offset, value);
    }

    fn rest(&self, offset: u32) -> u32 {
        load(&self.registers, offset)
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Syscfg::default();
    }
}
