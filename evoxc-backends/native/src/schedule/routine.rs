//! The functions of a module that are called at run time, each as a routine.

use super::block::Maker;
use super::facts::Facts;
use super::inline::inlined;
use super::{Routine, Schedule};
use evoxc_core::OpError;
use evoxc_ir::{Func, Module};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The routines of a module, its entry first.
pub(super) fn routines(module: &Module, apart: bool) -> Result<Schedule, OpError> {
    let funcs = inlined(module);
    let mut order = Routines { funcs: &funcs, numbers: FxHashMap::default(), order: vec![] };
    let mut done = Vec::new();
    if let Some(main) = module.main() {
        order.number(&main.name)?;
    }
    while let Some(&func) = order.order.get(done.len()) {
        done.push(routine(func, &mut order, apart)?);
    }
    Ok(Schedule { routines: done })
}

/// Which functions are called, numbered in the order in which they are met.
pub(super) struct Routines<'m> {
    funcs: &'m FxHashMap<&'m str, Cow<'m, Func>>,
    numbers: FxHashMap<&'m str, usize>,
    order: Vec<&'m Func>,
}

impl<'m> Routines<'m> {
    /// The number of the function of that name.
    pub(super) fn number(&mut self, name: &str) -> Result<usize, OpError> {
        if let Some(&n) = self.numbers.get(name) {
            return Ok(n);
        }
        let func: &'m Func = self.funcs.get(name).ok_or_else(|| {
            OpError::new("call", format!("the module has no function @{name}")).remedy("verify the module first")
        })?;
        let n = self.order.len();
        self.order.push(func);
        self.numbers.insert(&func.name, n);
        Ok(n)
    }
}

fn routine<'m>(func: &'m Func, funcs: &mut Routines<'m>, apart: bool) -> Result<Routine, OpError> {
    let types = func.values.iter().map(|v| v.ty.clone()).collect();
    let mut maker = Maker::new(Facts::new(types), funcs, apart);
    let (body, _) = maker.block(&func.body)?;
    Ok(Routine { name: func.name.clone(), constants: maker.constants, types: maker.facts.types, body })
}
