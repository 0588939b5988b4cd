//! Tangents of `scan`, and so of `fori_loop` and `map`.

use super::{captured, define, halves, tangents};
use crate::jvp::Jvp;
use crate::{instantiate, regions};
use evoxc_core::{Dim, OpError};
use evoxc_ir::{Op, Prim, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::{FxHashMap, FxHashSet};

/// A scan to be differentiated.
struct Scan<'a> {
    op: &'a Op,
    body: &'a Region,
    carry: usize,
    length: Dim,
    reverse: bool,
    /// The carries that have tangents.
    carries: Vec<usize>,
    /// The operands scanned that have tangents, counted from the first operand.
    scanned: Vec<usize>,
}

impl<'a> Scan<'a> {
    fn new(walk: &Jvp, op: &'a Op, live: &[bool]) -> Result<Scan<'a>, OpError> {
        let (Prim::Scan { carry, length, reverse }, [body]) = (&op.prim, op.regions.as_slice()) else {
            return Err(OpError::new("", "it has one region"));
        };
        let carry = (*carry).min(op.operands.len());
        let scanned = (carry..op.operands.len()).filter(|&i| walk.tangent.contains_key(&op.operands[i])).collect();
        let carries = (0..carry).filter(|&i| live[i]).collect();
        Ok(Scan { op, body, carry, length: *length, reverse: *reverse, carries, scanned })
    }
    fn prim(&self, carry: usize) -> Prim {
        Prim::Scan { carry, length: self.length, reverse: self.reverse }
    }
    /// The tangents of the initial carries, zeros where there is none.
    fn initial(&self, walk: &Jvp) -> Vec<Sym> {
        let of = |&i: &usize| {
            let v = self.op.operands[i];
            instantiate(walk.tangent.get(&v).copied(), walk.primal(v))
        };
        self.carries.iter().map(of).collect()
    }
    /// The tangents that are scanned.
    fn inputs(&self, walk: &Jvp) -> Vec<Sym> {
        self.scanned.iter().filter_map(|&i| walk.tangent.get(&self.op.operands[i]).copied()).collect()
    }
    fn types(&self, which: &[usize]) -> Vec<TensorType> {
        which.iter().map(|&i| emitter::ty(self.body.args[i])).collect()
    }
    fn enter(&self, walk: &mut Jvp, which: &[usize], tangents: &[Sym]) {
        walk.tangent.extend(which.iter().map(|&i| self.body.args[i]).zip(tangents.iter().copied()));
    }
}

/// One scan that carries, reads and stacks the tangents too.
pub(super) fn fused(walk: &mut Jvp, op: &Op, live: &[bool]) -> Result<(), OpError> {
    let s = Scan::new(walk, op, live)?;
    let types = emitter::types(&s.body.args);
    let (c, x) = types.split_at(s.carry);
    let lists = [c.to_vec(), s.types(&s.carries), x.to_vec(), s.types(&s.scanned)];
    let body = regions::region("body", &lists.concat(), |args| {
        let (carry, rest) = args.split_at(s.carry);
        let (carry_t, rest) = rest.split_at(s.carries.len());
        let (x, x_t) = rest.split_at(types.len() - s.carry);
        regions::bind(&mut walk.primal, &s.body.args, &[carry, x].concat());
        s.enter(walk, &s.carries, carry_t);
        s.enter(walk, &s.scanned, x_t);
        walk.region(s.body)?;
        let y = walk.primals(&s.body.results);
        let t = tangents(walk, &s.body.results, live);
        let ((c, y), (ct, yt)) = (y.split_at(s.carry), t.split_at(s.carries.len()));
        Ok([c, ct, y, yt].concat())
    })?;
    let x = walk.primals(&op.operands);
    let (init, xs) = x.split_at(s.carry);
    let operands = [init.to_vec(), s.initial(walk), xs.to_vec(), s.inputs(walk)].concat();
    let results = regions::emit(s.prim(s.carry + s.carries.len()), &operands, vec![body])?;
    let (c, rest) = results.split_at(s.carry);
    let (ct, rest) = rest.split_at(s.carries.len());
    let (y, yt) = rest.split_at(op.results.len() - s.carry);
    define(walk, op, live, &[c, y].concat(), &[ct, yt].concat());
    Ok(())
}

/// A scan of the primals, which also stacks what the linear scan after it needs of every step. What is the same in all
/// steps is computed once, before both; an operand that is scanned is scanned again.
pub(super) fn split(walk: &mut Jvp, op: &Op, live: &[bool]) -> Result<(), OpError> {
    let s = Scan::new(walk, op, live)?;
    let roots = captured(walk, op);
    let which = [s.carries.clone(), s.scanned.clone()].concat();
    let mut linear = None;
    let mut primal = regions::region("body", &emitter::types(&s.body.args), |args| {
        regions::bind(&mut walk.primal, &s.body.args, args);
        let h = halves(walk, s.body, &s.types(&which), roots, live, |walk, t| s.enter(walk, &which, t))?;
        let own: Vec<Value> = args.iter().filter_map(|&a| emitter::value(a)).collect();
        let mut out = walk.primals(&s.body.results).to_vec();
        out.extend(h.used.iter().filter(|v| own.contains(v) || h.made.contains(v)).map(|&v| emitter::sym(v)));
        linear = Some(h.linear);
        Ok(out)
    })?;
    let Some(linear) = linear else { return Ok(()) };
    let needed = primal.results.split_off(op.results.len());
    let stored = hoist(&mut primal, needed);
    // Of what is stored: scanned operands are there already, results are stacked already.
    let source = |v: &Value| {
        let arg = primal.args.iter().position(|a| a == v).filter(|&i| i >= s.carry);
        arg.map(Source::Operand).or_else(|| {
            let y = primal.results.iter().skip(s.carry).position(|r| r == v);
            y.map(|j| Source::Result(s.carry + j))
        })
    };
    let mut sources: Vec<Option<Source>> = stored.iter().map(source).collect();
    for (v, source) in stored.iter().zip(&mut sources) {
        source.get_or_insert_with(|| {
            primal.results.push(*v);
            Source::Result(primal.results.len() - 1)
        });
    }
    let x = walk.primals(&op.operands);
    let results = regions::emit(op.prim.clone(), &x, vec![primal])?;
    let stacks: Vec<Sym> = sources
        .iter()
        .flatten()
        .map(|s| match s {
            Source::Operand(i) => x[*i],
            Source::Result(i) => results[*i],
        })
        .collect();
    let lists = [s.types(&s.carries), emitter::types(&stored), s.types(&s.scanned)];
    let body = regions::region("body", &lists.concat(), |args| {
        let (carry, rest) = args.split_at(s.carries.len());
        let (kept, scanned) = rest.split_at(stored.len());
        let mut env = FxHashMap::default();
        regions::bind(&mut env, &stored, kept);
        regions::bind(&mut env, &linear.args, &[carry, scanned].concat());
        regions::replay(&linear, &mut env)
    })?;
    let operands = [s.initial(walk), stacks, s.inputs(walk)].concat();
    let t = regions::emit(s.prim(s.carries.len()), &operands, vec![body])?;
    define(walk, op, live, &results[..op.results.len()], &t);
    Ok(())
}

/// Where the linear scan finds a value of every step of the primal one.
#[derive(Clone, Copy)]
enum Source {
    Operand(usize),
    Result(usize),
}

/// Takes those ops out of the body that give the same in every step and that the linear scan needs, and puts them before
/// the scan; gives the other values that are needed.
fn hoist(body: &mut Region, needed: Vec<Value>) -> Vec<Value> {
    let mut variant: FxHashSet<Value> = body.args.iter().copied().collect();
    for op in &body.ops {
        // A loop that may not end is not to be run for a scan of no steps.
        let stays = regions::has_effect(op) || matches!(op.prim, Prim::WhileLoop {});
        if stays || regions::any_inside(op, regions::may_hang) || regions::uses(op).any(|v| variant.contains(&v)) {
            variant.extend(op.results.iter().copied());
        }
    }
    let (stored, same): (Vec<Value>, Vec<Value>) = needed.into_iter().partition(|v| variant.contains(v));
    let mut wanted: FxHashSet<Value> = same.into_iter().collect();
    for op in body.ops.iter().rev() {
        if op.results.iter().any(|v| wanted.contains(v)) {
            wanted.extend(regions::uses(op));
        }
    }
    let moves = |op: &Op| op.results.iter().any(|v| wanted.contains(v) && !variant.contains(v));
    let (hoisted, kept) = std::mem::take(&mut body.ops).into_iter().partition(moves);
    body.ops = kept;
    emitter::adopt(hoisted);
    stored
}
