//! The text of an expression, which `parse` reads back.

use std::fmt;

use super::norm::{Atom, Mono, Poly, Remainder, split};
use super::{Dim, Op};

/// The longest text of an operand within an error.
const MAX_TEXT: usize = 200;

/// The text of an operation, for errors.
pub(super) fn describe(op: Op, a: Dim, b: Dim) -> String {
    let (a, b) = (shortened(a), shortened(b));
    let sign = match op {
        Op::Add => '+',
        Op::Sub => '-',
        Op::Mul => '*',
        Op::Div => '/',
        Op::Rem => '%',
        Op::Min => return format!("min({a}, {b})"),
        Op::Max => return format!("max({a}, {b})"),
    };
    let wrap = |s: String| {
        if s.contains(' ') || s.contains('/') { format!("({s})") } else { s }
    };
    format!("{} {sign} {}", wrap(a), wrap(b))
}

/// The text, cut if it is long.
pub(super) fn shortened(d: Dim) -> String {
    let mut text = d.to_string();
    if let Some((at, _)) = text.char_indices().nth(MAX_TEXT) {
        text.truncate(at);
        text.push_str("...");
    }
    text
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        write(&mut out, *self);
        f.pad(&out)
    }
}

impl fmt::Debug for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One summand: a product, with a remainder as its last factor or not.
struct Item {
    mono: Mono,
    coef: i64,
    rem: Option<(Dim, Dim)>,
}

impl Item {
    fn factors(&self) -> usize {
        self.mono.0.len() + usize::from(self.rem.is_some())
    }
}

fn items(p: &Poly) -> Vec<Item> {
    let split = split(p);
    let (constant, terms): (Vec<_>, Vec<_>) = (split.rest.terms.into_iter()).partition(|(m, _)| m.0.is_empty());
    let plain = |(mono, coef)| Item { mono, coef, rem: None };
    let rem = |r: Remainder| Item { mono: r.mono, coef: r.coef, rem: Some((r.n, r.d)) };
    let mut items: Vec<Item> = terms.into_iter().map(plain).collect();
    items.extend(split.remainders.into_iter().map(rem));
    items.extend(constant.into_iter().map(plain));
    // `5 - B` rather than `-B + 5`.
    if let Some(at) = items.iter().position(|i| i.coef > 0) {
        items[..=at].rotate_right(1);
    }
    items
}

fn write(out: &mut String, d: Dim) {
    if let Some(err) = d.error() {
        out.push_str(&format!("<error: {err}>"));
    } else if let Some(v) = d.as_i64() {
        out.push_str(&v.to_string());
    } else if let Ok(p) = d.poly() {
        for (i, item) in items(&p).iter().enumerate() {
            let negative = item.coef < 0;
            out.push_str(match (i, negative) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            });
            write_item(out, item, i == 0 && negative);
        }
    }
}

fn write_item(out: &mut String, item: &Item, negated: bool) {
    let size = item.coef.unsigned_abs();
    let alone = size == 1 && item.factors() == 1 && !negated;
    let mut first = true;
    if size != 1 || item.factors() == 0 {
        out.push_str(&size.to_string());
        first = false;
    }
    for (atom, power) in &item.mono.0 {
        if !std::mem::take(&mut first) {
            out.push('*');
        }
        match atom {
            Atom::Symbol(name) => out.push_str(name),
            Atom::Div(n, d) => write_quotient(out, *n, "/", *d, alone && *power == 1),
            Atom::Min(list) => write_call(out, "min", list),
            Atom::Max(list) => write_call(out, "max", list),
        }
        if *power != 1 {
            out.push_str(&format!("^{power}"));
        }
    }
    if let Some((n, d)) = item.rem {
        if !first {
            out.push('*');
        }
        write_quotient(out, n, " % ", d, alone);
    }
}

fn write_call(out: &mut String, name: &str, list: &[Dim]) {
    out.push_str(name);
    for (i, &d) in list.iter().enumerate() {
        out.push_str(if i == 0 { "(" } else { ", " });
        write(out, d);
    }
    out.push(')');
}

fn write_quotient(out: &mut String, n: Dim, sign: &str, d: Dim, alone: bool) {
    if !alone {
        out.push('(');
    }
    write_operand(out, n, true);
    out.push_str(sign);
    write_operand(out, d, false);
    if !alone {
        out.push(')');
    }
}

/// An operand of a quotient: products need parentheses on the right only.
fn write_operand(out: &mut String, d: Dim, left: bool) {
    let bare = match d.as_i64() {
        Some(v) => v >= 0,
        None => d.poly().is_ok_and(|p| match items(&p).as_slice() {
            [item] => {
                let plain = |(atom, _): &(Atom, u32)| !matches!(atom, Atom::Div(..));
                let simple = item.rem.is_none() && item.mono.0.iter().all(plain);
                simple && item.coef > 0 && (left || item.coef == 1 && item.factors() == 1)
            }
            _ => false,
        }),
    };
    if !bare {
        out.push('(');
    }
    write(out, d);
    if !bare {
        out.push(')');
    }
}
