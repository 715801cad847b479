//! The next image, and the flash that it goes to. Without the feature `update` there is none.

#[cfg(not(feature = "update"))]
mod off;
#[cfg(feature = "update")]
mod on;

#[cfg(not(feature = "update"))]
pub(crate) use off::NextImage;
#[cfg(feature = "update")]
pub(crate) use on::NextImage;
