//! What a program and its board tell each other: that the program stops the board for a while, or that it runs; LED and button.

use core::future::poll_fn;

use hopwise_node::link::Micros;
use hopwise_node::wire::PAUSE_UNIT;

use crate::mesh::Mesh;

/// Time by which the neighbors know of a pause: longer than a frame takes at the slowest rate.
const ANNOUNCEMENT: Micros = 50_000;
/// The wire has room for this many units.
const MAX_UNITS: Micros = 15;

/// An announced pause; see [`Mesh::pause`]. It is over when this is dropped.
#[derive(Debug)]
pub struct Pause<'a> {
    mesh: Mesh<'a>,
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.mesh.mailbox.end_pause();
    }
}

impl<'a> Mesh<'a> {
    /// Announces to all neighbors that this node neither sends nor receives until the result is dropped, for up to a number of
    /// microseconds (3.8 seconds at most): so links stay up while the whole board stands still, as when its flash is erased. Returns when
    /// they know. Programs pause one after the other. Neighbors allow a node a tenth of its time for pauses.
    pub async fn pause(self, micros: Micros) -> Pause<'a> {
        let units = micros.div_ceil(PAUSE_UNIT).min(MAX_UNITS) as u8;
        while !self.mailbox.pause(units) {
            self.sleep(ANNOUNCEMENT).await;
        }
        let pause = Pause { mesh: self };
        self.sleep(ANNOUNCEMENT).await;
        pause
    }

    /// Has a board restart unless this, or [`unwatch`](Self::unwatch), is called within a number of microseconds. A board restarts for no
    /// program that has not asked for it: a program that hangs does not hold up its node. Pauses of the board count, such as the two
    /// seconds in which a sector of its flash is erased. In the simulator nothing restarts.
    pub fn watch(self, timeout: Micros) {
        self.mailbox.watch(self.uptime().saturating_add(timeout));
    }

    /// Switches the board's LED on or off, within an eighth of a second; `None` has it show the state of the node again. A board that is in
    /// no mesh shows that in any case.
    pub fn set_led(self, on: impl Into<Option<bool>>) {
        self.mailbox.set_led(on.into());
    }

    /// Waits until the board's button is pressed; a press before the call does not count. In the simulator nobody presses it.
    pub async fn button_pressed(self) {
        let mut presses = None;
        poll_fn(|context| self.mailbox.poll_button(&mut presses, context.waker())).await;
    }

    /// Ends what [`watch`](Self::watch) began.
    pub fn unwatch(self) {
        self.mailbox.watch(Micros::MAX);
    }
}
