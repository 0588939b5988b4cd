//! What entries of caches are told apart by.
//!
//! A key is a SHA-256 hash, so that two programs share one only if somebody finds a collision of SHA-256.

use crate::Backend;
use crate::persist::kind_name;
use evoxc_core::{Dim, TensorSpec, TreeDef, TreeKind, TreeToken};
use evoxc_ir::Module;
use sha2::{Digest, Sha256};
use std::any::TypeId;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The key of a program on a backend, for files: the structure of the graph (names and locations left out), the trees of
/// its inputs and outputs, and the name, version and ABI key of the backend. It is the same in every process and on
/// every machine of one version of evoxc.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = |k: f64| trace(move |x: Sym| x * k, spec(F32, [2]));
/// assert_eq!(graph(2.0)?.cache_key(&Interp), graph(2.0)?.cache_key(&Interp));
/// assert_ne!(graph(2.0)?.cache_key(&Interp), graph(3.0)?.cache_key(&Interp));
/// assert_eq!(graph(2.0)?.cache_key(&Interp).to_string().len(), 64); // in hexadecimal digits
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// The key of a module whose inputs and outputs have these trees. Of a graph, use `graph.cache_key(&backend)`.
    pub fn new<B: Backend>(module: &Module, inputs: &TreeDef, outputs: &TreeDef, backend: &B) -> CacheKey {
        let mut h = Feed::new("program");
        h.backend(backend);
        h.tree(inputs);
        h.tree(outputs);
        module.hash_structure(&mut h);
        h.key()
    }
}

impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}
impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The key of an executable in a [`CompileCache`](crate::CompileCache): types of this process, what the program is, and
/// the backend with its options.
///
/// For those who fill such a cache themselves; `build_cached` makes its own keys.
///
/// ```
/// use evoxc::{CompileKey, prelude::*};
/// let small = CompileKey::named::<(Tensor, Tensor), _>("doubles", &[spec(F32, [2])], &Interp);
/// let large = CompileKey::named::<(Tensor, Tensor), _>("doubles", &[spec(F32, [4])], &Interp);
/// assert_ne!(small, large);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CompileKey {
    /// Types compare in full: the hash of one has 64 bits only.
    types: TypeId,
    backend: TypeId,
    rest: CacheKey,
}

impl CompileKey {
    /// The key of what somebody calls `name`, for inputs of these types, of all that has to do with the types `T`: those
    /// of the inputs and outputs, at least.
    pub fn named<T: 'static, B: Backend>(name: &str, specs: &[TensorSpec], backend: &B) -> CompileKey {
        CompileKey::by_name(TypeId::of::<T>(), name, specs, &TreeDef::default(), backend)
    }
    /// [`CompileKey::named`] with the tree of the inputs.
    #[doc(hidden)]
    pub fn by_name<B: Backend>(
        types: TypeId,
        name: &str,
        specs: &[TensorSpec],
        tree: &TreeDef,
        backend: &B,
    ) -> CompileKey {
        let mut h = Feed::new("name");
        h.text(name);
        CompileKey::of(types, h, specs, tree, backend)
    }
    /// The key of a function that is all in its type, which is among `types`.
    #[doc(hidden)]
    pub fn by_type<B: Backend>(types: TypeId, specs: &[TensorSpec], tree: &TreeDef, backend: &B) -> CompileKey {
        CompileKey::of(types, Feed::new("type"), specs, tree, backend)
    }
    /// The key of a program that has been traced.
    #[doc(hidden)]
    pub fn by_program<B: Backend>(types: TypeId, program: CacheKey, backend: &B) -> CompileKey {
        let mut h = Feed::new("graph");
        h.write(&program.0);
        CompileKey::of(types, h, &[], &TreeDef::default(), backend)
    }
    fn of<B: Backend>(types: TypeId, mut h: Feed, specs: &[TensorSpec], tree: &TreeDef, backend: &B) -> CompileKey {
        h.backend(backend);
        h.text(&backend.runtime_key());
        h.write_usize(specs.len());
        specs.iter().for_each(|s| h.spec(s));
        h.tree(tree);
        CompileKey { types, backend: TypeId::of::<B>(), rest: h.key() }
    }
}

/// A hasher whose input is read in one way only: texts carry their lengths.
struct Feed(Sha256);

impl Feed {
    fn new(kind: &str) -> Feed {
        let mut h = Feed(Sha256::new());
        h.text(env!("CARGO_PKG_VERSION"));
        h.text(kind);
        h
    }
    fn key(self) -> CacheKey {
        CacheKey(self.0.finalize().into())
    }
    fn text(&mut self, s: &str) {
        self.write_usize(s.len());
        self.write(s.as_bytes());
    }
    fn backend<B: Backend>(&mut self, b: &B) {
        self.text(b.name());
        self.text(&b.version());
        self.text(&b.abi_key());
        self.text(kind_name(b.capabilities().device));
    }
    fn spec(&mut self, s: &TensorSpec) {
        self.text(s.dtype.name());
        self.write_usize(s.shape.rank());
        s.shape.iter().for_each(|d| self.dim(*d));
        self.text(&s.device.map(|d| d.to_string()).unwrap_or_default());
    }
    /// By value or text: handles differ from process to process.
    fn dim(&mut self, d: Dim) {
        match d.as_i64() {
            Some(i) => {
                self.write_u8(0);
                self.write_i64(i);
            }
            None => {
                self.write_u8(1);
                self.text(&d.to_string());
            }
        }
    }
    fn tree(&mut self, t: &TreeDef) {
        self.write_usize(t.tokens().len());
        for token in t.tokens() {
            match token {
                TreeToken::Leaf => self.write_u8(0),
                TreeToken::Open(kind, n) => {
                    self.write_u8(1);
                    self.write_usize(*n);
                    self.kind(kind);
                }
                TreeToken::Key(name) => {
                    self.write_u8(2);
                    self.text(name);
                }
                // Static values are their texts, as everywhere.
                TreeToken::Static(text, _) => {
                    self.write_u8(3);
                    self.text(text);
                }
                TreeToken::Close => self.write_u8(4),
            }
        }
    }
    fn kind(&mut self, kind: &TreeKind) {
        match kind {
            TreeKind::Tuple => self.write_u8(0),
            TreeKind::List => self.write_u8(1),
            TreeKind::Some => self.write_u8(2),
            TreeKind::None => self.write_u8(3),
            TreeKind::Map => self.write_u8(4),
            TreeKind::Struct(name, variant) => {
                self.write_u8(5);
                self.text(name);
                self.write_u8(variant.is_some().into());
                self.text(variant.as_deref().unwrap_or_default());
            }
        }
    }
}

impl Hasher for Feed {
    /// Not used: [`Feed::key`] gives all bits.
    fn finish(&self) -> u64 {
        let bytes: [u8; 32] = self.0.clone().finalize().into();
        bytes.iter().take(8).fold(0, |h, &b| h << 8 | u64::from(b))
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn write_u8(&mut self, i: u8) {
        self.write(&[i]);
    }
    fn write_u32(&mut self, i: u32) {
        self.write(&i.to_le_bytes());
    }
    fn write_u64(&mut self, i: u64) {
        self.write(&i.to_le_bytes());
    }
    fn write_i64(&mut self, i: i64) {
        self.write(&i.to_le_bytes());
    }
    fn write_usize(&mut self, i: usize) {
        self.write_u64(i as u64);
    }
}
