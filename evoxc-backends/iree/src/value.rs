//! Tensors as values of IREE's runtime, and back.

use crate::error::{error, first_line};
use eerie::runtime::{BufferElement, Runtime, RuntimeError, Value};
use evoxc_core::{Buffer, DType, Element, Error, Result, Tensor};

/// The name of the function, as the runtime resolves it.
pub(crate) const FUNCTION: &str = "evoxc.main";

/// What the runtime says, at a stage.
pub(crate) fn failed(stage: &str) -> impl Fn(RuntimeError) -> Error {
    move |e| error(stage, first_line(&e.to_string()))
}

/// Are there as many results as outputs?
pub(crate) fn check_count(results: &[Value], outputs: &[DType]) -> Result<()> {
    if results.len() == outputs.len() {
        return Ok(());
    }
    Err(error("run", format!("it gave {} results, expected {}", results.len(), outputs.len())))
}

/// A tensor as a value of the runtime, which knows integers by their width only.
pub(crate) fn value(runtime: &Runtime, t: &Tensor) -> Result<Value> {
    fn view<T: BufferElement>(runtime: &Runtime, shape: &[usize], v: &[T]) -> Result<Value>
    where
        Value: From<eerie::runtime::BufferView<T>>,
    {
        runtime.buffer_view(shape, v).map(Value::from).map_err(failed("transfer"))
    }
    let shape = t.shape();
    match t.buffer() {
        Buffer::Bool(v) => view(runtime, shape, v),
        Buffer::I8(v) => view(runtime, shape, v),
        Buffer::I16(v) => view(runtime, shape, v),
        Buffer::I32(v) => view(runtime, shape, v),
        Buffer::I64(v) => view(runtime, shape, v),
        Buffer::U8(v) => view(runtime, shape, v),
        Buffer::U16(v) => view(runtime, shape, v),
        Buffer::U32(v) => view(runtime, shape, v),
        Buffer::U64(v) => view(runtime, shape, v),
        Buffer::F16(v) => view(runtime, shape, v),
        Buffer::Bf16(v) => view(runtime, shape, v),
        Buffer::F32(v) => view(runtime, shape, v),
        Buffer::F64(v) => view(runtime, shape, v),
        Buffer::C64(_) | Buffer::C128(_) => {
            Err(error("transfer", format!("the runtime has no values of dtype {}", t.dtype())))
        }
    }
}

/// A result as a tensor of its dtype: the same bits.
pub(crate) fn tensor(v: Value, dtype: DType) -> Result<Tensor> {
    fn read<T: BufferElement + Element>(v: &eerie::runtime::BufferView<T>) -> Result<(Buffer, Vec<usize>)> {
        let data = v.read().map_err(failed("transfer"))?;
        Ok((T::wrap(data), v.shape()))
    }
    let (buffer, shape) = match &v {
        Value::Bool(v) => read(v)?,
        Value::U8(v) => read(v)?,
        Value::U16(v) => read(v)?,
        Value::U32(v) => read(v)?,
        Value::U64(v) => read(v)?,
        Value::I8(v) => read(v)?,
        Value::I16(v) => read(v)?,
        Value::I32(v) => read(v)?,
        Value::I64(v) => read(v)?,
        Value::F16(v) => read(v)?,
        Value::F32(v) => read(v)?,
        Value::F64(v) => read(v)?,
        Value::Bf16(v) => read(v)?,
    };
    let buffer = if buffer.dtype() == dtype {
        buffer
    } else {
        // Machines that IREE's runtime is built for here are little-endian.
        Buffer::from_le_bytes(dtype, buffer.bytes())
            .ok_or_else(|| error("transfer", format!("a result is no {dtype}")))?
    };
    Tensor::from_parts(buffer, &shape).ok_or_else(|| error("transfer", "a result does not fill its shape"))
}

/// The shape of a value.
#[cfg(feature = "iree-vulkan")]
pub(crate) fn shape(v: &Value) -> Vec<usize> {
    match v {
        Value::Bool(v) => v.shape(),
        Value::U8(v) => v.shape(),
        Value::U16(v) => v.shape(),
        Value::U32(v) => v.shape(),
        Value::U64(v) => v.shape(),
        Value::I8(v) => v.shape(),
        Value::I16(v) => v.shape(),
        Value::I32(v) => v.shape(),
        Value::I64(v) => v.shape(),
        Value::F16(v) => v.shape(),
        Value::F32(v) => v.shape(),
        Value::F64(v) => v.shape(),
        Value::Bf16(v) => v.shape(),
    }
}
