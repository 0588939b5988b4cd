//! Derivatives of windows, gathers, scatters, movement and contractions with random attributes: forward mode against central differences in f64,
//! reverse against forward mode.

use evoxc::ir::{
    AxisPair, ConvLayout, Flag, GatherDims, Padding, Prim, Reducer, ScatterDims, ScatterOp, SelectOp, Window, infer,
};
use evoxc::prelude::*;
use evoxc_tests::engines::Engines;
use evoxc_trace::emitter;

type Result<T = ()> = evoxc::Result<T>;

/// A generator of small numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// One of low..=high.
    fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }
    fn chance(&mut self) -> bool {
        self.next() & 1 == 1
    }
    fn tensor(&mut self, shape: &[usize]) -> Tensor {
        let n = shape.iter().product::<usize>();
        let v = (0..n).map(|_| (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0).collect();
        Tensor::from_vec(v, shape).unwrap()
    }
    /// A random order of 0..n.
    fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut v: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| v.swap(i, self.within(0, i as i64) as usize));
        v
    }
}

fn check(what: &str, f: impl Fn(Sym) -> Sym + Copy, x: &Tensor, rng: &mut Numbers) -> Result {
    let moved = |v: &Tensor, h: f64| -> Result<Tensor> {
        let moved = x.as_slice::<f64>()?.iter().zip(v.as_slice::<f64>()?).map(|(x, v)| x + h * v).collect();
        Tensor::from_vec(moved, x.shape())
    };
    let v = rng.tensor(x.shape());
    let (y, t) = evaluate(jvp(f), (x.clone(), v.clone()), &Engines)?;
    let h = 1e-6;
    let (above, below) = (evaluate(f, moved(&v, h)?, &Engines)?, evaluate(f, moved(&v, -h)?, &Engines)?);
    let t = t.to_vec::<f64>()?;
    for ((a, b), t) in above.as_slice::<f64>()?.iter().zip(below.as_slice::<f64>()?).zip(&t) {
        let slope = (a - b) / (2.0 * h);
        assert!((slope - t).abs() < 1e-7 * (1.0 + t.abs()) || (a == b && *t == 0.0), "{what}: {slope} {t}");
    }
    let u = rng.tensor(y.shape());
    let back = evaluate(vjp(f), (x.clone(), u.clone()), &Engines)?;
    let there: f64 = u.as_slice::<f64>()?.iter().zip(&t).map(|(a, b)| a * b).sum();
    let here: f64 = back.as_slice::<f64>()?.iter().zip(v.as_slice::<f64>()?).map(|(a, b)| a * b).sum();
    assert!((there - here).abs() < 1e-11 * (1.0 + there.abs()), "{what}: {there} {here}");
    Ok(())
}

fn window(rng: &mut Numbers, rank: usize, dilated: bool) -> Window {
    let mut list = |low, high| (0..rank).map(|_| rng.within(low, high)).collect::<Vec<_>>();
    let (size, stride, low, high) = (list(1, 3), list(1, 3), list(-1, 2), list(-1, 2));
    let (base, dilation) = if dilated { (list(1, 3), list(1, 3)) } else { (vec![1; rank], vec![1; rank]) };
    let padding = low.into_iter().zip(high);
    Window {
        stride,
        padding: padding.map(|(l, h)| Padding { low: Dim::constant(l), high: Dim::constant(h) }).collect(),
        base_dilation: base,
        window_dilation: dilation,
        ..Window::new(size.into_iter().map(Dim::constant).collect())
    }
}

#[test]
fn windows() -> Result {
    let mut rng = Numbers(7);
    for case in 0..40 {
        let rank = rng.within(1, 3) as usize;
        let shape: Vec<usize> = (0..rank).map(|_| rng.within(1, 4) as usize).collect();
        let dilated = rng.chance();
        let w = window(&mut rng, rank, dilated);
        let of = |op| Prim::ReduceWindow { op, window: w.clone() };
        let Ok(types) = infer(&of(Reducer::Sum), &[&spec(F64, &shape)], &[]) else { continue };
        let places = types[0].shape.to_static().unwrap();
        let x = rng.tensor(&shape);
        let what = format!("{case}: {w:?} over {shape:?}");
        for op in [Reducer::Sum, Reducer::Prod, Reducer::Max, Reducer::Min] {
            let prim: &'static Prim = Box::leak(Box::new(of(op)));
            // Windows that see nothing give infinities.
            let f = move |x: Sym| {
                let y = emitter::emit(prim.clone(), &[x]);
                y.abs().lt(1e9).select(y, 0)
            };
            check(&format!("{op:?} {what}"), f, &x, &mut rng)?;
            check(
                &format!("gradient of {op:?} {what}"),
                move |x: Sym| grad(move |x: Sym| f(x).sin().sum(..)).call(x),
                &x,
                &mut rng,
            )?;
        }
        for select in [SelectOp::Max, SelectOp::Min].into_iter().filter(|_| !dilated) {
            let prim: &'static Prim = Box::leak(Box::new(Prim::SelectAndScatter { select, window: w.clone() }));
            let x: &'static Tensor = Box::leak(Box::new(x.clone()));
            let f = move |s: Sym| emitter::emit(prim.clone(), &[constant(x), s]);
            let source = rng.tensor(&places);
            check(&format!("{select:?} {what}"), f, &source, &mut rng)?;
        }
    }
    Ok(())
}

/// A random scatter of updates into x, and the gather of the same numbers.
struct Indexing {
    x: Vec<usize>,
    indices: Vec<usize>,
    updates: Vec<usize>,
    sizes: Vec<usize>,
    dims: ScatterDims,
}

impl Indexing {
    fn random(rng: &mut Numbers) -> Indexing {
        let rank = rng.within(1, 3) as usize;
        let x: Vec<usize> = (0..rank).map(|_| rng.within(1, 4) as usize).collect();
        let kinds: Vec<i64> = (0..rank).map(|_| rng.within(0, 3)).collect();
        let of = |k: i64| (0..rank).filter(|&a| kinds[a] == k).collect::<Vec<_>>();
        let (operand_batching, inserted) = (of(0), of(1));
        let windows = |a: &usize| !operand_batching.contains(a) && !inserted.contains(a);
        let mut sizes = vec![1; rank];
        (0..rank).filter(windows).for_each(|a| sizes[a] = rng.within(1, x[a] as i64) as usize);
        let order = rng.permutation(rank);
        let mapped =
            order.into_iter().filter(|a| !operand_batching.contains(a) && (inserted.contains(a) || rng.chance()));
        let scatter_map: Vec<usize> = mapped.collect();
        // The batch axes of the indices: those of x, and up to one more.
        let mut batch: Vec<(usize, Option<usize>)> = operand_batching.iter().map(|&a| (x[a], Some(a))).collect();
        if rng.chance() {
            batch.push((rng.within(1, 3) as usize, None));
        }
        let order = rng.permutation(batch.len());
        let mut axes: Vec<(usize, Option<usize>)> = order.into_iter().map(|i| batch[i]).collect();
        let extents: Vec<usize> = axes.iter().map(|a| a.0).collect();
        let implicit = scatter_map.len() == 1 && rng.chance();
        let index_vector = if implicit { axes.len() } else { rng.within(0, axes.len() as i64) as usize };
        if !implicit {
            axes.insert(index_vector, (scatter_map.len(), None));
        }
        let place = |a: &usize| axes.iter().position(|(_, of)| *of == Some(*a)).unwrap();
        let indices_batching = operand_batching.iter().map(place).collect();
        // Where the windows' axes stand among those of the updates.
        let window: Vec<usize> = (0..rank).filter(windows).map(|a| sizes[a]).collect();
        let total = window.len() + extents.len();
        let mut update_window = rng.permutation(total);
        update_window.truncate(window.len());
        update_window.sort_unstable();
        let (mut w, mut e) = (window.iter(), extents.iter());
        let from = |i| if update_window.contains(&i) { w.next() } else { e.next() };
        let updates = (0..total).map(from).map(|n| *n.unwrap()).collect();
        let indices = axes.iter().map(|a| a.0).collect();
        let dims =
            ScatterDims { update_window, inserted, operand_batching, indices_batching, scatter_map, index_vector };
        Indexing { x, indices, updates, sizes, dims }
    }
    fn gather(&self) -> Prim {
        let d = self.dims.clone();
        let dims = GatherDims {
            offset: d.update_window,
            collapsed: d.inserted,
            operand_batching: d.operand_batching,
            indices_batching: d.indices_batching,
            start_map: d.scatter_map,
            index_vector: d.index_vector,
        };
        let sizes = self.sizes.iter().map(|&n| Dim::constant(n as i64)).collect();
        Prim::Gather { dims, sizes, sorted: false }
    }
}

#[test]
fn gathers_and_scatters() -> Result {
    let mut rng = Numbers(11);
    for case in 0..40 {
        let i = Indexing::random(&mut rng);
        let starts = (0..i.indices.iter().product()).map(|_| rng.within(-2, 5) as i32).collect();
        let starts: &'static Tensor = Box::leak(Box::new(Tensor::from_vec(starts, &i.indices)?));
        let what = format!("{case}: x {:?}, indices {:?}, updates {:?}, {:?}", i.x, i.indices, i.updates, i.dims);
        let gather: &'static Prim = Box::leak(Box::new(i.gather()));
        let (n, m) = (i.x.iter().product::<usize>(), i.updates.iter().product::<usize>());
        let x = rng.tensor(&i.x);
        let f = move |x: Sym| emitter::emit(gather.clone(), &[x, constant(starts)]);
        check(&format!("gather {what}"), f, &x, &mut rng)?;
        check(
            &format!("its gradient {what}"),
            move |x: Sym| grad(move |x: Sym| f(x).sin().sum(..)).call(x),
            &x,
            &mut rng,
        )?;
        for op in [ScatterOp::Add, ScatterOp::Set, ScatterOp::Mul, ScatterOp::Min, ScatterOp::Max] {
            let prim = Prim::Scatter { op, dims: i.dims.clone(), sorted: false, unique: false };
            let prim: &'static Prim = Box::leak(Box::new(prim));
            let (to, of): (&'static [usize], &'static [usize]) =
                (Box::leak(i.x.clone().into()), Box::leak(i.updates.clone().into()));
            let f = move |z: Sym| {
                let (x, u) = (z.slice_axis(0, 0, n).reshape(to), z.slice_axis(0, n, n + m).reshape(of));
                emitter::emit(prim.clone(), &[x, constant(starts), u])
            };
            let z = rng.tensor(&[n + m]);
            check(&format!("{op:?} {what}"), f, &z, &mut rng)?;
            check(
                &format!("gradient of {op:?} {what}"),
                move |x: Sym| grad(move |x: Sym| f(x).sin().sum(..)).call(x),
                &z,
                &mut rng,
            )?;
        }
    }
    Ok(())
}

/// Checks an op in each of its operands, and the gradient of it.
fn check_prim(what: &str, prim: Prim, operands: &[Tensor], rng: &mut Numbers) -> Result {
    let (prim, operands): (&'static Prim, &'static [Tensor]) =
        (Box::leak(Box::new(prim)), Box::leak(operands.to_vec().into_boxed_slice()));
    for (i, x) in operands.iter().enumerate() {
        let f = move |x: Sym| {
            let all: Vec<Sym> = (0..operands.len()).map(|k| if k == i { x } else { constant(&operands[k]) }).collect();
            emitter::emit(prim.clone(), &all)
        };
        check(&format!("{what}, operand {i}"), f, x, rng)?;
        let g = move |x: Sym| grad(move |x: Sym| f(x).sin().sum(..)).call(x);
        check(&format!("gradient of {what}, operand {i}"), g, x, rng)?;
    }
    Ok(())
}

#[test]
fn movement() -> Result {
    let mut rng = Numbers(11);
    let mut checked = 0;
    for case in 0..60 {
        let rank = rng.within(1, 3) as usize;
        let shape: Vec<usize> = (0..rank).map(|_| rng.within(0, 4) as usize).collect();
        let dims = |v: Vec<i64>| v.into_iter().map(Dim::constant).collect::<Vec<Dim>>();
        let mut list = |low, high| (0..rank).map(|_| rng.within(low, high)).collect::<Vec<_>>();
        let (low, high, interior) = (list(-2, 3), list(-2, 3), list(0, 2));
        let (start, stride) = (list(0, 1), list(1, 3));
        let limit: Vec<i64> = start.iter().zip(&shape).map(|(&s, &n)| s.max(n as i64 - s)).collect();
        let axes: Vec<usize> = (0..rank).filter(|_| rng.chance()).collect();
        let perm = rng.permutation(rank);
        // Each axis at a random place of the result, and repeated where it is 1.
        let places = rng.permutation(rank + 1);
        let mut wide = vec![rng.within(0, 3) as usize; rank + 1];
        places.iter().zip(&shape).for_each(|(&p, &n)| wide[p] = if n == 1 { wide[p] } else { n });
        let wide = dims(wide.iter().map(|&n| n as i64).collect()).into_iter().collect();
        let prims = [
            Prim::Pad { low: dims(low), high: dims(high), interior },
            Prim::Slice { start: dims(start), limit: dims(limit), stride },
            Prim::Reverse { axes: axes.clone() },
            Prim::Transpose { perm },
            Prim::BroadcastInDim { shape: wide, dims: places[..rank].to_vec() },
            Prim::Reduce { op: Reducer::Sum, axes: axes.clone() },
            Prim::Reduce { op: Reducer::Prod, axes },
            Prim::Concatenate { axis: rng.within(0, rank as i64 - 1) as usize },
        ];
        let x = rng.tensor(&shape);
        for prim in prims {
            let operands = match &prim {
                Prim::Pad { .. } => vec![x.clone(), rng.tensor(&[])],
                Prim::Concatenate { axis } => {
                    let mut other = shape.clone();
                    other[*axis] = rng.within(0, 2) as usize;
                    vec![x.clone(), rng.tensor(&other), x.clone()]
                }
                _ => vec![x.clone()],
            };
            let specs: Vec<TensorSpec> = operands.iter().map(Tensor::spec).collect();
            if infer(&prim, &specs.iter().collect::<Vec<_>>(), &[]).is_ok() {
                check_prim(&format!("{case}: {prim:?} of {shape:?}"), prim, &operands, &mut rng)?;
                checked += 1;
            }
        }
    }
    assert!(checked > 360, "{checked} are valid");
    Ok(())
}

#[test]
fn contractions() -> Result {
    let mut rng = Numbers(13);
    let mut checked = 0;
    for case in 0..60 {
        let rank = rng.within(1, 2) as usize;
        let groups = [(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)][rng.within(0, 4) as usize];
        let (batch, features) = (rng.within(1, 2) as usize * groups.1, rng.within(1, 2) as usize);
        let outs = rng.within(1, 2) as usize * groups.0 * groups.1;
        let mut list = |low, high| (0..rank).map(|_| rng.within(low, high)).collect::<Vec<_>>();
        let (input, kernel, stride, low, high) = (list(0, 4), list(1, 3), list(1, 3), list(-2, 3), list(-2, 3));
        let (base, dilation, reversal) = (list(1, 3), list(1, 3), list(0, 1));
        // Batch, feature and spatial axes in any order.
        let mut order = || {
            let p = rng.permutation(rank + 2);
            (p[..2].to_vec(), p[2..].to_vec())
        };
        let (lhs, rhs, out) = (order(), order(), order());
        let layout = ConvLayout {
            lhs: lhs.0,
            lhs_spatial: lhs.1,
            rhs: rhs.0,
            rhs_spatial: rhs.1,
            out: out.0,
            out_spatial: out.1,
        };
        let shape = |pair: &[usize], spatial: &[usize], sizes: [usize; 2], extents: &[i64]| {
            let mut s = vec![0; rank + 2];
            pair.iter().zip(sizes).for_each(|(&a, n)| s[a] = n);
            spatial.iter().zip(extents).for_each(|(&a, &n)| s[a] = n as usize);
            s
        };
        let x = rng.tensor(&shape(&layout.lhs, &layout.lhs_spatial, [batch, features * groups.0], &input));
        let k = rng.tensor(&shape(&layout.rhs, &layout.rhs_spatial, [outs, features], &kernel));
        let padding = low.iter().zip(&high);
        let window = Window {
            stride,
            padding: padding.map(|(&l, &h)| Padding { low: Dim::constant(l), high: Dim::constant(h) }).collect(),
            base_dilation: base,
            window_dilation: dilation,
            reversal: reversal.iter().map(|&r| Flag(r == 1)).collect(),
            ..Window::new(kernel.iter().map(|&n| Dim::constant(n)).collect())
        };
        let (feature_groups, batch_groups) = groups;
        let prim = Prim::Convolution { window, layout, feature_groups, batch_groups, accumulate: None };
        if infer(&prim, &[&x.spec(), &k.spec()], &[]).is_ok() {
            check_prim(&format!("{case}: {prim:?} of {:?} and {:?}", x.shape(), k.shape()), prim, &[x, k], &mut rng)?;
            checked += 1;
        }
        // A dot over random batch and contracting axes, each at random places.
        let (shared, summed) = (rng.within(0, 2) as usize, rng.within(0, 2) as usize);
        let extents: Vec<usize> = (0..shared + summed).map(|_| rng.within(0, 3) as usize).collect();
        let mut operand = || {
            let free = rng.within(0, 2) as usize;
            let order = rng.permutation(shared + summed + free);
            let mut s: Vec<usize> = (0..order.len()).map(|_| rng.within(1, 3) as usize).collect();
            order.iter().zip(&extents).for_each(|(&a, &n)| s[a] = n);
            (rng.tensor(&s), order[..shared].to_vec(), order[shared..shared + summed].to_vec())
        };
        let ((a, ab, ac), (b, bb, bc)) = (operand(), operand());
        let (batch, contract) = (AxisPair { lhs: ab, rhs: bb }, AxisPair { lhs: ac, rhs: bc });
        let prim = Prim::Dot { batch, contract, accumulate: None };
        check_prim(&format!("{case}: {prim:?} of {:?} and {:?}", a.shape(), b.shape()), prim, &[a, b], &mut rng)?;
    }
    assert!(checked > 40, "{checked} convolutions are valid");
    Ok(())
}
