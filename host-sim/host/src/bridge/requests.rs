//! Requests from boards to a client.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use hopwise_node::wire::AppPort;

use crate::host_port::Incoming;
use crate::mesh::RESPONSE_TIMEOUT;

/// Maximum number of pending requests of a client.
const MAX_OPEN: usize = 64;

#[derive(Default)]
pub(super) struct Requests {
    served: BTreeSet<AppPort>,
    open: VecDeque<Open>,
    next_number: u64,
}

struct Open {
    number: u64,
    came: Instant,
    request: Incoming,
}

impl Requests {
    pub(super) fn serve(&mut self, port: AppPort) {
        self.served.insert(port);
    }

    pub(super) fn leave(&mut self, port: AppPort) {
        self.served.remove(&port);
    }

    pub(super) fn are_for(&self, message: &Incoming) -> bool {
        message.pending.is_some() && self.served.contains(&message.port)
    }

    /// Keeps one until it is answered; returns its number, or `None` if the client has too many.
    pub(super) fn keep(&mut self, request: &Incoming, now: Instant) -> Option<u64> {
        // Their senders have timed out.
        self.open
            .retain(|open| now.duration_since(open.came) < RESPONSE_TIMEOUT);
        if self.open.len() >= MAX_OPEN {
            return None;
        }
        self.next_number += 1;
        self.open.push_back(Open {
            number: self.next_number,
            came: now,
            request: request.clone(),
        });
        Some(self.next_number)
    }

    /// Takes a pending request, to respond to it.
    pub(super) fn take(&mut self, number: u64) -> Option<Incoming> {
        let place = self.open.iter().position(|open| open.number == number)?;
        self.open.remove(place).map(|open| open.request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_answers_nothing_is_asked_no_more_until_nobody_waits() {
        let mut requests = Requests::default();
        let request = Incoming {
            source: 1,
            from_host: false,
            port: AppPort(16),
            bytes: vec![],
            pending: None,
        };
        let now = Instant::now();
        let numbers: Vec<_> = (0..MAX_OPEN).filter_map(|_| requests.keep(&request, now)).collect();
        assert_eq!(numbers.len(), MAX_OPEN);
        assert_eq!(requests.keep(&request, now), None);
        assert_eq!(requests.take(numbers[3]), Some(request.clone()));
        assert_eq!(requests.take(numbers[3]), None, "it is answered once");
        assert!(requests.keep(&request, now).is_some());
        assert!(requests.keep(&request, now + RESPONSE_TIMEOUT).is_some());
        assert_eq!(requests.open.len(), 1);
    }
}
