//! A mesh in the browser. The page in `page/` draws and listens; everything that a node, a network or a collective does is
//! computed here, by the crates that boards, simulator and command use.
//!
//! - [`request`]: what the page asks, and the responses, both as JSON;
//! - [`live`]: boards and cables in virtual time, which the page lets go on bit by bit.
//!
//! The page writes a request at [`hopwise_allocate`] and reads the response where [`hopwise_respond`] says. `tools/play` builds
//! one file of all that.

pub mod live;
pub mod request;

use std::cell::RefCell;

use request::Player;

thread_local! {
    /// The mesh of the page, and the request or response in transit.
    static PLAYER: RefCell<Player> = RefCell::default();
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a request of so many bytes, and says where.
#[unsafe(no_mangle)]
pub extern "C" fn hopwise_allocate(length: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        text.clear();
        text.resize(length, 0);
        text.as_mut_ptr()
    })
}

/// Carries out the request that was written there, and says how long the response is; [`hopwise_response`] says where.
#[unsafe(no_mangle)]
pub extern "C" fn hopwise_respond() -> usize {
    let request = TEXT.take();
    let response = PLAYER.with_borrow_mut(|player| player.respond(&String::from_utf8_lossy(&request)));
    TEXT.set(response.into_bytes());
    TEXT.with_borrow(Vec::len)
}

/// Where the response is, until the next request.
#[unsafe(no_mangle)]
pub extern "C" fn hopwise_response() -> *const u8 {
    TEXT.with_borrow(|text| text.as_ptr())
}
