//! Stage by stage: in each, a board exchanges its block of values with one other.

use heapless::Vec;
use hopwise_app::{MAX_MESSAGE, Node};
use hopwise_core::collective::Sorting;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Team;
use crate::call::{Call, Inbox};
use crate::deliver::both;
use crate::error::Broken;
use crate::letter::{Bytes, Header, Kept, Kind, Part, Work};

/// Stages of one call: those that sort 1,024 boards are 55.
const STAGES: u32 = u64::BITS;

/// A block of values that comes from a partner, in pieces.
struct Block<T, const N: usize> {
    stage: u8,
    partner: Option<Node>,
    /// The stages for which the partners are ready, a bit each; they may be ahead.
    ready: u64,
    values: Vec<T, N>,
}

impl<T, const N: usize> Block<T, N> {
    fn is_ready(&self) -> bool {
        self.ready >> self.stage & 1 == 1
    }
}

impl<T: DeserializeOwned, const N: usize> Inbox for Block<T, N> {
    fn take(&mut self, letter: &Kept) -> Result<(), Broken> {
        match letter.header.kind {
            Kind::Ready(stage) => {
                self.ready |= 1_u64.checked_shl(stage.into()).unwrap_or(0);
                Ok(())
            }
            // It comes only after this board has said that it is ready for it.
            Kind::Data(stage) if stage == self.stage && Some(letter.from) == self.partner => {
                read_piece(&letter.body, &mut self.values).ok_or(Broken::Differs(letter.from))
            }
            _ => Err(Broken::Differs(letter.from)),
        }
    }

    fn awaits(&self, from: Node) -> bool {
        Some(from) == self.partner
    }
}

/// A letter with as many values as fit, and what is left of them; `None` if none fits.
fn write_piece<'v, T: Serialize>(header: Header, first: usize, values: &'v [T]) -> Option<(Bytes, &'v [T])> {
    let mut bytes = [0; MAX_MESSAGE];
    let mut used = postcard::to_slice(&(header, first as u16), &mut bytes).ok()?.len();
    let mut rest = values;
    while let Some((value, more)) = rest.split_first() {
        let Ok(written) = postcard::to_slice(value, bytes.get_mut(used..)?) else {
            break;
        };
        used += written.len();
        rest = more;
    }
    (rest.len() < values.len()).then_some(())?;
    Some((Vec::from_slice(bytes.get(..used)?).ok()?, rest))
}

/// Adds the values of a piece to those before it. One that came already adds nothing.
fn read_piece<T: DeserializeOwned, const N: usize>(body: &[u8], values: &mut Vec<T, N>) -> Option<()> {
    let (first, mut rest) = postcard::take_from_bytes::<u16>(body).ok()?;
    if usize::from(first) != values.len() {
        return (usize::from(first) < values.len()).then_some(());
    }
    while !rest.is_empty() {
        let (value, more) = postcard::take_from_bytes(rest).ok()?;
        values.push(value).ok()?;
        rest = more;
    }
    Some(())
}

impl Team<'_> {
    /// Sorts the values of all boards: board 0 ends with the smallest, in order, and so on. Every board has as many.
    pub async fn sort<T, const N: usize>(&self, tag: u32, values: &mut [T; N]) -> Result<(), Broken>
    where
        T: Ord + Copy + Serialize + DeserializeOwned,
    {
        values.sort_unstable();
        let (place, sorting) = (self.place()?, Sorting::new(self.boards()? as u64));
        let comparator = |stage: u32| sorting.comparator(stage.into(), place);
        let stages = u32::try_from(sorting.stages()).unwrap_or(u32::MAX);
        let partner = |stage| Some(comparator(stage)?.partner);
        let keep = |stage, own: &mut [T; N], theirs: &[T; N]| {
            let keeps_smaller = comparator(stage).is_some_and(|comparator| comparator.keeps_smaller);
            *own = half(own, theirs, keeps_smaller);
        };
        self.stages(tag, Work::Sort, stages, partner, values, keep).await
    }

    /// An ascend algorithm on 2^m boards: for each bit of the board's number, from the lowest, a board and the one that differs from it
    /// in that bit exchange their values, and `operator` makes new ones of its own, given the bit and the other's.
    pub async fn ascend<T, const N: usize>(
        &self,
        tag: u32,
        values: &mut [T; N],
        operator: impl FnMut(u32, &mut [T; N], &[T; N]),
    ) -> Result<(), Broken>
    where
        T: Copy + Serialize + DeserializeOwned,
    {
        let bits = self.bits()?;
        self.along_bits(tag, Work::Ascend, bits, |stage| stage, values, operator)
            .await
    }

    /// The same from the highest bit: a Fourier transform, a merge of a bitonic sequence.
    pub async fn descend<T, const N: usize>(
        &self,
        tag: u32,
        values: &mut [T; N],
        operator: impl FnMut(u32, &mut [T; N], &[T; N]),
    ) -> Result<(), Broken>
    where
        T: Copy + Serialize + DeserializeOwned,
    {
        let bits = self.bits()?;
        let bit = |stage: u32| bits.saturating_sub(stage).saturating_sub(1);
        self.along_bits(tag, Work::Descend, bits, bit, values, operator).await
    }

    async fn along_bits<T, const N: usize>(
        &self,
        tag: u32,
        work: Work,
        bits: u32,
        bit_of: impl Fn(u32) -> u32,
        values: &mut [T; N],
        mut operator: impl FnMut(u32, &mut [T; N], &[T; N]),
    ) -> Result<(), Broken>
    where
        T: Copy + Serialize + DeserializeOwned,
    {
        let place = self.place()?;
        let partner = |stage| Some(place ^ 1_u64.checked_shl(bit_of(stage))?);
        let combine = |stage, own: &mut [T; N], theirs: &[T; N]| operator(bit_of(stage), own, theirs);
        self.stages(tag, work, bits, partner, values, combine).await
    }

    /// The bits of a board's number, if all numbers of so many bits are boards.
    fn bits(&self) -> Result<u32, Broken> {
        let boards = self.boards()?;
        boards
            .is_power_of_two()
            .then(|| boards.trailing_zeros())
            .ok_or(Broken::NoCube)
    }

    async fn stages<T, const N: usize>(
        &self,
        tag: u32,
        work: Work,
        stages: u32,
        partner: impl Fn(u32) -> Option<Node>,
        values: &mut [T; N],
        combine: impl FnMut(u32, &mut [T; N], &[T; N]),
    ) -> Result<(), Broken>
    where
        T: Copy + Serialize + DeserializeOwned,
    {
        if stages > STAGES || N > usize::from(u16::MAX) {
            return Err(Broken::TooLarge);
        }
        let call = self.begin(tag, work, 0).await?;
        let result = call.stages(stages, partner, values, combine).await;
        call.end(result).await
    }
}

impl Call<'_, '_> {
    async fn stages<T, const N: usize>(
        &self,
        stages: u32,
        partner: impl Fn(u32) -> Option<Node>,
        values: &mut [T; N],
        mut combine: impl FnMut(u32, &mut [T; N], &[T; N]),
    ) -> Result<(), Broken>
    where
        T: Copy + Serialize + DeserializeOwned,
    {
        let mut block: Block<T, N> = Block {
            stage: 0,
            partner: None,
            ready: 0,
            values: Vec::new(),
        };
        self.meet(Part::Begin, &mut block).await?;
        for stage in 0..stages {
            block.stage = stage as u8;
            block.partner = partner(stage);
            block.values.clear();
            let Some(partner) = block.partner else { continue };
            self.send_value(partner, Kind::Ready(block.stage), &()).await?;
            self.receive(&mut block, Block::is_ready).await?;
            let sending = self.send_block(partner, block.stage, &values[..]);
            both(sending, self.receive(&mut block, |block| block.values.is_full())).await?;
            if let Ok(theirs) = <&[T; N]>::try_from(block.values.as_slice()) {
                combine(stage, values, theirs);
            }
        }
        block.partner = None;
        self.meet(Part::End, &mut block).await
    }

    async fn send_block<T: Serialize>(&self, to: Node, stage: u8, values: &[T]) -> Result<(), Broken> {
        let mut rest = values;
        while !rest.is_empty() {
            let header = self.header(Kind::Data(stage), 0);
            let first = values.len().saturating_sub(rest.len());
            let (letter, more) = write_piece(header, first, rest).ok_or(Broken::TooLarge)?;
            self.send(to, &letter, self.values_by()).await?;
            rest = more;
        }
        Ok(())
    }
}

/// The smaller or larger half of two blocks that are in order.
fn half<T: Ord + Copy, const N: usize>(own: &[T; N], theirs: &[T; N], smaller: bool) -> [T; N] {
    let mut kept = *own;
    if smaller {
        let (mut own, mut theirs) = (own.iter().peekable(), theirs.iter().peekable());
        for place in &mut kept {
            let mine = own.next_if(|mine| theirs.peek().is_none_or(|other| mine <= other));
            *place = mine.or_else(|| theirs.next()).copied().unwrap_or(*place);
        }
    } else {
        let (mut own, mut theirs) = (own.iter().rev().peekable(), theirs.iter().rev().peekable());
        for place in kept.iter_mut().rev() {
            let mine = own.next_if(|mine| theirs.peek().is_none_or(|other| mine >= other));
            *place = mine.or_else(|| theirs.next()).copied().unwrap_or(*place);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_in_order_and_miss_nothing() {
        let (a, b) = ([1, 4, 4, 9], [2, 4, 5, 6]);
        assert_eq!(half(&a, &b, true), [1, 2, 4, 4]);
        assert_eq!(half(&b, &a, false), [4, 5, 6, 9]);
        assert_eq!(half(&[7, 8], &[1, 2], true), [1, 2]);
        assert_eq!(half(&[1, 2], &[7, 8], false), [7, 8]);
    }
}
