//! Every fixed capacity of a node of the default sizes, by name, in one place. [`capacities`](mod@crate::capacities) defines others.

/// Links: five wires and the one to a host.
pub const PORTS: usize = 6;

/// A packet's bytes after its header: the payload, and the trail of a detour. With addresses of one byte the packet has 257.
pub const BODY: usize = 244;

/// Maximum number of bytes of an application's payload; the rest of [`BODY`] is for detours.
pub const MAX_PAYLOAD: usize = 200;

/// Packets that a node holds.
pub const BUFFERS: usize = 30;

/// Packets that wait for the application.
pub const INBOX: usize = 4;

/// Ports that the applications of a node serve.
pub const SERVED_PORTS: usize = 16;

/// Packets of the application that wait to be sent or confirmed.
pub const OUTBOX: usize = 16;

/// Responses of the node itself that wait to be sent.
pub const SERVICE: usize = 4;

/// Packets of one link that may use the common buffers.
pub const LINK_SHARE: usize = 8;

/// Confirmed packets in flight at once.
pub const OUTSTANDING: usize = 6;

/// Other nodes whose packets are remembered for duplicate detection. Should be the number of nodes that send to this one
/// within [20 seconds](crate::router::times::REMEMBER_PEER): additional confirmed senders must wait, and copies made when a link died
/// are dropped as uncertain.
pub const PEERS: usize = 20;
