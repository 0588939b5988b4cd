//! The backends that are compiled in, by feature, and the devices of this host.
//!
//! This crate owns nothing but the list: each backend is a crate of its own below, and none knows another.

use evoxc_core::Device;
use evoxc_stage::{AnyBackend, Backend};

#[cfg(feature = "interp")]
pub use evoxc_interp::{Interp, Replicas};
#[cfg(feature = "iree")]
pub use evoxc_iree::{Iree, IreeArtifact, IreeProgram, IreeTarget};
#[cfg(feature = "native")]
#[doc(hidden)]
pub use evoxc_native::Edge;
#[cfg(feature = "native")]
pub use evoxc_native::{MemoCounts, Native, NativeArtifact, NativeProgram, Precision, schedule};
#[cfg(feature = "stablehlo")]
pub use evoxc_stablehlo as stablehlo;
#[cfg(feature = "xla")]
pub use evoxc_xla::{Xla, XlaArtifact, XlaFlag, XlaProgram};

/// The backends compiled in, with their default options; the reference interpreter is the first. Those behind a library
/// that is found at run time are listed where the environment names the library: XLA where `EVOXC_PJRT_PLUGIN` is
/// set, IREE where `EVOXC_IREE_COMPILER` is.
/// Listing loads nothing; asking a backend for its version or its devices does.
///
/// ```
/// use evoxc::prelude::*;
/// for b in backends() {
///     println!("{} {}", b.name(), b.version());
/// }
/// ```
pub fn backends() -> Vec<AnyBackend> {
    #[allow(unused_mut, clippy::vec_init_then_push, reason = "what is pushed depends on features")]
    let mut out = vec![];
    #[cfg(feature = "interp")]
    out.push(AnyBackend::new(Interp));
    #[cfg(feature = "native")]
    out.push(AnyBackend::new(Native::default()));
    #[cfg(feature = "xla")]
    out.extend(Xla::configured().map(AnyBackend::new));
    #[cfg(feature = "iree")]
    out.extend(Iree::configured().map(AnyBackend::new));
    out
}

/// The devices that some backend here can use.
///
/// ```
/// use evoxc::prelude::*;
/// assert!(devices().contains(&Device::cpu()));
/// ```
pub fn devices() -> Vec<Device> {
    let mut out: Vec<Device> = backends().iter().flat_map(Backend::devices).collect();
    out.sort();
    out.dedup();
    out
}
