//! Gather, scatter, dynamic slices.

use super::{counting, same, t};
use crate::kernels::indexing::*;
use evoxc_core::{F32, I32, Tensor, U64};
use evoxc_ir::{GatherDims, ScatterDims, ScatterOp};

fn gather_dims(offset: &[usize], collapsed: &[usize], start_map: &[usize], index_vector: usize) -> GatherDims {
    GatherDims {
        offset: offset.into(),
        collapsed: collapsed.into(),
        operand_batching: vec![],
        indices_batching: vec![],
        start_map: start_map.into(),
        index_vector,
    }
}
fn scatter_dims(window: &[usize], inserted: &[usize], map: &[usize], index_vector: usize) -> ScatterDims {
    ScatterDims {
        update_window: window.into(),
        inserted: inserted.into(),
        operand_batching: vec![],
        indices_batching: vec![],
        scatter_map: map.into(),
        index_vector,
    }
}

// Expectations of this test: jax.lax.gather(x, indices, dims, sizes, mode='clip') of x = arange(12).reshape(3, 4).
#[test]
fn gather_clamps_and_places_offsets() {
    let x = counting(&[3, 4]);
    let rows = t(&[4, 1], [2i32, 0, 7, -3]);
    let r = gather(&x, &rows, &gather_dims(&[1], &[0], &[0], 1), &[1, 4], &[4, 4]).unwrap();
    same(&r, &t(&[4, 4], [8f32, 9., 10., 11., 0., 1., 2., 3., 8., 9., 10., 11., 0., 1., 2., 3.]));
    let r = gather(&x, &t(&[2, 2], [1i64, 2, 2, 3]), &gather_dims(&[1, 2], &[], &[0, 1], 1), &[2, 2], &[2, 2, 2]);
    same(&r.unwrap(), &t(&[2, 2, 2], [6f32, 7., 10., 11., 6., 7., 10., 11.]));
    let r = gather(&x, &t(&[2, 1], [1u8, 3]), &gather_dims(&[0], &[1], &[1], 1), &[3, 1], &[3, 2]).unwrap();
    same(&r, &t(&[3, 2], [1f32, 3., 5., 7., 9., 11.]));
    // The same with an implicit index component.
    let r = gather(&x, &t(&[2], [1u8, 3]), &gather_dims(&[0], &[1], &[1], 1), &[3, 1], &[3, 2]).unwrap();
    same(&r, &t(&[3, 2], [1f32, 3., 5., 7., 9., 11.]));
    let dims = GatherDims {
        offset: vec![],
        collapsed: vec![1],
        operand_batching: vec![0],
        indices_batching: vec![0],
        start_map: vec![1],
        index_vector: 2,
    };
    let r = gather(&x, &t(&[3, 2, 1], [3i32, 0, 1, 1, 9, 2]), &dims, &[1, 1], &[3, 2]).unwrap();
    same(&r, &t(&[3, 2], [3f32, 0., 5., 5., 11., 10.]));
}

// StableHLO spec, gather: no indices give no slices; huge unsigned indices clamp to the last.
#[test]
fn gather_edges() {
    let x = counting(&[3]);
    let d = gather_dims(&[], &[0], &[0], 1);
    same(&gather(&x, &Tensor::zeros(I32, [0, 1]), &d, &[1], &[0]).unwrap(), &Tensor::zeros(F32, [0]));
    same(&gather(&x, &t(&[1], [u64::MAX]), &d, &[1], &[1]).unwrap(), &t(&[1], [2f32]));
    assert!(gather(&x, &Tensor::zeros(U64, [1]), &d, &[4], &[1]).is_err());
    assert!(gather(&x, &Tensor::zeros(F32, [1]), &d, &[1], &[1]).is_err());
}

// Expectations of this test: jax.lax.scatter_add / scatter_max / scatter / scatter_mul, mode FILL_OR_DROP.
#[test]
fn scatter_drops_what_is_out_of_bounds() {
    let x = counting(&[3, 4]);
    let rows = scatter_dims(&[1], &[0], &[0], 1);
    let r = scatter(ScatterOp::Add, x.clone(), &t(&[5, 1], [2i32, 0, 2, 5, -1]), &counting(&[5, 4]), &rows).unwrap();
    same(&r, &t(&[3, 4], [4f32, 6., 8., 10., 4., 5., 6., 7., 16., 19., 22., 25.]));
    let u = t(&[2, 4], [9f32, 0., 9., f32::NAN, 1., 1., 8., 1.]);
    let r = scatter(ScatterOp::Max, x.clone(), &t(&[2, 1], [1i32, 1]), &u, &rows).unwrap();
    same(&r, &t(&[3, 4], [0f32, 1., 2., 3., 9., 5., 9., f32::NAN, 8., 9., 10., 11.]));
    // Of several updates of one element the last stays, also where the windows are the leading axes of the updates.
    let u = t(&[3, 3], [1f32, 2., 3., 4., 5., 6., 7., 8., 9.]);
    let columns = scatter_dims(&[0], &[1], &[1], 1);
    let r = scatter(ScatterOp::Set, x.clone(), &t(&[3, 1], [0i32, 2, 0]), &u, &columns).unwrap();
    same(&r, &t(&[3, 4], [3f32, 1., 2., 3., 6., 5., 5., 7., 9., 9., 8., 11.]));
    let dims = ScatterDims {
        update_window: vec![],
        inserted: vec![1],
        operand_batching: vec![0],
        indices_batching: vec![0],
        scatter_map: vec![1],
        index_vector: 2,
    };
    let r = scatter(ScatterOp::Mul, x, &t(&[3, 1, 1], [3i32, 1, 9]), &t(&[3, 1], [2f32, 3., 4.]), &dims).unwrap();
    same(&r, &t(&[3, 4], [0f32, 1., 2., 6., 4., 15., 6., 7., 8., 9., 10., 11.]));
}

// StableHLO spec, scatter: elements of a window that lie outside are dropped one by one.
#[test]
fn scatter_of_a_window_that_overhangs() {
    let d = scatter_dims(&[0], &[], &[0], 0);
    for (start, want) in [(-1i32, [2f32, 3., 0., 0.]), (2, [0., 0., 1., 2.]), (4, [0.; 4]), (i32::MIN, [0.; 4])] {
        let x = Tensor::zeros(F32, [4]);
        let r = scatter(ScatterOp::Set, x, &t(&[1], [start]), &t(&[3], [1f32, 2., 3.]), &d).unwrap();
        same(&r, &t(&[4], want));
    }
}

#[test]
fn scatter_in_place_of_the_only_owner() {
    let x = counting(&[4]);
    let at = x.as_slice::<f32>().unwrap().as_ptr();
    let d = scatter_dims(&[], &[0], &[0], 1);
    let r = scatter(ScatterOp::Add, x, &t(&[1], [1i32]), &t(&[1], [5f32]), &d).unwrap();
    assert_eq!(r.as_slice::<f32>().unwrap().as_ptr(), at);
    let kept = r.clone();
    let s = scatter(ScatterOp::Add, r, &t(&[1], [1i32]), &t(&[1], [5f32]), &d).unwrap();
    same(&kept, &t(&[4], [0f32, 6., 2., 3.]));
    same(&s, &t(&[4], [0f32, 11., 2., 3.]));
}

// By hand: the body swaps two operands' roles; updates in order.
#[test]
fn scatter_with_a_body() {
    let xs = vec![counting(&[3]), t(&[3], [10i32, 20, 30])];
    let d = scatter_dims(&[], &[0], &[0], 1);
    let updates = [t(&[3], [5f32, 6., 7.]), t(&[3], [1i32, 2, 3])];
    let mut body = |a: &[Tensor]| {
        let f = a[0].item::<f32>()? * 2.0 + a[2].item::<f32>()?;
        Ok(vec![Tensor::from(f), Tensor::from(a[1].item::<i32>()? - a[3].item::<i32>()?)])
    };
    let r = scatter_body(xs, &t(&[3], [1i32, 1, 3]), &updates, &d, &mut body).unwrap();
    same(&r[0], &t(&[3], [0f32, 20., 2.])); // (1*2 + 5)*2 + 6
    same(&r[1], &t(&[3], [10i32, 17, 30]));
}

// Expectations: jax.lax.dynamic_slice / dynamic_update_slice clamp the starts.
#[test]
fn dynamic_slices_clamp() {
    let x = counting(&[3, 4]);
    let at = |a: i32, b: i64| [Tensor::from(a), Tensor::from(b)];
    same(&dynamic_slice(&x, &at(1, 1), &[2, 2]).unwrap(), &t(&[2, 2], [5f32, 6., 9., 10.]));
    same(&dynamic_slice(&x, &at(-4, 9), &[2, 2]).unwrap(), &t(&[2, 2], [2f32, 3., 6., 7.]));
    same(&dynamic_slice(&x, &at(5, 0), &[0, 4]).unwrap(), &Tensor::zeros(F32, [0, 4]));
    assert!(dynamic_slice(&x, &at(0, 0), &[4, 4]).is_err());
    let u = t(&[1, 2], [-1f32, -2.]);
    let r = dynamic_update_slice(x.clone(), &u, &at(7, -1)).unwrap();
    same(&r, &t(&[3, 4], [0f32, 1., 2., 3., 4., 5., 6., 7., -1., -2., 10., 11.]));
    same(&dynamic_update_slice(x.clone(), &Tensor::zeros(F32, [0, 4]), &at(1, 1)).unwrap(), &x);
    assert!(dynamic_update_slice(x, &Tensor::zeros(I32, [1, 1]), &at(1, 1)).is_err());
}

// By hand: rank 0.
#[test]
fn scalars() {
    let x = Tensor::from(3i8);
    same(&dynamic_slice(&x, &[], &[]).unwrap(), &x);
    same(&dynamic_update_slice(x, &Tensor::from(4i8), &[]).unwrap(), &Tensor::from(4i8));
}
