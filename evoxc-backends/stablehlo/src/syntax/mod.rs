//! The text of MLIR modules that hold StableHLO, CHLO and `func`, as one plain tree.
//!
//! It owns the grammar: whatever form an op was printed in, the tree has it in generic form. It knows no semantics.
//! The forms are a table, in `forms`; constants stay text until [`dense`] decodes them.

pub mod ast;
mod attr;
mod cursor;
pub mod dense;
mod fault;
mod forms;
mod location;
mod module;
mod op;
mod parser;
mod pretty;
mod settle;
mod show;
mod signature;
mod special;
mod split;
mod types;

pub use fault::error_at;
pub use split::{Chunk, split};

use evoxc_core::Result;

/// Reads a module, or functions without one.
///
/// ```
/// let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
///   %0 = stablehlo.add %x, %x : tensor<2xf32>
///   return %0 : tensor<2xf32>
/// }";
/// let module = evoxc_stablehlo::syntax::parse(text)?;
/// let ops = &module.funcs[0].body.as_ref().unwrap().ops;
/// assert_eq!((ops[0].name.as_ref(), ops[1].name.as_ref()), ("stablehlo.add", "func.return"));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// [`evoxc_core::ParseError`], with the line and the column.
pub fn parse(text: &str) -> Result<ast::Module<'_>> {
    let mut parser = parser::Parser::new(text);
    let read = parser.module().and_then(|mut module| {
        parser.settle(&mut module)?;
        Ok(module)
    });
    read.map_err(|fault| fault.into_error(text))
}
