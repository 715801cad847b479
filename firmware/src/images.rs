//! The images in the flash: where the next one goes, and the restart that tries it.

use core::ptr::addr_of;

use embassy_stm32::flash::{self, Blocking, Flash, get_flash_regions};
use embassy_stm32::peripherals;
use hopwise_node::boot::{RECORD, TRIAL_BYTES, Trial};
use hopwise_node::store::{FlashFailed, Slot};
use hopwise_node::update;

use crate::boards;
use crate::configuration::FLASH_BASE;
use crate::stack::_stack_end;

/// The word by which a program knows that there is a boot loader.
const LOADER: u32 = u32::from_le_bytes(*b"HWBL");

unsafe extern "C" {
    // SAFETY: boot.x defines them. Only their addresses are used, or the flash behind them.
    static _boot_log: u8;
    static _boot_log_bytes: u8;
    static _boot_mark: u32;
    static _own_image: u8;
    static _other_image: u8;
    static _other_bytes: u8;
}

pub(crate) fn restart_with(trial: &Trial) -> ! {
    cortex_m::interrupt::disable();
    let place = addr_of!(_stack_end).cast_mut().cast::<[u8; TRIAL_BYTES]>();
    // SAFETY: the end of the stack, which is far away. The boot loader reads it.
    unsafe { place.write_volatile(trial.write()) };
    boards::reset()
}

/// Log and slots in the flash. `None` if it is not laid out as embassy expects.
pub(crate) struct Images(Option<Flash<'static, Blocking>>);

/// From the beginning of the flash.
fn offset(of: *const u8) -> u32 {
    (of as u32).wrapping_sub(FLASH_BASE)
}

fn read(place: u32) -> [u8; RECORD] {
    let mut bytes = [0; RECORD];
    boards::read_torn(|| {
        for (at, byte) in (FLASH_BASE + place..).zip(&mut bytes) {
            // SAFETY: it is flash. Volatile, since it changes without the compiler's knowledge.
            *byte = unsafe { (at as *const u8).read_volatile() };
        }
    });
    bytes
}

impl Images {
    pub(crate) fn new() -> Self {
        // SAFETY: others change other parts of the flash: the node's own tasks, each without awaiting anything, and programs with the node kept out.
        Images(boards::flash(unsafe { peripherals::FLASH::steal() }))
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

    /// Erases a sector; returns where the next begins.
    fn erase(&mut self, from: u32) -> Result<u32, FlashFailed> {
        let regions = get_flash_regions().iter();
        let mut regions = regions.filter(|region| (region.base()..region.end()).contains(&(FLASH_BASE + from)));
        let to = from + regions.next().ok_or(FlashFailed)?.erase_size;
        self.change(|flash| flash.blocking_erase(from, to))?;
        Ok(to)
    }
}

impl update::Flash for Images {
    fn board(&self) -> &'static str {
        boards::NAME
    }

    fn has_loader(&self) -> bool {
        // SAFETY: it is flash.
        unsafe { addr_of!(_boot_mark).read_volatile() == LOADER }
    }

    fn own_slot(&self) -> Slot {
        match addr_of!(_own_image) < addr_of!(_other_image) {
            true => Slot::First,
            false => Slot::Second,
        }
    }

    fn log_records(&self) -> usize {
        addr_of!(_boot_log_bytes) as usize / RECORD
    }

    fn read_record(&self, place: usize) -> [u8; RECORD] {
        read(offset(addr_of!(_boot_log)) + (place * RECORD) as u32)
    }

    fn erase_log(&mut self) -> Result<(), FlashFailed> {
        let mut from = offset(addr_of!(_boot_log));
        let end = from + addr_of!(_boot_log_bytes) as u32;
        while from < end {
            from = self.erase(from)?;
        }
        Ok(())
    }

    fn write_record(&mut self, place: usize, record: &[u8; RECORD]) -> Result<(), FlashFailed> {
        let place = offset(addr_of!(_boot_log)) + (place * RECORD) as u32;
        self.change(|flash| flash.blocking_write(place, record))
    }

    fn slot_bytes(&self) -> usize {
        addr_of!(_other_bytes) as usize
    }

    fn erase_sector(&mut self, at: usize) -> Result<usize, FlashFailed> {
        let begin = offset(addr_of!(_other_image));
        self.erase(begin + at as u32).map(|next| (next - begin) as usize)
    }

    fn read(&self, at: usize) -> [u8; RECORD] {
        read(offset(addr_of!(_other_image)) + at as u32)
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), FlashFailed> {
        let place = offset(addr_of!(_other_image)) + at as u32;
        self.change(|flash| flash.blocking_write(place, bytes))
    }
}
