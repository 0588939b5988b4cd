//! Parameters as one input, and on a device.

use crate::{Config, Error, Params, Result, param_specs};
use evoxc::prelude::*;
use evoxc::{Buffer, TreeDef};

/// Parameters beside each other in one flat vector a dtype (one, as loading gives every parameter one dtype).
#[derive(Tree, Clone, Debug)]
pub struct Packed<T> {
    /// All elements, parameter after parameter in the tree's order.
    pub data: T,
}

/// The parameters as one vector, bit for bit; [`unpack`] takes it apart again inside a graph. A copy of them all.
///
/// # Errors
/// Parameters of several dtypes, or that are not on the host.
///
/// ```no_run
/// use evoxc::prelude::*;
/// use evoxc_hf::{Packed, pack_params, packed_specs, unpack};
/// # fn main() -> evoxc::Result<()> {
/// let loaded = evoxc_hf::load("path/to/checkpoint")?;
/// let (forward, config) = (evoxc_hf::forward(&loaded.config, 32)?, loaded.config.clone());
/// let f = move |p: Packed<Sym>, ids: Sym| forward(unpack(&config, p), ids);
/// let exe = build(f, (packed_specs(&loaded.config), spec(I32, [1, 32])), &Native::default())?;
/// let logits = exe.run((pack_params(&loaded.params)?, Tensor::zeros(I32, [1, 32])))?;
/// # Ok(())
/// # }
/// ```
pub fn pack_params(params: &Params<Tensor>) -> Result<Packed<Tensor>> {
    let (leaves, _) = TreeDef::flatten(params.clone());
    let Some(first) = leaves.first() else { return Err(Error::Request("there are no parameters".into())) };
    let dtype = first.dtype();
    let mut bytes = Vec::with_capacity(leaves.iter().map(|t| t.len() * dtype.size()).sum());
    for t in &leaves {
        if t.dtype() != dtype {
            let message = format!("parameters of {dtype} and of {} do not go into one vector", t.dtype());
            return Err(Error::Request(message));
        }
        let own =
            t.bytes().ok_or_else(|| Error::Request(format!("a parameter is on {}, not on the host", t.device())))?;
        bytes.extend_from_slice(own);
    }
    let size = bytes.len() / dtype.size();
    let data = Buffer::from_le_bytes(dtype, &bytes).and_then(|b| Tensor::from_parts(b, &[size]));
    data.map(|data| Packed { data }).ok_or_else(|| Error::Request(format!("the parameters are no {dtype}")))
}

/// The specs of [`pack_params`].
pub fn packed_specs(config: &Config) -> Packed<TensorSpec> {
    let (leaves, _) = TreeDef::flatten(param_specs(config));
    let sizes = leaves.iter().filter_map(|s| s.shape.to_static());
    let size = sizes.fold(0usize, |sum, s| sum.saturating_add(s.iter().fold(1, |n: usize, d| n.saturating_mul(*d))));
    Packed { data: spec(config.dtype, [size]) }
}

/// The parameters out of one vector, inside a graph.
#[track_caller]
pub fn unpack(config: &Config, packed: Packed<Sym>) -> Params<Sym> {
    let mut at = 0;
    let leaf = |_: &str, shape: &[usize]| {
        let from = at;
        at = shape.iter().fold(1usize, |n, d| n.saturating_mul(*d)).saturating_add(from);
        Ok::<_, std::convert::Infallible>(packed.data.slice(s![from..at]).reshape(shape))
    };
    let Ok(params) = Params::try_build(config, leaf);
    params
}

/// The parameters on a device: the transfer that a device backend needs once, before many runs.
///
/// # Errors
/// No backend in use moves tensors there.
pub fn place_params(params: Params<Tensor>, device: Device) -> Result<Params<Tensor>> {
    let (leaves, def) = TreeDef::flatten(params);
    let moved = leaves.into_iter().map(|t| t.to(device)).collect::<evoxc::Result<Vec<_>>>()?;
    Ok(def.unflatten(moved)?)
}
