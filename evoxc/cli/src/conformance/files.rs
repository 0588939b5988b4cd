//! The files of a folder.

use crate::Failure;
use std::path::{Path, PathBuf};

/// A file of programs.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it is called: its path in the folder, with `/` on every system.
    pub name: String,
}

/// Every `.mlir` file of a folder and the folders in it, in the order of their names; or the one file.
pub fn find(root: &Path) -> Result<Vec<SourceFile>, Failure> {
    let failed = |path: &Path, e: std::io::Error| Failure::Error(format!("{}: {e}", path.display()));
    if root.is_file() {
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(vec![SourceFile { path: root.into(), name }]);
    }
    let mut out = vec![];
    let mut folders = vec![(root.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|e| failed(&folder, e))? {
            let entry = entry.map_err(|e| failed(&folder, e))?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            // Links to folders are not followed: they may lead in circles.
            if entry.file_type().map_err(|e| failed(&folder, e))?.is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else if name.ends_with(".mlir") {
                out.push(SourceFile { path: entry.path(), name });
            }
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    match out.is_empty() {
        true => Err(Failure::Error(format!("{}: there are no .mlir files", root.display()))),
        false => Ok(out),
    }
}
