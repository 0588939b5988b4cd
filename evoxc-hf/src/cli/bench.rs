//! `evoxc-hf bench`.

use super::{Failure, Model, print};
use evoxc::{Dyn, Tensor};
use evoxc_hf::{GenerateOptions, Generator};
use serde::Serialize;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    model: Model,
    /// The lengths of prompts
    #[arg(long, value_delimiter = ',', default_values_t = [32, 128])]
    prefill: Vec<usize>,
    /// How many tokens to generate behind a prompt of the first length
    #[arg(long, default_value_t = 64)]
    decode: usize,
    /// How often each is timed; the median is printed
    #[arg(long, default_value_t = 5)]
    repeat: usize,
}

/// One line of the output.
#[derive(Serialize)]
struct Line<'a> {
    what: &'a str,
    peer: &'a str,
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gb_per_s: Option<f64>,
}

fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    v.get(v.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Seconds that a call takes, the median of several.
fn timed(repeat: usize, mut call: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut all = vec![];
    for _ in 0..repeat.max(1) {
        let t = Instant::now();
        call()?;
        all.push(t.elapsed().as_secs_f64());
    }
    Ok(median(all))
}

pub fn run(a: &Arguments) -> Result<(), Failure> {
    let peer = format!("evoxc-{}", a.model.backend);
    let show = |what: &str, s: f64, tokens: Option<usize>, bytes: Option<f64>| {
        let line = Line {
            what,
            peer: &peer,
            ms: (s * 1e6).round() / 1e3,
            tokens_per_s: tokens.map(|n| (n as f64 / s * 10.0).round() / 10.0),
            gb_per_s: bytes.map(|b| (b / s / 1e7).round() / 100.0),
        };
        print(&(serde_json::to_string(&line).unwrap_or_default() + "\n"))
    };
    if a.decode == 0 {
        return Err(Failure::Input("--decode 0: there is nothing to time".into()));
    }
    let t = Instant::now();
    let loaded = a.model.load()?;
    show("load", t.elapsed().as_secs_f64(), None, None)?;
    let weights: usize = Dyn::of(loaded.params.clone()).leaves().iter().map(|t| t.len() * t.dtype().size()).sum();
    let t = Instant::now();
    let options = GenerateOptions::default().max_new_tokens(a.decode.saturating_add(1)).stop([]);
    let generator = Generator::new(&loaded, &a.model.backend()?, 1, options)?;
    show("compile", t.elapsed().as_secs_f64(), None, None)?;
    show("read", reading(&loaded, a.repeat)?, None, Some(weights as f64))?;
    let (vocab, most) = (loaded.config.vocab_size(), loaded.config.max_positions());
    let room = most.saturating_sub(1);
    if let Some(n) = a.prefill.iter().find(|n| !(1..=room).contains(*n)) {
        let why = format!("prompts of this model have 1 to {room} tokens, so that one more has a place");
        return Err(Failure::Input(format!("--prefill {n}: {why}")));
    }
    let first = a.prefill.first().copied().unwrap_or(room.min(8));
    if a.decode.saturating_add(1) > most - first {
        let why = format!("behind {first} tokens, this model has places for {} more", most - first);
        return Err(Failure::Input(format!("--decode {}: {why}", a.decode)));
    }
    let prompt = |n: usize| -> Vec<i32> { (0..n).map(|i| ((i * 7919 + 13) % vocab) as i32).collect() };
    // The first run touches the pages of the file and of the arenas.
    generator.start(&[prompt(first)])?.next().transpose()?;
    for &n in &a.prefill {
        let s = timed(a.repeat, || {
            generator.start(&[prompt(n)])?.next().transpose()?;
            Ok(())
        })?;
        show(&format!("prefill {n}"), s, Some(n), None)?;
    }
    let mut each = vec![];
    for _ in 0..a.repeat.max(1) {
        let mut generation = generator.start(&[prompt(first)])?;
        generation.next().transpose()?;
        let t = Instant::now();
        let mut count = 0u32;
        for row in generation.by_ref() {
            row?;
            count += 1;
        }
        // Without a stop token, and with places for all, all have been generated.
        each.push(t.elapsed().as_secs_f64() / f64::from(count));
    }
    show("decode", median(each), Some(1), Some(weights as f64))
}

/// Seconds to read every byte of the weights once, on two threads or as many as there are: what a token cannot be faster
/// than.
fn reading(loaded: &evoxc_hf::Loaded, repeat: usize) -> Result<f64, Failure> {
    let (leaves, _) = evoxc::TreeDef::flatten(loaded.params.clone());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let sum = |part: usize| {
        let part_of = |t: &Tensor| -> u64 {
            let bytes = t.bytes().unwrap_or_default();
            let size = bytes.len().div_ceil(threads).next_multiple_of(64);
            let mine = bytes.get(part * size..).unwrap_or_default();
            let mine = mine.get(..size.min(mine.len())).unwrap_or_default();
            mine.chunks_exact(64)
                .fold([0u64; 8], |mut s, c| {
                    for (s, w) in s.iter_mut().zip(c.chunks_exact(8)) {
                        *s = s.wrapping_add(w.try_into().map_or(0, u64::from_ne_bytes));
                    }
                    s
                })
                .iter()
                .fold(0, |a, b| a.wrapping_add(*b))
        };
        leaves.iter().map(part_of).fold(0, u64::wrapping_add)
    };
    timed(repeat, || {
        let total = std::thread::scope(|s| {
            let all: Vec<_> = (0..threads)
                .map(|i| {
                    let sum = &sum;
                    s.spawn(move || sum(i))
                })
                .collect();
            all.into_iter().filter_map(|t| t.join().ok()).fold(0, u64::wrapping_add)
        });
        std::hint::black_box(total);
        Ok(())
    })
}
