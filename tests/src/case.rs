//! The format of file tests: cases separated by `// -----`, each with header lines, a program, and sometimes an
//! expected print.

use std::fs;
use std::path::{Path, PathBuf};

/// One case of a file.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file.
    pub file: PathBuf,
    /// The line that the case starts on, from 1.
    pub line: usize,
    /// The header lines, as (key, value).
    pub headers: Vec<(String, String)>,
    /// The program: everything but header lines and the expected print. Line i of it is line `line + i` of the file,
    /// since header lines stay as empty ones.
    pub program: String,
    /// The expected print, its comment marks taken off.
    pub print: Option<String>,
    /// All lines, as they stand.
    pub text: String,
}

const SEPARATOR: &str = "// -----";
const KEYS: [&str; 9] = ["source", "input", "expect", "tol", "ok", "axes", "rows", "options", "error"];

impl Case {
    fn new(file: &Path, line: usize, lines: &[&str]) -> Case {
        let mut headers = vec![];
        let mut program = String::new();
        let mut print: Option<String> = None;
        let mut in_header = true;
        for l in lines {
            if let Some(p) = &mut print {
                if let Some(rest) = l.strip_prefix("//") {
                    p.push_str(rest.strip_prefix(' ').unwrap_or(rest));
                    p.push('\n');
                }
                continue;
            }
            if l.starts_with("// ---- ") {
                print = Some(String::new());
                continue;
            }
            let comment = l.strip_prefix("//");
            in_header &= comment.is_some() || l.trim().is_empty();
            match comment {
                Some(c) if in_header => {
                    let (key, value) = c.split_once(':').unwrap_or((c, ""));
                    if KEYS.contains(&key.trim()) {
                        headers.push((key.trim().to_string(), value.trim().to_string()));
                    }
                }
                _ => program.push_str(l),
            }
            program.push('\n');
        }
        Case { file: file.to_path_buf(), line, headers, program, print, text: lines.join("\n") }
    }
    /// The values of one header key, in order.
    pub fn header(&self, key: &str) -> Vec<&str> {
        self.headers.iter().filter(|(k, _)| k == key).map(|(_, v)| v.as_str()).collect()
    }
    /// `file:line`, for messages.
    pub fn place(&self) -> String {
        let name = self.file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        format!("{name}:{}", self.line)
    }
    /// The file's name and the first function's: `exp.evx @exp_f32`, as in the lists of unsupported cases.
    pub fn name(&self) -> String {
        let file = self.file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let rest = self.program.split_once("func @").map_or("", |(_, r)| r);
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        format!("{file} @{}", rest.get(..end).unwrap_or(""))
    }
}

/// The folder of the file tests.
pub fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ir").join(kind)
}

/// Every file of a kind, in order of names; `CASE=text` in the environment keeps those whose name has the text.
///
/// # Errors
/// What cannot be read.
pub fn files(kind: &str) -> Result<Vec<PathBuf>, String> {
    let dir = folder(kind);
    let entries = fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut out: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    let wanted = std::env::var("CASE").unwrap_or_default();
    out.retain(|p| p.extension().is_some_and(|e| e == "evx") && p.to_string_lossy().contains(&wanted));
    out.sort();
    Ok(out)
}

/// The cases of a file.
///
/// # Errors
/// What cannot be read.
pub fn read(file: &Path) -> Result<Vec<Case>, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let lines: Vec<&str> = text.lines().collect();
    let mut out = vec![];
    let mut start = 0;
    for part in lines.split(|l| *l == SEPARATOR) {
        out.push(Case::new(file, start + 1, part));
        start += part.len() + 1;
    }
    Ok(out)
}

/// Writes a file's cases back, each with new text.
///
/// # Errors
/// What cannot be written.
pub fn write(file: &Path, cases: &[String]) -> Result<(), String> {
    let parts: Vec<&str> = cases.iter().map(|c| c.trim_matches('\n')).collect();
    let text = parts.join(&format!("\n\n{SEPARATOR}\n\n")) + "\n";
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}
