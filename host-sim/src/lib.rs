pub mod analysis;
pub mod refusal;
