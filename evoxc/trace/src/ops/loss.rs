//! Losses.

use super::checks::{float, integer, same_dtype, two_floats};
use super::parts::{convert, count, pick_last, reduce};
use crate::operand::together;
use crate::{Operand, Sym, builder};
use evoxc_core::Dim;
use evoxc_ir::Reducer;

/// What becomes of the losses of the examples.
///
/// ```
/// use evoxc::{Reduction, prelude::*};
/// let each = CrossEntropy::default().reduction(Reduction::None);
/// let loss = move |logits: Sym, labels: Sym| logits.cross_entropy(labels, each);
/// let graph = trace(loss, (spec(F32, (dim("B"), 10)), spec(I32, [dim("B")])))?;
/// assert_eq!(graph.output_specs(), [spec(F32, [dim("B")])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reduction {
    /// Their mean; ignored examples do not count.
    #[default]
    Mean,
    /// Their sum.
    Sum,
    /// Nothing: one loss an example.
    None,
}

/// The options of [`Sym::cross_entropy`].
///
/// ```
/// use evoxc::prelude::*;
/// let options = CrossEntropy::default().label_smoothing(0.1).ignore_index(-100);
/// let loss = move |logits: Sym, labels: Sym| logits.cross_entropy(labels, options);
/// let g = trace(loss, (spec(F32, (dim("B"), 10)), spec(I32, [dim("B")]))).unwrap();
/// assert_eq!(g.output_specs(), [spec(F32, [])]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct CrossEntropy {
    smoothing: f64,
    ignore: Option<i64>,
    reduction: Reduction,
}

impl CrossEntropy {
    /// Spreads this share of the target evenly over all classes (Szegedy et al., 2016); 0 by default.
    pub fn label_smoothing(mut self, share: f64) -> Self {
        self.smoothing = share;
        self
    }
    /// Examples with this label have loss 0 and do not count in the mean; none by default.
    pub fn ignore_index(mut self, label: i64) -> Self {
        self.ignore = Some(label);
        self
    }
    /// What becomes of the examples' losses; the mean by default.
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        self.reduction = reduction;
        self
    }
}

/// Losses of examples, combined.
#[track_caller]
fn combined(losses: Sym, reduction: Reduction, n: Option<Sym>) -> Sym {
    let Some(t) = losses.ty() else { return Sym::POISON };
    let axes: Vec<usize> = (0..t.rank()).collect();
    match (reduction, n) {
        (Reduction::None, _) => losses,
        (Reduction::Sum, _) => reduce(Reducer::Sum, losses, &axes),
        (Reduction::Mean, Some(n)) => reduce(Reducer::Sum, losses, &axes) / n,
        (Reduction::Mean, None) => reduce(Reducer::Sum, losses, &axes) / count(&t.shape, &axes),
    }
}

impl Sym {
    /// The cross entropy of these logits, `[…, classes]` of a real float, and labels: class indices `[…]` of an integer
    /// dtype, or probabilities of the logits' shape and dtype. By default the mean over examples, a scalar, as
    /// `torch.nn.functional.cross_entropy` (whose class axis is the second).
    ///
    /// # Errors
    /// Labels of another shape; an ignored index with probabilities.
    #[track_caller]
    pub fn cross_entropy(self, labels: Sym, options: CrossEntropy) -> Sym {
        let op = "cross_entropy";
        let Some(t) = float(op, self) else { return Sym::POISON };
        let Some(l) = super::checks::known(op, labels) else { return Sym::POISON };
        let Some((&classes, examples)) = t.shape.split_last() else {
            return builder::fail(op, &[self], "logits need a last axis of classes", None);
        };
        if l.dtype.is_float() {
            return self.soft_cross_entropy(labels, options, classes);
        }
        if integer(op, labels).is_none() {
            return Sym::POISON;
        }
        if l.shape[..] != *examples {
            let message = format!("labels of shape {} do not go with logits of shape {}", l.shape, t.shape);
            let remedy = "labels have the logits' shape without the last axis, the classes".to_string();
            return builder::fail(op, &[self, labels], message, Some(remedy));
        }
        let log_p = self.log_softmax(-1);
        let mut losses = -pick_last(log_p, labels);
        if options.smoothing != 0.0 {
            let even = reduce(Reducer::Sum, log_p, &[t.rank() - 1]) * options.smoothing / classes;
            losses = losses * (1.0 - options.smoothing) - even;
        }
        let Some(ignored) = options.ignore else { return combined(losses, options.reduction, None) };
        let counted = labels.ne(ignored);
        let losses = counted.select(losses, 0);
        if options.reduction != Reduction::Mean {
            return combined(losses, options.reduction, None);
        }
        let n = reduce(Reducer::Sum, convert(counted, t.dtype), &(0..l.rank()).collect::<Vec<_>>());
        combined(losses, options.reduction, Some(n))
    }
    #[track_caller]
    fn soft_cross_entropy(self, labels: Sym, options: CrossEntropy, classes: Dim) -> Sym {
        let op = "cross_entropy";
        if options.ignore.is_some() {
            let remedy = "leave `ignore_index` out, or give class indices".to_string();
            return builder::fail(op, &[self, labels], "probabilities have no index to ignore", Some(remedy));
        }
        let Some((t, l)) = self.ty().zip(labels.ty()) else { return Sym::POISON };
        if t.shape != l.shape || t.dtype != l.dtype {
            let remedy = "probabilities have the logits' shape and dtype".to_string();
            return builder::fail(op, &[self, labels], "probabilities do not go with the logits", Some(remedy));
        }
        let mut target = labels;
        if options.smoothing != 0.0 {
            let even = crate::operand::lift(op, classes, &t, true);
            target = target * (1.0 - options.smoothing) + even.reciprocal() * options.smoothing;
        }
        let losses = -reduce(Reducer::Sum, target * self.log_softmax(-1), &[t.rank() - 1]);
        combined(losses, options.reduction, None)
    }
    /// The mean of -t·log(p) - (1 - t)·log(1 - p) over all elements, for probabilities p and targets t in [0, 1] of one
    /// shape; logarithms are cut at -100, as in PyTorch, so that the loss stays finite.
    #[track_caller]
    pub fn binary_cross_entropy(self, targets: impl Operand) -> Sym {
        let Some((p, t, _)) = two_floats("binary_cross_entropy", self, targets) else { return Sym::POISON };
        // log of an unused 0 would make the derivative NaN; where the logarithm is cut it is 0.
        let (none, all) = (p.eq(0), p.eq(1));
        let yes = none.select(-100, none.select(1, p).log().maximum(-100));
        let no = all.select(-100, (-all.select(0, p)).log1p().maximum(-100));
        (-(t * yes) - (1.0 - t) * no).mean(..)
    }
    /// [`Sym::binary_cross_entropy`] of σ(x), for logits x, without overflow: the mean of softplus(x) - x·t.
    #[track_caller]
    pub fn binary_cross_entropy_with_logits(self, targets: impl Operand) -> Sym {
        let op = "binary_cross_entropy_with_logits";
        let Some((x, t, _)) = two_floats(op, self, targets) else { return Sym::POISON };
        (x.softplus() - x * t).mean(..)
    }
    /// The mean squared difference over all elements, of real floats broadcast together.
    #[track_caller]
    pub fn mse(self, target: impl Operand) -> Sym {
        if float("mse", self).is_none() {
            return Sym::POISON;
        }
        let Some((a, b)) = together("mse", self, target) else { return Sym::POISON };
        if same_dtype("mse", a, b).is_none() {
            return Sym::POISON;
        }
        let d = a - b;
        (d * d).mean(..)
    }
}
