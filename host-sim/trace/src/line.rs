//! One line of a trace.

use hopwise_core::{Network, Node};
use hopwise_node::router::Event;
use serde::{Deserialize, Serialize};

use crate::form::EventForm;

/// The version of the format that is written here. A change after which this reader would misunderstand a trace raises it;
/// fields and words that are added do not.
pub const VERSION: u32 = 1;

/// Nanoseconds since the beginning of the mesh's time. Boards' clocks may begin below 0.
pub type Nanos = i64;

/// Thirty years: nanoseconds of such times can be added and subtracted.
const LONGEST_SECONDS: f64 = 1e9;

/// The first line: whose trace it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    #[serde(default = "Header::first_version")]
    pub version: u32,
    pub network: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baud: Option<u32>,
}

impl Header {
    /// Of a trace that is written now.
    pub fn new(network: &Network, baud: u32) -> Self {
        Header {
            version: VERSION,
            network: network.to_string(),
            nodes: Some(network.nodes()),
            baud: Some(baud),
        }
    }

    fn first_version() -> u32 {
        1
    }
}

/// Any other line: what a node noticed, did or said, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLine {
    pub at: Nanos,
    pub node: Node,
    pub record: Record,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Event(Event),
    Log {
        /// How severe it is: trace, debug, info, warn or error.
        level: String,
        text: String,
    },
    /// Something in words that are not known here, of a later version.
    Unknown,
}

/// What the trace calls each event.
macro_rules! names {
    ($($Event:ident $name:literal,)+) => {
        impl Record {
            /// What the trace calls records, all of them but the unknown.
            pub const NAMES: [&str; [$($name),+].len() + 1] = [$($name,)+ LOG];

            pub fn name(&self) -> &'static str {
                match self {
                    $(Record::Event(Event::$Event { .. }) => $name,)+
                    Record::Log { .. } => LOG,
                    Record::Unknown => "unknown",
                }
            }
        }
    };
}

names! {
    LinkUp "link-up", LinkDown "link-down", Miswired "miswired", Damaged "damaged", Sent "sent", Received "received",
    Accepted "accepted", Forwarded "forwarded", Delivered "delivered", Dropped "dropped", Detoured "detoured",
    Completed "completed", Clock "clock",
}

const LOG: &str = "log";

#[derive(Deserialize)]
struct Head {
    t: f64,
    node: Node,
    event: String,
}

#[derive(Serialize, Deserialize)]
struct LogForm<'a> {
    level: std::borrow::Cow<'a, str>,
    text: std::borrow::Cow<'a, str>,
}

#[derive(Serialize)]
struct LineForm<'a> {
    t: f64,
    node: Node,
    #[serde(flatten)]
    record: RecordForm<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RecordForm<'a> {
    #[serde(with = "EventForm")]
    Event(&'a Event),
    Log {
        event: &'static str,
        level: &'a str,
        text: &'a str,
    },
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoLine {
    #[error("this is not an event: {0}")]
    Form(String),
    #[error("{0} s is not a time in a mesh")]
    Time(f64),
}

impl TraceLine {
    /// The line as JSON; `None` for a record that is unknown, which cannot be written.
    pub fn to_json(&self) -> Option<String> {
        let form = LineForm {
            t: self.at as f64 / 1e9,
            node: self.node,
            record: match &self.record {
                Record::Event(event) => RecordForm::Event(event),
                Record::Log { level, text } => RecordForm::Log {
                    event: LOG,
                    level,
                    text,
                },
                Record::Unknown => return None,
            },
        };
        serde_json::to_string(&form).ok()
    }

    /// Reads a line. Fields that are not known are passed over; with words that are not known it is a [`Record::Unknown`].
    pub fn from_json(text: &str) -> Result<Self, NoLine> {
        let head: Head = serde_json::from_str(text).map_err(|error| no_event(&error))?;
        if !head.t.is_finite() || head.t.abs() > LONGEST_SECONDS {
            return Err(NoLine::Time(head.t));
        }
        Ok(TraceLine {
            at: (head.t * 1e9).round() as Nanos,
            node: head.node,
            record: record(&head.event, text)?,
        })
    }
}

fn record(name: &str, text: &str) -> Result<Record, NoLine> {
    if name == LOG {
        let log: LogForm<'_> = serde_json::from_str(text).map_err(|error| no_event(&error))?;
        return Ok(Record::Log {
            level: log.level.into_owned(),
            text: log.text.into_owned(),
        });
    }
    match EventForm::deserialize(&mut serde_json::Deserializer::from_str(text)) {
        Ok(event) => Ok(Record::Event(event)),
        // So serde says of a word that an enumeration does not have.
        Err(error) if error.to_string().starts_with("unknown variant") => Ok(Record::Unknown),
        Err(error) => Err(no_event(&error)),
    }
}

/// The position that serde adds is one within the line, which is all there is.
fn no_event(error: &serde_json::Error) -> NoLine {
    let what = error.to_string();
    NoLine::Form(what.split(" at line ").next().unwrap_or_default().into())
}
