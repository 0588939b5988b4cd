//! Probes inside a loop: the values of the first iterations become part of the loop's state.

use crate::import::attrs::find;
use crate::import::fault::Done;
use crate::import::walk::{Importer, Looped};
use crate::syntax::ast::{Attr, Op, Region};
use evoxc_core::{DType, Dim, Scalar, Shape, TensorSpec};
use evoxc_ir::{Binary, Prim};
use evoxc_trace::Sym;

/// At most this many iterations are kept.
const MAX_KEPT: i64 = 1 << 16;

/// A probe of a loop's body: its id, and how many iterations are kept.
pub struct Probe {
    id: String,
    kept: i64,
}

impl<'m, 'a> Importer<'m, 'a> {
    /// The probes that stand in a loop's body; the state gets a counter and a buffer for each.
    pub fn probes_in(&self, op: &Op<'a>, body: &Region<'a>, state: &mut Vec<Sym>) -> Done<Vec<Probe>> {
        let mut found = vec![];
        if !self.options.checks || self.regions > 0 {
            return Ok(found);
        }
        let mut buffers = vec![];
        for probe in body.ops.iter().filter(|op| op.name == "interpreter.probe") {
            let Some(Attr::Str(id)) = find(&probe.attrs, "probe_id") else { continue };
            let kept = self.iterations(id).clamp(0, MAX_KEPT);
            let ty = self.static_result(probe, 0)?;
            // One more takes what all later iterations write.
            let shape: Shape = std::iter::once(Dim::constant(kept + 1)).chain(ty.shape.iter().copied()).collect();
            buffers.push(self.sound(op, evoxc_trace::zeros(ty.dtype, shape))?);
            found.push(Probe { id: id.to_string(), kept });
        }
        if !found.is_empty() {
            state.push(self.sound(op, evoxc_trace::zeros(DType::I32, ()))?);
            state.extend(buffers);
        }
        Ok(found)
    }
    /// How many iterations of a probe the entry checks.
    fn iterations(&self, id: &str) -> i64 {
        let Some(body) = self.frames.last().and_then(|f| f.func.body.as_ref()) else { return 0 };
        let mine = |op: &&Op| {
            op.name == "check.expect_serialized_eq"
                && matches!(find(&op.attrs, "probe_id"), Some(Attr::Str(s)) if *s == id)
        };
        let last = |op: &Op| match find(&op.attrs, "iteration").or(find(&op.attrs, "iter")) {
            Some(Attr::Int(n)) => i64::try_from(*n).unwrap_or(MAX_KEPT).saturating_add(1),
            _ => 1,
        };
        body.ops.iter().filter(mine).map(last).max().unwrap_or(0)
    }
    /// Begins to watch: the loop's body is open, with these values as the last of its state.
    pub fn watch(&mut self, probes: &[Probe], state: &[Sym]) {
        if let Some((&counter, buffers)) = state.split_first() {
            let seen = probes.iter().zip(buffers).map(|(p, &b)| (p.id.clone(), b)).collect();
            self.records.looped = Some(Looped { regions: self.regions, counter, seen });
        }
    }
    /// Writes a probed value into its buffer, inside of a loop that is watched.
    pub fn record_in_loop(&mut self, op: &Op, id: &str, x: Sym) -> Done<bool> {
        let regions = self.regions;
        let Some(looped) = self.records.looped.as_ref().filter(|l| l.regions == regions) else { return Ok(false) };
        let (counter, found) = (looped.counter, looped.seen.iter().position(|(name, _)| name == id));
        let Some((at, buffer)) = found.and_then(|at| Some((at, looped.seen.get(at)?.1))) else { return Ok(false) };
        let ty: TensorSpec = self.ty(op, x)?;
        let shape: Shape = std::iter::once(Dim::constant(1)).chain(ty.shape.iter().copied()).collect();
        let row = self.emit(op, Prim::Reshape { shape }, &[x])?;
        let zero = self.sound(op, evoxc_trace::zeros(DType::I32, ()))?;
        let starts = std::iter::once(counter).chain(std::iter::repeat_n(zero, ty.rank()));
        let operands: Vec<Sym> = [buffer, row].into_iter().chain(starts).collect();
        let written = self.emit(op, Prim::DynamicUpdateSlice {}, &operands)?;
        if let Some(slot) = self.records.looped.as_mut().and_then(|l| l.seen.get_mut(at)) {
            slot.1 = written;
        }
        Ok(true)
    }
    /// The last values of a watched loop's state, at the end of its body; nothing at the end of other regions.
    pub fn probed(&mut self, op: &Op) -> Done<Vec<Sym>> {
        let regions = self.regions;
        match self.records.looped.take_if(|l| l.regions == regions) {
            Some(looped) => {
                let one = self.sound(op, evoxc_trace::full(DType::I32, (), Scalar::Int(1)))?;
                let next = self.emit(op, Prim::Binary(Binary::Add), &[looped.counter, one])?;
                Ok(std::iter::once(next).chain(looped.seen.into_iter().map(|(_, s)| s)).collect())
            }
            None => Ok(vec![]),
        }
    }
    /// The iterations that probes have seen, once the loop is done.
    pub fn watched(&mut self, op: &Op, probes: &[Probe], results: &[Sym]) -> Done<()> {
        for (probe, &buffer) in probes.iter().zip(results.iter().skip(1)) {
            let shape = self.shape(op, buffer)?;
            for k in 0..probe.kept {
                let mut start = vec![Dim::constant(0); shape.rank()];
                let mut limit = shape.to_vec();
                if let (Some(s), Some(l)) = (start.first_mut(), limit.first_mut()) {
                    (*s, *l) = (Dim::constant(k), Dim::constant(k + 1));
                }
                let stride = vec![1; shape.rank()];
                let row = self.emit(op, Prim::Slice { start, limit, stride }, &[buffer])?;
                let inner: Shape = shape.iter().skip(1).copied().collect();
                let value = self.emit(op, Prim::Reshape { shape: inner }, &[row])?;
                self.records.probes.entry(probe.id.clone()).or_default().push(value);
            }
        }
        Ok(())
    }
}
