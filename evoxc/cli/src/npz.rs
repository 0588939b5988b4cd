//! NumPy's `.npz` archives: zip files whose members are `.npy` files.

use crate::npy;
use evoxc_core::Tensor;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The names and tensors of an archive, in its order.
pub fn read(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    let mut out = vec![];
    for i in 0..archive.len() {
        let member = archive.by_index(i).map_err(|e| e.to_string())?;
        let name = member.name().to_string();
        let limit = member.size();
        let mut data = vec![];
        // A member that unpacks to more than it declares is cut off, and then fails to be an array.
        member.take(limit).read_to_end(&mut data).map_err(|e| format!("{name}: {e}"))?;
        let tensor = npy::read(&data).map_err(|e| format!("{name}: {e}"))?;
        out.push((name.strip_suffix(".npy").unwrap_or(&name).to_string(), tensor));
    }
    Ok(out)
}

/// The bytes of an archive, uncompressed as `np.savez` makes it.
pub fn write(members: &[(String, Tensor)]) -> Result<Vec<u8>, String> {
    let mut archive = ZipWriter::new(Cursor::new(vec![]));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, tensor) in members {
        archive.start_file(format!("{name}.npy"), options).map_err(|e| e.to_string())?;
        archive.write_all(&npy::write(tensor)).map_err(|e| e.to_string())?;
    }
    Ok(archive.finish().map_err(|e| e.to_string())?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_come_back_and_damage_is_an_error() {
        let members = vec![("a".to_string(), Tensor::from([1f32, 2.0])), ("b.c".to_string(), Tensor::from(3i32))];
        let bytes = write(&members).unwrap();
        let back = read(&bytes).unwrap();
        assert_eq!(back.len(), 2);
        for ((name, t), (name2, t2)) in members.iter().zip(&back) {
            assert!(name == name2 && t.bit_eq(t2));
        }
        assert!(read(b"no zip").is_err());
        for i in 0..bytes.len() {
            let _ = read(&bytes[..i]);
            let mut changed = bytes.clone();
            changed[i] ^= 0xff;
            let _ = read(&changed);
        }
    }
}
