//! An update file, of images that were linked for either slot.

use hopwise_emulator::image::{FLASH, Image};
use hopwise_node::store::Slot;
use hopwise_rig::update::{BadPackage, Linked, Package};

use crate::app::board_of;

/// The update file of images that were linked for the first and for the second slot.
pub fn package(first: &Image, second: &Image) -> Result<Package, BadPackage> {
    let (name, other) = (board(first)?, board(second)?);
    if name != other {
        return Err(BadPackage::TwoBoards(name, other));
    }
    let images = [linked(first)?, linked(second)?];
    for (image, slot) in images.iter().zip([Slot::First, Slot::Second]) {
        if image.plan.slot != slot {
            return Err(BadPackage::OtherSlot(slot));
        }
    }
    Ok(Package::new(name, images))
}

fn board(image: &Image) -> Result<&'static str, BadPackage> {
    board_of(image).map(|board| board.name).ok_or(BadPackage::NoBoard)
}

/// What an image puts into the slot that it is linked for.
pub(crate) fn linked(image: &Image) -> Result<Linked, BadPackage> {
    let places = ["_own_image", "_other_image"].map(|name| image.address_of(name));
    let [Some(own), Some(other)] = places else {
        return Err(BadPackage::NoUpdate);
    };
    let slot = if own > other { Slot::Second } else { Slot::First };
    Ok(Linked::new(board(image)?, slot, in_slot(image, own)?.to_vec()))
}

/// What an image puts into the slot at `own`. Something else may come behind that in the flash: on an H7 the boot loader's log does.
fn in_slot(image: &Image, own: u32) -> Result<&[u8], BadPackage> {
    let offset = own.checked_sub(FLASH).ok_or(BadPackage::NoUpdate)?;
    let others = ["_other_image", "_boot_log", "_configuration_slots"];
    let behind = others.iter().filter_map(|name| image.address_of(name));
    let behind = behind.filter(|place| *place > own).min();
    let bytes = image.bytes().get(offset as usize..).unwrap_or_default();
    Ok(match behind.and_then(|place| bytes.get(..(place - own) as usize)) {
        Some(slot) => {
            let used = slot.iter().rposition(|byte| *byte != 0xff);
            &slot[..used.map_or(0, |last| last + 1)]
        }
        None => bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_in_the_flash() {
        let image = Image::from_bytes(vec![0; 8]);
        assert_eq!(in_slot(&image, FLASH + 4).unwrap(), [0; 4]);
        assert!(in_slot(&image, FLASH - 4).is_err());
    }
}
