//! The configuration page in the flash.

use core::ptr::addr_of;

use embassy_stm32::flash::{Blocking, Flash};
use hopwise_core::Network;
use hopwise_core::network::expression::BrokenRule;
use hopwise_core::wire::{BadPage, BoardState, PAGE_BYTES, Page};

use crate::boards::{self, LINKS};

const FLASH_BASE: u32 = 0x0800_0000;

unsafe extern "C" {
    // SAFETY: memory.x defines both. Only their addresses are used, or the flash behind the first.
    static _configuration_page: u8;
    static _configuration_size: u8;
}

/// The bytes of the page, whatever they are. Volatile, since the page changes without the compiler's knowledge.
pub(crate) fn bytes() -> [u8; PAGE_BYTES] {
    // SAFETY: the linker script keeps at least as many bytes of flash for the page.
    core::array::from_fn(|place| unsafe { addr_of!(_configuration_page).add(place).read_volatile() })
}

/// Reads a configuration, if a board like this one can do what it says.
pub(crate) fn understand(bytes: &[u8; PAGE_BYTES]) -> Result<(Page, Network), BoardState> {
    let page = Page::read(bytes).map_err(|error| match error {
        BadPage::Missing => BoardState::NoPage,
        _ => BoardState::BadPage,
    })?;
    if !boards::ports_agree_on(page.baud) {
        return Err(BoardState::BadPage);
    }
    let network = page.network().map_err(|error| match error {
        BadPage::Expression(error) if error.rule == BrokenRule::NotBuilt => BoardState::NotInImage,
        _ => BoardState::BadNetwork,
    })?;
    match network.degree(page.address) {
        Err(_) => Err(BoardState::BadAddress),
        Ok(degree) if degree > LINKS as u64 => Err(BoardState::TooFewLinks),
        Ok(_) => Ok((page, network)),
    }
}

/// Erases and writes the page, and says whether it is written. Nothing else runs meanwhile, for up to two seconds where
/// sectors are large.
pub(crate) fn write(flash: &mut Flash<'static, Blocking>, page: &[u8; PAGE_BYTES]) -> bool {
    let offset = addr_of!(_configuration_page) as u32 - FLASH_BASE;
    let size = addr_of!(_configuration_size) as u32;
    let written = boards::change_flash(|| {
        flash
            .blocking_erase(offset, offset + size)
            .and_then(|()| flash.blocking_write(offset, page))
    });
    written.is_ok() && bytes() == *page
}
