//! The backends that are compiled in, by feature, and the devices of this host.
//!
//! This crate owns nothing but the list: each backend is a crate of its own below, and none knows another.

use evoxc_core::Device;
use evoxc_stage::{AnyBackend, Backend};

#[cfg(feature = "interp")]
pub use evoxc_interp::{Interp, Replicas};

/// The backends compiled in, with their default options; the reference interpreter is the first.
///
/// ```
/// use evoxc::prelude::*;
/// for b in backends() {
///     println!("{} {}", b.name(), b.version());
/// }
/// ```
pub fn backends() -> Vec<AnyBackend> {
    vec![
        #[cfg(feature = "interp")]
        AnyBackend::new(Interp),
    ]
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
