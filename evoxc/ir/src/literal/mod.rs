//! Types and literals of the text form, in and out: every element of every dtype comes back with the same bits.
//!
//! Nothing is allocated that the text does not pay for: a dense literal grows with its elements, a blob is checked
//! against its length first, and the shape of a splat is never filled.

mod element;

use crate::lex::{Lexer, Tok};
use crate::{Literal, TensorType};
use element::ElementText;
use evoxc_core::{Buffer, DType, Dim, Result, Shape, Tensor, dim, spec, with_buffer, with_dtype};
use std::borrow::Cow;
use std::fmt::Write;

/// Literals of more elements are written as one string of bytes.
pub(crate) const MAX_WRITTEN_ELEMENTS: usize = 32;

/// Reads a type, `tensor<4x8xf32>`.
///
/// ```
/// assert_eq!(evoxc::ir::parse_type("tensor<[2*B + 1]x4xf32>")?.to_string(), "tensor<[2*B + 1]x4xf32>");
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// [`evoxc_core::ParseError`].
pub fn parse_type(text: &str) -> Result<TensorType> {
    let mut lex = Lexer::new(text);
    let ty = read_type(&mut lex)?;
    at_end(&mut lex, ty)
}

/// Reads a literal with its type, `dense<[1.0, 2.5]> : tensor<2xf32>` or `splat<2.0> : tensor<Bx4xf32>`.
///
/// ```
/// let l = evoxc::ir::parse_literal("dense<[1.0, 0x7FC00001]> : tensor<2xf32>")?;
/// assert_eq!(l.tensor().as_slice::<f32>()?[1].to_bits(), 0x7FC0_0001);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// [`evoxc_core::ParseError`].
pub fn parse_literal(text: &str) -> Result<Literal> {
    let mut lex = Lexer::new(text);
    let l = read_literal(&mut lex, None)?;
    at_end(&mut lex, l)
}

impl std::fmt::Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        write_literal(&mut out, self);
        f.write_str(&out)
    }
}

fn at_end<T>(lex: &mut Lexer, value: T) -> Result<T> {
    if lex.peek()? == Tok::End { Ok(value) } else { Err(lex.expected("the end")) }
}

pub(crate) fn read_type(lex: &mut Lexer) -> Result<TensorType> {
    if !lex.eat_word("tensor")? || !lex.eat_raw("<") {
        return Err(lex.expected("a type, as in `tensor<4x8xf32>`"));
    }
    let mut shape = Shape::scalar();
    loop {
        let at = lex.pos();
        if lex.eat_raw("[") {
            let text = lex.take_while(|c| c != ']' && c != '\n');
            let d = Dim::parse(text).map_err(|e| lex.error(at, e.to_string()))?;
            if !lex.eat_raw("]x") {
                return Err(lex.expected("`]x` after the extent"));
            }
            shape.push(d);
            continue;
        }
        let word = lex.take_while(|c| c != 'x' && (c.is_ascii_alphanumeric() || c == '_'));
        if lex.eat_raw("x") {
            let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
            let d = if digits { word.parse::<i64>().ok().map(Dim::constant) } else { Some(dim(word)) };
            let d = d.filter(|d| !d.is_poison());
            shape.push(d.ok_or_else(|| lex.error(at, format!("`{word}` is not an extent: write an integer, a name, or an expression in brackets as in `[2*B + 1]`")))?);
            continue;
        }
        let dtype: DType =
            word.parse().map_err(|e| lex.error(at, format!("{e}; expected an extent and `x`, or a dtype")))?;
        if !lex.eat_raw(">") {
            return Err(lex.expected("`>` after the dtype"));
        }
        return Ok(spec(dtype, shape));
    }
}

/// Reads a literal; `constants` are what `const<k>` refers to, in a container.
pub(crate) fn read_literal(lex: &mut Lexer, constants: Option<&[Tensor]>) -> Result<Literal> {
    let (at, form) = lex.next()?;
    let form = match form {
        Tok::Word(w @ ("dense" | "splat" | "const")) => w,
        _ => {
            lex.reset(at);
            return Err(lex.expected("a literal, as in `dense<[1, 2]> : tensor<2xi32>` or `splat<0> : tensor<2xi32>`"));
        }
    };
    lex.expect('<')?;
    let body = lex.pos();
    // The type says how to read the elements, and stands behind them.
    loop {
        match lex.next()?.1 {
            Tok::Punct('>') => break,
            Tok::End => return Err(lex.error(at, "the literal does not end; expected `> : ` and its type")),
            _ => {}
        }
    }
    lex.expect(':')?;
    let ty = read_type(lex)?;
    let end = lex.pos();
    lex.reset(body);
    let literal = match form {
        "splat" => Literal::Splat(with_dtype!(ty.dtype, T => Tensor::from(T::read(lex)?)), ty.shape),
        "dense" => Literal::Dense(read_dense(lex, &ty)?),
        _ => Literal::Dense(read_constant(lex, &ty, constants)?),
    };
    lex.expect('>')?;
    lex.reset(end);
    Ok(literal)
}

fn read_constant(lex: &mut Lexer, ty: &TensorType, constants: Option<&[Tensor]>) -> Result<Tensor> {
    let at = lex.pos();
    let k: usize = lex.integer("the number of a constant")?;
    let Some(constants) = constants else {
        return Err(lex.error(at, "constants by number stand only in .evoxcgraph files; write `dense<…>` here"));
    };
    let t = constants.get(k).ok_or_else(|| lex.error(at, format!("there is no constant {k} in the file")))?;
    if t.spec() != *ty {
        return Err(lex.error(at, format!("constant {k} is a {}, not a {ty}", t.spec())));
    }
    Ok(t.clone())
}

fn read_dense(lex: &mut Lexer, ty: &TensorType) -> Result<Tensor> {
    let at = lex.pos();
    let shape = ty.shape.to_static();
    let shape = shape.ok_or_else(|| {
        lex.error(at, format!("a dense literal needs constant extents, not {ty}; `splat` takes symbols"))
    })?;
    let total = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    // Zeros may come after a product that overflows.
    let total = if shape.contains(&0) { Some(0) } else { total };
    let total = total.filter(|&n| n <= lex.len()).ok_or_else(|| {
        lex.error(at, format!("the literal is shorter than the elements of {ty}; `splat` repeats one element"))
    })?;
    let buffer = if let Tok::Str(hex) = lex.peek()? {
        lex.next()?;
        blob(hex, ty.dtype, total).map_err(|m| lex.error(at, m))?
    } else {
        with_dtype!(ty.dtype, T => Buffer::from(read_lists::<T>(lex, ty, &shape, total)?))
    };
    Tensor::from_buffer(buffer, &ty.shape).map_err(|e| lex.error(at, e.to_string()))
}

/// The elements of `"0x…"`, little-endian bytes.
fn blob(text: &str, dtype: DType, total: usize) -> Result<Buffer, String> {
    let hex = text.strip_prefix("0x").ok_or("expected the bytes of the elements as \"0x…\"")?;
    let bytes = total.checked_mul(dtype.size()).filter(|n| n.checked_mul(2) == Some(hex.len()));
    let bytes = bytes.ok_or_else(|| {
        format!(
            "expected {} hexadecimal digits for {total} elements of {dtype}, found {}",
            total.saturating_mul(dtype.size() * 2),
            hex.len()
        )
    })?;
    let mut data = Vec::with_capacity(bytes);
    for pair in hex.as_bytes().chunks_exact(2) {
        let digit = |b: Option<&u8>| b.and_then(|&b| char::from(b).to_digit(16));
        match (digit(pair.first()), digit(pair.get(1))) {
            (Some(a), Some(b)) => data.push((a * 16 + b) as u8),
            _ => return Err("expected hexadecimal digits after `0x`".into()),
        }
    }
    Buffer::from_le_bytes(dtype, &data).ok_or_else(|| format!("the bytes are no elements of {dtype}"))
}

/// The elements of nested lists. A loop, for the rank is as large as the text says.
fn read_lists<T: ElementText>(lex: &mut Lexer, ty: &TensorType, shape: &[usize], total: usize) -> Result<Vec<T>> {
    let wrong = |lex: &Lexer, what: &str| lex.error(lex.pos(), format!("{what} for {ty}"));
    let (mut elements, mut open) = (vec![], Vec::<usize>::new());
    loop {
        while lex.eat('[')? {
            if open.len() == shape.len() {
                return Err(wrong(lex, "lists are nested too deeply"));
            }
            open.push(0);
        }
        if open.is_empty() || lex.peek()? != Tok::Punct(']') {
            if open.len() != shape.len() {
                return Err(
                    lex.expected(&format!("`[`, as {} axes of {ty} are still to come", shape.len() - open.len()))
                );
            }
            elements.push(T::read(lex)?);
            if let Some(n) = open.last_mut() {
                *n += 1;
            }
        }
        loop {
            if open.is_empty() {
                if elements.len() != total {
                    return Err(wrong(lex, &format!("found {} elements, not {total},", elements.len())));
                }
                return Ok(elements);
            }
            if lex.eat(',')? {
                break;
            }
            if !lex.eat(']')? {
                return Err(lex.expected("`,` or `]`"));
            }
            let n = open.pop();
            // With an extent of zero anywhere, `[]` is enough.
            if total != 0 && n != shape.get(open.len()).copied() {
                let (axis, want) = (open.len(), shape.get(open.len()).copied().unwrap_or_default());
                return Err(wrong(
                    lex,
                    &format!("a list of {} along axis {axis}, expected {want},", n.unwrap_or_default()),
                ));
            }
            if let Some(n) = open.last_mut() {
                *n += 1;
            }
        }
    }
}

/// Writes a literal with its type.
pub(crate) fn write_literal(out: &mut String, l: &Literal) {
    match l {
        Literal::Splat(t, _) => {
            out.push_str("splat<");
            with_buffer!(t.buffer(), v => if let Some(x) = v.first() { x.write(out) });
        }
        Literal::Dense(t) => {
            out.push_str("dense<");
            if t.is_empty() {
                out.push_str("[]");
            } else if t.len() > MAX_WRITTEN_ELEMENTS {
                out.push_str("\"0x");
                for b in le_bytes(t.buffer()).iter() {
                    let digit = |d: u8| char::from_digit(d.into(), 16).unwrap_or('0').to_ascii_uppercase();
                    out.extend([digit(b >> 4), digit(b & 15)]);
                }
                out.push('"');
            } else {
                with_buffer!(t.buffer(), v => write_lists(out, v, t.shape()));
            }
        }
    }
    let _ = write!(out, "> : {}", l.ty());
}

fn write_lists<T: ElementText>(out: &mut String, v: &[T], shape: &[usize]) {
    // The sizes of the blocks that a list of each axis holds.
    let mut blocks: Vec<usize> = shape
        .iter()
        .rev()
        .scan(1, |n, &d| {
            *n *= d;
            Some(*n)
        })
        .collect();
    blocks.reverse();
    let brackets = |i: usize| blocks.iter().filter(|&&b| i.is_multiple_of(b.max(1))).count();
    for (i, x) in v.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.extend(std::iter::repeat_n('[', brackets(i)));
        x.write(out);
        out.extend(std::iter::repeat_n(']', brackets(i + 1)));
    }
}

/// The bytes of the elements, least significant first, whatever the machine.
pub(crate) fn le_bytes(b: &Buffer) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(b.bytes());
    }
    let part = b.dtype().real().size();
    Cow::Owned(b.bytes().chunks(part).flat_map(|c| c.iter().rev().copied()).collect())
}
