//! Every fixed capacity of a node of the default sizes, by name, in one place. [`capacities`](mod@crate::capacities) makes others.

/// Links: five wires and the one to a host.
pub const PORTS: usize = 6;

/// A packet's bytes after its header: the payload, and the trail of a detour. With addresses of one byte the packet has 257.
pub const BODY: usize = 244;

/// An application's payload has at most this many bytes; the rest of [`BODY`] is for detours.
pub const MAX_PAYLOAD: usize = 200;

/// Packets that a node holds.
pub const BUFFERS: usize = 30;

/// Packets that wait for the application.
pub const INBOX: usize = 4;

/// Ports that the applications of a node serve.
pub const SERVED_PORTS: usize = 16;

/// Packets of the application that wait to be sent or confirmed.
pub const OUTBOX: usize = 16;

/// Answers that a node makes by itself and that wait to be sent.
pub const SERVICE: usize = 4;

/// Packets of one link that take part in the common buffers.
pub const LINK_SHARE: usize = 8;

/// Confirmed packets under way at once.
pub const OUTSTANDING: usize = 6;

/// Other nodes of which a node remembers what came from them, so that nothing comes twice. Should be as many as send to it
/// within [20 seconds](crate::router::times::REMEMBER_PEER): more confirmed senders must wait, and copies made when a link died
/// are dropped rather than risked.
pub const PEERS: usize = 20;
