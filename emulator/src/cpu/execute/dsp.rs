use crate::cpu::arithmetic::{saturate, shift_with_carry};
use crate::cpu::instruction::{Dsp, LaneResult, Lanes, LongProduct, Product, Shift};
use crate::cpu::{Bus, Cpu};

/// The signed halfword in the lower or upper half.
fn half(value: u32, top: bool) -> i64 {
    i64::from((if top { value >> 16 } else { value }) as i16)
}

/// The sum or difference of the products of both halves.
fn dual_product(n: u32, m: u32, exchange: bool, subtract: bool) -> i64 {
    let m = if exchange { m.rotate_left(16) } else { m };
    let (low, high) = (half(n, false) * half(m, false), half(n, true) * half(m, true));
    if subtract { low - high } else { low + high }
}

impl<B: Bus> Cpu<B> {
    pub(super) fn execute_dsp(&mut self, op: &Dsp) {
        match *op {
            Dsp::Parallel {
                lanes,
                result,
                signed,
                rd,
                rn,
                rm,
            } => self.parallel(lanes, result, signed, rd, rn, rm),
            Dsp::SaturatingAdd {
                double,
                subtract,
                rd,
                rn,
                rm,
            } => {
                let (m, n) = (i64::from(self.r(rm) as i32), i64::from(self.r(rn) as i32));
                let n = if double {
                    self.saturate_word(2 * n) as i32 as i64
                } else {
                    n
                };
                let value = self.saturate_word(if subtract { m - n } else { m + n });
                self.set_r(rd, value);
            }
            Dsp::Select { rd, rn, rm } => {
                let mask: u32 = (0..4)
                    .filter(|lane| self.ge >> lane & 1 != 0)
                    .map(|lane| 0xff << (8 * lane))
                    .sum();
                self.set_r(rd, self.r(rn) & mask | self.r(rm) & !mask);
            }
            Dsp::Pack {
                top,
                amount,
                rd,
                rn,
                rm,
            } => {
                let shift = if top { Shift::Asr } else { Shift::Lsl };
                let (m, _) = shift_with_carry(self.r(rm), shift, u32::from(amount), false);
                let n = self.r(rn);
                self.set_r(
                    rd,
                    if top {
                        n & 0xffff_0000 | m & 0xffff
                    } else {
                        m & 0xffff_0000 | n & 0xffff
                    },
                );
            }
            Dsp::MultiplyHalves { n_top, m_top, of } => {
                self.accumulate(of, half(self.r(of.rn), n_top) * half(self.r(of.rm), m_top));
            }
            Dsp::MultiplyWordHalf { m_top, of } => {
                let product = i64::from(self.r(of.rn) as i32) * half(self.r(of.rm), m_top);
                self.accumulate(of, product >> 16);
            }
            Dsp::MultiplyPair { subtract, exchange, of } => {
                self.accumulate(of, dual_product(self.r(of.rn), self.r(of.rm), exchange, subtract));
            }
            Dsp::MultiplyTop { subtract, round, of } => {
                let product = i64::from(self.r(of.rn) as i32) * i64::from(self.r(of.rm) as i32);
                let addend = self.addend(of) << 32;
                let sum = if subtract {
                    addend.wrapping_sub(product)
                } else {
                    addend.wrapping_add(product)
                };
                let sum = if round { sum.wrapping_add(0x8000_0000) } else { sum };
                self.set_r(of.rd, (sum >> 32) as u32);
            }
            Dsp::SumOfDifferences { of } => {
                let (n, m) = (self.r(of.rn).to_le_bytes(), self.r(of.rm).to_le_bytes());
                let sum: u32 = n.iter().zip(m).map(|(n, m)| u32::from(n.abs_diff(m))).sum();
                self.set_r(of.rd, sum.wrapping_add(self.addend(of) as u32));
            }
            Dsp::LongHalves { n_top, m_top, of } => {
                self.accumulate_long(of, half(self.r(of.rn), n_top) * half(self.r(of.rm), m_top));
            }
            Dsp::LongPair { subtract, exchange, of } => {
                self.accumulate_long(of, dual_product(self.r(of.rn), self.r(of.rm), exchange, subtract));
            }
            Dsp::LongDoubleAccumulate { of } => {
                let product = u64::from(self.r(of.rn)) * u64::from(self.r(of.rm));
                let sum = product + u64::from(self.r(of.lo)) + u64::from(self.r(of.hi));
                self.set_pair(of, sum);
            }
        }
    }

    /// Register 15 as an addend means zero.
    fn addend(&self, of: Product) -> i64 {
        if of.ra == 15 {
            0
        } else {
            i64::from(self.r(of.ra) as i32)
        }
    }

    /// Adds to a product; an overflow of the sum is remembered in Q but not saturated.
    fn accumulate(&mut self, of: Product, product: i64) {
        let sum = product + self.addend(of);
        self.q |= i64::from(sum as i32) != sum;
        self.set_r(of.rd, sum as u32);
    }

    fn accumulate_long(&mut self, of: LongProduct, product: i64) {
        let sum = self.pair(of).wrapping_add(product as u64);
        self.set_pair(of, sum);
    }

    fn saturate_word(&mut self, value: i64) -> u32 {
        let (value, saturated) = saturate(value, 32, true);
        self.q |= saturated;
        value
    }

    fn parallel(&mut self, lanes: Lanes, result: LaneResult, signed: bool, rd: u8, rn: u8, rm: u8) {
        let (n, m) = (self.r(rn), self.r(rm));
        let bits: u32 = if matches!(lanes, Lanes::Add8 | Lanes::Sub8) {
            8
        } else {
            16
        };
        let mask = (1u32 << bits) - 1;
        let part = |word: u32, lane: u32| {
            let value = word >> (lane * bits) & mask;
            if signed {
                i64::from((value << (32 - bits)) as i32 >> (32 - bits))
            } else {
                i64::from(value)
            }
        };
        let (mut word, mut ge) = (0, 0);
        for lane in 0..32 / bits {
            let exchange = matches!(lanes, Lanes::AddSubExchange | Lanes::SubAddExchange);
            let (a, b) = (part(n, lane), part(m, if exchange { 1 - lane } else { lane }));
            let subtract = match lanes {
                Lanes::Add16 | Lanes::Add8 => false,
                Lanes::Sub16 | Lanes::Sub8 => true,
                Lanes::AddSubExchange => lane == 0,
                Lanes::SubAddExchange => lane == 1,
            };
            let value = if subtract { a - b } else { a + b };
            // Signed: the result is not negative. Unsigned: a sum carries, a difference does not borrow.
            let flag = if signed || subtract {
                value >= 0
            } else {
                value > i64::from(mask)
            };
            if flag {
                ge |= if bits == 8 { 1 << lane } else { 3 << (2 * lane) };
            }
            let value = match result {
                LaneResult::Wrap => value as u32,
                LaneResult::Saturate => saturate(value, bits, signed).0,
                LaneResult::Halve => (value >> 1) as u32,
            };
            word |= (value & mask) << (lane * bits);
        }
        if result == LaneResult::Wrap {
            self.ge = ge;
        }
        self.set_r(rd, word);
    }
}
