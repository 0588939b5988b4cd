//! The C renderer against the suite, its cache, and what it does without a compiler.

use super::*;
use crate::lir::{Inst, Memory, Reg, Size, Stride};
use crate::render::suite;
use crate::uop::Ty;
use evoxc_core::DType;

/// The renderer, where there is a compiler.
fn c() -> Option<C> {
    let c = C::default();
    match c.available() {
        Ok(()) => Some(c),
        Err(e) => {
            println!("skipped: {e}");
            None
        }
    }
}

#[test]
fn every_instruction_gives_the_bits_of_the_interpreter() {
    if let Some(c) = c() {
        suite::sweep(&c);
    }
}

#[test]
fn random_kernels_give_the_bits_of_the_interpreter() {
    if let Some(c) = c() {
        let cases = std::env::var("EVOXC_SUITE_CASES").ok().and_then(|n| n.parse().ok());
        suite::check_cases(&c, cases.unwrap_or(128));
    }
}

/// Copies as many `i32` as are asked for.
fn copying() -> Lir {
    let [begin, end, i, x] = std::array::from_fn(|n| Reg(n as u32));
    let stride = Stride::One;
    Lir {
        buffers: vec![DType::I32; 2],
        scratch: vec![],
        params: 0,
        extent: Size::Const(4),
        grain: Size::Const(1),
        regs: vec![Ty::INDEX, Ty::INDEX, Ty::INDEX, Ty::scalar(DType::I32)],
        body: vec![
            Inst::Begin { dst: begin },
            Inst::End { dst: end },
            Inst::For { var: i, from: begin, to: end, step: 1 },
            Inst::Load { dst: x, from: Memory::Buffer(0), index: i, offset: 0, stride },
            Inst::Store { to: Memory::Buffer(1), index: i, offset: 0, stride, src: x },
            Inst::EndFor,
        ],
    }
}

fn copies(code: &dyn Code) {
    let (mut x, mut y) = ([1, 2, 3, 4], [0; 4]);
    let buffers = [x.as_mut_ptr().cast::<u8>(), y.as_mut_ptr().cast()];
    // SAFETY: there are 4 elements of each.
    unsafe { code.run(buffers.as_ptr(), std::ptr::null(), std::ptr::null(), 0, 4) };
    assert_eq!(x, y);
}

#[test]
fn code_is_bytes_that_load() {
    let Some(c) = c() else { return };
    let code = c.compile(&copying()).unwrap();
    copies(&*code);
    let again = C::default().load(&copying(), &code.bytes()).unwrap();
    copies(&*again);
    assert!(code.text().contains("st_i32("), "{}", code.text());
    // Another kernel is not in them.
    let mut other = copying();
    other.body.truncate(2);
    assert!(c.load(&other, &code.bytes()).err().unwrap().to_string().contains("not in the compiled code"));
    assert!(c.load(&other, b"something").err().unwrap().to_string().contains("no compiled kernels"));
}

#[test]
fn a_folder_keeps_kernels() {
    let Some(c) = c() else { return };
    let folder = Folder::new().unwrap();
    let c = c.with_cache(folder.path().join("kernels"));
    copies(&*c.compile(&copying()).unwrap());
    let files = || std::fs::read_dir(folder.path().join("kernels")).unwrap().map(|f| f.unwrap().path());
    assert_eq!(files().count(), 1);
    let file = files().next().unwrap();
    let written = || std::fs::metadata(&file).unwrap().modified().unwrap();
    let first = written();
    copies(&*c.compile(&copying()).unwrap());
    assert_eq!(written(), first);
    // Several kernels of one run are each found alone, and a damaged file is as good as none.
    let mut two = copying();
    two.body[0] = Inst::Const { dst: Reg(0), bits: 0 };
    let mut three = copying();
    three.body[1] = Inst::Const { dst: Reg(1), bits: 4 };
    c.compile_all(&[&two, &three, &copying()]).unwrap().iter().for_each(|code| copies(&**code));
    assert_eq!(files().count(), 3);
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    copies(&*c.compile(&copying()).unwrap());
    assert_ne!(std::fs::read(&file).unwrap(), bytes);
}

/// As it is for what searches find.
#[test]
fn a_folder_that_cannot_be_written_to_is_as_good_as_none() {
    let Some(c) = c() else { return };
    let folder = Folder::new().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").unwrap();
    let c = c.with_cache(file.join("kernels"));
    copies(&*c.compile(&copying()).unwrap());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "no folder");
}

#[test]
fn threads_may_keep_the_same_kernels_at_once() {
    if c().is_none() {
        return;
    }
    let folder = Folder::new().unwrap();
    let kernels = folder.path().join("kernels");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let cache = Cache(kernels.clone());
                for n in 0..200u8 {
                    cache.put(&["one", "two"], &[n; 4096]).unwrap();
                }
            });
        }
    });
    // Whole, and nothing left over.
    for key in ["one", "two"] {
        let bytes = std::fs::read(kernels.join(format!("{key}.so"))).unwrap();
        assert!(bytes.len() == 4096 + 32 && bytes[..4096] == [199; 4096], "{key}");
    }
    assert_eq!(std::fs::read_dir(&kernels).unwrap().count(), 2);
}

#[test]
fn without_a_compiler_the_error_says_what_to_install() {
    let c = C::default().with_compiler("no-such-compiler");
    let e = c.compile(&copying()).err().unwrap().to_string();
    assert!(e.contains("`no-such-compiler` cannot be run") && e.contains("install clang or gcc"), "{e}");
    assert!(c.available().is_err());
}

#[test]
fn many_kernels_are_compiled_in_several_runs() {
    let Some(c) = c() else { return };
    // 20 kernels, two of each kind.
    let kernels: Vec<Lir> = (0..20)
        .map(|n| {
            let mut kernel = copying();
            kernel.body.insert(0, Inst::Const { dst: Reg(4), bits: n % 10 });
            kernel.regs.push(Ty::INDEX);
            kernel
        })
        .collect();
    let codes = c.compile_all(&kernels.iter().collect::<Vec<_>>()).unwrap();
    codes.iter().for_each(|code| copies(&**code));
    for (kernel, code) in kernels.iter().zip(&codes) {
        copies(&*c.load(kernel, &code.bytes()).unwrap());
    }
    assert!(c.compile_all(&[]).unwrap().is_empty());
}
