//! Hard points of the complex functions. Expectations: mpmath at 2600 bits, rounded to `f64`; infinities from the C
//! standard's annex G.

use super::*;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// A function, and (re, im) of arguments and values.
type Row = (&'static str, fn(C) -> C, &'static [(f64, f64, f64, f64)]);

#[rustfmt::skip]
#[allow(clippy::excessive_precision, clippy::approx_constant, reason = "as they were computed")]
const TABLE: &[Row] = &[
    ("log", log, &[
        (0.6000000000000001, 0.7999999999999999, 6.162975822039155e-33, 0.9272952180016121),
        (1.0, 1e-09, 5e-19, 1e-09),
        (0.7071067811865475, 0.7071067811865476, -1.014653635756952e-17, 0.7853981633974484),
        (5e-324, 5e-324, -744.0934983311013, 0.7853981633974483),
        (f64::MAX, f64::MAX, 710.1292864836639, 0.7853981633974483),
        (0.3, 0.9539392014169457, 6.122473491269032e-18, 1.2661036727794992),
        (-1e-160, 3e+170, 392.5380780976559, 1.5707963267948966),
    ]),
    ("log1p", log1p, &[
        (-0.5, 0.8660254037844386, -4.345318932600586e-17, 1.0471975511965976),
        (-5e-13, 1e-06, 1.2496480478801125e-25, 1.0000000000001666e-06),
        (1e-300, 1e-160, 1e-300, 1e-160),
        (-1.0, 1e-200, -460.51701859880916, 1.5707963267948966),
        (-2.0, 1e-09, 5e-19, 3.141592652589793),
        (1e+200, 1e+200, 460.8635921890891, 0.7853981633974483),
        (2.5, -2.5, 1.4588853660421395, -0.6202494859828215),
    ]),
    ("asin", asin, &[
        (1.0, 1e-300, 1.5707963267948966, 1e-150),
        (0.9999999999999999, 1e-12, 1.570795326739384, 9.999444903896815e-07),
        (1.0000000000000002, 1e-12, 1.5707953269059127, 1.0001110284648372e-06),
        (0.5, 1e-320, 0.5235987755982989, 1.1546e-320),
        (3.0, 1e-200, 1.5707963267948966, 1.762747174039086),
        (f64::MAX, f64::MAX, 0.7853981633974483, 710.8224336642239),
        (-1e-08, 2e-08, -9.999999999999999e-09, 2e-08),
        (0.9, -0.4, 0.8705277079266357, -0.5865024363381989),
    ]),
    ("acos", acos, &[
        (1.0, 1e-300, 1e-150, -1e-150),
        (0.9999999999999999, 1e-12, 1.0000555126918063e-06, -9.999444903896815e-07),
        (1.0000000000000002, -1e-12, 9.998889838611141e-07, 1.0001110284648372e-06),
        (-3.0, 1e-200, 3.141592653589793, -1.762747174039086),
        (f64::MAX, -1.0, 5.562684646268003e-309, 710.475860073944),
        (1e-08, 100000000.0, 1.5707963267948966, -19.11382792451231),
    ]),
    ("acosh", acosh, &[
        (1.0000000000000002, 1e-12, 1.0001110284648372e-06, 9.998889838611141e-07),
        (-2.0, 1e-09, 1.3169578969248168, 3.141592653012443),
        (0.5, 1e-09, 1.1547005383792515e-09, 1.0471975511965979),
        (1e-09, 3.0, 1.8184464592320668, 1.5707963264786688),
    ]),
    ("asinh", asinh, &[
        (1e-09, 1.0000000000000002, 3.162278011515269e-05, 1.5707647040218085),
        (2e-08, -1e-08, 2e-08, -9.999999999999999e-09),
        (1e-200, 2.0, 1.3169578969248168, 1.5707963267948966),
    ]),
    ("atan", atan, &[
        (0.3, 0.9539392014169457, 0.7853981633974483, 0.9369101212637072),
        (1e-09, 0.9999999999999999, 0.7853981081362971, 10.708206508753175),
        (1e+20, 3e-05, 1.5707963267948966, 3e-45),
        (-f64::MAX, f64::MAX, -1.5707963267948966, 2.781342323134e-309),
    ]),
    ("atanh", atanh, &[
        (0.9999999999999999, 1e-09, 10.708206508753175, 0.7853981081362971),
        (1.0, 1e-300, 345.73433753938684, 0.7853981633974483),
        (0.6, 0.8, 0.34657359027997264, 0.7853981633974483),
        (f64::MAX, 1.0, 5.562684646268003e-309, 1.5707963267948966),
        (1e-300, 1e-05, 9.999999999e-301, 9.999999999666668e-06),
        (f64::MAX, f64::MAX, 2.781342323134e-309, 1.5707963267948966),
    ]),
    ("sqrt", sqrt, &[
        (-1e+153, 1e-160, 1.5811388300841897e-237, 3.162277660168379e+76),
        (f64::MAX, -1e-154, 1.3407807929942596e+154, -3.7291703656001e-309),
        (5e-324, 1e-323, 2.8273928054743385e-162, 1.747424853330061e-162),
        (-4.0, 1e-20, 2.5e-21, 2.0),
    ]),
    ("exp", exp, &[
        (709.9, 1.5707, 1.9471518096234158e+304, f64::INFINITY),
        (1000.0, 1e-300, f64::INFINITY, 1.970071114017047e+134),
        (-745.0, 2.0, -0.0, 5e-324),
        (1e-09, 3.0, -0.989992497590438, 0.14112000820098722),
    ]),
    ("square", |z| multiply(z, z), &[
        (1.0000000000000002, 1.0, 4.440892098500626e-16, 2.0000000000000004),
        (1e+200, 1e+200, 0.0, f64::INFINITY),
        (1e-300, f64::MAX, f64::NEG_INFINITY, 359538626.97246313),
        (3.0, 4.0, -7.0, 24.0),
    ]),
];

/// The distance in units in the last place, through zero where the signs differ.
fn apart(a: f64, b: f64) -> u64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0;
    }
    if !a.is_finite() || !b.is_finite() {
        return u64::MAX;
    }
    let order = |x: f64| {
        let magnitude = (x.to_bits() & (u64::MAX >> 1)) as i64;
        if x.is_sign_negative() { -magnitude } else { magnitude }
    };
    order(a).abs_diff(order(b))
}

#[test]
fn each_part_is_good_to_its_own_last_place() {
    for (name, f, points) in TABLE {
        for &(x, y, re, im) in *points {
            let w = f(C::new(x, y));
            assert!(apart(w.re, re) <= 2 && apart(w.im, im) <= 2, "{name}({x:e}, {y:e}): {w:?}, not ({re:e}, {im:e})");
            // All of them commute with the conjugate.
            let v = f(C::new(x, -y));
            assert!(v.re == w.re && v.im == -w.im, "{name} of the conjugate of ({x:e}, {y:e})");
        }
    }
}

#[test]
fn infinities() {
    let inf = f64::INFINITY;
    let at = |f: fn(C) -> C, x: f64, y: f64| f(C::new(x, y));
    assert_eq!(at(acos, -inf, inf), C::new(3.0 * FRAC_PI_4, -inf));
    assert_eq!(at(acos, 2.0, -inf), C::new(FRAC_PI_2, inf));
    assert_eq!(at(asin, inf, 1.0), C::new(FRAC_PI_2, inf));
    assert_eq!(at(acosh, -inf, 0.0), C::new(inf, PI));
    assert_eq!(at(atanh, 1.0, 0.0), C::new(inf, 0.0));
    assert_eq!(at(atanh, 2.0, inf), C::new(0.0, FRAC_PI_2));
    assert_eq!(at(sqrt, -inf, 1.0), C::new(0.0, inf));
    assert_eq!(at(sqrt, f64::NAN, -inf), C::new(inf, -inf));
    assert_eq!(at(log, -inf, inf), C::new(inf, 3.0 * FRAC_PI_4));
    assert_eq!(at(log, 0.0, 0.0).re, -inf);
    assert_eq!(at(exp, inf, 0.0), C::new(inf, 0.0));
    assert_eq!(at(exp, -inf, 2.0), C::new(-0.0, 0.0));
    assert!(at(exp, -inf, inf).re.is_nan()); // StableHLO's own cases want NaN here, annex G 0
    assert_eq!(at(tanh, inf, 1.0), C::new(1.0, 0.0));
    assert_eq!(at(cosh, -inf, 0.0).re, inf);
}

#[test]
fn zeros_keep_their_signs() {
    let odd: [(&str, fn(C) -> C); 8] = [
        ("asin", asin),
        ("asinh", asinh),
        ("atan", atan),
        ("atanh", atanh),
        ("sin", sin),
        ("sinh", sinh),
        ("tan", tan),
        ("tanh", tanh),
    ];
    for (name, f) in odd {
        for (x, y) in [(0.0, 0.0), (-0.0, 0.0), (0.0, -0.0), (-0.0, -0.0)] {
            let w = f(C::new(x, y));
            assert!(w.re.to_bits() == x.to_bits() && w.im.to_bits() == y.to_bits(), "{name}({x:?}, {y:?}) = {w:?}");
        }
    }
    // The sides of the branch cuts.
    assert_eq!(sqrt(C::new(-4.0, -0.0)), C::new(0.0, -2.0));
    assert_eq!(log(C::new(-1.0, -0.0)).im, -PI);
    assert_eq!(acos(C::new(2.0, 0.0)).im.signum(), -1.0);
    assert_eq!(asin(C::new(2.0, -0.0)).im.signum(), -1.0);
    assert_eq!(atanh(C::new(2.0, -0.0)).im, -FRAC_PI_2);
}

#[test]
fn quotients_do_not_cancel() {
    // Source: the formula, in exact arithmetic: (1 + i)(1 - i) = 2 and so on.
    assert_eq!(divide(C::new(5.0, 10.0), C::new(3.0, 4.0)), C::new(2.2, 0.4));
    let e = f64::EPSILON;
    // (1 + e + i) / (1 + i) = (2 + e + i (-e)) / 2
    assert_eq!(divide(C::new(1.0 + e, 1.0), C::new(1.0, 1.0)), C::new(1.0 + e / 2.0, -e / 2.0));
    assert_eq!(divide(C::new(f64::MAX, f64::MAX), C::new(f64::MAX, f64::MAX)), C::new(1.0, 0.0));
    assert_eq!(divide(C::new(1.0, -2.0), C::new(0.0, 0.0)), C::new(f64::INFINITY, f64::NEG_INFINITY));
}
