//! What `EVOXC_DUMP=uops,kernels,asm` shows on standard error while a program is compiled.

use crate::kernel::Kernel;
use crate::lir::Lir;
use crate::render::Code;
use std::sync::OnceLock;

/// Is this stage to be shown? The variable is read once.
fn shows(stage: &str) -> bool {
    static STAGES: OnceLock<Vec<String>> = OnceLock::new();
    let read = || {
        let text = std::env::var("EVOXC_DUMP").unwrap_or_default();
        text.split(',').map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect()
    };
    STAGES.get_or_init(read).iter().any(|s| s == stage)
}

/// A kernel as it was scheduled.
pub(crate) fn kernel(label: &str, kernel: &Kernel) {
    if shows("uops") {
        eprintln!("// {label}\n{kernel}");
    }
}

/// A kernel in its last form.
pub(crate) fn lir(label: &str, lir: &Lir) {
    if shows("kernels") {
        eprintln!("// {label}\n{lir}");
    }
}

/// The code of a kernel.
pub(crate) fn code(code: &dyn Code) {
    if shows("asm") {
        eprintln!("{}", code.text());
    }
}
