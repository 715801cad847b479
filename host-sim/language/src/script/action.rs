//! What can happen to a board or a cable.

use std::fmt;

use hopwise_core::Node;

use crate::Time;

/// Something that happens to a board or a cable. A cable is named by one of its ends, a direction by where it leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action<P> {
    Cut(P),
    /// The cable is plugged in again, and whole.
    Plug(P),
    /// The far end of the cable at the first port goes to the second, which is free.
    PlugInto(P, P),
    OneWay(P),
    /// It does again.
    BothWays(P),
    /// The cable is plugged in the wrong way round: nothing passes.
    Reverse(P),
    Stuck(P),
    /// The line is low for a time, two byte times unless said otherwise.
    Break(P, Option<Time>),
    /// Each bit is inverted with this chance.
    Noise(P, f64),
    /// No longer.
    Quiet(P),
    Burst(P, Time),
    Swap(P, P),
    Reset(Node),
    /// The supply begins to fall, to nothing within a time.
    Brownout(Node, Time),
    Off(Node),
    On(Node),
    /// The same happens to every board. Who plays a script sees it board by board.
    All(Power),
    Press(Node),
    Release(Node),
}

/// What can happen to every board at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    Reset,
    Off,
    On,
}

impl Power {
    /// The same at one board.
    pub(super) fn at<P>(self, node: Node) -> Action<P> {
        match self {
            Power::Reset => Action::Reset(node),
            Power::Off => Action::Off(node),
            Power::On => Action::On(node),
        }
    }
}

pub(super) const EVERY: [Action<()>; 18] = [
    Action::Cut(()),
    Action::Plug(()),
    Action::PlugInto((), ()),
    Action::OneWay(()),
    Action::BothWays(()),
    Action::Reverse(()),
    Action::Stuck(()),
    Action::Break((), None),
    Action::Noise((), 0.0),
    Action::Quiet(()),
    Action::Burst((), Time::from_nanos(0)),
    Action::Swap((), ()),
    Action::Reset(0),
    Action::Brownout(0, Time::from_nanos(0)),
    Action::Off(0),
    Action::On(0),
    Action::Press(0),
    Action::Release(0),
];

impl<P> Action<P> {
    pub fn word(&self) -> &'static str {
        match self {
            Action::Cut(_) => "cut",
            Action::Plug(_) | Action::PlugInto(..) => "plug",
            Action::OneWay(_) => "one-way",
            Action::BothWays(_) => "both-ways",
            Action::Reverse(_) => "reverse",
            Action::Stuck(_) => "stuck",
            Action::Break(..) => "break",
            Action::Noise(..) => "noise",
            Action::Quiet(_) => "quiet",
            Action::Burst(..) => "burst",
            Action::Swap(..) => "swap",
            Action::Reset(_) | Action::All(Power::Reset) => "reset",
            Action::Brownout(..) => "brownout",
            Action::Off(_) | Action::All(Power::Off) => "off",
            Action::On(_) | Action::All(Power::On) => "on",
            Action::Press(_) => "press",
            Action::Release(_) => "release",
        }
    }

    /// The board that it happens to, if it is one.
    pub fn board(&self) -> Option<Node> {
        match *self {
            Action::Reset(node)
            | Action::Brownout(node, _)
            | Action::Off(node)
            | Action::On(node)
            | Action::Press(node)
            | Action::Release(node) => Some(node),
            _ => None,
        }
    }

    /// The same elsewhere.
    pub(super) fn at<Q, E>(self, mut place: impl FnMut(P) -> Result<Q, E>) -> Result<Action<Q>, E> {
        Ok(match self {
            Action::Cut(port) => Action::Cut(place(port)?),
            Action::Plug(port) => Action::Plug(place(port)?),
            Action::PlugInto(port, to) => Action::PlugInto(place(port)?, place(to)?),
            Action::OneWay(port) => Action::OneWay(place(port)?),
            Action::BothWays(port) => Action::BothWays(place(port)?),
            Action::Reverse(port) => Action::Reverse(place(port)?),
            Action::Stuck(port) => Action::Stuck(place(port)?),
            Action::Break(port, length) => Action::Break(place(port)?, length),
            Action::Noise(port, chance) => Action::Noise(place(port)?, chance),
            Action::Quiet(port) => Action::Quiet(place(port)?),
            Action::Burst(port, length) => Action::Burst(place(port)?, length),
            Action::Swap(a, b) => Action::Swap(place(a)?, place(b)?),
            Action::Reset(node) => Action::Reset(node),
            Action::Brownout(node, within) => Action::Brownout(node, within),
            Action::Off(node) => Action::Off(node),
            Action::On(node) => Action::On(node),
            Action::All(power) => Action::All(power),
            Action::Press(node) => Action::Press(node),
            Action::Release(node) => Action::Release(node),
        })
    }
}

impl<P: fmt::Display> fmt::Display for Action<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Action::Cut(port) | Action::Plug(port) | Action::OneWay(port) | Action::BothWays(port) => {
                write!(f, "{word} {port}")
            }
            Action::Reverse(port) | Action::Stuck(port) | Action::Break(port, None) | Action::Quiet(port) => {
                write!(f, "{word} {port}")
            }
            Action::PlugInto(a, b) | Action::Swap(a, b) => write!(f, "{word} {a} {b}"),
            Action::Noise(port, chance) => write!(f, "{word} {port} {chance}"),
            Action::Burst(port, length) | Action::Break(port, Some(length)) => write!(f, "{word} {port} {length}"),
            Action::Brownout(node, within) => write!(f, "{word} {node} {within}"),
            Action::All(_) => write!(f, "{word} all"),
            Action::Reset(node)
            | Action::Off(node)
            | Action::On(node)
            | Action::Press(node)
            | Action::Release(node) => {
                write!(f, "{word} {node}")
            }
        }
    }
}
