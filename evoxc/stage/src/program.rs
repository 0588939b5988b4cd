//! What a loaded artifact is to the stages: something that maps tensors to tensors.

use crate::Profile;
use evoxc_core::{Result, Tensor};
use std::time::Instant;

/// A program on a device, ready to run. Implemented by backends; users hold it inside an
/// [`Executable`](crate::Executable), which has checked all arguments before they arrive here.
///
/// ```
/// use evoxc::{Program, prelude::*};
/// struct Swap;
/// impl Program for Swap {
///     fn run(&self, mut args: Vec<Tensor>) -> evoxc::Result<Vec<Tensor>> {
///         args.reverse();
///         Ok(args)
///     }
/// }
/// let out = Swap.run(vec![Tensor::from(1f32), Tensor::from(2f32)])?;
/// assert_eq!(out[0].item::<f32>()?, 2.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub trait Program: Send + Sync {
    /// Runs with the arguments of the module's entry, in order, and gives its results, in order.
    ///
    /// The arguments are moved in: a tensor whose storage has no other owner is the program's to write to.
    ///
    /// # Errors
    /// [`RunError`](evoxc_core::RunError) for an op that fails on these values, or the backend's own errors.
    fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>>;

    /// Runs, and says what the time was spent on. A program that knows nothing of its steps reports the run as one.
    ///
    /// # Errors
    /// As [`Program::run`].
    fn profile(&self, args: Vec<Tensor>) -> Result<(Vec<Tensor>, Profile)> {
        let start = Instant::now();
        let results = self.run(args)?;
        self.synchronize()?;
        Ok((results, Profile::whole(start.elapsed())))
    }

    /// Waits until everything that was started by earlier runs has finished. A program that runs to the end before
    /// it returns has nothing to wait for.
    ///
    /// # Errors
    /// Failures of work that was still under way.
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}
