//! A serial port from outside: what pins, wires, DMA and the host do with it.

use std::vec::Drain;

use super::super::rx_pin::Noise;
use super::super::wave::Wave;
use super::{DMAR, DMAT, FE, IDLE, NF, ORE, PE, RE, RXNE, TC, TXE, UE, UartCounters, Usart};
use crate::cpu::Cycles;

impl Usart {
    /// Says which of the pins with the cable are connected to it.
    pub(crate) fn set_pins(&mut self, tx: bool, rx: bool, now: Cycles) {
        let was_receiving = self.can_receive();
        (self.has_tx, self.has_rx) = (tx, rx);
        self.begin_to_listen(was_receiving, now);
    }

    /// Its line has a level from now on, whatever it sends: it has lost its power, or has it back.
    pub(crate) fn hold_line(&mut self, level: bool, now: Cycles) {
        self.output.push(Wave::level(now, level));
    }

    /// Whether it has sent something without its pin since the last call.
    pub(crate) fn take_sent_nowhere(&mut self) -> bool {
        std::mem::take(&mut self.sent_nowhere)
    }

    pub(crate) fn listens_nowhere(&self) -> bool {
        self.control[0] & (UE | RE) == UE | RE && !self.has_rx
    }

    pub(crate) fn wants_dma_read(&self) -> bool {
        self.control[2] & DMAR != 0 && self.status & RXNE != 0 && !self.stops_dma()
    }

    pub(crate) fn wants_dma_write(&self) -> bool {
        self.control[2] & DMAT != 0 && self.status & TXE != 0 && self.can_send()
    }

    /// Takes the received byte, as a read of the data register does.
    pub(crate) fn take_data(&mut self) -> u32 {
        if self.is_v3() {
            return self.take_oldest();
        }
        self.status &= !RXNE;
        if std::mem::take(&mut self.status_read) {
            self.status &= !(IDLE | ORE | NF | FE | PE);
        }
        self.received
    }

    /// Gives a byte to be sent, as a write of the data register does.
    pub(crate) fn give_data(&mut self, value: u32, now: Cycles) {
        if !self.can_send() {
            return;
        }
        // A byte too many takes the place of the last.
        self.waiting.truncate(self.depth() - 1);
        self.waiting.push_back(value & 0x1ff);
        if self.waiting.len() == self.depth() {
            self.status &= !TXE;
        }
        if std::mem::take(&mut self.status_read) || self.is_v3() {
            self.status &= !TC;
        }
        if self.sending_until.is_none() {
            self.start_frame(now);
        }
    }

    pub(crate) fn bit_time(&self) -> Cycles {
        self.lengths.bit
    }

    /// How soon after an edge software can notice it; `None` if the port does not listen.
    pub(crate) fn reaction_time(&self) -> Option<Cycles> {
        self.can_receive().then_some(self.lengths.to_stop)
    }

    /// When the line will have been idle for a frame, if nothing comes.
    pub(crate) fn idle_decision(&self) -> Option<Cycles> {
        let idle = self.idle_since? + self.lengths.frame;
        self.rx_pin.next_fall().is_none_or(|fall| fall > idle).then_some(idle)
    }

    pub(crate) fn hear(&mut self, wave: Wave) {
        self.rx_pin.push(wave);
    }

    /// Disturbs the receiver's wire from now on, or no longer.
    pub(crate) fn set_noise(&mut self, noise: Option<Noise>) {
        self.rx_pin.set_noise(noise);
    }

    pub(crate) fn keep_bytes(&mut self) {
        self.bytes.get_or_insert_default();
    }

    /// The bytes sent since the last call, if they are kept.
    pub(crate) fn take_bytes(&mut self) -> Vec<u8> {
        self.bytes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// What the transmitter has put out since the last call.
    pub(crate) fn take_output(&mut self) -> Drain<'_, Wave> {
        self.output.drain(..)
    }

    /// What has passed through it.
    pub fn counters(&self) -> UartCounters {
        self.counters
    }
}
