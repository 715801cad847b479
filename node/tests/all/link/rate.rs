//! How much of the wire is payload. `cargo test -p hopwise-node --test all link::rate -- --nocapture` prints it.

use std::ops::Range;

use hopwise_core::Network;
use hopwise_node::limits::MAX_PAYLOAD;
use hopwise_node::router::{Config, MessageKind, Router};
use hopwise_node::wire::{AppPort, WIRE};

const SECOND: u64 = 1_000_000_000;

/// A board that sends as many packets as it can, and counts the bytes that come. Times are in nanoseconds.
struct Board {
    node: Box<Router>,
    dest: u64,
    out: [u8; WIRE],
    /// The frame that is being sent, and until when.
    sending: Option<(usize, u64)>,
    received: u64,
}

impl Board {
    fn new(network: Network, address: u64, baud: u32) -> Board {
        let config = Config {
            baud,
            ..Config::new(network, address, 1, 1)
        };
        Board {
            node: Box::new(Router::new(&config, 0).expect("two nodes need one link each")),
            dest: 1 - address,
            out: [0; WIRE],
            sending: None,
            received: 0,
        }
    }

    fn serve(&mut self, now: u64, byte_nanos: u64, has_packets: bool) {
        let micros = now / 1_000;
        // Before that they are undeliverable, and there is always room for more.
        if has_packets && self.node.all_links_up() {
            let mut send = || {
                self.node
                    .send(self.dest, AppPort(20), &[0xa5; MAX_PAYLOAD], micros, &mut ())
            };
            while send().is_ok() {}
        }
        while let Some(message) = self.node.next_message() {
            if message.kind == MessageKind::Datagram {
                self.received += message.payload.len() as u64;
            }
        }
        self.node.tick(micros, &mut ());
        if self.sending.is_none() {
            let length = self.node.transmit(0, micros, &mut self.out, &mut ());
            if length > 0 {
                self.sending = Some((length, now + length as u64 * byte_nanos));
            }
        }
    }
}

/// Two boards talk until a time, byte by byte. A board reads what has come when the line is idle, or so many bytes have come since, and is busy
/// with other links for a while then.
fn talk(
    boards: &mut [Board; 2],
    time: Range<u64>,
    baud: u32,
    ring: usize,
    busy: u64,
    sends: impl Fn(usize, u64) -> bool,
) {
    let byte = 10 * SECOND / u64::from(baud);
    // What has come to each board and has not been read, how many bytes in all, and when it will look at them.
    let mut unread = [Vec::new(), Vec::new()];
    let mut come = [0, 0];
    let mut looks_at = [None, None];
    for now in time.step_by(byte as usize) {
        for to in 0..2 {
            let from = &mut boards[1 - to];
            let is_idle = from.sending.is_none();
            if let Some((length, end)) = from.sending {
                let left = ((end - now) / byte) as usize;
                unread[to].push(from.out[length - 1 - left]);
                come[to] += 1;
                from.sending.take_if(|_| left == 0);
            }
            if is_idle || come[to] % ring == 0 {
                looks_at[to].get_or_insert(now + busy);
            }
            if looks_at[to].take_if(|at| *at <= now).is_some() {
                let bytes = std::mem::take(&mut unread[to]);
                boards[to].node.receive(0, &bytes, now / 1_000, &mut ());
            }
        }
        for (place, board) in boards.iter_mut().enumerate() {
            board.serve(now, byte, sends(place, now));
        }
    }
}

fn boards(baud: u32) -> [Board; 2] {
    let network = "path(2)".parse().expect("a network");
    [0, 1].map(|address| Board::new(network, address, baud))
}

/// Both are as busy as they can.
#[test]
fn at_least_85_percent_of_the_wire_is_payload_in_both_directions_at_once() {
    const WARM_UP: u64 = SECOND;
    const END: u64 = 11 * SECOND;
    for baud in [115_200, 1_000_000] {
        let mut boards = boards(baud);
        talk(&mut boards, 0..WARM_UP, baud, 1, 0, |_, _| true);
        let begun = boards.each_ref().map(|board| board.received);
        talk(&mut boards, WARM_UP..END, baud, 1, 0, |_, _| true);
        let line = ((END - WARM_UP) / SECOND * u64::from(baud) / 10) as f64;
        for (board, begun) in boards.iter().zip(begun) {
            let share = (board.received - begun) as f64 / line;
            println!("{baud} baud: {:.1}% of the wire are payload", share * 100.0);
            assert!((0.85..1.0).contains(&share), "{share} of the wire at {baud} baud");
        }
    }
}

/// Boards read a line that is never idle only when half a ring of bytes has come. Nothing may be retransmitted for that.
#[test]
fn an_acknowledgement_that_is_noticed_late_is_in_time() {
    const BAUD: u32 = 1_000_000;
    const HALF_A_RING: usize = 256;
    /// Each board sends for so long and is silent for so long, so that they begin at all moments of each other.
    const PAUSES: [u64; 2] = [61_370_000, 73_110_000];
    const BUSY: u64 = 2_000_000;
    let mut boards = boards(BAUD);
    let sends = |place: usize, now: u64| (now / PAUSES[place]).is_multiple_of(2);
    talk(&mut boards, 0..30 * SECOND, BAUD, HALF_A_RING, BUSY, sends);
    for board in &boards {
        let counters = board.node.link_report(0).expect("a link").counters;
        assert!(counters.packets_sent > 500);
        assert_eq!((counters.resent, counters.timeouts), (0, 0));
    }
}
