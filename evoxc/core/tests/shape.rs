//! Shapes, specs, devices, dtypes: spelling, text, and extents that overflow.

use evoxc_core::{DType, Device, Dim, F32, IntoShape, Shape, TensorSpec, dim, spec};

#[test]
fn every_spelling() {
    let b = dim("B");
    assert_eq!([2, 3].into_shape(), [2, 3]);
    assert_eq!([2usize, 3].as_slice().into_shape(), [2, 3]);
    assert_eq!(vec![2i64, 3].into_shape(), [2, 3]);
    assert_eq!((b, 4, 2usize).into_shape().to_string(), "[B, 4, 2]");
    assert_eq!([].into_shape(), Shape::scalar());
    assert_eq!(().into_shape().rank(), 0);
    assert_eq!([b, b + 1].into_shape().to_string(), "[B, B + 1]");
    let s = (b, 4).into_shape();
    assert_eq!((&s).into_shape(), s);
    assert_eq!((s.to_static(), s.is_static()), (None, false));
    assert_eq!([2, 3].into_shape().to_static(), Some(vec![2, 3]));
    assert_eq!([-1].into_shape().to_static(), None);
    let mut s = Shape::scalar();
    s.push(3);
    s.dims_mut()[0] = b;
    assert_eq!(s, [b]);
}

#[test]
fn size_overflows_to_a_poison() {
    assert_eq!([2, 3, 4].into_shape().size(), Dim::constant(24));
    assert_eq!(Shape::scalar().size(), Dim::constant(1));
    assert_eq!([0, 5].into_shape().size(), Dim::constant(0));
    assert!([i64::MAX, i64::MAX].into_shape().size().is_poison());
    assert_eq!((dim("B"), 4).into_shape().size().to_string(), "4*B");
}

#[test]
fn text_of_types() {
    let (b, x) = (dim("B"), dim("max_len"));
    let text = |s: TensorSpec| s.to_string();
    assert_eq!(text(spec(F32, [])), "tensor<f32>");
    assert_eq!(text(spec(F32, (b, 4))), "tensor<Bx4xf32>");
    assert_eq!(text(spec(F32, (x, 2 * b + 1))), "tensor<[max_len]x[2*B + 1]xf32>");
    let on = spec(F32, [2]).on(Device::cuda(1));
    assert_eq!((format!("{on:?}"), on.to_string()), ("tensor<2xf32> on cuda:1".into(), "tensor<2xf32>".into()));
    assert_ne!(on, spec(F32, [2]));
}

#[test]
fn names_come_back() {
    for d in DType::ALL {
        assert_eq!(d.to_string().parse(), Ok(d));
        assert_eq!(serde_json::from_str::<DType>(&serde_json::to_string(&d).unwrap()).unwrap(), d);
        let kinds = [d.is_bool(), d.is_int(), d.is_float(), d.is_complex()];
        assert_eq!(kinds.iter().filter(|k| **k).count(), 1, "{d}");
    }
    assert!("f8".parse::<DType>().is_err());
    for d in [Device::cpu(), Device::cuda(3), Device::rocm(1), Device::vulkan(0)] {
        assert_eq!(d.to_string().parse(), Ok(d));
    }
    assert_eq!("hip:2".parse(), Ok(Device::rocm(2)));
    assert_eq!("cuda".parse(), Ok(Device::cuda(0)));
    for bad in ["", "gpu", "cuda:-1", "cuda:x", "cuda:4294967296", "cuda:1:2"] {
        assert!(bad.parse::<Device>().is_err(), "{bad}");
    }
}
