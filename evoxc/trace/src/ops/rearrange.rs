//! `rearrange`: reshape and transpose by a pattern of axis names, as in einops (Rogozhnikov, 2022).

use crate::{Sym, builder};
use evoxc_core::{Dim, DimLike};
use evoxc_ir::Prim;

/// One axis of a side: the names that it is made of. `1` is a group without names.
type Group<'a> = Vec<&'a str>;

/// `"b (h w) 1"` as its axes.
fn side(text: &str) -> Result<Vec<Group<'_>>, String> {
    let mut axes = vec![];
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('(') {
            let (names, after) = inner.split_once(')').ok_or("a `(` without its `)`")?;
            axes.push(names.split_whitespace().filter(|n| *n != "1").collect());
            rest = after.trim_start();
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            axes.push(if name == "1" { vec![] } else { vec![name] });
            rest = after.trim_start();
        }
    }
    for name in axes.iter().flatten() {
        if !name.chars().all(|c| c.is_alphanumeric() || c == '_') || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(format!("`{name}` is no name of an axis"));
        }
    }
    let all: Vec<&str> = axes.iter().flatten().copied().collect();
    match (0..all.len()).find(|&i| all[..i].contains(&all[i])) {
        Some(i) => Err(format!("`{}` stands twice on one side", all[i])),
        None => Ok(axes),
    }
}

/// The extent of every name on the left, in order.
fn extents<'a>(left: &[Group<'a>], shape: &[Dim], given: &[(&str, Dim)]) -> Result<Vec<(&'a str, Dim)>, String> {
    let mut out = vec![];
    for (axis, (group, &extent)) in left.iter().zip(shape).enumerate() {
        let size = |n: &str| given.iter().find(|(g, _)| *g == n).map(|(_, d)| *d);
        let open: Vec<&str> = group.iter().copied().filter(|n| size(n).is_none()).collect();
        let known = group.iter().filter_map(|n| size(n)).fold(Dim::constant(1), |a, b| a * b);
        let rest = match open[..] {
            [] if known == extent => known,
            [] => return Err(format!("axis {axis} has size {extent}, the pattern says {known}")),
            [_] if known == 0i64 => return Err(format!("the size of `{}` does not follow from one of 0", open[0])),
            [_] if (extent / known) * known == extent => extent / known,
            [_] => return Err(format!("axis {axis} of size {extent} does not divide by {known}")),
            _ => return Err(format!("the sizes of `{}` are unknown: give all but one", open.join("`, `"))),
        };
        out.extend(group.iter().map(|&n| (n, size(n).unwrap_or(rest))));
    }
    Ok(out)
}

impl Sym {
    /// Reshapes and transposes by names: the left side names the axes, `(h w)` one that is split; the right side says
    /// where each goes, `(w c)` joins several, `1` is an axis of size 1. `sizes` gives what a split does not tell.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let f = |x: Sym| x.rearrange("b (h w) c -> b h (w c)", &[("h", 2)]);
    /// let g = trace(f, spec(F32, (dim("B"), 6, 4))).unwrap();
    /// assert_eq!(g.output_specs(), [spec(F32, (dim("B"), 2, 12))]);
    /// ```
    ///
    /// # Errors
    /// A pattern that is none, names that differ between the sides, sizes that do not divide.
    #[track_caller]
    pub fn rearrange<D: DimLike>(self, pattern: &str, sizes: &[(&str, D)]) -> Sym {
        let _at = builder::pin();
        let Some(t) = self.ty() else { return Sym::POISON };
        let given: Vec<(&str, Dim)> = sizes.iter().map(|(n, d)| (*n, d.to_dim())).collect();
        let plan = || -> Result<(Vec<Dim>, Vec<usize>, Vec<Dim>), String> {
            let (left, right) = pattern.split_once("->").ok_or("the pattern has no `->`")?;
            let (left, right) = (side(left)?, side(right)?);
            if left.len() != t.rank() {
                return Err(format!("the left side has {} axes, the tensor {}", left.len(), t.rank()));
            }
            let named = extents(&left, &t.shape, &given)?;
            let order: Vec<&str> = right.iter().flatten().copied().collect();
            let at =
                |n: &str| named.iter().position(|(m, _)| *m == n).ok_or(format!("`{n}` is on the right side only"));
            let perm = order.iter().map(|n| at(n)).collect::<Result<Vec<usize>, String>>()?;
            if let Some((n, _)) = named.iter().find(|(n, _)| !order.contains(n)) {
                return Err(format!("`{n}` is on the left side only"));
            }
            if let Some((n, _)) = given.iter().find(|(n, _)| !named.iter().any(|(m, _)| m == n)) {
                return Err(format!("`{n}` has a size but is not in the pattern"));
            }
            let split = named.iter().map(|(_, d)| *d).collect();
            let size = |n: &&str| named.iter().find(|(m, _)| m == n).map_or(Dim::constant(1), |(_, d)| *d);
            let out = right.iter().map(|g| g.iter().map(size).fold(Dim::constant(1), |a, b| a * b)).collect();
            Ok((split, perm, out))
        };
        match plan() {
            Ok((split, perm, out)) => {
                let x = self.reshape(&split);
                let moved = !perm.iter().copied().eq(0..perm.len());
                let x = if moved { builder::emit(Prim::Transpose { perm }, &[x]) } else { x };
                x.reshape(&out)
            }
            Err(m) => builder::fail("rearrange", &[self], format!("\"{pattern}\": {m}"), None),
        }
    }
}
