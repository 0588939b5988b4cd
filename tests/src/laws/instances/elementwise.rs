//! Element-wise ops, conversions, select and clamp.

/// One op a line.
pub const LINES: &str = "
exp | 2x3xf64 any
exp | 0x3xf64 any
exp | Bx2xf64 any
exp | 3xc128 any
exp2 | 5xf64 any
expm1 | 5xf64 any
expm1 | 3xc128 any
log | 5xf64 pos
log | 3xc128 pos
log2 | 5xf64 pos
log1p | 5xf64 unit
log1p | 3xc128 unit
sqrt | 5xf64 pos
sqrt | 3xc128 pos
rsqrt | 5xf64 pos
rsqrt | 3xc128 pos
cbrt | 5xf64 any
cbrt | 3xc128 pos
sin | 2x3xf64 any
sin | 3xc128 any
cos | 5xf64 any
cos | 3xc128 any
tan | 5xf64 unit
tan | 3xc128 unit
asin | 5xf64 unit
asin | 3xc128 unit
acos | 5xf64 unit
acos | 3xc128 unit
atan | 5xf64 any
atan | 3xc128 unit
sinh | 5xf64 any
sinh | 3xc128 any
cosh | 5xf64 any
cosh | 3xc128 any
tanh | 5xf64 any
tanh | 3xc128 any
asinh | 5xf64 any
asinh | 3xc128 unit
acosh | 5xf64 1.4~3
acosh | 3xc128 1.4~3
atanh | 5xf64 unit
atanh | 3xc128 unit
logistic | 5xf64 any
logistic | 3xc128 any
erf | 5xf64 any
erfc | 5xf64 any
erf_inv | 5xf64 unit
lgamma | 5xf64 0.8~3
lgamma | 3xf64 -0.8~-0.2
digamma | 5xf64 0.8~3
floor | 5xf64 =[0.4, -0.3, 1.7, -2.6, 3.2]
ceil | 5xf64 =[0.4, -0.3, 1.7, -2.6, 3.2]
round_even | 5xf64 =[0.4, -0.3, 1.7, -2.6, 3.2]
round_away | 5xf64 =[0.4, -0.3, 1.7, -2.6, 3.2]
trunc | 5xf64 =[0.4, -0.3, 1.7, -2.6, 3.2]
neg | 5xf64 any
neg | 3xc128 any
neg | 3xi32 -4..5
abs | 2x3xf64 any
abs | 3xc128 any
abs | 3xi32 -4..5
sign | 5xf64 any
sign | 3xc128 any
sign | 3xi32 -4..5
not | 4xi32 -4..5
not | 4xbool bool
popcount | 4xu8 0..99
count_leading_zeros | 4xu8 0..99
is_finite | 4xf64 any
real | 4xc128 any
real | 4xf64 any
imag | 4xc128 any
imag | 4xf64 any
conj | 4xc128 any
conj | 4xf64 any
add | 2x3xf64 any; 2x3xf64 any
add | f64 any; f64 any
add | Bx2xf64 any; Bx2xf64 any
add | 3xc128 any; 3xc128 any
add | 3xi32 0..9; 3xi32 0..9
sub | 2x3xf64 any; 2x3xf64 any
sub | 3xc128 any; 3xc128 any
mul | 2x3xf64 any; 2x3xf64 any
mul | 3xc128 any; 3xc128 any
div | 2x3xf64 any; 2x3xf64 any
div | 3xc128 any; 3xc128 any
rem | 4xf64 =[5.3, -4.2, 1.1, -0.7]; 4xf64 =[2.0, 1.5, 3.0, -0.4]
rem | 4xi32 -9..9; 4xi32 1..5
pow | 5xf64 pos; 5xf64 any
pow | 3xc128 pos; 3xc128 unit
pow | 3xf64 =[-1.5, -0.5, 2.0]; 3xf64 =[2.0, 3.0, -2.0]
max | 5xf64 any; 5xf64 any
max | 3xi32 0..9; 3xi32 0..9
min | 5xf64 any; 5xf64 any
min | 3xi32 0..9; 3xi32 0..9
atan2 | 5xf64 any; 5xf64 any
nextafter | 3xf64 any; 3xf64 any
and | 3xi32 0..9; 3xi32 0..9
or | 3xi32 0..9; 3xi32 0..9
xor | 3xi32 0..9; 3xi32 0..9
shift_left | 3xi32 0..9; 3xi32 0..9
shift_right_logical | 3xi32 0..99; 3xi32 0..5
shift_right_arithmetic | 3xi32 -99..99; 3xi32 0..5
complex | 4xf64 any; 4xf64 any
mulhi | 3xu32 0..999999999; 3xu32 0..999999999
compare {direction = lt, order = ieee} | 4xf64 any; 4xf64 any
compare {direction = ne, order = total} | 4xf64 any; 4xf64 any
compare {direction = ge, order = ieee} | 2x2xi32 0..3; 2x2xi32 0..3
select | 2x3xbool bool; 2x3xf64 any; 2x3xf64 any
select | bool bool; 2x3xf64 any; 2x3xf64 any
select | bool bool; f64 any; f64 any
select | Bxbool bool; Bxc128 any; Bxc128 any
select | 3xbool bool; 3xi32 0..9; 3xi32 0..9
clamp | f64 =-0.6; 2x3xf64 any; f64 =0.7
clamp | 5xf64 -1.4~-0.5; 5xf64 any; 5xf64 0.5~1.4
clamp | f64 -0.9~-0.8; f64 any; f64 0.8~0.9
clamp | i32 0..2; 3xi32 -5..5; i32 3..5
convert {dtype = f64} | 3xf64 any
convert {dtype = f32} | 3xf64 any
convert {dtype = c128} | 3xf64 any
convert {dtype = f64} | 3xc128 any
convert {dtype = i32} | 3xf64 any
convert {dtype = f64} | 3xi32 0..9
convert {dtype = bool} | 3xi32 0..2
bitcast_convert {dtype = i64} | 3xf64 any
bitcast_convert {dtype = u8} | 2x2xf32 any
bitcast_convert {dtype = u32} | 3x4xu8 0..255
reduce_precision {exponent_bits = 11, mantissa_bits = 50} | 4xf64 any
reduce_precision {exponent_bits = 8, mantissa_bits = 7} | 4xf32 any
";
