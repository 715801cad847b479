//! How a firmware image was built.

use hopwise_emulator::image::{Image, NotFirmware};
use hopwise_node::store::Slot;
use hopwise_rig::update::{BadPackage, hex};
use object::{Object, ObjectSection};
use serde::{Deserialize, Serialize};

use crate::package::linked;

/// The firmware's build script fills this section, which takes no flash.
const SECTION: &str = ".hopwise_about";

/// How an image was built. The keys are stable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub board: String,
    pub version: String,
    /// `None` if it was not built in a repository.
    pub commit: Option<String>,
    /// Whether the sources differed from that commit.
    pub changed: bool,
    pub features: Vec<String>,
    #[serde(skip_deserializing)]
    pub slot: &'static str,
    /// Of what goes into the slot.
    #[serde(skip_deserializing)]
    pub bytes: u32,
    /// `hopwise update` and boards identify the image by it.
    #[serde(skip_deserializing)]
    pub sha256: String,
    /// Images are not signed.
    #[serde(skip_deserializing)]
    pub signature: Option<String>,
}

/// Why that is unknown.
#[derive(Debug, thiserror::Error)]
pub enum UnknownOrigin {
    #[error(transparent)]
    NotFirmware(#[from] NotFirmware),
    #[error(transparent)]
    NoSlot(#[from] BadPackage),
    #[error("the image does not record how it was built")]
    NotRecorded,
}

impl About {
    /// Of an ELF file.
    pub fn of(file: &[u8]) -> Result<Self, UnknownOrigin> {
        let image = Image::from_elf(file)?;
        let elf = object::File::parse(file).map_err(|_| UnknownOrigin::NotRecorded)?;
        let section = elf.section_by_name(SECTION).and_then(|section| section.data().ok());
        let said = section.and_then(|text| serde_json::from_slice(text).ok());
        let about: About = said.ok_or(UnknownOrigin::NotRecorded)?;
        let plan = linked(&image)?.plan;
        Ok(About {
            slot: match plan.slot {
                Slot::First => "first",
                Slot::Second => "second",
            },
            bytes: plan.length,
            sha256: hex(&plan.hash),
            ..about
        })
    }
}
