//! Transforms nest in every order to depth 3: each sequence, written as nested calls in one trace, verifies, runs, and
//! equals what its outermost transform means of the function inside: differences, or a loop. The functions inside are
//! sequences too, so by induction every level is right; the innermost values are checked against formulas.

use evoxc::{Sym, checkpoint, grad, jvp, trace, vjp, vmap};
use evoxc_core::{Dim, Tensor, TensorSpec, spec};
use evoxc_tests::laws::host::{near, stack, tensor};
use evoxc_tests::laws::program::{Program, flat};
use evoxc_tests::laws::{Tested, derivative, host};
use evoxc_tests::random_graph::Rng;
use evoxc_tests::tolerance::Category;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Transform {
    Grad,
    Jvp,
    Vjp,
    Vmap,
    Checkpoint,
}
const ALL: [Transform; 5] = [Transform::Grad, Transform::Jvp, Transform::Vjp, Transform::Vmap, Transform::Checkpoint];

type Call = Rc<dyn Fn(Vec<Sym>) -> Vec<Sym>>;

/// A function of a list, with the types of its arguments and results.
#[derive(Clone)]
struct Function {
    call: Call,
    inputs: Vec<TensorSpec>,
    outputs: Vec<TensorSpec>,
}

/// One number from all results, in which each counts differently.
fn total(y: Vec<Sym>) -> Vec<Sym> {
    let terms = y.into_iter().enumerate().map(|(i, y)| (y * (y * 0.3 + (1.0 + i as f64))).sum(..));
    vec![terms.reduce(|a, b| a + b).expect("a result")]
}

impl Function {
    fn new(
        call: impl Fn(Vec<Sym>) -> Vec<Sym> + 'static,
        inputs: Vec<TensorSpec>,
        outputs: Vec<TensorSpec>,
    ) -> Function {
        Function { call: Rc::new(call), inputs, outputs }
    }
    fn program(&self) -> Result<Program, String> {
        let f = self.call.clone();
        let g = trace(move |x: Vec<Sym>| f(x), self.inputs.clone()).map_err(|e| e.to_string())?;
        Program::new(flat(&g)?)
    }
    /// The transform of it.
    fn then(&self, t: Transform) -> Function {
        let (f, n) = (self.call.clone(), self.inputs.len());
        let apply = move |x: Vec<Sym>| f(x);
        let twice = |list: &[TensorSpec]| [list, list].concat();
        match t {
            Transform::Grad => {
                let scalar = move |x: Vec<Sym>| total(apply(x));
                Function::new(move |x| grad(&scalar).call(x), self.inputs.clone(), self.inputs.clone())
            }
            Transform::Jvp => {
                let call = move |mut x: Vec<Sym>| {
                    let t = x.split_off(n);
                    let (y, t) = jvp(&apply).call((x, t));
                    [y, t].concat()
                };
                Function::new(call, twice(&self.inputs), twice(&self.outputs))
            }
            Transform::Vjp => {
                let call = move |mut x: Vec<Sym>| {
                    let ct = x.split_off(n);
                    vjp(&apply).call((x, ct))
                };
                Function::new(call, [&self.inputs[..], &self.outputs].concat(), self.inputs.clone())
            }
            Transform::Vmap => {
                let rows = |list: &[TensorSpec]| -> Vec<TensorSpec> {
                    let row = |t: &TensorSpec| {
                        spec(
                            t.dtype(),
                            std::iter::once(Dim::constant(2)).chain(t.shape().iter().copied()).collect::<Vec<_>>(),
                        )
                    };
                    list.iter().map(row).collect()
                };
                Function::new(move |x| vmap(&apply).call(x), rows(&self.inputs), rows(&self.outputs))
            }
            Transform::Checkpoint => {
                Function::new(move |x| checkpoint(&apply).call(x), self.inputs.clone(), self.outputs.clone())
            }
        }
    }
}

fn draw(rng: &mut Rng, types: &[TensorSpec]) -> Vec<Tensor> {
    types.iter().map(|t| host::tangent(rng, &Tensor::zeros(t.dtype(), t.shape()))).collect()
}

/// The derivatives of all results of `f` along element `k` of input `i`.
fn along(f: &Program, x: &[Tensor], i: usize, k: usize) -> Result<Vec<Tensor>, String> {
    let mut v: Vec<Tensor> = x.iter().map(|x| Tensor::zeros(x.dtype(), x.shape())).collect();
    let mut unit = host::numbers(&v[i]);
    unit[k].re = 1.0;
    v[i] = tensor(x[i].dtype(), x[i].shape(), &unit);
    derivative::slope(f, x, &v)
}

/// What the transform means of `f`.
fn meaning(t: Transform, f: &Function, x: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let n = f.inputs.len();
    match t {
        Transform::Grad => {
            let inner = f.call.clone();
            let one = Function::new(move |x| total(inner(x)), f.inputs.clone(), vec![]).program()?;
            let of = |i: usize| -> Result<Tensor, String> {
                let slopes = (0..x[i].len()).map(|k| Ok(host::numbers(&along(&one, x, i, k)?[0])[0]));
                Ok(tensor(x[i].dtype(), x[i].shape(), &slopes.collect::<Result<Vec<_>, String>>()?))
            };
            (0..n).map(of).collect()
        }
        Transform::Jvp => {
            let f = f.program()?;
            Ok([f.run(&x[..n])?, derivative::slope(&f, &x[..n], &x[n..])?].concat())
        }
        Transform::Vjp => {
            let f = f.program()?;
            let of = |i: usize| -> Result<Tensor, String> {
                let slopes = (0..x[i].len()).map(|k| Ok(host::product(&along(&f, &x[..n], i, k)?, &x[n..]).0.into()));
                Ok(tensor(x[i].dtype(), x[i].shape(), &slopes.collect::<Result<Vec<_>, String>>()?))
            };
            (0..n).map(of).collect()
        }
        Transform::Checkpoint => f.program()?.run(x),
        Transform::Vmap => {
            let f = f.program()?;
            let row = |r: usize| f.run(&x.iter().map(|x| host::row(x, r)).collect::<Vec<_>>());
            let rows = [row(0)?, row(1)?];
            let of = |k: usize| stack(&[rows[0][k].clone(), rows[1][k].clone()], 0).ok_or("rows differ in shape");
            (0..rows[0].len()).map(|k| of(k).map_err(String::from)).collect()
        }
    }
}

/// Every sequence of transforms of `f`, to depth 3; gives how many there were.
fn nest(f: &Function, name: &str, depth: usize, failures: &mut Vec<String>) -> usize {
    let mut count = 0;
    for t in ALL {
        let (outer, name) = (f.then(t), format!("{t:?}({name})"));
        let rng = &mut Rng::new(9 + count as u64);
        let x = draw(rng, &outer.inputs);
        let check = || near(&outer.program()?.run(&x)?, &meaning(t, f, &x)?, 1e-8);
        if let Err(e) = check() {
            failures.push(format!("{name}: {e}"));
        }
        count += 1;
        if depth > 1 {
            count += nest(&outer, &name, depth - 1, failures);
        }
    }
    count
}

#[track_caller]
fn every_order(f: Function) {
    let mut failures = vec![];
    assert_eq!(nest(&f, "f", 3, &mut failures), 5 + 25 + 125);
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

fn float(shape: &[usize]) -> TensorSpec {
    spec(evoxc::F64, shape)
}

#[test]
fn element_wise() {
    let f = |x: Vec<Sym>| vec![(x[0].sin() * x[1] + x[0] * x[0] * x[0]).tanh()];
    every_order(Function::new(f, vec![float(&[2]), float(&[2])], vec![float(&[2])]));
}

#[test]
fn contraction_and_two_results() {
    let f = |x: Vec<Sym>| {
        let h = x[0].dot(x[1]).logistic();
        vec![h * x[1].sum(..), h.logsumexp(0)]
    };
    every_order(Function::new(f, vec![float(&[2, 2]), float(&[2])], vec![float(&[2]), float(&[])]));
}

#[test]
fn loops_and_branches() {
    let f = |x: Vec<Sym>| {
        let (w, c) = (x[1], x[0].ge(x[0]));
        let (last, ys) = evoxc::scan(x[0], w, |h, w| {
            let h = evoxc::cond(c, || (h * w).sin(), || h);
            (h, h * w)
        });
        vec![last, ys]
    };
    every_order(Function::new(f, vec![float(&[]), float(&[2])], vec![float(&[]), float(&[2])]));
}

/// The innermost level against formulas: the n-th derivative of sin at x is sin(x + nπ/2).
#[test]
fn derivatives_of_sine() {
    let f = Function::new(|x| vec![x[0].sin()], vec![float(&[])], vec![float(&[])]);
    let at = Tensor::from(0.4);
    let of = |f: &Function, x: &[Tensor]| f.program().and_then(|p| p.run(x)).unwrap();
    let one = || Tensor::from(1.0);
    let (sin, cos) = (0.4f64.sin(), 0.4f64.cos());
    let j = f.then(Transform::Jvp);
    near(&of(&j, &[at.clone(), one()]), &[Tensor::from(sin), Tensor::from(cos)], 1e-15).unwrap();
    let jj = j.then(Transform::Jvp);
    let zero = Tensor::from(0.0);
    let got = of(&jj, &[at.clone(), one(), one(), zero]);
    near(&got, &[sin, cos, cos, -sin].map(Tensor::from), 1e-15).unwrap();
    let v = f.then(Transform::Vjp).then(Transform::Vjp);
    near(&of(&v, &[at, one(), one()]), &[-sin, cos].map(Tensor::from), 1e-15).unwrap();
    // The harness itself: differences of sin are its derivative.
    let p = f.program().unwrap();
    assert_eq!(derivative::differences(&p, &[Tensor::from(0.4)], Category::Transcendental), Ok(Tested::Holds));
}
