//! Barriers, so that no fused kernel of IREE binds more buffers than its runtime takes (32).
//!
//! IREE fuses a chain of ops into one kernel, however many tensors it reads. Here every value counts the tensors that it
//! would be worked out from in one kernel; where an op would pass the limit, its operands are worked out before it.

use evoxc_ir::{Category, Func, Literal, Module, Op, Prim, Region, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Tensors that one kernel may read. Well below 32: kernels also write results, and functions are inlined, each with
/// tensors of its own.
const LIMIT: usize = 12;

/// The tensors that a value is worked out from, in order; none of a number that is known.
type Sources = SmallVec<[Value; 4]>;

/// The module with barriers where kernels would grow too large.
pub(crate) fn limit_buffers(module: &Module) -> Module {
    let mut module = module.clone();
    for func in &mut module.funcs {
        let mut body = std::mem::take(&mut func.body);
        region(func, &mut body);
        func.body = body;
    }
    module
}

/// Regions nest no deeper than the verifier allows.
fn region(func: &mut Func, r: &mut Region) {
    let mut sources: FxHashMap<Value, Sources> = FxHashMap::default();
    // What has been worked out behind a barrier, in this region.
    let mut ready: FxHashMap<Value, Value> = FxHashMap::default();
    let mut out = Vec::with_capacity(r.ops.len());
    for mut op in std::mem::take(&mut r.ops) {
        let mut all = union(&sources, &op.operands);
        if all.len() > LIMIT {
            for v in &mut op.operands {
                if of(&sources, *v).len() > 1 {
                    *v = *ready.entry(*v).or_insert_with(|| barrier(func, &mut out, *v));
                }
            }
            all = union(&sources, &op.operands);
        }
        let control = !op.regions.is_empty();
        // The bodies of other ops combine scalars, in a kernel of the op's own.
        if op.prim.category() == Category::Control {
            for inner in &mut op.regions {
                region(func, inner);
            }
        }
        let known = matches!(&op.prim, Prim::Constant { value: Literal::Splat(..) } | Prim::Iota { .. });
        // Where an op has more operands than the limit, or decides what runs, its results are tensors of their own.
        if !control && (known || !all.is_empty() && all.len() <= LIMIT) {
            for &v in &op.results {
                sources.insert(v, all.clone());
            }
        }
        out.push(op);
    }
    r.ops = out;
}

fn of(sources: &FxHashMap<Value, Sources>, v: Value) -> Sources {
    sources.get(&v).cloned().unwrap_or_else(|| smallvec![v])
}

fn union(sources: &FxHashMap<Value, Sources>, values: &[Value]) -> Sources {
    let mut all: Sources = values.iter().flat_map(|&v| of(sources, v)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The value behind a barrier.
fn barrier(func: &mut Func, out: &mut Vec<Op>, v: Value) -> Value {
    let result = func.value(func.ty(v).clone(), None);
    out.push(Op {
        prim: Prim::OptimizationBarrier {},
        operands: smallvec![v],
        results: smallvec![result],
        regions: vec![],
        loc: None,
    });
    result
}
