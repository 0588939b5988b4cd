//! The program `evoxc-hf`.

mod common;

use common::{fixtures, single};
use evoxc::Tensor;
use evoxc_hf::io;
use std::path::Path;
use std::process::{Command, Output};

fn program(args: &[&str], checkpoint: &Path) -> Output {
    let (first, rest) = args.split_first().unwrap();
    Command::new(env!("CARGO_BIN_EXE_evoxc-hf")).arg(first).arg(checkpoint).args(rest).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn text_of(out: &Output) -> String {
    text(&out.stdout) + &text(&out.stderr)
}

/// Every fixture agrees with its golden values on the interpreter and the native compiler.
#[test]
fn check() {
    let Some(models) = fixtures() else { return };
    let all = ["gpt2", "gpt2-2l", "llama", "llama3", "mistral", "qwen2", "qwen3", "bert", "bert-eps", "gguf/llama"];
    for name in all {
        for backend in ["interp", "native"] {
            let out = program(&["check", "--backend", backend], &models.join(name));
            let shown = text(&out.stdout);
            assert_eq!(out.status.code(), Some(0), "{name} on {backend}: {shown}{}", text(&out.stderr));
            let expected = if name.starts_with("bert") { 3 } else { 4 };
            assert!(shown.lines().filter(|l| l.starts_with("ok ")).count() >= expected, "{name}: {shown}");
        }
    }
}

/// Another model's values do not agree, and the exit status says so.
#[test]
fn check_finds_differences() {
    let Some(models) = fixtures() else { return };
    let folder = std::env::temp_dir().join(format!("evoxc-hf-check-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for file in ["model.safetensors", "golden.safetensors"] {
        std::fs::copy(models.join("llama3").join(file), folder.join(file)).unwrap();
    }
    // The least visible mistake of that fixture: another epsilon.
    let config = std::fs::read_to_string(models.join("llama3/config.json")).unwrap();
    std::fs::write(folder.join("config.json"), config.replace("\"rms_norm_eps\": 0.001", "\"rms_norm_eps\": 1e-6"))
        .unwrap();
    let out = program(&["check"], &folder);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stdout).contains("FAIL logits"), "{}", text(&out.stdout));
}

/// Values of texts of a single token, here the oracle's, are compared too.
#[test]
fn check_compares_single_tokens() -> evoxc::Result<()> {
    let Some(models) = fixtures() else { return Ok(()) };
    for name in ["gpt2", "llama3"] {
        let loaded = evoxc_hf::load(models.join(name))?;
        let vocab = loaded.config.vocab_size();
        let logits = |ids: &Tensor| single(evoxc_hf::reference_logits(&loaded, ids)?);
        let (rows, prompt) = (Tensor::from([[3i32], [7]]), Tensor::from([[5i32]]));
        let (mut text, mut steps) = (vec![5i32], vec![]);
        for _ in 0..4 {
            let all = logits(&Tensor::from_vec(text.clone(), [1, text.len()])?)?.to_vec::<f32>()?;
            let last = &all[all.len() - vocab..];
            let best = last.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(i, _)| i);
            text.push(best as i32);
            steps.extend_from_slice(last);
        }
        let mut golden = vec![
            ("len1.input_ids", rows.clone()),
            ("len1.logits", logits(&rows)?),
            ("len1.prompt_ids", prompt.clone()),
            ("len1.prompt_logits", logits(&prompt)?),
            ("len1.generated_ids", Tensor::from_vec(text[1..].to_vec(), [1, 4])?),
            ("len1.step_logits", Tensor::from_vec(steps, [4, vocab])?),
        ];
        let folder = std::env::temp_dir().join(format!("evoxc-hf-len1-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for file in ["config.json", "model.safetensors"] {
            std::fs::copy(models.join(name).join(file), folder.join(file)).unwrap();
        }
        let run = |golden: &[(&str, Tensor)]| -> evoxc::Result<(Option<i32>, String)> {
            io::save(&folder.join("golden.safetensors"), golden.iter().map(|(n, t)| (*n, t)), [])?;
            let out = program(&["check"], &folder);
            Ok((out.status.code(), text_of(&out)))
        };
        let (status, shown) = run(&golden)?;
        assert_eq!(status, Some(0), "{shown}");
        for part in ["len1.logits", "len1.prompt_logits", "len1.generated_ids", "len1.step_logits"] {
            assert!(shown.lines().any(|l| l.starts_with("ok ") && l.contains(part)), "{part}: {shown}");
        }
        // A value of another text is a difference, and named.
        golden[1].1 = logits(&Tensor::from([[3i32], [8]]))?;
        let (status, shown) = run(&golden)?;
        assert_eq!(status, Some(1), "{shown}");
        assert!(shown.contains("FAIL len1.logits") && shown.contains("native: 3 of 4 agree"), "{shown}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
    Ok(())
}

#[test]
fn malformed_checkpoints_exit_with_2() {
    let Some(models) = fixtures() else { return };
    let cases = std::fs::read(models.join("bad/cases.json")).unwrap();
    let cases: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&cases).unwrap();
    for (name, case) in cases {
        let out = program(&["inspect"], &models.join("bad").join(&name));
        let message = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{name}: {message}");
        assert_eq!(message.lines().count(), 1, "{name}: {message}");
        assert!(message.contains(case["names"].as_str().unwrap()), "{name}: {message}");
    }
}

#[test]
fn commands() {
    let Some(models) = fixtures() else { return };
    let ok = |args: &[&str], name: &str| {
        let out = program(args, &models.join(name));
        assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
        text(&out.stdout)
    };
    let shown = ok(&["inspect"], "llama");
    assert!(shown.contains("21 tensors, 78144 parameters, 0.3 MB"), "{shown}");
    let first = ok(&["generate", "--ids", "1,2,3", "-n", "5", "--ignore-eos"], "gpt2");
    assert_eq!(first.trim().split(',').count(), 5, "{first}");
    let drawn =
        |seed: &str| ok(&["generate", "--ids", "1,2,3", "-n", "8", "--ignore-eos", "-t", "5", "--seed", seed], "gpt2");
    assert_eq!(drawn("1"), drawn("1"));
    assert_ne!(drawn("1"), drawn("2"));
    let likeliest = ok(&["logits", "--ids", "1,2,3", "--top", "1"], "gpt2");
    let id = likeliest.lines().nth(1).and_then(|l| l.split_whitespace().next().map(String::from)).unwrap();
    assert_eq!(Some(id.as_str()), first.split(',').next());
    let cosine = ok(&["embed", "--ids", "1,2,3", "--ids", "1,2,3", "--ids", "9", "--cosine"], "bert");
    let rows: Vec<Vec<f64>> =
        cosine.lines().map(|l| l.split_whitespace().map(|x| x.parse().unwrap()).collect()).collect();
    assert!((rows[0][1] - 1.0).abs() < 1e-4 && rows[0][2] < 0.99, "{cosine}");
    let timed = ok(&["bench", "--prefill", "4", "--decode", "2", "--repeat", "1"], "gpt2");
    assert!(timed.lines().all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok()), "{timed}");
    let large = usize::MAX.to_string();
    let one = ok(&["bench", "--prefill", "4", "--decode", "2", "--repeat", "0"], "gpt2");
    assert_eq!(one.lines().count(), timed.lines().count());
    for bad in [
        &["generate", "--ids", "1,999"][..],
        &["generate", "--ids", "x"],
        &["generate", "--ids", ""],
        &["generate", "no tokenizer here"],
        &["logits", "--ids", ""],
        &["bench", "--prefill", "0"],
        // No place is left for a token behind the prompt, or for as many as are to be timed.
        &["bench", "--prefill", "64"],
        &["bench", "--prefill", "60", "--decode", "4"],
        &["bench", "--decode", "0"],
        &["generate", "--ids", "1,2", "--temperature", "1e-40"],
        &["bench", "--prefill", &large],
        &["bench", "--backend", "none"],
        &["inspect", "--dtype", "i32"],
    ] {
        assert_eq!(program(bad, &models.join("gpt2")).status.code(), Some(2), "{bad:?}");
    }
}
