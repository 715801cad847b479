//! One client's output queue, which is bounded.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::line;

/// Maximum number of queued lines. Further messages are only counted, and no input is read until there is room.
const MAX_LINES: usize = 128;
/// Maximum number of requests of a client in flight.
pub(super) const AT_ONCE: usize = 16;

#[derive(Default)]
struct State {
    /// The lines, each with whether it is the response to a request in flight.
    lines: VecDeque<(String, bool)>,
    under_way: usize,
    missed: u64,
    input_ended: bool,
    closed: bool,
}

impl State {
    fn push(&mut self, line: String) {
        self.lines.push_back((line, false));
    }

    fn tell_missed(&mut self) {
        match std::mem::take(&mut self.missed) {
            0 => {}
            count => self.push(line::missed(count)),
        }
    }
}

#[derive(Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, condition: impl FnMut(&mut State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_while(self.state(), condition);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line, waiting for room. Returns whether the client is still connected.
    pub(super) fn say(&self, line: String) -> bool {
        let mut state = self.wait_while(|state| state.lines.len() >= MAX_LINES && !state.closed);
        state.push(line);
        self.changed.notify_all();
        !state.closed
    }

    /// Begins a request, unless too many are in flight.
    pub(super) fn begin(&self) -> bool {
        let mut state = self.state();
        let room = state.under_way < AT_ONCE;
        state.under_way += usize::from(room);
        room
    }

    /// Adds the response to a request that was begun. There is always room: requests are counted until their response is written.
    pub(super) fn complete(&self, line: String) {
        self.state().lines.push_back((line, true));
        self.changed.notify_all();
    }

    /// Adds a message, or counts it if there is no room. Returns whether the client is still connected.
    pub(super) fn message(&self, line: impl FnOnce() -> String) -> bool {
        let mut state = self.state();
        if state.lines.len() >= MAX_LINES {
            state.missed += 1;
            return !state.closed;
        }
        state.tell_missed();
        state.push(line());
        self.changed.notify_all();
        !state.closed
    }

    /// Adds a line if there is room; returns whether there was.
    pub(super) fn offer(&self, line: impl FnOnce() -> String) -> bool {
        let mut state = self.state();
        let room = state.lines.len() < MAX_LINES && !state.closed;
        if room {
            state.push(line());
            self.changed.notify_all();
        }
        room
    }

    /// Adds the last line, whether there is room or not.
    pub(super) fn say_last(&self, line: String) {
        let mut state = self.state();
        state.push(line);
        state.input_ended = true;
        self.changed.notify_all();
    }

    pub(super) fn is_open(&self) -> bool {
        !self.state().closed
    }

    pub(super) fn end_input(&self) {
        self.state().input_ended = true;
        self.changed.notify_all();
    }

    /// The client has disconnected, or is disconnected.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// Writes lines until the client disconnects, or its input has ended and all responses are written.
    pub(super) fn write(&self, mut out: impl Write) {
        while let Some((line, completes)) = self.next() {
            let written = writeln!(out, "{line}").and_then(|()| out.flush());
            let mut state = self.state();
            state.under_way -= usize::from(completes);
            state.closed |= written.is_err();
            self.changed.notify_all();
        }
        self.close();
    }

    fn next(&self) -> Option<(String, bool)> {
        let has_ended = |state: &State| state.closed || state.input_ended && state.under_way == 0;
        let mut state = self.wait_while(|state| state.lines.is_empty() && !has_ended(state));
        let line = state.lines.pop_front().filter(|_| !state.closed);
        // There may be no further message for long.
        if state.lines.len() <= MAX_LINES / 2 {
            state.tell_missed();
        }
        self.changed.notify_all();
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(outbox: &Outbox) -> Vec<String> {
        let mut bytes = Vec::new();
        outbox.write(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(String::from).collect()
    }

    #[test]
    fn who_does_not_read_costs_no_more_than_so_many_lines() {
        let outbox = Outbox::default();
        for number in 0..10_000 {
            assert!(outbox.message(|| number.to_string()));
        }
        assert_eq!(outbox.state().lines.len(), MAX_LINES);
        assert!((0..AT_ONCE).all(|_| outbox.begin()));
        assert!(!outbox.begin());
        // Responses always have room.
        (0..AT_ONCE).for_each(|number| outbox.complete(format!("answer {number}")));
        assert!(!outbox.begin(), "a response counts until it is written");
        outbox.end_input();
        let lines = written(&outbox);
        assert_eq!(lines.len(), MAX_LINES + AT_ONCE + 1);
        assert_eq!((lines[0].as_str(), lines[MAX_LINES].as_str()), ("0", "answer 0"));
        assert_eq!(lines.last(), Some(&line::missed(10_000 - MAX_LINES as u64)));
    }

    #[test]
    fn what_was_missed_is_told_before_the_next_message() {
        let outbox = Outbox::default();
        let message = |text: &str| outbox.message(|| text.into());
        assert!((0..MAX_LINES + 3).all(|_| message("early")));
        assert_eq!(outbox.next(), Some(("early".into(), false)));
        assert_eq!(outbox.next(), Some(("early".into(), false)));
        assert!(message("late"));
        outbox.end_input();
        let lines = written(&outbox);
        assert_eq!(lines[lines.len() - 2..], [line::missed(3).as_str(), "late"]);
    }

    #[test]
    fn what_was_missed_is_told_though_no_message_comes() {
        let outbox = Outbox::default();
        assert!((0..MAX_LINES + 3).all(|_| outbox.message(|| "early".into())));
        let read: Vec<_> = (0..=MAX_LINES).filter_map(|_| outbox.next()).collect();
        assert_eq!(read.last(), Some(&(line::missed(3), false)));
    }

    #[test]
    fn the_end_of_input_waits_for_answers_and_a_client_that_is_gone_for_nothing() {
        let outbox = Outbox::default();
        assert!(outbox.begin());
        outbox.end_input();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| written(&outbox));
            outbox.complete("answer".into());
            assert_eq!(writer.join().unwrap(), ["answer"]);
        });
        assert!(!outbox.say("more".into()) && !outbox.message(String::new));

        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let outbox = Outbox::default();
        assert!(outbox.say("hello".into()));
        outbox.write(Gone);
        assert!(!outbox.say("more".into()));
    }
}
