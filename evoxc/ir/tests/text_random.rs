//! The text form and the container on random modules with every op of the table, and on damaged texts.
//!
//! The modules are not well typed, for the text form does not care. The source of randomness is fixed, so that a
//! failure comes back.

use evoxc_core::{DType, Dim, Loc, Shape, Tensor, TensorSpec, TreeDef, dim, spec};
use evoxc_ir::{
    Algorithm, Attr, AttrValue, ConvLayout, CumOp, Direction, FftKind, Func, FuncRef, GatherDims, GraphFile,
    LinTranspose, Literal, Module, Op, Padding, Prim, Reducer, Region, ScatterDims, ScatterOp, SelectOp, SortKeys,
    SortOrder, TABLE, Value, Window,
};
use std::collections::BTreeSet;

/// splitmix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }
    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
    fn many<T>(&mut self, most: usize, mut one: impl FnMut(&mut Rng) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| one(self)).collect()
    }
    fn dim(&mut self) -> Dim {
        let b = dim(self.pick(&["B", "T", "max", "true", "_x1", "dense"]));
        match self.below(8) {
            0 => b,
            1 => 2 * b + 1,
            2 => (b * dim("T")) / 3 - 1,
            3 => b.min(dim("N") % 4).max(Dim::constant(2)),
            4 => Dim::constant(-(self.below(5) as i64)),
            5 => Dim::constant(self.pick(&[i64::MAX, i64::MIN])),
            _ => Dim::constant(self.below(9) as i64),
        }
    }
    fn shape(&mut self) -> Shape {
        self.many(4, Rng::dim).into_iter().collect()
    }
    fn ty(&mut self) -> TensorSpec {
        let d = self.pick(&DType::ALL);
        spec(d, self.shape())
    }
    fn tensor(&mut self, n: usize, shape: &[usize]) -> Tensor {
        let d = self.pick(&DType::ALL);
        let special = [0u8, 0xFF, 0x7F, 0x80, 0xF8, 1];
        let byte = |r: &mut Rng| match (d, r.flip()) {
            (DType::BOOL, _) => r.below(2) as u8,
            (_, true) => r.pick(&special),
            (_, false) => r.next() as u8,
        };
        let bytes: Vec<u8> = (0..n * d.size()).map(|_| byte(self)).collect();
        let buffer = evoxc_core::Buffer::from_le_bytes(d, &bytes).unwrap();
        Tensor::from_buffer(buffer, shape).unwrap()
    }
    fn literal(&mut self) -> Literal {
        if self.flip() {
            return Literal::Splat(self.tensor(1, &[]), self.shape());
        }
        let shape = self.many(3, |r| r.below(6));
        Literal::Dense(self.tensor(shape.iter().product(), &shape))
    }
    fn ints<T: TryFrom<usize>>(&mut self) -> Vec<T> {
        self.many(3, |r| T::try_from(r.below(7)).ok().unwrap())
    }
    fn text(&mut self) -> String {
        self.many(8, |r| r.pick(&['a', 'ß', '"', '\\', '\n', '\r', '\t', ' ', '=', '/', '\u{7f}', '{', '\'', '☃']))
            .into_iter()
            .collect()
    }
    /// A name of a value or function; often one that was there before.
    fn name(&mut self) -> String {
        match self.below(6) {
            0 => self.text(),
            1 => format!("h{}", self.below(30)),
            _ => self.pick(&["x", "x_1", "layer.w", "größe", "0", "func", "loc", "return", "x_1_1"]).to_string(),
        }
    }
    /// Values of every kind of attribute, the particular before the general: an op takes the first that fits.
    fn attribute(&mut self, kind: usize) -> Option<AttrValue> {
        fn some<A: Attr>(a: A) -> Option<AttrValue> {
            a.to_value()
        }
        match kind {
            0 => some(self.literal()),
            1 => some(Window {
                size: self.many(3, Rng::dim),
                stride: self.many(3, |r| r.next() as i64),
                padding: self.many(3, |r| Padding { low: r.dim(), high: r.dim() }),
                base_dilation: self.many(3, |r| r.below(4) as i64),
                window_dilation: self.many(3, |r| r.below(4) as i64),
                reversal: self.many(3, |r| evoxc_ir::Flag(r.flip())),
            }),
            2 => some(GatherDims {
                offset: self.ints(),
                collapsed: self.ints(),
                operand_batching: self.ints(),
                indices_batching: self.ints(),
                start_map: self.ints(),
                index_vector: self.below(5),
            }),
            3 => some(ScatterDims {
                update_window: self.ints(),
                inserted: self.ints(),
                operand_batching: self.ints(),
                indices_batching: self.ints(),
                scatter_map: self.ints(),
                index_vector: self.below(5),
            }),
            4 => some(ConvLayout {
                lhs: self.ints(),
                lhs_spatial: self.ints(),
                rhs: self.ints(),
                rhs_spatial: self.ints(),
                out: self.ints(),
                out_spatial: self.ints(),
            }),
            5 => some(SortKeys(self.many(3, Rng::flip)).clone()),
            6 => some(self.pick(Direction::ALL)),
            7 => some(self.pick(SortOrder::ALL)),
            8 => some(self.pick(FftKind::ALL)),
            9 => some(self.pick(LinTranspose::ALL)),
            10 => some(self.pick(Algorithm::ALL)),
            11 => some(FuncRef(self.name())),
            12 => some(self.text()),
            13 => some(self.dim()),
            14 => some(self.shape()),
            15 => some(evoxc_ir::AxisPair { lhs: self.ints(), rhs: self.ints() }),
            16 => some(self.pick(&DType::ALL)),
            17 => Some(AttrValue::List(self.many(3, |r| AttrValue::Int(r.below(7) as i64)))),
            18 => Some(AttrValue::Int(self.below(30) as i64)),
            19 => Some(AttrValue::Bool(true)),
            20 => some(evoxc_ir::ReplicaGroups {
                ids: self.many(3, Rng::ints),
                by: self.pick(evoxc_ir::Grouping::ALL),
                channel: self.flip().then(|| self.below(5)),
            }),
            21 => some(self.pick(evoxc_ir::Rank::ALL)),
            22 => some(self.many(3, Rng::ints::<usize>)),
            _ => panic!("no kind of attribute fits: add one here"),
        }
    }
    fn prim(&mut self, name: &str) -> Prim {
        // For each attribute asked for, the kind to try; None of them at first, now and then.
        let mut kinds: Vec<(&'static str, usize, bool)> = vec![];
        loop {
            let mut last = None;
            let made = Prim::from_text(name, &mut |attr| {
                let i = kinds.iter().position(|k| k.0 == attr).unwrap_or_else(|| {
                    kinds.push((attr, 0, self.below(3) == 0));
                    kinds.len() - 1
                });
                last = Some(i);
                let (_, kind, absent) = kinds[i];
                if absent { None } else { self.attribute(kind) }
            });
            match (made, last) {
                (Ok(p), _) => return p,
                (Err(m), Some(i)) => {
                    let k = &mut kinds[i];
                    assert!(m.contains(k.0), "{name}: {m}");
                    k.1 += usize::from(!k.2);
                    k.2 = false;
                }
                (Err(m), None) => panic!("{name}: {m}"),
            }
        }
    }
}

/// Every printed name of the table.
fn op_names() -> Vec<String> {
    let words = |w: Vec<&str>| w.into_iter().map(str::to_string).collect::<Vec<_>>();
    let kinds = |row: &str| match row {
        "reduce_" | "reduce_window_" | "all_reduce_" | "reduce_scatter_" => {
            words(Reducer::ALL.iter().map(|k| k.word()).collect())
        }
        "scatter_" => words(ScatterOp::ALL.iter().map(|k| k.word()).collect()),
        "select_and_scatter_" => words(SelectOp::ALL.iter().map(|k| k.word()).collect()),
        "cumulative_" => words(CumOp::ALL.iter().map(|k| k.word()).collect()),
        _ => vec![String::new()],
    };
    TABLE.iter().flat_map(|r| kinds(r.name).into_iter().map(move |k| format!("{}{k}", r.name))).collect()
}

struct Generator<'r> {
    rng: &'r mut Rng,
    names: &'r [String],
    f: Func,
    visible: Vec<Value>,
}

impl Generator<'_> {
    fn define(&mut self) -> Value {
        let name = if self.rng.flip() { Some(self.rng.name().into()) } else { None };
        let ty = self.rng.ty();
        // Values out of order of definition, and some that nothing defines.
        if self.rng.below(9) == 0 {
            self.f.value(spec(DType::I8, [1]), None);
        }
        self.f.value(ty, name)
    }
    fn uses(&mut self) -> Vec<Value> {
        let visible = &self.visible;
        if visible.is_empty() { vec![] } else { self.rng.many(4, |r| r.pick(visible)) }
    }
    fn region(&mut self, depth: usize, ops: &[String]) -> Region {
        let outer = self.visible.len();
        let args: Vec<Value> = (0..self.rng.below(3)).map(|_| self.define()).collect();
        self.visible.extend(&args);
        let ops = ops.iter().map(|name| self.op(name, depth)).collect();
        let results = self.uses();
        self.visible.truncate(outer);
        Region { args, ops, results }
    }
    fn op(&mut self, name: &str, depth: usize) -> Op {
        let prim = self.rng.prim(name);
        let operands = self.uses().into();
        let loc = self.rng.flip().then(|| {
            let file =
                self.rng.pick(&["src/a.rs", "with \"quotes\".rs", "C:\\x\\y.rs", "/home/user/.cargo/dep/src/lib.rs"]);
            Loc::new(file, self.rng.below(1000) as u32, u32::MAX)
        });
        // Results first or regions first: the numbering of values is free.
        let early: Vec<Value> =
            if self.rng.flip() { (0..self.rng.below(3)).map(|_| self.define()).collect() } else { vec![] };
        let n = prim.region_count().unwrap_or(self.rng.below(4));
        let n = if depth > 2 { 0 } else { n };
        let regions = (0..n).map(|_| {
            let ops = self.rng.many(3, |r| r.below(self.names.len()));
            let ops: Vec<String> = ops.into_iter().map(|i| self.names[i].clone()).collect();
            self.region(depth + 1, &ops)
        });
        let regions = regions.collect();
        let results = if early.is_empty() { (0..self.rng.below(2)).map(|_| self.define()).collect() } else { early };
        self.visible.extend(&results);
        Op { prim, operands, results: results.into(), regions, loc }
    }
}

/// A module whose first function holds the ops of `first`; others and regions hold any of `names`.
fn module(rng: &mut Rng, names: &[String], first: &[String], funcs: usize) -> Module {
    let mut m = Module { name: rng.name(), ..Module::default() };
    for i in 0..=funcs {
        let name = rng.name();
        let ops = if i == 0 { first.to_vec() } else { rng.many(5, |r| r.pick(names)) };
        let mut g = Generator { rng, names, f: Func::new(name), visible: vec![] };
        g.f.body = g.region(0, &ops);
        m.funcs.push(g.f);
    }
    m.statics = rng.many(3, |r| (format!("s.{}", r.text()), r.text()));
    m.notes = rng.many(3, Rng::text);
    m
}

#[test]
fn every_op_comes_back() {
    let names = op_names();
    let rows: BTreeSet<&str> = TABLE.iter().map(|r| r.name).collect();
    assert_eq!(rows.len(), TABLE.len());
    for seed in 0..60 {
        let m = module(&mut Rng(seed), &names, &names, 3);
        let made: BTreeSet<&str> = m.funcs[0].body.ops.iter().map(|o| o.prim.name_parts().0).collect();
        assert_eq!(made, rows);
        let text = m.to_string();
        let back = Module::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(back == m, "seed {seed}");
        assert_eq!(back.structural_hash(), m.structural_hash());
        // Names, locations, notes and static values are in the text.
        assert_eq!(back.to_string(), text, "seed {seed}");
        assert_eq!(back.name, m.name);
        assert_eq!((&back.statics, &back.notes), (&m.statics, &m.notes));
        for (f, g) in m.funcs.iter().zip(&back.funcs) {
            assert_eq!(f.name, g.name);
            for (a, b) in f.body.ops.iter().zip(&g.body.ops) {
                assert_eq!(a.loc, b.loc);
                assert_eq!(a.prim, b.prim);
            }
        }
        assert!(m.to_dot().starts_with("digraph"));
    }
}

fn file(m: Module) -> GraphFile {
    let main = m.main().unwrap();
    let (inputs, outputs) = (main.body.args.len(), main.body.results.len());
    let captures = usize::from(inputs > 0);
    GraphFile {
        inputs: TreeDef::leaves_tuple(inputs - captures),
        outputs: TreeDef::leaves_tuple(outputs),
        captures,
        module: m,
    }
}

#[test]
fn every_op_is_saved() {
    let names = op_names();
    for seed in 100..130 {
        let f = file(module(&mut Rng(seed), &names, &names, 2));
        let json = f.to_json().unwrap();
        let back = GraphFile::from_json(&json).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(back.module == f.module, "seed {seed}");
        assert_eq!((&back.inputs, &back.outputs, back.captures), (&f.inputs, &f.outputs, f.captures));
        assert_eq!(back.to_json().unwrap(), json);
        assert!(!json.contains("/home/user") && json.contains("dep/src/lib.rs"));
    }
}

/// Damages a text: bytes flipped, deleted, doubled, moved.
fn damage(rng: &mut Rng, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=rng.below(3) {
        if bytes.is_empty() {
            bytes.push(b'x');
        }
        let at = rng.below(bytes.len());
        let end = (at + 1 + rng.below(12)).min(bytes.len());
        match rng.below(6) {
            0 => bytes[at] ^= 1 << rng.below(7),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = rng.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            3 => bytes[at] = rng.pick(b"()[]{}<>\"\\%@,:=x0-9/\n\xE2"),
            4 => bytes.truncate(at.max(1)),
            _ => {
                let digits = bytes.iter().position(u8::is_ascii_digit).unwrap_or(0);
                bytes.splice(digits..digits, *b"9999999999");
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn damaged_texts_are_errors_or_modules() {
    let names = op_names();
    let mut rng = Rng(7);
    let mut parsed = 0;
    for round in 0..200 {
        let some: Vec<String> = rng.many(6, |r| r.pick(&names));
        let text = module(&mut rng, &names, &some, 1).to_string();
        assert!(Module::parse(&text).is_ok(), "round {round}");
        for _ in 0..100 {
            let bad = damage(&mut rng, &text);
            match Module::parse(&bad) {
                // What parses is a module like any other.
                Ok(m) => {
                    parsed += 1;
                    let again = Module::parse(&m.to_string());
                    assert!(again.is_ok_and(|a| a == m), "{bad}");
                }
                Err(e) => assert!(!e.render().is_empty() && e.to_string().len() < 10_000 + bad.len()),
            }
        }
    }
    // Damage of names, comments and numbers often leaves a module.
    assert!(parsed > 1000, "{parsed}");
}

#[test]
fn damaged_files_are_errors_or_graphs() {
    let names = op_names();
    let mut rng = Rng(11);
    for _ in 0..100 {
        let some: Vec<String> = rng.many(4, |r| r.pick(&names));
        let json = file(module(&mut rng, &names, &some, 1)).to_json().unwrap();
        for _ in 0..100 {
            let bad = damage(&mut rng, &json);
            if let Ok(f) = GraphFile::from_json(&bad) {
                assert!(f.to_json().is_ok());
            }
        }
    }
}
