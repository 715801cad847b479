//! What keeps a board from running: a power cut, and a debug probe that halts it.

// These two know each other: what a power cut does to a board is part of `Board`, and stands here so that a file has one concern.
use super::board::Board;
use crate::chip::ResetCause;
use crate::hash::mix;
use crate::time::{SECOND, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Supply {
    pub(super) is_on: bool,
    /// VC_CORERESET of DEMCR: the core halts before its first instruction. No reset clears it.
    pub(super) catches_resets: bool,
}

impl Default for Supply {
    fn default() -> Self {
        Supply {
            is_on: true,
            catches_resets: false,
        }
    }
}

/// What a board was at when its power failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerCut {
    /// The instruction that came next.
    pub pc: u32,
    /// The flash was erasing or programming something, which is torn.
    pub tore_flash: bool,
}

impl Board {
    /// The power fails. A word that is being programmed or a sector that is being erased is torn, and RAM holds anything when the power
    /// comes back, both by the seed. The lines that the board drives fall.
    pub fn cut_power(&mut self, seed: u64) {
        if !self.supply.is_on {
            return;
        }
        self.last_power_cut = Some(PowerCut {
            pc: self.cpu.r[15],
            tore_flash: self.is_flash_busy(),
        });
        self.cpu.tear_flash(seed);
        self.cpu.memory.scramble(mix(seed));
        self.stop(ResetCause::PowerOn);
        self.cpu.bus.lose_power(self.cpu.now);
        self.supply = Supply {
            is_on: false,
            catches_resets: false,
        };
    }

    /// The supply begins to fall from 3.3 V, to nothing within a time. The chip runs down to 1.7 V: whoever calls this then
    /// [cuts the power](Self::cut_power).
    pub fn let_supply_fall(&mut self, within: Time) {
        let cycles = u128::from(within) * u128::from(self.cpu.bus.clocks().hclk) / u128::from(SECOND);
        self.cpu.bus.let_supply_fall(self.cpu.now, cycles as u64);
    }

    /// The power comes back.
    pub fn restore_power(&mut self) {
        if self.supply.is_on {
            return;
        }
        self.supply.is_on = true;
        self.cpu.bus.regain_power(self.cpu.now);
        self.cpu.resume();
    }

    /// What it was at when the power last failed.
    pub fn last_power_cut(&self) -> Option<PowerCut> {
        self.last_power_cut
    }

    /// A byte of the flash keeps what it has, whatever is written there.
    pub fn wear_out_flash(&mut self, address: u32) {
        self.cpu.memory.wear_out(address);
    }

    /// Whether the flash erases or programs something, whether the core stands still for it or not.
    pub fn is_flash_busy(&self) -> bool {
        self.cpu.is_stalled() || self.cpu.bus.is_flash_busy(self.cpu.now)
    }

    /// Whether it has power.
    pub fn is_powered(&self) -> bool {
        self.supply.is_on
    }

    /// A debug probe halts the core at its next reset, or no longer does. A probe that goes without saying so leaves the core to halt
    /// at every reset until its power is cut.
    pub fn catch_resets(&mut self, catch: bool) {
        self.supply.catches_resets = catch;
    }

    /// A debug probe halts the core. The rest of the chip goes on.
    pub fn halt(&mut self) {
        self.cpu.halt();
    }

    /// And lets it go on.
    pub fn resume(&mut self) {
        if self.supply.is_on {
            self.cpu.resume();
        }
    }

    /// Whether the core does not run because of a debug probe or for lack of power.
    pub fn is_halted(&self) -> bool {
        self.cpu.is_halted()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::super::board::{BoardOptions, Intervention};
    use super::*;
    use crate::chip::UARTS;
    use crate::chip::rules::Rule;
    use crate::image::Image;
    use crate::time::MILLISECOND;
    use crate::world::World;

    const FLASH_KEYR: u32 = 0x4002_3c04;
    const FLASH_CR: u32 = 0x4002_3c10;
    /// PG, 32 bits at once.
    const PROGRAM: u32 = 0x201;
    /// SER and STRT of sector 5, 32 bits at once.
    const ERASE: u32 = 0x1_022a;
    /// In sector 5.
    const PLACE: u32 = 0x0802_0000;
    const WORD: u32 = 0x1234_5678;

    /// A branch to itself.
    fn board() -> Board {
        let mut flash = 0x2000_1000u32.to_le_bytes().to_vec();
        flash.extend(0x0800_0009u32.to_le_bytes());
        flash.extend([0xfe, 0xe7]);
        Board::new(&Arc::new(Image::from_bytes(flash)), BoardOptions::default())
    }

    fn write(board: &mut Board, registers: &[(u32, u32)]) {
        for (register, value) in registers {
            board.cpu.write_register(*register, *value).expect("a register");
        }
    }

    fn programming() -> Board {
        let mut board = board();
        let keys = [(FLASH_KEYR, 0x4567_0123), (FLASH_KEYR, 0xcdef_89ab)];
        write(&mut board, &keys);
        write(&mut board, &[(FLASH_CR, PROGRAM), (PLACE, WORD)]);
        board
    }

    fn word(board: &Board) -> u32 {
        let bytes = board.cpu.memory.bytes(PLACE, 4).expect("flash");
        bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
    }

    #[test]
    fn a_cut_tears_a_word_that_is_being_programmed_and_none_that_has_been() {
        let torn: BTreeSet<u32> = (0..50)
            .map(|seed| {
                let mut board = programming();
                assert!(board.is_flash_busy());
                board.cut_power(seed);
                word(&board)
            })
            .collect();
        assert!(torn.iter().all(|torn| torn & WORD == WORD), "{torn:x?}");
        assert!(torn.len() > 20, "{torn:x?}");
        let mut board = programming();
        board.run_until(MILLISECOND);
        board.cut_power(1);
        assert_eq!(word(&board), WORD);
    }

    /// The RAM of an H7 loses what was written last, unless that was written elsewhere.
    #[test]
    fn a_reset_loses_the_last_words_of_a_corrected_ram() {
        // ldr r4, =RAM; ldr r0, [r4]; ldr r1, [r4, #8]; movs r2, #85; str r2, [r4]; str r2, [r4, #4]; perhaps str r2, [r4, #8]; then
        // ldr r5, =AIRCR; ldr r6, =SYSRESETREQ; str r6, [r5]; b .
        let program = |other: u16, ram: u16| -> Arc<Image> {
            let code = [
                0x1000, ram, 0x0009, 0x0800, 0x4c05, 0x6820, 0x68a1, 0x2255, 0x6022, 0x6062, other, 0x4d03, 0x4e03,
                0x602e, 0xe7fe, 0xbf00, 0x0000, ram, 0xed0c, 0xe000, 0x0004, 0x05fa,
            ];
            let bytes = code.iter().flat_map(|half: &u16| half.to_le_bytes());
            Arc::new(Image::from_bytes(bytes.collect()))
        };
        for (name, ram, other, is_lost) in [
            ("nucleo-h743zi", 0x2400, 0xbf00, true),
            ("nucleo-h743zi", 0x2400, 0x60a2, false),
            ("nucleo-l476rg", 0x2000, 0xbf00, false),
        ] {
            let kind = crate::boards::find(name).expect("a board");
            let mut world = World::new(1);
            world.add(Board::new(&program(other, ram), BoardOptions::of(kind)));
            world.run_until(MILLISECOND);
            let board = &mut world.boards_mut()[0];
            board.stop(crate::chip::ResetCause::Pin);
            assert!(board.resets() > 1 && board.faults().is_empty(), "{name}");
            let found = board.cpu.memory.bytes(u32::from(ram) << 16, 8).expect("RAM");
            assert_eq!(
                found != [0x55, 0, 0, 0, 0x55, 0, 0, 0],
                is_lost,
                "{name} {other:#x} {found:x?}"
            );
        }
    }

    #[test]
    fn a_cut_tears_a_sector_that_is_being_erased() {
        let mut left = 0;
        for seed in 0..20 {
            let mut board = programming();
            board.run_until(MILLISECOND);
            write(&mut board, &[(FLASH_CR, ERASE)]);
            board.run_until(100 * MILLISECOND);
            assert!(board.is_flash_busy());
            board.cut_power(seed);
            let torn = word(&board);
            assert_eq!(torn & WORD, WORD);
            left += u32::from(torn != u32::MAX);
        }
        assert!((1..20).contains(&left), "{left}");
    }

    #[test]
    fn a_word_that_is_programmed_with_too_low_a_supply_is_not_what_was_written() {
        // x32 takes 2.7 V.
        for (within, is_whole) in [(1_000, true), (10, false)] {
            let mut board = board();
            write(
                &mut board,
                &[
                    (FLASH_KEYR, 0x4567_0123),
                    (FLASH_KEYR, 0xcdef_89ab),
                    (FLASH_CR, PROGRAM),
                ],
            );
            board.let_supply_fall(within * MILLISECOND);
            board.run_until(3 * MILLISECOND);
            write(&mut board, &[(PLACE, WORD)]);
            assert_eq!(word(&board) == WORD, is_whole, "{within}");
            let rules: Vec<Rule> = board.violations().iter().map(|violation| violation.rule).collect();
            assert_eq!(rules, if is_whole { vec![] } else { vec![Rule::Supply] });
        }
    }

    /// On every family of chips: the clock of the PWR, where its PVD is switched on at its highest level, and the bit that tells.
    #[test]
    fn the_detector_tells_when_the_supply_falls() {
        for (name, gate, control, on, status, bit) in [
            ("nucleo-f446re", 0x4002_3840, 0x4000_7000, 0xf0, 0x4000_7004, 2),
            ("nucleo-l476rg", 0x4002_1058, 0x4000_7004, 0xd, 0x4000_7014, 11),
            ("nucleo-g474re", 0x4002_1058, 0x4000_7004, 0xd, 0x4000_7014, 11),
            ("nucleo-h743zi", 0, 0x5802_4800, 0xd0, 0x5802_4804, 4),
        ] {
            let kind = crate::boards::find(name).expect("a board");
            let image = board().cpu.memory.image().clone();
            let mut board = Board::new(&image, BoardOptions::of(kind));
            if gate != 0 {
                write(&mut board, &[(gate, 1 << 28)]);
            }
            let is_low = |board: &mut Board| board.cpu.read_register(status).expect("a register") >> bit & 1 != 0;
            board.let_supply_fall(10 * MILLISECOND);
            board.run_until(2 * MILLISECOND);
            assert!(!is_low(&mut board), "{name}: it is off");
            write(&mut board, &[(control, on)]);
            assert!(is_low(&mut board), "{name}: 2.64 V");
            board.cut_power(1);
            board.restore_power();
            if gate != 0 {
                write(&mut board, &[(gate, 1 << 28)]);
            }
            write(&mut board, &[(control, on)]);
            assert!(!is_low(&mut board), "{name}: 3.3 V");
            assert_eq!(board.violations(), [], "{name}");
        }
    }

    #[test]
    fn nothing_runs_without_power_and_ram_holds_anything_afterward() {
        let mut board = board();
        board.run_until(MILLISECOND);
        let (ram, count) = (board.cpu.memory.sram.clone(), board.cpu.instructions);
        board.cut_power(5);
        board.run_until(5 * MILLISECOND);
        assert_eq!((board.cpu.instructions, board.is_powered()), (count, false));
        assert_ne!(board.cpu.memory.sram, ram);
        board.restore_power();
        board.run_until(6 * MILLISECOND);
        assert!(board.cpu.instructions > count);
    }

    #[test]
    fn a_probe_that_catches_resets_halts_the_core_until_power_is_cut() {
        let mut board = board();
        board.catch_resets(true);
        board.run_until(MILLISECOND);
        assert!(!board.is_halted());
        board.intervene(Intervention::Reset);
        let count = board.cpu.instructions;
        board.run_until(2 * MILLISECOND);
        assert_eq!((board.is_halted(), board.cpu.instructions), (true, count));
        board.resume();
        board.run_until(3 * MILLISECOND);
        assert!(board.cpu.instructions > count);
        board.cut_power(1);
        board.restore_power();
        board.intervene(Intervention::Reset);
        assert!(!board.is_halted());
    }

    #[test]
    fn a_receiver_must_not_be_pulled_down() {
        const GPIOA: u32 = 0x4002_0000;
        const USART1: u32 = 0x4001_1000;
        // PA10 in alternate function 7.
        let pins = [
            (0x4002_3830, 1),
            (0x4002_3844, 1 << 4),
            (GPIOA + 0x24, 0x700),
            (GPIOA, 0xa820_0000),
        ];
        let receive = [(USART1 + 8, 16), (USART1 + 0xc, 0x2004)];
        let floats = "floats: it has neither a cable nor a pull-up, and reads noise";
        for (pull, wired, expected) in [
            (1 << 20, false, None),
            (0, true, None),
            (0, false, Some(floats)),
            (2 << 20, true, Some("is pulled down")),
        ] {
            let mut board = board();
            (0..UARTS).filter(|_| wired).for_each(|uart| board.wire(uart));
            write(&mut board, &pins);
            write(&mut board, &[(GPIOA + 0xc, 0x6400_0000 | pull)]);
            write(&mut board, &receive);
            let told: Vec<String> = board.violations().iter().map(ToString::to_string).collect();
            let expected = expected.map(|how| format!("pull: USART1 receives at PA10, which {how}"));
            assert_eq!(told, Vec::from_iter(expected));
        }
    }
}
