//! Memory of cases: elements of a buffer with room around them, at any alignment, and data that finds faults.

use evoxc_core::DType;
use half::{bf16, f16};

/// Untouched bytes around the elements.
const MARGIN: usize = 64;

/// What a pointer of a case points to.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub dtype: DType,
    /// Bytes past an address that divides by 64.
    pub misaligned: usize,
    /// Elements before the one that is pointed to: kernels may use indices below 0.
    pub below: usize,
    /// The bits of all elements, those before first.
    pub bits: Vec<u64>,
}

/// A region in memory.
pub(super) struct Held {
    bytes: Vec<u8>,
    /// Where the elements begin.
    start: usize,
}

impl Region {
    pub fn hold(&self) -> Held {
        let size = self.dtype.size();
        let mut bytes = vec![0xA5; 2 * MARGIN + 64 + self.misaligned + size * self.bits.len()];
        let aligned = (bytes.as_ptr() as usize + MARGIN).next_multiple_of(64) - bytes.as_ptr() as usize;
        let start = aligned + self.misaligned;
        for (n, bits) in self.bits.iter().enumerate() {
            bytes[start + n * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        Held { bytes, start }
    }
    /// The pointer that a kernel is given.
    pub fn pointer(&self, held: &mut Held) -> *mut u8 {
        held.bytes[held.start + self.below * self.dtype.size()..].as_mut_ptr()
    }
    /// The first difference, if there is one: which element, and both.
    pub fn difference(&self, expected: &Held, got: &Held) -> Option<String> {
        let size = self.dtype.size();
        for n in 0..self.bits.len() {
            let at = |h: &Held| {
                let mut bits = [0; 8];
                bits[..size].copy_from_slice(&h.bytes[h.start + n * size..][..size]);
                u64::from_le_bytes(bits)
            };
            let (a, b) = (at(expected), at(got));
            if a != b && !(is_nan(self.dtype, a) && is_nan(self.dtype, b)) {
                let index = n as i64 - self.below as i64;
                return Some(format!("element {index}: {} {a:#x}, not {b:#x}", self.dtype));
            }
        }
        let around = |h: &Held| {
            let end = h.start + size * self.bits.len();
            (h.bytes[h.start - MARGIN..h.start].to_vec(), h.bytes[end..end + MARGIN].to_vec())
        };
        (around(expected) != around(got)).then(|| "bytes around the buffer are written".into())
    }
}

/// A region between pages that no one may touch, against one of them: what reaches too far ends the process.
#[cfg(all(unix, target_arch = "x86_64"))]
pub(super) struct Guarded {
    map: *mut u8,
    size: usize,
    elements: *mut u8,
}

#[cfg(all(unix, target_arch = "x86_64"))]
impl Guarded {
    /// Its elements at the end, or at the start.
    pub fn new(region: &Region, at_end: bool) -> Guarded {
        const PAGE: usize = 4096;
        let bytes = region.dtype.size() * region.bits.len();
        let inner = bytes.next_multiple_of(PAGE);
        let size = inner + 2 * PAGE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new map, at no address in particular, of which the inner pages are then opened.
        let map = unsafe {
            let map = libc::mmap(std::ptr::null_mut(), size, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(map.byte_add(PAGE), inner, libc::PROT_READ | libc::PROT_WRITE), 0);
            map.cast::<u8>()
        };
        let start = PAGE + if at_end { inner - bytes } else { 0 };
        // SAFETY: all of the elements are in the inner pages.
        let elements = unsafe { map.add(start) };
        for (n, bits) in region.bits.iter().enumerate() {
            let size = region.dtype.size();
            // SAFETY: as above.
            unsafe { elements.add(n * size).copy_from(bits.to_le_bytes().as_ptr(), size) };
        }
        Guarded { map, size, elements }
    }
    /// The pointer that a kernel is given.
    pub fn pointer(&self, region: &Region) -> *mut u8 {
        // SAFETY: the elements before it are there.
        unsafe { self.elements.add(region.below * region.dtype.size()) }
    }
}

#[cfg(all(unix, target_arch = "x86_64"))]
impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size, and nothing points to it any more.
        unsafe { libc::munmap(self.map.cast(), self.size) };
    }
}

pub(super) fn is_nan(dtype: DType, bits: u64) -> bool {
    match dtype {
        DType::F16 => f16::from_bits(bits as u16).is_nan(),
        DType::BF16 => bf16::from_bits(bits as u16).is_nan(),
        DType::F32 => f32::from_bits(bits as u32).is_nan(),
        DType::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

/// The bits that a dtype has.
pub(super) fn mask(dtype: DType) -> u64 {
    if dtype == DType::BOOL { 1 } else { u64::MAX >> (64 - 8 * dtype.size()) }
}

/// Numbers at the edges of a dtype, the small ones, and some between: 64 of them.
pub(crate) fn patterns(dtype: DType) -> Vec<u64> {
    let all = u64::MAX >> (64 - 8 * dtype.size());
    let small = [0.0, 1.0, -1.0, -0.0, 2.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 7.0, 100.0, -3.75, 0.1, 1e-3];
    // Where conversions to integers of each width begin to saturate, and where integers stop being exact.
    let large = [127.5, -128.5, 255.5, 32767.6, -32769.0, 65504.0, 65520.0, 65536.0, 2147483648.0, -2147483649.0]
        .into_iter()
        .chain([4294967296.0, 9.3e18, -9.3e18, 1.9e19, 16777217.0, 9007199254740993.0, 3.5e38, 1e300, 1e-40, 5e-8]);
    let floats = small.into_iter().chain(large).chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    let mut out: Vec<u64> = match dtype {
        DType::F64 => floats.map(f64::to_bits).collect(),
        DType::F32 => floats.map(|x| (x as f32).to_bits().into()).collect(),
        DType::F16 => floats.map(|x| f16::from_f64(x).to_bits().into()).collect(),
        DType::BF16 => floats.map(|x| bf16::from_f64(x).to_bits().into()).collect(),
        _ => (0..20u64).flat_map(|n| [n, n.wrapping_neg()]).collect(),
    };
    // The least and the greatest integers; subnormal floats, the least normal ones, quiet and signalling NaN.
    out.extend([all, all >> 1, (all >> 1) + 1, all - 1, 1, 2, (all >> 1) - 1, (all >> 1) + 2]);
    let shift = 8 * dtype.size() as u32;
    out.extend((0..).map(|n| Random(n).next() >> (64 - shift)).take(64 - out.len().min(64)));
    out.truncate(64);
    out.iter().map(|x| x & mask(dtype)).collect()
}

/// A sequence of numbers that look random (SplitMix64).
pub(super) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
    /// An element: half of them edges, the others small numbers or any bits.
    pub fn element(&mut self, dtype: DType, edges: &[u64]) -> u64 {
        let n = self.next();
        let small = (n >> 8) as i64 % 64 - 31;
        let bits = match n % 8 {
            0..4 => edges[(n >> 8) as usize % edges.len()],
            4 => self.next(),
            _ => match dtype {
                DType::F64 => (small as f64 / 4.0).to_bits(),
                DType::F32 => (small as f32 / 4.0).to_bits().into(),
                DType::F16 => f16::from_f32(small as f32 / 4.0).to_bits().into(),
                DType::BF16 => bf16::from_f32(small as f32 / 4.0).to_bits().into(),
                _ => small as u64,
            },
        };
        bits & mask(dtype)
    }
}
