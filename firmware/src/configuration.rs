//! The configuration in the flash.

use core::ptr::addr_of;

use embassy_stm32::flash::{self, Blocking, Flash};
use hopwise_node::store::{self, FlashFailed, Slot};

use crate::boards;

pub(crate) const FLASH_BASE: u32 = 0x0800_0000;

unsafe extern "C" {
    // SAFETY: boot.x defines both. Only their addresses are used, or the flash behind the first.
    static _configuration_slots: u8;
    static _slot_bytes: u8;
}

/// The two slots of the board's flash. Nothing else runs while one is written or erased, unless the chip has two banks.
/// They are only read where the flash is not laid out as embassy expects.
pub(crate) struct Slots<'d>(pub(crate) Option<Flash<'d, Blocking>>);

impl Slots<'_> {
    /// Where a place of a slot is, counted from the beginning of the flash.
    fn offset(slot: Slot, at: usize) -> u32 {
        let first = addr_of!(_configuration_slots) as u32 - FLASH_BASE;
        let slot = match slot {
            Slot::First => first,
            Slot::Second => first + addr_of!(_slot_bytes) as u32,
        };
        slot + at as u32
    }

    fn change(
        &mut self,
        change: impl FnOnce(&mut Flash<'_, Blocking>) -> Result<(), flash::Error>,
    ) -> Result<(), FlashFailed> {
        let flash = self.0.as_mut().ok_or(FlashFailed)?;
        boards::change_flash(|| change(flash))
            .and_then(Result::ok)
            .ok_or(FlashFailed)
    }
}

impl store::Flash for Slots<'_> {
    fn slot_bytes(&self) -> usize {
        addr_of!(_slot_bytes) as usize
    }

    fn read(&self, slot: Slot, at: usize, bytes: &mut [u8]) {
        let end = self.slot_bytes();
        boards::read_torn(|| {
            for (at, byte) in (at..end).zip(bytes) {
                let address = (FLASH_BASE + Self::offset(slot, at)) as *const u8;
                // SAFETY: the linker script keeps the slots free. Volatile, since they change without the compiler's knowledge.
                *byte = unsafe { address.read_volatile() };
            }
        });
    }

    fn erase(&mut self, slot: Slot) -> Result<(), FlashFailed> {
        let (from, to) = (Self::offset(slot, 0), Self::offset(slot, self.slot_bytes()));
        self.change(|flash| flash.blocking_erase(from, to))
    }

    fn write(&mut self, slot: Slot, at: usize, bytes: &[u8]) -> Result<(), FlashFailed> {
        self.change(|flash| flash.blocking_write(Self::offset(slot, at), bytes))
    }
}
