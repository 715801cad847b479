//! The clock of the mesh: what links hear of it, and what is said on them.

use super::event::{Event, Observer};
use super::{ClockTicks, MeshTime, Router};
use crate::capacities::Capacities;
use crate::link::Micros;
use crate::wire::TimeSignal;
use hopwise_core::Node;

impl<C: Capacities> Router<C> {
    /// What time it is in the mesh, as a function of the clock that the shell looks at.
    pub fn mesh_time(&self) -> &MeshTime {
        self.services.clock.time()
    }

    /// Whose clock that is.
    pub fn time_root(&self) -> Node {
        self.services.clock.root()
    }

    /// Whether the frame that [`transmit`](Self::transmit) has just written on a link is one whose start is to be
    /// [noted](Self::note_start).
    pub fn awaits_start(&self, link: u8) -> bool {
        self.services.clock.awaits_start(link)
    }

    /// The frame just written, of `length` bytes, begins on the wire at that time.
    pub fn note_start(&mut self, link: u8, at: ClockTicks, length: usize) {
        let Some(end) = self.links.get(usize::from(link)) else {
            return;
        };
        // ClockTicks are quarters of 1,000/64 nanoseconds.
        let nanos = u64::from(end.byte_nanos()).saturating_mul(length as u64);
        let on_the_wire = nanos.saturating_mul(32) / 125;
        self.services.clock.left(link, at.wrapping_add(on_the_wire));
    }

    pub(super) fn hear_time(&mut self, link: u8, signal: &TimeSignal, came: Option<ClockTicks>, now: Micros) {
        if self.forwarding.wiring.neighbor_at(link).is_some() {
            self.services
                .clock
                .hear(link, signal, came, self.network().nodes(), now);
            self.speak_time();
        }
    }

    pub(super) fn keep_time(&mut self, now: Micros, observer: &mut impl Observer) {
        self.services.clock.tick(now);
        self.speak_time();
        if let Some(tidings) = self.services.clock.take_tidings(now) {
            observer.note(Event::Clock {
                root: tidings.root,
                local: now,
                mesh: tidings.mesh,
                rate: tidings.rate,
            });
        }
    }

    /// Asks links for signals if there is news.
    pub(super) fn speak_time(&mut self) {
        if self.services.clock.take_speech() {
            for (_, link) in self.forwarding.wiring.live() {
                if let Some(end) = self.links.get_mut(usize::from(link)) {
                    end.want_time();
                }
            }
        }
    }

    pub(super) fn write_time(&mut self, link: u8, now: Micros, out: &mut [u8]) -> Option<usize> {
        let signal = self.services.clock.signal(link, now)?;
        self.links.get_mut(usize::from(link))?.write_time(&signal, now, out)
    }
}
