//! `evoxc-hf logits`.

use super::{Failure, Model, Prompt, print};
use evoxc_hf::Predictor;
use ndarray::Array2;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    prompt: Prompt,
    /// How many tokens to print
    #[arg(long, default_value_t = 10)]
    top: usize,
}

pub fn run(a: &Arguments) -> Result<(), Failure> {
    let loaded = a.model.load()?;
    // Ids need no tokenizer; where there is one it shows what they say.
    let text = if a.prompt.ids.is_none() { Some(a.model.text()?) } else { a.model.text().ok() };
    let tokens = a.prompt.tokens(text.as_ref())?;
    if tokens.is_empty() {
        return Err(Failure::Input("there is nothing to continue: the text has no tokens".into()));
    }
    let predictor = Predictor::new(&loaded, &a.model.backend()?)?;
    let ids = Array2::from_shape_vec((1, tokens.len()), tokens).map_err(|e| Failure::Error(e.to_string()))?;
    let logits = predictor.predict(ids.view())?;
    let last = logits.slice(ndarray::s![0, -1, ..]);
    let most = last.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = last.iter().map(|x| f64::from(x - most).exp()).sum();
    let mut order: Vec<(usize, f32)> = last.iter().copied().enumerate().collect();
    order.sort_by(|x, y| y.1.total_cmp(&x.1));
    let mut out = format!("{:>8}  {:>12}  {:>11}  token\n", "id", "logit", "probability");
    for (id, logit) in order.into_iter().take(a.top) {
        let shown = text.as_ref().map(|t| t.decode_with(&[id as i32], false)).transpose()?.unwrap_or_default();
        let probability = f64::from(logit - most).exp() / total;
        out += &format!("{id:>8}  {logit:>12.6}  {probability:>11.6}  {shown:?}\n");
    }
    print(&out)
}
