//! What joins the serial ports to the rest of the chip: time, DMA, and what goes over the wires.

use std::vec::Drain;

use super::Chip;
use super::peripheral::Peripheral;
use super::slots::LINES;
use super::wave::Wave;
use crate::cpu::{Cycles, NEVER};
use crate::memory::Memory;

impl Chip {
    /// Advances a UART event by event, so that DMA takes each byte when it comes and not when software next looks. Returns when it
    /// is due next.
    pub(super) fn serve_uart(&mut self, uart: usize, now: Cycles, memory: &mut Memory) -> Cycles {
        let Some(port) = self.uarts[uart].as_deref_mut() else {
            return NEVER;
        };
        let (mut due, mut raised) = (port.next_event(), false);
        loop {
            // Waves that were told late lead to nothing in the past.
            let then = due.clamp(self.served[uart].min(now), now);
            port.advance(then);
            raised |= self.dma.serve(uart, port, then, memory);
            due = port.next_event();
            if then == now || due > now {
                break;
            }
        }
        self.served[uart] = now;
        if port.take_sent_nowhere() {
            self.sends_nowhere(uart);
        }
        if raised {
            self.dirty |= LINES;
            self.check_dma();
        }
        due
    }

    /// Something arrives at a serial port, in order. Nothing is done yet; returns when that will be due.
    pub(crate) fn hear(&mut self, uart: usize, waves: impl Iterator<Item = Wave>, now: Cycles) -> Cycles {
        let Some(port) = self.uarts.get_mut(uart).and_then(Option::as_mut) else {
            return NEVER;
        };
        // What was due before they came stays due then.
        self.served[uart] = self.served[uart].max(port.next_event().min(now));
        waves.for_each(|wave| port.hear(wave));
        if port.reaction_time().is_none() {
            // It forgets what it does not listen to.
            self.dirty |= self.slots.bit_of_uart(uart);
        }
        let due = port.next_event();
        self.slots.date_uart(uart, due);
        self.next = self.next.min(due);
        due
    }

    /// Leads what a serial port has put out since the last call to another one of the same chip, as a cable between the two would.
    pub fn carry(&mut self, from: usize, to: usize, now: Cycles) {
        let waves: Vec<Wave> = self.take_output(from).into_iter().flatten().collect();
        if !waves.is_empty() {
            self.hear(to, waves.into_iter(), now);
        }
    }

    /// What a serial port has put out since the last call.
    pub(crate) fn take_output(&mut self, uart: usize) -> Option<Drain<'_, Wave>> {
        Some(self.uarts.get_mut(uart)?.as_mut()?.take_output())
    }
}
