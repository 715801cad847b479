//! Programs on simulated boards, and what they wrote down.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use hopwise_app::{AppPort, Mesh, Node};
use hopwise_sim::{Settings, simulate_programs};
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

/// A program of every board, which writes down what comes to pass.
pub(crate) type Noting<'p, T> = dyn for<'a> Fn(Mesh<'a>, Log<T>) -> Pin<Box<dyn Future<Output = ()> + 'a>> + 'p;

/// Lets a program run on every board, which then waits for the end; returns what the boards have noted.
pub(crate) fn noted<T>(settings: &Settings, program: &Noting<'_, T>) -> Vec<(Node, u64, Result<T, TeamError>)> {
    let log: Log<T> = Rc::default();
    let account = simulate_programs(&settings.run().unwrap(), &|mesh: Mesh<'_>| {
        let running = program(mesh, log.clone());
        Box::pin(async move {
            running.await;
            std::future::pending::<()>().await;
        })
    });
    assert_eq!(account.unwrap().violation, None, "{}", settings.command());
    log.take()
}

pub(crate) fn of<T: Copy>(node: Node, log: &[(Node, u64, T)]) -> Vec<T> {
    let own = log.iter().filter(|noted| noted.0 == node);
    own.map(|noted| noted.2).collect()
}

/// Maps x -> a x + b: they do not commute.
pub(crate) fn compose(first: (u32, u32), second: (u32, u32)) -> (u32, u32) {
    let factor = first.0.wrapping_mul(second.0);
    (factor, second.0.wrapping_mul(first.1).wrapping_add(second.1))
}
