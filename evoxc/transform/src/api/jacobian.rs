//! Jacobians and Hessians of functions of one tensor, and Hessian-vector products.

use super::grad::{exist, gradient};
use super::{Traced, Via, argument, callable, flatten, rebuild};
use crate::jvp::{Jvp as Walk, Mode};
use crate::linear::{Linearized, linearize};
use crate::transpose::Transpose;
use crate::vmap::{Mapped, Vmap, batched};
use crate::{instantiate, zeros};
use evoxc_core::{ArgAt, Dim, OpError, Shape, Tree, TreeDef};
use evoxc_ir::{Prim, Region, TensorType};
use evoxc_trace::{GraphFn, Sym, emitter};
use rustc_hash::FxHashMap;

/// See [`jacfwd`].
#[derive(Clone, Copy, Debug)]
pub struct JacFwd<F, const N: usize = 0>(F);
/// See [`jacrev`].
#[derive(Clone, Copy, Debug)]
pub struct JacRev<F, const N: usize = 0>(F);
/// See [`hessian`].
#[derive(Clone, Copy, Debug)]
pub struct Hessian<F, const N: usize = 0>(F);
/// See [`hvp`].
#[derive(Clone, Copy, Debug)]
pub struct Hvp<F, const N: usize = 0>(F);

/// The Jacobian by forward mode, one column a pass, all columns at once: each result of shape `s` becomes one of shape
/// `s` + the shape of the argument. Best where there are fewer inputs than outputs. `f` takes a real tensor as its first
/// argument (or as that of `.wrt::<N>()`).
///
/// # Errors
/// When traced, a [`TransformError`](evoxc_core::TransformError): the argument is a tree or not real, or an op has no
/// derivative rule.
///
/// ```
/// use evoxc::{jacfwd, prelude::*};
/// let j = evaluate(jacfwd(|x: Sym| x * x), Tensor::from([1f32, 3.0]), &Interp)?;
/// assert_eq!(j.to_vec::<f32>()?, [2.0, 0.0, 0.0, 6.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn jacfwd<F>(f: F) -> JacFwd<F> {
    JacFwd(f)
}

/// The Jacobian by reverse mode, one row a pass, all rows at once: each result of shape `s` becomes one of shape `s` +
/// the shape of the argument. Best where there are fewer outputs than inputs. See [`jacfwd`] for arguments and errors; a
/// `while_loop` on the way is an error too.
///
/// ```
/// use evoxc::{jacrev, prelude::*};
/// let j = evaluate(jacrev(|x: Sym| x.sum(..) * x), Tensor::from([1f32, 3.0]), &Interp)?;
/// assert_eq!(j.to_vec::<f32>()?, [5.0, 1.0, 3.0, 7.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn jacrev<F>(f: F) -> JacRev<F> {
    JacRev(f)
}

/// The Hessian of a function of a real tensor that gives one real scalar, of the argument's shape twice: forward over
/// reverse mode.
///
/// # Errors
/// Those of [`jacfwd`] and [`grad`](crate::grad).
///
/// ```
/// use evoxc::{hessian, prelude::*};
/// let h = evaluate(hessian(|x: Sym| (x * x * x).sum(..)), Tensor::from([1f32, 2.0]), &Interp)?;
/// assert_eq!(h.to_vec::<f32>()?, [6.0, 0.0, 0.0, 12.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn hessian<F>(f: F) -> Hessian<F> {
    Hessian(f)
}

/// Hessian-vector products without the Hessian: `(args, v) -> H v`, where `v` has the type of the argument that is
/// differentiated (a tree, if that is one). Forward over reverse mode.
///
/// # Errors
/// Those of [`grad`](crate::grad); `v` has another type than the argument.
///
/// ```
/// use evoxc::{hvp, prelude::*};
/// let args = (Tensor::from([1f32, 2.0]), Tensor::from([1f32, 1.0]));
/// let h = evaluate(hvp(|x: Sym| (x * x * x).sum(..)), args, &Interp)?;
/// assert_eq!(h.to_vec::<f32>()?, [6.0, 12.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn hvp<F>(f: F) -> Hvp<F> {
    Hvp(f)
}

macro_rules! choice {
    ($($T:ident)*) => { $(
        impl<F> $T<F> {
            /// Differentiates argument `N`, counted from 0, instead of the first.
            pub fn wrt<const N: usize>(self) -> $T<F, N> {
                $T(self.0)
            }
        }
        callable!($T<const N>);
    )* };
}
choice!(JacFwd JacRev Hessian Hvp);

impl<F, A, Mark, const N: usize> GraphFn<A, Via<Mark>> for JacFwd<F, N>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym> + ArgAt<N>,
{
    type Out = F::Out;
    fn apply(&self, args: A) -> F::Out {
        let (x, types, def) = flatten(args);
        let Some(types) = types else { emitter::abort() };
        exist("jacfwd", &def, &[N]);
        let traced = Traced::new::<F, A, Mark>("jacfwd", &self.0, &types, &def);
        let outputs = traced.outputs.clone();
        let out = traced.write(outputs.leaf_count(), |region, _| {
            let at = tensor::<N>(&def, &types)?;
            columns(region, &x, at, &types[at])
        });
        rebuild("jacfwd", &outputs, out)
    }
}

impl<F, A, Mark, const N: usize> GraphFn<A, Via<Mark>> for JacRev<F, N>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym> + ArgAt<N>,
{
    type Out = F::Out;
    fn apply(&self, args: A) -> F::Out {
        let (x, types, def) = flatten(args);
        let Some(types) = types else { emitter::abort() };
        exist("jacrev", &def, &[N]);
        let traced = Traced::new::<F, A, Mark>("jacrev", &self.0, &types, &def);
        let outputs = traced.outputs.clone();
        let out = traced.write(outputs.leaf_count(), |region, traced| {
            let at = tensor::<N>(&def, &types)?;
            let results = traced.output_types();
            if let Some(t) = results.iter().find(|t| !t.dtype.is_float()) {
                let e = format!("the function must give real floating-point tensors, it gives {t}");
                return Err(OpError::new("result", e).remedy("use `vjp`"));
            }
            let active: Vec<bool> = (0..x.len()).map(|k| k == at).collect();
            let Some(lin) = linearize(region, &x, &active)? else { return Ok(vec![]) };
            results.iter().enumerate().map(|(i, result)| rows(&lin, &types[at], i, result)).collect()
        });
        rebuild("jacrev", &outputs, out)
    }
}

impl<F, A, Mark, const N: usize> GraphFn<A, Via<Mark>> for Hessian<F, N>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym> + ArgAt<N>,
{
    type Out = Sym;
    fn apply(&self, args: A) -> Sym {
        let (x, types, def) = flatten(args);
        let Some(types) = types else { emitter::abort() };
        exist("hessian", &def, &[N]);
        let slope = Slope::<F, Mark, N>(&self.0, std::marker::PhantomData);
        let traced = Traced::new::<Slope<F, Mark, N>, A, Via<Mark>>("hessian", &slope, &types, &def);
        let out = traced.write(1, |region, _| {
            let at = tensor::<N>(&def, &types)?;
            columns(region, &x, at, &types[at])
        });
        out.first().copied().unwrap_or_else(emitter::poison)
    }
}

impl<F, A, V, Mark, const N: usize> GraphFn<(A, V), Via<Mark>> for Hvp<F, N>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym> + ArgAt<N, Arg = V>,
    V: Tree<Sym>,
{
    type Out = V;
    fn apply(&self, (args, v): (A, V)) -> V {
        let (x, types, def) = flatten(args);
        let (v, v_types, v_def) = flatten(v);
        let (Some(types), Some(v_types)) = (types, v_types) else { emitter::abort() };
        exist("hvp", &def, &[N]);
        let (range, own) = argument(&def, N);
        let slope = Slope::<F, Mark, N>(&self.0, std::marker::PhantomData);
        let traced = Traced::new::<Slope<F, Mark, N>, A, Via<Mark>>("hvp", &slope, &types, &def);
        let out = traced.write(own.leaf_count(), |region, _| {
            if let Some(d) = own.difference(&v_def) {
                return Err(OpError::new("vector", format!("it has another structure than the argument: {d}")));
            }
            super::products::same("vector", "argument", &v_types, &types[range.clone()], &own.paths())?;
            let mut walk = Walk::new(Mode::Fused);
            for (i, (&r, &x)) in region.args.iter().zip(&x).enumerate() {
                walk.define(r, x, range.contains(&i).then(|| v[i - range.start]));
            }
            walk.region(region)?;
            let tangents = walk.tangents(&region.results);
            let types = emitter::types(&region.results);
            Ok(tangents.iter().zip(&types).map(|(t, ty)| t.unwrap_or_else(|| zeros(ty))).collect())
        });
        rebuild("hvp", &own, out)
    }
}

/// The gradient of a function with respect to argument `N`, its leaves as a list.
struct Slope<'f, F, Mark, const N: usize>(&'f F, std::marker::PhantomData<Mark>);

impl<F, A, Mark, const N: usize> GraphFn<A, Via<Mark>> for Slope<'_, F, Mark, N>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym>,
{
    type Out = Vec<Sym>;
    fn apply(&self, args: A) -> Vec<Sym> {
        let (_, parts) = gradient("grad", self.0, args, &[N], false);
        parts.into_iter().flat_map(|(_, leaves)| leaves).collect()
    }
}

/// The leaf that argument `N` is.
fn tensor<const N: usize>(def: &TreeDef, types: &[TensorType]) -> Result<usize, OpError> {
    let (range, own) = argument(def, N);
    if own != TreeDef::leaf() {
        let n = own.leaf_count();
        return Err(OpError::new("argument", format!("argument {N} must be a single tensor, it is a tree of {n}"))
            .remedy(
                "pack it into one tensor (`concat` of `.ravel()`), or use `grad`, `jvp`, `vjp`, which take trees",
            ));
    }
    match types.get(range.start) {
        Some(t) if t.dtype.is_float() => Ok(range.start),
        Some(t) => {
            Err(OpError::new("argument", format!("argument {N} must be a real floating-point tensor, it is {t}"))
                .remedy("use `jvp` or `vjp` for complex arguments, and cast integers"))
        }
        None => Err(OpError::new("argument", format!("there is no argument {N}"))),
    }
}

/// The number of elements.
fn elements(shape: &Shape) -> Dim {
    shape.iter().fold(Dim::constant(1), |n, &d| n * d)
}

/// The unit vectors of a type, one a row.
fn basis(ty: &TensorType) -> Sym {
    let n = elements(&ty.shape);
    let shape: Shape = std::iter::once(n).chain(ty.shape.iter().copied()).collect();
    evoxc_trace::eye(ty.dtype, n).reshape(shape)
}

/// Writes a closed region of one argument for all rows of `seed`, in place of that argument; gives its results, with rows.
fn for_all_rows(region: &Region, seed: Sym, size: Dim) -> Result<Vec<Sym>, OpError> {
    let mut walk = Vmap::new(size);
    region.args.iter().for_each(|&v| walk.define(v, Mapped { sym: seed, batched: true }));
    walk.region(region)?;
    Ok(region.results.iter().map(|&v| batched(walk.get(v), size)).collect())
}

/// The Jacobians of the results of a region with respect to argument `at`, by forward mode.
fn columns(region: &Region, x: &[Sym], at: usize, ty: &TensorType) -> Result<Vec<Sym>, OpError> {
    let t = emitter::open_region(std::slice::from_ref(ty));
    let mut walk = Walk::new(Mode::Fused);
    for (i, (&v, &x)) in region.args.iter().zip(x).enumerate() {
        walk.define(v, x, if i == at { t.first().copied() } else { None });
    }
    let done = walk.region(region);
    let results = emitter::types(&region.results);
    let real = results.iter().find(|r| r.dtype.is_complex());
    let tangents: Vec<Sym> =
        region.results.iter().map(|&v| instantiate(walk.tangent.get(&v).copied(), walk.primal(v))).collect();
    let inner = emitter::close_region("jacfwd", if done.is_ok() { &tangents } else { &[] });
    done?;
    if let Some(t) = real {
        return Err(
            OpError::new("result", format!("the function must give real tensors, it gives {t}")).remedy("use `jvp`")
        );
    }
    let Some(inner) = inner else { return Ok(vec![]) };
    let size = elements(&ty.shape);
    let columns = for_all_rows(&inner, basis(ty), size)?;
    Ok(columns
        .into_iter()
        .zip(&results)
        .map(|(c, r)| {
            let perm = (1..=r.rank()).chain([0]).collect();
            let shape: Shape = r.shape.iter().chain(&ty.shape).copied().collect();
            let c = if r.rank() == 0 { c } else { emitter::emit(Prim::Transpose { perm }, &[c]) };
            c.reshape(shape)
        })
        .collect())
}

/// The Jacobian of result `i` of what was linearised in an argument of this type, by reverse mode.
fn rows(lin: &Linearized, ty: &TensorType, i: usize, result: &TensorType) -> Result<Sym, OpError> {
    let shape: Shape = result.shape.iter().chain(&ty.shape).copied().collect();
    let ct = emitter::open_region(std::slice::from_ref(result));
    let inputs = lin.linear.args.iter().copied();
    let mut back = Transpose::new(inputs, FxHashMap::default());
    let seed: Vec<_> = lin.tangents.get(i).copied().flatten().zip(ct.first().copied()).into_iter().collect();
    let done = back.region(&lin.linear, &seed);
    let grad = lin.linear.args.first().and_then(|v| back.of(*v)).unwrap_or_else(|| zeros(ty));
    let inner = emitter::close_region("jacrev", done.as_ref().map_or(&[], |()| std::slice::from_ref(&grad)));
    done?;
    let Some(inner) = inner else { return Ok(emitter::poison()) };
    let rows = for_all_rows(&inner, basis(result), elements(&result.shape))?;
    Ok(rows.first().map_or_else(emitter::poison, |r| r.reshape(shape)))
}
