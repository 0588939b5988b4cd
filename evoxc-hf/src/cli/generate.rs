//! `evoxc-hf generate`.

use super::{Failure, Model, Prompt, print};
use evoxc_hf::{GenerateOptions, Generator};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    prompt: Prompt,
    /// At most so many tokens
    #[arg(short = 'n', long, default_value_t = 128)]
    max_new_tokens: usize,
    /// What logits are divided by; 0 takes the likeliest token each time
    #[arg(short, long, default_value_t = 0.0)]
    temperature: f64,
    /// Draw among the K likeliest
    #[arg(long, value_name = "K")]
    top_k: Option<usize>,
    /// Draw among the fewest likeliest that reach the probability P
    #[arg(long, value_name = "P")]
    top_p: Option<f64>,
    /// Above 1: tokens of the text so far become less likely
    #[arg(long, default_value_t = 1.0)]
    repetition_penalty: f64,
    /// The seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Do not stop at the token that ends a text
    #[arg(long)]
    ignore_eos: bool,
    /// Print times to the standard error at the end
    #[arg(long)]
    stats: bool,
}

pub fn run(a: &Arguments) -> Result<(), Failure> {
    let start = Instant::now();
    let loaded = a.model.load()?;
    let text = if a.prompt.ids.is_none() { Some(a.model.text()?) } else { None };
    let prompt = a.prompt.tokens(text.as_ref())?;
    let mut options = GenerateOptions::default()
        .max_new_tokens(a.max_new_tokens)
        .temperature(a.temperature)
        .repetition_penalty(a.repetition_penalty)
        .seed(a.seed);
    (options.top_k, options.top_p) = (a.top_k, a.top_p);
    if a.ignore_eos {
        options = options.stop([]);
    }
    let load = start.elapsed();
    let generator = Generator::new(&loaded, &a.model.backend()?, 1, options)?;
    let compile = start.elapsed() - load;
    let mut stream = text.as_ref().map(|t| t.stream());
    if let (Some(p), Some(s)) = (&a.prompt.prompt, &mut stream) {
        print(p)?;
        // So that the first token is decoded as one that follows others.
        for &t in &prompt {
            s.push(t)?;
        }
    }
    let (mut count, mut first) = (0u32, Duration::ZERO);
    let begun = Instant::now();
    for row in generator.start(std::slice::from_ref(&prompt))? {
        let Some(token) = row?.first().copied().flatten() else { break };
        match &mut stream {
            Some(s) => print(&s.push(token)?)?,
            None => print(&format!("{}{token}", if count == 0 { "" } else { "," }))?,
        }
        count += 1;
        if count == 1 {
            first = begun.elapsed();
        }
    }
    print("\n")?;
    if a.stats && count > 0 {
        let rest = (begun.elapsed() - first).as_secs_f64();
        // The first token is the prompt's.
        let rate = if count > 1 { format!(", {:.1} tokens/s", f64::from(count - 1) / rest) } else { String::new() };
        eprintln!(
            "load {:.0} ms, compile {:.0} ms, prompt of {} tokens {:.1} ms{rate}",
            load.as_secs_f64() * 1e3,
            compile.as_secs_f64() * 1e3,
            prompt.len(),
            first.as_secs_f64() * 1e3,
        );
    }
    Ok(())
}
