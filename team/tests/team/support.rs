//! Programs on simulated boards, and what they wrote down.

use std::cell::RefCell;
use std::rc::Rc;

use hopwise_app::{AppPort, Node};
use hopwise_sim::Settings;
use hopwise_team::TeamError;

pub(crate) const PORT: AppPort = AppPort(20);

/// What came to pass: board, time, result.
pub(crate) type Log<T> = Rc<RefCell<Vec<(Node, u64, Result<T, TeamError>)>>>;

pub(crate) fn settings(network: &str, events: Option<&str>, seconds: u64) -> Settings {
    Settings {
        network: Some(network.into()),
        events: events.map(Into::into),
        duration: Some(format!("{seconds}s").parse().unwrap()),
        ..Settings::default()
    }
}

/// Maps x -> a x + b: they do not commute.
pub(crate) fn compose(first: (u32, u32), second: (u32, u32)) -> (u32, u32) {
    let factor = first.0.wrapping_mul(second.0);
    (factor, second.0.wrapping_mul(first.1).wrapping_add(second.1))
}
