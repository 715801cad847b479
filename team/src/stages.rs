//! Stage by stage: in each, a board exchanges its block of values with one other.

use core::cell::RefCell;

use heapless::Vec;
use hopwise_app::{MAX_MESSAGE, Node};
use hopwise_core::collective::Sorting;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Team;
use crate::call::{Stage, Work};
use crate::error::TeamError;
use crate::letter::{Bytes, Header, Kind, Purpose, ReceivedMessage, Value};

/// Maximum number of stages of one call: sorting 1,024 boards takes 55.
const STAGES: u32 = u64::BITS;

/// A block of values that is exchanged with a partner, in pieces.
struct Blocks<'v, T, P, C, const N: usize> {
    stages: u32,
    stage: u8,
    /// By stage.
    partners: P,
    partner: Option<Node>,
    /// The stages for which the partners are ready, a bit each; they may be ahead.
    ready: u64,
    own: &'v mut [T; N],
    /// Number of its own values that have been sent.
    sent: usize,
    theirs: Vec<T, N>,
    combine: C,
}

impl<T, P, C, const N: usize> Work for Blocks<'_, T, P, C, N>
where
    T: Serialize + DeserializeOwned,
    P: Fn(u32) -> Option<Node>,
    C: FnMut(u32, &mut [T; N], &[T; N]),
{
    fn stage(&mut self, number: u8) -> Option<Stage> {
        self.partner = None;
        if u32::from(number) >= self.stages {
            return None;
        }
        self.stage = number;
        self.partner = (self.partners)(number.into());
        self.sent = 0;
        self.theirs.clear();
        Some(self.partner.map_or(Stage::Pause, Stage::Partner))
    }

    fn value(&mut self, header: Header) -> Option<(Node, Option<Bytes>)> {
        let rest = self.own.get(self.sent..).filter(|rest| !rest.is_empty())?;
        let piece = write_piece(header, self.sent, rest);
        let (letter, written) = piece.map_or((None, rest.len()), |(letter, written)| (Some(letter), written));
        self.sent += written;
        Some((self.partner?, letter))
    }

    fn take(&mut self, letter: &ReceivedMessage) -> Result<(), TeamError> {
        match letter.header.kind {
            Kind::Ready(stage) => {
                self.ready |= 1_u64.checked_shl(stage.into()).unwrap_or(0);
                Ok(())
            }
            // It comes only after this board has reported that it is ready.
            Kind::Data(stage) if stage == self.stage && Some(letter.from) == self.partner => {
                read_piece(&letter.body, &mut self.theirs).ok_or(TeamError::Differs(letter.from))
            }
            _ => Err(TeamError::Differs(letter.from)),
        }
    }

    fn has_all(&self) -> bool {
        self.theirs.is_full()
    }

    fn is_ready(&self) -> bool {
        self.ready.checked_shr(self.stage.into()).unwrap_or(0) & 1 == 1
    }

    fn awaits(&self, node: Node) -> bool {
        Some(node) == self.partner
    }

    fn end_stage(&mut self, number: u8) {
        if let Ok(theirs) = <&[T; N]>::try_from(self.theirs.as_slice()) {
            (self.combine)(number.into(), self.own, theirs);
        }
    }
}

/// A message with as many values as fit, and their number; `None` if none fits.
fn write_piece<T: Serialize>(header: Header, first: usize, values: &[T]) -> Option<(Bytes, usize)> {
    let mut bytes = [0; MAX_MESSAGE];
    let mut used = postcard::to_slice(&(header, first as u16), &mut bytes).ok()?.len();
    let mut written = 0;
    for value in values {
        let Ok(bytes) = postcard::to_slice(value, bytes.get_mut(used..)?) else {
            break;
        };
        used += bytes.len();
        written += 1;
    }
    (written > 0).then_some(())?;
    Some((Vec::from_slice(bytes.get(..used)?).ok()?, written))
}

/// Appends the values of a piece. A duplicate adds nothing.
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
    /// Sorts the values of all boards: board 0 ends with the smallest, in order, and so on. Every board has the same number.
    pub async fn sort<T: Value + Ord + Copy, const N: usize>(
        &self,
        tag: u32,
        values: &mut [T; N],
    ) -> Result<(), TeamError> {
        values.sort_unstable();
        let (place, sorting) = (self.place()?, Sorting::new(self.boards()? as u64));
        let comparator = |stage: u32| sorting.comparator(stage.into(), place);
        let stages = u32::try_from(sorting.stages()).unwrap_or(u32::MAX);
        let partner = |stage| Some(comparator(stage)?.partner);
        let keep = |stage, own: &mut [T; N], theirs: &[T; N]| {
            let keeps_smaller = comparator(stage).is_some_and(|comparator| comparator.keeps_smaller);
            *own = half(own, theirs, keeps_smaller);
        };
        self.stages(tag, Purpose::Sort, stages, partner, values, keep).await
    }

    /// An ascend algorithm on 2^m boards: for each bit of the board's number, from the lowest, a board and the one that differs from it
    /// in that bit exchange their values, and `operator` computes its new ones from the bit, its own and the other's.
    pub async fn ascend<T: Value + Copy, const N: usize>(
        &self,
        tag: u32,
        values: &mut [T; N],
        operator: impl FnMut(u32, &mut [T; N], &[T; N]),
    ) -> Result<(), TeamError> {
        self.along_bits(tag, Purpose::Ascend, values, operator).await
    }

    /// The same from the highest bit: a Fourier transform, or a merge of a bitonic sequence.
    pub async fn descend<T: Value + Copy, const N: usize>(
        &self,
        tag: u32,
        values: &mut [T; N],
        operator: impl FnMut(u32, &mut [T; N], &[T; N]),
    ) -> Result<(), TeamError> {
        self.along_bits(tag, Purpose::Descend, values, operator).await
    }

    async fn along_bits<T: Value + Copy, const N: usize>(
        &self,
        tag: u32,
        purpose: Purpose,
        values: &mut [T; N],
        mut operator: impl FnMut(u32, &mut [T; N], &[T; N]),
    ) -> Result<(), TeamError> {
        let (place, bits) = (self.place()?, self.bits()?);
        let bit_of = |stage: u32| match purpose {
            Purpose::Descend => bits.saturating_sub(stage).saturating_sub(1),
            _ => stage,
        };
        let partner = |stage| Some(place ^ 1_u64.checked_shl(bit_of(stage))?);
        let combine = |stage, own: &mut [T; N], theirs: &[T; N]| operator(bit_of(stage), own, theirs);
        self.stages(tag, purpose, bits, partner, values, combine).await
    }

    /// The number of bits of a board's number, if the number of boards is a power of two.
    fn bits(&self) -> Result<u32, TeamError> {
        let boards = self.boards()?;
        boards
            .is_power_of_two()
            .then(|| boards.trailing_zeros())
            .ok_or(TeamError::NoCube)
    }

    async fn stages<T: Value + Copy, const N: usize>(
        &self,
        tag: u32,
        purpose: Purpose,
        stages: u32,
        partner: impl Fn(u32) -> Option<Node>,
        values: &mut [T; N],
        combine: impl FnMut(u32, &mut [T; N], &[T; N]),
    ) -> Result<(), TeamError> {
        if stages > STAGES || N > usize::from(u16::MAX) {
            return Err(TeamError::TooLarge);
        }
        let work = RefCell::new(Blocks {
            stages,
            stage: 0,
            partners: partner,
            partner: None,
            ready: 0,
            own: values,
            sent: 0,
            theirs: Vec::new(),
            combine,
        });
        self.call(tag, purpose, 0, &work).await
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
