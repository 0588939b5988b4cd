//! What `EVOXC_DUMP=uops,kernels,asm` shows on standard error while a program is compiled.

use crate::kernel::Kernel;
use crate::lir::Lir;
use crate::render::Code;
use std::sync::OnceLock;

const STAGES: [&str; 3] = ["uops", "kernels", "asm"];

/// Is this stage to be shown? The variable is read once.
fn shows(stage: &str) -> bool {
    static SHOWN: OnceLock<Vec<&'static str>> = OnceLock::new();
    let read = || {
        parse(&std::env::var("EVOXC_DUMP").unwrap_or_default()).unwrap_or_else(|message| {
            eprintln!("{message}");
            vec![]
        })
    };
    SHOWN.get_or_init(read).contains(&stage)
}

/// The stages that a list names.
fn parse(list: &str) -> Result<Vec<&'static str>, String> {
    let words = list.split(',').map(str::trim).filter(|w| !w.is_empty());
    words
        .map(|word| {
            STAGES
                .into_iter()
                .find(|s| *s == word)
                .ok_or_else(|| format!("EVOXC_DUMP: there is no stage `{word}`; there are {}", STAGES.join(", ")))
        })
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_words() {
        assert_eq!(parse(""), Ok(vec![]));
        assert_eq!(parse("uops, asm,"), Ok(vec!["uops", "asm"]));
        assert_eq!(parse("lir").unwrap_err(), "EVOXC_DUMP: there is no stage `lir`; there are uops, kernels, asm");
    }
}
