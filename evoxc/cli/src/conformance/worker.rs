//! A worker: takes files on its standard input, runs their programs, and answers on its standard output.

use super::program;
use super::protocol::{Job, Message, Outcome, Place, line, parse};
use crate::Failure;
use clap::Args;
use evoxc_stablehlo::{checks, syntax};
use evoxc_stage::AnyBackend;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// The arguments of a worker.
#[derive(Args)]
pub struct WorkerArguments {
    /// The backend.
    #[arg(long)]
    backend: String,
    /// What it compiles for.
    #[arg(long)]
    target: Option<String>,
    /// Runs the programs whose FILE:FUNCTION holds this text.
    #[arg(long)]
    filter: Option<String>,
}

/// Serves jobs until the input ends.
pub fn run(a: &WorkerArguments) -> Result<(), Failure> {
    let backend = crate::backend::choose(Some(&a.backend), a.target.as_deref())?;
    keep_panics();
    let input = std::io::stdin().lines();
    for text in input {
        let text = text.map_err(|e| Failure::Error(format!("standard input: {e}")))?;
        let Some(job) = parse::<Job>(&text) else { continue };
        serve(&backend, a.filter.as_deref(), &job).map_err(|e| Failure::Error(format!("standard output: {e}")))?;
    }
    Ok(())
}

fn tell(message: &Message) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(line(message)?.as_bytes())?;
    out.flush()
}

fn serve(backend: &AnyBackend, filter: Option<&str>, job: &Job) -> std::io::Result<()> {
    let asked = |program: &str| filter.is_none_or(|f| format!("{}:{program}", job.name).contains(f));
    let failed = |place: Place, line: usize, message: String| -> std::io::Result<()> {
        if asked("") {
            tell(&Message::Start { place, line, program: String::new() })?;
            tell(&Message::End(Outcome::Fail { message }))?;
        }
        Ok(())
    };
    let text = match std::fs::read_to_string(&job.path) {
        Ok(text) => text,
        Err(e) => {
            failed(job.from, 1, e.to_string())?;
            return tell(&Message::Done);
        }
    };
    for (module, chunk) in syntax::split(&text).into_iter().enumerate().skip(job.from.module) {
        let (text, line) = (chunk.text, chunk.lines_before + 1);
        tell(&Message::Module { module, line })?;
        let first = if module == job.from.module { job.from.program } else { 0 };
        let names = caught(|| {
            let tree = syntax::parse(text).map_err(|e| program::in_file(e, line).to_string())?;
            Ok(checks::programs(&tree).into_iter().map(str::to_string).collect::<Vec<String>>())
        });
        let names = match names.and_then(|r| r) {
            Ok(names) => names,
            Err(message) => {
                failed(Place { module, program: 0 }, line, message)?;
                continue;
            }
        };
        for (number, program) in names.into_iter().enumerate().skip(first).filter(|(_, p)| asked(p)) {
            let place = Place { module, program: number };
            tell(&Message::Start { place, line, program: program.clone() })?;
            let outcome = caught(|| program::run(backend, text, line, &program)).unwrap_or_else(Outcome::fail);
            tell(&Message::End(outcome))?;
        }
    }
    tell(&Message::Done)
}

/// The message and place of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let message = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let message = message.unwrap_or("a value that is no text");
        let place = info.location().map_or(String::new(), |l| format!(" at {}:{}", l.file(), l.line()));
        if let Ok(mut kept) = PANIC.lock() {
            *kept = format!("panic{place}: {message}");
        }
    }));
}

fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|_| PANIC.lock().map_or_else(|_| "panic".into(), |p| p.clone()))
}
