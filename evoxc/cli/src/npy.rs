//! NumPy's `.npy` files of our dtypes.
//!
//! Reads versions 1 to 3 of the format, both byte orders and both memory orders; writes version 1, little-endian,
//! row-major. Source: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. A malformed file is an
//! error; the size is checked before memory is made.

use bytemuck::cast_slice;
use evoxc_core::with_buffer;
use evoxc_core::{BF16, BOOL, Buffer, C64, C128, DType, F16, F32, F64, I8, I16, I32, I64, Tensor, U8, U16, U32, U64};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The codes of NumPy; `V2` is what a `bfloat16` array is saved as, for NumPy itself has no such type.
const CODES: [(&str, DType); 15] = [
    ("b1", BOOL),
    ("i1", I8),
    ("i2", I16),
    ("i4", I32),
    ("i8", I64),
    ("u1", U8),
    ("u2", U16),
    ("u4", U32),
    ("u8", U64),
    ("f2", F16),
    ("V2", BF16),
    ("f4", F32),
    ("f8", F64),
    ("c8", C64),
    ("c16", C128),
];

/// What stands before the elements.
#[derive(Debug, PartialEq)]
struct Header {
    dtype: DType,
    big_endian: bool,
    fortran: bool,
    shape: Vec<usize>,
}

/// The tensor in the bytes of a file.
pub fn read(bytes: &[u8]) -> Result<Tensor, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is no .npy file")?;
    let (text, data) = match rest {
        [1, _, a, b, rest @ ..] => split(rest, u32::from(u16::from_le_bytes([*a, *b])))?,
        [2 | 3, _, a, b, c, d, rest @ ..] => split(rest, u32::from_le_bytes([*a, *b, *c, *d]))?,
        [1..=3, ..] => return Err("the file ends within its header".into()),
        [version, ..] => return Err(format!("version {version} of the format is not known")),
        [] => return Err("the file ends within its header".into()),
    };
    let text = std::str::from_utf8(text).map_err(|_| "the header is no text")?;
    let header = parse_header(text)?;
    let size = header.dtype.size();
    let expected = header.shape.iter().try_fold(size, |a, &d| a.checked_mul(d)).ok_or("the shape is too large")?;
    if data.len() != expected {
        return Err(format!(
            "shape {:?} of {} needs {expected} bytes, there are {}",
            header.shape,
            header.dtype,
            data.len()
        ));
    }
    let buffer = if header.big_endian { little_endian(data, header.dtype) } else { None };
    let buffer =
        Buffer::from_le_bytes(header.dtype, buffer.as_deref().unwrap_or(data)).ok_or("a bool is neither 0 nor 1")?;
    let buffer = if header.fortran { with_buffer!(buffer, v => row_major(v, &header.shape).into()) } else { buffer };
    Tensor::from_buffer(buffer, header.shape).map_err(|e| e.to_string())
}

/// The bytes of a file.
pub fn write(t: &Tensor) -> Vec<u8> {
    let code = CODES.iter().find(|c| c.1 == t.dtype()).map_or("V2", |c| c.0);
    let order = if t.dtype().size() == 1 { '|' } else { '<' };
    let shape = match t.shape() {
        [n] => format!("({n},)"),
        many => format!("({})", many.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let text = format!("{{'descr': '{order}{code}', 'fortran_order': False, 'shape': {shape}, }}");
    // The elements begin at a multiple of 64, after a line end.
    let unpadded = MAGIC.len() + 4 + text.len() + 1;
    let padding = unpadded.next_multiple_of(64) - unpadded;
    let length = u16::try_from(text.len() + padding + 1).unwrap_or(u16::MAX);
    let mut out = Vec::with_capacity(unpadded + padding + t.buffer().bytes().len());
    out.extend(MAGIC);
    out.extend([1, 0]);
    out.extend(length.to_le_bytes());
    out.extend(text.bytes());
    out.extend(std::iter::repeat_n(b' ', padding));
    out.push(b'\n');
    let native = t.buffer().bytes();
    if cfg!(target_endian = "big") {
        out.extend(little_endian(native, t.dtype()).unwrap_or_default());
    } else {
        out.extend_from_slice(cast_slice(native));
    }
    out
}

fn split(rest: &[u8], length: u32) -> Result<(&[u8], &[u8]), String> {
    let n = usize::try_from(length).map_err(|e| e.to_string())?;
    rest.split_at_checked(n).ok_or_else(|| "the file ends within its header".into())
}

/// Every number's bytes turned round; a complex number is two.
fn little_endian(data: &[u8], dtype: DType) -> Option<Vec<u8>> {
    let mut data = data.to_vec();
    data.chunks_exact_mut(dtype.real().size()).for_each(|c| c.reverse());
    Some(data)
}

/// Column-major elements in row-major order.
fn row_major<T: Copy>(v: Vec<T>, shape: &[usize]) -> Vec<T> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for &d in shape {
        strides.push(stride);
        stride *= d;
    }
    let mut index = vec![0usize; shape.len()];
    let mut out = Vec::with_capacity(v.len());
    let mut at = 0;
    for _ in 0..v.len() {
        out.extend(v.get(at));
        for ((i, &d), &s) in index.iter_mut().zip(shape).zip(&strides).rev() {
            *i += 1;
            at += s;
            if *i < d {
                break;
            }
            at -= d * s;
            *i = 0;
        }
    }
    out
}

/// Reads the header, a literal of a Python dict with exactly three entries.
fn parse_header(text: &str) -> Result<Header, String> {
    let mut p = Literal(text);
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    p.expect('{')?;
    while !p.eat('}') {
        let key = p.string()?;
        p.expect(':')?;
        match key {
            "descr" if p.eat('[') => return Err("records (structured dtypes) are not supported".into()),
            "descr" => descr = Some(p.string()?),
            "fortran_order" => fortran = Some(p.bool()?),
            "shape" => shape = Some(p.shape()?),
            other => return Err(format!("unknown entry `{other}` in the header")),
        }
        if !p.eat(',') {
            p.expect('}')?;
            break;
        }
    }
    if !p.0.trim().is_empty() {
        return Err("text after the header".into());
    }
    let (Some(descr), Some(fortran), Some(shape)) = (descr, fortran, shape) else {
        return Err("the header needs `descr`, `fortran_order` and `shape`".into());
    };
    let code = descr.trim_start_matches(['<', '>', '|', '=']);
    let dtype = CODES.iter().find(|c| c.0 == code).map(|c| c.1);
    let dtype =
        dtype.ok_or_else(|| format!("NumPy's type `{descr}` is no dtype; convert it with `.astype(..)` first"))?;
    Ok(Header { dtype, big_endian: descr.starts_with('>'), fortran, shape })
}

/// The rest of a Python literal.
struct Literal<'a>(&'a str);
impl<'a> Literal<'a> {
    fn eat(&mut self, c: char) -> bool {
        let rest = self.0.trim_start().strip_prefix(c);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.eat(c) { Ok(()) } else { Err(format!("`{c}` is missing in the header")) }
    }
    fn string(&mut self) -> Result<&'a str, String> {
        let text = self.0.trim_start();
        let quote =
            text.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or("a string is missing in the header")?;
        let (inside, rest) = text.get(1..).and_then(|t| t.split_once(quote)).ok_or("a string without an end")?;
        self.0 = rest;
        Ok(inside)
    }
    fn bool(&mut self) -> Result<bool, String> {
        let text = self.0.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = text.strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err("`fortran_order` is neither True nor False".into())
    }
    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut dims = vec![];
        self.expect('(')?;
        while !self.eat(')') {
            let text = self.0.trim_start();
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let (digits, rest) = text.split_at(end);
            dims.push(digits.parse().map_err(|_| "an extent of the shape is no number")?);
            // Python 2 wrote long integers with a suffix.
            self.0 = rest.strip_prefix('L').unwrap_or(rest);
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(dims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evoxc_core::Element;
    use num_complex::Complex;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut v = b"\x93NUMPY\x01\x00".to_vec();
        v.extend((header.len() as u16).to_le_bytes());
        v.extend(header.bytes());
        v.extend(data);
        v
    }

    #[test]
    fn every_dtype_comes_back() {
        fn one<T: Element>(v: Vec<T>) {
            let t = Tensor::from_vec(v, [2, 1]).unwrap();
            let bytes = write(&t);
            assert!(read(&bytes).unwrap().bit_eq(&t));
            // The format: elements at a multiple of 64.
            assert_eq!((bytes.len() - t.buffer().bytes().len()) % 64, 0);
        }
        one(vec![true, false]);
        one(vec![-1i8, 2]);
        one(vec![-1i16, 2]);
        one(vec![-1i32, 2]);
        one(vec![-1i64, 2]);
        one(vec![1u8, 2]);
        one(vec![1u16, 2]);
        one(vec![1u32, 2]);
        one(vec![u64::MAX, 2]);
        one(vec![1.5f32, f32::NAN]);
        one(vec![1.5f64, -0.0]);
        one(vec![Complex::new(1f32, 2.0), Complex::new(3.0, 4.0)]);
        one(vec![Complex::new(1f64, 2.0), Complex::new(3.0, 4.0)]);
        for dtype in [F16, BF16] {
            let t = Tensor::from([1f32, 2.5]).cast(dtype).unwrap();
            assert!(read(&write(&t)).unwrap().bit_eq(&t));
        }
    }

    #[test]
    fn shapes() {
        for shape in [vec![], vec![0], vec![3], vec![2, 0, 5], vec![1; 9]] {
            let t = Tensor::ones(F32, &shape);
            assert_eq!(read(&write(&t)).unwrap().shape(), shape);
        }
    }

    #[test]
    fn as_numpy_writes() {
        // Source: np.save of np.asfortranarray(np.arange(6.).reshape(2, 3)): 0 3 1 4 2 5 in the file.
        let data: Vec<u8> = [0f64, 3.0, 1.0, 4.0, 2.0, 5.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let t = read(&file("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }   \n", &data)).unwrap();
        assert_eq!(t.to_vec::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let data: Vec<u8> = [1f32, -2.0].iter().flat_map(|x| x.to_be_bytes()).collect();
        let t = read(&file("{'descr': '>c8', 'fortran_order': False, 'shape': (), }\n", &data)).unwrap();
        assert_eq!(t.item::<Complex<f32>>().unwrap(), Complex::new(1.0, -2.0));
        let t = read(&file("{'shape': (2L,), 'fortran_order': False, 'descr': \"|u1\"}", &[7, 8])).unwrap();
        assert_eq!(t.to_vec::<u8>().unwrap(), [7, 8]);
    }

    #[test]
    fn malformed_files_are_errors() {
        let h = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
        assert!(read(&file(h, &[0; 8])).is_ok());
        for n in [0, 7, 9] {
            assert!(read(&file(h, &[0; 9][..n])).unwrap_err().contains("needs 8 bytes"));
        }
        let bad = [
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 8), }", "too large"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "no number"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "no number"),
            ("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", "neither True nor False"),
            ("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }", "no dtype"),
            ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "records"),
            ("{'descr': '<f4', 'shape': (1,), }", "needs"),
            ("{'descr': '<f4', 'x': False}", "unknown entry"),
            ("{'descr': '<f4", "without an end"),
            ("", "missing"),
            ("{} x", "text after"),
            ("{'descr': '|b1', 'fortran_order': False, 'shape': (8,), }", "neither 0 nor 1"),
        ];
        for (header, message) in bad {
            let e = read(&file(header, &[9; 8])).unwrap_err();
            assert!(e.contains(message), "{header}: {e}");
        }
        let good = file(h, &[0; 8]);
        for n in 0..good.len() {
            assert!(read(&good[..n]).is_err());
        }
        for i in 0..good.len() {
            for byte in [0, b'9', b'(', 0xff] {
                let mut changed = good.clone();
                changed[i] = byte;
                let _ = read(&changed);
            }
        }
        assert!(read(b"\x93NUMPY\x09\x00").unwrap_err().contains("version 9"));
    }
}
