//! What differs between the RCCs of the families: RM0390 chapter 6 (F4), RM0351 chapter 6 (L4), RM0440 chapter 7 (G4), RM0433 chapter 8 (H7).

use super::super::hse::HSE_ON;

/// A family of chips with an RCC of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::chip) enum Family {
    F4,
    /// It has the oscillator MSI besides, which it begins with and which the crystal of the LSE keeps exact.
    L4,
    G4,
    /// The core runs with the system clock divided by D1CPRE, buses and flash with that divided by HPRE.
    H7,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Msi,
    Hsi,
    Csi,
    Hse,
    Pll,
}

pub(super) const PLL_ON: u32 = 1 << 24;
pub(super) const MSI_ON: u32 = 1;
pub(super) const MSI_TRIMMED: u32 = 1 << 2;
pub(super) const CSI_ON: u32 = 1 << 7;

/// Registers by their offsets, and bits in them. CR is at 0 everywhere, with HSE and PLL at the same bits.
pub(super) struct Layout {
    pub(super) cfgr: u32,
    pub(super) pllcfgr: u32,
    pub(super) bdcr: u32,
    pub(super) csr: u32,
    pub(super) last: u32,
    /// The resets of peripherals: the first register and the last one, and the enable register that belongs to the first.
    pub(super) resets: (u32, u32),
    pub(super) enables: u32,
    /// The register with the flags of resets, which of its bits these are, the bit that removes them, and those that come with a reset by power, pin,
    /// software and watchdog. Every reset pulls the reset pin, too.
    pub(super) flags: u32,
    pub(super) all_flags: u32,
    pub(super) remove_flags: u32,
    pub(super) causes: [u32; 4],
    pub(super) after_reset: &'static [(u32, u32)],
    pub(super) writable: u32,
    pub(super) always_ready: u32,
    /// Oscillators that are ready as soon as they are on, by their bits for both, and the bits of the PLLs that also need their source.
    pub(super) hsi: (u32, u32),
    pub(super) others: &'static [(u32, u32)],
    pub(super) plls: u32,
    /// The bit of PLLCFGR without which the PLL has no output.
    pub(super) pll_output: u32,
    /// What must not be changed while the PLL is on.
    pub(super) pll_fixed: &'static [(u32, u32)],
    pub(super) pll_changed: &'static str,
    /// What the PLL is fed by the values of its choice.
    pub(super) pll_inputs: [Option<Input>; 4],
    /// What the system clock is by the values of SW, the bits of SW, and where its status follows.
    pub(super) inputs: [Option<Input>; 4],
    pub(super) switch: u32,
    pub(super) status_shift: u32,
    /// The bits that keep the clock on which the system runs: the hardware does not let it be switched off.
    pub(super) kept_on: [u32; 4],
    /// RTCPRE in CFGR: its place and its mask.
    pub(super) rtcpre: Option<(u32, u32)>,
    /// The enable registers, by the names of their buses.
    pub(super) buses: &'static [(&'static str, u32)],
    /// Where CFGR divides the slow and the fast peripheral bus.
    pub(super) prescalers: (u32, u32),
}

const F4: Layout = Layout {
    cfgr: 0x08,
    pllcfgr: 0x04,
    bdcr: 0x70,
    csr: 0x74,
    last: 0x94,
    resets: (0x10, 0x2c),
    enables: 0x30,
    flags: 0x74,
    all_flags: 0xfe00_0000,
    remove_flags: 1 << 24,
    causes: [0b111 << 25, 1 << 26, 1 << 26 | 1 << 28, 1 << 26 | 1 << 29],
    after_reset: &[(0x00, 0x83), (0x04, 0x2400_3010)],
    writable: 0x150d_00f9,
    always_ready: 0,
    hsi: (1, 1 << 1),
    // PLLI2S and PLLSAI.
    others: &[(1 << 26, 1 << 27), (1 << 28, 1 << 29)],
    plls: PLL_ON,
    pll_output: 0,
    pll_fixed: &[(0x04, u32::MAX)],
    pll_changed: "PLLCFGR is changed while the PLL is on",
    pll_inputs: [Some(Input::Hsi), Some(Input::Hse), None, None],
    inputs: [Some(Input::Hsi), Some(Input::Hse), Some(Input::Pll), None],
    switch: 3,
    status_shift: 2,
    kept_on: [1, HSE_ON, PLL_ON, 0],
    rtcpre: Some((16, 0x1f)),
    buses: &[("AHB1", 0x30), ("AHB2", 0x34), ("APB1", 0x40), ("APB2", 0x44)],
    prescalers: (10, 13),
};

const L4: Layout = Layout {
    cfgr: 0x08,
    pllcfgr: 0x0c,
    bdcr: 0x90,
    csr: 0x94,
    last: 0x9c,
    resets: (0x28, 0x40),
    enables: 0x48,
    flags: 0x94,
    all_flags: 0xff00_0000,
    remove_flags: 1 << 23,
    causes: [0b11 << 26, 1 << 26, 1 << 26 | 1 << 28, 1 << 26 | 1 << 29],
    after_reset: &[(0x00, 0x63), (0x0c, 0x1000), (0x48, 0x100), (0x94, 0x600)],
    writable: 0x150d_0bfd,
    always_ready: 0,
    hsi: (1 << 8, 1 << 10),
    others: &[(MSI_ON, MSI_ON << 1)],
    // With PLLSAI1 and PLLSAI2.
    plls: PLL_ON | 1 << 26 | 1 << 28,
    // PLLREN.
    pll_output: 1 << 24,
    pll_fixed: &[(0x0c, 0x7ff3)],
    pll_changed: "PLLCFGR is changed while the PLL is on",
    pll_inputs: [None, Some(Input::Msi), Some(Input::Hsi), Some(Input::Hse)],
    inputs: [Some(Input::Msi), Some(Input::Hsi), Some(Input::Hse), Some(Input::Pll)],
    switch: 3,
    status_shift: 2,
    kept_on: [MSI_ON, 1 << 8, HSE_ON, PLL_ON],
    // The HSE is divided by 32.
    rtcpre: None,
    buses: &[
        ("AHB1", 0x48),
        ("AHB2", 0x4c),
        ("APB1", 0x58),
        ("APB1_2", 0x5c),
        ("APB2", 0x60),
    ],
    prescalers: (8, 11),
};

const G4: Layout = Layout {
    // Of APB1 it is RTCAPBEN.
    after_reset: &[(0x00, 0x500), (0x08, 0x5), (0x0c, 0x1000), (0x48, 0x100), (0x58, 0x400)],
    writable: 0x010d_0300,
    others: &[],
    pll_inputs: [None, None, Some(Input::Hsi), Some(Input::Hse)],
    inputs: [None, Some(Input::Hsi), Some(Input::Hse), Some(Input::Pll)],
    kept_on: [0, 1 << 8, HSE_ON, PLL_ON],
    ..L4
};

const H7: Layout = Layout {
    cfgr: 0x10,
    pllcfgr: 0x2c,
    bdcr: 0x70,
    csr: 0x74,
    last: 0x11c,
    resets: (0x7c, 0x9c),
    enables: 0xd4,
    flags: 0xd0,
    all_flags: 0x57fe_0000,
    remove_flags: 1 << 16,
    // CPU, D1 and D2 are reset by every reset.
    causes: [0x00fa_0000, 0x005a_0000, 0x015a_0000, 0x045a_0000],
    after_reset: &[
        // D1CKRDY and D2CKRDY besides the HSI.
        (0x00, 0xc025),
        (0x28, 0x0202_0200),
        (0x2c, 0x01ff_0000),
        (0x30, 0x0101_0280),
        (0x38, 0x0101_0280),
        (0x40, 0x0101_0280),
        // RTCAPBEN.
        (0xf4, 1 << 16),
    ],
    writable: 0x150d_129b,
    // HSIDIVF, D1CKRDY and D2CKRDY.
    always_ready: 0xc020,
    hsi: (1, 1 << 2),
    // CSI and HSI48.
    others: &[(CSI_ON, CSI_ON << 1), (1 << 12, 1 << 13)],
    plls: PLL_ON | 1 << 26 | 1 << 28,
    // DIVP1EN.
    pll_output: 1 << 16,
    // Of PLLCFGR only the fraction and the outputs may change.
    pll_fixed: &[(0x2c, 0xe), (0x30, u32::MAX)],
    pll_changed: "PLL1 is changed while it is on",
    pll_inputs: [Some(Input::Hsi), Some(Input::Csi), Some(Input::Hse), None],
    inputs: [Some(Input::Hsi), Some(Input::Csi), Some(Input::Hse), Some(Input::Pll)],
    switch: 7,
    status_shift: 3,
    kept_on: [1, CSI_ON, HSE_ON, PLL_ON],
    rtcpre: Some((8, 0x3f)),
    buses: &[
        ("AHB1", 0xd8),
        ("AHB2", 0xdc),
        ("AHB4", 0xe0),
        ("APB3", 0xe4),
        ("APB1", 0xe8),
        ("APB1_2", 0xec),
        ("APB2", 0xf0),
        ("APB4", 0xf4),
    ],
    // In D2CFGR.
    prescalers: (4, 8),
};

impl Family {
    pub(in crate::chip) const NAMED: [(&'static str, Family); 4] = [
        ("F4", Family::F4),
        ("L4", Family::L4),
        ("G4", Family::G4),
        ("H7", Family::H7),
    ];

    /// The enable register of a bus.
    pub(in crate::chip) fn enable_register(self, bus: &str) -> Option<u32> {
        let mut buses = self.layout().buses.iter();
        buses.find(|(name, _)| *name == bus).map(|(_, register)| *register)
    }

    pub(super) fn layout(self) -> &'static Layout {
        match self {
            Family::F4 => &F4,
            Family::L4 => &L4,
            Family::G4 => &G4,
            Family::H7 => &H7,
        }
    }
}
