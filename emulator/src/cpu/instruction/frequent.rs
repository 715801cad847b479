//! Frequent instructions as operations of their own, so that what they do is decided once, when an image is loaded.

use super::{Alu, Decoded, Extend, Index, Indexed, Op, Summed, Width};

impl Op {
    /// The same as an operation of its own, if it is a frequent one: what it does is then decided here and not at every execution.
    pub(crate) fn frequent(self) -> Self {
        match self {
            Op::Load(Indexed {
                width,
                rt,
                rn,
                index: Index::Offset,
                offset,
            }) if rt != 15 => match width {
                Width::Word => Op::LoadWord { rt, rn, offset },
                Width::Byte => Op::LoadByte { rt, rn, offset },
                _ => self,
            },
            Op::Store(Indexed {
                width,
                rt,
                rn,
                index: Index::Offset,
                offset,
            }) => match width {
                Width::Word => Op::StoreWord { rt, rn, offset },
                Width::Byte => Op::StoreByte { rt, rn, offset },
                _ => self,
            },
            Op::Immediate {
                alu,
                set,
                rd,
                rn,
                value,
                ..
            } => match alu {
                Alu::Cmp => Op::CompareImmediate { rn, value },
                Alu::Add => Op::SumImmediate {
                    set,
                    rd,
                    rn,
                    carry: false,
                    value,
                },
                Alu::Sub => Op::SumImmediate {
                    set,
                    rd,
                    rn,
                    carry: true,
                    value: !value,
                },
                _ => self,
            },
            Op::Register { alu, set, rd, rn, m } => match alu {
                Alu::Cmp if m.amount == 0 => Op::CompareRegister { rn, rm: m.rm },
                Alu::Add if m.amount == 0 => Op::SumRegister { set, rd, rn, rm: m.rm },
                Alu::Mov if m.amount != 0 => Op::ShiftImmediate { set, rd, m },
                _ => self,
            },
            Op::LoadRegister(Summed {
                width: Width::Byte,
                rt,
                rn,
                rm,
                shift: 0,
            }) if rt != 15 => Op::LoadByteRegister { rt, rn, rm },
            Op::StoreRegister(Summed {
                width: Width::Byte,
                rt,
                rn,
                rm,
                shift: 0,
            }) => Op::StoreByteRegister { rt, rn, rm },
            Op::Extend {
                extend,
                rd,
                rn: 15,
                rm,
                rotate: 0,
            } => match extend {
                Extend::Byte => Op::Masked { rd, rm, mask: 0xff },
                Extend::Half => Op::Masked { rd, rm, mask: 0xffff },
                _ => self,
            },
            other => other,
        }
    }
}

impl Decoded {
    /// The same with its operation as [frequent](Op::frequent) ones are executed.
    pub(crate) fn frequent(self) -> Self {
        Decoded {
            op: self.op.frequent(),
            ..self
        }
    }

    /// The same together with the instruction after it, if the two are a comparison and a branch of two bytes.
    pub(crate) fn with_branch(self, after: &Decoded) -> Self {
        let Op::BranchIf { condition, to } = after.op else {
            return self;
        };
        let op = match self.op {
            Op::CompareImmediate { rn, value } if after.length == 2 => Op::CompareImmediateBranch {
                rn,
                condition,
                value,
                to,
            },
            Op::CompareRegister { rn, rm } if after.length == 2 => Op::CompareRegisterBranch { rn, rm, condition, to },
            other => other,
        };
        Decoded { op, ..self }
    }

    /// The same without the instruction after it.
    pub(crate) fn alone(self) -> Self {
        let op = match self.op {
            Op::CompareImmediateBranch { rn, value, .. } => Op::CompareImmediate { rn, value },
            Op::CompareRegisterBranch { rn, rm, .. } => Op::CompareRegister { rn, rm },
            other => other,
        };
        Decoded { op, ..self }
    }
}
