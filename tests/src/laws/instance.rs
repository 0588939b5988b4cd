//! An instance of an op: a small program around it, and how its inputs are drawn.
//!
//! One op is one line, `name {attributes} | type domain; type domain…`, from which the program is made; the types of
//! the results are inferred. A program is EvoXIR text after a line `// name: domain; domain…`. The symbol `B` is 3.
//!
//! | domain | elements |
//! |---|---|
//! | `any` | both signs, of magnitudes 0.25 to 1.75, all different |
//! | `pos`, `unit` | 0.4 to 2.2; -0.75 to 0.75; all different |
//! | `1.5~4` | floats between these |
//! | `0..4` | integers from 0 to 3 |
//! | `bool` | either |
//! | `well`, `spd`, `sym` | well-conditioned; Hermitian positive definite; Hermitian with eigenvalues apart (last two axes) |
//! | `=[1.0, 2.0]` | these |

use super::host;
use crate::random_graph::Rng;
use crate::tolerance::Category;
use evoxc::Graph;
use evoxc_core::{DType, Tensor, TensorSpec};
use evoxc_ir::{Func, Literal, Module, Op, Prim, infer, parse_literal, parse_type};
use num_complex::Complex;

/// The value of the symbol `B`.
pub const B: i64 = 3;

/// An instance.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The printed name of the op.
    pub op: String,
    /// The line, or the name of the function.
    pub label: String,
    /// The program.
    pub graph: Graph,
    domains: Vec<Domain>,
}

#[derive(Clone, Debug)]
enum Domain {
    Any,
    Between(f64, f64),
    Int(i64, i64),
    Bool,
    Well,
    Spd,
    Sym,
    Fixed(Tensor),
}

impl Domain {
    fn parse(text: &str, ty: &TensorSpec) -> Result<Domain, String> {
        let bad = || format!("no domain is called `{text}`");
        Ok(match text {
            "any" => Domain::Any,
            "pos" => Domain::Between(0.4, 2.2),
            "unit" => Domain::Between(-0.75, 0.75),
            "bool" => Domain::Bool,
            "well" => Domain::Well,
            "spd" => Domain::Spd,
            "sym" => Domain::Sym,
            _ => {
                if let Some(data) = text.strip_prefix('=') {
                    match parse_literal(&format!("dense<{data}> : {ty}")).map_err(|e| format!("{text}: {e}"))? {
                        Literal::Dense(t) => Domain::Fixed(t),
                        Literal::Splat(..) => return Err(bad()),
                    }
                } else if let Some((a, b)) = text.split_once('~') {
                    Domain::Between(a.parse().map_err(|_| bad())?, b.parse().map_err(|_| bad())?)
                } else if let Some((a, b)) = text.split_once("..") {
                    Domain::Int(a.parse().map_err(|_| bad())?, b.parse().map_err(|_| bad())?)
                } else {
                    return Err(bad());
                }
            }
        })
    }

    fn draw(&self, rng: &mut Rng, dtype: DType, shape: &[usize]) -> Tensor {
        let n: usize = shape.iter().product();
        let complex = dtype.is_complex();
        let mut spread = |lo: f64, hi: f64| -> Vec<f64> {
            let mut list: Vec<f64> =
                (0..n).map(|i| lo + (hi - lo) * (i as f64 + 0.2 + rng.below(600) as f64 / 1000.0) / n as f64).collect();
            for i in (1..n).rev() {
                list.swap(i, rng.below(i + 1));
            }
            list
        };
        let float = |re: Vec<f64>, im: Vec<f64>| -> Tensor {
            let z: Vec<_> = re.into_iter().zip(im).map(|(re, im)| Complex::new(re, im)).collect();
            host::tensor(dtype, shape, &z)
        };
        match self {
            Domain::Fixed(t) => t.clone(),
            Domain::Any => {
                let (mut re, mut im) = (spread(0.25, 1.75), spread(0.25, 1.75));
                re.iter_mut().chain(&mut im).for_each(|x| *x *= rng.pick(&[1.0, -1.0]));
                float(re, im)
            }
            Domain::Between(a, b) => {
                let re = spread(*a, *b);
                let im = spread(-0.5, 0.5);
                float(re, im)
            }
            Domain::Int(a, b) => {
                let list: Vec<i64> = (0..n).map(|_| a + rng.below((b - a).max(1) as usize) as i64).collect();
                Tensor::from_vec(list, shape).and_then(|t| t.cast(dtype)).expect("as many elements as the shape has")
            }
            Domain::Bool => {
                let list: Vec<bool> = (0..n).map(|_| rng.once_in(2)).collect();
                Tensor::from_vec(list, shape).expect("as many elements as the shape has")
            }
            Domain::Well | Domain::Spd | Domain::Sym => {
                let (re, im) = (spread(-1.0, 1.0), spread(-1.0, 1.0));
                let mut z: Vec<_> = re.into_iter().zip(im).map(|(a, b)| Complex::new(a, b)).collect();
                if !complex {
                    z.iter_mut().for_each(|z| z.im = 0.0);
                }
                let (rows, columns) = match shape {
                    [.., r, c] => (*r, *c),
                    _ => (1, 1),
                };
                for m in z.chunks_mut((rows * columns).max(1)) {
                    let old = m.to_vec();
                    for i in 0..rows.min(columns) {
                        for j in 0..rows.min(columns) {
                            let at = i * columns + j;
                            let apart = if i == j { 1.0 + 1.5 * i as f64 } else { 0.0 };
                            m[at] = match self {
                                Domain::Spd | Domain::Sym => {
                                    (old[at] + old[j * columns + i].conj()) * 0.25 + Complex::new(apart, 0.0)
                                }
                                _ => old[at] * 0.5 + Complex::new(apart + 1.0, 0.0) * f64::from(i == j),
                            };
                            if matches!(self, Domain::Spd) && i == j {
                                m[at] += 1.0;
                            }
                        }
                    }
                }
                host::tensor(dtype, shape, &z)
            }
        }
    }
}

impl Instance {
    /// The inputs of one row; other rows have other values, from the same domains.
    pub fn inputs(&self, row: u64) -> Vec<Tensor> {
        let rng = &mut Rng::new(row + 1);
        for _ in 0..4 {
            rng.bits();
        }
        let concrete = |t: &TensorSpec| -> Vec<usize> {
            t.shape().iter().map(|d| d.evaluate(&mut |_| Some(B)).unwrap_or(0) as usize).collect()
        };
        let specs = self.graph.input_specs();
        specs.iter().zip(&self.domains).map(|(t, d)| d.draw(rng, t.dtype(), &concrete(t))).collect()
    }
    /// The category of tolerance.
    pub fn category(&self) -> Category {
        Category::of(self.graph.module())
    }
}

fn instance(op: &str, label: &str, module: Module, domains: &str) -> Result<Instance, String> {
    let graph = Graph::from_module(module).map_err(|e| e.to_string())?;
    let specs = graph.input_specs();
    let words: Vec<&str> = domains.split(';').map(str::trim).filter(|w| !w.is_empty()).collect();
    if words.len() != specs.len() {
        return Err(format!("{} domains for {} inputs", words.len(), specs.len()));
    }
    let domains = words.iter().zip(&specs).map(|(w, t)| Domain::parse(w, t)).collect::<Result<_, _>>()?;
    Ok(Instance { op: op.into(), label: label.into(), graph, domains })
}

/// The instance of a line.
fn line(text: &str) -> Result<Instance, String> {
    let (head, operands) = text.split_once('|').ok_or("a line needs a `|` before the operands")?;
    let (name, attributes) = head.split_at(head.find(['{', ' ']).unwrap_or(head.len()));
    let mut types = vec![];
    let mut domains = vec![];
    for operand in operands.split(';').map(str::trim).filter(|o| !o.is_empty()) {
        let (ty, domain) = operand.split_once(' ').ok_or_else(|| format!("`{operand}` needs a type and a domain"))?;
        types.push(parse_type(&format!("tensor<{ty}>")).map_err(|e| e.to_string())?);
        domains.push(domain.trim());
    }
    // The parser wants types of results; they are inferred below.
    let probe = format!("func @f() -> () {{\n  %r = evoxc.{name}() {attributes} : tensor<f64>\n  return\n}}");
    let probe = Module::parse(&probe).map_err(|e| format!("{e}\n{probe}"))?;
    let prim: Prim = probe.main().and_then(|f| f.body.ops.first()).ok_or("no op")?.prim.clone();
    let results = infer(&prim, &types.iter().collect::<Vec<_>>(), &[]).map_err(|e| e.to_string())?;
    let mut f = Func::new("main");
    f.body.args = types.into_iter().map(|t| f.value(t, None)).collect();
    f.body.results = results.into_iter().map(|t| f.value(t, None)).collect();
    let (operands, results) = (f.body.args.iter().copied().collect(), f.body.results.iter().copied().collect());
    f.body.ops.push(Op { prim, operands, results, regions: vec![], loc: None });
    let module = Module { name: "main".into(), funcs: vec![f], ..Module::default() };
    instance(name.trim(), text, module, &domains.join(";"))
}

/// The instances of lines; empty ones and `//` comments are skipped.
///
/// # Errors
/// What is wrong with each line.
pub fn lines(text: &str) -> Result<Vec<Instance>, Vec<String>> {
    let used = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//"));
    gather(used.map(|l| line(l).map_err(|e| format!("{l}: {e}"))))
}

/// The instances of programs, separated by `// -----`.
///
/// # Errors
/// What is wrong with each program.
pub fn programs(text: &str) -> Result<Vec<Instance>, Vec<String>> {
    let one = |text: &str| {
        let (head, body) = text.trim().split_once('\n').ok_or("an empty program")?;
        let (op, domains) = head.trim_start_matches("//").split_once(':').ok_or("no line `// op: domains`")?;
        let module = Module::parse(body).map_err(|e| e.to_string())?;
        let label = module.main().map(|f| format!("@{}", f.name)).unwrap_or_default();
        instance(op.trim(), &label, module, domains)
    };
    gather(text.split("// -----").map(|t| one(t).map_err(|e: String| format!("{}: {e}", t.trim()))))
}

fn gather(list: impl Iterator<Item = Result<Instance, String>>) -> Result<Vec<Instance>, Vec<String>> {
    let (mut good, mut bad) = (vec![], vec![]);
    for i in list {
        match i {
            Ok(i) => good.push(i),
            Err(e) => bad.push(e),
        }
    }
    if bad.is_empty() { Ok(good) } else { Err(bad) }
}
