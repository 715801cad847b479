//! Which jobs are whose, where many processes share them.

/// Which jobs are this process's: those whose number leaves `index` when divided by `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of this process, from 0.
    pub index: usize,
    /// How many processes share the work.
    pub count: usize,
}

/// A batch system that says something else than expected, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadShare(String);

impl Share {
    pub const ALL: Self = Self { index: 0, count: 1 };

    pub fn includes(self, number: usize) -> bool {
        number % self.count == self.index
    }

    /// From the variables that batch systems set for the members of an array: Slurm, Kubernetes indexed jobs, GNU parallel.
    ///
    /// `shards` is how many members there are. Slurm says so itself; for the others, and without it, every job has a
    /// member of its own. `None` outside of them.
    pub fn from_environment(
        variable: impl Fn(&str) -> Option<String>,
        shards: Option<usize>,
        jobs: usize,
    ) -> Result<Option<Self>, BadShare> {
        let number = |name: &'static str| match variable(name) {
            None => Ok(None),
            Some(text) => text
                .parse::<usize>()
                .map(Some)
                .map_err(|_| BadShare(format!("{name} is '{text}', not a number"))),
        };
        let mut count = shards;
        let index = if let Some(task) = number("SLURM_ARRAY_TASK_ID")? {
            count = count.or(number("SLURM_ARRAY_TASK_COUNT")?);
            task.checked_sub(number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0))
        } else if let Some(index) = number("JOB_COMPLETION_INDEX")? {
            Some(index)
        } else if let Some(sequence) = number("PARALLEL_SEQ")? {
            sequence.checked_sub(1)
        } else {
            return Ok(None);
        };
        let count = count.unwrap_or(jobs);
        match index {
            Some(index) if index < count => Ok(Some(Self { index, count })),
            _ => Err(BadShare(format!(
                "this process's number is not among the {count} that share the work"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_batch_systems() {
        let share = |variables: &[(&str, &str)], shards, jobs| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| value.to_string())
            };
            Share::from_environment(variable, shards, jobs)
        };
        let slurm = [
            ("SLURM_ARRAY_TASK_ID", "7"),
            ("SLURM_ARRAY_TASK_MIN", "5"),
            ("SLURM_ARRAY_TASK_COUNT", "4"),
        ];
        for (variables, shards, index, count) in [
            (&slurm[..], None, 2, 4),
            (&[("JOB_COMPLETION_INDEX", "3")], None, 3, 100),
            (&[("JOB_COMPLETION_INDEX", "3")], Some(8), 3, 8),
            (&[("PARALLEL_SEQ", "1")], Some(8), 0, 8),
        ] {
            let found = share(variables, shards, 100);
            assert_eq!(found, Ok(Some(Share { index, count })), "{variables:?}");
        }
        assert_eq!(share(&[], Some(8), 100), Ok(None));
        assert!(share(&[("PARALLEL_SEQ", "9")], Some(8), 100).is_err());
        assert!(share(&[("JOB_COMPLETION_INDEX", "x")], None, 100).is_err());
    }
}
