//! The laws that every primitive's derivative and batching rules obey, over the one table of ops: a new row of the table
//! fails the test until it has an instance, or an excuse with a reason.
//!
//! Instances (small programs around one op, with points away from kinks) are data, in [`instances`]; what an op is
//! excused from, in [`excuses`]; each law is one function of [`derivative`] or [`rows`].

pub mod derivative;
pub mod excuses;
pub mod host;
pub mod instance;
pub mod instances;
pub mod program;
pub mod rows;

use crate::tolerance::Category;
use evoxc_ir::{CumOp, Reducer, ScatterOp, SelectOp, TABLE};
use instance::Instance;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a primitive must satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Law {
    /// jvp gives what central differences in a random direction give.
    Jvp,
    /// ⟨vjp u, v⟩ = ⟨u, jvp v⟩.
    Vjp,
    /// vmap gives what a loop and a stack give.
    Vmap,
    /// vmap of vjp gives what vjp of vmap gives.
    Exchange,
    /// The derivatives of jvp and of vjp are those of central differences.
    Second,
}

impl Law {
    /// Every one.
    pub const ALL: [Law; 5] = [Law::Jvp, Law::Vjp, Law::Vmap, Law::Exchange, Law::Second];
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Law::Jvp => "jvp",
            Law::Vjp => "vjp",
            Law::Vmap => "vmap",
            Law::Exchange => "exchange",
            Law::Second => "second",
        })
    }
}

/// Did a law apply to an instance? A law of derivatives does not to one without floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tested {
    /// It held.
    Holds,
    /// There was nothing to check.
    Nothing,
}

/// The names of all ops, as printed: every row with every kind.
pub fn ops() -> Vec<String> {
    let kinds = |stem: &str| -> Vec<&'static str> {
        match stem {
            "scatter_" => ScatterOp::ALL.iter().map(|k| k.word()).collect(),
            "reduce_" | "reduce_window_" | "all_reduce_" | "reduce_scatter_" => {
                Reducer::ALL.iter().map(|k| k.word()).collect()
            }
            "select_and_scatter_" => SelectOp::ALL.iter().map(|k| k.word()).collect(),
            "cumulative_" => CumOp::ALL.iter().map(|k| k.word()).collect(),
            _ => vec![""],
        }
    };
    TABLE.iter().flat_map(|row| kinds(row.name).into_iter().map(move |k| format!("{}{k}", row.name))).collect()
}

/// Checks one law on one instance; a panic is a failure.
fn check(law: Law, i: &Instance, excused: &BTreeSet<(String, Law)>) -> Result<Tested, String> {
    let reverse = !excused.contains(&(i.op.clone(), Law::Vjp));
    let run = || match law {
        Law::Jvp => derivative::jvp(i),
        Law::Vjp => derivative::vjp(i),
        Law::Vmap => rows::vmap(i),
        Law::Exchange => rows::exchange(i),
        Law::Second => derivative::second(i, reverse),
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|p| {
        let text = p.downcast_ref::<String>().map(String::as_str).or(p.downcast_ref::<&str>().copied());
        Err(format!("panics: {}", text.unwrap_or("")))
    })
}

/// Walks the table: the failures, for people. `OP=text` in the environment keeps the ops whose name has the text,
/// `LAW=text` the laws.
pub fn failures() -> Vec<String> {
    let wanted = |key: &str, name: &str| std::env::var(key).map_or(true, |t| name.contains(&t));
    let all: BTreeSet<String> = ops().into_iter().collect();
    let mut failures = vec![];
    let mut excused = BTreeSet::new();
    for e in excuses::EXCUSES {
        for &op in e.ops {
            if !all.contains(op) {
                failures.push(format!("{op}: an excused name that is no op"));
            }
            for &law in e.laws {
                if !excused.insert((op.to_string(), law)) {
                    failures.push(format!("{op} {law}: excused twice"));
                }
            }
        }
    }
    let mut of: BTreeMap<String, Vec<Instance>> = BTreeMap::new();
    match instances::all() {
        Ok(list) => list.into_iter().for_each(|i| of.entry(i.op.clone()).or_default().push(i)),
        Err(e) => return e,
    }
    for name in of.keys().filter(|n| !all.contains(*n)) {
        failures.push(format!("{name}: an instance of no op"));
    }
    let jobs: Vec<&String> = all.iter().filter(|n| wanted("OP", n)).collect();
    let judge = |op: &String| -> Vec<String> {
        let mut out = vec![];
        let Some(list) = of.get(op) else { return vec![format!("{op}: no instance, see tests/src/laws/instances")] };
        for law in Law::ALL.into_iter().filter(|l| wanted("LAW", &l.to_string())) {
            let excuse = excused.contains(&(op.clone(), law));
            let mut tested = false;
            let mut broken = vec![];
            for i in list {
                match check(law, i, &excused) {
                    Ok(t) => tested |= t == Tested::Holds,
                    Err(e) => broken.push(format!("{op} {law}: {}\n    {e}", i.label)),
                }
            }
            match (excuse, broken.is_empty(), tested) {
                (false, true, false) => {
                    out.push(format!("{op} {law}: no instance has anything to check; add one, or an excuse"))
                }
                (true, true, true) => out.push(format!("{op} {law}: it holds; take the excuse away")),
                (true, _, _) => {}
                (false, _, _) => out.extend(broken),
            }
        }
        let reordered = excuses::REORDERED.iter().any(|(name, _)| name == op);
        if reordered && list.iter().all(|i| rows::within(i, Category::Exact).is_ok()) {
            out.push(format!("{op} vmap: it agrees bit for bit; it is not reordered"));
        }
        out
    };
    // Two halves at once: the table is long, and debug builds are slow.
    let (left, right) = jobs.split_at(jobs.len() / 2);
    let more = std::thread::scope(|s| {
        let other = s.spawn(|| right.iter().flat_map(|op| judge(op)).collect::<Vec<_>>());
        let mut mine: Vec<String> = left.iter().flat_map(|op| judge(op)).collect();
        mine.extend(other.join().unwrap_or_else(|_| vec!["a thread of the harness panicked".into()]));
        mine
    });
    failures.extend(more);
    failures
}
