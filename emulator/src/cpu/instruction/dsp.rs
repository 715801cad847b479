/// How the lanes of a parallel addition or subtraction are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    Add16,
    /// ASX: exchange, subtract low, add high.
    AddSubExchange,
    /// SAX: exchange, add low, subtract high.
    SubAddExchange,
    Sub16,
    Add8,
    Sub8,
}

/// What a parallel addition or subtraction does with a lane that overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneResult {
    /// Wraps and sets the GE flags.
    Wrap,
    Saturate,
    /// Is halved, so nothing is lost.
    Halve,
}

/// The registers of a product, named as in the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    pub(crate) rd: u8,
    pub(crate) rn: u8,
    pub(crate) rm: u8,
    /// What is added; 15 means nothing.
    pub(crate) ra: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LongProduct {
    pub(crate) lo: u8,
    pub(crate) hi: u8,
    pub(crate) rn: u8,
    pub(crate) rm: u8,
}

/// The DSP extension. Register fields are named as in the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// One line an operation.
#[rustfmt::skip]
pub(crate) enum Dsp {
    /// SADD16, UQSUB8 and their thirty-four relatives.
    Parallel { lanes: Lanes, result: LaneResult, signed: bool, rd: u8, rn: u8, rm: u8 },
    /// QADD, QSUB, QDADD, QDSUB.
    SaturatingAdd { double: bool, subtract: bool, rd: u8, rn: u8, rm: u8 },
    /// SEL: bytes chosen by the GE flags.
    Select { rd: u8, rn: u8, rm: u8 },
    Pack { top: bool, amount: u8, rd: u8, rn: u8, rm: u8 },
    /// SMLA and SMUL of halfwords.
    MultiplyHalves { n_top: bool, m_top: bool, of: Product },
    /// SMLAW and SMULW: word by halfword, upper 32 bits.
    MultiplyWordHalf { m_top: bool, of: Product },
    /// SMLAD, SMLSD, SMUAD, SMUSD.
    MultiplyPair { subtract: bool, exchange: bool, of: Product },
    /// SMMLA, SMMLS, SMMUL: most significant word.
    MultiplyTop { subtract: bool, round: bool, of: Product },
    SumOfDifferences { of: Product },
    LongHalves { n_top: bool, m_top: bool, of: LongProduct },
    LongPair { subtract: bool, exchange: bool, of: LongProduct },
    LongDoubleAccumulate { of: LongProduct },
}
