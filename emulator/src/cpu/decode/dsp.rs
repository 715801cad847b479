//! Multiplication, division and the DSP extension: manual sections A5.3.11 (PKH) and A5.3.13 to A5.3.17.

use super::{Fields, Row, encodings};
use crate::cpu::instruction::{Dsp, LaneResult, Lanes, LongProduct, Op, Product, SetFlags};

pub(super) const ROWS: &[Row] = encodings! { f:
    "1110101 0110 0 nnnn 0 iii dddd ii t 0 mmmm", "PKHBT, PKHTB" => {
        let amount = match (f.is_set('t'), f.small('i')) {
            (true, 0) => 32,
            (_, amount) => amount,
        };
        let (top, [rd, rn, rm]) = (f.is_set('t'), f.dnm());
        Op::Dsp(Dsp::Pack { top, amount, rd, rn, rm })
    };
    // A5.3.13 and A5.3.14: parallel addition and subtraction; `o` the lanes, `g` unsigned, `h` what becomes of overflow.
    "11111010 1 ooo nnnn 1111 dddd 0 g hh mmmm", "parallel addition and subtraction" => parallel(f);
    // A5.3.15: miscellaneous.
    "11111010 1000 nnnn 1111 dddd 10 s o mmmm", "QADD, QDADD, QSUB, QDSUB" => {
        let (double, subtract, [rd, rn, rm]) = (f.is_set('o'), f.is_set('s'), f.dnm());
        Op::Dsp(Dsp::SaturatingAdd { double, subtract, rd, rn, rm })
    };
    "11111010 1010 nnnn 1111 dddd 1000 mmmm", "SEL" => {
        let [rd, rn, rm] = f.dnm();
        Op::Dsp(Dsp::Select { rd, rn, rm })
    };
    // A5.3.16: 32-bit results. An Ra of 15 means that nothing is added.
    "11111011 0000 nnnn 1111 dddd 0000 mmmm", "MUL T2" => {
        let (set, [rd, rn, rm]) = (SetFlags::No, f.dnm());
        Op::Multiply { set, rd, rn, rm }
    };
    "11111011 0000 nnnn aaaa dddd 000 s mmmm", "MLA, MLS" => Op::MultiplyAdd { subtract: f.is_set('s'), of: product(f) };
    "11111011 0001 nnnn aaaa dddd 00 p q mmmm", "SMLABB and others, SMULBB and others" => Op::Dsp(Dsp::MultiplyHalves { n_top: f.is_set('p'), m_top: f.is_set('q'), of: product(f) });
    "11111011 0010 nnnn aaaa dddd 000 e mmmm", "SMLAD, SMUAD" => pair(f, false);
    "11111011 0011 nnnn aaaa dddd 000 q mmmm", "SMLAWB and others, SMULWB and others" => Op::Dsp(Dsp::MultiplyWordHalf { m_top: f.is_set('q'), of: product(f) });
    "11111011 0100 nnnn aaaa dddd 000 e mmmm", "SMLSD, SMUSD" => pair(f, true);
    "11111011 0101 nnnn aaaa dddd 000 r mmmm", "SMMLA, SMMUL" => top(f, false);
    "11111011 0110 nnnn aaaa dddd 000 r mmmm", "SMMLS" => top(f, true);
    "11111011 0111 nnnn aaaa dddd 0000 mmmm", "USAD8, USADA8" => Op::Dsp(Dsp::SumOfDifferences { of: product(f) });
    // A5.3.17: 64-bit results in RdHi (`h`) and RdLo (`l`), and division.
    "11111011 1000 nnnn llll hhhh 0000 mmmm", "SMULL" => long(f, true, false);
    "11111011 1001 nnnn 1111 hhhh 1111 mmmm", "SDIV" => divide(f, true);
    "11111011 1010 nnnn llll hhhh 0000 mmmm", "UMULL" => long(f, false, false);
    "11111011 1011 nnnn 1111 hhhh 1111 mmmm", "UDIV" => divide(f, false);
    "11111011 1100 nnnn llll hhhh 0000 mmmm", "SMLAL" => long(f, true, true);
    "11111011 1100 nnnn llll hhhh 10 p q mmmm", "SMLALBB and others" => Op::Dsp(Dsp::LongHalves { n_top: f.is_set('p'), m_top: f.is_set('q'), of: long_product(f) });
    "11111011 1100 nnnn llll hhhh 110 e mmmm", "SMLALD" => long_pair(f, false);
    "11111011 1101 nnnn llll hhhh 110 e mmmm", "SMLSLD" => long_pair(f, true);
    "11111011 1110 nnnn llll hhhh 0000 mmmm", "UMLAL" => long(f, false, true);
    "11111011 1110 nnnn llll hhhh 0110 mmmm", "UMAAL" => Op::Dsp(Dsp::LongDoubleAccumulate { of: long_product(f) });
};

fn parallel(f: &Fields) -> Op {
    let lanes = match f.number('o') {
        0b001 => Lanes::Add16,
        0b010 => Lanes::AddSubExchange,
        0b110 => Lanes::SubAddExchange,
        0b101 => Lanes::Sub16,
        0b000 => Lanes::Add8,
        0b100 => Lanes::Sub8,
        _ => return Op::Undefined,
    };
    let result = match f.number('h') {
        0 => LaneResult::Wrap,
        1 => LaneResult::Saturate,
        2 => LaneResult::Halve,
        _ => return Op::Undefined,
    };
    let (signed, [rd, rn, rm]) = (!f.is_set('g'), f.dnm());
    Op::Dsp(Dsp::Parallel {
        lanes,
        result,
        signed,
        rd,
        rn,
        rm,
    })
}

fn product(f: &Fields) -> Product {
    let ([rd, rn, rm], ra) = (f.dnm(), f.small('a'));
    Product { rd, rn, rm, ra }
}

fn long_product(f: &Fields) -> LongProduct {
    let (lo, hi, [_, rn, rm]) = (f.small('l'), f.small('h'), f.dnm());
    LongProduct { lo, hi, rn, rm }
}

fn pair(f: &Fields, subtract: bool) -> Op {
    let (exchange, of) = (f.is_set('e'), product(f));
    Op::Dsp(Dsp::MultiplyPair { subtract, exchange, of })
}

fn top(f: &Fields, subtract: bool) -> Op {
    let (round, of) = (f.is_set('r'), product(f));
    Op::Dsp(Dsp::MultiplyTop { subtract, round, of })
}

fn long(f: &Fields, signed: bool, accumulate: bool) -> Op {
    let of = long_product(f);
    Op::MultiplyLong { signed, accumulate, of }
}

fn long_pair(f: &Fields, subtract: bool) -> Op {
    let (exchange, of) = (f.is_set('e'), long_product(f));
    Op::Dsp(Dsp::LongPair { subtract, exchange, of })
}

fn divide(f: &Fields, signed: bool) -> Op {
    let (rd, [_, rn, rm]) = (f.small('h'), f.dnm());
    Op::Divide { signed, rd, rn, rm }
}
