//! Modules: functions of ops in regions, values in SSA form.

use crate::Prim;
use evoxc_core::{Loc, TensorSpec};
use smallvec::SmallVec;
use std::sync::Arc;

/// The type of a value: dtype and shape.
///
/// ```
/// use evoxc::{F32, dim, ir::parse_type, spec};
/// assert_eq!(parse_type("tensor<Bx4xf32>")?, spec(F32, (dim("B"), 4)));
/// # Ok::<(), evoxc::Error>(())
/// ```
pub type TensorType = TensorSpec;

/// Regions nest at most this deep.
pub const MAX_REGION_DEPTH: usize = 100;

/// A value of a function: an argument of one of its regions, or a result of one of its ops.
///
/// ```
/// use evoxc::{ir::Value, prelude::*};
/// let graph = trace(|x: Sym| -x, spec(F32, [2]))?;
/// let main = graph.module().main().unwrap();
/// assert_eq!((main.body.args[0], main.body.results[0]), (Value(0), Value(1)));
/// assert_eq!(*main.ty(Value(1)), spec(F32, [2]));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// The index into [`Func::values`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value's name, as the user wrote it. Names never take part in equality or hashes of graphs.
///
/// ```
/// use evoxc::prelude::*;
/// #[defn]
/// fn f(x: Sym) -> Sym {
///     let doubled = x + x;
///     doubled.exp()
/// }
/// let graph = trace(f, spec(F32, [2]))?;
/// let main = graph.module().main().unwrap();
/// assert_eq!(main.values[1].name.as_deref(), Some("doubled"));
/// # Ok::<(), evoxc::Error>(())
/// ```
pub type Name = Arc<str>;

/// What is known of a value.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(|x: Sym| x.sum(..), spec(F32, [2]))?;
/// let values = &graph.module().main().unwrap().values;
/// assert_eq!((values[0].ty.clone(), values[1].ty.clone()), (spec(F32, [2]), spec(F32, [])));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValueInfo {
    /// Its type.
    pub ty: TensorType,
    /// Its name, if it has one.
    pub name: Option<Name>,
}

/// One op: a primitive, its operands, results and regions, and where the user wrote it.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(|x: Sym| x.exp().sum(0), spec(F32, [2]))?;
/// let [exp, sum] = graph.ops() else { panic!() };
/// assert_eq!((exp.prim.name(), sum.prim.name()), ("exp".into(), "reduce_sum".into()));
/// assert_eq!(sum.operands, exp.results);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Op {
    /// The primitive and its attributes.
    pub prim: Prim,
    /// Operands, defined before, in this region or one around it.
    pub operands: SmallVec<[Value; 3]>,
    /// Results.
    pub results: SmallVec<[Value; 1]>,
    /// Regions, in the order of the primitive's documentation.
    pub regions: Vec<Region>,
    /// Where the user wrote it.
    pub loc: Option<Loc>,
}

/// A block of ops with arguments; it ends by giving its results. It may use values of the regions around it.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(|x: Sym| cond(x.gt(0.0), || x, || -x), spec(F32, []))?;
/// let [then, otherwise] = graph.ops().last().unwrap().regions.as_slice() else { panic!() };
/// assert_eq!((then.ops.len(), otherwise.ops.len()), (0, 1));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Arguments.
    pub args: Vec<Value>,
    /// Ops, in execution order.
    pub ops: Vec<Op>,
    /// What the region gives.
    pub results: Vec<Value>,
}

/// A function: a region without captures, and the table of all values in it.
///
/// ```
/// use evoxc::ir::{Func, Module, Op, Prim, Unary};
/// use evoxc::{F32, Graph, spec};
/// let mut f = Func::new("f");
/// let (x, y) = (f.value(spec(F32, [2]), None), f.value(spec(F32, [2]), None));
/// let exp = Prim::Unary(Unary::Exp);
/// f.body.args.push(x);
/// f.body.ops.push(Op { prim: exp, operands: vec![x].into(), results: vec![y].into(), regions: vec![], loc: None });
/// f.body.results.push(y);
/// let graph = Graph::from_module(Module { funcs: vec![f], ..Module::default() })?;
/// assert_eq!(graph.output_specs(), [spec(F32, [2])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Func {
    /// Its name, unique in the module.
    pub name: String,
    /// Every value of the body and the regions inside it.
    pub values: Vec<ValueInfo>,
    /// Arguments, ops, results.
    pub body: Region,
}

impl Func {
    /// A function without arguments, ops or results.
    pub fn new(name: impl Into<String>) -> Func {
        Func { name: name.into(), ..Func::default() }
    }
    /// A new value.
    pub fn value(&mut self, ty: TensorType, name: Option<Name>) -> Value {
        self.values.push(ValueInfo { ty, name });
        Value((self.values.len() - 1) as u32)
    }
    /// The type of a value of this function.
    pub fn ty(&self, v: Value) -> &TensorType {
        &self.values[v.index()].ty
    }
    /// The types of the arguments.
    pub fn inputs(&self) -> Vec<TensorType> {
        self.body.args.iter().map(|&v| self.ty(v).clone()).collect()
    }
    /// The types of the results.
    pub fn outputs(&self) -> Vec<TensorType> {
        self.body.results.iter().map(|&v| self.ty(v).clone()).collect()
    }
}

/// A program: functions, the first of which is its entry.
///
/// ```
/// use evoxc::{ir::Module, prelude::*};
/// let text = "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = evoxc.exp(%x) : tensor<2xf32>\n  return %y\n}";
/// let module = Module::parse(text)?;
/// module.verify()?;
/// assert_eq!(&module, trace(|x: Sym| x.exp(), spec(F32, [2]))?.module());
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Functions; the first is the entry.
    pub funcs: Vec<Func>,
    /// Static values that the program was specialised to, as (name, text); no part of its equality.
    pub statics: Vec<(String, String)>,
    /// Remarks for the reader, such as a very large constant; no part of its equality.
    pub notes: Vec<String>,
}

impl Module {
    /// The function of that name.
    pub fn func(&self, name: &str) -> Option<&Func> {
        self.funcs.iter().find(|f| f.name == name)
    }
    /// The entry; `None` in a module without functions.
    pub fn main(&self) -> Option<&Func> {
        self.funcs.first()
    }
}
