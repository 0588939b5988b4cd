//! Shared libraries on disk, as far as loading one may end the process: one that was cut short.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};
use std::path::Path;

/// Is the file as long as its own header says? The loader maps an ELF file without asking, and touching what is not there
/// is a signal. Files of other kinds, and what cannot be a header, are left to the loader, whose message is better.
pub(crate) fn is_whole(path: &Path) -> Result<bool> {
    /// The size of a program header in files of 64 bits.
    const ENTRY: usize = 56;
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut head = [0u8; 64];
    if length < 64 || file.read_exact(&mut head).is_err() {
        return Ok(true);
    }
    // "\x7fELF", 64 bits, little-endian.
    if !head.starts_with(b"\x7fELF\x02\x01") || number(&head, 54, 2) != Some(ENTRY as u64) {
        return Ok(true);
    }
    let (Some(table), Some(count)) = (number(&head, 32, 8), number(&head, 56, 2)) else { return Ok(true) };
    let mut entries = vec![];
    file.seek(SeekFrom::Start(table.min(length)))?;
    file.take(count * ENTRY as u64).read_to_end(&mut entries)?;
    let (entries, cut) = entries.as_chunks::<ENTRY>();
    let there = |e: &[u8; ENTRY]| {
        // The offset in the file, and the size there.
        let end = number(e, 8, 8).zip(number(e, 32, 8)).and_then(|(start, size)| start.checked_add(size));
        end.is_some_and(|end| end <= length)
    };
    // Segments of type 1 are mapped.
    let mapped = |e: &&[u8; ENTRY]| number(*e, 0, 4) == Some(1);
    Ok(entries.len() as u64 == count && cut.is_empty() && entries.iter().filter(mapped).all(there))
}

/// A little-endian number of `n` bytes at an offset.
fn number(bytes: &[u8], at: usize, n: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(n)?)?;
    Some(bytes.iter().rev().fold(0, |x, &b| (x << 8) | u64::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_cut_short_is_told() {
        let path = std::env::temp_dir().join(format!("evoxc-library-{}", std::process::id()));
        let whole = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            is_whole(&path).unwrap()
        };
        assert!(whole(b"") && whole(b"some text") && whole(&[7; 300]), "no such file: the loader says so");
        if cfg!(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")) {
            let this = std::fs::read(std::env::current_exe().unwrap()).unwrap();
            assert!(whole(&this));
            for length in [64, 100, 1000, 5000] {
                assert!(!whole(&this[..length]), "{length}");
            }
            // A table that is said to be elsewhere.
            let mut odd = this[..1000].to_vec();
            odd[32..40].fill(0xff);
            assert!(!whole(&odd));
        }
        std::fs::remove_file(path).unwrap();
    }
}
