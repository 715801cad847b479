//! One direction of a wire between two serial ports, with what can happen to it.

use std::collections::VecDeque;

use crate::chip::UART_NAMES;
use crate::chip::wave::Wave;
use crate::time::Time;

/// A serial port of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    /// Which board.
    pub board: usize,
    /// Which of its serial ports: 0 to 5 are USART1, USART2, USART3, UART4, UART5 and USART6.
    pub uart: usize,
}

impl Port {
    /// By board and serial port.
    pub const fn new(board: usize, uart: usize) -> Self {
        Port { board, uart }
    }
}

impl std::fmt::Display for Port {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}", self.board, UART_NAMES.get(self.uart).unwrap_or(&"?"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    Whole,
    /// The receiver's pull-up keeps it high.
    Cut,
    StuckLow,
}

/// One direction of a wire: what a sender puts out, and what of it arrives at the other end.
#[derive(Clone, Debug, Hash)]
pub(super) struct Conductor {
    /// `None` while nothing is plugged in there.
    pub(super) to: Option<Port>,
    pub(super) condition: Condition,
    /// What the sender does now and what it will do, whatever arrives of it. It begins with a high level.
    sent: VecDeque<Wave>,
}

impl Conductor {
    pub(super) fn new(to: Option<Port>) -> Self {
        Conductor {
            to,
            condition: Condition::Whole,
            sent: VecDeque::new(),
        }
    }

    fn forget_until(&mut self, now: Time) {
        while self.sent.get(1).is_some_and(|next| next.at <= now) {
            self.sent.pop_front();
        }
    }

    /// Takes what the sender does and returns whether it arrives.
    pub(super) fn carry(&mut self, waves: impl Iterator<Item = Wave>, now: Time) -> bool {
        self.forget_until(now);
        for wave in waves {
            while self.sent.back().is_some_and(|last| last.at >= wave.at) {
                self.sent.pop_back();
            }
            self.sent.push_back(wave);
        }
        self.condition == Condition::Whole
    }

    /// Changes the condition and returns what the receiver sees because of it.
    pub(super) fn set_condition(&mut self, condition: Condition, now: Time) -> Vec<Wave> {
        self.forget_until(now);
        self.condition = condition;
        match condition {
            Condition::Cut => vec![Wave::level(now, true)],
            Condition::StuckLow => vec![Wave::level(now, false)],
            Condition::Whole => match self.sent.front().filter(|wave| wave.at <= now) {
                Some(present) => present.rest(now).chain(self.sent.iter().skip(1).copied()).collect(),
                None => std::iter::once(Wave::level(now, true))
                    .chain(self.sent.iter().copied())
                    .collect(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: Port = Port { board: 1, uart: 0 };

    fn levels(list: &[(Time, bool)]) -> Vec<Wave> {
        list.iter().map(|&(at, level)| Wave::level(at, level)).collect()
    }

    #[test]
    fn a_cut_hides_and_a_plug_shows_the_rest_of_a_frame() {
        let mut wire = Conductor::new(Some(B));
        let frame = levels(&[(100, false), (200, true), (300, false), (400, true)]);
        assert!(wire.carry(frame.into_iter(), 90));
        assert_eq!(wire.set_condition(Condition::Cut, 150), levels(&[(150, true)]));
        let hidden = levels(&[(500, false), (600, true)]);
        assert!(!wire.carry(hidden.into_iter(), 350));
        let found = wire.set_condition(Condition::Whole, 550);
        assert_eq!(found, levels(&[(550, false), (600, true)]));
    }

    #[test]
    fn stuck_low_holds_the_line_down() {
        let mut wire = Conductor::new(Some(B));
        assert_eq!(wire.set_condition(Condition::StuckLow, 10), levels(&[(10, false)]));
        assert!(!wire.carry([Wave::level(20, false)].into_iter(), 15));
    }
}
