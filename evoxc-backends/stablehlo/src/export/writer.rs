//! Writing ops one after the other: names of values, indentation, locations, regions.

use super::{ExportOptions, Outcome, constant, text};
use evoxc_core::{DType, Dim, IntoShape, Loc, OpError, Scalar, Shape, Tensor, spec};
use evoxc_ir::{Binary, Func, Literal, Op, Prim, TensorType, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use std::rc::Rc;

/// A value as it is written: its name with the `%`, and its type.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) name: Rc<str>,
    pub(super) ty: TensorType,
}

impl Val {
    pub(super) fn dtype(&self) -> DType {
        self.ty.dtype
    }
    pub(super) fn shape(&self) -> &Shape {
        &self.ty.shape
    }
    pub(super) fn rank(&self) -> usize {
        self.ty.shape.rank()
    }
    /// The same shape with elements of another dtype.
    pub(super) fn like(&self, dtype: DType) -> TensorType {
        spec(dtype, &self.ty.shape)
    }
}

impl std::fmt::Display for Val {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// The text of one function as it grows.
pub(super) struct Writer<'m> {
    pub(super) options: &'m ExportOptions,
    pub(super) func: &'m Func,
    /// The names that the module's functions have in the text.
    pub(super) functions: &'m FxHashMap<&'m str, String>,
    pub(super) out: String,
    indent: usize,
    /// Regions around the op at hand.
    pub(super) depth: usize,
    pub(super) loc: Option<Loc>,
    /// How each value of the function is written.
    values: Vec<Option<Val>>,
    /// The constants among them.
    literals: FxHashMap<Value, Literal>,
    /// Integers among them that are surely from 0 to 63.
    small: FxHashSet<Value>,
    /// Values that are worked out from constants alone.
    settled: FxHashSet<Value>,
    taken: FxHashSet<String>,
    /// The next suffix to try of a name.
    suffixes: FxHashMap<String, usize>,
    numbers: usize,
    /// Extents that have been computed, in the regions that are open.
    pub(super) extents: Vec<(Dim, Val)>,
}

impl<'m> Writer<'m> {
    pub(super) fn new(
        options: &'m ExportOptions,
        func: &'m Func,
        functions: &'m FxHashMap<&'m str, String>,
    ) -> Writer<'m> {
        Writer {
            options,
            func,
            functions,
            out: String::new(),
            indent: 1,
            depth: 0,
            loc: None,
            values: vec![None; func.values.len()],
            literals: FxHashMap::default(),
            small: FxHashSet::default(),
            settled: FxHashSet::default(),
            taken: FxHashSet::default(),
            suffixes: FxHashMap::default(),
            numbers: 0,
            extents: vec![],
        }
    }

    /// The value of the function, as written.
    pub(super) fn get(&self, v: Value) -> Outcome<Val> {
        self.values
            .get(v.index())
            .cloned()
            .flatten()
            .ok_or_else(|| OpError::new("export", "a value is used before it is defined"))
    }
    /// Says how a value of the function is written.
    pub(super) fn set(&mut self, v: Value, val: Val) {
        if let Some(slot) = self.values.get_mut(v.index()) {
            *slot = Some(val);
        }
    }

    /// The literal that a value is, if it is a constant.
    pub(super) fn literal(&self, v: Value) -> Option<&Literal> {
        self.literals.get(&v)
    }
    /// Notes what is known of the results of an op: that they are constants, or small.
    pub(super) fn know(&mut self, o: &Op) {
        let small = match &o.prim {
            Prim::Constant { value } => {
                self.literals.extend(o.results.iter().map(|&v| (v, value.clone())));
                let wide = value.tensor().cast(DType::I64).ok().and_then(|t| t.to_vec::<i64>().ok());
                value.ty().dtype.is_int() && wide.is_some_and(|v| v.iter().all(|k| (0..64).contains(k)))
            }
            // Masked by such a constant.
            Prim::Binary(Binary::And) => o.operands.iter().any(|v| self.small.contains(v)),
            Prim::BroadcastInDim { .. } | Prim::Reshape { .. } => o.operands.iter().all(|v| self.small.contains(v)),
            _ => false,
        };
        if small {
            self.small.extend(&o.results);
        }
        if o.regions.is_empty() && o.operands.iter().all(|v| self.settled.contains(v)) {
            self.settled.extend(&o.results);
        }
    }
    /// An operand of an op, behind a barrier where compilers would fold the op, and fold it wrongly.
    pub(super) fn unfolded(&mut self, o: &Op, op: Binary, x: &Val) -> Val {
        let wrong = match op {
            Binary::Max | Binary::Min => x.dtype().is_float(),
            Binary::Div | Binary::Rem => x.dtype().is_int(),
            Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::Pow
            | Binary::Atan2
            | Binary::Nextafter
            | Binary::Mulhi
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::ShiftLeft
            | Binary::ShiftRightLogical
            | Binary::ShiftRightArithmetic
            | Binary::Complex => false,
        };
        if wrong { self.kept(o, x) } else { x.clone() }
    }
    /// An operand of an op, behind a barrier where all of its operands are worked out from constants.
    pub(super) fn kept(&mut self, o: &Op, x: &Val) -> Val {
        if !(self.options.unfolded && o.operands.iter().all(|v| self.settled.contains(v))) {
            return x.clone();
        }
        let ty = text::ty(&x.ty);
        self.op(&format!("stablehlo.optimization_barrier {x} : {ty}"), x.ty.clone())
    }
    /// Is it surely an integer from 0 to 63?
    pub(super) fn is_small(&self, v: Value) -> bool {
        self.small.contains(&v)
    }

    /// A name that no value of the function has yet.
    pub(super) fn unique(&mut self, base: &str) -> Rc<str> {
        let mut name = format!("%{base}");
        if !self.taken.insert(name.clone()) {
            let next = self.suffixes.entry(base.into()).or_insert(0);
            loop {
                name = format!("%{base}_{next}");
                *next += 1;
                if self.taken.insert(name.clone()) {
                    break;
                }
            }
        }
        name.into()
    }
    /// A new block argument.
    pub(super) fn argument(&mut self, base: &str, ty: &TensorType) -> Val {
        Val { name: self.unique(base), ty: ty.clone() }
    }
    fn number(&mut self) -> String {
        self.numbers += 1;
        format!("%{}", self.numbers - 1)
    }

    /// Writes one line at the current indentation.
    pub(super) fn line(&mut self, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
        self.out.push_str(text);
        self.out.push('\n');
    }
    /// The location of the op at hand, with a space before it; empty where none is wanted.
    pub(super) fn location(&self) -> String {
        match self.loc {
            Some(loc) if self.options.locations => {
                format!(" loc({}:{}:{})", text::string(loc.file()), loc.line, loc.column)
            }
            _ => String::new(),
        }
    }

    /// Writes an op of one result; `rhs` is all that follows the `=`.
    pub(super) fn op(&mut self, rhs: &str, ty: TensorType) -> Val {
        let name: Rc<str> = self.number().into();
        let line = format!("{name} = {rhs}{}", self.location());
        self.line(&line);
        Val { name, ty }
    }
    /// Names of several results, and how they stand before the `=`.
    pub(super) fn results(&mut self, types: &[TensorType]) -> (String, Vec<Val>) {
        match types {
            [] => (String::new(), vec![]),
            [one] => {
                let name: Rc<str> = self.number().into();
                (format!("{name} = "), vec![Val { name, ty: one.clone() }])
            }
            many => {
                let name = self.number();
                let each = |(i, ty): (usize, &TensorType)| Val { name: format!("{name}#{i}").into(), ty: ty.clone() };
                (format!("{name}:{} = ", many.len()), many.iter().enumerate().map(each).collect())
            }
        }
    }
    /// Writes an op of several results.
    pub(super) fn op_many(&mut self, rhs: &str, types: &[TensorType]) -> Vec<Val> {
        let (head, vals) = self.results(types);
        let line = format!("{head}{rhs}{}", self.location());
        self.line(&line);
        vals
    }

    /// An op whose operands and result have one type: `stablehlo.add %0, %1 : tensor<2xf32>`.
    pub(super) fn same(&mut self, name: &str, operands: &[&Val]) -> Outcome<Val> {
        let Some(first) = operands.first() else { return Err(OpError::new(name, "it has no operand")) };
        let ty = first.ty.clone();
        let rhs = format!("stablehlo.{name} {} : {}", text::list(operands), text::ty(&ty));
        Ok(self.op(&rhs, ty))
    }
    /// An op with its operands' types: `stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>`. `attributes` stand
    /// behind the operands.
    pub(super) fn typed(&mut self, name: &str, operands: &[&Val], attributes: &str, ty: TensorType) -> Val {
        let rhs = format!("stablehlo.{name} {}{attributes} : {}", text::list(operands), signature(operands, &ty));
        self.op(&rhs, ty)
    }
    /// An op in generic form, without regions: `"stablehlo.gather"(%0, %1) <{…}> : (…) -> …`.
    pub(super) fn generic(&mut self, name: &str, operands: &[&Val], attributes: &str, ty: TensorType) -> Val {
        let rhs =
            format!("\"stablehlo.{name}\"({}) <{{{attributes}}}> : {}", text::list(operands), signature(operands, &ty));
        self.op(&rhs, ty)
    }

    /// The beginning of an op with regions, up to the end of the line; the next lines stand one level deeper.
    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }
    /// A line between two regions of one op, such as `}, {`, outside of both.
    pub(super) fn between(&mut self, text: &str) {
        self.indent = self.indent.saturating_sub(1);
        self.line(text);
        self.indent += 1;
    }
    /// The end of an op with regions.
    pub(super) fn close(&mut self, text: &str) {
        self.indent = self.indent.saturating_sub(1);
        let line = format!("{text}{}", self.location());
        self.line(&line);
    }
    /// Runs `write` inside a region and writes the region's end with the values that it gives. Extents computed there
    /// are known there only.
    pub(super) fn region(&mut self, write: impl FnOnce(&mut Self) -> Outcome<Vec<Val>>) -> Outcome<Vec<TensorType>> {
        let (extents, loc) = (self.extents.len(), self.loc);
        self.depth += 1;
        let results = write(self)?;
        self.loc = loc;
        self.terminator("stablehlo.return", &results);
        self.depth -= 1;
        self.extents.truncate(extents);
        Ok(results.into_iter().map(|v| v.ty).collect())
    }
    /// `return %0 : tensor<2xf32>`.
    pub(super) fn terminator(&mut self, name: &str, results: &[Val]) {
        let mut line = String::from(name);
        if !results.is_empty() {
            let _ = write!(line, " {} : {}", text::list(results), text::list(results.iter().map(|v| text::ty(&v.ty))));
        }
        line.push_str(&self.location());
        self.line(&line);
    }
    /// The line that names the arguments of a region: `^bb0(%arg0: tensor<f32>):`, outside of the region's indentation.
    pub(super) fn block_arguments(&mut self, types: &[TensorType]) -> Vec<Val> {
        let args: Vec<Val> = types.iter().map(|t| self.argument("arg", t)).collect();
        let list = text::list(args.iter().map(|a| format!("{a}: {}", text::ty(&a.ty))));
        self.between(&format!("^bb0({list}):"));
        args
    }

    /// A constant.
    pub(super) fn constant(&mut self, l: &Literal) -> Val {
        let name = self.unique(if l.ty().dtype.is_int() || l.ty().dtype.is_bool() { "c" } else { "cst" });
        let line = format!("{name} = stablehlo.constant {}{}", constant::literal(l), self.location());
        self.line(&line);
        Val { name, ty: l.ty() }
    }
    /// A tensor as a constant.
    pub(super) fn dense(&mut self, t: Tensor) -> Val {
        self.constant(&Literal::Dense(t))
    }
    /// A scalar constant.
    pub(super) fn scalar(&mut self, dtype: DType, value: impl Into<Scalar>) -> Outcome<Val> {
        Ok(self.dense(number(dtype, value)?))
    }
    /// One number over the shape of a type, which may be symbolic.
    pub(super) fn splat(&mut self, ty: &TensorType, value: impl Into<Scalar>) -> Outcome<Val> {
        self.repeat(&number(ty.dtype, value)?, &ty.shape)
    }
    /// A scalar tensor over a shape, which may be symbolic.
    pub(super) fn repeat(&mut self, one: &Tensor, shape: &Shape) -> Outcome<Val> {
        if shape.is_static() {
            return Ok(self.constant(&Literal::Splat(one.clone(), shape.clone())));
        }
        let one = self.dense(one.clone());
        self.broadcast(&one, shape, &[])
    }
}

/// A scalar tensor.
pub(super) fn number(dtype: DType, value: impl Into<Scalar>) -> Outcome<Tensor> {
    Tensor::try_full(dtype, [0usize; 0].into_shape(), value).map_err(|e| OpError::new("constant", e.to_string()))
}

/// `(tensor<4xf32>) -> tensor<2x2xf32>`.
pub(super) fn signature(operands: &[&Val], ty: &TensorType) -> String {
    format!("{} -> {}", text::parens(operands.iter().map(|v| text::ty(&v.ty))), text::ty(ty))
}
