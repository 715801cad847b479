//! The next image: where it goes in the flash, and the restart that tries it.

use core::cell::{Cell, RefCell};
use core::ptr::addr_of;

use cortex_m::peripheral::SCB;
use embassy_stm32::flash::{self, Blocking, Flash, get_flash_regions};
use embassy_stm32::peripherals;
use hopwise_node::boot::{RECORD, TRIAL_BYTES, Trial};
use hopwise_node::link::Micros;
use hopwise_node::store::{FlashFailed, Slot};
use hopwise_node::update::{self, Update};
use hopwise_node::wire::{Done, UpdatePlan, UpdateState};

use crate::answer::Answer;
use crate::boards;
use crate::configuration::FLASH_BASE;
use crate::stack::_stack_end;
use crate::time::now;

/// The word by which a program knows that there is a boot loader.
const LOADER: u32 = u32::from_le_bytes(*b"HWBL");

/// In microseconds. Where a sector takes one second, as most do, two are erased at once.
const A_WHILE: Micros = 1_250_000;

unsafe extern "C" {
    // SAFETY: boot.x defines them. Only their addresses are used, or the flash behind them.
    static _boot_log: u8;
    static _boot_log_bytes: u8;
    static _boot_mark: u32;
    static _own_image: u8;
    static _other_image: u8;
    static _other_bytes: u8;
}

/// What the board has of its next image.
pub(crate) struct NextImage {
    update: RefCell<Update>,
    places: RefCell<Places>,
    /// The image that runs goes back to the one before unless someone outside says that it is to be kept.
    pub(crate) on_trial: Cell<bool>,
}

impl NextImage {
    pub(crate) fn new() -> Self {
        // SAFETY: others change other parts of the flash, each without awaiting anything.
        let places = Places(boards::flash(unsafe { peripherals::FLASH::steal() }));
        NextImage {
            update: RefCell::new(Update::new()),
            on_trial: Cell::new(update::is_on_trial(&places)),
            places: RefCell::new(places),
        }
    }

    pub(crate) fn begin(&self, plan: UpdatePlan) -> Done {
        self.update.borrow_mut().begin(plan, &*self.places.borrow())
    }

    /// Whether there is room to be made for it.
    pub(crate) fn is_making_room(&self) -> bool {
        self.update.borrow().is_making_room()
    }

    /// Makes room for it for a while: at most that, and the erase of a sector. `before_each` is called before each step.
    pub(crate) fn make_room(&self, mut before_each: impl FnMut()) {
        let mut update = self.update.borrow_mut();
        let end = now() + A_WHILE;
        while update.is_making_room() && now() < end {
            before_each();
            update.step(&mut *self.places.borrow_mut());
        }
    }

    /// Writes a piece of a block; `true` if that was the last.
    pub(crate) fn take(&self, block: &[u8]) -> bool {
        self.update.borrow_mut().take(block, &mut *self.places.borrow_mut())
    }

    /// What to ask a neighbour, if blocks are missing and none has come for a while.
    pub(crate) fn look(&self) -> Option<[u8; 4]> {
        self.update.borrow_mut().look()
    }

    /// A neighbour has answered: what to ask it next.
    pub(crate) fn take_answer(&self, block: &[u8]) -> Option<[u8; 4]> {
        let mut update = self.update.borrow_mut();
        update.take_answer(block, &mut *self.places.borrow_mut())
    }

    /// A block that a neighbour asks for.
    pub(crate) fn block(&self, id: u16, index: u16) -> Option<Answer> {
        self.update.borrow().block(id, index, &*self.places.borrow())
    }

    pub(crate) fn state(&self) -> UpdateState {
        self.update.borrow().state(&*self.places.borrow())
    }

    pub(crate) fn trial(&self, hash: &[u8]) -> Option<Trial> {
        self.update.borrow().trial(hash)
    }

    pub(crate) fn keep(&self) -> Result<(), FlashFailed> {
        update::keep(&mut *self.places.borrow_mut())?;
        self.on_trial.set(false);
        Ok(())
    }
}

/// Restarts with another image.
pub(crate) fn restart_with(trial: &Trial) -> ! {
    cortex_m::interrupt::disable();
    let place = addr_of!(_stack_end).cast_mut().cast::<[u8; TRIAL_BYTES]>();
    // SAFETY: the end of the stack, which is far away. The boot loader reads it.
    unsafe { place.write_volatile(trial.write()) };
    SCB::sys_reset()
}

/// Log and slots in the flash. `None` if it is not laid out as embassy expects.
struct Places(Option<Flash<'static, Blocking>>);

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

impl Places {
    fn change(
        &mut self,
        change: impl FnOnce(&mut Flash<'_, Blocking>) -> Result<(), flash::Error>,
    ) -> Result<(), FlashFailed> {
        let flash = self.0.as_mut().ok_or(FlashFailed)?;
        boards::change_flash(|| change(flash)).map_err(|_| FlashFailed)
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

impl update::Flash for Places {
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
