//! Which registers an instruction reads, and which it writes.

use super::{Inst, Reg, Stride};

impl Inst {
    /// The register that it writes, if it writes one. Of a loop that is its variable.
    pub fn dst(&self) -> Option<Reg> {
        match *self {
            Inst::Const { dst, .. }
            | Inst::Param { dst, .. }
            | Inst::Begin { dst }
            | Inst::End { dst }
            | Inst::Lanes { dst }
            | Inst::Alu { dst, .. }
            | Inst::Cast { dst, .. }
            | Inst::Bitcast { dst, .. }
            | Inst::Splat { dst, .. }
            | Inst::Extract { dst, .. }
            | Inst::Across { dst, .. }
            | Inst::Load { dst, .. }
            | Inst::Gather { dst, .. }
            | Inst::Call { dst, .. }
            | Inst::Copy { dst, .. }
            | Inst::For { var: dst, .. } => Some(dst),
            Inst::Store { .. } | Inst::Scatter { .. } | Inst::EndFor | Inst::If { .. } | Inst::EndIf => None,
        }
    }

    /// Calls `f` with every register that it reads, in the order in which they are written down.
    pub fn for_each_src(&self, mut f: impl FnMut(Reg)) {
        let stride = |s: &Stride, f: &mut dyn FnMut(Reg)| match s {
            Stride::Reg(r) => f(*r),
            Stride::One | Stride::Const(_) => {}
        };
        match self {
            Inst::Const { .. } | Inst::Param { .. } | Inst::Begin { .. } | Inst::End { .. } | Inst::Lanes { .. } => {}
            Inst::EndFor | Inst::EndIf => {}
            Inst::Alu { src, .. } => src.iter().copied().for_each(f),
            Inst::Call { src, .. } => src.iter().copied().for_each(f),
            Inst::Cast { src, .. }
            | Inst::Bitcast { src, .. }
            | Inst::Splat { src, .. }
            | Inst::Extract { src, .. }
            | Inst::Across { src, .. }
            | Inst::Copy { src, .. } => f(*src),
            Inst::Load { index, stride: s, .. } => {
                f(*index);
                stride(s, &mut f);
            }
            Inst::Store { index, stride: s, src, .. } => {
                f(*index);
                stride(s, &mut f);
                f(*src);
            }
            Inst::Gather { index, gate, .. } => {
                f(*index);
                if let Some((gate, otherwise)) = gate {
                    f(*gate);
                    f(*otherwise);
                }
            }
            Inst::Scatter { index, src, gate, .. } => {
                f(*index);
                f(*src);
                gate.iter().copied().for_each(f);
            }
            Inst::For { from, to, .. } => {
                f(*from);
                f(*to);
            }
            Inst::If { condition } => f(*condition),
        }
    }

    /// Calls `f` with every register that it names, to put another in its place.
    pub fn for_each_reg_mut(&mut self, mut f: impl FnMut(&mut Reg)) {
        let stride = |s: &mut Stride, f: &mut dyn FnMut(&mut Reg)| match s {
            Stride::Reg(r) => f(r),
            Stride::One | Stride::Const(_) => {}
        };
        match self {
            Inst::Const { dst, .. } | Inst::Param { dst, .. } | Inst::Begin { dst } | Inst::End { dst } => f(dst),
            Inst::Lanes { dst } => f(dst),
            Inst::Alu { dst, src, .. } => {
                f(dst);
                src.iter_mut().for_each(f);
            }
            Inst::Call { dst, src, .. } => {
                f(dst);
                src.iter_mut().for_each(f);
            }
            Inst::Cast { dst, src }
            | Inst::Bitcast { dst, src }
            | Inst::Splat { dst, src }
            | Inst::Extract { dst, src, .. }
            | Inst::Across { dst, src, .. }
            | Inst::Copy { dst, src } => {
                f(dst);
                f(src);
            }
            Inst::Load { dst, index, stride: s, .. } => {
                f(dst);
                f(index);
                stride(s, &mut f);
            }
            Inst::Store { index, stride: s, src, .. } => {
                f(index);
                stride(s, &mut f);
                f(src);
            }
            Inst::Gather { dst, index, gate, .. } => {
                f(dst);
                f(index);
                if let Some((gate, otherwise)) = gate {
                    f(gate);
                    f(otherwise);
                }
            }
            Inst::Scatter { index, src, gate, .. } => {
                f(index);
                f(src);
                gate.iter_mut().for_each(f);
            }
            Inst::For { var, from, to, .. } => {
                f(var);
                f(from);
                f(to);
            }
            Inst::If { condition } => f(condition),
            Inst::EndFor | Inst::EndIf => {}
        }
    }
}
