//! Where the fixtures are, and how close is close.
#![allow(dead_code)]

use evoxc::Tensor;
use evoxc_hf::io::SafeTensors;
use std::path::{Path, PathBuf};

/// The folder of fixtures; says that tests are skipped where it is not.
pub fn fixtures() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/models");
    let folder = std::env::var_os("EVOXC_MODELS").map_or(beside, PathBuf::from);
    if folder.join("manifest.json").exists() {
        return Some(folder);
    }
    eprintln!("skipped: no model fixtures at {}; set EVOXC_MODELS to their folder", folder.display());
    None
}

/// The expected values beside a checkpoint.
pub fn golden(folder: &Path) -> SafeTensors {
    SafeTensors::open(&folder.join("golden.safetensors")).unwrap()
}

/// What differs by more than `absolute + relative·|expected|`.
pub fn compare(what: &str, got: &Tensor, expected: &Tensor, absolute: f32, relative: f32) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let (g, e) = (got.as_slice::<f32>().unwrap(), expected.as_slice::<f32>().unwrap());
    let mut worst = (0f32, 0);
    for (i, (a, b)) in g.iter().zip(e).enumerate() {
        let over = (a - b).abs() / (absolute + relative * b.abs());
        if over.is_nan() || over > worst.0 {
            worst = (over, i);
        }
    }
    let i = worst.1;
    assert!(worst.0 <= 1.0, "{what}: element {i} is {}, expected {}: {} times what is allowed", g[i], e[i], worst.0);
}

/// The tolerance of logits that the fixtures' README states.
pub const LOGITS: (f32, f32) = (1e-4, 1e-5);

/// What the oracle gives, as the graphs give it.
pub fn single<D: ndarray::Dimension>(a: ndarray::Array<f64, D>) -> evoxc::Result<Tensor> {
    let shape = a.shape().to_vec();
    Tensor::from_vec(a.iter().map(|&x| x as f32).collect::<Vec<f32>>(), shape.as_slice())
}
