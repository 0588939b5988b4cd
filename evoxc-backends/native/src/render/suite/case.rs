//! One kernel with memory to run it on.

#[cfg(all(unix, target_arch = "x86_64"))]
use super::memory::Guarded;
use super::memory::{Held, Region};
use crate::lir::Lir;
use crate::render::Code;

/// A kernel and all that it is called with.
pub(super) struct Case {
    /// What it is for; empty, or a line.
    pub name: String,
    pub lir: Lir,
    pub buffers: Vec<Region>,
    pub scratch: Vec<Region>,
    pub params: Vec<i64>,
    /// The calls: iterations of the outermost loop.
    pub calls: Vec<(i64, i64)>,
}

impl Case {
    /// Runs both on memory of their own, and gives the first difference of what they leave.
    pub fn differs(&self, expected: &dyn Code, got: &dyn Code) -> Option<String> {
        let (expected, got) = (self.run(expected), self.run(got));
        let regions = self.buffers.iter().chain(&self.scratch);
        regions.zip(expected.iter().zip(&got)).enumerate().find_map(|(n, (region, (a, b)))| {
            let name = match n.checked_sub(self.buffers.len()) {
                None => format!("b{n}"),
                Some(n) => format!("s{n}"),
            };
            region.difference(a, b).map(|what| format!("{name}, {what}"))
        })
    }

    fn run(&self, code: &dyn Code) -> Vec<Held> {
        let mut held: Vec<Held> = self.buffers.iter().chain(&self.scratch).map(Region::hold).collect();
        let regions = self.buffers.iter().chain(&self.scratch);
        let pointers: Vec<*mut u8> = regions.zip(&mut held).map(|(region, h)| region.pointer(h)).collect();
        let (buffers, scratch) = pointers.split_at(self.buffers.len());
        for &(begin, end) in &self.calls {
            // SAFETY: the suite's kernels stay within the regions, which this function holds.
            unsafe { code.run(buffers.as_ptr(), self.params.as_ptr(), scratch.as_ptr(), begin, end) };
        }
        held
    }

    /// Runs it where the elements end, and where they begin, beside memory that may not be touched: reading too far is no
    /// difference that [`Case::differs`] could see.
    #[cfg(all(unix, target_arch = "x86_64"))]
    pub fn stays_inside(&self, code: &dyn Code) {
        for at_end in [true, false] {
            let hold = |all: &[Region]| all.iter().map(|r| Guarded::new(r, at_end)).collect::<Vec<_>>();
            let (buffers, scratch) = (hold(&self.buffers), hold(&self.scratch));
            let point = |all: &[Guarded], regions: &[Region]| -> Vec<*mut u8> {
                all.iter().zip(regions).map(|(g, r)| g.pointer(r)).collect()
            };
            let (b, s) = (point(&buffers, &self.buffers), point(&scratch, &self.scratch));
            for &(begin, end) in &self.calls {
                // SAFETY: the suite's kernels stay within the regions, which are held here.
                unsafe { code.run(b.as_ptr(), self.params.as_ptr(), s.as_ptr(), begin, end) };
            }
        }
    }
    /// There is no such memory on this host.
    #[cfg(not(all(unix, target_arch = "x86_64")))]
    pub fn stays_inside(&self, _: &dyn Code) {}
}
