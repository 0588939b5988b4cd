//! What a run spent its time on.

use std::fmt;
use std::time::Duration;

/// The steps of one run, in the order in which they ran, each with its time.
///
/// ```
/// use evoxc::prelude::*;
/// let exe = build(|x: Sym| (x * 2.0).exp().sum(0), spec(F32, [1000]), &Native::interp())?;
/// let (y, profile) = exe.profile(Tensor::zeros(F32, [1000]))?;
/// assert_eq!(y.item::<f32>()?, 1000.0);
/// println!("{profile}");
/// assert!(profile.chrome_trace().starts_with('['));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// What ran.
    pub steps: Vec<ProfileStep>,
    /// The whole run.
    pub total: Duration,
}

/// One step of a run, such as a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileStep {
    /// What it did, as `exp, reduce_sum`.
    pub name: String,
    /// The kind of step: `kernel`, `library`, `run` …
    pub kind: &'static str,
    /// Where the user wrote it, as `file:line:column`; empty if nobody knows.
    pub place: String,
    /// When it began, counted from the begin of the run.
    pub start: Duration,
    /// How long it took.
    pub time: Duration,
    /// Bytes that it read and wrote, each once, if that is known.
    pub bytes: u64,
    /// Ops on floats, if that is known.
    pub flops: u64,
}

impl Profile {
    /// A run of which nothing but its time is known.
    pub fn whole(total: Duration) -> Profile {
        let step = ProfileStep {
            name: "run".into(),
            kind: "run",
            place: String::new(),
            start: Duration::ZERO,
            time: total,
            bytes: 0,
            flops: 0,
        };
        Profile { steps: vec![step], total }
    }

    /// The steps of the same name and place as one: how often they ran, and the sum of all; the longest first.
    pub fn by_name(&self) -> Vec<(usize, ProfileStep)> {
        let mut out: Vec<(usize, ProfileStep)> = vec![];
        let mut known = std::collections::HashMap::new();
        for s in &self.steps {
            let i = *known.entry((&s.name, s.kind, &s.place)).or_insert_with(|| {
                out.push((0, ProfileStep { time: Duration::ZERO, bytes: 0, flops: 0, ..s.clone() }));
                out.len() - 1
            });
            if let Some((n, sum)) = out.get_mut(i) {
                *n += 1;
                sum.time += s.time;
                sum.bytes = sum.bytes.saturating_add(s.bytes);
                sum.flops = sum.flops.saturating_add(s.flops);
            }
        }
        out.sort_by_key(|(_, s)| std::cmp::Reverse(s.time));
        out
    }

    /// The run in the format of Chrome's tracing, for `chrome://tracing` and Perfetto.
    pub fn chrome_trace(&self) -> String {
        let micros = |d: Duration| d.as_nanos() as f64 / 1e3;
        let event = |s: &ProfileStep| {
            serde_json::json!({
                "name": s.name, "cat": s.kind, "ph": "X", "pid": 1, "tid": 1,
                "ts": micros(s.start), "dur": micros(s.time),
                "args": { "place": s.place, "bytes": s.bytes, "flops": s.flops },
            })
        };
        serde_json::Value::Array(self.steps.iter().map(event).collect()).to_string()
    }
}

impl ProfileStep {
    /// Bytes a nanosecond.
    pub fn gigabytes_per_second(&self) -> f64 {
        per_nanosecond(self.bytes, self.time)
    }
    /// Float ops a nanosecond.
    pub fn gigaflops(&self) -> f64 {
        per_nanosecond(self.flops, self.time)
    }
}

fn per_nanosecond(n: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { n as f64 / time.as_nanos() as f64 }
}

/// A table: one line for all steps of one name, the longest first.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>12} {:>6} {:>8} {:>8} {:>9}  step", "time", "%", "runs", "GB/s", "GFLOP/s")?;
        let whole = self.total.as_secs_f64().max(f64::MIN_POSITIVE);
        for (n, s) in self.by_name() {
            let (time, share) = (format!("{:.1?}", s.time), 100.0 * s.time.as_secs_f64() / whole);
            let rate = |r: f64| if r > 0.0 { format!("{r:.1}") } else { String::new() };
            let (gb, gf) = (rate(s.gigabytes_per_second()), rate(s.gigaflops()));
            writeln!(f, "{time:>12} {share:>6.1} {n:>8} {gb:>8} {gf:>9}  {} {} {}", s.kind, s.name, s.place)?;
        }
        write!(f, "{:>12} in all", format!("{:.1?}", self.total))
    }
}
