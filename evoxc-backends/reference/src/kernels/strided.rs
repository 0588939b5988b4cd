//! Copies between strided views of buffers: what broadcasts, transposes, slices, reversals and pads are made of.

use smallvec::SmallVec;

/// A position or step in a buffer, in elements; steps may be negative.
pub(crate) type Steps = SmallVec<[isize; 6]>;

/// The row-major steps of `shape`.
pub(crate) fn row_major(shape: &[usize]) -> Steps {
    let mut steps: Steps = SmallVec::from_elem(1, shape.len());
    let mut step = 1isize;
    for (s, &n) in steps.iter_mut().zip(shape).rev() {
        *s = step;
        step *= n as isize;
    }
    steps
}

/// One axis of a copy: extent, step in the target, step in the source.
#[derive(Clone, Copy)]
struct Axis {
    n: usize,
    to: isize,
    from: isize,
}

/// Copies `shape` elements from `src`, starting at `from` with steps `src_steps`, to `dst`, likewise. Every position
/// reached must be inside the slices.
pub(crate) fn copy<T: Copy>(
    shape: &[usize],
    (dst, to, dst_steps): (&mut [T], isize, &[isize]),
    (src, from, src_steps): (&[T], isize, &[isize]),
) {
    if shape.contains(&0) {
        return;
    }
    // Axes that continue each other in both buffers are one.
    let mut axes: SmallVec<[Axis; 6]> = SmallVec::new();
    for ((&n, &to), &from) in shape.iter().zip(dst_steps).zip(src_steps) {
        if n == 1 {
            continue;
        }
        match axes.last_mut() {
            Some(a) if a.to == to * n as isize && a.from == from * n as isize => {
                *a = Axis { n: a.n * n, to, from };
            }
            _ => axes.push(Axis { n, to, from }),
        }
    }
    let inner = axes.pop().unwrap_or(Axis { n: 1, to: 1, from: 1 });
    let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, axes.len());
    let (mut to, mut from) = (to, from);
    loop {
        row(dst, to, src, from, inner);
        // The next row: count the index up like an odometer.
        let mut done = true;
        for (a, i) in axes.iter().zip(index.iter_mut()).rev() {
            *i += 1;
            to += a.to;
            from += a.from;
            if *i < a.n {
                done = false;
                break;
            }
            to -= a.to * a.n as isize;
            from -= a.from * a.n as isize;
            *i = 0;
        }
        if done {
            return;
        }
    }
}

#[inline]
fn row<T: Copy>(dst: &mut [T], to: isize, src: &[T], from: isize, a: Axis) {
    let (t, f) = (to as usize, from as usize);
    match (a.to, a.from) {
        (1, 1) => dst[t..t + a.n].copy_from_slice(&src[f..f + a.n]),
        (1, 0) => dst[t..t + a.n].fill(src[f]),
        (1, step) if step > 0 => {
            dst[t..t + a.n].iter_mut().zip(src[f..].iter().step_by(step as usize)).for_each(|(d, &s)| *d = s);
        }
        _ => {
            for i in 0..a.n as isize {
                dst[(to + i * a.to) as usize] = src[(from + i * a.from) as usize];
            }
        }
    }
}
