/// A task that is checked for hangs, by number: receivers by link, transmitters by link from 8 on, then the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task(u32);

impl Task {
    /// Runs the ticks.
    pub(crate) const CLOCK: Task = Task(16);
    /// Any task of the board itself that calls [`heartbeat`](crate::Runner::heartbeat).
    pub const BUTTON: Task = Task(17);
    pub(crate) const HOUSEKEEPING: Task = Task(18);
    /// Sends and receives at all ports.
    pub(crate) const PORTS: Task = Task(20);
    /// A program, if it wants to be watched.
    pub(crate) const PROGRAM: Task = Task(19);

    pub(crate) const fn receiver(link: u8) -> Self {
        Task(link as u32)
    }

    pub(crate) const fn transmitter(link: u8) -> Self {
        Task(8 + link as u32)
    }

    /// The number in logs.
    pub const fn number(self) -> u32 {
        self.0
    }

    pub(crate) const fn bit(self) -> u32 {
        1 << self.0
    }

    pub(crate) const fn first_of(bits: u32) -> Self {
        Task(bits.trailing_zeros())
    }
}
