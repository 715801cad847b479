//! The operations: what nodes begin with, the phases of the plan, and what must come out.

use hopwise_core::collective::{Mesh, Operation, Phase, Plan, Ports, Program, Ring, Sorting, Step};
use hopwise_core::{Base, Family, Network, Node};
use hopwise_networks::binary_tree::BinaryTree;
use hopwise_networks::graph::Graph;

use crate::binary::{Stages, embedded};
use crate::bits::Bits;
use crate::bound::{Work, longest_way, lower_bound, published, published_step};
use crate::machine::{Conflict, Machine};
use crate::outcome::Outcome;
use crate::program::{Folded, Gathered, Held, Wanted, step};
use crate::route::{Hops, Item, route};
use crate::targets::targets;
use crate::tree::{Known, Partial};
use crate::{CannotRun, Done, MAX_NODES, MAX_VALUES, Report, Request, refused};

pub fn run(network: &Network, request: &Request) -> Result<Done, CannotRun> {
    check(network, request)?;
    let plan = Plan::new(network, request.operation, request.ports, request.root)?;
    let graph = Graph::build(network).map_err(|_| too_large(network, request.operation.name(), MAX_NODES))?;
    let permutation = targets(network, request)?;
    let tree = request.binary_tree.then(|| embedded(network, &graph, request));
    let tree = tree.transpose()?;
    let job = Job {
        network,
        request,
        plan: &plan,
        permutation: &permutation,
        stages: tree.as_ref().map(|tree| Stages::of(tree, &graph)),
        tree,
        known: known_tree(network, request, &plan)?,
    };
    let mut machine = Machine::new(network, request.ports);
    if request.write_down {
        machine.write_down();
    }
    let mut reorder_rounds = None;
    let held = job.carry_out(&mut machine, &mut reorder_rounds)?;
    let work = Work {
        operation: request.operation,
        ports: request.ports,
        root: request.root,
        permutation: Some(&permutation),
        values_max: machine.bytes_max / 8,
    };
    Ok(Done {
        report: Report {
            network: network.to_string(),
            op: request.operation.name(),
            port_model: if request.ports == Ports::One { "one" } else { "all" },
            method: job.method(),
            nodes: network.nodes(),
            dilation: job.dilation(&graph),
            rounds: machine.rounds - reorder_rounds.unwrap_or(0),
            reorder_rounds,
            messages: machine.messages,
            bytes_max: machine.bytes_max,
            link_load: machine.link_load(),
            correct: held.agrees(&job.expected(), &request.values),
            bound: lower_bound(network, &graph, &work),
            published: job.published(),
        },
        held: held.lines(),
        rounds: machine.into_rounds(),
    })
}

/// The tree of the root. With one port an all-reduce may tell everyone sooner what the root has: then it is the tree of that.
fn known_tree(network: &Network, request: &Request, plan: &Plan) -> Result<Known, CannotRun> {
    let tree = Known::new(plan.tree());
    let goes_along = matches!(
        request.operation,
        Operation::Broadcast | Operation::Reduce | Operation::Gather | Operation::Scatter
    );
    let total = Plan::new(network, Operation::AllReduce, request.ports, request.root)?;
    if request.ports == Ports::All || !goes_along || total.program().is_none() {
        return Ok(tree);
    }
    let total = Request {
        operation: Operation::AllReduce,
        write_down: true,
        binary_tree: false,
        blocks: 1,
        ..request.clone()
    };
    Ok(tree.or_as_told_by(&run(network, &total)?.rounds, request.blocks))
}

/// A network has more nodes than this is carried out on.
pub(crate) fn too_large(network: &Network, what: &str, most: u64) -> CannotRun {
    let nodes = network.nodes();
    refused(format!(
        "{network} has {nodes} nodes, too many to carry out {what} on (at most {most})"
    ))
}

fn check(network: &Network, request: &Request) -> Result<(), CannotRun> {
    let nodes = network.nodes();
    if nodes > MAX_NODES {
        return Err(too_large(network, request.operation.name(), MAX_NODES));
    }
    let fills = matches!(
        request.operation,
        Operation::AllGather | Operation::AllToAll | Operation::Fft
    );
    if fills && nodes * nodes > MAX_VALUES {
        return Err(too_large(network, request.operation.name(), MAX_VALUES.isqrt()));
    }
    if request.values.len() as u64 != nodes {
        let values = request.values.len();
        let why = format!("{network} has {nodes} nodes, and there are {values} values");
        return Err(refused(why));
    }
    if !(1..=MAX_NODES).contains(&request.blocks) {
        let why = format!("a broadcast has 1 to {MAX_NODES} blocks, not {}", request.blocks);
        return Err(refused(why));
    }
    if request.blocks > 1 && request.operation != Operation::Broadcast {
        let name = request.operation.name();
        return Err(refused(format!("only a broadcast goes in blocks, {name} does not")));
    }
    network.check(request.root)?;
    Ok(())
}

/// What node `from` has for node `to` in an all-to-all exchange.
pub(crate) fn personal(value: i64, to: Node) -> i64 {
    value.wrapping_add(to as i64)
}

pub(crate) struct Job<'a> {
    pub(crate) network: &'a Network,
    pub(crate) request: &'a Request,
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) permutation: &'a [Option<Node>],
    tree: Option<BinaryTree>,
    stages: Option<Stages>,
    pub(crate) known: Known,
}

impl Job<'_> {
    pub(crate) fn nodes(&self) -> usize {
        self.request.values.len()
    }

    fn carry_out(&self, machine: &mut Machine, reorder: &mut Option<u64>) -> Result<Outcome, Conflict> {
        let Request {
            operation,
            operator,
            values,
            root,
            ..
        } = self.request;
        let fold = |wanted| move |value: &i64| Folded::new(*operator, wanted, *value);
        let begin = |wanted| values.iter().map(fold(wanted)).collect::<Vec<_>>();
        if let Some(stages) = &self.stages {
            return self.along_binary_tree(machine, stages);
        }
        Ok(match operation {
            Operation::Barrier if self.plan.program().is_some() => {
                // It carries nothing; that everyone has heard of everyone is told by counting.
                let ones = values
                    .iter()
                    .map(|_| Folded::new(crate::Operator::Sum, Wanted::Arrival, 1));
                let held = self.follow(machine, ones.collect())?;
                Outcome::One(held.iter().map(Folded::total).collect())
            }
            Operation::Barrier => {
                let tree = &self.known;
                let come = tree.up(machine, vec![1; self.nodes()], |_| 0, |all, more| *all += more)?;
                let told = tree.broadcast(machine, 0, 1)?;
                Outcome::One(told.iter().map(|&told| told as i64 * come).collect())
            }
            Operation::Broadcast => {
                let blocks = self.request.blocks;
                let told = self.known.broadcast(machine, 8, blocks)?;
                let value = values[*root as usize];
                let has_all = |(own, &told): (&i64, &u64)| if told == blocks { value } else { *own };
                Outcome::One(values.iter().zip(&told).map(has_all).collect())
            }
            Operation::Reduce => {
                let total = self.reduce(machine)?;
                let mut held = values.clone();
                held[*root as usize] = total;
                Outcome::One(held)
            }
            Operation::AllReduce if self.plan.program().is_some() => {
                let held = self.follow(machine, begin(Wanted::Total))?;
                Outcome::One(held.iter().map(Folded::total).collect())
            }
            Operation::AllReduce => {
                let total = self.reduce(machine)?;
                let told = self.known.broadcast(machine, 8, 1)?;
                let has = |(own, &told): (&i64, &u64)| if told == 1 { total } else { *own };
                Outcome::One(values.iter().zip(&told).map(has).collect())
            }
            Operation::Scan | Operation::ExclusiveScan if self.plan.program().is_some() => {
                let held = self.follow(machine, begin(Wanted::Prefix))?;
                let own = |(held, value): (&Folded, &i64)| match operation {
                    Operation::Scan => operator.fold(held.prefix, *value),
                    _ => held.prefix,
                };
                Outcome::One(held.iter().zip(values).map(own).collect())
            }
            Operation::Scan | Operation::ExclusiveScan => {
                let all = self.gather(machine)?;
                let prefixes = self.prefixes(&all, *operation == Operation::Scan);
                Outcome::One(self.known.scatter(machine, prefixes, 8)?)
            }
            Operation::Gather => {
                let all = self.gather(machine)?;
                let mut held: Vec<Vec<i64>> = values.iter().map(|&value| vec![value]).collect();
                held[*root as usize] = all;
                Outcome::Many(held)
            }
            Operation::Scatter => Outcome::One(self.known.scatter(machine, values.clone(), 8)?),
            Operation::AllGather if self.plan.program().is_some() => {
                let begin = (0..).zip(values).map(|(node, &value)| Gathered::new(node, value));
                let held = self.follow(machine, begin.collect())?;
                Outcome::Many(held.iter().map(Gathered::in_order).collect())
            }
            Operation::AllGather => {
                let all = self.gather(machine)?;
                let told = self.known.broadcast(machine, 8 * self.nodes() as u64, 1)?;
                let values = told
                    .iter()
                    .map(|&told| if told == 1 { all.clone() } else { Vec::new() });
                Outcome::Many(values.collect())
            }
            Operation::AllToAll => self.all_to_all(machine)?,
            Operation::Permute | Operation::Shift => {
                let item = |(&body, to): (&i64, &Option<Node>)| to.map(|to| Item { to, body }).into_iter().collect();
                let items = values.iter().zip(self.permutation).map(item);
                let arrived = self.route(machine, items.collect(), |_| 8)?;
                Outcome::Many(arrived)
            }
            Operation::Sort => Outcome::One(self.sort(machine)?),
            Operation::Fft => self.transform(machine, reorder)?,
        })
    }

    /// Goes through all steps of the program, in the order of the plan.
    pub(crate) fn follow<H: Held>(&self, machine: &mut Machine, mut held: Vec<H>) -> Result<Vec<H>, Conflict> {
        let phases = (0..).map_while(|index| self.plan.phase(index));
        for phase in phases {
            if let Phase::Step(next) = phase {
                step(machine, &next, &mut held)?;
            }
        }
        Ok(held)
    }

    /// What the nodes begin a reduction with.
    pub(crate) fn partials(&self) -> Vec<Partial> {
        let partial = |(node, &value)| Partial::new(self.request.operator, node, value);
        (0..).zip(&self.request.values).map(partial).collect()
    }

    fn reduce(&self, machine: &mut Machine) -> Result<i64, Conflict> {
        let all = self.known.up(machine, self.partials(), Partial::bytes, Partial::join)?;
        all.total().ok_or(machine.lacks(self.request.root))
    }

    /// All values at the root, in node order.
    pub(crate) fn gather(&self, machine: &mut Machine) -> Result<Vec<i64>, Conflict> {
        let begin = (0..)
            .zip(&self.request.values)
            .map(|(node, &value)| vec![(node as Node, value)]);
        let bytes = |held: &Vec<(Node, i64)>| 8 * held.len() as u64;
        let mut all = self
            .known
            .up(machine, begin.collect(), bytes, |all, more| all.extend(more))?;
        all.sort_unstable_by_key(|value| value.0);
        Ok(all.into_iter().map(|value| value.1).collect())
    }

    /// What the values before each come to, or with each.
    pub(crate) fn prefixes(&self, values: &[i64], inclusive: bool) -> Vec<i64> {
        let operator = self.request.operator;
        let mut so_far = operator.identity();
        let next = |&value: &i64| {
            let before = so_far;
            so_far = operator.fold(so_far, value);
            if inclusive { so_far } else { before }
        };
        values.iter().map(next).collect()
    }

    pub(crate) fn route<T>(
        &self,
        machine: &mut Machine,
        items: Vec<Vec<Item<T>>>,
        item_bytes: impl Fn(&T) -> u64,
    ) -> Result<Vec<Vec<T>>, Conflict> {
        let mut hops = match self.request.operation {
            Operation::AllToAll => Hops::remembered(self.network),
            _ => Hops::new(self.network),
        };
        route(machine, &mut hops, items, item_bytes)
    }

    fn all_to_all(&self, machine: &mut Machine) -> Result<Outcome, Conflict> {
        let nodes = self.nodes() as Node;
        let for_all = |(from, &value): (u32, &i64)| {
            let item = |to| Item {
                to,
                body: (from, personal(value, to)),
            };
            (0..nodes).map(item).collect()
        };
        let items = (0..).zip(&self.request.values).map(for_all);
        let arrived = self.route(machine, items.collect(), |_| 8)?;
        let in_order = |mut items: Vec<(u32, i64)>| {
            items.sort_unstable_by_key(|item| item.0);
            items.into_iter().map(|item| item.1).collect()
        };
        Ok(Outcome::Many(arrived.into_iter().map(in_order).collect()))
    }

    fn bits(&self) -> Option<Bits> {
        Program::new(self.network).as_ref().and_then(Bits::of)
    }

    fn sort(&self, machine: &mut Machine) -> Result<Vec<i64>, Conflict> {
        if let Some(bits) = self.bits() {
            return bits.sort(machine, &self.request.values);
        }
        let mut held = self.request.values.clone();
        let stages = (0..).map_while(|index| self.plan.phase(index));
        for phase in stages {
            if let Phase::Compare(sorting, stage) = phase {
                compare(machine, sorting, stage, &mut held)?;
            }
        }
        Ok(held)
    }

    fn dilation(&self, graph: &Graph) -> Option<u64> {
        match &self.tree {
            Some(tree) => Some(tree.dilation.into()),
            None if self.request.operation == Operation::Shift => Some(longest_way(graph, self.permutation)),
            None => None,
        }
    }

    fn method(&self) -> String {
        let root = self.request.root;
        if let (Some(tree), Some(stages)) = (&self.tree, &self.stages) {
            let (levels, beside) = (tree.levels(), stages.beside);
            return format!("binary tree of {levels} levels at node {root}, {beside} nodes beside it");
        }
        match self.request.operation {
            Operation::Shift if self.request.dimension.is_some() => {
                let mesh = Mesh::new(self.network);
                let size = |dimension| mesh.and_then(|mesh| mesh.size(dimension));
                let sizes: Vec<String> = (0..).map_while(size).map(|size| size.to_string()).collect();
                let (dimension, sizes) = (self.request.dimension.unwrap_or(0), sizes.join(" x "));
                format!("along dimension {dimension} of a mesh of {sizes}")
            }
            Operation::Sort if self.bits().is_some() => "bitonic sorter, bit by bit".into(),
            Operation::Sort if self.network.nodes().is_power_of_two() => {
                "bitonic sorter, pairs over their routes".into()
            }
            Operation::Sort => "odd-even merge sort, pairs over their routes".into(),
            Operation::AllToAll | Operation::Permute => "routes".into(),
            Operation::Shift if Ring::new(self.network).dilation() == 1 => "a Hamiltonian cycle".into(),
            Operation::Shift if Ring::new(self.network).dilation() == 2 => {
                "a ring of every second node, and back".into()
            }
            Operation::Shift => "a ring round the tree of node 0".into(),
            Operation::Fft if self.plan.program().is_none() => {
                format!("no program of digits: gathered, transformed at node {root}, scattered")
            }
            Operation::Scan | Operation::ExclusiveScan if self.plan.program().is_none() => {
                format!("no program of digits: gathered, folded at node {root}, scattered")
            }
            _ if self.plan.program().is_some() => "digit by digit".into(),
            _ => format!("tree of node {root}"),
        }
    }

    fn published(&self) -> Option<u64> {
        let Request { operation, ports, .. } = *self.request;
        let base_rounds = match self.network.family() {
            Family::Rdn(rdn) => rounds_on(rdn.base(), operation, ports),
            _ => None,
        };
        match self.request.dimension {
            Some(_) => published_step(self.network),
            None => published(self.network, operation, ports, base_rounds),
        }
    }
}

fn compare(machine: &mut Machine, sorting: Sorting, stage: u64, held: &mut [i64]) -> Result<(), Conflict> {
    let comparators: Vec<_> = (0..held.len() as Node)
        .map(|node| sorting.comparator(stage, node))
        .collect();
    let items = comparators.iter().zip(held.iter()).map(|(comparator, &body)| {
        let item = comparator.map(|comparator| Item {
            to: comparator.partner,
            body,
        });
        item.into_iter().collect()
    });
    let mut hops = Hops::new(machine.network);
    let arrived = route(machine, &mut hops, items.collect(), |_| 8)?;
    for (node, (comparator, arrived)) in comparators.iter().zip(arrived).enumerate() {
        let Some(comparator) = comparator else { continue };
        let [other] = arrived[..] else {
            return Err(machine.lacks(node as Node));
        };
        let (less, more) = (held[node].min(other), held[node].max(other));
        held[node] = if comparator.keeps_smaller { less } else { more };
    }
    Ok(())
}

/// The rounds that an operation takes on a base graph alone.
fn rounds_on(base: &Base, operation: Operation, ports: Ports) -> Option<u64> {
    let network = Network::from(*base);
    let plan = Plan::new(&network, operation, ports, 0).ok()?;
    let phases = (0..).map_while(|index| plan.phase(index));
    let rounds = phases.map(|phase| match phase {
        Phase::Down(tree) | Phase::Up(tree) => Some(tree.rounds()),
        Phase::Step(Step::Share(axis)) => Some(axis.rounds(ports)),
        _ => None,
    });
    rounds.sum()
}
