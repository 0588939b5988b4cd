//! Matrix factorisations and triangular solves, of f32, f64, c64 and c128; leading axes are batch.
//!
//! Direct methods are written out here, in LAPACK's conventions of signs and pivots. What iterates (eigenvalues,
//! singular values) goes through faer, always in double precision and on one thread.

mod field;
mod lu;
mod qr;
mod spectral;
mod triangular;
mod update;

pub(crate) use lu::lu;
pub(crate) use qr::qr;
pub(crate) use spectral::{eigh, svd};
pub(crate) use triangular::{cholesky, triangular_solve};

use super::walk::Dims;
use evoxc_core::{OpError, Tensor};

/// A tensor as a batch of matrices.
struct Batch {
    /// The leading extents, and their product.
    lead: Dims,
    count: usize,
    rows: usize,
    columns: usize,
}

impl Batch {
    fn of(op: &str, a: &Tensor) -> Result<Batch, OpError> {
        let [lead @ .., rows, columns] = a.shape() else {
            return Err(OpError::new(op, "matrices have at least 2 axes").operands([a.spec()]));
        };
        Ok(Batch { lead: lead.into(), count: lead.iter().product(), rows: *rows, columns: *columns })
    }
    fn square(op: &str, a: &Tensor) -> Result<Batch, OpError> {
        let b = Batch::of(op, a)?;
        match b.rows == b.columns {
            true => Ok(b),
            false => Err(OpError::new(op, "the matrices must be square").operands([a.spec()])),
        }
    }
    /// Every matrix of `v`; none, however many there are, if each gives results of `elements` = 0 elements.
    fn each<'a, T>(&self, v: &'a [T], elements: usize) -> impl Iterator<Item = &'a [T]> + use<'a, T> {
        let size = self.rows * self.columns;
        (0..if elements == 0 { 0 } else { self.count })
            .map(move |i| v.get(i * size..(i + 1) * size).unwrap_or_default())
    }
    /// The leading extents, and then `last`.
    fn shape(&self, last: &[usize]) -> Dims {
        self.lead.iter().chain(last).copied().collect()
    }
}

fn unsupported(op: &str, a: &Tensor) -> OpError {
    OpError::new(op, "is computed in f32, f64, c64 and c128").operands([a.spec()]).remedy("cast it first: `.cast(F32)`")
}

/// Runs `$body` with `$v` bound to the elements of a float or complex tensor.
macro_rules! with_field {
    ($op:expr, $x:expr, $v:ident => $body:expr) => {
        match $x.buffer() {
            evoxc_core::Buffer::F32($v) => $body,
            evoxc_core::Buffer::F64($v) => $body,
            evoxc_core::Buffer::C64($v) => $body,
            evoxc_core::Buffer::C128($v) => $body,
            evoxc_core::Buffer::Bool(_)
            | evoxc_core::Buffer::I8(_)
            | evoxc_core::Buffer::I16(_)
            | evoxc_core::Buffer::I32(_)
            | evoxc_core::Buffer::I64(_)
            | evoxc_core::Buffer::U8(_)
            | evoxc_core::Buffer::U16(_)
            | evoxc_core::Buffer::U32(_)
            | evoxc_core::Buffer::U64(_)
            | evoxc_core::Buffer::F16(_)
            | evoxc_core::Buffer::Bf16(_) => Err(super::unsupported($op, $x)),
        }
    };
}
use with_field;
