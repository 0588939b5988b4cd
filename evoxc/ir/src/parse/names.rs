//! Questions to the table of ops by a printed name: is there such an op, which attributes has it, what was meant.

use crate::{CumOp, Prim, Reducer, ScatterOp, SelectOp, TABLE};

const NONE: &str = "no op is called";

/// Is there an op of that name? (It may still lack attributes.)
pub(super) fn exists(name: &str) -> bool {
    Prim::from_text(name, &mut |_| None).map_or_else(|m| !m.starts_with(NONE), |_| true)
}
/// The names of its attributes.
pub(super) fn attributes_of(name: &str) -> &'static [&'static str] {
    let exact = TABLE.iter().find(|r| r.name == name);
    let family =
        || TABLE.iter().filter(|r| r.name.ends_with('_') && name.starts_with(r.name)).max_by_key(|r| r.name.len());
    exact.or_else(family).map_or(&[], |r| r.attributes)
}
/// The message that there is none, with the closest one that there is.
pub(super) fn unknown(name: &str) -> String {
    let kinds = Reducer::ALL.iter().map(|k| k.word()).chain(ScatterOp::ALL.iter().map(|k| k.word()));
    let kinds: Vec<_> =
        kinds.chain(SelectOp::ALL.iter().map(|k| k.word())).chain(CumOp::ALL.iter().map(|k| k.word())).collect();
    let all = TABLE.iter().flat_map(|r| {
        let family: Vec<String> = kinds.iter().map(|k| format!("{}{k}", r.name)).filter(|n| exists(n)).collect();
        if r.name.ends_with('_') { family } else { vec![r.name.to_string()] }
    });
    // Far longer names are close to none, and comparing takes the product of both lengths.
    let close = if name.len() > 60 { None } else { all.map(|n| (distance(name, &n), n)).min() };
    let text: String = name.chars().take(60).collect();
    match close {
        Some((d, n)) if d <= 1 + name.len() / 3 => format!("{NONE} `{text}`; did you mean `{n}`?"),
        _ => format!("{NONE} `{text}`"),
    }
}
/// Edits (insertions, deletions, replacements) from one name to the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut left = i + 1;
        let mut diagonal = i;
        for (slot, y) in row.iter_mut().skip(1).zip(b.chars()) {
            let up = *slot;
            left = (left + 1).min(up + 1).min(diagonal + usize::from(x != y));
            diagonal = std::mem::replace(slot, left);
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
