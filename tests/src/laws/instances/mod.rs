//! The instances: for every op at least one, with the attributes, shapes (0, 1, odd, symbolic) and dtypes that its rules
//! tell apart.

mod collective;
mod control;
mod elementwise;
mod indexing;
mod linalg;
mod movement;
mod reductions;

use super::instance::{Instance, lines, programs};

/// All of them.
///
/// # Errors
/// What is wrong with each that is wrong.
pub fn all() -> Result<Vec<Instance>, Vec<String>> {
    let (mut good, mut bad) = (vec![], vec![]);
    let parts = [
        lines(elementwise::LINES),
        lines(movement::LINES),
        programs(movement::PROGRAMS),
        lines(indexing::LINES),
        lines(reductions::LINES),
        lines(linalg::LINES),
        programs(linalg::PROGRAMS),
        programs(control::PROGRAMS),
        lines(collective::LINES),
        programs(collective::PROGRAMS),
    ];
    for p in parts {
        match p {
            Ok(mut list) => good.append(&mut list),
            Err(mut list) => bad.append(&mut list),
        }
    }
    if bad.is_empty() { Ok(good) } else { Err(bad) }
}
