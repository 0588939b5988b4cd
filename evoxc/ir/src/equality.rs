//! When two modules are the same program: equality and a hash, both up to the numbering of values.
//!
//! Functions compare by position, so that their names (and those of values and modules), locations, static values and
//! notes never take part. Constants compare by bits. The hash is the same in every process and on every machine, so
//! that it can be the key of a cache on disk.

use crate::{AttrValue, FuncRef, Literal, Module, Op, Prim, Region, TensorType, Value};
use evoxc_core::{Dim, Shape};
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};

impl PartialEq for Module {
    fn eq(&self, o: &Module) -> bool {
        let (a, b) = (Positions::new(self), Positions::new(o));
        self.funcs.len() == o.funcs.len()
            && self.funcs.iter().zip(&o.funcs).all(|(f, g)| {
                let mut pair = Pair { funcs: (&a, &b), types: (f, g), known: Default::default() };
                pair.region(&f.body, &g.body)
            })
    }
}
impl Eq for Module {}

impl Module {
    /// A hash of the program: equal modules have equal hashes, in every process and on every machine.
    ///
    /// ```
    /// use evoxc::ir::Module;
    /// let a = Module::parse("func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n %y = evoxc.neg(%x) : tensor<2xf32>\n return %y\n}")?;
    /// let b = Module::parse("func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n %b = evoxc.neg(%a) : tensor<2xf32>\n return %b\n}")?;
    /// assert_eq!(a, b);
    /// assert_eq!(a.structural_hash(), b.structural_hash());
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn structural_hash(&self) -> u64 {
        let mut h = Mix::default();
        self.hash_structure(&mut h);
        h.finish()
    }
    /// Feeds a hasher all that [`Module::structural_hash`] is made of, in a form that only equal modules share: with a
    /// hasher that nobody finds collisions of, equal hashes mean equal modules. Integers reach it by the `write_*`
    /// methods, so it decides their byte order.
    ///
    /// ```
    /// use evoxc::ir::Module;
    /// use std::hash::{DefaultHasher, Hasher};
    /// let hash = |text| {
    ///     let mut h = DefaultHasher::new();
    ///     Module::parse(text)?.hash_structure(&mut h);
    ///     Ok::<u64, evoxc::Error>(h.finish())
    /// };
    /// let a = hash("func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n return %x\n}")?;
    /// assert_ne!(a, hash("func @f(%x: tensor<3xf32>) -> tensor<3xf32> {\n return %x\n}")?);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn hash_structure<H: Hasher>(&self, h: &mut H) {
        let positions = Positions::new(self);
        h.write_usize(self.funcs.len());
        for f in &self.funcs {
            let mut one = Single { funcs: &positions, f, known: Numbers::default(), h: &mut *h };
            one.region(&f.body);
        }
    }
}

/// Where each function of a module stands.
struct Positions<'m>(FxHashMap<&'m str, usize>);

impl<'m> Positions<'m> {
    fn new(m: &'m Module) -> Positions<'m> {
        // Of several functions of one name the first is meant.
        Positions(m.funcs.iter().enumerate().rev().map(|(i, f)| (f.name.as_str(), i)).collect())
    }
    /// A call's function: its position, or its name if there is none.
    fn of<'a>(&self, f: &'a FuncRef) -> Result<usize, &'a str> {
        self.0.get(f.0.as_str()).copied().ok_or(&f.0)
    }
}

/// Numbers of values in the order of their definition.
#[derive(Default)]
struct Numbers {
    of: FxHashMap<Value, u32>,
    next: u32,
}

impl Numbers {
    fn define(&mut self, v: Value) {
        self.of.insert(v, self.next);
        self.next += 1;
    }
    /// The number; of a value that is not defined, its own (in a module that is not valid).
    fn get(&self, v: Value) -> Result<u32, u32> {
        self.of.get(&v).copied().ok_or(v.0)
    }
}

fn same_type(a: Option<&TensorType>, b: Option<&TensorType>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.dtype == b.dtype && a.shape == b.shape,
        (None, None) => true,
        _ => false,
    }
}

struct Pair<'m> {
    funcs: (&'m Positions<'m>, &'m Positions<'m>),
    types: (&'m crate::Func, &'m crate::Func),
    known: (Numbers, Numbers),
}

impl Pair<'_> {
    fn region(&mut self, a: &Region, b: &Region) -> bool {
        self.define(&a.args, &b.args)
            && a.ops.len() == b.ops.len()
            && a.ops.iter().zip(&b.ops).all(|(x, y)| self.op(x, y))
            && self.uses(&a.results, &b.results)
    }
    fn op(&mut self, a: &Op, b: &Op) -> bool {
        self.prim(&a.prim, &b.prim)
            && self.uses(&a.operands, &b.operands)
            && self.define(&a.results, &b.results)
            && a.regions.len() == b.regions.len()
            && a.regions.iter().zip(&b.regions).all(|(x, y)| self.region(x, y))
    }
    fn prim(&self, a: &Prim, b: &Prim) -> bool {
        let (
            Prim::Call { callee: c, jvp: j, forward: w, vjp: v, batch: x, captures: n, remat: r },
            Prim::Call { callee, jvp, forward, vjp, batch, captures, remat },
        ) = (a, b)
        else {
            return a == b;
        };
        let one = |p: &FuncRef, q: &FuncRef| self.funcs.0.of(p) == self.funcs.1.of(q);
        let maybe = |p: &Option<FuncRef>, q: &Option<FuncRef>| match (p, q) {
            (Some(p), Some(q)) => one(p, q),
            (None, None) => true,
            _ => false,
        };
        (r, n) == (remat, captures)
            && one(c, callee)
            && [(j, jvp), (w, forward), (v, vjp), (x, batch)].into_iter().all(|(p, q)| maybe(p, q))
    }
    fn define(&mut self, a: &[Value], b: &[Value]) -> bool {
        if a.len() != b.len() {
            return false;
        }
        for (&x, &y) in a.iter().zip(b) {
            self.known.0.define(x);
            self.known.1.define(y);
            let (f, g) = self.types;
            if !same_type(f.values.get(x.index()).map(|v| &v.ty), g.values.get(y.index()).map(|v| &v.ty)) {
                return false;
            }
        }
        true
    }
    fn uses(&self, a: &[Value], b: &[Value]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| self.known.0.get(x) == self.known.1.get(y))
    }
}

struct Single<'m, 'h, H> {
    funcs: &'m Positions<'m>,
    f: &'m crate::Func,
    known: Numbers,
    h: &'h mut H,
}

impl<H: Hasher> Single<'_, '_, H> {
    fn region(&mut self, r: &Region) {
        self.define(&r.args);
        self.h.write_usize(r.ops.len());
        for op in &r.ops {
            self.prim(&op.prim);
            self.uses(&op.operands);
            self.define(&op.results);
            self.h.write_usize(op.regions.len());
            for inner in &op.regions {
                self.region(inner);
            }
        }
        self.uses(&r.results);
    }
    fn prim(&mut self, p: &Prim) {
        let (name, kind) = p.name_parts();
        name.hash(self.h);
        kind.hash(self.h);
        let attributes = p.attributes();
        self.h.write_usize(attributes.len());
        for (name, value) in attributes {
            name.hash(self.h);
            self.attr(&value);
        }
    }
    fn define(&mut self, values: &[Value]) {
        self.h.write_usize(values.len());
        for &v in values {
            self.known.define(v);
            if let Some(info) = self.f.values.get(v.index()) {
                info.ty.dtype.name().hash(self.h);
                self.shape(&info.ty.shape);
            }
        }
    }
    fn uses(&mut self, values: &[Value]) {
        self.h.write_usize(values.len());
        for &v in values {
            match self.known.get(v) {
                Ok(n) => self.h.write_u32(n),
                Err(n) => self.h.write_u64(u64::from(n) | 1 << 40),
            }
        }
    }
    fn shape(&mut self, s: &Shape) {
        self.h.write_usize(s.rank());
        s.iter().for_each(|&d| self.dim(d));
    }
    /// By value or text: handles differ from process to process.
    fn dim(&mut self, d: Dim) {
        self.h.write_u8(d.as_i64().is_some().into());
        match d.as_i64() {
            Some(i) => self.h.write_i64(i),
            None => d.to_string().hash(self.h),
        }
    }
    fn attr(&mut self, v: &AttrValue) {
        self.h.write_u8(match v {
            AttrValue::Int(_) => 0,
            AttrValue::Bool(_) => 1,
            AttrValue::Word(_) => 2,
            AttrValue::Str(_) => 3,
            AttrValue::Dim(_) => 4,
            AttrValue::List(_) => 5,
            AttrValue::Record(_) | AttrValue::Fields(_) => 6,
            AttrValue::Func(_) => 7,
            AttrValue::Literal(_) => 8,
        });
        match v {
            AttrValue::Int(i) => self.h.write_i64(*i),
            AttrValue::Bool(b) => self.h.write_u8((*b).into()),
            AttrValue::Word(s) | AttrValue::Str(s) => s.hash(self.h),
            AttrValue::Dim(d) => self.dim(*d),
            AttrValue::List(items) => {
                self.h.write_usize(items.len());
                items.iter().for_each(|x| self.attr(x));
            }
            AttrValue::Record(fields) => {
                self.h.write_usize(fields.len());
                fields.iter().for_each(|(n, x)| {
                    n.hash(self.h);
                    self.attr(x);
                });
            }
            AttrValue::Fields(fields) => {
                self.h.write_usize(fields.len());
                fields.iter().for_each(|(n, x)| {
                    n.hash(self.h);
                    self.attr(x);
                });
            }
            AttrValue::Func(name) => match self.funcs.of(&FuncRef(name.clone())) {
                Ok(i) => self.h.write_usize(i),
                // A module that is not valid.
                Err(name) => (u64::MAX, name).hash(self.h),
            },
            AttrValue::Literal(l) => {
                let ty = l.ty();
                self.h.write_u8(matches!(l, Literal::Splat(..)).into());
                ty.dtype.name().hash(self.h);
                self.shape(&ty.shape);
                self.h.write(&crate::literal::le_bytes(l.tensor().buffer()));
            }
        }
    }
}

/// A hasher that gives the same in every process: each 8 bytes are mixed in by one multiplication to 128 bits.
struct Mix(u64);

impl Default for Mix {
    fn default() -> Mix {
        Mix(0x243F_6A88_85A3_08D3)
    }
}

impl Mix {
    fn mix(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word) * 0x9E37_79B9_7F4A_7C15_u128;
        let folded = (wide as u64) ^ ((wide >> 64) as u64);
        self.0 = folded.rotate_left(23).wrapping_add(0xD1B5_4A32_D192_ED03);
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        let mut last = Mix(self.0);
        last.mix(0xA076_1D64_78BD_642F);
        last.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.mix(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0u8; 8];
            word.iter_mut().zip(chunk).for_each(|(w, b)| *w = *b);
            self.mix(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, i: u8) {
        self.mix(i.into());
    }
    fn write_u32(&mut self, i: u32) {
        self.mix(i.into());
    }
    fn write_u64(&mut self, i: u64) {
        self.mix(i);
    }
    fn write_i64(&mut self, i: i64) {
        self.mix(i as u64);
    }
    fn write_usize(&mut self, i: usize) {
        self.mix(i as u64);
    }
}
