//! The operations of the DSP extension.

/// How the lanes of a parallel addition or subtraction are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// ADD16.
    Add16,
    /// ASX: exchange, subtract low, add high.
    AddSubExchange,
    /// SAX: exchange, add low, subtract high.
    SubAddExchange,
    /// SUB16.
    Sub16,
    /// ADD8.
    Add8,
    /// SUB8.
    Sub8,
}

/// What a parallel addition or subtraction does with a lane that overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneResult {
    /// Wraps and sets the GE flags.
    Wrap,
    /// Saturates.
    Saturate,
    /// Is halved, so nothing is lost.
    Halve,
}

/// The DSP extension. Register fields are named as in the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Dsp {
    /// SADD16, UQSUB8 and their thirty-four relatives.
    Parallel {
        lanes: Lanes,
        result: LaneResult,
        signed: bool,
        rd: u8,
        rn: u8,
        rm: u8,
    },
    /// QADD, QSUB, QDADD, QDSUB.
    SaturatingAdd {
        double: bool,
        subtract: bool,
        rd: u8,
        rn: u8,
        rm: u8,
    },
    /// SEL: bytes chosen by the GE flags.
    Select { rd: u8, rn: u8, rm: u8 },
    /// PKHBT and PKHTB.
    Pack {
        top: bool,
        amount: u8,
        rd: u8,
        rn: u8,
        rm: u8,
    },
    /// SMLA and SMUL of halfwords; `ra` 15 means no addend.
    MultiplyHalves {
        n_top: bool,
        m_top: bool,
        rd: u8,
        rn: u8,
        rm: u8,
        ra: u8,
    },
    /// SMLAW and SMULW: word by halfword, upper 32 bits.
    MultiplyWordHalf {
        m_top: bool,
        rd: u8,
        rn: u8,
        rm: u8,
        ra: u8,
    },
    /// SMLAD, SMLSD, SMUAD, SMUSD.
    MultiplyPair {
        subtract: bool,
        exchange: bool,
        rd: u8,
        rn: u8,
        rm: u8,
        ra: u8,
    },
    /// SMMLA, SMMLS, SMMUL: most significant word.
    MultiplyTop {
        subtract: bool,
        round: bool,
        rd: u8,
        rn: u8,
        rm: u8,
        ra: u8,
    },
    /// USAD8 and USADA8.
    SumOfDifferences { rd: u8, rn: u8, rm: u8, ra: u8 },
    /// SMLAL of halfwords.
    LongHalves {
        n_top: bool,
        m_top: bool,
        lo: u8,
        hi: u8,
        rn: u8,
        rm: u8,
    },
    /// SMLALD and SMLSLD.
    LongPair {
        subtract: bool,
        exchange: bool,
        lo: u8,
        hi: u8,
        rn: u8,
        rm: u8,
    },
    /// UMAAL.
    LongDoubleAccumulate { lo: u8, hi: u8, rn: u8, rm: u8 },
}
