//! Keys, tags made with them, and commands that need one.

use core::hint::black_box;

use crate::outside;
use hopwise_node::authority::{Authority, authorize, board_key};
use hopwise_node::key::{Key, same_tag};

pub fn run() {
    let key = Key::new(black_box([7; 16]));
    let derived = key.derive_key("purpose", &[outside(), outside()]);
    let tag = derived.tag(black_box(1), &[outside(), outside()]);
    black_box(same_tag(&tag, &black_box([0; 8])));
    let mut authority = Authority::new(derived, black_box(1));
    let challenge = black_box(authority.challenge());
    black_box(authorize(
        &board_key(&key, black_box(1)),
        &challenge,
        black_box(1),
        outside(),
    ));
    black_box(authority.check(black_box(1), outside()));
    let text = core::str::from_utf8(outside()).unwrap_or_default();
    black_box(text.parse::<Key>().is_ok());
}
