//! What every renderer must pass: random kernels, and every instruction on every dtype, compared bit by bit with the
//! interpreter (but for the payloads of NaN).
//!
//! A test of a renderer is `suite::sweep(&renderer)` and `suite::check(&renderer)`. `EVOXC_SUITE_CASES` sets how many
//! random kernels there are, `EVOXC_SUITE_SEED` (0 to 255) which, and `EVOXC_SUITE_TRACE=1` prints each kernel before it
//! runs, which helps where one crashes.

mod build;
mod case;
mod memory;
mod recipe;
mod sweep;

pub(crate) use memory::patterns;

use super::{Interp, Renderer};
use case::Case;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::{Duration, Instant};

/// Random kernels. On failure the smallest kernel found that fails is shown.
pub(crate) fn check(renderer: &dyn Renderer) {
    let cases = std::env::var("EVOXC_SUITE_CASES").ok().and_then(|n| n.parse().ok());
    check_cases(renderer, cases.unwrap_or(512));
}

/// As many random kernels.
pub(crate) fn check_cases(renderer: &dyn Renderer, cases: usize) {
    if let Some(what) = failure(renderer, cases) {
        panic!("{what}");
    }
}

/// What is wrong with the first of random kernels that fails, made as small as can be. They are compiled several at once.
fn failure(renderer: &dyn Renderer, cases: usize) -> Option<String> {
    let seed = std::env::var("EVOXC_SUITE_SEED").ok().and_then(|n| n.parse().ok());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed.unwrap_or(7); 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (strategy, target) = (recipe::recipe(), renderer.target());
    let mut left = cases;
    while left > 0 {
        let trees: Vec<_> = (0..left.min(64)).map(|_| strategy.new_tree(&mut runner).unwrap()).collect();
        left -= trees.len();
        let all: Vec<Case> = trees.iter().map(|t| build::build(&t.current(), &target)).collect();
        for (mut tree, result) in trees.into_iter().zip(judge_all(renderer, &all)) {
            let Err(mut worst) = result else { continue };
            // Halves the kernel for as long as it still fails, and for half a minute at most.
            let start = Instant::now();
            let mut smaller = tree.simplify();
            while smaller && start.elapsed() < Duration::from_secs(30) {
                let now = judge_all(renderer, &[build::build(&tree.current(), &target)]);
                smaller = match now.into_iter().next().unwrap() {
                    Err(e) => {
                        worst = e;
                        tree.simplify()
                    }
                    Ok(()) => tree.complicate(),
                };
            }
            return Some(worst);
        }
    }
    None
}

/// Every op, conversion and form of memory access on every dtype, as scalars and as vectors where the renderer has them.
pub(crate) fn sweep(renderer: &dyn Renderer) {
    let all = sweep::cases(&renderer.target());
    let failures: Vec<String> = judge_all(renderer, &all).into_iter().filter_map(Result::err).collect();
    if let Some(first) = failures.first() {
        panic!("{} of {} kernels fail, the first: {first}", failures.len(), all.len());
    }
}

/// Runs every case on the interpreter and on the renderer, and says where they differ.
fn judge_all(renderer: &dyn Renderer, cases: &[Case]) -> Vec<Result<(), String>> {
    let kernels: Vec<_> = cases.iter().map(|c| &c.lir).collect();
    let codes = match renderer.compile_all(&kernels) {
        Ok(codes) => codes.into_iter().map(Ok).collect(),
        // One by one, to know which.
        Err(_) => kernels.iter().map(|k| renderer.compile(k)).collect::<Vec<_>>(),
    };
    cases
        .iter()
        .zip(codes)
        .map(|(case, code)| {
            let code =
                code.map_err(|e| format!("{} does not compile it: {e}\n{}{}", renderer.name(), case.name, case.lir))?;
            if std::env::var_os("EVOXC_SUITE_TRACE").is_some() {
                eprintln!("{}\n{}{}", case.name, case.lir, code.text());
            }
            let oracle =
                Interp.compile(&case.lir).map_err(|e| format!("the suite made a wrong kernel: {e}\n{}", case.lir))?;
            if let Some(what) = case.differs(&*oracle, &*code) {
                let (name, text) = (renderer.name(), code.text());
                return Err(format!("{name} differs from interp: {what}\n{}\n{}\n{text}", case.name, case.lir));
            }
            case.stays_inside(&*code);
            Ok(())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::{Inst, Lir, Stride};
    use crate::render::{Code, Target};
    use crate::uop::Alu;
    use std::sync::Arc;

    // The interpreter against itself: all kernels of the suite are valid, and stay within memory.
    #[test]
    fn kernels_of_the_suite_are_valid() {
        sweep(&Interp);
        check(&Interp);
    }

    /// An interpreter that gets something wrong.
    struct Wrong(fn(&mut Inst));

    impl Renderer for Wrong {
        fn name(&self) -> &'static str {
            "wrong"
        }
        fn target(&self) -> Target {
            Interp.target()
        }
        fn compile(&self, kernel: &Lir) -> evoxc_core::Result<Arc<dyn Code>> {
            let mut kernel = kernel.clone();
            kernel.body.iter_mut().for_each(self.0);
            Interp.compile(&kernel)
        }
        fn load(&self, kernel: &Lir, _: &[u8]) -> evoxc_core::Result<Arc<dyn Code>> {
            self.compile(kernel)
        }
    }

    // Each of these is a slip that a renderer may make.
    #[test]
    fn slips_are_found() {
        let slips: [fn(&mut Inst); 5] = [
            |i| {
                if let Inst::Alu { op, .. } = i
                    && *op == Alu::MulHigh
                {
                    *op = Alu::Mul;
                }
            },
            |i| {
                if let Inst::Alu { op: Alu::Min | Alu::Max, src, .. } = i {
                    src.swap(0, 1);
                }
            },
            |i| {
                if let Inst::Load { stride, .. } = i
                    && matches!(stride, Stride::Reg(_))
                {
                    *stride = Stride::One;
                }
            },
            |i| {
                if let Inst::For { step, .. } = i
                    && *step == 3
                {
                    *step = 4;
                }
            },
            |i| {
                if let Inst::Gather { dst, gate: Some((_, src)), .. } = *i {
                    *i = Inst::Copy { dst, src };
                }
            },
        ];
        for (n, slip) in slips.into_iter().enumerate() {
            assert!(failure(&Wrong(slip), 1024).is_some(), "slip {n}");
        }
    }
}
