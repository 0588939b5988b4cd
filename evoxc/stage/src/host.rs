//! The host's processor, as far as compiled code depends on it.

use std::sync::OnceLock;

/// The host's processor: architecture, model and a hash of the features, as the operating system names them. It belongs
/// into the ABI key of a backend whose code is for the processor that compiles it.
///
/// ```
/// assert!(evoxc_stage::host_processor().starts_with(std::env::consts::ARCH));
/// ```
pub fn host_processor() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        // Other systems than Linux have no such file: there the architecture has to do.
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| info.lines().find(|l| l.starts_with(name)).and_then(|l| l.split_once(':'));
        let model = field("model name").map_or("", |(_, m)| m.trim());
        let features = field("flags").or_else(|| field("Features")).map_or("", |(_, f)| f.trim());
        let hash =
            features.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        format!("{} {model} features {hash:016x}", std::env::consts::ARCH)
    })
}
