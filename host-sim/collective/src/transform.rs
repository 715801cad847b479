//! The Fourier transform along the digits of a network, or at its root.

use std::sync::Arc;

use hopwise_core::Node;
use hopwise_core::collective::{Mesh, Step};

use crate::fourier::{Complex, Digits, Terms, direct};
use crate::machine::{Conflict, Machine};
use crate::operation::Job;
use crate::outcome::Outcome;
use crate::route::Item;

impl Job<'_> {
    pub(crate) fn transform(&self, machine: &mut Machine, reorder: &mut Option<u64>) -> Result<Outcome, Conflict> {
        let values = &self.request.values;
        let (Some(program), Some(mesh)) = (self.plan.program(), Mesh::new(self.network)) else {
            let all = self.gather(machine)?;
            return Ok(Outcome::Terms(self.known.scatter(machine, direct(&all), 16)?));
        };
        let digits = Arc::new(Digits::of_mesh(&mesh));
        let mut moved = 0;
        let values = if program.renumbers() {
            let to = (0..).zip(values).map(|(place, &value)| (program.node(place), value));
            self.reorder(machine, &mut moved, to, 8)?
        } else {
            values.clone()
        };
        let unit_digits = (0..).map_while(|index| program.step(index));
        let unit_digits = unit_digits.take_while(|step| matches!(step, Step::Share(axis) if !axis.is_at_pivots()));
        let unit_digits = program.has_units().then(|| unit_digits.count());
        let begin = (0..).zip(&values).map(|(node, &value)| {
            let terms = Terms::new(digits.clone(), program.place(node), value as f64);
            match unit_digits {
                Some(digits) => terms.of_unit(digits),
                None => terms,
            }
        });
        let held = self.follow(machine, begin.collect())?;
        let own = (0..).zip(held).map(|(node, terms)| {
            let term = terms.own().ok_or(machine.lacks(node))?;
            Ok((digits.reversed(program.place(node)), term))
        });
        let own: Vec<(Node, Complex)> = own.collect::<Result<_, _>>()?;
        let terms = self.reorder(machine, &mut moved, own.into_iter(), 16)?;
        *reorder = Some(moved);
        Ok(Outcome::Terms(terms))
    }

    /// Brings what each node has to another, in rounds that are counted apart.
    fn reorder<T>(
        &self,
        machine: &mut Machine,
        moved: &mut u64,
        to: impl Iterator<Item = (Node, T)>,
        bytes: u64,
    ) -> Result<Vec<T>, Conflict> {
        let before = machine.rounds;
        let items = to.map(|(to, body)| vec![Item { to, body }]);
        let arrived = self.route(machine, items.collect(), |_| bytes)?;
        *moved += machine.rounds - before;
        let own = (0..).zip(arrived);
        own.map(|(node, mut items)| items.pop().ok_or(machine.lacks(node)))
            .collect()
    }
}
