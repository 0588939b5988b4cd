//! `evoxc-hf check`: a checkpoint against the values beside it.

use super::{Failure, Model, print};
use evoxc::prelude::*;
use evoxc::{AnyBackend, TreeDef, value_and_grad};
use evoxc_hf::io::SafeTensors;
use evoxc_hf::{GenerateOptions, Generator, Loaded, Runner, bert, train};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    model: Model,
}

/// How far a value may be: `absolute + relative · |expected|`, from the fixtures' README.
#[derive(Clone, Copy)]
struct Allowed(f64, f64);

const LOGITS: Allowed = Allowed(1e-4, 1e-5);
const LOSS: Allowed = Allowed(1e-5, 1e-6);
const GRADIENT: Allowed = Allowed(2e-5, 1e-4);
const HIDDEN: Allowed = Allowed(2e-5, 1e-5);
const SENTENCE: Allowed = Allowed(5e-6, 0.0);

/// The comparisons made so far.
struct Report {
    failed: usize,
    compared: usize,
}

impl Report {
    fn line(&mut self, name: &str, ok: bool, text: &str) -> Result<(), Failure> {
        self.compared += 1;
        self.failed += usize::from(!ok);
        print(&format!("{:4} {name:24} {text}\n", if ok { "ok" } else { "FAIL" }))
    }
    fn values(&mut self, name: &str, got: &Tensor, expected: &Tensor, allowed: Allowed) -> Result<(), Failure> {
        let (got, expected) = (got.cast(F64)?, expected.cast(F64)?);
        if got.shape() != expected.shape() {
            let text = format!("has the shape {:?}, expected {:?}", got.shape(), expected.shape());
            return self.line(name, false, &text);
        }
        let (g, e) = (got.to_vec::<f64>()?, expected.to_vec::<f64>()?);
        let (mut largest, mut ok) = (0f64, true);
        for (g, e) in g.iter().zip(&e) {
            let difference = (g - e).abs();
            // A NaN is never close.
            ok &= difference <= allowed.0 + allowed.1 * e.abs();
            largest = if difference.is_nan() { f64::NAN } else { largest.max(difference) };
        }
        self.line(
            name,
            ok,
            &format!("largest error {largest:.1e} (allowed {:.0e} + {:.0e}·|expected|)", allowed.0, allowed.1),
        )
    }
    fn tokens(&mut self, name: &str, got: &[i32], expected: &[i32]) -> Result<(), Failure> {
        let same = got.iter().zip(expected).take_while(|(g, e)| g == e).count();
        let ok = got == expected;
        let text =
            if ok { format!("{same} tokens") } else { format!("the first {same} of {} are equal", expected.len()) };
        self.line(name, ok, &text)
    }
}

pub fn run(a: &Arguments) -> Result<(), Failure> {
    let path = &a.model.checkpoint;
    let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    let golden = SafeTensors::open(&folder.join("golden.safetensors"))?;
    // The golden values are computed in f32.
    let loaded = super::load(path, a.model.dtype.or(Some(F32)))?;
    let backend = a.model.backend()?;
    let mut report = Report { failed: 0, compared: 0 };
    if loaded.family.is_decoder() {
        decoder(&loaded, &golden, "", &backend, &mut report)?;
        if golden.entries().keys().any(|k| k.starts_with("len1.")) {
            decoder(&loaded, &golden, "len1.", &backend, &mut report)?;
        }
    } else {
        encoder(&loaded, &golden, &backend, &mut report)?;
    }
    if report.compared == 0 {
        return Err(Failure::Input(format!("{}: holds no values that are known", golden.file().path().display())));
    }
    print(&format!("{}: {} of {} agree\n", a.model.backend, report.compared - report.failed, report.compared))?;
    if report.failed > 0 { Err(Failure::Reported) } else { Ok(()) }
}

/// A golden tensor, if it is there.
fn find(golden: &SafeTensors, prefix: &str, name: &str) -> Result<Option<Tensor>, Failure> {
    let name = format!("{prefix}{name}");
    if !golden.entries().contains_key(&name) {
        return Ok(None);
    }
    Ok(Some(golden.tensor(&name)?))
}

fn decoder(
    loaded: &Loaded,
    golden: &SafeTensors,
    prefix: &str,
    backend: &AnyBackend,
    report: &mut Report,
) -> Result<(), Failure> {
    let config = &loaded.config;
    let shown = |name: &str| format!("{prefix}{name}");
    let forward = |ids: &Tensor| -> Result<Tensor, Failure> {
        let (b, t) = (dim("B"), dim("T"));
        let exe = Runner::new(evoxc_hf::forward(config, t)?, evoxc_hf::specs(config, b, t), backend)?;
        Ok(exe.run((loaded.params.clone(), ids.clone()))?)
    };
    let ids = find(golden, prefix, "input_ids")?;
    if let (Some(ids), Some(logits)) = (&ids, find(golden, prefix, "logits")?) {
        report.values(&shown("logits"), &forward(ids)?, &logits, LOGITS)?;
    }
    let start = format!("{prefix}grad.");
    let gradients: Vec<&String> = golden.entries().keys().filter(|k| k.starts_with(&start)).collect();
    let loss = find(golden, prefix, "loss")?;
    if let Some(ids) = ids.filter(|_| loss.is_some() || !gradients.is_empty()) {
        let (b, t) = (dim("B"), dim("T"));
        let f = value_and_grad(train::loss(config, t)?);
        let (l, g) = Runner::new(f, evoxc_hf::specs(config, b, t), backend)?.run((loaded.params.clone(), ids))?;
        if let Some(loss) = loss {
            report.values(&shown("loss"), &l, &loss, LOSS)?;
        }
        let names = evoxc_hf::param_names(config);
        let (leaves, _) = TreeDef::flatten(g);
        for key in gradients {
            let parameter = key.strip_prefix(&start).unwrap_or(key);
            let at = names.iter().position(|n| n == parameter);
            let Some(leaf) = at.and_then(|i| leaves.get(i)) else {
                report.line(key, false, "the model has no such parameter")?;
                continue;
            };
            report.values(key, leaf, &golden.tensor(key)?, GRADIENT)?;
        }
    }
    let Some(prompt) = find(golden, prefix, "prompt_ids")? else { return Ok(()) };
    if let Some(logits) = find(golden, prefix, "prompt_logits")? {
        report.values(&shown("prompt_logits"), &prefill(loaded, &prompt, backend)?, &logits, LOGITS)?;
    }
    let (tokens, steps) = (find(golden, prefix, "generated_ids")?, find(golden, prefix, "step_logits")?);
    let expected = tokens.map(|t| t.to_vec::<i32>()).transpose()?;
    let count = expected.as_ref().map(Vec::len).or(steps.as_ref().and_then(|s| s.shape().first().copied()));
    let Some(count) = count else { return Ok(()) };
    let options = GenerateOptions::default().max_new_tokens(count).stop([]);
    let mut generation = Generator::new(loaded, backend, 1, options)?.start(&[prompt.to_vec::<i32>()?])?;
    let (mut got, mut rows) = (vec![], vec![]);
    while let Some(row) = generation.next() {
        got.extend(row?.into_iter().flatten());
        if let Some(l) = generation.logits() {
            rows.extend(l.cast(F32)?.to_vec::<f32>()?);
        }
    }
    if let Some(e) = expected {
        report.tokens(&shown("generated_ids"), &got, &e)?;
    }
    if let Some(s) = steps {
        let rows = Tensor::from_vec(rows, [got.len(), config.vocab_size()])?;
        report.values(&shown("step_logits"), &rows, &s, LOGITS)?;
    }
    Ok(())
}

/// The logits of every position of a prompt, through the cache.
fn prefill(loaded: &Loaded, prompt: &Tensor, backend: &AnyBackend) -> Result<Tensor, Failure> {
    let (batch, length) = match *prompt.shape() {
        [b, t] => (b, t),
        _ => return Err(Failure::Input(format!("prompt_ids are {}, not [B, T]", prompt.spec()))),
    };
    let config = &loaded.config;
    let f = evoxc_hf::forward_cached(config, evoxc_hf::Logits::All)?;
    let specs = evoxc_hf::cached_specs(config, batch, dim("T"), dim("capacity"));
    let exe = Runner::new(f, specs, backend)?;
    let cache = evoxc_hf::cache_specs(config, batch, length);
    let zeros = |all: Vec<TensorSpec>| -> evoxc::Result<Vec<Tensor>> {
        all.into_iter().map(|s| Tensor::try_full(s.dtype, s.shape, 0)).collect()
    };
    let cache = evoxc_hf::Cache { keys: zeros(cache.keys)?, values: zeros(cache.values)? };
    let place = evoxc_hf::Place { at: Tensor::from(0i32), padding: Tensor::zeros(I32, [batch]) };
    Ok(exe.run((loaded.params.clone(), prompt.clone(), place, cache))?.0)
}

fn encoder(loaded: &Loaded, golden: &SafeTensors, backend: &AnyBackend, report: &mut Report) -> Result<(), Failure> {
    let input = bert::Input {
        input_ids: golden.tensor("input_ids")?,
        attention_mask: golden.tensor("attention_mask")?,
        token_type_ids: golden.tensor("token_type_ids")?,
    };
    let (b, t) = (dim("B"), dim("T"));
    let f = evoxc_hf::encode(&loaded.config, t)?;
    let out =
        Runner::new(f, evoxc_hf::encode_specs(&loaded.config, b, t), backend)?.run((loaded.params.clone(), input))?;
    let parts = [
        ("last_hidden_state", &out.last_hidden_state, HIDDEN),
        ("pooler_output", &out.pooler_output, HIDDEN),
        ("sentence_embedding", &out.sentence_embedding, SENTENCE),
    ];
    for (name, got, allowed) in parts {
        if let Some(expected) = find(golden, "", name)? {
            report.values(name, got, &expected, allowed)?;
        }
    }
    Ok(())
}
