//! The digital to analog converter of the F4: RM0390 chapter 14. Its two outputs lead to pins, which the ADC can read. Triggers, waves and DMA are not
//! modeled.

use super::peripheral::{Peripheral, load, store};
use crate::cpu::Cycles;

/// For both outputs, the second 16 bits above the first.
const EN: u32 = 1;

#[derive(Default, Hash)]
pub(super) struct Dac {
    /// CR, SWTRIGR, and nine data registers.
    registers: [u32; 11],
    /// DOR1 and DOR2.
    outputs: [u32; 2],
}

impl Peripheral for Dac {
    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        store(&mut self.registers, offset, value);
        // Three forms of each output, and of both at once: to the right, to the left, and of eight bits.
        let (low, high) = (value & 0xffff, value >> 16);
        match offset {
            0x08 => self.outputs[0] = low,
            0x0c => self.outputs[0] = low >> 4,
            0x10 => self.outputs[0] = (low & 0xff) << 4,
            0x14 => self.outputs[1] = low,
            0x18 => self.outputs[1] = low >> 4,
            0x1c => self.outputs[1] = (low & 0xff) << 4,
            0x20 => self.outputs = [low, high],
            0x24 => self.outputs = [low >> 4, high >> 4],
            0x28 => self.outputs = [(low & 0xff) << 4, (low >> 8) << 4],
            _ => {}
        }
        self.outputs = self.outputs.map(|output| output & 0xfff);
    }

    fn rest(&self, offset: u32) -> u32 {
        match offset {
            0x2c => self.outputs[0],
            0x30 => self.outputs[1],
            offset => load(&self.registers, offset),
        }
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Dac::default();
    }

    fn analog_outputs(&self) -> Option<[Option<u32>; 2]> {
        let is_on = |output: usize| self.registers[0] >> (16 * output) & EN != 0;
        Some([0, 1].map(|output| is_on(output).then_some(self.outputs[output])))
    }
}
