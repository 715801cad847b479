//! Every byte that leaves a board, each as a typed form with its own reader and writer.
//!
//! A form is a plain value. Nothing here keeps a state, knows the time or does I/O. Readers take any bytes and give `None`, or
//! an error, for those that are not theirs; writers give `None` where there is no room. `docs/wire-format.md` says the same for people who
//! write another end, and its examples are the test of this module.
//!
//! From the outside in:
//!
//! - [`Frame`]: what stands between two delimiters: [`Hello`], [`TimeSignal`], [`RateMessage`], [`Ack`], or data with a packet; [`Offer`] is part of the last two;
//! - [`Packet`]: a [`Header`] and a body, at whose end may be the trail of a detour;
//! - [`Content`]: what the body says, by the kind of the packet: [`Addressed`] to an application, [`Confirmed`], [`Confirmation`],
//!   [`Undeliverable`], [`Request`], [`Response`] or [`Flooded`];
//! - what requests and responses carry: [`TraceRecord`]s, [`NodeReport`], [`RouterCounters`], [`LinkReport`], and for the board
//!   around a node [`Command`], [`Status`], [`CommandResult`], [`TrafficReport`], and for its next image [`UpdatePlan`], [`Block`], [`UpdateState`];
//! - what boards without a config pass on: [`relay_step`];
//! - [`BoardConfig`]: a board's configuration. It lies in flash, and commands carry it over the wire as it lies there.

mod application;
mod board_config;
mod body;
mod command;
mod confirmed;
mod content;
mod counters;
mod flooded;
mod frame;
#[cfg(all(test, feature = "cipher", feature = "signed"))]
mod golden;
mod hello;
mod offer;
mod packet;
mod rate_change;
mod rates;
mod relay;
mod report;
mod request;
mod tag;
mod time;
mod trace;
mod traffic;
mod trail;
mod undeliverable;
mod update;
pub(crate) mod varint;
#[cfg(feature = "version-3")]
pub(crate) mod version3;

pub use application::{Addressed, AppPort, AppStatus};
pub use board_config::{
    AUTOMATIC_RATES, BadConfig, BoardConfig, CONFIG_BYTES, MAX_EXPRESSION, MAX_LINK_RATES, automatic_rates,
    hosts_anywhere, packet_logging, paper_rule,
};
pub use body::{Body, Bytes, Kind, NoRoom, body_of};
pub use command::{BoardState, Command, CommandResult, Failure, Status};
pub use confirmed::{Confirmation, Confirmed, Verdict};
pub use content::Content;
pub use counters::{LineFaults, LinkCounters, RouterCounters};
pub use flooded::Flooded;
pub use frame::{
    Ack, DataHeader, Frame, FrameError, OVERHEAD, PAUSE_UNIT, SEALED_OVERHEAD, decode, encoded_len, mask, tag_of,
    write_ack, write_data, write_hello, write_rate, write_time,
};
pub(crate) use frame::{Checked, ROUND_MASK, SEQUENCE_NUMBERS, write_hello_of};
pub use hello::{Hello, Identity, Role, Stance, VERSION};
pub use hopwise_codec::{DELIMITER, crc32c};
pub use offer::{Offer, VirtualChannelSet};
pub(crate) use packet::ONE_BYTE_HOPS;
pub use packet::{AGE_UNIT, Header, MAX_HEADER, Packet, PacketId, PacketOf};
pub use rate_change::{RATE_STEPS, RateMessage, StepSet, steps_above};
pub use rates::{BAUD_RATES, DEFAULT_BAUD, UartClock, default_host_baud, rates_agree};
pub use relay::{
    MAX_RELAY_ENTRIES, RELAY_HERE, RelayStep, relay_arrivals, relay_request, relay_response, relay_step, relayed,
};
pub use report::{BoardInfo, LinkFault, LinkReport, NodeReport, read_structure, write_structure};
pub use request::{Query, Request, Response};
pub(crate) use tag::{Nonce, Tagged};
pub use tag::{Proof, Seal};
pub use time::TimeSignal;
pub use trace::{TraceRecord, trace_records};
pub use traffic::{BadTraffic, Pattern, Traffic, TrafficReport};
pub(crate) use trail::Trail;
pub use undeliverable::{DropReason, Undeliverable};
pub use update::{
    BLOCK, Block, MAX_BLOCKS, NAME_BYTES, NAMED_BLOCKS, PLAN_BYTES, UpdatePhase, UpdatePlan, UpdateState,
};

use crate::limits::BODY;

/// The largest packet of the default sizes.
pub const MAX_PACKET: usize = MAX_HEADER + BODY;

/// The largest frame of the default sizes, encoded, with its delimiters.
pub const WIRE: usize = encoded_len(SEALED_OVERHEAD + MAX_PACKET);
