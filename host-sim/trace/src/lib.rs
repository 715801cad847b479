//! Traces: what every node of a mesh noticed and did, on one time line, whether simulated, emulated or real.
//!
//! A trace is lines of JSON: a header that names the network, then an event of [`hopwise_node::router::Event`] each, with its time
//! and its node. Simulator and rig write it with [`writer`]; a board's log becomes the same events in [`text`].
//!
//! - [`mod@line`]: one line, and the version of the format; [`writer`] and [`reader`]: all of them, one after the other;
//! - [`hash`]: the hash by which two runs are compared; [`text`]: events as boards print them;
//! - [`follow`]: packets with their hops, and what happened at the ends of cables, told while a trace is read;
//! - [`report`]: delivery, latency, paths, cables and drops in figures; [`samples`]: their percentiles.
//!
//! Nothing here holds a trace whole: a report of a trace of any length takes memory for the packets that are under way at a time.
//!
//! ```
//! use hopwise_trace::reader::Reader;
//! use hopwise_trace::report::Report;
//!
//! let trace = r#"{"version":1,"network":"ring(5)","nodes":5,"baud":1000000}
//! {"t":0.1000,"node":0,"event":"accepted","packet":{"source":0,"from_host":false,"epoch":1,"kind":"datagram","number":7},"dest":1}
//! {"t":0.1001,"node":0,"event":"sent","link":0,"packet":{"source":0,"from_host":false,"epoch":1,"kind":"datagram","number":7},"dest":1,"retransmit":false}
//! {"t":0.1005,"node":1,"event":"received","link":1,"packet":{"source":0,"from_host":false,"epoch":1,"kind":"datagram","number":7},"dest":1}
//! {"t":0.1005,"node":1,"event":"delivered","packet":{"source":0,"from_host":false,"epoch":1,"kind":"datagram","number":7}}
//! "#;
//! // Of a file: Reader::new(BufReader::new(File::open("trace.jsonl")?))?
//! let report = Report::read(Reader::new(trace.as_bytes())?, None)?;
//! println!("{} of {} datagrams arrived", report.delivery["datagram"].delivered, report.delivery["datagram"].packets);
//! assert_eq!(report.delivery["datagram"].delivered, 1);
//! assert_eq!(report.latency.end_to_end.unwrap().mean_us, 500.0);
//! assert_eq!(report.paths.unwrap().computed, 1);
//! # Ok::<(), hopwise_trace::reader::BadTrace>(())
//! ```

pub mod follow;
mod form;
pub mod hash;
pub mod line;
pub mod packet;
pub mod reader;
pub mod report;
pub mod samples;
pub mod text;
pub mod writer;

#[cfg(test)]
mod tests;
