//! One direction of a wire between two serial ports, with what can happen to it.

use std::collections::VecDeque;

use crate::chip::usart::Edge;
use crate::time::Time;

/// A serial port of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    /// Which board.
    pub board: usize,
    /// Which of its serial ports: 0 to 5 are USART1, USART2, USART3, UART4, UART5 and USART6.
    pub uart: usize,
}

/// What a conductor does.
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
    /// The sender's level, and its edges that are still to come, whatever arrives of them.
    level: bool,
    coming: VecDeque<Edge<Time>>,
}

impl Conductor {
    pub(super) fn new(to: Option<Port>) -> Self {
        Conductor {
            to,
            condition: Condition::Whole,
            level: true,
            coming: VecDeque::new(),
        }
    }

    fn forget_until(&mut self, now: Time) {
        while let Some(edge) = self.coming.front().filter(|edge| edge.at <= now) {
            self.level = edge.level;
            self.coming.pop_front();
        }
    }

    /// Takes edges of the sender's and returns whether they arrive.
    pub(super) fn carry(&mut self, edges: impl Iterator<Item = Edge<Time>>, now: Time) -> bool {
        self.forget_until(now);
        for edge in edges {
            while self.coming.back().is_some_and(|last| last.at >= edge.at) {
                self.coming.pop_back();
            }
            self.coming.push_back(edge);
        }
        self.condition == Condition::Whole
    }

    /// Changes the condition and returns the edges that the receiver sees because of it.
    pub(super) fn set_condition(&mut self, condition: Condition, now: Time) -> Vec<Edge<Time>> {
        self.forget_until(now);
        self.condition = condition;
        match condition {
            Condition::Cut => vec![Edge { at: now, level: true }],
            Condition::StuckLow => vec![Edge { at: now, level: false }],
            Condition::Whole => {
                let present = Edge {
                    at: now,
                    level: self.level,
                };
                std::iter::once(present).chain(self.coming.iter().copied()).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: Port = Port { board: 1, uart: 0 };

    fn edges(list: &[(Time, bool)]) -> Vec<Edge<Time>> {
        list.iter().map(|&(at, level)| Edge { at, level }).collect()
    }

    #[test]
    fn a_cut_hides_and_a_plug_shows_the_rest_of_a_frame() {
        let mut wire = Conductor::new(Some(B));
        let frame = edges(&[(100, false), (200, true), (300, false), (400, true)]);
        assert!(wire.carry(frame.into_iter(), 90));
        assert_eq!(wire.set_condition(Condition::Cut, 150), edges(&[(150, true)]));
        let hidden = edges(&[(500, false), (600, true)]);
        assert!(!wire.carry(hidden.into_iter(), 350));
        assert_eq!(
            wire.set_condition(Condition::Whole, 550),
            edges(&[(550, false), (600, true)])
        );
    }

    #[test]
    fn stuck_low_holds_the_line_down() {
        let mut wire = Conductor::new(Some(B));
        assert_eq!(wire.set_condition(Condition::StuckLow, 10), edges(&[(10, false)]));
        assert!(!wire.carry([Edge { at: 20, level: false }].into_iter(), 15));
    }
}
