//! Reports and pages of whatever boards write.

use hopwise_core::Network;
use hopwise_trace::reader::Reader;
use hopwise_trace::report::Report;
use proptest::prelude::*;
use serde_json::json;

use crate::data::PageData;

/// A line of a trace of five nodes, as a board gone mad might write it.
fn any_line() -> impl Strategy<Value = String> {
    let words = "sent received accepted forwarded delivered dropped detoured link-up link-down damaged miswired completed other";
    let words: Vec<&str> = words.split(' ').collect();
    let kinds = "datagram broadcast confirmed confirmation undeliverable request response";
    let kinds: Vec<&str> = kinds.split(' ').collect();
    let event = (prop::sample::select(words), -3.0..3.0, 0..5u64, 0..3u8, any::<bool>());
    let packet = (prop::sample::select(kinds), 0..5u64, 0..3u32, 0..7u64);
    (event, packet).prop_map(|((word, t, node, link, again), (kind, source, number, dest))| {
        let packet = json!({"source": source, "epoch": 1, "kind": kind, "number": number, "from_host": false});
        let reason = if word == "link-down" { "silent" } else { "no-route" };
        json!({"event": word, "t": t, "node": node, "link": link, "retransmit": again, "packet": packet, "dest": dest,
               "reason": reason, "by": dest, "peer": source, "found": source, "error": "crc", "number": number,
               "outcome": "unknown"})
        .to_string()
    })
}

proptest! {
    #[test]
    fn whatever_boards_write_adds_up(lines in prop::collection::vec(any_line(), 1..120)) {
        let network: Network = "ring(5)".parse().unwrap();
        let text = lines.join("\n");
        let reader = || Reader::new(text.as_bytes()).unwrap();
        let report = Report::read(reader(), Some(network)).unwrap();
        let count = |word: &str| lines.iter().filter(|line| line.contains(&format!("\"event\":\"{word}\""))).count() as u64;
        prop_assert_eq!(report.events, lines.len() as u64);
        prop_assert_eq!(report.unknown_events, count("other"));
        for (kind, of) in &report.delivery {
            prop_assert_eq!(of.packets, of.delivered + of.dropped + of.open, "{}", kind);
        }
        let arrivals: u64 = report.delivery.values().map(|of| of.arrivals + of.duplicates).sum();
        prop_assert_eq!(arrivals, count("delivered"));
        prop_assert_eq!(report.drops.values().map(|drops| drops.count).sum::<u64>(), count("dropped"));
        let paths = report.paths.unwrap();
        prop_assert_eq!(paths.followed, paths.computed + paths.other + paths.longer);
        let page = PageData::of_trace(reader(), Some(network)).unwrap();
        let packets: u64 = report.delivery.values().map(|of| of.packets).sum();
        prop_assert_eq!(page.trace.unwrap().packets.len() as u64, packets);
    }
}
