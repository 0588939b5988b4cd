/* What the functions below it use: types, loads and stores of any alignment, and the operations that C lacks. */
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#if defined(__has_builtin)
#define HAS(f) __has_builtin(f)
#else
#define HAS(f) 0
#endif
#define FN static inline __attribute__((always_inline))
#define CONVERT(x, T) __builtin_convertvector((x), T)

#define BITS(T, U) \
  FN T T##_of(U x) { T y; __builtin_memcpy(&y, &x, sizeof y); return y; } \
  FN U bits_##T(T x) { U y; __builtin_memcpy(&y, &x, sizeof y); return y; }
BITS(f32, u32)
BITS(f64, u64)

#define MEMORY(T) \
  FN T ld_##T(const char *p) { T x; __builtin_memcpy(&x, p, sizeof x); return x; } \
  FN void st_##T(char *p, T x) { __builtin_memcpy(p, &x, sizeof x); }

/* Vectors: T lanes of them. Where the mask M has all bits set, the first, else the second. */
#define VECTOR(T, N, M, V) \
  typedef T V __attribute__((vector_size(sizeof(T) * N))); \
  MEMORY(V)
#define SELECT(V, M) \
  FN V sel_##V(M m, V a, V b) { return (V)(((M)a & m) | ((M)b & ~m)); }

MEMORY(i8) MEMORY(i16) MEMORY(i32) MEMORY(i64) MEMORY(u8) MEMORY(u16) MEMORY(u32) MEMORY(u64) MEMORY(f32) MEMORY(f64)
#define VECTORS(N) \
  VECTOR(i8, N, i8x##N, i8x##N) VECTOR(i16, N, i16x##N, i16x##N) \
  VECTOR(i32, N, i32x##N, i32x##N) VECTOR(i64, N, i64x##N, i64x##N) \
  VECTOR(u8, N, i8x##N, u8x##N) VECTOR(u16, N, i16x##N, u16x##N) \
  VECTOR(u32, N, i32x##N, u32x##N) VECTOR(u64, N, i64x##N, u64x##N) \
  VECTOR(f32, N, i32x##N, f32x##N) VECTOR(f64, N, i64x##N, f64x##N) \
  SELECT(i8x##N, i8x##N) SELECT(i16x##N, i16x##N) SELECT(i32x##N, i32x##N) SELECT(i64x##N, i64x##N) \
  SELECT(u8x##N, i8x##N) SELECT(u16x##N, i16x##N) SELECT(u32x##N, i32x##N) SELECT(u64x##N, i64x##N) \
  SELECT(f32x##N, i32x##N) SELECT(f64x##N, i64x##N)
VECTORS(4)
VECTORS(8)

/* a < b ? a : b and a > b ? a : b */
#define MIN_MAX(V) \
  FN V min_##V(V a, V b) { return sel_##V(a < b, a, b); } \
  FN V max_##V(V a, V b) { return sel_##V(a > b, a, b); }
#define MIN_MAX_BUILTIN(V, least, greatest) \
  FN V min_##V(V a, V b) { return least(a, b); } \
  FN V max_##V(V a, V b) { return greatest(a, b); }
MIN_MAX(i32x4) MIN_MAX(i32x8) MIN_MAX(u32x4) MIN_MAX(u32x8) MIN_MAX(i64x4) MIN_MAX(u64x4)
#if HAS(__builtin_ia32_minps) && HAS(__builtin_ia32_maxps) && defined(__SSE__)
MIN_MAX_BUILTIN(f32x4, __builtin_ia32_minps, __builtin_ia32_maxps)
#else
MIN_MAX(f32x4)
#endif
#if HAS(__builtin_ia32_minps256) && HAS(__builtin_ia32_maxpd256) && defined(__AVX__)
MIN_MAX_BUILTIN(f32x8, __builtin_ia32_minps256, __builtin_ia32_maxps256)
MIN_MAX_BUILTIN(f64x4, __builtin_ia32_minpd256, __builtin_ia32_maxpd256)
#else
MIN_MAX(f32x8)
MIN_MAX(f64x4)
#endif

/* Lane by lane, where there is no better way. */
#define EACH4(V, f, a) (V){f(a[0]), f(a[1]), f(a[2]), f(a[3])}
#define EACH8(V, f, a) (V){f(a[0]), f(a[1]), f(a[2]), f(a[3]), f(a[4]), f(a[5]), f(a[6]), f(a[7])}
#define ROUND(V, E, s) \
  FN V floor_##V(V a) { return E(V, __builtin_floor##s, a); } \
  FN V ceil_##V(V a) { return E(V, __builtin_ceil##s, a); } \
  FN V rint_##V(V a) { return E(V, __builtin_rint##s, a); } \
  FN V trunc_##V(V a) { return E(V, __builtin_trunc##s, a); }
#define ROUND_BUILTIN(V, f) \
  FN V floor_##V(V a) { return f(a, 9); } \
  FN V ceil_##V(V a) { return f(a, 10); } \
  FN V rint_##V(V a) { return f(a, 8); } \
  FN V trunc_##V(V a) { return f(a, 11); }
#if HAS(__builtin_ia32_roundps) && defined(__SSE4_1__)
ROUND_BUILTIN(f32x4, __builtin_ia32_roundps)
#else
ROUND(f32x4, EACH4, f)
#endif
#if HAS(__builtin_ia32_roundps256) && HAS(__builtin_ia32_roundpd256) && defined(__AVX__)
ROUND_BUILTIN(f32x8, __builtin_ia32_roundps256)
ROUND_BUILTIN(f64x4, __builtin_ia32_roundpd256)
#else
ROUND(f32x8, EACH8, f)
ROUND(f64x4, EACH4, )
#endif
#if HAS(__builtin_ia32_sqrtps256) && HAS(__builtin_ia32_sqrtpd256) && HAS(__builtin_ia32_sqrtps) && defined(__AVX__)
FN f32x4 sqrt_f32x4(f32x4 a) { return __builtin_ia32_sqrtps(a); }
FN f32x8 sqrt_f32x8(f32x8 a) { return __builtin_ia32_sqrtps256(a); }
FN f64x4 sqrt_f64x4(f64x4 a) { return __builtin_ia32_sqrtpd256(a); }
#else
FN f32x4 sqrt_f32x4(f32x4 a) { return EACH4(f32x4, __builtin_sqrtf, a); }
FN f32x8 sqrt_f32x8(f32x8 a) { return EACH8(f32x8, __builtin_sqrtf, a); }
FN f64x4 sqrt_f64x4(f64x4 a) { return EACH4(f64x4, __builtin_sqrt, a); }
#endif
#if HAS(__builtin_ia32_vfmaddps) && HAS(__builtin_ia32_vfmaddps256) && HAS(__builtin_ia32_vfmaddpd256) && defined(__FMA__)
FN f32x4 fma_f32x4(f32x4 a, f32x4 b, f32x4 c) { return __builtin_ia32_vfmaddps(a, b, c); }
FN f32x8 fma_f32x8(f32x8 a, f32x8 b, f32x8 c) { return __builtin_ia32_vfmaddps256(a, b, c); }
FN f64x4 fma_f64x4(f64x4 a, f64x4 b, f64x4 c) { return __builtin_ia32_vfmaddpd256(a, b, c); }
#else
#define FMA(V, N, f) \
  FN V fma_##V(V a, V b, V c) { V r; for (int i = 0; i < N; i++) r[i] = f(a[i], b[i], c[i]); return r; }
FMA(f32x4, 4, __builtin_fmaf)
FMA(f32x8, 8, __builtin_fmaf)
FMA(f64x4, 4, __builtin_fma)
#endif

/* Floats to integers: truncated, saturated, NaN gives 0. Only numbers within the range are converted by C. */
#define SATURATE(F, T, LOW, HIGH, LEAST, MOST) \
  FN T T##_from_##F(F x) { return x >= HIGH ? MOST : x >= LOW ? (T)x : x < LOW ? LEAST : 0; }
#define SATURATES(F) \
  SATURATE(F, i8, -128, 128, -128, 127) SATURATE(F, u8, 0, 256, 0, 255) \
  SATURATE(F, i16, -32768, 32768, -32768, 32767) SATURATE(F, u16, 0, 65536, 0, 65535) \
  SATURATE(F, i32, -0x1p31f, 0x1p31f, -0x7fffffff - 1, 0x7fffffff) SATURATE(F, u32, 0, 0x1p32f, 0, 0xffffffffu) \
  SATURATE(F, i64, -0x1p63f, 0x1p63f, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll) \
  SATURATE(F, u64, 0, 0x1p64f, 0, 0xffffffffffffffffull)
SATURATES(f32)
SATURATES(f64)
/* The same on vectors. Bounds that the float type has are clamped to, NaN being none of the first's operands. */
#define CLAMP(F, W, T, LEAST, MOST) \
  FN W T##_from_##F(F x) { \
    F zero = {0}; \
    return CONVERT(sel_##F(x == x, min_##F(max_##F(x, zero + LEAST), zero + MOST), zero), W); \
  }
#define CLAMPS(F, W) \
  CLAMP(F, W, i8, -128, 127) CLAMP(F, W, u8, 0, 255) CLAMP(F, W, i16, -32768, 32767) CLAMP(F, W, u16, 0, 65535)
CLAMPS(f32x4, i32x4) CLAMPS(f32x8, i32x8) CLAMPS(f64x4, i32x4)
CLAMP(f64x4, i32x4, i32, -0x1p31, 0x7fffffff)
#define SATURATE_VECTOR(F, W, T, LOW, HIGH, LEAST, MOST) \
  FN W T##_from_##F(F x) { \
    F zero = {0}, low = zero + LOW, high = zero + HIGH; W none = {0}, least = none + LEAST, most = none + MOST; \
    W inside = CONVERT(sel_##F((x >= low) & (x < high), x, zero), W); \
    return sel_##W(x >= high, most, sel_##W(x < low, least, inside)); \
  }
SATURATE_VECTOR(f32x4, i32x4, i32, -0x1p31f, 0x1p31f, (-0x7fffffff - 1), 0x7fffffff)
SATURATE_VECTOR(f32x8, i32x8, i32, -0x1p31f, 0x1p31f, (-0x7fffffff - 1), 0x7fffffff)
SATURATE_VECTOR(f32x4, u32x4, u32, 0, 0x1p32f, 0, 0xffffffffu)
SATURATE_VECTOR(f32x8, u32x8, u32, 0, 0x1p32f, 0, 0xffffffffu)
SATURATE_VECTOR(f64x4, i64x4, u32, 0, 0x1p32f, 0, 0xffffffffll)
SATURATE_VECTOR(f64x4, i64x4, i64, -0x1p63f, 0x1p63f, (-0x7fffffffffffffffll - 1), 0x7fffffffffffffffll)
SATURATE_VECTOR(f64x4, u64x4, u64, 0, 0x1p64f, 0, 0xffffffffffffffffull)

/* Half-width floats, as their bits. */
FN f32 f32_from_bf16(u16 x) { return f32_of((u32)x << 16); }
FN u16 bf16_from_f32(f32 x) {
  u32 u = bits_f32(x);
  return x != x ? (u16)((u >> 16) | 0x40) : (u16)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
FN f32 f32_from_f16(u16 x) {
  u32 sign = (u32)(x & 0x8000) << 16, rest = x & 0x7fff;
  if (rest >= 0x7c00) return f32_of(sign | 0x7f800000 | (rest & 0x3ff) << 13 | (rest > 0x7c00 ? 0x400000 : 0));
  if (rest >= 0x400) return f32_of(sign | ((rest << 13) + 0x38000000));
  return f32_of(sign | bits_f32((f32)rest * 0x1p-24f));
}
FN u16 f16_from_f32(f32 x) {
  u32 u = bits_f32(x), sign = u >> 16 & 0x8000, rest = u & 0x7fffffff;
  if (rest > 0x7f800000) return (u16)(sign | 0x7e00);
  if (rest >= 0x477ff000) return (u16)(sign | 0x7c00);
  /* Subnormal: the sum is rounded where the half's last bit is. */
  if (rest < 0x38800000) return (u16)(sign | (bits_f32(f32_of(rest) + 0.5f) - 0x3f000000));
  return (u16)(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13));
}
/* Rounded to odd, so that rounding once more to half the width gives what rounding once would. */
FN f32 odd(f32 y, int exact, int beyond) {
  return exact || y != y || __builtin_fabsf(y) == __builtin_inff() ? y : f32_of((bits_f32(y) - (u32)beyond) | 1);
}
FN f32 odd_f64(f64 x) { f32 y = (f32)x; return odd(y, (f64)y == x, __builtin_fabs((f64)y) > __builtin_fabs(x)); }
FN f32 odd_u64(u64 x) {
  f32 y = (f32)x;
  if (y >= 0x1p64f) return odd(y, 0, 1);
  return odd(y, (u64)y == x, (u64)y > x);
}
FN f32 odd_i64(i64 x) { return x < 0 ? -odd_u64(-(u64)x) : odd_u64((u64)x); }

#define BF16_VECTOR(N) \
  FN f32x##N f32_from_bf16x##N(u16x##N x) { return (f32x##N)(CONVERT(x, u32x##N) << 16); } \
  FN u16x##N bf16_from_f32x##N(f32x##N x) { \
    u32x##N u = (u32x##N)x; \
    return CONVERT(sel_u32x##N(x != x, u >> 16 | 0x40, (u + 0x7fff + (u >> 16 & 1)) >> 16), u16x##N); \
  }
BF16_VECTOR(4)
BF16_VECTOR(8)
FN f32x4 f32_from_f16x4(u16x4 x) { return EACH4(f32x4, f32_from_f16, x); }
FN u16x4 f16_from_f32x4(f32x4 x) { return EACH4(u16x4, f16_from_f32, x); }
#if HAS(__builtin_ia32_vcvtph2ps256) && HAS(__builtin_ia32_vcvtps2ph256) && defined(__F16C__)
FN f32x8 f32_from_f16x8(u16x8 x) { return __builtin_ia32_vcvtph2ps256((i16x8)x); }
FN u16x8 f16_from_f32x8(f32x8 x) { return (u16x8)__builtin_ia32_vcvtps2ph256(x, 0); }
#else
FN f32x8 f32_from_f16x8(u16x8 x) { return EACH8(f32x8, f32_from_f16, x); }
FN u16x8 f16_from_f32x8(f32x8 x) { return EACH8(u16x8, f16_from_f32, x); }
#endif

