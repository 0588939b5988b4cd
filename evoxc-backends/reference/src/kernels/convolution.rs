//! StableHLO's general convolution: the patches under the window become the columns of a matrix, which the kernel's
//! rows multiply.

use super::empty;
use super::matmul::{MatMul, Strided, matmul};
use super::precision::cast;
use super::taps::{HOLE, Taps, taps};
use super::walk::{Dims, permute, pick, slice, strides, tensor};
use evoxc_core::{DType, OpError, Tensor, with_dtype};
use evoxc_ir::{ConvLayout, Window};
use std::ops::Range;

/// About how many elements the matrix of patches may hold at once.
const PATCHES: usize = 1 << 20;

/// How a convolution is split.
#[derive(Clone, Copy)]
pub(crate) struct Groups {
    pub(crate) feature: usize,
    pub(crate) batch: usize,
}

/// The convolution of `lhs` with the kernel `rhs`. `window` has constant extents; sums have dtype `out` (halves sum in
/// `f32` and round once, integers wrap, `bool` is or of and).
pub(crate) fn convolution(
    lhs: &Tensor,
    rhs: &Tensor,
    window: &Window,
    layout: &ConvLayout,
    groups: Groups,
    out: DType,
    out_shape: &[usize],
) -> Result<Tensor, OpError> {
    let wide = out.accumulator();
    let op = "convolution";
    if out_shape.contains(&0) {
        return empty(out, out_shape);
    }
    let (lhs, rhs) = (cast(op, lhs, wide)?, cast(op, rhs, wide)?);
    let r = with_dtype!(wide, T => Convolution::<T>::new(&lhs, &rhs, window, layout, groups, out_shape)?.run(layout))?;
    cast(op, &r, out)
}

/// A convolution with its operands in order: (batch, features, spatial…) and (features out, features in, spatial…).
struct Convolution<T> {
    x: Vec<T>,
    kernel: Vec<T>,
    taps: Vec<Taps>,
    groups: Groups,
    /// Spatial extents of the input and the result, and of the window.
    input: Dims,
    places: Dims,
    window: Dims,
    /// Batch of the result, features of the input and of the result.
    batch: usize,
    features: usize,
    out_features: usize,
}

fn order(first: &[usize], spatial: &[usize]) -> Dims {
    first.iter().chain(spatial).copied().collect()
}

impl<T: MatMul> Convolution<T> {
    fn new(
        lhs: &Tensor,
        rhs: &Tensor,
        window: &Window,
        layout: &ConvLayout,
        groups: Groups,
        out_shape: &[usize],
    ) -> Result<Convolution<T>, OpError> {
        let op = "convolution";
        let (&[batch, feature], &[out_feature, in_feature]) = (&layout.lhs[..], &layout.rhs[..]) else {
            return Err(OpError::new(op, "its layout must name two axes of each operand"));
        };
        let (input, places) = (pick(lhs.shape(), &layout.lhs_spatial), pick(out_shape, &layout.out_spatial));
        let (n, features, out_features) = (lhs.shape()[batch], lhs.shape()[feature], rhs.shape()[out_feature]);
        let split = |n: usize, by: usize| by > 0 && n.is_multiple_of(by);
        let ok = split(n, groups.batch)
            && split(out_features, groups.batch)
            && split(out_features, groups.feature)
            && split(features, groups.feature)
            && rhs.shape()[in_feature] * groups.feature == features;
        if !ok {
            return Err(OpError::new(op, "its groups do not divide batch and features")
                .operands([lhs.spec(), rhs.spec()])
                .remedy("input features of the kernel times the groups must be the features of the input"));
        }
        Ok(Convolution {
            x: permute(slice(op, lhs)?, lhs.shape(), &order(&layout.lhs, &layout.lhs_spatial)),
            kernel: permute(slice(op, rhs)?, rhs.shape(), &order(&layout.rhs, &layout.rhs_spatial)),
            taps: taps(op, window, &input, &places)?,
            groups,
            window: pick(rhs.shape(), &layout.rhs_spatial),
            input,
            places,
            batch: n / groups.batch,
            features,
            out_features,
        })
    }

    fn run(self, layout: &ConvLayout) -> Result<Tensor, OpError> {
        let [inputs, places, window] = [&self.input, &self.places, &self.window].map(|d| d.iter().product::<usize>());
        let groups = self.groups.feature.max(self.groups.batch);
        let (in_width, out_width) = (self.features / self.groups.feature, self.out_features / groups);
        let depth = in_width * window;
        let mut out = vec![T::ZERO; self.batch * self.out_features * places];
        let block = places.min((PATCHES / depth.max(1)).max(1));
        let mut patches = vec![T::ZERO; depth * block];
        let some = depth > 0 && !out.is_empty();
        for from in (0..if some { places } else { 0 }).step_by(block) {
            let width = block.min(places - from);
            let columns = self.tap_offsets(from..from + width);
            for (n, g) in (0..self.batch).flat_map(|n| (0..groups).map(move |g| (n, g))) {
                // Groups of the batch take their images, groups of the features their channels.
                let (image, channel) = if self.groups.batch > 1 { (g * self.batch + n, 0) } else { (n, g * in_width) };
                let x = &self.x[(image * self.features + channel) * inputs..][..in_width * inputs];
                let rows = Strided { data: &self.kernel[g * out_width * depth..], row: depth, col: 1 };
                fill(&mut patches, x, inputs, &columns, window, width);
                let columns = Strided { data: &patches, row: width, col: 1 };
                let c = &mut out[(n * self.out_features + g * out_width) * places + from..];
                matmul([out_width, depth, width], rows, columns, c, places);
            }
        }
        let shape = order(&[self.batch, self.out_features], &self.places);
        // Axis i of `shape` is axis `axes[i]` of the result.
        let axes = order(&layout.out, &layout.out_spatial);
        let back: Dims = (0..axes.len()).filter_map(|d| axes.iter().position(|&a| a == d)).collect();
        tensor("convolution", permute(&out, &shape, &back), &pick(&shape, &back))
    }

    /// For every place of `range`, and every element of the window, the offset of the element of the input below, or
    /// [`HOLE`].
    fn tap_offsets(&self, range: Range<usize>) -> Vec<usize> {
        let (inputs, places) = (strides(&self.input), strides(&self.places));
        let window: usize = self.window.iter().product();
        let mut table = Vec::with_capacity(range.len() * window);
        let (mut row, mut next) = (vec![], vec![]);
        for p in range {
            row.clear();
            row.push(0);
            for (((t, stride), &n), &step) in self.taps.iter().zip(&inputs).zip(&self.places).zip(&places) {
                let o = p / step % n.max(1);
                next.clear();
                for &b in &row {
                    next.extend(t.at(o).map(|i| if b == HOLE || i == HOLE { HOLE } else { b + i * stride }));
                }
                std::mem::swap(&mut row, &mut next);
            }
            table.extend_from_slice(&row);
        }
        table
    }
}

/// Writes the patches: row (feature, window element), column place.
fn fill<T: MatMul>(patches: &mut [T], x: &[T], inputs: usize, columns: &[usize], window: usize, width: usize) {
    for (row, to) in patches.chunks_exact_mut(width).take(x.len() / inputs.max(1) * window).enumerate() {
        let (feature, k) = (row / window, row % window);
        let plane = &x[feature * inputs..];
        for (to, places) in to.iter_mut().zip(columns.chunks_exact(window)) {
            *to = if places[k] == HOLE { T::ZERO } else { plane[places[k]] };
        }
    }
}
