//! The programs that are merged: their live ops, what each of them reads, and the numbers under which equal ones are
//! found. Two ops have the same number exactly when they are equal; nothing is compared twice.

use super::alike::Alike;
use super::exact::once_a_row;
use super::options::SwitchOps;
use evoxc_core::OpError;
use evoxc_ir::{Func, Literal, Module, Op, Prim, Region, TensorType, Value};
use evoxc_trace::emitter;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What a value of a program is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Definition {
    Input(u32),
    /// A literal, by its number in [`Programs::literals`].
    Literal(u32),
    /// A result of a node, by its number among all results of the program.
    Result(u32),
}

/// A live op that is no constant.
pub(super) struct Node<'a> {
    pub op: &'a Op,
    /// The operands, then what the regions use from around them.
    pub uses: SmallVec<[Value; 3]>,
    /// The number of its first result.
    pub first: u32,
    /// The longest way from an input.
    pub height: u32,
    /// The number of the tree of types that computes it.
    pub skeleton: u32,
    /// The number of the op with its attributes and types; ops that may switch have one number.
    pub kind: u32,
    /// Has it regions, or is it a call?
    pub structured: bool,
    /// Is it computed once a row?
    pub each: bool,
}

/// A program.
pub(super) struct Program<'a> {
    pub module: &'a Module,
    pub func: &'a Func,
    pub definitions: Vec<Option<Definition>>,
    pub nodes: Vec<Node<'a>>,
    /// The number of results of all nodes.
    pub results: usize,
}

impl Program<'_> {
    /// The number of constants.
    pub fn constants(&self) -> usize {
        self.definitions.iter().filter(|d| matches!(d, Some(Definition::Literal(_)))).count()
    }
}

/// All programs.
pub(super) struct Programs<'a> {
    pub list: Vec<Program<'a>>,
    pub literals: Vec<&'a Literal>,
}

/// An op without its constants.
#[derive(PartialEq, Eq, Hash)]
struct Kind<'a> {
    name: KindName<'a>,
    /// The type of each operand, and whether it is a constant.
    operands: SmallVec<[(u32, bool); 3]>,
    results: SmallVec<[u32; 1]>,
}

#[derive(PartialEq, Eq, Hash)]
enum KindName<'a> {
    Op(&'a Prim),
    /// Any of a group.
    Switch(u8),
    /// With regions, or a call: what it does, as `Alike` numbers it.
    Structured(u32),
}

/// Gives equal things equal numbers.
#[derive(Default)]
struct Numbers<'a> {
    types: FxHashMap<&'a TensorType, u32>,
    kinds: FxHashMap<Kind<'a>, u32>,
    skeletons: FxHashMap<SmallVec<[u32; 4]>, u32>,
    literals: FxHashMap<&'a Literal, u32>,
    alike: Alike<'a>,
}

fn number<K: std::hash::Hash + Eq>(map: &mut FxHashMap<K, u32>, k: K) -> u32 {
    let next = map.len() as u32;
    *map.entry(k).or_insert(next)
}

impl<'a> Programs<'a> {
    /// Reads the programs.
    ///
    /// # Errors
    /// An op with an effect, and its program.
    pub fn read(modules: impl Iterator<Item = &'a Module>, switch: &SwitchOps) -> Result<Programs<'a>, OpError> {
        let mut numbers = Numbers::default();
        let mut out = Programs { list: vec![], literals: vec![] };
        for (i, module) in modules.enumerate() {
            pure(i, module)?;
            if let Some(func) = module.main() {
                out.list.push(numbers.program(module, func, switch, &mut out.literals));
            }
        }
        Ok(out)
    }
    /// The types of the inputs that all programs have.
    pub fn inputs(&self) -> Vec<TensorType> {
        self.list.first().map(|p| p.func.inputs()).unwrap_or_default()
    }
}

/// Refuses effects: rows of different programs have no common order.
fn pure(i: usize, module: &Module) -> Result<(), OpError> {
    fn effect(r: &Region) -> Option<&Op> {
        r.ops.iter().find_map(|op| if op.prim.has_effect() { Some(op) } else { op.regions.iter().find_map(effect) })
    }
    match module.funcs.iter().find_map(|f| effect(&f.body)) {
        None => Ok(()),
        Some(op) => {
            let message = format!("program {i} has an effect, and merged programs run in no order");
            Err(OpError::new(op.prim.name(), message).remedy("leave the op out of programs that are merged").at(op.loc))
        }
    }
}

impl<'a> Numbers<'a> {
    fn program(
        &mut self,
        module: &'a Module,
        func: &'a Func,
        switch: &SwitchOps,
        literals: &mut Vec<&'a Literal>,
    ) -> Program<'a> {
        let n = func.values.len();
        let mut p = Program { module, func, definitions: vec![None; n], nodes: vec![], results: 0 };
        // Height and skeleton of every value.
        let mut known: Vec<(u32, u32)> = vec![(0, 0); n];
        for (i, v) in func.body.args.iter().enumerate() {
            p.definitions[v.index()] = Some(Definition::Input(i as u32));
            let ty = number(&mut self.types, func.ty(*v));
            known[v.index()] = (0, number(&mut self.skeletons, SmallVec::from_slice(&[ty])));
        }
        let captured = live(func);
        for (op, captured) in func.body.ops.iter().zip(captured) {
            let Some(captured) = captured else { continue };
            if let (Prim::Constant { value }, &[result]) = (&op.prim, op.results.as_slice()) {
                let id = number(&mut self.literals, value);
                if id as usize == literals.len() {
                    literals.push(value);
                }
                p.definitions[result.index()] = Some(Definition::Literal(id));
                continue;
            }
            let uses: SmallVec<[Value; 3]> = op.operands.iter().copied().chain(captured).collect();
            let constant = |v: &Value| matches!(p.definitions[v.index()], Some(Definition::Literal(_)));
            let moving = || uses.iter().filter(|v| !constant(v)).map(|v| known[v.index()]);
            let height = moving().map(|k| k.0 + 1).max().unwrap_or(0);
            let results: SmallVec<[u32; 1]> = op.results.iter().map(|v| number(&mut self.types, func.ty(*v))).collect();
            let tree = results.iter().copied().chain([u32::MAX]).chain(moving().map(|k| k.1)).collect();
            let skeleton = number(&mut self.skeletons, tree);
            let structured = !op.regions.is_empty() || matches!(op.prim, Prim::Call { .. });
            let each = once_a_row(module, op);
            let name = if structured {
                KindName::Structured(self.alike.op(module, func, op))
            } else {
                switch.group(&op.prim).map_or(KindName::Op(&op.prim), KindName::Switch)
            };
            // Ops that may switch differ in their constants, too.
            let any_constants = matches!(name, KindName::Switch(_));
            let operands = uses
                .iter()
                .map(|v| (number(&mut self.types, func.ty(*v)), constant(v)))
                .filter(|(_, constant)| !(any_constants && *constant))
                .collect();
            let kind = number(&mut self.kinds, Kind { name, operands, results });
            for (i, v) in op.results.iter().enumerate() {
                p.definitions[v.index()] = Some(Definition::Result((p.results + i) as u32));
                // Results of one op are told apart.
                let own = if i == 0 {
                    skeleton
                } else {
                    number(&mut self.skeletons, SmallVec::from_slice(&[u32::MAX, skeleton, i as u32]))
                };
                known[v.index()] = (height, own);
            }
            p.nodes.push(Node { op, uses, first: p.results as u32, height, skeleton, kind, structured, each });
            p.results += op.results.len();
        }
        p
    }
}

/// For every op of the body: what its regions use from around them, or `None` when nothing needs it.
fn live(func: &Func) -> Vec<Option<Vec<Value>>> {
    let mut used = vec![false; func.values.len()];
    let body = &func.body;
    body.results.iter().for_each(|v| used[v.index()] = true);
    let mut out: Vec<Option<Vec<Value>>> = body
        .ops
        .iter()
        .rev()
        .map(|op| {
            if !op.results.iter().any(|v| used[v.index()]) {
                return None;
            }
            let mut captured = vec![];
            for v in op.regions.iter().flat_map(emitter::captures) {
                if !captured.contains(&v) {
                    captured.push(v);
                }
            }
            op.operands.iter().chain(&captured).for_each(|v| used[v.index()] = true);
            Some(captured)
        })
        .collect();
    out.reverse();
    out
}
