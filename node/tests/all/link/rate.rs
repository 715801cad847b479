//! How much of the wire is payload. `cargo test -p hopwise-core --test link rate -- --nocapture` prints it.

use hopwise_core::Network;
use hopwise_node::limits::MAX_PAYLOAD;
use hopwise_node::router::{Config, MessageKind, Router};
use hopwise_node::wire::WIRE;

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
            while self
                .node
                .send(
                    self.dest,
                    hopwise_node::wire::AppPort(20),
                    &[0xa5; MAX_PAYLOAD],
                    micros,
                    &mut (),
                )
                .is_ok()
            {}
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

/// The share of the wire that is payload, in each direction, both being as busy as they can.
fn payload_share(baud: u32) -> [f64; 2] {
    let network: Network = "path(2)".parse().expect("a network");
    let byte_nanos = 10 * SECOND / u64::from(baud);
    let mut boards = [0, 1].map(|address| Board::new(network, address, baud));
    let mut now = 0;
    let mut begun = [0, 0];
    let (warm_up, end) = (SECOND, 11 * SECOND);
    while now < end {
        for board in &mut boards {
            board.serve(now, byte_nanos, true);
        }
        let deadlines = boards
            .iter()
            .map(|board| board.node.deadline().saturating_mul(1_000).max(now + 1_000));
        let sent = boards.iter().filter_map(|board| board.sending).map(|(_, at)| at);
        let next = deadlines.chain(sent).min().unwrap_or(end);
        if now < warm_up && next >= warm_up {
            begun = [boards[0].received, boards[1].received];
        }
        now = next;
        for from in 0..2 {
            if let Some((length, _)) = boards[from].sending.take_if(|(_, at)| *at <= now) {
                let bytes = boards[from].out;
                boards[1 - from].node.receive(0, &bytes[..length], now / 1_000, &mut ());
            }
        }
    }
    let line = ((end - warm_up) / byte_nanos) as f64;
    [0, 1].map(|at| (boards[at].received - begun[at]) as f64 / line)
}

#[test]
fn at_least_85_percent_of_the_wire_is_payload_in_both_directions_at_once() {
    for baud in [115_200, 1_000_000] {
        let shares = payload_share(baud);
        println!(
            "{baud} baud: {:.1}% and {:.1}% of the wire are payload",
            shares[0] * 100.0,
            shares[1] * 100.0
        );
        for share in shares {
            assert!((0.85..1.0).contains(&share), "{share} of the wire at {baud} baud");
        }
    }
}

/// Boards read a line that is never idle only when half a ring of bytes has come, and may be busy with other links then. Nothing may be
/// retransmitted for that.
#[test]
fn an_acknowledgement_that_is_noticed_late_is_in_time() {
    const BAUD: u32 = 1_000_000;
    const BYTE: u64 = 10 * SECOND / BAUD as u64;
    const HALF_A_RING: usize = 256;
    /// Each board sends for so long and is silent for so long, so that they begin at all moments of each other.
    const PAUSES: [u64; 2] = [61_370_000, 73_110_000];
    const BUSY: u64 = 2_000_000;
    let network: Network = "path(2)".parse().expect("a network");
    let mut boards = [0, 1].map(|address| Board::new(network, address, BAUD));
    // What has come to each board and has not been read, how many bytes in all, and when it will look at them.
    let mut unread = [Vec::new(), Vec::new()];
    let mut come = [0, 0];
    let mut looks_at = [None, None];
    for now in (0..30 * SECOND).step_by(BYTE as usize) {
        for to in 0..2 {
            let from = &mut boards[1 - to];
            let is_idle = from.sending.is_none();
            if let Some((length, end)) = from.sending {
                let left = ((end - now) / BYTE) as usize;
                unread[to].push(from.out[length - 1 - left]);
                come[to] += 1;
                from.sending.take_if(|_| left == 0);
            }
            if is_idle || come[to] % HALF_A_RING == 0 {
                looks_at[to].get_or_insert(now + BUSY);
            }
            if looks_at[to].take_if(|at| *at <= now).is_some() {
                let bytes = std::mem::take(&mut unread[to]);
                boards[to].node.receive(0, &bytes, now / 1_000, &mut ());
            }
        }
        for (board, pause) in boards.iter_mut().zip(PAUSES) {
            board.serve(now, BYTE, now / pause % 2 == 0);
        }
    }
    for board in &boards {
        let counters = board.node.link_report(0).expect("a link").counters;
        assert!(counters.packets_sent > 500);
        assert_eq!((counters.resent, counters.timeouts), (0, 0));
    }
}
