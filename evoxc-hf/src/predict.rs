//! Host arrays in, host arrays out.

use crate::config::Model;
use crate::{Error, Loaded, Params, Result, Runner, bert, encode, encode_specs, forward, specs};
use evoxc::Backend;
use evoxc::prelude::*;
use ndarray::{Array2, Array3, ArrayView2, Ix2, Ix3};

/// A decoder compiled for batches and sequences of any size.
///
/// ```no_run
/// use evoxc_hf::{Predictor, load};
/// # fn main() -> evoxc::Result<()> {
/// let predictor = Predictor::new(&load("path/to/checkpoint")?, &evoxc::Native::default())?;
/// let logits = predictor.predict(ndarray::array![[1, 2, 3]].view())?; // [1, 3, vocab]
/// # Ok(())
/// # }
/// ```
pub struct Predictor {
    exe: Runner<(Params<Tensor>, Tensor), Tensor>,
    loaded: Loaded,
}

impl Predictor {
    /// Compiles the forward pass.
    ///
    /// # Errors
    /// The model is an encoder; what compiling reports.
    pub fn new<B: Backend>(loaded: &Loaded, backend: &B) -> Result<Predictor> {
        let (b, t) = (dim("batch"), dim("length"));
        let exe = Runner::new(forward(&loaded.config, t)?, specs(&loaded.config, b, t), backend)?;
        Ok(Predictor { exe, loaded: loaded.clone() })
    }
    /// The logits `[B, T, vocab]` of ids `[B, T]`.
    ///
    /// # Errors
    /// [`Error::Request`] for rows longer than the model's positions, and tokens outside of its vocabulary; what running
    /// reports.
    pub fn predict(&self, ids: ArrayView2<i32>) -> Result<Array3<f32>> {
        check(&self.loaded, ids, self.loaded.config.vocab_size())?;
        let out = self.exe.run((self.loaded.params.clone(), Tensor::from(ids.to_owned())))?;
        shaped::<Ix3>(out)
    }
}

fn shaped<D: ndarray::Dimension>(t: Tensor) -> Result<ndarray::Array<f32, D>> {
    // Of a model in f64, it is of f64.
    let t = t.cast(F32)?.into_ndarray::<f32>()?;
    t.into_dimensionality().map_err(|e| Error::Request(format!("the result has another rank: {e}")))
}

/// Are the tokens the model's?
fn check(loaded: &Loaded, ids: ArrayView2<i32>, vocab: usize) -> Result<()> {
    let most = loaded.config.max_positions();
    if ids.ncols() > most {
        return Err(Error::Request(format!("rows of {} tokens, for a model of {most} positions", ids.ncols())));
    }
    match ids.iter().find(|&&i| !usize::try_from(i).is_ok_and(|i| i < vocab)) {
        Some(i) => Err(Error::Request(format!("the token {i} is outside of the vocabulary of {vocab}"))),
        None => Ok(()),
    }
}

/// An encoder compiled for batches and sequences of any size.
pub struct Encoder {
    exe: Runner<(Params<Tensor>, bert::Input<Tensor>), bert::Output<Tensor>>,
    loaded: Loaded,
}

impl Encoder {
    /// Compiles the encoder.
    ///
    /// # Errors
    /// The model is a decoder; what compiling reports.
    pub fn new<B: Backend>(loaded: &Loaded, backend: &B) -> Result<Encoder> {
        let (b, t) = (dim("batch"), dim("length"));
        let exe = Runner::new(encode(&loaded.config, t)?, encode_specs(&loaded.config, b, t), backend)?;
        Ok(Encoder { exe, loaded: loaded.clone() })
    }
    /// The encoder's outputs for ids, masks and types `[B, T]`.
    ///
    /// # Errors
    /// [`Error::Request`] for inputs of different shapes, rows longer than the model's positions, and tokens or types that it
    /// does not have; what running reports.
    pub fn encode(
        &self,
        ids: ArrayView2<i32>,
        mask: ArrayView2<i32>,
        kinds: ArrayView2<i32>,
    ) -> Result<bert::Output<Tensor>> {
        if mask.dim() != ids.dim() || kinds.dim() != ids.dim() {
            let message = format!("ids are {:?}, the mask {:?}, the types {:?}", ids.dim(), mask.dim(), kinds.dim());
            return Err(Error::Request(message));
        }
        check(&self.loaded, ids, self.loaded.config.vocab_size())?;
        if let Model::Bert(c) = &self.loaded.config.model {
            check(&self.loaded, kinds, c.kinds)?;
        }
        let own = |a: ArrayView2<i32>| Tensor::from(a.to_owned());
        let input = bert::Input { input_ids: own(ids), attention_mask: own(mask), token_type_ids: own(kinds) };
        Ok(self.exe.run((self.loaded.params.clone(), input))?)
    }
    /// The sentence embeddings `[B, width]`, at length 1, of rows of tokens; shorter rows are padded.
    ///
    /// # Errors
    /// As [`Encoder::encode`].
    pub fn embed(&self, rows: &[impl AsRef<[i32]>]) -> Result<Array2<f32>> {
        let length = rows.iter().map(|r| r.as_ref().len()).max().unwrap_or_default();
        let mut ids = Array2::zeros((rows.len(), length));
        let mut mask = Array2::zeros((rows.len(), length));
        for (i, row) in rows.iter().enumerate() {
            for (j, &token) in row.as_ref().iter().enumerate() {
                (ids[[i, j]], mask[[i, j]]) = (token, 1);
            }
        }
        let kinds = Array2::zeros(ids.dim());
        shaped::<Ix2>(self.encode(ids.view(), mask.view(), kinds.view())?.sentence_embedding)
    }
}
