//! What differs between controllers with streams, RM0390 chapter 9 (F4) and RM0433 chapter 16 (H7), and with channels, RM0351 chapter 11 (L4) and
//! RM0440 chapter 12 (G4).

pub(in crate::chip) struct Layout {
    /// What the manual calls one of its eight, and the number of the first.
    pub(super) word: &'static str,
    pub(super) first: usize,
    /// Where their registers begin, how far they are from each other, and the names of these.
    pub(super) base: u32,
    pub(super) stride: u32,
    pub(super) names: &'static [&'static str],
    pub(super) clear: u32,
    /// The register in which all channels choose their requests.
    pub(super) selection: Option<u32>,
    /// Bits of the control register: all of them, and those that may change while it is on, which are EN and the interrupt enables.
    pub(super) writable: u32,
    pub(super) changeable: u32,
    pub(super) circular: u32,
    pub(super) double_buffer: u32,
    pub(super) second_buffer: u32,
    pub(super) peripheral_counts: u32,
    pub(super) memory_counts: u32,
    /// Where the size of an item stands.
    pub(super) size: u32,
    /// Which bits are the direction, and what they are from memory to a peripheral; a mask and a value for memory to memory.
    pub(super) direction: u32,
    pub(super) from_memory: u32,
    pub(super) copy: (u32, u32),
    /// The buffer that a stream of the H7 needs for a serial port: without it bytes get lost.
    pub(super) port_buffer: u32,
    /// Flags: half, complete, error, and the one that stands for all. The enables stand below them by some places.
    pub(super) half: u32,
    pub(super) complete: u32,
    pub(super) error: u32,
    pub(super) global: u32,
    pub(super) above_enables: u32,
    /// Where the flags of each stand in the status.
    pub(super) shifts: [u32; 8],
    /// Flags with which it cannot be switched on.
    pub(super) blocking: u32,
    /// It switches itself off at its end, and being switched off is reported like an end.
    pub(super) ends: bool,
    /// The first controller copies memory to memory as the second does.
    pub(super) first_copies: bool,
}

pub(in crate::chip) const STREAMS_F4: Layout = Layout {
    word: "stream",
    first: 0,
    base: 0x10,
    stride: 0x18,
    names: &["CR", "NDTR", "PAR", "M0AR", "M1AR", "FCR"],
    clear: 0x08,
    selection: None,
    writable: 0x0fff_ffff,
    changeable: 0x1f,
    circular: 1 << 8,
    double_buffer: 1 << 18,
    second_buffer: 1 << 19,
    peripheral_counts: 1 << 9,
    memory_counts: 1 << 10,
    // At the peripheral, which is that in memory without the FIFO.
    size: 11,
    direction: 3 << 6,
    from_memory: 1 << 6,
    copy: (3 << 6, 2 << 6),
    port_buffer: 0,
    half: 1 << 4,
    complete: 1 << 5,
    error: 1 << 3,
    global: 0,
    above_enables: 1,
    shifts: [0, 6, 16, 22, 32, 38, 48, 54],
    blocking: 0x3d,
    ends: true,
    first_copies: false,
};

pub(in crate::chip) const STREAMS_H7: Layout = Layout {
    // TRBUFF.
    port_buffer: 1 << 20,
    first_copies: true,
    ..STREAMS_F4
};

pub(in crate::chip) const CHANNELS_L4: Layout = Layout {
    word: "channel",
    first: 1,
    base: 0x08,
    stride: 0x14,
    names: &["CCR", "CNDTR", "CPAR", "CMAR"],
    clear: 0x04,
    selection: Some(0xa8),
    writable: 0x7fff,
    changeable: 0xf,
    circular: 1 << 5,
    double_buffer: 0,
    second_buffer: 0,
    peripheral_counts: 1 << 6,
    memory_counts: 1 << 7,
    size: 10,
    direction: 1 << 4 | 1 << 14,
    from_memory: 1 << 4,
    copy: (1 << 14, 1 << 14),
    port_buffer: 0,
    half: 1 << 2,
    complete: 1 << 1,
    error: 1 << 3,
    global: 1,
    above_enables: 0,
    shifts: [0, 4, 8, 12, 16, 20, 24, 28],
    blocking: 1 << 3,
    ends: false,
    first_copies: true,
};

pub(in crate::chip) const CHANNELS_G4: Layout = Layout {
    selection: None,
    ..CHANNELS_L4
};
