//! The program `evoxc-hf`: generates text, shows logits and embeddings, inspects, times and checks checkpoints.
//!
//! It exits with 0 on success, 1 when a run fails or a check finds differences, and 2 when the command line or the
//! checkpoint is at fault.

mod cli;

use clap::{Parser, Subcommand};
use cli::{Failure, bench, check, embed, generate, inspect, logits};
use std::process::ExitCode;

/// Runs HuggingFace checkpoints as evoxc graphs.
#[derive(Parser)]
#[command(name = "evoxc-hf", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "A CKPT is a folder with config.json and safetensors, as save_pretrained writes it, or a GGUF file.
Text needs the folder's tokenizer.json; --ids takes tokens without one.

Examples:
  evoxc-hf inspect CKPT
  evoxc-hf generate CKPT \"The capital of France is\" --max-new-tokens 32
  evoxc-hf generate CKPT \"Once upon\" --temperature 0.8 --top-p 0.95 --seed 7
  evoxc-hf logits CKPT --ids 1,2,3
  evoxc-hf embed CKPT \"a sentence\" \"another one\"
  evoxc-hf bench CKPT
  evoxc-hf check CKPT --backend native

Exit status: 0 success; 1 a run failed, or a check found differences; 2 the command line or the checkpoint is at fault.";

#[derive(Subcommand)]
enum Command {
    /// Continues a text, printing it as it comes.
    Generate(generate::Arguments),
    /// Prints the likeliest next tokens of a text.
    Logits(logits::Arguments),
    /// Prints sentence embeddings, or how alike sentences are.
    Embed(embed::Arguments),
    /// Lists the tensors of a checkpoint, and what they take.
    Inspect(inspect::Arguments),
    /// Times loading, compiling, prompts and tokens.
    Bench(bench::Arguments),
    /// Compares a checkpoint with the values in its golden.safetensors.
    Check(check::Arguments),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Generate(a) => generate::run(&a),
        Command::Logits(a) => logits::run(&a),
        Command::Embed(a) => embed::run(&a),
        Command::Inspect(a) => inspect::run(&a),
        Command::Bench(a) => bench::run(&a),
        Command::Check(a) => check::run(&a),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Reported) => ExitCode::from(1),
        Err(Failure::Error(m)) => {
            eprintln!("error: {m}");
            ExitCode::from(1)
        }
        Err(Failure::Input(m)) => {
            eprintln!("error: {m}");
            ExitCode::from(2)
        }
    }
}
