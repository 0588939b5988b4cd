//! Sorting along an axis, by keys or by a body, and the largest elements.

use super::combine::Combine;
use super::walk::{scalar_at, tensor};
use evoxc_core::{Element, OpError, Result, RunError, Tensor, with_buffer};
use evoxc_ir::SortKeys;
use std::cmp::Ordering;

/// The lines of a tensor along an axis: offset of the first element, the step, and the length.
struct Lines {
    outer: usize,
    len: usize,
    inner: usize,
}

impl Lines {
    fn new(op: &str, shape: &[usize], axis: usize) -> Result<Lines, OpError> {
        let Some(&len) = shape.get(axis) else {
            return Err(OpError::new(op, format!("axis {axis} of a shape of {} axes", shape.len())));
        };
        Ok(Lines { outer: shape[..axis].iter().product(), len, inner: shape[axis + 1..].iter().product() })
    }
    fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.outer).flat_map(move |o| (0..self.inner).map(move |i| o * self.len * self.inner + i))
    }
}

/// Rearranges every operand by `order`, the sorted element offsets of every line.
fn take(op: &str, xs: &[Tensor], lines: &Lines, order: &[usize]) -> Result<Vec<Tensor>, OpError> {
    fn moved<T: Element>(v: &[T], lines: &Lines, order: &[usize]) -> Vec<T> {
        let mut out = v.to_vec();
        for (start, line) in lines.starts().zip(order.chunks(lines.len.max(1))) {
            line.iter().enumerate().for_each(|(i, &from)| out[start + i * lines.inner] = v[from]);
        }
        out
    }
    xs.iter().map(|x| with_buffer!(x.buffer(), v => tensor(op, moved(v, lines, order), x.shape()))).collect()
}

fn same_shapes(op: &str, xs: &[Tensor]) -> Result<(), OpError> {
    match xs.windows(2).all(|w| w[0].shape() == w[1].shape()) {
        true => Ok(()),
        false => Err(OpError::new(op, "operands must have one shape").operands(xs.iter().map(Tensor::spec))),
    }
}

fn flip(o: Ordering, descending: bool) -> Ordering {
    if descending { o.reverse() } else { o }
}

/// Sorts the operands together along `axis` by the first of them. Always stable, whatever `stable` asks for.
pub(crate) fn sort(xs: &[Tensor], axis: usize, keys: &SortKeys, stable: bool) -> Result<Vec<Tensor>, OpError> {
    fn single<T: Combine>(v: &[T], lines: &Lines, descending: bool) -> Vec<T> {
        let mut out = v.to_vec();
        let mut line = Vec::with_capacity(lines.len);
        for start in lines.starts() {
            line.clear();
            line.extend((0..lines.len).map(|i| v[start + i * lines.inner]));
            line.sort_by(|a, b| flip(a.order(b), descending));
            line.iter().enumerate().for_each(|(i, &x)| out[start + i * lines.inner] = x);
        }
        out
    }
    fn compare<T: Combine>(v: &[T], descending: bool) -> impl Fn(usize, usize) -> Ordering {
        move |a, b| flip(v[a].order(&v[b]), descending)
    }
    let (op, _) = ("sort", stable);
    let Some(first) = xs.first() else { return Ok(vec![]) };
    same_shapes(op, xs)?;
    let lines = Lines::new(op, first.shape(), axis)?;
    if first.is_empty() {
        return Ok(xs.to_vec());
    }
    if let ([x], [descending]) = (xs, &keys.0[..]) {
        return with_buffer!(x.buffer(), v => Ok(vec![tensor(op, single(v, &lines, *descending), x.shape())?]));
    }
    let by: Vec<Box<dyn Fn(usize, usize) -> Ordering + '_>> = xs
        .iter()
        .zip(&keys.0)
        .map(|(x, &d)| with_buffer!(x.buffer(), v => Box::new(compare(v, d)) as Box<dyn Fn(usize, usize) -> Ordering>))
        .collect();
    let mut order = Vec::with_capacity(first.len());
    for start in lines.starts() {
        let from = order.len();
        order.extend((0..lines.len).map(|i| start + i * lines.inner));
        order[from..].sort_by(|&a, &b| by.iter().fold(Ordering::Equal, |o, f| o.then_with(|| f(a, b))));
    }
    take(op, xs, &lines, &order)
}

/// Sorts the operands together along `axis`; `body` says of scalars (a0, b0, a1, b1, …) whether a comes before b.
///
/// A stable merge sort: a body that is no strict weak order gives some permutation, never a failure.
pub(crate) fn sort_body(
    xs: &[Tensor],
    axis: usize,
    stable: bool,
    body: &mut dyn FnMut(&[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<Vec<Tensor>> {
    let (op, _) = ("sort_by", stable);
    let run = |e: OpError| RunError::Op(Box::new(e));
    let Some(first) = xs.first() else { return Ok(vec![]) };
    same_shapes(op, xs).map_err(run)?;
    let lines = Lines::new(op, first.shape(), axis).map_err(run)?;
    if first.is_empty() {
        return Ok(xs.to_vec());
    }
    let mut before = |a: usize, b: usize| {
        let args: Vec<Tensor> = xs.iter().flat_map(|x| [scalar_at(x.buffer(), a), scalar_at(x.buffer(), b)]).collect();
        let verdict = body(&args)?;
        let verdict = verdict.first().ok_or_else(|| run(OpError::new(op, "the body must give a bool")))?;
        verdict.item::<bool>()
    };
    let mut order = Vec::with_capacity(first.len());
    for start in lines.starts() {
        order.extend(merge_sort((0..lines.len).map(|i| start + i * lines.inner).collect(), &mut before)?);
    }
    take(op, xs, &lines, &order).map_err(|e| run(e).into())
}

/// A bottom-up stable merge sort with a comparison that may fail.
fn merge_sort(mut v: Vec<usize>, before: &mut impl FnMut(usize, usize) -> Result<bool>) -> Result<Vec<usize>> {
    let mut width = 1;
    while width < v.len() {
        let mut next = Vec::with_capacity(v.len());
        for pair in v.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let ([a, l @ ..], [b, r @ ..]) = (left, right) {
                if before(*b, *a)? {
                    next.push(*b);
                    right = r;
                } else {
                    next.push(*a);
                    left = l;
                }
            }
            next.extend_from_slice(left);
            next.extend_from_slice(right);
        }
        v = next;
        width *= 2;
    }
    Ok(v)
}

/// The k largest elements of the last axis in descending order (NaN first; of equal ones the first), and their indices.
pub(crate) fn top_k(x: &Tensor, k: usize) -> Result<[Tensor; 2], OpError> {
    fn largest<T: Combine>(v: &[T], n: usize, k: usize) -> (Vec<T>, Vec<i32>) {
        let (mut values, mut indices) = (vec![], vec![]);
        for line in v.chunks(n.max(1)) {
            let by = |a: &i32, b: &i32| line[*b as usize].order(&line[*a as usize]).then(a.cmp(b));
            let mut order: Vec<i32> = (0..n as i32).collect();
            if k < n {
                // Ties are broken by the index, so that the selection is the same as that of a stable sort.
                order.select_nth_unstable_by(k, by);
                order.truncate(k);
            }
            order.sort_unstable_by(by);
            values.extend(order.iter().map(|&i| line[i as usize]));
            indices.extend(order);
        }
        (values, indices)
    }
    let op = "top_k";
    let Some((&n, rest)) = x.shape().split_last() else {
        return Err(OpError::new(op, "needs an axis").operands([x.spec()]));
    };
    if k > n || i32::try_from(n).is_err() {
        return Err(OpError::new(op, format!("k = {k} of an axis of {n}"))
            .operands([x.spec()])
            .remedy("give a k that is not above the last axis"));
    }
    let shape: Vec<usize> = rest.iter().copied().chain([k]).collect();
    let (values, indices) = with_buffer!(x.buffer(), v => {
        let (values, indices) = largest(v, n, k);
        (tensor(op, values, &shape)?, indices)
    });
    Ok([values, tensor(op, indices, &shape)?])
}
