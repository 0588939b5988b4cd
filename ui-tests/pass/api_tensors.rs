// Host tensors: from scalars, arrays, vectors and ndarray; shapes from everything; reading back.
#![deny(warnings)]
use evoxc::prelude::*;

fn main() -> evoxc::Result<()> {
    let t = Tensor::from(2.0f32);
    assert_eq!(t.item::<f32>()?, 2.0);
    let t = Tensor::from([[1f32, 2.0], [3.0, 4.0]]);
    assert_eq!((t.shape(), t.dtype()), (&[2, 2][..], F32));
    let t = Tensor::from_vec(vec![1, 2], [2])?;
    assert_eq!(t.to_vec::<i32>()?, [1, 2]);
    let t = Tensor::from([[[1i64; 2]; 3]; 4]);
    assert_eq!(t.shape(), [4, 3, 2]);
    let t = Tensor::from(vec![1u8]);
    assert_eq!(t.spec(), spec(U8, [1]));
    assert_eq!(Tensor::full(F32, [], 1).item::<f32>()?, 1.0);

    let no_axes: Vec<usize> = vec![];
    for scalar in [Tensor::zeros(F32, &no_axes), Tensor::zeros(F32, ()), Tensor::zeros(F32, Tensor::from(1).shape())] {
        assert!(scalar.shape().is_empty());
    }

    let t = Tensor::from([[1.0, 2.0]]).to(Device::cpu())?;
    assert_eq!(t.device(), Device::cpu());
    assert_eq!(t.view::<f64>()?[[0, 1]], 2.0);
    assert_eq!(t.cast(F32)?.reshape([2])?.to_vec::<f32>()?, [1.0, 2.0]);
    println!("{t}");
    Ok(())
}
