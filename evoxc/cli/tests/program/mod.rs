//! Runs the program in a folder of its own.
#![allow(dead_code, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder, and a variable for the programs that run in it.
pub struct Folder(PathBuf, Option<(&'static str, PathBuf)>);

impl Folder {
    pub fn new() -> Folder {
        static N: AtomicUsize = AtomicUsize::new(0);
        let name = format!("evoxc-cli-{}-{}", std::process::id(), N.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path, None)
    }
    pub fn with(variable: &'static str, value: PathBuf) -> Folder {
        let mut folder = Folder::new();
        folder.1 = Some((variable, value));
        folder
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Path {
        std::fs::write(self.path(name), bytes).unwrap();
        &self.0
    }
    /// Exit status, standard output, standard error.
    pub fn evoxc(&self, args: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evoxc"));
        // Backends that are somewhere on this machine change no test that does not ask for them.
        command.env_remove("EVOXC_PJRT_PLUGIN").env_remove("EVOXC_IREE_COMPILER").envs(self.1.clone());
        let out: Output = command.current_dir(&self.0).args(args).output().unwrap();
        let text = |b: Vec<u8>| String::from_utf8(b).unwrap();
        (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
    }
    pub fn ok(&self, args: &[&str]) -> String {
        let (code, out, err) = self.evoxc(args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        out
    }
    /// The one line of an error.
    pub fn fails(&self, status: i32, args: &[&str]) -> String {
        let (code, out, err) = self.evoxc(args);
        assert_eq!((code, out.as_str()), (status, ""), "{args:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        err.trim_end().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The XLA plugin to test with: the one in the environment, else the one that `.ci/compilers` installs.
pub fn plugin() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("EVOXC_PJRT_PLUGIN") {
        return Some(path.into());
    }
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/compilers/lib");
    let pythons = std::fs::read_dir(lib).into_iter().flatten().filter_map(Result::ok).map(|e| e.path());
    let mut files = pythons.map(|p| p.join("site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"));
    let found = files.find(|f| f.is_file());
    if found.is_none() {
        eprintln!("skipped: there is no PJRT plugin; `.ci/compilers` installs one, or set EVOXC_PJRT_PLUGIN");
    }
    found
}

/// A `.npy` file of `f32`s. Source: the format's documentation.
pub fn npy(values: &[f32], shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut v = b"\x93NUMPY\x01\x00".to_vec();
    v.extend((header.len() as u16).to_le_bytes());
    v.extend(header.bytes());
    v.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    v
}

/// y = x + x, z = w, over a symbolic extent.
pub const GRAPH: &str = "module @main version 1 {
  func @main(%x: tensor<Bx2xf32>, %w: tensor<f32>) -> (tensor<Bx2xf32>, tensor<f32>) {
    %y = evoxc.add(%x, %x) : tensor<Bx2xf32>
    %z = evoxc.neg(%w) : tensor<f32>
    return %y, %z
  }
}
";
