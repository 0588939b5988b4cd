//! Expectations: the table of rules in the conformance cases' README, and IEEE 754's encodings.

use super::*;
use evoxc_core::{BufferElement, Element, Shape};
use half::{bf16, f16};
use num_complex::Complex;

fn scalar<T: Element + BufferElement>(x: T) -> Tensor {
    Tensor::from_vec(vec![x], Shape::default()).unwrap()
}

fn ulps<T: Element + BufferElement>(a: T, b: T) -> u64 {
    let (a, b) = (scalar(a), scalar(b));
    assert_eq!(ulp_distance(&a, &b), ulp_distance(&b, &a), "the distance is symmetric");
    ulp_distance(&a, &b).unwrap()
}

#[test]
fn distance_in_units_in_the_last_place() {
    // Neighbours by IEEE 754: the next float has the next bit pattern.
    assert_eq!(ulps(1f32, f32::from_bits(1f32.to_bits() + 5)), 5);
    assert_eq!(ulps(1f64, f64::from_bits(1f64.to_bits() + 50)), 50);
    assert_eq!(ulps(f16::from_f32(1.0), f16::from_bits(f16::from_f32(1.0).to_bits() - 2)), 2);
    assert_eq!(ulps(bf16::from_f32(1.0), bf16::from_f32(2.0)), 128); // 7 explicit bits
    // A float is 2^-23 from 1 only above it; below, the unit is half as large.
    assert_eq!(ulps(1f32, 1.0 + f32::EPSILON), 1);
    assert_eq!(ulps(1f32, 1.0 - f32::EPSILON), 2);
}

#[test]
fn distance_through_zero_and_subnormals() {
    let least = f32::from_bits(1);
    assert_eq!(ulps(0f32, -0f32), 0);
    assert_eq!(ulps(-0f32, least), 1);
    assert_eq!(ulps(-least, least), 2);
    // Of the file ulp_difference_float32: -1e-45 and 6e-45 are 5 apart.
    assert_eq!(ulps(-least, f32::from_bits(4)), 5);
    // The largest subnormal and the smallest normal number are neighbours.
    assert_eq!(ulps(f32::from_bits(0x007f_ffff), f32::MIN_POSITIVE), 1);
    assert_eq!(ulps(f64::from_bits(0x000f_ffff_ffff_ffff), f64::MIN_POSITIVE), 1);
    assert_eq!(ulps(f16::from_bits(0x8001), f16::from_bits(0x0001)), 2);
    // The largest distance of finite f64s is far from the one of those that do not match.
    assert_eq!(ulps(f64::MIN, f64::MAX), 2 * 0x7fef_ffff_ffff_ffff);
}

#[test]
fn what_is_not_finite_matches_itself_only() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    for (a, b) in [(nan, nan), (nan, -nan), (inf, inf), (-inf, -inf)] {
        assert_eq!(ulps(a, b), 0);
        assert!(Rule::Equal.judge(&scalar(a), &scalar(b)).is_ok());
        assert!(Rule::AlmostEqual { tolerance: 0.0 }.judge(&scalar(a), &scalar(b)).is_ok());
    }
    for (a, b) in [(nan, 1.0), (inf, -inf), (inf, f32::MAX), (nan, inf)] {
        assert_eq!(ulps(a, b), u64::MAX);
        let (a, b) = (scalar(a), scalar(b));
        assert!(Rule::Equal.judge(&a, &b).is_err());
        assert!(Rule::Close { min: 0, max: 1 << 60 }.judge(&a, &b).is_err());
        assert!(Rule::Close { min: u64::MAX, max: u64::MAX }.judge(&a, &b).is_ok());
        assert!(Rule::AlmostEqual { tolerance: f64::INFINITY }.judge(&a, &b).is_err());
    }
}

#[test]
fn complex_numbers_by_parts() {
    let c = |re, im| Complex::<f32>::new(re, im);
    assert_eq!(ulps(c(1.0, 2.0), c(1.0, f32::from_bits(2f32.to_bits() + 3))), 3);
    assert_eq!(ulps(c(f32::NAN, 0.0), c(f32::NAN, -0.0)), 0);
    assert_eq!(ulps(c(f32::NAN, 0.0), c(0.0, f32::NAN)), u64::MAX);
    let step = 0.0009765625f32;
    let (a, b) = (scalar(c(1.0, 2.0)), scalar(c(1.0 + step, 2.0 + step)));
    // Each part is 2^-10 off; the modulus of the difference is more.
    assert!(Rule::AlmostEqual { tolerance: 0.0009765625 }.judge(&a, &b).is_ok());
    assert!(Rule::AlmostEqual { tolerance: 0.0009 }.judge(&a, &b).is_err());
}

#[test]
fn equality_is_of_numbers() {
    assert!(Rule::Equal.judge(&scalar(0f64), &scalar(-0f64)).is_ok());
    assert!(Rule::Equal.judge(&scalar(u64::MAX), &scalar(u64::MAX)).is_ok());
    assert!(Rule::Equal.judge(&scalar(u64::MAX), &scalar(u64::MAX - 1)).is_err());
    assert!(Rule::Equal.judge(&scalar(true), &scalar(false)).is_err());
    // No type is another: not even an equal number.
    let e = Rule::Equal.judge(&scalar(1f32), &scalar(1f64)).unwrap_err();
    assert_eq!(e.to_string(), "it is tensor<f32>, expected tensor<f64>");
    assert!(Rule::Equal.judge(&Tensor::from([1f32]), &scalar(1f32)).is_err());
    assert!(Rule::Equal.judge(&Tensor::from_vec(Vec::<f32>::new(), [0]).unwrap(), &Tensor::from([0f32; 0])).is_ok());
}

#[test]
fn integers_are_apart_by_their_difference() {
    assert_eq!(ulps(-3i8, 4i8), 7);
    assert_eq!(ulps(i64::MIN, i64::MAX), u64::MAX);
    assert!(Rule::AlmostEqual { tolerance: 1.0 }.judge(&scalar(3u8), &scalar(4u8)).is_ok());
    assert!(Rule::Close { min: 0, max: 3 }.judge(&scalar(3u8), &scalar(7u8)).is_err());
}

fn rule(name: &str, custom_call: bool, attributes: &[(&str, Scalar)]) -> Option<Rule> {
    let attributes = attributes.iter().map(|&(n, v)| (n.to_string(), v)).collect();
    Rule::of(&CheckSite { name: name.into(), custom_call, attributes, outputs: vec![0, 1], line: 1 })
}

#[test]
fn defaults_and_attributes() {
    // The table: `expect_close` at most 3; `expect_almost_eq` 1e-4 as an op and 1e-3 as a custom_call.
    assert_eq!(rule("expect_close", true, &[]), Some(Rule::Close { min: 0, max: 3 }));
    assert_eq!(rule("eq", true, &[]), Some(Rule::Equal));
    let (a, b) = (scalar(5f64), scalar(5.0001));
    assert!(rule("expect_almost_eq", false, &[]).unwrap().judge(&a, &b).is_ok());
    let b = scalar(5.0005);
    assert!(rule("expect_almost_eq", false, &[]).unwrap().judge(&a, &b).is_err());
    assert!(rule("expect_almost_eq", true, &[]).unwrap().judge(&a, &b).is_ok());
    let given = [("min_ulp_difference", Scalar::Int(1)), ("max_ulp_difference", Scalar::Int(2))];
    assert_eq!(rule("expect_close", false, &given), Some(Rule::Close { min: 1, max: 2 }));
    let most = [("max_ulp_difference", Scalar::Int(-1))]; // 2^64 - 1 as an i64
    assert_eq!(rule("expect_close", false, &most), Some(Rule::Close { min: 0, max: u64::MAX }));
    let given = [("tolerance", Scalar::Float(0.1))];
    assert_eq!(rule("expect_almost_eq", true, &given), Some(Rule::AlmostEqual { tolerance: 0.1 }));
    assert_eq!(rule("expect_luck", false, &[]), None);
}

#[test]
fn a_least_distance_holds_for_every_element() {
    let (a, b) = (Tensor::from([1f32, 2.0]), Tensor::from([f32::from_bits(1f32.to_bits() + 5), 2.0]));
    let e = Rule::Close { min: 5, max: 5 }.judge(&a, &b).unwrap_err();
    assert_eq!(e.to_string(), "element [1] is 2, expected 2, 0 units in the last place apart (1 of 2 elements)");
}

#[test]
fn positions_are_of_the_tensor() {
    let a = Tensor::from_vec(vec![0i32, 1, 2, 3, 4, 5], [2, 3]).unwrap();
    let b = Tensor::from_vec(vec![0i32, 1, 2, 3, 4, 6], [2, 3]).unwrap();
    let e = Rule::Equal.judge(&a, &b).unwrap_err();
    assert_eq!(e.to_string(), "element [1, 2] is 5, expected 6 (1 of 6 elements)");
}
