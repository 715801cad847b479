//! Streams of bytes between two nodes: in order, each byte once, no faster than they are read.
//!
//! Each end has a port of its own, at which it takes [pieces](speech) as requests and responds with its offset and its room. One piece is
//! in flight in each direction. Requests are idempotent, so an end without a response retransmits, even across pulled cables.
//!
//! Nothing runs in the background: [`Stream::poll_work`] makes all possible progress, whichever call waits.

mod open;
mod speech;

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::{Context, Poll};

use embedded_io_async::{ErrorKind, ErrorType, Read, Write};
use heapless::{Deque, Vec};
use hopwise_core::Node;
use hopwise_node::link::Micros;
use hopwise_node::wire::AppPort;

use crate::error::RequestError;
use crate::mesh::Mesh;
use crate::message::{Incoming, Job, SendMode, SendResult, Service};
use crate::persistence::Persistence;
use crate::receive::Receiver;
use crate::send::Ticket;

use crate::time::Sleep;

pub use open::{ConnectError, Listener};
use speech::{PIECE, Response, Speech};

/// Timeout of an end that does not respond.
const GIVE_UP: Micros = 30_000_000;
/// Idle time after which an end is probed.
const QUIET: Micros = 5_000_000;
/// Time after which an end without room is probed, in case its message about new room was lost.
const NO_ROOM: Micros = 500_000;

/// The reason why a stream has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StreamError {
    /// The other end has dropped it without closing it, or has restarted.
    #[error("the other end has dropped the stream")]
    Reset,
    /// The other end has not responded for 30 seconds.
    #[error("the other end does not respond")]
    Lost,
    /// This end has closed it.
    #[error("the stream is closed")]
    Closed,
}

impl embedded_io_async::Error for StreamError {
    fn kind(&self) -> ErrorKind {
        match self {
            StreamError::Reset => ErrorKind::ConnectionReset,
            StreamError::Lost => ErrorKind::TimedOut,
            StreamError::Closed => ErrorKind::NotConnected,
        }
    }
}

/// The state of the outgoing direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    /// It may write.
    Open,
    /// It writes no more; the other end does not know yet.
    Closing,
    /// The other end knows.
    Closed,
}

#[derive(Debug)]
struct Pending<'a> {
    ticket: Ticket<'a>,
    is_end: bool,
    at: Micros,
}

/// One end of a stream; see [`Mesh::connect`] and [`Listener::accept`]. It has room for `ROOM` bytes in each direction.
///
/// Written bytes are sent at once, and are certain to be in the other end's buffer after [`flush`](Write::flush) or
/// [`close`](Stream::close). Dropping a stream without closing it resets it. Every future may be dropped without losing or duplicating bytes.
#[derive(Debug)]
pub struct Stream<'a, const ROOM: usize = 512> {
    mesh: Mesh<'a>,
    receiver: Receiver<'a>,
    peer: Node,
    peer_port: AppPort,
    session: u32,
    /// Received bytes that have not been read.
    came: Deque<u8, ROOM>,
    /// The offset of the next byte to come.
    expected: u32,
    /// Whether the other end has closed its direction.
    is_whole: bool,
    /// The room that the other end was last told.
    told_room: usize,
    /// Written bytes that have not been acknowledged.
    going: Vec<u8, ROOM>,
    offset: u32,
    own: Own,
    peer_room: u32,
    pending: Option<Pending<'a>>,
    persistence: Persistence,
    pause_until: Micros,
    heard: Option<Micros>,
    /// Since when requests have failed.
    in_vain_since: Option<Micros>,
    failure: Option<StreamError>,
    alarm: Option<Sleep<'a>>,
}

impl<'a, const ROOM: usize> Stream<'a, ROOM> {
    /// Number of bytes read before the other end is told of new room, since otherwise each byte would cost a message.
    const WORTH_TELLING: usize = if ROOM / 2 < PIECE { ROOM / 2 } else { PIECE };

    fn new(mesh: Mesh<'a>, receiver: Receiver<'a>, (peer, peer_port): (Node, AppPort), session: u32) -> Self {
        const { assert!(ROOM > 0, "a stream needs room") }
        Stream {
            mesh,
            receiver,
            peer,
            peer_port,
            session,
            came: Deque::new(),
            expected: 0,
            is_whole: false,
            told_room: ROOM,
            going: Vec::new(),
            offset: 0,
            own: Own::Open,
            peer_room: PIECE as u32,
            pending: None,
            persistence: Persistence::new(),
            pause_until: 0,
            heard: None,
            in_vain_since: None,
            failure: None,
            alarm: None,
        }
    }

    /// The node at the other end.
    pub fn peer(&self) -> Node {
        self.peer
    }

    /// Closes the outgoing direction, and waits until the other end knows. It reads what was written, and then the end. What it writes can
    /// still be read here.
    pub async fn close(&mut self) -> Result<(), StreamError> {
        if self.own == Own::Open {
            self.own = Own::Closing;
        }
        poll_fn(|context| {
            self.poll_work(context);
            match (self.own, self.failure) {
                (Own::Closed, _) => Poll::Ready(Ok(())),
                (_, Some(failure)) => Poll::Ready(Err(failure)),
                _ => Poll::Pending,
            }
        })
        .await
    }

    fn poll_read(&mut self, buffer: &mut [u8], context: &mut Context<'_>) -> Poll<Result<usize, StreamError>> {
        self.poll_work(context);
        let mut read = 0;
        for place in buffer.iter_mut() {
            let Some(byte) = self.came.pop_front() else { break };
            *place = byte;
            read += 1;
        }
        if read > 0 {
            self.tell_room(context);
            return Poll::Ready(Ok(read));
        }
        match self.failure {
            _ if self.is_whole || buffer.is_empty() => Poll::Ready(Ok(0)),
            Some(failure) => Poll::Ready(Err(failure)),
            None => Poll::Pending,
        }
    }

    fn poll_write(&mut self, bytes: &[u8], context: &mut Context<'_>) -> Poll<Result<usize, StreamError>> {
        if self.own != Own::Open {
            return Poll::Ready(Err(StreamError::Closed));
        }
        self.poll_work(context);
        if let Some(failure) = self.failure {
            return Poll::Ready(Err(failure));
        }
        let room = self.going.capacity() - self.going.len();
        let taken = bytes.get(..room).unwrap_or(bytes);
        if taken.is_empty() && !bytes.is_empty() {
            return Poll::Pending;
        }
        // Cannot fail: the room was checked.
        let _ = self.going.extend_from_slice(taken);
        self.poll_work(context);
        Poll::Ready(Ok(taken.len()))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StreamError>> {
        self.poll_work(context);
        match self.failure {
            _ if self.going.is_empty() => Poll::Ready(Ok(())),
            Some(failure) => Poll::Ready(Err(failure)),
            None => Poll::Pending,
        }
    }

    /// Makes all possible progress, and wakes the task when there is more.
    fn poll_work(&mut self, context: &mut Context<'_>) {
        if self.failure.is_some() {
            return;
        }
        self.take_in(context);
        loop {
            self.hear(context);
            if self.failure.is_some() || !self.ask(context) {
                break;
            }
        }
        self.set_alarm(context);
    }

    /// Processes received requests, as far as there are places for responses.
    fn take_in(&mut self, context: &mut Context<'_>) {
        while let Some(incoming) = self.receiver.peek(context) {
            let is_request = incoming.service == Service::Request;
            let reply = self.accept_piece(&incoming);
            if is_request {
                let (port, bytes) = (self.receiver.port(), reply.write());
                if !self.mesh.post_response(&incoming, port, &bytes, context) {
                    // It stays in the port until there is a place. Processing it twice does no harm.
                    return;
                }
                if let Response::Next { room, .. } = reply {
                    self.told_room = room as usize;
                }
            }
            let _ = self.receiver.try_recv();
        }
    }

    fn accept_piece(&mut self, incoming: &Incoming) -> Response {
        let Some((speaker, speech)) = Speech::read(incoming.bytes()) else {
            return Response::Gone;
        };
        let is_peer = incoming.source == self.peer && !incoming.from_host;
        if !is_peer || speaker != (self.peer_port, self.session) {
            return Response::Gone;
        }
        match speech {
            Speech::Open => return Response::Gone,
            Speech::Room { room } => {
                self.peer_room = room;
                self.pause_until = 0;
            }
            Speech::Piece { offset, bytes } => {
                let had = self.expected.wrapping_sub(offset) as usize;
                for &byte in bytes.get(had..).unwrap_or(&[]) {
                    if self.is_whole || self.came.push_back(byte).is_err() {
                        break;
                    }
                    self.expected = self.expected.wrapping_add(1);
                }
            }
            Speech::End { offset } => {
                if offset == self.expected && !self.is_whole {
                    self.is_whole = true;
                    self.expected = self.expected.wrapping_add(1);
                }
            }
        }
        self.is_alive();
        Response::Next {
            offset: self.expected,
            room: self.room() as u32,
        }
    }

    fn room(&self) -> usize {
        self.came.capacity() - self.came.len()
    }

    fn is_alive(&mut self) {
        self.heard = Some(self.mesh.uptime());
        self.in_vain_since = None;
    }

    /// Processes the result of the request in flight.
    fn hear(&mut self, context: &mut Context<'_>) {
        let Some(mut pending) = self.pending.take() else { return };
        let now = self.mesh.uptime();
        let (at, is_end) = (pending.at, pending.is_end);
        let result = match pending.ticket.poll(context) {
            Poll::Ready(result) => result,
            Poll::Pending if now < at.saturating_add(self.persistence.wait()) => {
                self.pending = Some(pending);
                return;
            }
            Poll::Pending => {
                self.persistence.lengthen();
                SendResult::Failed(RequestError::TimedOut)
            }
        };
        match result {
            SendResult::Response => match Response::read(&pending.ticket.response()) {
                Some(Response::Next { offset, room }) => {
                    self.is_alive();
                    self.persistence.encourage(now.saturating_sub(at));
                    self.peer_room = room;
                    self.acknowledge(offset, is_end);
                    let stuck = room == 0 && !self.going.is_empty();
                    self.pause_until = if stuck { now.saturating_add(NO_ROOM) } else { 0 };
                }
                _ => self.is_gone(is_end),
            },
            SendResult::Failed(RequestError::PortUnreachable | RequestError::Refused | RequestError::BadFormat) => {
                self.is_gone(is_end);
            }
            other => {
                if matches!(other, SendResult::Failed(RequestError::Busy)) {
                    // It is alive, and does not read.
                    self.is_alive();
                }
                self.pause_until = now.saturating_add(self.persistence.pause());
                let since = *self.in_vain_since.get_or_insert(at);
                if now.saturating_sub(since) >= GIVE_UP {
                    self.failure = Some(StreamError::Lost);
                }
            }
        }
    }

    /// The other end has everything before an offset.
    fn acknowledge(&mut self, offset: u32, is_end: bool) {
        let came = offset.wrapping_sub(self.offset) as usize;
        if came == 1 && is_end && self.going.is_empty() {
            self.offset = offset;
            self.own = Own::Closed;
        } else if came <= self.going.len() {
            self.going.copy_within(came.., 0);
            self.going.truncate(self.going.len() - came);
            self.offset = offset;
        }
    }

    /// The other end is gone. If it had also closed the stream, and has received everything, that is no error.
    fn is_gone(&mut self, is_end: bool) {
        if is_end && self.is_whole {
            self.own = Own::Closed;
        }
        self.failure = Some(StreamError::Reset);
    }

    /// Sends the next request, if there is one. Returns whether it did.
    fn ask(&mut self, context: &mut Context<'_>) -> bool {
        let now = self.mesh.uptime();
        if self.pending.is_some() || now < self.pause_until {
            return false;
        }
        let piece = self.going.get(..PIECE).unwrap_or(&self.going);
        let fits = piece.get(..self.peer_room as usize).unwrap_or(piece);
        let speech = if !self.going.is_empty() {
            // An empty piece if the other end has no room.
            Speech::Piece {
                offset: self.offset,
                bytes: fits,
            }
        } else if self.own == Own::Closing {
            Speech::End { offset: self.offset }
        } else if self.is_quiet(now) {
            Speech::Piece {
                offset: self.offset,
                bytes: &[],
            }
        } else {
            return false;
        };
        let is_end = matches!(speech, Speech::End { .. });
        let bytes = speech.write((self.receiver.port(), self.session));
        let (mesh, dest, port) = (self.mesh, self.peer, self.peer_port);
        let Some(ticket) = mesh.try_carry(Job::new(SendMode::Request, dest, port), &bytes, context) else {
            return false;
        };
        self.pending = Some(Pending {
            ticket,
            is_end,
            at: now,
        });
        true
    }

    /// Whether the other end has been silent for so long that it may be gone. One that has closed its direction need not be there.
    fn is_quiet(&self, now: Micros) -> bool {
        !self.is_whole && self.heard.is_none_or(|heard| now.saturating_sub(heard) >= QUIET)
    }

    /// Tells the other end of new room, if it was told that there is little.
    fn tell_room(&mut self, context: &mut Context<'_>) {
        if self.told_room >= Self::WORTH_TELLING || self.room() < Self::WORTH_TELLING || self.is_whole {
            return;
        }
        let speech = Speech::Room {
            room: self.room() as u32,
        };
        let bytes = speech.write((self.receiver.port(), self.session));
        let (mesh, dest, port) = (self.mesh, self.peer, self.peer_port);
        if mesh.post(Job::new(SendMode::Datagram, dest, port), &bytes, context) {
            self.told_room = self.room();
        }
    }

    /// Sets a timer for work that no message triggers.
    fn set_alarm(&mut self, context: &mut Context<'_>) {
        let quiet = match self.heard {
            _ if self.is_whole => Micros::MAX,
            Some(heard) => heard.saturating_add(QUIET),
            None => 0,
        };
        let wants = !self.going.is_empty() || self.own == Own::Closing;
        let at = match &self.pending {
            _ if self.failure.is_some() => Micros::MAX,
            Some(pending) => pending.at.saturating_add(self.persistence.wait()),
            None if wants => self.pause_until,
            None => quiet.max(self.pause_until),
        };
        if at == Micros::MAX {
            self.alarm = None;
            return;
        }
        if self.alarm.as_ref().is_none_or(|alarm| alarm.at() != at) {
            self.alarm = Some(self.mesh.sleep_until(at));
        }
        if let Some(alarm) = &mut self.alarm
            && pin!(alarm).poll(context).is_ready()
        {
            // Anything due lacks a place, which will wake the task.
            self.alarm = None;
        }
    }
}

impl<const ROOM: usize> ErrorType for Stream<'_, ROOM> {
    type Error = StreamError;
}

impl<const ROOM: usize> Read for Stream<'_, ROOM> {
    /// Waits for bytes; returns 0 if the other end has closed the stream.
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, StreamError> {
        poll_fn(|context| self.poll_read(buffer, context)).await
    }
}

impl<const ROOM: usize> Write for Stream<'_, ROOM> {
    /// Waits until there is room for some of the bytes.
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, StreamError> {
        poll_fn(|context| self.poll_write(bytes, context)).await
    }

    /// Waits until the other end has everything that was written.
    async fn flush(&mut self) -> Result<(), StreamError> {
        poll_fn(|context| self.poll_flush(context)).await
    }
}
