//! Reductions, windows, sorts with a body.

use super::captures::Captures;
use super::elementwise::{binary, lowest};
use super::indexing::scalars;
use super::writer::{Val, Writer, number};
use super::{Outcome, text};
use evoxc_core::{DType, Dim, OpError, Shape, Tensor, spec};
use evoxc_ir::{Binary, Op, Padding, Reducer, Region, TensorType, Window};

fn scalar(d: DType) -> TensorType {
    spec(d, Shape::scalar())
}

fn only(v: Vec<Val>) -> Outcome<Val> {
    v.into_iter().next().ok_or_else(|| OpError::new("", "it has no result"))
}

/// The combiner of two values.
fn combiner(op: Reducer) -> Binary {
    match op {
        Reducer::Sum => Binary::Add,
        Reducer::Prod => Binary::Mul,
        Reducer::Max => Binary::Max,
        Reducer::Min => Binary::Min,
        Reducer::And => Binary::And,
        Reducer::Or => Binary::Or,
    }
}

/// Two values combined.
pub(super) fn combine(w: &mut Writer<'_>, op: Reducer, a: &Val, b: &Val) -> Outcome<Val> {
    binary(w, combiner(op), a, b, a.ty.clone())
}

/// The StableHLO op that combines.
fn word(op: Reducer, d: DType) -> &'static str {
    match op {
        Reducer::Sum | Reducer::Max | Reducer::Or if d.is_bool() => "or",
        Reducer::Prod | Reducer::Min | Reducer::And if d.is_bool() => "and",
        Reducer::Sum => "add",
        Reducer::Prod => "multiply",
        Reducer::Max => "maximum",
        Reducer::Min => "minimum",
        Reducer::And => "and",
        Reducer::Or => "or",
    }
}

/// The identity of a combiner.
fn identity(op: Reducer, d: DType) -> Outcome<Tensor> {
    let highest =
        |d: DType| if d.is_signed_int() { number(d, !lowest(d)) } else { number(d, u64::MAX >> (64 - d.bits())) };
    match op {
        Reducer::Sum | Reducer::Or => number(d, if d.is_bool() { false.into() } else { evoxc_core::Scalar::from(0) }),
        Reducer::Prod => number(d, if d.is_bool() { true.into() } else { evoxc_core::Scalar::from(1) }),
        Reducer::And if d.is_signed_int() => number(d, -1),
        Reducer::Max if d.is_bool() => number(d, false),
        Reducer::Min | Reducer::And if d.is_bool() => number(d, true),
        Reducer::And => highest(d),
        Reducer::Max if d.is_signed_int() => number(d, lowest(d)),
        Reducer::Max if d.is_unsigned() => number(d, 0),
        Reducer::Max => number(d, f64::NEG_INFINITY),
        Reducer::Min if d.is_int() => highest(d),
        Reducer::Min => number(d, f64::INFINITY),
    }
}

pub(super) fn reduce(w: &mut Writer<'_>, op: Reducer, x: &Val, axes: &[usize], ty: TensorType) -> Outcome<Val> {
    let d = x.dtype();
    let init = w.dense(identity(op, d)?);
    let rhs = format!(
        "stablehlo.reduce({x} init: {init}) applies stablehlo.{} across dimensions = {} : {}",
        word(op, d),
        text::brackets(axes),
        super::writer::signature(&[x, &init], &ty)
    );
    Ok(w.op(&rhs, ty))
}

pub(super) fn reduce_body(
    w: &mut Writer<'_>,
    o: &Op,
    xs: &[&Val],
    axes: &[usize],
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    let Some(r) = o.regions.first() else { return Err(OpError::new("", "it has no body")) };
    let n = types.len();
    let Carried { captures, operands, types } = Carried::new(w, r, xs, types)?;
    let mut results =
        reducer(w, &operands.iter().collect::<Vec<_>>(), axes, &types, |w, args| captured(w, r, &captures, args, n))?;
    results.truncate(n);
    Ok(results)
}

/// Operands, initial values and result types with those of captured scalars after them: each has itself as elements and
/// as initial value, so that it stays what it is.
struct Carried {
    captures: Captures,
    operands: Vec<Val>,
    types: Vec<TensorType>,
}

impl Carried {
    fn new(w: &mut Writer<'_>, r: &Region, xs: &[&Val], types: &[TensorType]) -> Outcome<Carried> {
        let captures = Captures::of(w, r)?;
        let outside = captures.outside();
        let (values, inits) = xs.split_at(types.len().min(xs.len()));
        let mut operands: Vec<Val> = values.iter().map(|&v| v.clone()).collect();
        let mut all = types.to_vec();
        for c in &outside {
            if let (Some(first), Some(ty)) = (values.first(), types.first()) {
                operands.push(w.broadcast(c, first.shape(), &[])?);
                all.push(spec(c.dtype(), &ty.shape));
            }
        }
        operands.extend(inits.iter().map(|&v| v.clone()));
        operands.extend(outside);
        Ok(Carried { captures, operands, types: all })
    }
}

/// The region of a reduction of `n` operands on `args`: (accumulated…, captured…, element…, captured…).
fn captured(w: &mut Writer<'_>, r: &Region, captures: &Captures, args: &[Val], n: usize) -> Outcome<Vec<Val>> {
    let (acc, element) = args.split_at(args.len() / 2);
    let (Some((acc, inside)), Some((element, _))) = (acc.split_at_checked(n), element.split_at_checked(n)) else {
        return Err(OpError::new("", "its body takes two values an operand"));
    };
    let own: Vec<Val> = acc.iter().chain(element).cloned().collect();
    let mut out = captures.write(w, r, &own, inside)?;
    out.extend(inside.iter().cloned());
    Ok(out)
}

/// A reduction with a body: operands, then as many initial values.
fn reducer(
    w: &mut Writer<'_>,
    xs: &[&Val],
    axes: &[usize],
    types: &[TensorType],
    write: impl FnOnce(&mut Writer<'_>, &[Val]) -> Outcome<Vec<Val>>,
) -> Outcome<Vec<Val>> {
    let n = types.len();
    let (values, inits) = xs.split_at(n.min(xs.len()));
    let pairs = values.iter().zip(inits).map(|(x, i)| format!("({x} init: {i})"));
    let operands = text::parens(xs.iter().map(|v| text::ty(&v.ty)));
    let (head, results) = w.results(types);
    w.line(&format!(
        "{head}stablehlo.reduce{} across dimensions = {} : {operands} -> {}",
        text::list(pairs),
        text::brackets(axes),
        text::results(types)
    ));
    let args: Vec<Val> = (0..2 * n).map(|i| w.argument("arg", &scalar(types[i % n].dtype))).collect();
    // The printed form groups each accumulated value with its element.
    let mut groups = String::new();
    for (a, b) in args.iter().zip(args.iter().skip(n)) {
        groups.push_str(&format!("({a}: {}, {b}: {}) ", text::ty(&a.ty), text::ty(&b.ty)));
    }
    w.open(&format!(" reducer{groups} {{"));
    w.region(|w| write(w, &args))?;
    w.close("}");
    Ok(results)
}

/// The attributes of a window, in MLIR's order.
fn window_attributes(window: &Window, dilations: bool) -> Outcome<String> {
    let size: Option<Vec<usize>> = window.size.iter().map(|d| d.get()).collect();
    let pad: Option<Vec<[i64; 2]>> =
        window.padding.iter().map(|Padding { low, high }| Some([low.as_i64()?, high.as_i64()?])).collect();
    let (Some(size), Some(pad)) = (size, pad) else {
        return Err(OpError::new(
            "",
            "its window has an extent that is not constant, which StableHLO's windows cannot be",
        )
        .remedy("make the window and its padding constant"));
    };
    let padding = Tensor::from(pad.concat()).reshape([pad.len(), 2]).map_err(|e| OpError::new("", e.to_string()))?;
    let padding = format!("padding = {}", super::constant::dense(&padding));
    let sizes = format!("window_dimensions = {}, window_strides = {}", text::array(size), text::array(&window.stride));
    Ok(if dilations {
        format!(
            "base_dilations = {}, {padding}, window_dilations = {}, {sizes}",
            text::array(&window.base_dilation),
            text::array(&window.window_dilation)
        )
    } else {
        format!("{padding}, {sizes}")
    })
}

pub(super) fn reduce_window(w: &mut Writer<'_>, op: Reducer, x: &Val, window: &Window, ty: TensorType) -> Outcome<Val> {
    let d = x.dtype();
    let init = w.dense(identity(op, d)?);
    let axes: Vec<usize> = (0..x.rank()).collect();
    let (mut window, mut x) = (filled(w, x, window, &axes, None), x.clone());
    if w.options.lean && window.padding.iter().any(|p| p.high.as_i64().is_some_and(|h| h < 0)) {
        x = surrounded(w, &x, &init, &window)?;
        window = padded(&window);
    }
    let attributes = window_attributes(&window, true)?;
    let out = w.bodied("reduce_window", &[&x, &init], &attributes, std::slice::from_ref(&ty), |w| {
        let args = w.block_arguments(&[scalar(d), scalar(d)]);
        let [a, b] = args.as_slice() else { return Err(OpError::new("", "its body takes two values")) };
        Ok(vec![combine(w, op, a, b)?])
    })?;
    only(out)
}

pub(super) fn reduce_window_body(
    w: &mut Writer<'_>,
    o: &Op,
    xs: &[&Val],
    window: &Window,
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    let Some(r) = o.regions.first() else { return Err(OpError::new("", "it has no body")) };
    let n = types.len();
    // What is around the elements goes through the body like them, which some compilers leave out: it is put there first.
    let axes: Vec<usize> = (0..xs.first().map_or(0, |x| x.rank())).collect();
    let window = &xs.first().map_or_else(|| window.clone(), |x| filled(w, x, window, &axes, None));
    let padded = padded(window);
    let mut xs: Vec<Val> = xs.iter().map(|&v| v.clone()).collect();
    if window.padding != padded.padding || window.base_dilation != padded.base_dilation {
        let (values, inits) = xs.split_at_mut(n);
        for (x, init) in values.iter_mut().zip(inits) {
            *x = surrounded(w, x, init, window)?;
        }
    }
    let attributes = window_attributes(&padded, true)?;
    let Carried { captures, operands, types } = Carried::new(w, r, &xs.iter().collect::<Vec<_>>(), types)?;
    let mut results = w.bodied("reduce_window", &operands.iter().collect::<Vec<_>>(), &attributes, &types, |w| {
        let args = w.block_arguments(&scalars(&types, 2));
        captured(w, r, &captures, &args, n)
    })?;
    results.truncate(n);
    Ok(results)
}

/// The window over operands that are padded already.
pub(super) fn padded(window: &Window) -> Window {
    let none = Padding { low: Dim::constant(0), high: Dim::constant(0) };
    Window {
        padding: vec![none; window.padding.len()],
        base_dilation: vec![1; window.base_dilation.len()],
        ..window.clone()
    }
}

/// The window without what lies behind its last place, with which some compilers (`lean`) count one place too many.
/// `kernel` has the sizes where the window itself has none.
pub(super) fn filled(
    w: &Writer<'_>,
    x: &Val,
    window: &Window,
    axes: &[usize],
    kernel: Option<(&Val, &[usize])>,
) -> Window {
    let mut out = window.clone();
    if !w.options.lean {
        return out;
    }
    for (i, (&axis, pad)) in axes.iter().zip(&mut out.padding).enumerate() {
        let size = match kernel {
            Some((k, spatial)) => spatial.get(i).map(|&a| k.shape()[a]),
            None => window.size.get(i).copied(),
        };
        let known = || {
            let (n, size) = (x.shape()[axis].as_i64()?, size?.as_i64()?);
            let (low, high) = (pad.low.as_i64()?, pad.high.as_i64()?);
            let (stride, base, by) =
                (*window.stride.get(i)?, *window.base_dilation.get(i)?, *window.window_dilation.get(i)?);
            let whole = low + (n - 1).max(0) * base + i64::from(n > 0) + high;
            let rest = whole - ((size - 1) * by + 1);
            (rest > 0).then(|| high - rest % stride)
        };
        if let Some(high) = known() {
            pad.high = Dim::constant(high);
        }
    }
    out
}

/// x with the padding of a window and the gaps of its base dilation, all filled with `value`.
fn surrounded(w: &mut Writer<'_>, x: &Val, value: &Val, window: &Window) -> Outcome<Val> {
    let axes: Vec<usize> = (0..x.rank()).collect();
    surround(w, x, value, window, &axes)
}

/// The same where the window is over some axes only.
pub(super) fn surround(w: &mut Writer<'_>, x: &Val, value: &Val, window: &Window, axes: &[usize]) -> Outcome<Val> {
    let none = Dim::constant(0);
    let (mut low, mut high, mut interior) = (vec![none; x.rank()], vec![none; x.rank()], vec![0; x.rank()]);
    let mut shape = x.shape().clone();
    for ((&axis, p), by) in axes.iter().zip(&window.padding).zip(&window.base_dilation) {
        low[axis] = p.low;
        high[axis] = p.high;
        interior[axis] = by - 1;
        let n = x.shape()[axis];
        let gaps = if *by == 1 { none } else { (n - 1).max(0) * (by - 1) };
        shape.dims_mut()[axis] = p.low + n + gaps + p.high;
    }
    super::shape::pad(w, x, value, [&low, &high], &interior, spec(x.dtype(), shape))
}

/// Two regions: which of two elements stays selected, and how a source element joins what is there.
fn scattered(
    w: &mut Writer<'_>,
    xs: [&Val; 3],
    window: &Window,
    select: impl FnOnce(&mut Writer<'_>) -> Outcome<Vec<Val>>,
    scatter: impl FnOnce(&mut Writer<'_>) -> Outcome<Vec<Val>>,
) -> Outcome<Val> {
    let attributes = window_attributes(window, false)?;
    let ty = xs[0].ty.clone();
    let (head, results) = w.results(std::slice::from_ref(&ty));
    w.open(&format!("{head}\"stablehlo.select_and_scatter\"({}) <{{{attributes}}}> ({{", text::list(xs)));
    w.region(select)?;
    w.between("}, {");
    w.region(scatter)?;
    w.close(&format!("}}) : {}", super::writer::signature(&xs, &ty)));
    only(results)
}

pub(super) fn select_and_scatter_body(w: &mut Writer<'_>, o: &Op, xs: &[&Val], window: &Window) -> Outcome<Vec<Val>> {
    let &[x, source, init] = xs else { return Err(OpError::new("", "it takes x, the source and an initial value")) };
    scattered(w, [x, source, init], window, |w| w.body_of(o, 0), |w| w.body_of(o, 1)).map(|v| vec![v])
}

pub(super) fn sort_body(
    w: &mut Writer<'_>,
    o: &Op,
    xs: &[&Val],
    axis: usize,
    stable: bool,
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    let (Some(r), Some(first)) = (o.regions.first(), xs.first()) else {
        return Err(OpError::new("", "it has no operand or no body"));
    };
    let n = types.len();
    let captures = Captures::of(w, r)?;
    let (mut operands, mut types) = (xs.iter().map(|&v| v.clone()).collect::<Vec<_>>(), types.to_vec());
    // By the position too, where no sort is stable.
    let by_position = w.options.lean && stable && n > 0;
    if by_position {
        let ty = first.like(DType::I32);
        operands.push(super::shape::iota(w, axis, ty.clone())?);
        types.push(ty);
    }
    let positions = usize::from(by_position);
    for c in captures.outside() {
        operands.push(w.broadcast(&c, first.shape(), &[])?);
        types.push(first.like(c.dtype()));
    }
    let attributes = format!("dimension = {axis} : i64, is_stable = {}", stable && !by_position);
    let mut results = w.bodied("sort", &operands.iter().collect::<Vec<_>>(), &attributes, &types, |w| {
        // Two of each operand, one after the other.
        let pairs: Vec<TensorType> = types.iter().flat_map(|t| [scalar(t.dtype), scalar(t.dtype)]).collect();
        let args = w.block_arguments(&pairs);
        let (own, more) = args.split_at((2 * n).min(args.len()));
        let (position, carried) = more.split_at((2 * positions).min(more.len()));
        let inside: Vec<Val> = carried.iter().step_by(2).cloned().collect();
        let first = captures.write(w, r, own, &inside)?;
        let [a, b] = position else { return Ok(first) };
        let swapped: Vec<Val> = own.chunks_exact(2).flat_map(|p| p.iter().rev()).cloned().collect();
        let second = only(captures.write(w, r, &swapped, &inside)?)?;
        let (later, earlier) = (w.same("not", &[&second])?, w.compare("LT", a, b));
        let tie = w.same("and", &[&later, &earlier])?;
        Ok(vec![w.same("or", &[&only(first)?, &tie])?])
    })?;
    results.truncate(n);
    Ok(results)
}
