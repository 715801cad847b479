//! The channel-dependency graph: which link waits for which, when a packet in the buffer before the one can only go on
//! through the other. If it has no cycle, finite buffers cannot deadlock.
//!
//! W. J. Dally, C. L. Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks, IEEE TC 36(5), 1987.

use std::sync::atomic::{AtomicU64, Ordering};

use hopwise_core::network::virtual_channels;
use hopwise_core::{Network, Node, Rule};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::buffer_classes;
use super::graph::Graph;
use super::routes::{RouteFault, RoutesTo};

/// How packets get a buffer class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// As the network defines them.
    Network,
    /// The number of valleys ahead: nodes numbered lower than the one before and the one after.
    Valleys,
    /// The number of hops ahead.
    Hops,
    /// One class for all.
    One,
    /// The virtual channels of a board, whose buffers are shared by all links: of packets and of broadcasts.
    #[serde(alias = "lanes")]
    VirtualChannels,
}

/// A link in one direction, with a buffer class; or the buffers of a node, if both ends are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Channel {
    pub from: u32,
    pub to: u32,
    pub class: u32,
}

pub struct Dependencies {
    pub channels: usize,
    /// Pairs of channels of which the first waits for the second.
    pub dependencies: usize,
    pub classes: u32,
    /// A cycle of channels, each waiting for the next, if there is one.
    pub cycle: Option<Vec<Channel>>,
}

/// Channels in use, each with one that it waits for.
type Pairs = Vec<(Channel, Option<Channel>)>;

/// Follows all routes of a rule and builds the graph. `progress` is called with the number of destinations done.
pub fn build(
    network: &Network,
    graph: &Graph,
    rule: Rule,
    scheme: Scheme,
    progress: impl Fn(u64) + Sync,
) -> Result<Dependencies, RouteFault> {
    let done = AtomicU64::new(0);
    let all: Vec<usize> = (0..graph.nodes()).collect();
    let part = |dests: &[usize]| {
        let mut pairs = Vec::new();
        for &dest in dests {
            add_dependencies(network, graph, rule, scheme, dest, &mut pairs)?;
        }
        pairs.sort_unstable();
        pairs.dedup();
        progress(done.fetch_add(dests.len() as u64, Ordering::Relaxed) + dests.len() as u64);
        Ok(pairs)
    };
    let parts: Result<Vec<_>, RouteFault> = all.par_chunks(64).map(part).collect();

    let mut pairs: Pairs = parts?.into_iter().flatten().collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    Ok(examine(&pairs))
}

/// For every hop to `dest`, its channel and the one after it.
fn add_dependencies(
    network: &Network,
    graph: &Graph,
    rule: Rule,
    scheme: Scheme,
    dest: usize,
    pairs: &mut Pairs,
) -> Result<(), RouteFault> {
    let routes = RoutesTo::follow(network, graph, dest, rule)?;
    let classes: Vec<u32> = match scheme {
        Scheme::VirtualChannels => {
            add_channels(graph, &routes, dest, virtual_channels::count(network, rule), pairs);
            return Ok(());
        }
        Scheme::One => vec![0; graph.nodes()],
        Scheme::Hops => routes.hops.iter().map(|&hops| hops.saturating_sub(1)).collect(),
        Scheme::Valleys => routes.valleys(),
        Scheme::Network if buffer_classes::counts_valleys(network) => routes.valleys(),
        Scheme::Network => {
            let class = |node| buffer_classes::class(network, node as Node, dest as Node, rule);
            let number = |class: Option<u64>| class.map_or(u32::MAX, |class| class as u32);
            (0..graph.nodes()).map(class).map(number).collect()
        }
    };
    let channel = |from: usize| Channel {
        from: from as u32,
        to: routes.next[from],
        class: classes[from],
    };
    for here in (0..graph.nodes()).filter(|&here| here != dest) {
        let next = routes.next[here] as usize;
        pairs.push((channel(here), (next != dest).then(|| channel(next))));
    }
    Ok(())
}

/// The buffers that packets to `dest` and broadcasts of it wait in, and for which they wait there.
fn add_channels(graph: &Graph, routes: &RoutesTo, dest: usize, channels: u8, pairs: &mut Pairs) {
    for source in (0..graph.nodes()).filter(|&source| source != dest) {
        let mut path = vec![source];
        let mut here = source;
        while here != dest {
            here = routes.next[here] as usize;
            path.push(here);
        }
        let buffers = channels_along(&path, channels);
        path.reverse();
        for buffers in [buffers, channels_along(&path, channels)] {
            pairs.extend((0..buffers.len()).map(|at| (buffers[at], buffers.get(at + 1).copied())));
        }
    }
}

/// The buffers along a path, from the first that is not the sender's own.
fn channels_along(path: &[usize], channels: u8) -> Vec<Channel> {
    let mut channel = 0;
    let hops = path.windows(2).enumerate();
    hops.map(|(hop, ends)| {
        channel = virtual_channels::next(channel, hop == 0, ends[1] > ends[0], channels);
        Channel {
            from: ends[1] as u32,
            to: ends[1] as u32,
            class: u32::from(channel),
        }
    })
    .collect()
}

/// `pairs` must be sorted. A pair without a second channel only says that the first is in use.
fn examine(pairs: &[(Channel, Option<Channel>)]) -> Dependencies {
    let mut channels: Vec<Channel> = pairs.iter().map(|pair| pair.0).collect();
    channels.dedup();
    let index = |channel: &Channel| {
        let place = channels.binary_search(channel);
        place.expect("a channel that is waited for is in use")
    };
    let edge = |(first, second): &(_, Option<_>)| Some((index(first), index(second.as_ref()?)));
    let edges: Vec<(usize, usize)> = pairs.iter().filter_map(edge).collect();
    let cycle = find_cycle(channels.len(), &edges).map(|cycle| cycle.into_iter().map(|at| channels[at]).collect());
    Dependencies {
        channels: channels.len(),
        dependencies: edges.len(),
        classes: channels.iter().map(|channel| channel.class + 1).max().unwrap_or(0),
        cycle,
    }
}

/// A cycle of a directed graph, if there is one. Depth-first search with its own stack; `edges` are sorted by their first end.
pub fn find_cycle(nodes: usize, edges: &[(usize, usize)]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        OnPath,
        Done,
    }
    let mut starts = vec![0; nodes + 1];
    for &(from, _) in edges {
        starts[from + 1] += 1;
    }
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut states = vec![State::New; nodes];
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..nodes {
        if states[root] == State::New {
            states[root] = State::OnPath;
            path.push((root, starts[root]));
        }
        while let Some((node, edge)) = path.last_mut() {
            if *edge == starts[*node + 1] {
                states[*node] = State::Done;
                path.pop();
                continue;
            }
            let next = edges[*edge].1;
            *edge += 1;
            match states[next] {
                State::Done => {}
                State::New => {
                    states[next] = State::OnPath;
                    path.push((next, starts[next]));
                }
                State::OnPath => {
                    let from = path.iter().position(|&(node, _)| node == next);
                    let from = from.expect("it is on the path");
                    return Some(path[from..].iter().map(|&(node, _)| node).collect());
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found_and_a_tree_has_none() {
        assert_eq!(find_cycle(4, &[(0, 1), (1, 2), (2, 3), (3, 1)]), Some(vec![1, 2, 3]));
        assert_eq!(find_cycle(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]), None);
    }
}
