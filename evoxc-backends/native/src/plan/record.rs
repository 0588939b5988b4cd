//! What a run spends its time on: one entry for every step that is done, for profiles.

use super::memory::Frame;
use super::steps::{Plan, Step};
use crate::artifact::kernel_items;
use crate::schedule::KernelItem;
use evoxc_core::{Dim, Loc};
use evoxc_stage::{Profile, ProfileStep};
use std::time::{Duration, Instant};

/// The steps of a run so far.
pub(crate) struct Recorder<'p> {
    plan: &'p Plan,
    items: Vec<&'p KernelItem>,
    begin: Instant,
    steps: Vec<ProfileStep>,
}

impl<'p> Recorder<'p> {
    pub fn new(plan: &'p Plan) -> Recorder<'p> {
        let items = kernel_items(&plan.schedule).into_iter().map(|(_, k)| k).collect();
        Recorder { plan, items, steps: Vec::with_capacity(64), begin: Instant::now() }
    }

    /// A step of routine `number` has been done. `symbols` are its symbols and their values.
    pub fn step(
        &mut self,
        step: &Step,
        number: usize,
        symbols: (&[Dim], &[i64]),
        frame: &Frame,
        start: Instant,
        time: Duration,
    ) {
        let value = |d: Dim| {
            let at = |s: Dim| symbols.0.iter().position(|&k| k == s).map(|i| symbols.1[i]);
            d.evaluate(&mut |s| at(s)).map_or(0, |v| v.max(0) as u64)
        };
        let at = |loc: Option<Loc>| loc.map(|l| l.to_string()).unwrap_or_default();
        let (kind, name, place, bytes, flops) = match step {
            Step::Kernel(k) => {
                let Some(item) = self.items.get(k.item as usize) else { return };
                let types = self.plan.schedule.routines.get(number).map_or(&[][..], |r| &r.types);
                let (read, written) = item.bytes(types);
                let bytes = value(read).saturating_add(value(written));
                ("kernel", item.label.clone(), at(item.loc), bytes, value(item.flops()))
            }
            Step::Matmul(m) => {
                let flops = m.sizes(&frame.extents).iter().fold(2u64, |a, &n| a.saturating_mul(n));
                ("matmul", "dot".into(), at(m.loc), m.bytes(&frame.extents), flops)
            }
            Step::Update(u) => ("update", "dynamic_update_slice".into(), at(u.loc), u.bytes(frame), 0),
            Step::Library(l) => ("library", l.name.clone(), at(l.loc), 0, 0),
            Step::Fill(f) => ("fill", "constant".into(), String::new(), f.bytes.size(&frame.extents) as u64, 0),
            // What they run is listed itself.
            Step::Choose(_) | Step::While(_) | Step::Scan(_) | Step::Call(_) => return,
        };
        let start = start.saturating_duration_since(self.begin);
        self.steps.push(ProfileStep { name, kind, place, start, time, bytes, flops });
    }

    /// The run has ended.
    pub fn end(self) -> Profile {
        Profile { total: self.begin.elapsed(), steps: self.steps }
    }
}
