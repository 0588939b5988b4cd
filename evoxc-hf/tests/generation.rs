//! Batches, sampling, penalties and packed parameters.

mod common;

use common::{LOGITS, compare, fixtures, golden};
use evoxc::prelude::*;
use evoxc_hf::{GenerateOptions, Generator, Packed, Params, pack_params, packed_specs, unpack};

fn texts(g: &Generator, prompts: &[Vec<i32>]) -> evoxc::Result<Vec<Vec<i32>>> {
    let mut out = vec![vec![]; prompts.len()];
    for row in g.start(prompts)? {
        for (text, token) in out.iter_mut().zip(row?) {
            text.extend(token);
        }
    }
    Ok(out)
}

/// Padded beside longer prompts, a text is the one that it is alone.
#[test]
fn batches_are_their_rows() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["gpt2", "qwen3"] {
        let loaded = evoxc_hf::load(models.join(name))?;
        let prompts = [vec![3, 1, 4, 1, 5], vec![9], vec![2, 6, 5]];
        let options = GenerateOptions::default().max_new_tokens(10).stop([]);
        let together = texts(&Generator::new(&loaded, &Native::default(), 3, options.clone())?, &prompts)?;
        let one = Generator::new(&loaded, &Native::default(), 1, options)?;
        for (prompt, text) in prompts.iter().zip(together) {
            assert_eq!(texts(&one, std::slice::from_ref(prompt))?[0], text, "{name}: {prompt:?}");
        }
    }
    Ok(())
}

/// The greatest k there is takes all, as none does; a temperature whose quotients no number holds is refused.
#[test]
fn bounds_of_options() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    let loaded = evoxc_hf::load(models.join("gpt2"))?;
    let base = GenerateOptions::default().max_new_tokens(6).stop([]).seed(5);
    let run = |o: GenerateOptions| texts(&Generator::new(&loaded, &Native::default(), 1, o)?, &[vec![1, 2, 3]]);
    let all = run(base.clone().temperature(2.0).top_k(128))?;
    assert_eq!(all, run(base.clone().temperature(2.0).top_k(usize::MAX))?);
    assert_eq!(run(base.clone().temperature(1e-6))?, run(base.clone())?, "next to nothing is drawn but the likeliest");
    for t in [1e-7, 1e-40, -1.0, f64::NAN, f64::INFINITY] {
        let e = run(base.clone().temperature(t)).expect_err("no temperature").to_string();
        assert!(e.contains("temperature") && e.contains("1e-6"), "{e}");
    }
    Ok(())
}

/// Logits that are no numbers are an error, and no token.
#[test]
fn logits_that_are_no_numbers() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for bad in [f32::NAN, f32::INFINITY] {
        let mut loaded = evoxc_hf::load(models.join("gpt2"))?;
        let Params::Gpt2(p) = &mut loaded.params else { panic!("gpt2") };
        let mut w = p.ln_f.weight.to_vec::<f32>()?;
        w[3] = bad;
        p.ln_f.weight = Tensor::from_vec(w.clone(), [w.len()])?;
        for temperature in [0.0, 1.0] {
            let options = GenerateOptions::default().max_new_tokens(3).temperature(temperature);
            let mut tokens = evoxc_hf::generate(&loaded, &Native::default(), [1, 2, 3], options)?;
            let e = tokens.next().expect("a step runs").expect_err("no token").to_string();
            assert!(e.contains("are no numbers") && tokens.next().is_none(), "{e}");
        }
    }
    Ok(())
}

/// Draws stay among the k likeliest, and among those that reach p; the same seed draws the same.
#[test]
fn draws_stay_within_their_bounds() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    let loaded = evoxc_hf::load(models.join("llama3"))?;
    let likeliest = |logits: &Tensor| -> evoxc::Result<Vec<(usize, f64)>> {
        let x: Vec<f64> = logits.cast(F64)?.to_vec()?;
        let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // As the options say: a temperature of 4.
        let weights: Vec<f64> = x.iter().map(|v| ((v - most) / 4.0).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mut all: Vec<(usize, f64)> = weights.iter().map(|w| w / total).enumerate().collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(all)
    };
    let base = GenerateOptions::default().max_new_tokens(24).temperature(4.0).stop([]);
    let mut drawn = vec![];
    for (k, p) in [(Some(3), None), (None, Some(0.6)), (Some(8), Some(0.9)), (None, None)] {
        let mut options = base.clone().seed(5);
        (options.top_k, options.top_p) = (k, p);
        let mut tokens = evoxc_hf::generate(&loaded, &Native::default(), [1, 2, 3], options.clone())?;
        let mut text = vec![];
        while let Some(token) = tokens.next() {
            let token = token?;
            let all = likeliest(tokens.logits().expect("a step has run"))?;
            let place = all.iter().position(|(i, _)| *i == token as usize).expect("a token of the vocabulary");
            assert!(k.is_none_or(|k| place < k), "place {place} of {k:?}");
            if let Some(p) = p {
                let kept: f64 = all.iter().take(k.unwrap_or(all.len())).map(|(_, w)| w).sum();
                let before: f64 = all[..place].iter().map(|(_, w)| w / kept).sum();
                assert!(before < p + 1e-4, "{before} before place {place}, p {p}");
            }
            text.push(token);
        }
        let again: Vec<i32> =
            evoxc_hf::generate(&loaded, &Native::default(), [1, 2, 3], options)?.collect::<Result<_, _>>()?;
        assert_eq!(text, again);
        drawn.push(text);
    }
    drawn.dedup();
    assert_eq!(drawn.len(), 4, "{drawn:?}");
    Ok(())
}

/// A large penalty repeats nothing while there are other tokens.
#[test]
fn penalties_and_stops() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    let loaded = evoxc_hf::load(models.join("gpt2"))?;
    let run = |options: GenerateOptions| -> evoxc::Result<Vec<i32>> {
        Ok(evoxc_hf::generate(&loaded, &Native::default(), [1, 2, 3], options)?.collect::<Result<Vec<i32>, _>>()?)
    };
    let options = GenerateOptions::default().max_new_tokens(30).stop([]);
    let text = run(options.clone().repetition_penalty(1e6))?;
    let mut seen = vec![1, 2, 3];
    for t in text {
        assert!(!seen.contains(&t), "{t} again");
        seen.push(t);
    }
    let plain = run(options.clone())?;
    let at = plain.iter().position(|t| *t == plain[4]).expect("it is there");
    assert_eq!(run(options.stop([plain[4]]))?, plain[..at]);
    Ok(())
}

/// One input of all parameters gives the same bits.
#[test]
fn packed_parameters() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["gpt2", "mistral"] {
        let loaded = evoxc_hf::load(models.join(name))?;
        let expected = golden(&models.join(name));
        let ids = expected.tensor("input_ids")?;
        let (forward, config) = (evoxc_hf::forward(&loaded.config, 12)?, loaded.config.clone());
        let f = move |p: Packed<Sym>, ids: Sym| forward(unpack(&config, p), ids);
        let specs = (packed_specs(&loaded.config), spec(I32, [2, 12]));
        let packed = pack_params(&loaded.params)?;
        let exe = build(f, specs, &Interp)?;
        let plain = build(evoxc_hf::forward(&loaded.config, 12)?, evoxc_hf::specs(&loaded.config, 2, 12), &Interp)?;
        let (a, b) = (exe.run((packed.clone(), ids.clone()))?, plain.run((loaded.params.clone(), ids))?);
        assert!(a.bit_eq(&b), "{name}");
        compare(name, &a, &expected.tensor("logits")?, LOGITS.0, LOGITS.1);
    }
    Ok(())
}
