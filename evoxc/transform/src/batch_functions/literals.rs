//! Constants of several programs, one after the other.

use evoxc_core::{Buffer, BufferElement, Dim, Shape, Tensor, with_buffer};
use evoxc_ir::{Literal, Prim};
use evoxc_trace::{Sym, emitter};

/// Stacks of repeated elements are filled up to this many elements; larger ones are broadcast when they run.
const FILLED: usize = 1 << 14;

/// Literals of one type, stacked along a new axis 0.
pub(super) fn stack(list: &[&Literal]) -> Sym {
    let Some(ty) = list.first().map(|l| l.ty()) else { return emitter::poison() };
    let size = ty.shape.to_static().map(|s| s.iter().product::<usize>());
    let repeats = list.iter().all(|l| l.tensor().len() == 1);
    match size {
        Some(n) if !repeats || n.saturating_mul(list.len()) <= FILLED => {
            let shape: Vec<usize> =
                std::iter::once(list.len()).chain(ty.shape.to_static().unwrap_or_default()).collect();
            constant(elements(list, n), &shape)
        }
        _ if repeats => {
            let scalars = constant(elements(list, 1), &[list.len()]);
            let rows = Dim::constant(list.len() as i64);
            let shape: Shape = std::iter::once(rows).chain(ty.shape.iter().copied()).collect();
            emitter::emit(Prim::BroadcastInDim { shape, dims: vec![0] }, &[scalars])
        }
        // A literal of a symbolic shape repeats one element.
        _ => emitter::poison(),
    }
}

/// The elements of literals of one type, one after the other, `n` of each: where it has one, that one repeated.
fn elements(list: &[&Literal], n: usize) -> Buffer {
    fn go<T: BufferElement + Copy>(_: &[T], list: &[&Literal], n: usize) -> Buffer {
        let mut v: Vec<T> = Vec::with_capacity(n.saturating_mul(list.len()));
        for l in list {
            match T::slice(l.tensor().buffer()) {
                Some(&[e]) => v.extend(std::iter::repeat_n(e, n)),
                Some(all) => v.extend_from_slice(all),
                None => {}
            }
        }
        T::wrap(v)
    }
    match list.first() {
        Some(l) => with_buffer!(l.tensor().buffer(), v => go(v, list, n)),
        None => Buffer::from(Vec::<bool>::new()),
    }
}

fn constant(data: Buffer, shape: &[usize]) -> Sym {
    match Tensor::from_parts(data, shape) {
        Some(t) => emitter::emit(Prim::Constant { value: Literal::Dense(t) }, &[]),
        None => emitter::poison(),
    }
}

/// Row numbers as a constant.
pub(super) fn indices(rows: &[u32]) -> Sym {
    constant(rows.iter().map(|&r| r as i32).collect::<Vec<i32>>().into(), &[rows.len()])
}

/// Which rows are `n`, as a constant of this shape whose axis 0 has the rows.
pub(super) fn mask(which: &[u32], n: u32, shape: &Shape) -> Sym {
    let row = shape.to_static().map(|s| s.iter().skip(1).product::<usize>());
    let rows = which.iter().map(|&w| w == n);
    match (row, shape.to_static()) {
        (Some(size), Some(shape)) if size.saturating_mul(which.len()) <= FILLED => {
            constant(rows.flat_map(|r| std::iter::repeat_n(r, size)).collect::<Vec<bool>>().into(), &shape)
        }
        _ => {
            let rows = constant(rows.collect::<Vec<bool>>().into(), &[which.len()]);
            emitter::emit(Prim::BroadcastInDim { shape: shape.clone(), dims: vec![0] }, &[rows])
        }
    }
}
