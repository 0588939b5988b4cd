//! The walk that says programs in StableHLO's ops: what it keeps of them, in regions and functions too, and what it
//! refuses.

use evoxc::prelude::*;
use evoxc_core::{Error, Result};
use evoxc_ir::{Module, Op, Prim, Region};
use evoxc_stablehlo::expand::{ExpandOptions, expand, unsayable};

fn expanded(module: &Module) -> Module {
    let options = ExpandOptions::default();
    let out = expand(module, &options).unwrap();
    out.verify().unwrap();
    assert_eq!(unsayable(&out, &options), Vec::<String>::new());
    out
}

/// Every op of a module.
fn ops(m: &Module) -> Vec<&Op> {
    fn walk<'a>(r: &'a Region, out: &mut Vec<&'a Op>) {
        for op in &r.ops {
            out.push(op);
            op.regions.iter().for_each(|r| walk(r, out));
        }
    }
    let mut out = vec![];
    m.funcs.iter().for_each(|f| walk(&f.body, &mut out));
    out
}

/// What StableHLO has already stays, op for op.
#[test]
fn a_program_that_can_be_said_stays_as_it_is() -> Result<()> {
    let f = |x: Sym, w: Sym| cond(x.sum(..).gt(0.0), || x.dot(w).tanh(), || -x.dot(w)).max(1);
    let graph = trace(f, (spec(F32, (dim("B"), 3)), spec(F32, [3, 4])))?;
    let out = expanded(graph.module());
    assert_eq!(&out, graph.module());
    assert_eq!(out.to_string(), graph.module().to_string());
    Ok(())
}

const PROGRAM: &str = r#"module @net version 1 {
  // static layers = 2
  // note: by hand
  func @entry(%x: tensor<2xf32>, %p: tensor<bool>) -> (tensor<2xf32>, tensor<2xf32>) {
    %angle = evoxc.call(%x) {callee = @inner} : tensor<2xf32> loc("net.rs":3:5)
    %r = evoxc.cond(%p) : tensor<2xf32> {
      then() {
        %t = evoxc.sinh(%angle) : tensor<2xf32> loc("net.rs":5:9)
        yield %t
      }
      else() {
        yield %x
      }
    } loc("net.rs":4:5)
    return %r, %angle
  }
  func @inner(%y: tensor<2xf32>) -> tensor<2xf32> {
    %1 = evoxc.call(%y) {callee = @leaf} : tensor<2xf32>
    return %1
  }
  func @leaf(%z: tensor<2xf32>) -> tensor<2xf32> {
    %named = evoxc.atan(%z) : tensor<2xf32>
    return %named
  }
}"#;

#[test]
fn names_locations_calls_and_remarks_are_kept() -> Result<()> {
    let module = Module::parse(PROGRAM)?;
    module.verify()?;
    let out = expanded(&module);
    assert_eq!((out.name.as_str(), &out.statics, &out.notes), ("net", &module.statics, &module.notes));
    let names: Vec<&str> = out.funcs.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names[0], "entry");
    assert_eq!(names.len(), 3);
    for name in ["inner", "leaf"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let text = out.to_string();
    for kept in ["%x: tensor<2xf32>, %p: tensor<bool>", "%angle = evoxc.call(%x) {callee = @inner}", "%named =", "%t ="]
    {
        assert!(text.contains(kept), "{kept}\n{text}");
    }
    // All that stands for an op stands where it stood; ops without a place get none.
    for op in ops(&out) {
        let place = op.loc.map(|l| l.to_string());
        match op.prim {
            Prim::Call { .. } | Prim::Cond {} => {}
            _ if op.prim.name() == "atan2" => assert_eq!(place, None),
            _ => assert!(place.is_none_or(|p| p == "net.rs:5:9")),
        }
    }
    assert!(ops(&out).iter().any(|op| op.prim.name() == "expm1" && op.loc.is_some_and(|l| l.line == 5)));
    Ok(())
}

/// The rules of a call are for derivatives, which are taken before.
#[test]
fn rules_of_calls_are_left_out() -> Result<()> {
    let graph = trace(|x: Sym| checkpoint(|x: Sym| x.erf().exp()).call(x), spec(F32, [2]))?;
    let out = expanded(graph.module());
    let calls: Vec<_> = ops(&out).into_iter().filter(|op| matches!(op.prim, Prim::Call { .. })).collect();
    assert!(calls.iter().all(|op| op.prim.functions().len() == 1));
    Ok(())
}

/// `print` has no place in StableHLO: an error that says so and what to do, or nothing where that is asked for.
#[test]
fn prints_are_refused_or_dropped() -> Result<()> {
    let graph = trace(|x: Sym| x.print("x") + 1.0, spec(F32, [2]))?;
    let e = expand(graph.module(), &ExpandOptions::default()).unwrap_err();
    assert!(matches!(e, Error::Backend(_)), "{e:?}");
    let message = e.to_string();
    assert!(
        message.contains("print") && message.contains("drop_prints") && message.contains("tensor<2xf32>"),
        "{message}"
    );
    let dropped = expand(graph.module(), &ExpandOptions { drop_prints: true, ..ExpandOptions::default() })?;
    assert!(ops(&dropped).iter().all(|op| op.prim.name() != "print"));
    Ok(())
}

/// A module without functions has nothing to expand; one that calls what is not there is refused, as is recursion.
#[test]
fn broken_modules_are_refused() -> Result<()> {
    let options = ExpandOptions::default();
    assert_eq!(expand(&Module::default(), &options)?, Module::default());
    let missing = "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = evoxc.call(%x) {callee = @g} : tensor<2xf32>\n  return %y\n}";
    assert!(expand(&Module::parse(missing)?, &options).unwrap_err().to_string().contains("@g"));
    let own = "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = evoxc.call(%x) {callee = @f} : tensor<2xf32>\n  return %y\n}";
    assert!(expand(&Module::parse(own)?, &options).unwrap_err().to_string().contains("calls itself"));
    Ok(())
}

/// 20,000 ops take no longer than 20,000 ops should, and regions as deep as the IR allows no more stack than there is.
#[test]
fn long_and_deep_programs() -> Result<()> {
    let graph =
        trace(|x: Sym| (0..20_000).fold(x, |x, i| if i % 2 == 0 { x.atan() } else { x + 1.0 }), spec(F32, [2]))?;
    let start = std::time::Instant::now();
    expanded(graph.module());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    fn nest(x: Sym, depth: usize) -> Sym {
        if depth == 0 { x.atan() } else { cond(x.sum(..).gt(0.0), || nest(x, depth - 1), || x) }
    }
    let graph = trace(|x: Sym| nest(x, 95), spec(F32, [2]))?;
    expanded(graph.module());
    Ok(())
}
