//! The clock of the mesh: time signals received and sent on links.

use super::event::{Event, Observer};
use super::{ClockTicks, MeshTime, Router};
use crate::capacities::Capacities;
use crate::link::Micros;
use crate::wire::TimeSignal;

impl<C: Capacities> Router<C> {
    /// The mesh time as a function of the shell's clock.
    pub fn mesh_time(&self) -> &MeshTime {
        self.services.clock.time()
    }

    /// Whether the start of the frame that [`transmit`](Self::transmit) has just written on a link is to be
    /// [noted](Self::note_start).
    pub fn awaits_start(&self, link: u8) -> bool {
        self.services.clock.awaits_start(link)
    }

    /// Records when the frame just written, of `length` bytes, starts on the wire.
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
        self.own_stirred = true;
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

    /// Requests signals on the links if there is news.
    pub(super) fn speak_time(&mut self) {
        if self.services.clock.take_speech() {
            for (_, link) in self.forwarding.wiring.live() {
                if let Some(end) = self.links.get_mut(usize::from(link)) {
                    end.want_time();
                    self.stirred |= 1 << link;
                }
            }
        }
    }

    pub(super) fn write_time(&mut self, link: u8, now: Micros, out: &mut [u8]) -> Option<usize> {
        let signal = self.services.clock.signal(link, now)?;
        self.links.get_mut(usize::from(link))?.write_time(&signal, now, out)
    }
}
