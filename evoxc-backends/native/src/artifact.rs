//! What the backend makes of a program, stage by stage, and their bytes.

use crate::linearise::Shape;
use crate::lir::Lir;
use crate::plan::Compiled;
use crate::schedule::{Block, Item, KernelItem, Routine, Schedule};
use evoxc_core::{OpError, PersistenceError, Result, TreeDef};
use evoxc_ir::{GraphFile, Module};
use sha2::{Digest, Sha256};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A program as kernels and steps between them.
#[derive(Clone, Debug)]
pub struct NativeProgram {
    pub(crate) module: Arc<Module>,
    pub(crate) schedule: Arc<Schedule>,
}

impl NativeProgram {
    /// The module that runs.
    pub fn module(&self) -> &Module {
        &self.module
    }
    /// Its kernels, and the steps between them.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        // The trees of the stages travel beside the artifact; here, arguments and results are plain lists.
        let (ins, outs) = self.module.main().map(|f| (f.body.args.len(), f.body.results.len())).unwrap_or_default();
        let (inputs, outputs) = (TreeDef::leaves_tuple(ins), TreeDef::leaves_tuple(outs));
        let file = GraphFile { module: Module::clone(&self.module), inputs, outputs, captures: 0 };
        file.to_json().map(String::into_bytes)
    }
}

/// The module in such bytes, verified: what is on disk may be damaged.
pub(crate) fn module_from(bytes: &[u8], what: &'static str) -> Result<Module> {
    let text = std::str::from_utf8(bytes).map_err(|e| bad(what, e.to_string()))?;
    let module = GraphFile::from_json(text)?.module;
    module.verify()?;
    Ok(module)
}

fn bad(what: &'static str, reason: String) -> evoxc_core::Error {
    PersistenceError::Format { path: "<bytes>".into(), what, reason }.into()
}

/// A program with code for its kernels.
#[derive(Clone)]
pub struct NativeArtifact {
    pub(crate) program: NativeProgram,
    /// Distinct kernels.
    pub(crate) kernels: Arc<Vec<Compiled>>,
    /// The number of the kernel of each kernel item, in the order of [`kernel_items`].
    pub(crate) numbers: Arc<Vec<u32>>,
}

impl NativeArtifact {
    /// The program before its kernels were compiled.
    pub fn program(&self) -> &NativeProgram {
        &self.program
    }
    /// The number of kernels that differ.
    ///
    /// ```
    /// use evoxc::{Native, prelude::*};
    /// let artifact = trace(|x: Sym| x + 1.0, spec(F32, [4]))?.lower(&Native::interp())?.compile()?;
    /// assert!(artifact.distinct_kernels() <= 1);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn distinct_kernels(&self) -> usize {
        self.kernels.len()
    }
    /// The code of every distinct kernel as text: assembly, source, or the kernel's last form.
    pub fn code(&self) -> Vec<String> {
        self.kernels.iter().map(|k| k.code.text()).collect()
    }
}

impl Deref for NativeArtifact {
    type Target = NativeProgram;
    fn deref(&self) -> &NativeProgram {
        &self.program
    }
}
impl fmt::Debug for NativeArtifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NativeArtifact of {} kernels", self.kernels.len())
    }
}

/// The kernels of a schedule with their routines, each as often as the text has it, in the order of the text.
pub(crate) fn kernel_items(schedule: &Schedule) -> Vec<(&Routine, &KernelItem)> {
    fn walk<'s>(r: &'s Routine, block: &'s Block, out: &mut Vec<(&'s Routine, &'s KernelItem)>) {
        for item in &block.items {
            match item {
                Item::Kernel(k) => out.push((r, k)),
                Item::Control { blocks, .. } => blocks.iter().for_each(|b| walk(r, b, out)),
                Item::Library(_) | Item::Matmul(_) | Item::View { .. } | Item::Call { .. } => {}
            }
        }
    }
    let mut out = vec![];
    schedule.routines.iter().for_each(|r| walk(r, &r.body, &mut out));
    out
}

const MAGIC: &[u8] = b"evoxc-native 1\n";
/// Instead of a length: code that is the same as the kernel's before.
const SAME: u64 = u64::MAX;

/// The length of the digest at the end.
const DIGEST: usize = 32;

/// SHA-256.
fn digest(bytes: &[u8]) -> [u8; DIGEST] {
    Sha256::digest(bytes).into()
}

/// The file: the module, then the code of every distinct kernel with a hash of the kernel and its shape, and a digest of
/// all that: damaged code must not run.
pub(crate) fn write(artifact: &NativeArtifact) -> Result<Vec<u8>> {
    let mut out = MAGIC.to_vec();
    let part = |out: &mut Vec<u8>, bytes: &[u8]| {
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend(bytes);
    };
    part(&mut out, &artifact.program.to_bytes()?);
    let mut last: Option<Vec<u8>> = None;
    for k in artifact.kernels.iter() {
        part(&mut out, &hash(&k.lir).to_le_bytes());
        part(&mut out, &[k.shape.lanes, k.shape.unroll]);
        let code = k.code.bytes();
        // Kernels that were compiled in one go are in one object.
        if last.as_ref() == Some(&code) && !code.is_empty() {
            out.extend(SAME.to_le_bytes());
        } else {
            part(&mut out, &code);
        }
        last = Some(code);
    }
    let digest = digest(&out);
    out.extend(digest);
    Ok(out)
}

/// A kernel in a file: its hash, its shape, its code.
pub(crate) type Saved<'b> = (u64, Shape, &'b [u8]);

/// The module, and every distinct kernel.
pub(crate) fn read(bytes: &[u8]) -> Result<(Module, Vec<Saved<'_>>)> {
    const WHAT: &str = "artifact";
    let short = || bad(WHAT, "it ends too early".into());
    let (bytes, expected) = bytes.split_last_chunk::<DIGEST>().ok_or_else(short)?;
    let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(|| bad(WHAT, "it is no artifact of this backend".into()))?;
    if digest(bytes) != *expected {
        return Err(bad(WHAT, "it is damaged: its digest is not that of its contents".into()));
    }
    let mut parts = vec![];
    while !rest.is_empty() {
        let (head, tail) = rest.split_first_chunk::<8>().ok_or_else(short)?;
        let n = u64::from_le_bytes(*head);
        if n == SAME {
            // The first part is the module, which is no code.
            let before = parts.len().checked_sub(3).filter(|&i| i > 0).and_then(|i| parts.get(i));
            let before = before.copied().ok_or_else(short)?;
            parts.push(before);
            rest = tail;
            continue;
        }
        let n = usize::try_from(n).map_err(|_| short())?;
        let (part, tail) = tail.split_at_checked(n).ok_or_else(short)?;
        parts.push(part);
        rest = tail;
    }
    let (module, kernels) = parts.split_first().ok_or_else(short)?;
    let kernels = kernels.chunks(3).map(|c| match *c {
        [hash, &[lanes, unroll], code] if (1..=16).contains(&lanes) && (1..=8).contains(&unroll) => {
            let hash = u64::from_le_bytes(hash.try_into().map_err(|_| short())?);
            Ok((hash, Shape { lanes, unroll }, code))
        }
        _ => Err(short()),
    });
    Ok((module_from(module, WHAT)?, kernels.collect::<Result<_>>()?))
}

/// A hash that is the same in every process.
pub(crate) fn hash(lir: &Lir) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut h = rustc_hash::FxHasher::default();
    lir.hash(&mut h);
    h.finish()
}

/// The error of code that is not of the kernels that this version makes.
pub(crate) fn foreign() -> evoxc_core::Error {
    bad("artifact", "its code is of other kernels than this version makes of the program".into())
}

/// An error of this backend.
pub(crate) fn refuse(op: OpError) -> evoxc_core::Error {
    evoxc_core::BackendError { backend: crate::NAME.into(), op }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of parts, with a digest that is right.
    fn file(parts: &[Option<&[u8]>]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for p in parts {
            out.extend(p.map_or(SAME, |p| p.len() as u64).to_le_bytes());
            out.extend(p.unwrap_or_default());
        }
        let sum = digest(&out);
        out.extend(sum);
        out
    }

    /// Whoever writes the digest may write anything: all of it is an error, and nothing of it a panic.
    #[test]
    fn files_of_other_forms_are_refused() {
        let module = Module::parse("func @main(%x: tensor<f32>) -> tensor<f32> {\n  return %x\n}").unwrap();
        let (inputs, outputs) = (TreeDef::leaves_tuple(1), TreeDef::leaves_tuple(1));
        let json = GraphFile { module, inputs, outputs, captures: 0 }.to_json().unwrap();
        let module = Some(json.as_bytes());
        let (hash, shape, code) = (Some(&[0; 8][..]), Some(&[8, 4][..]), Some(&[1, 2, 3][..]));
        assert_eq!(read(&file(&[module])).unwrap().1.len(), 0);
        assert_eq!(read(&file(&[module, hash, shape, code, hash, shape, None])).unwrap().1[1].2, [1, 2, 3]);
        for parts in [
            &[][..],
            &[None],
            &[hash],
            &[module, hash],
            &[module, hash, shape],
            &[module, hash, shape, None],
            &[module, shape, shape, code],
            &[module, hash, hash, code],
            &[module, hash, Some(&[0, 4]), code],
            &[module, hash, Some(&[8, 9]), code],
            &[module, hash, shape, code, None],
        ] {
            assert!(read(&file(parts)).is_err(), "{parts:?}");
        }
        // Lengths beyond the file.
        for n in [1, 9, u64::MAX / 2, u64::MAX - 1] {
            let mut out = MAGIC.to_vec();
            out.extend(n.to_le_bytes());
            let sum = digest(&out);
            out.extend(sum);
            assert!(read(&out).is_err());
        }
        // Every cut and every changed byte is damage.
        let whole = file(&[module, hash, shape, code]);
        for n in 0..whole.len() {
            assert!(read(&whole[..n]).is_err());
            let mut changed = whole.clone();
            changed[n] ^= 1;
            assert!(read(&changed).is_err());
        }
    }
}
