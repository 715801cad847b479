//! Single-precision arithmetic as the FPv4-SP does it: its NaNs, rounding modes, flush-to-zero and exception flags.
//! Manual section A2.5.
//!
//! The host computes the result rounded to nearest. How far that is from the exact result, the *residual*, comes out of
//! double precision, where products of single-precision numbers are exact and sums have an error that can be computed
//! (Knuth's two-sum). Its sign is all that the other rounding modes and the inexact flag need.

const IOC: u32 = 1;
const DZC: u32 = 1 << 1;
const OFC: u32 = 1 << 2;
const UFC: u32 = 1 << 3;
const IXC: u32 = 1 << 4;
const IDC: u32 = 1 << 7;
const DEFAULT_NAN: u32 = 0x7fc0_0000;
const QUIET: u32 = 0x0040_0000;
const SIGN: u32 = 0x8000_0000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Nearest,
    Up,
    Down,
    Zero,
}

/// The modes of an operation and the exceptions it raises.
pub(super) struct Status {
    mode: Mode,
    flush_to_zero: bool,
    default_nan: bool,
    alternative_half: bool,
    /// Bits to be set in FPSCR.
    pub(super) raised: u32,
}

impl Status {
    pub(super) fn new(fpscr: u32) -> Self {
        Status {
            mode: [Mode::Nearest, Mode::Up, Mode::Down, Mode::Zero][(fpscr >> 22 & 3) as usize],
            flush_to_zero: fpscr >> 24 & 1 != 0,
            default_nan: fpscr >> 25 & 1 != 0,
            alternative_half: fpscr >> 26 & 1 != 0,
            raised: 0,
        }
    }

    fn invalid(&mut self) -> u32 {
        self.raised |= IOC;
        DEFAULT_NAN
    }

    /// An operand, which may have to be flushed to zero.
    fn operand(&mut self, bits: u32) -> u32 {
        if self.flush_to_zero && is_subnormal(bits) {
            self.raised |= IDC;
            return bits & SIGN;
        }
        bits
    }

    /// The NaN that comes of operands of which at least one is a NaN: the first signaling one, else the first.
    fn nan(&mut self, operands: &[u32]) -> Option<u32> {
        let signaling = operands.iter().copied().find(|bits| is_signalling(*bits));
        if signaling.is_some() {
            self.raised |= IOC;
        }
        let chosen = signaling.or_else(|| operands.iter().copied().find(|bits| is_nan(*bits)))?;
        Some(if self.default_nan { DEFAULT_NAN } else { chosen | QUIET })
    }

    /// Rounds: `nearest` is the exact result rounded to nearest, `residual` what must be added to it to be exact.
    fn round(&mut self, nearest: f32, residual: f64) -> u32 {
        if residual == 0.0 || residual.is_nan() {
            return self.flush_result(nearest, f64::from(nearest));
        }
        // What is tiny is decided on the exact result, which may lie just below the smallest normal number.
        let rounded_away = (residual < 0.0) == nearest.is_sign_positive();
        let tiny = nearest.abs() < f32::MIN_POSITIVE || nearest.abs() == f32::MIN_POSITIVE && rounded_away;
        if tiny && self.flush_to_zero {
            self.raised |= UFC;
            return nearest.to_bits() & SIGN;
        }
        self.raised |= IXC | if tiny { UFC } else { 0 };
        if nearest.is_infinite() {
            self.raised |= OFC;
        }
        let rounded = match self.mode {
            Mode::Up if residual > 0.0 => nearest.next_up(),
            Mode::Down if residual < 0.0 => nearest.next_down(),
            Mode::Zero if residual > 0.0 && nearest.is_sign_negative() => nearest.next_up(),
            Mode::Zero if residual < 0.0 && nearest.is_sign_positive() => nearest.next_down(),
            _ => nearest,
        };
        if rounded.is_infinite() {
            self.raised |= OFC;
        }
        rounded.to_bits()
    }

    fn flush_result(&mut self, result: f32, exact: f64) -> u32 {
        if self.flush_to_zero && exact != 0.0 && exact.abs() < f64::from(f32::MIN_POSITIVE) {
            self.raised |= UFC;
            return result.to_bits() & SIGN;
        }
        result.to_bits()
    }

    fn zero_of_difference(&self) -> u32 {
        if self.mode == Mode::Down { SIGN } else { 0 }
    }
}

fn is_nan(bits: u32) -> bool {
    bits & !SIGN > 0x7f80_0000
}

fn is_signalling(bits: u32) -> bool {
    is_nan(bits) && bits & QUIET == 0
}

fn is_subnormal(bits: u32) -> bool {
    bits & 0x7f80_0000 == 0 && bits & 0x007f_ffff != 0
}

/// The error of the sum of two numbers in double precision.
fn sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let from_b = sum - a;
    (a - (sum - from_b)) + (b - from_b)
}

/// An operation on two numbers: what it gives, and how that is rounded if both are finite and it gives a number.
fn binary(
    (a, b): (u32, u32),
    status: &mut Status,
    operation: impl Fn(f32, f32) -> f32,
    round: impl Fn(&mut Status, f32, f32, f32) -> u32,
) -> u32 {
    let (a, b) = (status.operand(a), status.operand(b));
    if let Some(nan) = status.nan(&[a, b]) {
        return nan;
    }
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    match operation(x, y) {
        nearest if nearest.is_nan() => status.invalid(),
        nearest if x.is_infinite() || y.is_infinite() => nearest.to_bits(),
        nearest => round(status, x, y, nearest),
    }
}

pub(super) fn add(a: u32, b: u32, status: &mut Status) -> u32 {
    binary((a, b), status, std::ops::Add::add, |status, x, y, nearest| {
        if nearest == 0.0 && x.is_sign_negative() != y.is_sign_negative() {
            return status.zero_of_difference();
        }
        let (x, y) = (f64::from(x), f64::from(y));
        let sum = x + y;
        status.round(nearest, (sum - f64::from(nearest)) + sum_error(x, y, sum))
    })
}

pub(super) fn subtract(a: u32, b: u32, status: &mut Status) -> u32 {
    // The sign of a NaN is not changed by a subtraction.
    add(a, if is_nan(b) { b } else { b ^ SIGN }, status)
}

pub(super) fn multiply(a: u32, b: u32, status: &mut Status) -> u32 {
    binary((a, b), status, std::ops::Mul::mul, |status, x, y, nearest| {
        status.round(nearest, f64::from(x) * f64::from(y) - f64::from(nearest))
    })
}

pub(super) fn divide(a: u32, b: u32, status: &mut Status) -> u32 {
    binary((a, b), status, std::ops::Div::div, |status, x, y, nearest| {
        if y == 0.0 {
            status.raised |= DZC;
            return nearest.to_bits();
        }
        // x - nearest * y has the sign of the residual times the sign of y; it is exact.
        let remainder = f64::from(x) - f64::from(nearest) * f64::from(y);
        status.round(nearest, remainder / f64::from(y))
    })
}

pub(super) fn square_root(a: u32, status: &mut Status) -> u32 {
    let a = status.operand(a);
    if let Some(nan) = status.nan(&[a]) {
        return nan;
    }
    let x = f32::from_bits(a);
    if x < 0.0 {
        return status.invalid();
    }
    let nearest = x.sqrt();
    if x == 0.0 || x.is_infinite() {
        return nearest.to_bits();
    }
    let root = f64::from(nearest);
    status.round(nearest, (f64::from(x) - root * root) / (2.0 * root))
}

pub(super) fn fused_multiply_add(addend: u32, a: u32, b: u32, status: &mut Status) -> u32 {
    let (addend, a, b) = (status.operand(addend), status.operand(a), status.operand(b));
    let (c, x, y) = (f32::from_bits(addend), f32::from_bits(a), f32::from_bits(b));
    let infinity_times_zero = x.is_infinite() && y == 0.0 || x == 0.0 && y.is_infinite();
    if let Some(nan) = status.nan(&[addend, a, b]) {
        // A quiet NaN as the addend does not hide an invalid product.
        return if infinity_times_zero && !is_signalling(addend) {
            status.invalid()
        } else {
            nan
        };
    }
    let nearest = x.mul_add(y, c);
    if nearest.is_nan() {
        return status.invalid();
    }
    if x.is_infinite() || y.is_infinite() || c.is_infinite() {
        return nearest.to_bits();
    }
    let (product, c) = (f64::from(x) * f64::from(y), f64::from(c));
    let sum = product + c;
    let error = sum_error(product, c, sum);
    if sum == 0.0 && error == 0.0 && (product.is_sign_negative() != c.is_sign_negative()) {
        return status.zero_of_difference();
    }
    status.round(nearest, (sum - f64::from(nearest)) + error)
}

/// The condition flags N, Z, C and V of a comparison.
pub(super) fn compare(a: u32, b: u32, signal_quiet: bool, status: &mut Status) -> u32 {
    let (a, b) = (status.operand(a), status.operand(b));
    if is_nan(a) || is_nan(b) {
        if signal_quiet || is_signalling(a) || is_signalling(b) {
            status.raised |= IOC;
        }
        return 0b0011;
    }
    match f32::from_bits(a).partial_cmp(&f32::from_bits(b)) {
        Some(std::cmp::Ordering::Less) => 0b1000,
        Some(std::cmp::Ordering::Equal) => 0b0110,
        _ => 0b0010,
    }
}

/// Rounds a number that double precision holds exactly.
pub(super) fn from_exact(value: f64, status: &mut Status) -> u32 {
    let nearest = value as f32;
    status.round(nearest, value - f64::from(nearest))
}

/// The value of a fixed-point number with `fraction` bits behind the point.
pub(super) fn fixed_value(bits: u32, signed: bool, wide: bool, fraction: u8) -> f64 {
    let integer = match (signed, wide) {
        (true, true) => f64::from(bits as i32),
        (true, false) => f64::from(bits as i16),
        (false, true) => f64::from(bits),
        (false, false) => f64::from(bits as u16),
    };
    integer / (fraction as u32 as f64).exp2()
}

/// The conversion from fixed point rounds to nearest, whatever the mode.
pub(super) fn from_fixed(value: f64, status: &mut Status) -> u32 {
    status.mode = Mode::Nearest;
    from_exact(value, status)
}

/// Rounds to an integer and saturates it to the range.
fn saturate(value: f64, low: f64, high: f64, mode: Mode, status: &mut Status) -> f64 {
    let rounded = match mode {
        Mode::Nearest => value.round_ties_even(),
        Mode::Up => value.ceil(),
        Mode::Down => value.floor(),
        Mode::Zero => value.trunc(),
    };
    if rounded < low || rounded > high {
        status.raised |= IOC;
        return rounded.clamp(low, high);
    }
    if rounded != value {
        status.raised |= IXC;
    }
    rounded
}

pub(super) fn to_integer(bits: u32, signed: bool, toward_zero: bool, status: &mut Status) -> u32 {
    let mode = if toward_zero { Mode::Zero } else { status.mode };
    to_number(bits, 0, signed, true, mode, status)
}

pub(super) fn to_fixed(bits: u32, signed: bool, wide: bool, fraction: u8, status: &mut Status) -> u32 {
    to_number(bits, fraction, signed, wide, Mode::Zero, status)
}

fn to_number(bits: u32, fraction: u8, signed: bool, wide: bool, mode: Mode, status: &mut Status) -> u32 {
    let bits = status.operand(bits);
    if is_nan(bits) {
        status.raised |= IOC;
        return 0;
    }
    let value = f64::from(f32::from_bits(bits)) * f64::from(fraction).exp2();
    let size = if wide { 32 } else { 16 };
    let (low, high) = if signed {
        (-f64::from(size - 1).exp2(), f64::from(size - 1).exp2() - 1.0)
    } else {
        (0.0, f64::from(size).exp2() - 1.0)
    };
    saturate(value, low, high, mode, status) as i64 as u32
}

/// From half precision; a half with the highest exponent is a number in the alternative format.
pub(super) fn widen(half: u16, status: &mut Status) -> u32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, mantissa) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    match (exponent, mantissa) {
        (0, mantissa) => sign | (mantissa as f32 / 16_777_216.0).to_bits(),
        (0x1f, 0) if !status.alternative_half => sign | 0x7f80_0000,
        (0x1f, mantissa) if !status.alternative_half => {
            let nan = sign | 0x7f80_0000 | mantissa << 13;
            status.nan(&[nan]).unwrap_or(nan)
        }
        (exponent, mantissa) => sign | (exponent + 112) << 23 | mantissa << 13,
    }
}

pub(super) fn narrow(bits: u32, status: &mut Status) -> u16 {
    let bits = status.operand(bits);
    let sign = (bits >> 16 & 0x8000) as u16;
    if is_nan(bits) {
        return narrow_nan(bits, sign, status);
    }
    let magnitude = f64::from(f32::from_bits(bits & !SIGN));
    let most = if status.alternative_half { 131_008.0 } else { 65_504.0 };
    if magnitude.is_infinite() {
        return if status.alternative_half {
            status.raised |= IOC;
            sign | 0x7fff
        } else {
            sign | 0x7c00
        };
    }
    // The smallest step at this magnitude: 2^-24 for subnormal halves.
    let exponent = ((bits >> 23 & 0xff) as i32 - 127).max(-14);
    let unit = f64::from(exponent - 10).exp2();
    let scaled = magnitude / unit;
    let rounded = match (status.mode, sign != 0) {
        (Mode::Nearest, _) => scaled.round_ties_even(),
        (Mode::Up, false) | (Mode::Down, true) => scaled.ceil(),
        _ => scaled.floor(),
    };
    if rounded * unit > most {
        return narrow_overflow(sign, status);
    }
    if rounded != scaled {
        status.raised |= IXC | if magnitude < f64::from(-14i32).exp2() { UFC } else { 0 };
    }
    // The hidden bit of a normal number carries into the exponent.
    let value = if rounded < 1024.0 {
        rounded as u16
    } else {
        rounded as u16 + ((exponent + 14) as u16 * 1024)
    };
    sign | value
}

fn narrow_nan(bits: u32, sign: u16, status: &mut Status) -> u16 {
    if status.alternative_half {
        status.raised |= IOC;
        return sign;
    }
    let nan = status.nan(&[bits]).unwrap_or(DEFAULT_NAN);
    (nan >> 16 & 0x8000) as u16 | 0x7e00 | (nan >> 13 & 0x1ff) as u16
}

fn narrow_overflow(sign: u16, status: &mut Status) -> u16 {
    if status.alternative_half {
        status.raised |= IOC;
        return sign | 0x7fff;
    }
    status.raised |= OFC | IXC;
    let away = match status.mode {
        Mode::Nearest => true,
        Mode::Up => sign == 0,
        Mode::Down => sign != 0,
        Mode::Zero => false,
    };
    sign | if away { 0x7c00 } else { 0x7bff }
}
