//! Random bits.

use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::Op;
use evoxc_core::Unsupported;

pub fn rng_bit_generator<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let m = "the specification does not say which bits an algorithm gives";
    Err(i.unsupported(op, Unsupported::Random, m, "export with a generator of plain ops (JAX: threefry2x32)"))
}
