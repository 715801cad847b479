//! The CORDIC coprocessor of the G4: RM0440 chapter 17. Sine, cosine, phase and modulus of 32 bits, by the iterations that it makes, but in no time.

use std::collections::VecDeque;
use std::f64::consts::PI;

use super::peripheral::Peripheral;
use crate::cpu::Cycles;

const CSR: u32 = 0x00;
const WDATA: u32 = 0x04;
const RDATA: u32 = 0x08;

const FUNCTION: u32 = 0xf;
const IEN: u32 = 1 << 16;
const DMAREN: u32 = 1 << 17;
const DMAWEN: u32 = 1 << 18;
const NRES: u32 = 1 << 19;
const NARGS: u32 = 1 << 20;
const RRDY: u32 = 1 << 31;

/// Bits behind the point while it computes.
const POINT: i32 = 44;

#[derive(Hash)]
pub(super) struct Cordic {
    control: u32,
    /// Arguments that wait until the results of those before have been taken.
    arguments: VecDeque<u32>,
    second: u32,
    results: VecDeque<u32>,
}

impl Cordic {
    pub(super) fn new() -> Self {
        Cordic {
            control: 0x50,
            arguments: VecDeque::new(),
            second: i32::MAX as u32,
            results: VecDeque::new(),
        }
    }

    fn wanted(&self) -> usize {
        1 + usize::from(self.control & NARGS != 0)
    }

    fn compute(&mut self) {
        if !self.results.is_empty() || self.arguments.len() < self.wanted() {
            return;
        }
        let first = self.arguments.pop_front().unwrap_or(0);
        if self.control & NARGS != 0 {
            self.second = self.arguments.pop_front().unwrap_or(0);
        }
        let iterations = (self.control >> 4 & 0xf) as i32 * 4;
        let [first, second] = [first, self.second].map(|argument| i64::from(argument as i32) << (POINT - 31));
        let (one, other) = match self.control & FUNCTION {
            0 | 1 => rotate(first, second, iterations),
            _ => turn_back(first, second, iterations),
        };
        let (one, other) = if self.control & 1 != 0 {
            (other, one)
        } else {
            (one, other)
        };
        self.results.push_back(rounded(one));
        if self.control & NRES != 0 {
            self.results.push_back(rounded(other));
        }
    }
}

fn rounded(value: i64) -> u32 {
    let value = (value + (1 << (POINT - 32))) >> (POINT - 31);
    value.clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32
}

/// The angle of an iteration in parts of pi, and by how much all of them lengthen.
fn angle(iteration: i32) -> i64 {
    (0.5_f64.powi(iteration).atan() / PI * (1_i64 << POINT) as f64) as i64
}

fn shortened(length: i64, iterations: i32) -> i64 {
    let gain = (0..iterations).fold(1.0, |gain, iteration| gain * (1.0 + 0.25_f64.powi(iteration)).sqrt());
    (length as f64 / gain) as i64
}

/// Cosine and sine of an angle in parts of pi, times a modulus.
fn rotate(mut angle_left: i64, modulus: i64, iterations: i32) -> (i64, i64) {
    let (half, mut sign) = (1 << (POINT - 1), 1);
    if angle_left.abs() > half {
        (angle_left, sign) = (angle_left - angle_left.signum() * 2 * half, -1);
    }
    let (mut x, mut y) = (shortened(modulus, iterations), 0);
    for iteration in 0..iterations {
        let direction = if angle_left < 0 { -1 } else { 1 };
        (x, y) = (x - direction * (y >> iteration), y + direction * (x >> iteration));
        angle_left -= direction * angle(iteration);
    }
    (sign * x, sign * y)
}

/// Phase in parts of pi, and modulus.
fn turn_back(mut x: i64, mut y: i64, iterations: i32) -> (i64, i64) {
    let mut phase = 0;
    if x < 0 {
        phase = if y < 0 { -1 << POINT } else { 1 << POINT };
        (x, y) = (-x, -y);
    }
    for iteration in 0..iterations {
        let direction = if y < 0 { 1 } else { -1 };
        (x, y) = (x - direction * (y >> iteration), y + direction * (x >> iteration));
        phase -= direction * angle(iteration);
    }
    (phase, shortened(x, iterations))
}

impl Peripheral for Cordic {
    fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
        if offset != RDATA {
            return self.rest(offset);
        }
        let result = self.results.pop_front().unwrap_or(0);
        self.compute();
        result
    }

    fn write(&mut self, offset: u32, value: u32, _now: Cycles) {
        match offset {
            CSR => self.control = value & !RRDY,
            WDATA => {
                self.arguments.push_back(value);
                self.compute();
            }
            _ => {}
        }
    }

    fn rest(&self, offset: u32) -> u32 {
        let ready = if self.results.is_empty() { 0 } else { RRDY };
        if offset == CSR { self.control | ready } else { 0 }
    }

    fn interrupts(&self) -> u32 {
        u32::from(!self.results.is_empty() && self.control & IEN != 0)
    }

    fn reset(&mut self, _now: Cycles) {
        *self = Cordic::new();
    }

    fn dma_requests(&self) -> [bool; 2] {
        [
            !self.results.is_empty() && self.control & DMAREN != 0,
            self.arguments.len() < self.wanted() && self.control & DMAWEN != 0,
        ]
    }

    fn dma_registers(&self) -> [u32; 2] {
        [RDATA, WDATA]
    }

    fn beyond_model(&self) -> Option<&'static str> {
        (self.control & FUNCTION > 3).then_some("another function than sine, cosine, phase and modulus")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_all(cordic: &mut Cordic, registers: &[(u32, u32)]) {
        registers
            .iter()
            .for_each(|(offset, value)| cordic.write(*offset, *value, 0));
    }

    fn number(value: f64) -> u32 {
        (value * f64::from(1_u32 << 31)) as i32 as u32
    }

    #[track_caller]
    fn expect(cordic: &mut Cordic, value: f64) {
        let found = f64::from(cordic.read(RDATA, 0) as i32) / f64::from(1_u32 << 31);
        assert!((found - value).abs() < 0.5_f64.powi(19), "{found} {value}");
    }

    #[test]
    fn it_turns_vectors_to_angles_in_all_quadrants_and_back() {
        let mut cordic = Cordic::new();
        for angle in [-0.99, -0.7, -0.5, -0.2, 0.0, 0.1, 0.5, 0.8] {
            let (sin, cos) = (angle * PI).sin_cos();
            write_all(
                &mut cordic,
                &[
                    (CSR, 1 | 6 << 4 | NARGS | NRES),
                    (WDATA, number(angle)),
                    (WDATA, number(0.5)),
                ],
            );
            expect(&mut cordic, 0.5 * sin);
            assert_eq!(cordic.read(CSR, 0) & RRDY, RRDY, "a second result");
            expect(&mut cordic, 0.5 * cos);
            let back = [
                (CSR, 2 | 6 << 4 | NARGS | NRES),
                (WDATA, number(0.5 * cos)),
                (WDATA, number(0.5 * sin)),
            ];
            write_all(&mut cordic, &back);
            expect(&mut cordic, angle);
            expect(&mut cordic, 0.5);
        }
        cordic.write(CSR, 9, 0);
        assert!(cordic.beyond_model().is_some());
    }

    #[test]
    fn arguments_wait_until_results_are_taken() {
        let mut cordic = Cordic::new();
        write_all(
            &mut cordic,
            &[(CSR, 1 | 6 << 4 | DMAREN | DMAWEN), (WDATA, number(0.5))],
        );
        assert_eq!(cordic.dma_requests(), [true, true]);
        cordic.write(WDATA, number(-0.5), 0);
        assert_eq!(cordic.dma_requests(), [true, false], "one waits");
        expect(&mut cordic, 1.0);
        expect(&mut cordic, -1.0);
        assert_eq!(cordic.dma_requests(), [false, true]);
    }
}
