//! The system's C compiler: found on the path, and run on a source.

use evoxc_core::OpError;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// Exactness is part of the flags: no contraction, no reassociation, integers wrap.
const FLAGS: &[&str] = &[
    "-O2",
    "-std=gnu11",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-semantic-interposition",
    "-fvisibility=default",
    "-fPIC",
    "-shared",
    "-w",
];

/// A compiler, and what tells its code from that of others.
#[derive(Debug)]
pub(super) struct Toolchain {
    program: PathBuf,
    native: &'static str,
    /// Its version, flags and the CPU: code of equal ones is the same.
    pub identity: String,
}

impl Toolchain {
    /// The compiler of that name or path, or the first that is there.
    pub fn find(asked: Option<&Path>) -> Result<Toolchain, OpError> {
        let names: Vec<PathBuf> = match asked {
            Some(path) => vec![path.to_path_buf()],
            None => ["clang", "gcc", "cc"].map(PathBuf::from).to_vec(),
        };
        for program in &names {
            let Ok(output) = Command::new(program).arg("--version").output() else { continue };
            if output.status.success() {
                let version = String::from_utf8_lossy(&output.stdout);
                let native = if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
                    "-march=native"
                } else if version.contains("clang") || cfg!(target_arch = "aarch64") {
                    "-mcpu=native"
                } else {
                    "-O2"
                };
                let line = version.lines().next().unwrap_or_default();
                let identity = format!("{line}\n{native} {}\n{}", FLAGS.join(" "), cpu());
                return Ok(Toolchain { program: program.clone(), native, identity });
            }
        }
        let names: Vec<String> = names.iter().map(|p| format!("`{}`", p.display())).collect();
        Err(OpError::new("compile", format!("there is no C compiler: {} cannot be run", names.join(", ")))
            .remedy("install clang or gcc and have it on the PATH, or use `Native::interp()`"))
    }

    /// A shared object from a source, in that folder.
    pub fn run(&self, source: &str, folder: &Path) -> Result<PathBuf, OpError> {
        let (from, to) = (folder.join("kernels.c"), folder.join("kernels.so"));
        std::fs::write(&from, source).map_err(|e| io(&from, &e))?;
        let output = Command::new(&self.program)
            .args(FLAGS)
            .arg(self.native)
            .arg("-o")
            .args([&to, &from])
            .arg("-lm")
            .output()
            .map_err(|e| io(&self.program, &e))?;
        if output.status.success() {
            return Ok(to);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = message.lines().take(12).collect();
        let text = format!("{} fails ({}):\n{}", self.program.display(), output.status, first.join("\n"));
        Err(OpError::new("compile", text).remedy("report it with the compiler's version, or use another compiler"))
    }
}

pub(super) fn io(path: &Path, e: &std::io::Error) -> OpError {
    OpError::new("compile", format!("{}: {e}", path.display()))
}

/// What `-march=native` depends on.
fn cpu() -> String {
    let all = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = all.split("\n\n").next().unwrap_or_default();
    let told = |l: &&str| ["model name", "flags", "Features", "CPU part"].iter().any(|p| l.starts_with(p));
    let lines: Vec<&str> = first.lines().filter(told).collect();
    format!("{} {}", std::env::consts::ARCH, lines.join(" "))
}

/// A folder of its own, which goes with all that is in it.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Result<Folder, OpError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let root = std::env::temp_dir();
        // Another process may have had this number and ended without removing its folder.
        for _ in 0..1000 {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = root.join(format!("evoxc-{}-{number}", std::process::id()));
            match private(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(io(&path, &e)),
            }
        }
        Err(OpError::new("compile", format!("{}: no folder can be made", root.display())))
    }
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Makes a folder that no other user can put code into.
fn private(path: &Path) -> std::io::Result<()> {
    #[allow(unused_mut)]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays: there is no one to tell.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
