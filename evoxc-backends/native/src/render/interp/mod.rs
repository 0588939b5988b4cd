//! Runs a LIR as it stands: no code is made. It is what the other renderers are compared with, and runs anywhere.

mod decode;
mod lanes;
mod run;

use super::{Code, Renderer, Target};
use crate::lir::{Lir, verify};
use decode::Program;
use evoxc_core::{BackendError, OpError, Result};
use std::sync::Arc;

/// The interpreter of LIR.
///
/// ```
/// use evoxc_native::render::{Interp, Renderer};
/// assert_eq!(Interp.name(), "interp");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Interp;

impl Renderer for Interp {
    fn name(&self) -> &'static str {
        "interp"
    }
    fn target(&self) -> Target {
        // Vectors save it decoding; it has no registers that could run out.
        Target { lanes: 16, wide: 4, registers: 16, more: 32, alu: |_, _| true, cast: |_, _| true }
    }
    fn compile(&self, kernel: &Lir) -> Result<Arc<dyn Code>> {
        verify(kernel).map_err(fault)?;
        Ok(Arc::new(Interpreted { program: Program::new(kernel), kernel: kernel.clone() }))
    }
    fn load(&self, kernel: &Lir, bytes: &[u8]) -> Result<Arc<dyn Code>> {
        if bytes.is_empty() {
            return self.compile(kernel);
        }
        Err(fault(OpError::new("load", "the interpreter of kernels has no code of its own, and this is some")))
    }
}

fn fault(op: OpError) -> evoxc_core::Error {
    BackendError { backend: "native".into(), op }.into()
}

struct Interpreted {
    program: Program,
    kernel: Lir,
}

impl Code for Interpreted {
    unsafe fn run(&self, buffers: *const *mut u8, params: *const i64, scratch: *const *mut u8, begin: i64, end: i64) {
        // SAFETY: the LIR has been verified, and the caller promises the rest.
        unsafe { run::run(&self.program, run::Arguments { buffers, params, scratch, begin, end }) }
    }
    fn bytes(&self) -> Vec<u8> {
        vec![]
    }
    fn text(&self) -> String {
        self.kernel.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::{Inst, Memory, Reg, Size, Stride};
    use crate::uop::{Alu, Ty};
    use evoxc_core::DType;
    use smallvec::smallvec;

    /// `y[i] = x[i] + x[i]` for the iterations asked for, and the sum of all `x[i]` in `z[0]`, in lanes of 4.
    fn doubled() -> Lir {
        let [begin, end, i, x, y, total, zero, sum, last, sum1, where_] = std::array::from_fn(|n| Reg(n as u32));
        let v = Ty::vector(DType::F32, 4);
        let stride = Stride::One;
        Lir {
            buffers: vec![DType::F32; 3],
            scratch: vec![],
            params: 1,
            extent: Size::Param(0),
            grain: Size::Const(1),
            regs: vec![Ty::INDEX, Ty::INDEX, Ty::INDEX, v, v, v, v, v, Ty::scalar(DType::F32), v, Ty::INDEX],
            body: vec![
                Inst::Begin { dst: begin },
                Inst::End { dst: end },
                Inst::Const { dst: zero, bits: 0 },
                Inst::Const { dst: where_, bits: 0 },
                Inst::Copy { dst: total, src: zero },
                Inst::For { var: i, from: begin, to: end, step: 4 },
                Inst::Load { dst: x, from: Memory::Buffer(0), index: i, offset: 0, stride },
                Inst::Alu { dst: y, op: Alu::Add, src: smallvec![x, x] },
                Inst::Store { to: Memory::Buffer(1), index: i, offset: 0, stride, src: y },
                Inst::Alu { dst: sum, op: Alu::Add, src: smallvec![total, x] },
                Inst::Copy { dst: total, src: sum },
                Inst::EndFor,
                Inst::Copy { dst: sum1, src: total },
                Inst::Across { dst: last, op: Alu::Add, src: sum1 },
                Inst::Store { to: Memory::Buffer(2), index: where_, offset: 0, stride, src: last },
            ],
        }
    }

    #[test]
    fn loops_and_lanes() {
        let code = Interp.compile(&doubled()).unwrap();
        let (mut x, mut y, mut z): (Vec<f32>, _, _) = ((0..8).map(|n| n as f32).collect(), [0f32; 8], [9f32]);
        let buffers = [x.as_mut_ptr().cast::<u8>(), y.as_mut_ptr().cast(), z.as_mut_ptr().cast()];
        // SAFETY: there are 8 elements of the first two, and one of the third.
        unsafe { code.run(buffers.as_ptr(), [8].as_ptr(), std::ptr::null(), 0, 8) };
        // 2n, and the sum of 0 to 7.
        assert_eq!((y, z), ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0], [28.0]));
        // SAFETY: no element is touched.
        unsafe { code.run(buffers.as_ptr(), [8].as_ptr(), std::ptr::null(), 8, 8) };
        assert_eq!(z, [0.0]);
    }

    #[test]
    fn text() {
        assert_eq!(
            Interp.compile(&doubled()).unwrap().text(),
            "kernel(b0: f32*, b1: f32*, b2: f32*, p0) over p0 by 1 {
  %0: i64 = begin
  %1: i64 = end
  %6: f32x4 = 0.0
  %10: i64 = 0
  %5: f32x4 = copy %6
  for %2 in %0..%1 step 4 {
    %3: f32x4 = load b0[%2]
    %4: f32x4 = add %3, %3
    store b1[%2], %4
    %7: f32x4 = add %5, %3
    %5: f32x4 = copy %7
  }
  %9: f32x4 = copy %5
  %8: f32 = across_add %9
  store b2[%10], %8
}
"
        );
    }

    #[test]
    fn what_breaks_the_form_is_refused() {
        let refused = |change: &dyn Fn(&mut Lir), message: &str| {
            let mut lir = doubled();
            change(&mut lir);
            let e = Interp.compile(&lir).err().unwrap().to_string();
            assert!(e.contains(message), "{e}");
        };
        refused(&|l| l.regs[3].lanes = 3, "%3 has type f32x3");
        refused(&|l| l.regs[3] = Ty::vector(DType::F64, 4), "dtypes differ: f64 and f32");
        refused(&|l| l.body.truncate(8), "not closed");
        refused(&|l| _ = l.body.remove(0), "%0 is read and has not been written");
        refused(&|l| l.body.insert(1, Inst::Begin { dst: Reg(0) }), "%0 is written twice");
        refused(&|l| l.body.swap(9, 11), "%7 is read");
        refused(&|l| l.body.push(Inst::EndIf), "nothing is open");
        refused(&|l| l.params = 0, "no parameter 0");
        refused(&|l| l.regs.truncate(5), "no register %");
        refused(&|l| _ = l.buffers.pop(), "there is no b2");
        refused(
            &|l| l.body[7] = Inst::Alu { dst: Reg(4), op: Alu::And, src: smallvec![Reg(3), Reg(3)] },
            "And is not of",
        );
        refused(&|l| l.body[5] = Inst::For { var: Reg(2), from: Reg(0), to: Reg(1), step: 0 }, "leads nowhere");
    }
}
