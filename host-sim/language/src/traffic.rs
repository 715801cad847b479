//! Who sends to whom, as people write it.

use std::fmt;
use std::str::FromStr;

use hopwise_core::Node;
use hopwise_node::wire::Pattern;

/// A pattern of traffic. Each user does those that make sense there and [refuses](Self::for_user) the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// To any other node, all equally often.
    Uniform,
    /// To any node, all equally often, the sender included: what BookSim calls uniform.
    UniformWithSelf,
    /// The two halves of the address exchanged: bits if the nodes are a power of 4, else the row and column of a square.
    Transpose,
    /// Node `n` to the last node minus `n`; that is every bit inverted if the nodes are a power of 2.
    BitComplement,
    /// The bits of the address in reverse.
    BitReverse,
    /// The bits of the address rotated by one.
    Shuffle,
    /// Just less than half of the nodes ahead, in every dimension of a ring or torus, else in the numbering.
    Tornado,
    /// Every node to one other, drawn by the seed: along a cycle through all nodes.
    Permutation,
    /// A share of the packets to one node, the others uniform.
    HotSpot { node: Node, share: f64 },
    /// To the neighbors, all equally often.
    Neighbors,
    /// Every packet to all nodes.
    Broadcast,
    /// The same, all nodes at once and as fast as they can.
    BroadcastStorm,
    /// Every node to every other, in turn, beginning with the next.
    AllToAll,
    /// The same with pings, whose answers come back.
    PingAll,
}

/// The hot spot that has no numbers: a third of the packets to node 0.
const USUAL_HOT_SPOT: Traffic = Traffic::HotSpot {
    node: 0,
    share: 1.0 / 3.0,
};

/// How each pattern is written, and how else it may be. A hot spot may have numbers besides.
const NAMES: [(Traffic, &str, &[&str]); 14] = [
    (Traffic::Uniform, "uniform", &["uniform-others"]),
    (Traffic::UniformWithSelf, "uniform-with-self", &[]),
    (Traffic::Neighbors, "neighbors", &["nearest-neighbor"]),
    (Traffic::AllToAll, "all-to-all", &[]),
    (Traffic::PingAll, "ping-all", &[]),
    (Traffic::Permutation, "permutation", &["random-permutation"]),
    (Traffic::Transpose, "transpose", &[]),
    (Traffic::BitComplement, "bit-complement", &["opposite"]),
    (Traffic::BitReverse, "bit-reverse", &[]),
    (Traffic::Shuffle, "shuffle", &[]),
    (Traffic::Tornado, "tornado", &[]),
    (USUAL_HOT_SPOT, "hot-spot", &[]),
    (Traffic::Broadcast, "broadcast", &["broadcast-all"]),
    (Traffic::BroadcastStorm, "broadcast-storm", &[]),
];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTraffic {
    #[error("'{0}' is not a traffic pattern; the patterns are {list}", list = listed(|_| true))]
    Unknown(String),
    #[error("the share of a hot spot is from 0 to 1")]
    Share,
}

/// A pattern that its user does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{user} cannot make {traffic} traffic; it can make {able}")]
pub struct UnsuitableTraffic {
    pub user: &'static str,
    pub traffic: String,
    pub able: String,
}

impl UnsuitableTraffic {
    fn new(user: &'static str, traffic: Traffic, can: impl Fn(Traffic) -> bool) -> Self {
        UnsuitableTraffic {
            user,
            traffic: traffic.to_string(),
            able: listed(can),
        }
    }
}

fn listed(wanted: impl Fn(Traffic) -> bool) -> String {
    let mut names = Vec::new();
    for (traffic, name, _) in NAMES.into_iter().filter(|&(traffic, _, _)| wanted(traffic)) {
        names.push(name);
        if traffic == USUAL_HOT_SPOT {
            names.push("hot-spot(NODE,SHARE)");
        }
    }
    names.join(", ")
}

impl Traffic {
    /// Itself, if its user can make it.
    pub fn for_user(self, user: &'static str, can: impl Fn(Traffic) -> bool) -> Result<Self, UnsuitableTraffic> {
        match can(self) {
            true => Ok(self),
            false => Err(UnsuitableTraffic::new(user, self, can)),
        }
    }

    pub fn is_broadcast(self) -> bool {
        matches!(self, Traffic::Broadcast | Traffic::BroadcastStorm)
    }

    /// What a board is told to make it, if a board can.
    fn on_board(self) -> Option<Pattern> {
        match self {
            Traffic::Uniform => Some(Pattern::Uniform),
            Traffic::Neighbors => Some(Pattern::Neighbors),
            Traffic::BitComplement => Some(Pattern::Opposite),
            Traffic::Broadcast => Some(Pattern::Broadcast),
            _ => None,
        }
    }
}

impl TryFrom<Traffic> for Pattern {
    type Error = UnsuitableTraffic;

    fn try_from(traffic: Traffic) -> Result<Pattern, UnsuitableTraffic> {
        let refusal = || UnsuitableTraffic::new("a board", traffic, |traffic| traffic.on_board().is_some());
        traffic.on_board().ok_or_else(refusal)
    }
}

impl FromStr for Traffic {
    type Err = BadTraffic;

    fn from_str(text: &str) -> Result<Self, BadTraffic> {
        let written = |(_, name, others): &&(Traffic, &str, &[&str])| *name == text || others.contains(&text);
        if let Some(&(traffic, _, _)) = NAMES.iter().find(written) {
            return Ok(traffic);
        }
        let hot_spot = text.strip_prefix("hot-spot(").or_else(|| text.strip_prefix("hotspot("));
        let numbers = hot_spot.and_then(|rest| rest.strip_suffix(')')?.split_once(','));
        let numbers = numbers.and_then(|(node, share)| Some((node.trim().parse().ok()?, share.trim().parse().ok()?)));
        match numbers {
            Some((node, share)) if (0.0..=1.0).contains(&share) => Ok(Traffic::HotSpot { node, share }),
            Some(_) => Err(BadTraffic::Share),
            None => Err(BadTraffic::Unknown(text.into())),
        }
    }
}

as_text!(Traffic);

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (NAMES.iter().find(|(traffic, _, _)| traffic == self), self) {
            (Some((_, name, _)), _) => f.write_str(name),
            (None, Traffic::HotSpot { node, share }) => write!(f, "hot-spot({node},{share})"),
            // Every other pattern has its name.
            (None, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_read_as_it_is_written() {
        for (traffic, name, others) in NAMES {
            assert_eq!(traffic.to_string(), name);
            for text in others.iter().chain([&name]) {
                assert_eq!(text.parse(), Ok(traffic), "{text}");
            }
        }
        for text in ["hot-spot(3,0.2)", "hotspot( 3 , 0.2 )"] {
            let traffic: Traffic = text.parse().unwrap();
            assert_eq!(traffic, Traffic::HotSpot { node: 3, share: 0.2 });
            assert_eq!(traffic.to_string(), "hot-spot(3,0.2)");
        }
        let in_file: Traffic = serde_json::from_str("\"all-to-all\"").unwrap();
        assert_eq!(serde_json::to_string(&in_file).unwrap(), "\"all-to-all\"");
    }

    #[test]
    fn what_is_none_gets_the_list() {
        let all = "uniform, uniform-with-self, neighbors, all-to-all, ping-all, permutation, transpose, bit-complement, \
                   bit-reverse, shuffle, tornado, hot-spot, hot-spot(NODE,SHARE), broadcast, broadcast-storm";
        for text in "some||hot-spot(1)|hot-spot(1,x)|hot-spot(1,0.5|uniform(1,2)".split('|') {
            let refusal = text.parse::<Traffic>().unwrap_err().to_string();
            let expected = format!("'{text}' is not a traffic pattern; the patterns are {all}");
            assert_eq!(refusal, expected);
        }
        assert_eq!("hot-spot(1,1.5)".parse::<Traffic>(), Err(BadTraffic::Share));
    }

    #[test]
    fn a_user_refuses_what_it_cannot_make() {
        assert_eq!(Pattern::try_from(Traffic::BitComplement), Ok(Pattern::Opposite));
        let refusal = Pattern::try_from(Traffic::Tornado).unwrap_err().to_string();
        let why = "a board cannot make tornado traffic; it can make uniform, neighbors, bit-complement, broadcast";
        assert_eq!(refusal, why);
    }
}
