//! The workers: they are started, given files, watched, and replaced when they crash or hang.

use super::files::SourceFile;
use super::protocol::{Job, Message, Outcome, Place, line, parse};
use super::report::Record;
use crate::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How programs are run.
pub struct Pool {
    /// The command that starts a worker.
    pub worker: Vec<OsString>,
    /// The time that one program may take.
    pub limit: Duration,
    /// How many workers there are.
    pub jobs: usize,
}

impl Pool {
    /// The records of all programs, in the order of the files.
    pub fn run(&self, files: &[SourceFile]) -> Result<Vec<Record>, Failure> {
        let next = AtomicUsize::new(0);
        let bar = bar(files.len());
        let serve = || -> Result<Vec<Record>, Failure> {
            let mut worker = None;
            let mut records = vec![];
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(e) = self.file(&mut worker, file, &mut records) {
                    // The others stop after the file that they are at.
                    next.store(files.len(), Ordering::Relaxed);
                    return Err(e);
                }
                bar.inc(1);
            }
            Ok(records)
        };
        let parts: Vec<Result<Vec<Record>, Failure>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(serve)).collect();
            let lost = |_| Err(Failure::Error("a thread that watches a worker has panicked".into()));
            threads.into_iter().map(|t| t.join().unwrap_or_else(lost)).collect()
        });
        bar.finish_and_clear();
        let mut records: Vec<Record> =
            parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        records.sort_by(|a, b| (&a.file, a.place).cmp(&(&b.file, b.place)));
        Ok(records)
    }

    /// Runs one file, with as many workers as it takes.
    fn file(&self, slot: &mut Option<Worker>, file: &SourceFile, out: &mut Vec<Record>) -> Result<(), Failure> {
        let mut from = Place::default();
        loop {
            let worker = match slot {
                Some(w) => w,
                None => slot.insert(self.start()?),
            };
            let job = Job { path: file.path.clone(), name: file.name.clone(), from };
            let Err(lost) = self.job(worker, &job, out) else { return Ok(()) };
            let message = match slot.take() {
                Some(w) => w.end(lost.late),
                None => String::new(),
            };
            let message = if lost.late { format!("it runs for more than {:?}", self.limit) } else { message };
            let Some((place, line, program)) = lost.at else {
                // The worker does not even say where it starts: the next would not either.
                out.push(Record::new(file, from, 1, String::new(), Outcome::Fail { message }, Duration::ZERO));
                return Ok(());
            };
            // What crashes while a module is read takes the module with it.
            from = match program {
                Some(_) => Place { program: place.program + 1, ..place },
                None => Place { module: place.module + 1, program: 0 },
            };
            out.push(Record::new(
                file,
                place,
                line,
                program.unwrap_or_default(),
                Outcome::Fail { message },
                lost.after,
            ));
        }
    }

    /// Gives a job to a worker, and collects until it is done.
    fn job(&self, worker: &mut Worker, job: &Job, out: &mut Vec<Record>) -> Result<(), Lost> {
        let file = SourceFile { path: job.path.clone(), name: job.name.clone() };
        let mut at: Option<(Place, usize, Option<String>)> = None;
        let mut started = Instant::now();
        // A worker that is gone already shows when it does not answer.
        let _ = line(job).and_then(|text| worker.input.write_all(text.as_bytes()).and_then(|()| worker.input.flush()));
        let deadline = |started: Instant| (started + self.limit).saturating_duration_since(Instant::now());
        loop {
            let text = match worker.output.recv_timeout(deadline(started)) {
                Ok(text) => text,
                Err(e) => {
                    let late = e == RecvTimeoutError::Timeout;
                    return Err(Lost { at, late, after: started.elapsed() });
                }
            };
            match parse::<Message>(&text) {
                None => continue,
                Some(Message::Module { module, line }) => {
                    let program = if module == job.from.module { job.from.program } else { 0 };
                    at = Some((Place { module, program }, line, None));
                }
                Some(Message::Start { place, line, program }) => at = Some((place, line, Some(program))),
                Some(Message::End(outcome)) => {
                    if let Some((place, line, program)) = &mut at {
                        let program = program.take().unwrap_or_default();
                        out.push(Record::new(&file, *place, *line, program, outcome, started.elapsed()));
                    }
                }
                Some(Message::Done) => return Ok(()),
            }
            started = Instant::now();
        }
    }

    fn start(&self) -> Result<Worker, Failure> {
        let failed = |e: std::io::Error| Failure::Error(format!("a worker cannot be started: {e}"));
        let [program, arguments @ ..] = self.worker.as_slice() else {
            return Err(Failure::Error("no command starts a worker".into()));
        };
        let mut command = Command::new(program);
        command.args(arguments);
        let all = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = all.spawn().map_err(failed)?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Failure::Error("a worker has no pipes".into()));
        };
        let (send, receive) = channel();
        std::thread::spawn(move || {
            for text in BufReader::new(output).split(b'\n') {
                // Whoever does not listen any more has given the worker up.
                let Ok(text) = text else { break };
                if send.send(String::from_utf8_lossy(&text).into_owned()).is_err() {
                    break;
                }
            }
        });
        let said = Arc::new(Mutex::new(String::new()));
        let last = said.clone();
        let listener = std::thread::spawn(move || keep_last(errors, &last));
        Ok(Worker { child, input, output: receive, said, listener })
    }
}

/// A worker that is gone, or given up: where, why, and how long after it was last heard of.
struct Lost {
    at: Option<(Place, usize, Option<String>)>,
    late: bool,
    after: Duration,
}

struct Worker {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
    /// The end of what it wrote to its standard error.
    said: Arc<Mutex<String>>,
    listener: std::thread::JoinHandle<()>,
}

impl Worker {
    /// Stops it, and says how it ended.
    fn end(mut self, kill: bool) -> String {
        if kill {
            // It may have ended by itself meanwhile.
            let _ = self.child.kill();
        }
        let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
        // Its standard error is closed, unless a process of its own holds it: then what is there must do.
        let until = Instant::now() + Duration::from_millis(200);
        while !self.listener.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        let said = self.said.lock().map(|s| s.clone()).unwrap_or_default();
        match said.lines().map(str::trim).find(|l| !l.is_empty()) {
            Some(first) => format!("the process ended with {status}: {first}"),
            None => format!("the process ended with {status}"),
        }
    }
}

/// Keeps the last few thousand bytes of a stream.
fn keep_last(mut from: impl Read, into: &Mutex<String>) {
    const MOST: usize = 4096;
    let mut kept: Vec<u8> = vec![];
    let mut buffer = [0; 1024];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        kept.extend_from_slice(buffer.get(..n).unwrap_or_default());
        kept.drain(..kept.len().saturating_sub(MOST));
        if let Ok(mut text) = into.lock() {
            *text = String::from_utf8_lossy(&kept).into_owned();
        }
    }
}

/// A bar on the standard error, where that is a terminal.
fn bar(files: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files, {elapsed}, {eta} left");
    let bar = ProgressBar::new(files as u64);
    style.map_or(bar.clone(), |s| bar.with_style(s))
}

/// The command that starts a worker: this program.
pub fn command(backend: &str, target: Option<&str>, filter: Option<&str>) -> Result<Vec<OsString>, Failure> {
    let exe = std::env::current_exe().map_err(|e| Failure::Error(format!("where this program is: {e}")))?;
    let mut out = vec![exe.into_os_string(), "conformance-worker".into(), "--backend".into(), backend.into()];
    for (option, value) in [("--target", target), ("--filter", filter)] {
        if let Some(v) = value {
            out.extend([option.into(), v.into()]);
        }
    }
    Ok(out)
}

#[cfg(all(test, unix))]
mod tests;
