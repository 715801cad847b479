//! Programs of users: what comes for them, and what they send.

use hopwise_app::Shared;
use hopwise_node::limits::BODY;
use hopwise_node::link::Micros;
use hopwise_node::router::{Message, Router};

use crate::boards::NodeSizes;
use crate::driver::Driver;
use crate::observer::BoardObserver;

/// What to do with a message that is for no program.
pub(crate) type Others<'a> = dyn FnMut(&mut Router<NodeSizes>, &mut BoardObserver, &Message<BODY>) + 'a;

/// What the router of a board must know of its programs, however much room they have.
pub(crate) trait Programs {
    /// Moves messages from one to the other.
    fn exchange(&self, router: &mut Router<NodeSizes>, now: Micros, observer: &mut BoardObserver, others: &mut Others<'_>);
    /// Whether they wait for room in the router.
    fn is_waiting(&self) -> bool;
    /// When they must be looked after next.
    fn deadline(&self) -> Micros;
}

impl<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize> Programs for Shared<SENDS, RECEIVERS, DEPTH> {
    fn exchange(&self, router: &mut Router<NodeSizes>, now: Micros, observer: &mut BoardObserver, others: &mut Others<'_>) {
        Shared::exchange(self, router, now, observer, others);
    }

    fn is_waiting(&self) -> bool {
        Shared::is_waiting(self)
    }

    fn deadline(&self) -> Micros {
        Shared::deadline(self)
    }
}

/// Looks after the programs whenever one of them wants something.
pub(crate) async fn carry<const SENDS: usize, const RECEIVERS: usize, const DEPTH: usize>(
    driver: &Driver,
    shared: &Shared<SENDS, RECEIVERS, DEPTH>,
) -> ! {
    loop {
        shared.work().await;
        driver.exchange();
    }
}
