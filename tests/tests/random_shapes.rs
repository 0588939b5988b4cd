//! Random numbers of batches of keys, of keys under vmap, of symbolic and empty shapes, and what is refused. The law for
//! batches: each row is what its own key alone gives. Expected results are those of single keys; errors are stated.

use evoxc::prelude::*;
use evoxc::random::Choice;
use evoxc_tests::engines::Engines;
use evoxc_tests::plugin::{every_backend, rounds_each_op};
use evoxc_tests::run::execute;
use evoxc_tests::tolerance::{Category, compare};

/// A function of a key and a shape `[m]`; `p` is a vector of 4 numbers between 0 and 1.
type Function = fn(Sym, Dim, Sym) -> Vec<Sym>;

/// Every function of the module that takes a key.
const ALL: &[(&str, Function)] = &[
    ("split", |k, _, _| vec![random::split(k).0, random::split(k).1]),
    ("split_n", |k, m, _| vec![random::split_n(k, m)]),
    ("fold_in", |k, m, _| vec![random::fold_in(k, 7), random::fold_in(k, m)]),
    ("bits", |k, m, _| vec![random::bits(k, U8, [m]), random::bits(k, U32, [m]), random::bits(k, U64, (m, 3))]),
    ("uniform", |k, m, _| vec![random::uniform(k, F32, [m]), random::uniform(k, BF16, (2, m))]),
    ("uniform_range", |k, m, p| vec![random::uniform_range(k, F32, (m, 4), p, 2.0)]),
    ("normal", |k, m, _| vec![random::normal(k, F64, [m]), random::normal(k, F16, [m])]),
    ("truncated_normal", |k, m, p| vec![random::truncated_normal(k, F32, (m, 4), p, 2.0)]),
    ("exponential", |k, m, _| vec![random::exponential(k, F32, [m])]),
    ("gumbel", |k, m, _| vec![random::gumbel(k, F32, [m])]),
    ("laplace", |k, m, _| vec![random::laplace(k, F32, [m])]),
    ("randint", |k, m, _| vec![random::randint(k, I32, [m], -3, 90_000), random::randint(k, U8, [m], 0, 256)]),
    ("randint64", |k, m, _| vec![random::randint(k, I64, [m], i64::MIN, i64::MAX), random::randint(k, U64, [m], 3, 9)]),
    ("randint_sym", |k, m, p| vec![random::randint(k, I32, (m, 4), p.cast(I32), (p * 100.0).cast(I32))]),
    ("bernoulli", |k, m, p| vec![random::bernoulli(k, [m], 0.5), random::bernoulli(k, (m, 4), p)]),
    ("categorical", |k, m, p| vec![random::categorical(k, [m], p.log())]),
    ("multinomial", |k, m, p| vec![random::multinomial(k, I32, [m], 9, p), random::multinomial(k, F32, [2], m, p)]),
    ("gamma", |k, m, p| vec![random::gamma(k, F32, [m], 2.5), random::gamma(k, F64, (m, 4), p.cast(F64))]),
    ("beta", |k, m, p| vec![random::beta(k, F32, (m, 4), p, 0.5)]),
    ("dirichlet", |k, m, p| vec![random::dirichlet(k, [m], p)]),
    ("poisson", |k, m, p| vec![random::poisson(k, I32, [m], 40), random::poisson(k, U16, (m, 4), p * 30.0)]),
    ("permutation", |k, m, p| vec![random::permutation(k, m), random::permutation(k, p)]),
    ("choice", |k, m, p| vec![random::choice(k, [m], p, Choice::default()), random::choice(k, [m], 7, weights(p, 7))]),
    ("choice_distinct", |k, m, p| {
        let few = m.min(4);
        vec![
            random::choice(k, [few], p, Choice::default().distinct()),
            random::choice(k, [few], 7, weights(p, 7).distinct()),
        ]
    }),
];

fn weights(p: Sym, n: i64) -> Choice {
    Choice::default().weights(concat([p, p], 0).slice_axis(0, 0, n))
}

fn p() -> Tensor {
    Tensor::from([0.1f32, 0.45, 0.6, 0.9])
}

/// Three keys of each algorithm, alone.
fn keys() -> [Vec<Tensor>; 3] {
    let seeds = [1u64, 42, 1 << 50];
    [seeds.map(random::key), seeds.map(random::threefry_key), seeds.map(random::philox_key)].map(|k| k.to_vec())
}

/// The keys along a new leading axis.
fn batch(keys: &[Tensor]) -> Tensor {
    let shape: Vec<usize> = std::iter::once(keys.len()).chain(keys[0].shape().iter().copied()).collect();
    if keys[0].dtype() == U64 {
        let all: Vec<u64> = keys.iter().map(|k| k.item().unwrap()).collect();
        Tensor::from_vec(all, shape).unwrap()
    } else {
        let all: Vec<u32> = keys.iter().flat_map(|k| k.to_vec::<u32>().unwrap()).collect();
        Tensor::from_vec(all, shape).unwrap()
    }
}

fn run(f: Function, key: &Tensor, m: usize) -> Vec<Tensor> {
    let g = |k: Sym, p: Sym| f(k, Dim::constant(m as i64), p);
    evaluate(g, (key.clone(), p()), &Engines).unwrap()
}

/// The bytes of row `i` of `n` and the shape of a row.
fn row(t: &Tensor, i: usize, n: usize) -> (Vec<u8>, Vec<usize>) {
    let bytes = t.buffer().bytes();
    let width = bytes.len() / n;
    (bytes[i * width..(i + 1) * width].to_vec(), t.shape()[1..].to_vec())
}

#[test]
fn each_row_of_a_batch_is_what_its_key_gives() {
    for keys in keys() {
        let many = batch(&keys);
        for (name, f) in ALL {
            let rows = run(*f, &many, 6);
            for (i, key) in keys.iter().enumerate() {
                for (all, one) in rows.iter().zip(run(*f, key, 6)) {
                    let want = (one.buffer().bytes().to_vec(), one.shape().to_vec());
                    assert_eq!(row(all, i, keys.len()), want, "{name}, row {i} of keys {}", many.spec());
                }
            }
        }
    }
}

/// The functions that are integer operations, bit casts and single rounded float operations.
const EXACT: &[&str] =
    &["split", "split_n", "fold_in", "bits", "uniform", "uniform_range", "randint", "bernoulli", "permutation"];

#[test]
fn exact_functions_are_bit_equal_on_every_backend() {
    let exact = |name: &str| EXACT.iter().any(|e| name.starts_with(e));
    for keys in keys() {
        for (name, f) in ALL.iter().filter(|(name, _)| exact(name)) {
            let want = run(*f, &keys[0], 40);
            let g = trace(|k: Sym, p: Sym| f(k, Dim::constant(40), p), (keys[0].spec(), p().spec())).unwrap();
            for b in &every_backend() {
                let got = execute(b, g.module(), &[keys[0].clone(), p()]).unwrap();
                let fused = *name == "uniform_range" && !rounds_each_op(b);
                let near = |a: &Tensor, b: &Tensor| fused && compare(a, b, Category::Contraction).is_ok();
                let same = |(a, b): (&Tensor, &Tensor)| a.bit_eq(b) || near(a, b);
                assert!(got.iter().zip(&want).all(same), "{name} on {}", b.name());
            }
        }
    }
}

#[test]
fn graphs_print_parse_and_simplify_to_the_same_numbers() {
    for keys in keys() {
        for (name, f) in ALL {
            let g = trace(|k: Sym, p: Sym| f(k, Dim::constant(5), p), (keys[0].spec(), p().spec())).unwrap();
            let parsed = Graph::parse(&g.to_string()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            assert_eq!(parsed, g.clone().erase(), "{name}");
            let simple = g.simplify();
            let got = execute(&backends()[0], simple.module(), &[keys[0].clone(), p()]).unwrap();
            let want = run(*f, &keys[0], 5);
            assert!(got.iter().zip(&want).all(|(a, b)| a.bit_eq(b)), "{name}");
        }
    }
}

#[test]
fn vmap_is_a_batch_of_keys() {
    for keys in keys() {
        let many = batch(&keys);
        for (name, f) in ALL {
            let g = |k: Sym, p: Sym| f(k, Dim::constant(6), p);
            let mapped = evaluate(vmap(g).in_axes([Some(0), None]), (many.clone(), p()), &Engines);
            let mapped = mapped.unwrap_or_else(|e| panic!("{name}: {e:?}"));
            for (a, b) in mapped.iter().zip(run(*f, &many, 6)) {
                assert!(a.bit_eq(&b), "{name} of keys {}: {a} and {b}", many.spec());
            }
        }
    }
}

// Parameters of their own for each key: the rows of two functions of one key.
#[test]
fn vmap_of_keys_and_parameters() -> evoxc::Result<()> {
    let f =
        |k: Sym, p: Sym| (random::gamma(k, F32, [5], p), random::bernoulli(k, [5], p), random::poisson(k, I32, [5], p));
    let p = Tensor::from([0.3f32, 0.8, 0.5]);
    for keys in keys() {
        let (a, b, c) = evaluate(vmap(f), (batch(&keys), p.clone()), &Engines)?;
        for (i, key) in keys.iter().enumerate() {
            let one = Tensor::from(p.to_vec::<f32>()?[i]);
            let (x, y, z) = evaluate(f, (key.clone(), one), &Engines)?;
            for (all, one) in [(&a, x), (&b, y), (&c, z)] {
                assert_eq!(row(all, i, 3).0, one.buffer().bytes());
            }
        }
    }
    Ok(())
}

#[test]
fn two_axes_of_keys() {
    for keys in keys() {
        let many = batch(&keys);
        let shape: Vec<usize> = std::iter::once(1).chain(many.shape().iter().copied()).collect();
        let deep = many.reshape(shape).unwrap();
        for (name, f) in ALL {
            for (flat, nested) in run(*f, &many, 2).iter().zip(run(*f, &deep, 2)) {
                let shape: Vec<usize> = [1].iter().chain(flat.shape()).copied().collect();
                assert_eq!(nested.shape(), shape, "{name}");
                assert_eq!(nested.buffer().bytes(), flat.buffer().bytes(), "{name}");
            }
        }
    }
}

#[test]
fn symbolic_and_empty_shapes() {
    for keys in keys() {
        for (name, f) in ALL {
            let g = |k: Sym, p: Sym, x: Sym| f(k, x.dim(0), p);
            let specs = (keys[0].spec(), p().spec(), spec(F32, [dim("M")]));
            let exe = build(g, specs, &Engines).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            for m in [0, 1, 5] {
                let got = exe.run((keys[0].clone(), p(), Tensor::zeros(F32, [m]))).unwrap();
                for (a, b) in got.iter().zip(run(*f, &keys[0], m)) {
                    assert!(a.bit_eq(&b), "{name} of {m}: {a} and {b}");
                }
            }
        }
    }
}

#[test]
fn a_symbolic_number_of_keys() {
    for keys in keys() {
        let many = batch(&keys);
        let shape: Shape = std::iter::once(dim("K")).chain(keys[0].spec().shape.iter().copied()).collect();
        for (name, f) in ALL {
            let g = |k: Sym, p: Sym| f(k, Dim::constant(4), p);
            let exe = build(g, (spec(many.dtype(), shape.clone()), p().spec()), &Engines);
            let exe = exe.unwrap_or_else(|e| panic!("{name}: {e:?}"));
            for (a, b) in exe.run((many.clone(), p())).unwrap().iter().zip(run(*f, &many, 4)) {
                assert!(a.bit_eq(&b), "{name}: {a} and {b}");
            }
        }
    }
}

#[test]
fn no_keys() {
    for key in [Tensor::zeros(U64, [0]), Tensor::zeros(U32, [0, 2]), Tensor::zeros(U32, [0, 4])] {
        for (name, f) in ALL {
            for t in run(*f, &key, 3) {
                assert_eq!(t.shape()[0], 0, "{name}");
            }
        }
    }
}

// Above 1625 elements there is a second sort; of a symbolic length that is decided when it runs.
#[test]
fn long_permutations_of_symbolic_length() -> evoxc::Result<()> {
    let key = random::key(3);
    let exe = build(|k: Sym, x: Sym| random::permutation(k, x.dim(0)), (key.spec(), spec(U8, [dim("N")])), &Engines)?;
    for n in [1625, 1626, 4000] {
        let got = exe.run((key.clone(), Tensor::zeros(U8, [n])))?;
        let want = evaluate(|k: Sym| random::permutation(k, n), key.clone(), &Engines)?;
        assert!(got.bit_eq(&want), "{n}");
        let mut sorted = got.to_vec::<i32>()?;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..n));
    }
    Ok(())
}

fn refused(f: impl Fn(Sym) -> Sym, key: TensorSpec) -> String {
    let e = trace(f, key).err().unwrap_or_else(|| panic!("traced"));
    let text = format!("{e:?}");
    assert!(text.contains("random_shapes.rs"), "{text}");
    text
}

#[test]
fn what_is_no_key_is_told() {
    for bad in [spec(F32, []), spec(I64, []), spec(U32, []), spec(U32, [3]), spec(U32, [dim("K")]), spec(U16, [4])] {
        let text = refused(|k: Sym| random::normal(k, F32, [2]), bad);
        assert!(text.contains("needs a key") && text.contains("random::key(seed)"), "{text}");
    }
}

#[test]
fn what_cannot_be_drawn_is_told() {
    type Case = (&'static str, fn(Sym) -> Sym);
    let cases: &[Case] = &[
        ("i32", |k| random::bits(k, I32, [2])),
        ("needs a real float dtype", |k| random::uniform(k, I32, [2])),
        ("needs a real float dtype", |k| random::normal(k, C64, [2])),
        ("needs a real float dtype", |k| random::gamma(k, U8, [2], 1.0)),
        ("not below the upper", |k| random::uniform_range(k, F32, [2], 1.0, 1)),
        ("`low` is NaN", |k| random::uniform_range(k, F32, [2], f64::NAN, 1)),
        ("`high` is inf", |k| random::uniform_range(k, F32, [2], 0, f64::INFINITY)),
        ("not below the upper", |k| random::truncated_normal(k, F32, [2], 2, -2)),
        ("no integer from 3 up to, but without, 3", |k| random::randint(k, I32, [2], 3, 3)),
        ("not within u8, 0 to 255", |k| random::randint(k, U8, [2], 0, 257)),
        ("not within u8, 0 to 255", |k| random::randint(k, U8, [2], -1, 7)),
        ("needs an integer dtype", |k| random::randint(k, F32, [2], 0, 7)),
        ("`high` is i64, the draw i32", |k| random::randint(k, I32, [2], 0, zeros(I64, [2]))),
        ("does not broadcast to the draw's shape", |k| random::randint(k, I32, [2], zeros(I32, [3]), 4)),
        ("a float, which i32 does not hold", |k| random::randint(k, I32, [2], 0.5, 4)),
        ("not a probability", |k| random::bernoulli(k, [2], 1.5)),
        ("not a probability", |k| random::bernoulli(k, [2], f64::NAN)),
        ("needs a real float tensor", |k| random::bernoulli(k, [2], zeros(I32, [2]))),
        ("does not broadcast to the draw's shape", |k| random::categorical(k, [], zeros(F32, [2, 5]))),
        ("no category", |k| random::categorical(k, [], zeros(F32, [0]))),
        ("needs an axis", |k| random::categorical(k, [], zeros(F32, []))),
        ("below 0", |k| random::multinomial(k, I32, [], -1, zeros(F32, [3]))),
        ("counts are no bools", |k| random::multinomial(k, BOOL, [], 1, zeros(F32, [3]))),
        ("`alpha` is 0.0, not a finite number above 0", |k| random::gamma(k, F32, [2], 0)),
        ("`alpha` is f64, the draw f32", |k| random::gamma(k, F32, [2], zeros(F64, [2]))),
        ("`b` is -1.0", |k| random::beta(k, F32, [2], 1, -1)),
        ("needs a real float tensor", |k| random::dirichlet(k, [2], zeros(I32, [3]))),
        ("`rate` is -1.0", |k| random::poisson(k, I32, [2], -1)),
        ("needs a dtype of real numbers", |k| random::poisson(k, BOOL, [2], 1)),
        ("not an integer of 32 bits", |k| random::fold_in(k, 1i64 << 32)),
        ("not an integer of 32 bits", |k| random::fold_in(k, 0.5)),
        ("fold the halves", |k| random::fold_in(k, zeros(U64, []))),
        ("no axis to take rows from", |k| random::permutation(k, zeros(F32, []))),
        ("the number of rows", |k| random::permutation(k, -1)),
        ("the number of rows", |k| random::permutation(k, 2.5)),
        ("nothing to choose from", |k| random::choice(k, [2], 0, Choice::default())),
        ("3 distinct rows of 2", |k| random::choice(k, [3], 2, Choice::default().distinct())),
        ("one weight a row", |k| random::choice(k, [3], 2, Choice::default().weights(zeros(F32, [3])))),
        ("needs a real float tensor", |k| random::choice(k, [3], 2, Choice::default().weights(zeros(I32, [2])))),
        ("the seed is u32, not u64", |_| random::polygrad_uniform(zeros(U32, []), [3])),
        ("not an integer of 64 bits", |_| random::polygrad_normal(0.5, [3])),
        ("-1", |k| random::split_n(k, -1)),
        ("-1", |k| random::uniform(k, F32, [-1])),
    ];
    for (message, f) in cases {
        for key in [random::key_spec(), random::threefry_key_spec(), random::philox_key_spec()] {
            let text = refused(f, key);
            assert!(text.contains(message), "wanted: {message}\n{text}");
        }
    }
}
