//! Events a few cycles ahead.

/// A ring of lists, one a cycle. Lists keep their memory, so that a running simulation allocates nothing.
pub(super) struct Wheel<T> {
    slots: Vec<Vec<T>>,
    mask: u32,
}

impl<T> Wheel<T> {
    /// For events at most `delay` cycles ahead.
    pub(super) fn new(delay: u32) -> Self {
        let size = (delay + 1).next_power_of_two();
        Self {
            slots: (0..size).map(|_| Vec::new()).collect(),
            mask: size - 1,
        }
    }

    #[inline]
    pub(super) fn put(&mut self, at: u32, event: T) {
        self.slots[(at & self.mask) as usize].push(event);
    }

    pub(super) fn look(&self, at: u32) -> &[T] {
        &self.slots[(at & self.mask) as usize]
    }

    /// The events of this cycle. The list is to be [given back](Self::give_back).
    #[inline]
    pub(super) fn take(&mut self, now: u32) -> Vec<T> {
        std::mem::take(&mut self.slots[(now & self.mask) as usize])
    }

    #[inline]
    pub(super) fn give_back(&mut self, now: u32, mut list: Vec<T>) {
        list.clear();
        self.slots[(now & self.mask) as usize] = list;
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.iter().map(|slot| slot.capacity() * size_of::<T>()).sum()
    }
}
