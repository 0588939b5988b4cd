//! The signature that travels with a program through all stages and their files: types and trees of its inputs and
//! outputs.

use crate::check::Checks;
use evoxc_core::{Device, Dim, IrError, OpError, Result, Tensor, TensorSpec, Tree, TreeDef, TreeError};
use evoxc_ir::Module;

/// Types and structure of a program's inputs and outputs.
///
/// ```
/// use evoxc::{Signature, prelude::*};
/// let exe = build(|x: Sym, y: Sym| (x + y, x.sum(..)), (spec(F32, [2]), spec(F32, [2])), &Interp)?;
/// let signature: &Signature = exe.signature();
/// assert_eq!(signature.outputs, [spec(F32, [2]), spec(F32, [])]);
/// assert_eq!(signature.input_tree.paths(), ["0", "1"]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The type of every input, in order.
    pub inputs: Vec<TensorSpec>,
    /// The type of every output, in order.
    pub outputs: Vec<TensorSpec>,
    /// The structure of the inputs.
    pub input_tree: TreeDef,
    /// The structure of the outputs.
    pub output_tree: TreeDef,
}

impl Signature {
    /// A signature whose trees have as many leaves as there are types.
    ///
    /// # Errors
    /// [`TreeError`] for another number of leaves.
    pub fn new(
        inputs: Vec<TensorSpec>,
        outputs: Vec<TensorSpec>,
        input_tree: TreeDef,
        output_tree: TreeDef,
    ) -> Result<Signature> {
        for (what, specs, tree) in [("inputs", &inputs, &input_tree), ("outputs", &outputs, &output_tree)] {
            if specs.len() != tree.leaf_count() {
                let (expected, got) = (format!("{} leaves", specs.len()), format!("{} leaves", tree.leaf_count()));
                return Err(TreeError { path: what.into(), expected, got }.into());
            }
        }
        Ok(Signature { inputs, outputs, input_tree, output_tree })
    }

    /// The values of the symbolic extents that arguments give, which were flattened to `args` and `tree`.
    ///
    /// # Errors
    /// [`RunError`](evoxc_core::RunError) for an argument that does not fit, wherever it is.
    pub fn bind(&self, args: &[Tensor], tree: &TreeDef) -> Result<Vec<(Dim, i64)>> {
        let devices = self.inputs.iter().zip(args).map(|(spec, arg)| {
            // Where the program will run is not known here: any place that the spec does not exclude will do.
            TensorSpec { device: spec.device.or(Some(arg.device())), ..spec.clone() }
        });
        let placed = Signature { inputs: devices.collect(), ..self.clone() };
        let complete = placed.inputs.len() == self.inputs.len();
        let signature = if complete { &placed } else { self };
        Checks::new(signature, Device::cpu()).bind(signature, args, tree)
    }

    /// The signature of a module's entry, under these structures.
    ///
    /// # Errors
    /// A module without functions, and [`TreeError`] for another number of leaves.
    pub(crate) fn of(module: &Module, input_tree: TreeDef, output_tree: TreeDef) -> Result<Signature> {
        let main = module.main().ok_or_else(|| IrError {
            function: "main".into(),
            index: None,
            op: OpError::new("module", "it has no function").remedy("add an entry function"),
        })?;
        Signature::new(main.inputs(), main.outputs(), input_tree, output_tree)
    }

    /// The same signature, if its trees can be an `I` and an `O`. Static values that came from a file as text become
    /// values again, where their type is a plain number or `bool`.
    ///
    /// # Errors
    /// [`TreeError`] where the structures differ.
    pub(crate) fn typed<I: Tree<TensorSpec>, O: Tree<TensorSpec>>(&self) -> Result<Signature> {
        Ok(Signature {
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            input_tree: live::<I>(&self.input_tree, &self.inputs)?,
            output_tree: live::<O>(&self.output_tree, &self.outputs)?,
        })
    }

    /// The same signature with the structures of live trees, whose static values need not be plain.
    ///
    /// # Errors
    /// [`TreeError`] where structures or types differ.
    pub(crate) fn typed_like(
        &self,
        inputs: impl Tree<TensorSpec>,
        outputs: impl Tree<TensorSpec>,
    ) -> Result<Signature> {
        let (ins, input_tree) = TreeDef::flatten(inputs);
        let (outs, output_tree) = TreeDef::flatten(outputs);
        like(&self.input_tree, &self.inputs, &input_tree, &ins)?;
        like(&self.output_tree, &self.outputs, &output_tree, &outs)?;
        Ok(Signature { inputs: self.inputs.clone(), outputs: self.outputs.clone(), input_tree, output_tree })
    }
}

/// The structure with live static values, by building the tree and taking it apart.
fn live<T: Tree<TensorSpec>>(tree: &TreeDef, specs: &[TensorSpec]) -> Result<TreeDef> {
    let t: T = tree.unflatten(specs.to_vec())?;
    let (_, live) = TreeDef::flatten(t);
    tree.difference(&live).map_or(Ok(live), |e| Err(e.into()))
}

fn like(tree: &TreeDef, specs: &[TensorSpec], given: &TreeDef, given_specs: &[TensorSpec]) -> Result<()> {
    if let Some(e) = tree.difference(given) {
        return Err(e.into());
    }
    let different = specs.iter().zip(given_specs).position(|(a, b)| a.dtype != b.dtype || a.shape != b.shape);
    match different.and_then(|i| Some((i, specs.get(i)?, given_specs.get(i)?))) {
        None => Ok(()),
        Some((i, a, b)) => {
            let path = tree.paths().into_iter().nth(i).unwrap_or_default();
            Err(TreeError { path, expected: a.to_string(), got: b.to_string() }.into())
        }
    }
}
