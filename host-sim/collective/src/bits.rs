//! The bitonic sorter on networks whose digits are bits: what nodes hold is swapped to where the bit of a stage has links, as the
//! emulation of a hypercube on swapped networks does. Stages that need the same swaps share them.

use hopwise_core::Node;
use hopwise_core::collective::{Axis, Program, Sorting, Step, Swap};

use crate::machine::{Conflict, Machine};
use crate::program::{Held, step};

/// For each bit, the swaps that bring it to where it has links, and the step there.
pub struct Bits {
    ways: Vec<(Vec<Swap>, Step)>,
}

impl Bits {
    /// Of a program; `None` unless its digits are bits and swaps bring every node's own item to their links.
    pub fn of(program: &Program) -> Option<Self> {
        let (mut ways, mut swaps) = (Vec::new(), Vec::new());
        for next in (0..).map_while(|index| program.step(index)) {
            match next {
                Step::Share(axis) if axis.size() == 2 => ways.push((swaps.clone(), next)),
                // A swap that comes again takes itself back.
                Step::Swap(swap) if swaps.last() == Some(&swap) => drop(swaps.pop()),
                Step::Swap(swap) => swaps.push(swap),
                _ => return None,
            }
        }
        Some(Bits { ways })
    }

    pub fn sort(&self, machine: &mut Machine, values: &[i64]) -> Result<Vec<i64>, Conflict> {
        let sorting = Sorting::new(values.len() as u64);
        let begin = (0..).zip(values).map(|(home, &value)| Sorted {
            sorting,
            stage: 0,
            home,
            value,
        });
        let (mut held, mut swapped) = (begin.collect::<Vec<_>>(), Vec::new());
        for stage in 0..sorting.stages() {
            let bit = sorting
                .comparator(stage, 0)
                .map_or(0, |comparator| comparator.partner.trailing_zeros());
            let (swaps, share) = &self.ways[bit as usize];
            go(machine, &mut held, &mut swapped, swaps)?;
            held.iter_mut().for_each(|held| held.stage = stage);
            step(machine, share, &mut held)?;
        }
        go(machine, &mut held, &mut swapped, &[])?;
        Ok(held.iter().map(|held| held.value).collect())
    }
}

/// From one sequence of swaps to another: back to where they part, and on.
fn go(machine: &mut Machine, held: &mut Vec<Sorted>, from: &mut Vec<Swap>, to: &[Swap]) -> Result<(), Conflict> {
    let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    for swap in from.drain(common..).rev().chain(to[common..].iter().copied()) {
        step(machine, &Step::Swap(swap), held)?;
    }
    from.extend_from_slice(&to[common..]);
    Ok(())
}

#[derive(Clone, Copy, Debug)]
struct Sorted {
    sorting: Sorting,
    stage: u64,
    home: Node,
    value: i64,
}

impl Held for Sorted {
    type Item = i64;

    fn item(&self) -> i64 {
        self.value
    }

    fn item_bytes(_: &i64) -> u64 {
        8
    }

    fn bytes(&self) -> u64 {
        8
    }

    fn learn(&mut self, _: usize, items: Vec<i64>, _: &Axis) {
        let comparator = self.sorting.comparator(self.stage, self.home);
        let kept = match comparator {
            Some(comparator) if comparator.keeps_smaller => items.into_iter().min(),
            Some(_) => items.into_iter().max(),
            None => None,
        };
        self.value = kept.unwrap_or(self.value);
    }
}
