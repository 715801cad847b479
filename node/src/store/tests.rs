//! A flash whose power fails at every possible moment.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::key::{Key, Secret};

/// The size of a slot: room for 24 boot records.
const SLOT_BYTES: usize = 1_024;

/// Units of work of an erase.
const ERASE_UNITS: u64 = 8;

/// What is left of the power of a chip.
#[derive(Clone)]
pub(crate) struct Power {
    /// Units of work until it fails; then nothing more is done.
    pub(crate) left: u64,
    /// The random state of torn writes.
    pub(crate) random: u64,
}

impl Power {
    pub(crate) const FULL: Power = Power {
        left: u64::MAX,
        random: 1,
    };

    fn draw(&mut self) -> u8 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 24) as u8
    }

    /// Erases cells in so many units of work, and can be torn at any.
    pub(crate) fn erase(&mut self, cells: &mut [u8], units: u64) -> Result<(), FlashFailed> {
        let done = self.left.min(units);
        self.left -= done;
        if done == units {
            cells.fill(0xff);
            return Ok(());
        }
        // Some bits are erased and some are not, the more the longer it took.
        for cell in cells {
            (0..done).for_each(|_| *cell |= self.draw() & self.draw());
        }
        Err(FlashFailed)
    }

    /// Writes records into erased cells.
    pub(crate) fn program(&mut self, cells: &mut [u8], at: usize, bytes: &[u8]) -> Result<(), FlashFailed> {
        assert!(at.is_multiple_of(RECORD) && bytes.len().is_multiple_of(RECORD));
        for (cell, byte) in cells[at..].iter_mut().zip(bytes) {
            if self.left == 0 {
                return Err(FlashFailed);
            }
            self.left -= 1;
            // The last byte is torn: some of its bits are still ones.
            let torn = if self.left == 0 { self.draw() } else { 0 };
            assert_eq!(*cell, 0xff, "written twice");
            *cell = byte | torn;
        }
        Ok(())
    }
}

#[derive(Clone)]
struct Chip {
    slots: [Vec<u8>; 2],
    power: Power,
}

impl Chip {
    fn new() -> Self {
        Chip {
            slots: [vec![0xff; SLOT_BYTES], vec![0xff; SLOT_BYTES]],
            power: Power::FULL,
        }
    }
}

impl Flash for &mut Chip {
    fn slot_bytes(&self) -> usize {
        SLOT_BYTES
    }

    fn read(&self, slot: Slot, at: usize, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.slots[slot as usize][at..at + bytes.len()]);
    }

    fn erase(&mut self, slot: Slot) -> Result<(), FlashFailed> {
        self.power.erase(&mut self.slots[slot as usize], ERASE_UNITS)
    }

    fn write(&mut self, slot: Slot, at: usize, bytes: &[u8]) -> Result<(), FlashFailed> {
        self.power.program(&mut self.slots[slot as usize], at, bytes)
    }
}

fn config(mark: u8) -> [u8; CONFIG_BYTES] {
    [mark; CONFIG_BYTES]
}

/// The actions of a board between two power failures.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Nothing,
    Write(u8, bool),
    Keep,
    GoBack,
    #[cfg(feature = "signed")]
    Floor(u32, bool),
}

/// Boots the board and performs an action. Returns the boot state if the power lasted long enough.
fn live(chip: &mut Chip, deed: Deed) -> Option<Start> {
    let mut store = Store::new(&mut *chip);
    let start = store.start(77);
    if store.flash.power.left == 0 {
        return None;
    }
    // What fails for lack of power shows at the next boot.
    let _ = match deed {
        Deed::Nothing => Ok(()),
        Deed::Write(mark, on_trial) => store.write_config(&config(mark), on_trial, start.epoch),
        Deed::Keep => store.keep(),
        Deed::GoBack => store.go_back(start.epoch),
        #[cfg(feature = "signed")]
        Deed::Floor(floor, is_next) => store.write_floor(floor, is_next, start.epoch),
    };
    Some(start)
}

fn start(chip: &mut Chip) -> Start {
    live(chip, Deed::Nothing).expect("power")
}

#[test]
fn a_board_that_was_told_nothing_has_no_config() {
    let mut chip = Chip::new();
    let first = start(&mut chip);
    assert_eq!((first.config, first.is_damaged, first.epoch), (None, false, 77));
    chip.slots[1][40] = 3;
    assert!(start(&mut chip).is_damaged);
}

#[test]
fn the_last_config_counts_and_can_be_forgotten() {
    let mut chip = Chip::new();
    for mark in 1..10 {
        live(&mut chip, Deed::Write(mark, false));
        let found = start(&mut chip);
        assert_eq!((found.config, found.on_trial), (Some(config(mark)), false));
    }
    live(&mut chip, Deed::Write(0xff, false));
    let forgotten = start(&mut chip);
    assert_eq!((forgotten.config, forgotten.is_damaged), (None, false));
    assert!(forgotten.epoch > 77, "what it forgets is not how often it has started");
}

#[test]
fn no_two_starts_have_the_same_number() {
    let mut chip = Chip::new();
    // Its numbers wrap in between.
    let mut last = u32::MAX - 50;
    let mut store = Store::new(&mut chip);
    assert!(store.write_config(&config(1), false, last).is_ok());
    // More starts than both slots have room for.
    for _ in 0..100 {
        let next = start(&mut chip);
        assert_eq!(
            (next.epoch, next.config, next.is_marked),
            (next_epoch(last), Some(config(1)), true)
        );
        last = next.epoch;
    }
    assert!(last < 100);
    // So do those of commits.
    assert_eq!((later(u32::MAX, 0), later(0, u32::MAX), later(7, 6)), (0, 0, 7));
}

#[test]
fn what_was_sealed_outside_is_taken() {
    let mut chip = Chip::new();
    chip.slots[0][..COMMITTED_BYTES].copy_from_slice(&committed(&config(5), None, None, 1_000));
    let found = start(&mut chip);
    assert_eq!((found.config, found.epoch), (Some(config(5)), 1_001));
    assert_eq!(start(&mut chip).epoch, 1_002);
}

/// Keys are in the flash as flashed from outside, and nothing else changes them.
#[test]
fn keys_stay_with_a_board_whatever_config_it_gets() {
    for (encrypts, kind) in [(false, 1), (true, 2)] {
        let [mesh, management] = [0, 16].map(|first| core::array::from_fn(|place| first + place as u8));
        let key = Key::new(mesh);
        let keys = Some(Keys {
            mesh: Secret::new(key, encrypts),
            management: Key::new(management),
        });
        let bytes = committed(&config(5), keys, None, 1_000);
        assert_eq!(
            (bytes[205], &bytes[256..272], &bytes[272..]),
            (kind, &mesh[..], &management[..])
        );
        let mut chip = Chip::new();
        chip.slots[0][..KEYED_BYTES].copy_from_slice(&bytes);
        let found = start(&mut chip);
        assert_eq!((found.config, found.keys, found.epoch), (Some(config(5)), keys, 1_001));
        live(&mut chip, Deed::Write(6, false));
        // More starts than both slots have room for.
        for _ in 0..100 {
            let found = start(&mut chip);
            assert_eq!((found.config, found.keys), (Some(config(6)), keys));
        }
    }
}

#[test]
fn a_slot_with_a_wrong_bit_does_not_count() {
    for bit in 0..COMMITTED_BYTES * 8 {
        let mut chip = Chip::new();
        live(&mut chip, Deed::Write(1, false));
        live(&mut chip, Deed::Write(2, false));
        assert_eq!(start(&mut chip).config, Some(config(2)));
        chip.slots[1][bit / 8] ^= 1 << (bit % 8);
        assert_eq!(start(&mut chip).config, Some(config(1)), "bit {bit}");
    }
}

#[test]
fn the_low_half_of_a_number_is_not_0() {
    assert_eq!(next_epoch(0x1_ffff), 0x2_0001);
    assert_eq!(next_epoch(u32::MAX), 1);
    assert_eq!(next_epoch(6), 7);
}

#[test]
fn a_config_on_trial_is_kept_or_given_back() {
    let configured = || {
        let mut chip = Chip::new();
        live(&mut chip, Deed::Write(1, false));
        live(&mut chip, Deed::Write(2, true));
        chip
    };
    let mut kept = configured();
    let first = live(&mut kept, Deed::Keep).unwrap();
    assert_eq!((first.config, first.on_trial), (Some(config(2)), true));
    let next = start(&mut kept);
    assert_eq!((next.config, next.on_trial), (Some(config(2)), false));

    let mut given_back = configured();
    let first = live(&mut given_back, Deed::GoBack).unwrap();
    let next = start(&mut given_back);
    assert_eq!((next.config, next.on_trial), (Some(config(1)), false));
    assert_eq!(next.epoch, next_epoch(first.epoch));

    // A board that never runs long enough to decide reverts too, and stays there.
    let mut restless = configured();
    let starts: Vec<_> = (0..6).map(|_| start(&mut restless)).collect();
    let configs: Vec<_> = starts.iter().map(|start| start.config.unwrap()[0]).collect();
    assert_eq!(configs, [2, 2, 2, 1, 1, 1]);
    assert!(
        starts.windows(2).all(|two| two[1].epoch == next_epoch(two[0].epoch)),
        "{starts:?}"
    );
    // And takes the next config.
    live(&mut restless, Deed::Write(3, true));
    assert_eq!(start(&mut restless).config, Some(config(3)));
}

/// Whenever the power fails, a board boots with the config before or the one after, and with a new epoch.
#[test]
fn power_may_fail_at_any_moment() {
    let stories: [&[Deed]; 5] = [
        &[Deed::Write(2, false), Deed::Write(3, false)],
        &[Deed::Write(2, true), Deed::Keep, Deed::Write(3, false)],
        &[Deed::Write(2, true), Deed::GoBack, Deed::Nothing],
        &[Deed::Write(0xff, false), Deed::Write(3, false)],
        // A slot full of marks is left for the other.
        &[Deed::Nothing; 30],
    ];
    let mut cuts = 0;
    for story in stories {
        let mut chip = Chip::new();
        chip.slots[0][..COMMITTED_BYTES].copy_from_slice(&committed(&config(1), None, None, 500));
        for &deed in story {
            let mut whole = chip.clone();
            let begun = live(&mut whole, deed).expect("power");
            let after = start(&mut whole.clone()).config;
            let before = begun.config;
            for (power, seed) in (0..).flat_map(|power| [(power, 3), (power, 4)]) {
                let mut torn = chip.clone();
                torn.power = Power {
                    left: power,
                    random: seed * 7_919 + power,
                };
                let heard = live(&mut torn, deed);
                if torn.power.left > 0 {
                    break;
                }
                cuts += 1;
                // And again at the next start.
                let mut again = torn.clone();
                again.power = Power {
                    left: power % 50 + 1,
                    random: seed,
                };
                live(&mut again, Deed::Nothing);
                for mut chip in [torn, again] {
                    chip.power.left = u64::MAX;
                    let found = start(&mut chip);
                    let what = std::format!("{story:?}, {deed:?}: power fails after {power}, seed {seed}");
                    assert!(
                        found.config == before || found.config == after,
                        "{what}: {:?}",
                        found.config
                    );
                    assert!(found.is_marked && !found.is_damaged, "{what}");
                    if let Some(heard) = heard {
                        assert!(
                            (found.epoch.wrapping_sub(heard.epoch) as i32) > 0,
                            "{what}: {}",
                            found.epoch
                        );
                    }
                    // It goes on from there.
                    live(&mut chip, Deed::Write(9, false));
                    assert_eq!(start(&mut chip).config, Some(config(9)), "{what}");
                }
            }
            chip = whole;
        }
    }
    assert!(cuts > 3_000, "{cuts}");
}

proptest::proptest! {
    /// Arbitrary bytes are no config, or a valid one, and what is written next is used.
    #[test]
    fn a_board_starts_whatever_is_in_its_flash(
        seeds in proptest::array::uniform2(proptest::collection::vec(proptest::prelude::any::<u8>(), SLOT_BYTES)),
        sealed_one in proptest::prelude::any::<bool>(),
        epoch in proptest::prelude::any::<u32>(),
    ) {
        let mut chip = Chip::new();
        chip.slots = seeds;
        if sealed_one {
            chip.slots[1][..COMMITTED_BYTES].copy_from_slice(&committed(&config(4), None, None, epoch));
        }
        let found = start_as_is(&mut chip);
        proptest::prop_assert_eq!(found.config, sealed_one.then(|| config(4)));
        let mut store = Store::new(&mut chip);
        proptest::prop_assert_eq!(store.write_config(&config(5), false, found.epoch), Ok(()));
        proptest::prop_assert_eq!(store.config(), config(5));
    }
}

/// Boots a board with arbitrary slots: nothing is recorded there.
fn start_as_is(chip: &mut Chip) -> Start {
    chip.power.left = 0;
    let start = Store::new(&mut *chip).start(77);
    chip.power.left = u64::MAX;
    start
}

#[cfg(feature = "signed")]
mod owners {
    use super::*;
    use crate::signature::OwnerKey;
    const OWNER: OwnerKey = OwnerKey([7; 32]);

    /// A board that somebody owns, with a config and perhaps keys, as flashed from outside.
    fn owned(keys: Option<Keys>) -> Chip {
        let mut chip = Chip::new();
        let bytes = committed(&config(1), keys, Some(OWNER), 1_000);
        chip.slots[0][..OWNED_BYTES].copy_from_slice(&bytes);
        chip
    }

    /// Its owner's key and the floor in force; the floor of an image on trial.
    fn floors(chip: &mut Chip) -> (OwnerKey, u32, u32) {
        let owner = start(chip).owner.expect("an owner");
        (owner.key, owner.floor, owner.next_floor)
    }

    /// Nothing but flashing from outside changes the owner, and a floor never falls.
    #[test]
    fn owner_and_floor_stay_with_a_board_whatever_config_it_gets() {
        let keys = Keys {
            mesh: Secret::new(Key::new([1; 16]), true),
            management: Key::new([2; 16]),
        };
        for keys in [None, Some(keys)] {
            let mut chip = owned(keys);
            assert_eq!(floors(&mut chip), (OWNER, 0, 0));
            live(&mut chip, Deed::Floor(5, false));
            live(&mut chip, Deed::Floor(3, false));
            assert_eq!(floors(&mut chip), (OWNER, 5, 0));
            // That of an image on trial is for the next boot only.
            live(&mut chip, Deed::Floor(9, true));
            assert_eq!(floors(&mut chip), (OWNER, 5, 9));
            assert_eq!(floors(&mut chip), (OWNER, 5, 0));
            for deed in [
                Deed::Write(2, false),
                Deed::Write(0xff, false),
                Deed::Write(3, true),
                Deed::GoBack,
                Deed::Write(4, true),
                Deed::Keep,
            ] {
                live(&mut chip, deed);
                let found = start(&mut chip);
                assert_eq!(
                    (found.owner.map(|owner| owner.key), found.keys),
                    (Some(OWNER), keys),
                    "{deed:?}"
                );
            }
            // More boots than both slots have room for, each with floors.
            for floor in 8..100 {
                live(&mut chip, Deed::Floor(floor, false));
                live(&mut chip, Deed::Floor(200 + floor, true));
                assert_eq!(floors(&mut chip), (OWNER, floor, 200 + floor));
            }
            assert_eq!(start(&mut chip).keys, keys);
        }
    }

    #[test]
    fn a_floor_whose_write_is_torn_is_the_old_one_or_the_new_one() {
        let deeds = [
            Deed::Floor(5, false),
            Deed::Floor(6, true),
            Deed::Floor(6, false),
            Deed::Write(2, true),
            Deed::GoBack,
            Deed::Floor(7, false),
            Deed::Write(3, false),
            Deed::Floor(6, false),
            Deed::Write(4, true),
            // A config on trial is given up, and what it knows with it.
            Deed::Floor(8, false),
        ];
        // From boards that have started so often that slots get full at every deed.
        for boots in 0..30 {
            let mut chip = owned(None);
            (0..boots).for_each(|_| assert_eq!(floors(&mut chip), (OWNER, 0, 0)));
            let mut before = 0;
            for deed in deeds {
                for power in 0.. {
                    let mut cut = chip.clone();
                    cut.power = Power {
                        left: power,
                        random: 77 + power,
                    };
                    live(&mut cut, deed);
                    let is_over = cut.power.left > 0;
                    cut.power = Power::FULL;
                    let (key, floor, _) = floors(&mut cut);
                    let after = match deed {
                        Deed::Floor(floor @ ..8, false) => before.max(floor),
                        _ => before,
                    };
                    assert!(
                        key == OWNER && (floor == before || floor == after),
                        "{boots}, {deed:?}, {power}: {floor}"
                    );
                    if is_over {
                        assert_eq!(floor, after, "{boots}, {deed:?}");
                        break;
                    }
                }
                live(&mut chip, deed);
                before = start(&mut chip).owner.expect("an owner").floor;
            }
            assert_eq!(before, 7);
        }
    }

    /// An image from before there were owners does not know the key behind the config, and finds its config and keys all the same.
    #[test]
    fn what_is_known_of_an_owner_is_in_fields_that_were_zero() {
        let (with, without) = (
            committed(&config(1), None, Some(OWNER), 5),
            committed(&config(1), None, None, 5),
        );
        let differing: Vec<usize> = (0..without.len()).filter(|at| with[*at] != without[*at]).collect();
        assert!(
            differing.iter().all(|at| (206..COMMITTED_BYTES).contains(at)),
            "{differing:?}"
        );
        for bit in (CONFIG_BYTES * 8..COMMITTED_BYTES * 8).chain(KEYED_BYTES * 8..OWNED_BYTES * 8) {
            let mut chip = owned(None);
            chip.slots[0][bit / 8] ^= 1 << (bit % 8);
            assert_eq!(start(&mut chip).owner, None, "bit {bit}");
        }
    }
}
