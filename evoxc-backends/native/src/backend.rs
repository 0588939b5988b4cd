//! The native compiler as a backend: options, and the stages of a program.

use crate::artifact::{self, NativeArtifact, NativeProgram, kernel_items, refuse};
use crate::decompose::{Precision, decompose};
use crate::dump;
use crate::kernel::Kernel;
use crate::linearise::{Shape, candidates, linearise, repeat};
use crate::lir::{Inst, Lir, Memory};
use crate::memo::{Memo, MemoCounts, Options};
use crate::plan::{Compiled, Edge, Kernels, Plan};
use crate::pool::SharedPool;
use crate::render::{self, C, Interp, Renderer};
use crate::schedule::{KernelItem, Part, Routine, Slot, join_loops, schedule};
use crate::search;
use crate::uop::{Key, Stage, key, simplify_kernel, verify};
use evoxc_core::{Device, DeviceKind, OpError, Result, Tensor};
use evoxc_ir::{Module, simplify};
use evoxc_reference::Replicas;
use evoxc_stage::{Backend, Capabilities, OptLevel, Profile, Program, host_processor};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The compiler of our own: fused kernels as machine code of this host, no other compiler needed.
///
/// ```
/// use evoxc::{Native, prelude::*};
/// let exe = build(|x: Sym| (x * 2.0).exp().sum(0), spec(F32, [dim("B")]), &Native::default())?;
/// assert_eq!(exe.run(Tensor::zeros(F32, [3]))?.item::<f32>()?, 3.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Native {
    code: Code,
    threads: Option<usize>,
    opt_level: OptLevel,
    precision: Precision,
    search: usize,
    cache: Option<PathBuf>,
    made: Made,
    memo: Memo,
    edge: Option<Edge>,
}

/// The renderer of these options, made when it is first needed.
#[derive(Clone, Default)]
struct Made(Arc<OnceLock<Result<Arc<dyn Renderer>>>>);
impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get().and_then(|r| r.as_ref().ok()).map_or("none yet", |r| r.name()))
    }
}

/// What makes code of kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Code {
    /// What suits the host best.
    #[default]
    Best,
    C,
    Interp,
    /// x86-64 code of level v3.
    Narrow,
}

impl Native {
    /// Kernels as C, which the system's compiler compiles.
    pub fn c() -> Native {
        Native { code: Code::C, ..Native::default() }
    }
    /// Code for any x86-64 processor with AVX2 (level v3), with vectors of 256 bits even where this one has wider ones. The
    /// results are the same bits.
    ///
    /// ```
    /// use evoxc::{Native, prelude::*};
    /// let narrow = Native::avx2();
    /// if !narrow.devices().is_empty() {
    ///     assert_eq!(evaluate(|x: Sym| x + 1.0, Tensor::from(1f32), &narrow)?.item::<f32>()?, 2.0);
    /// }
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn avx2() -> Native {
        Native { code: Code::Narrow, ..Native::default() }
    }
    /// Kernels that are interpreted: no code at all. It is what the other kinds of code are compared with.
    pub fn interp() -> Native {
        Native { code: Code::Interp, ..Native::default() }
    }
    /// Runs programs on so many threads, at most 1024, by default on as many as the host runs at once. No result depends on
    /// it.
    ///
    /// ```
    /// use evoxc::{Native, prelude::*};
    /// let one = Native::default().threads(1);
    /// assert_eq!(evaluate(|x: Sym| x + 1.0, Tensor::from(1f32), &one)?.item::<f32>()?, 2.0);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn threads(mut self, n: usize) -> Native {
        self.threads = Some(n.max(1));
        self
    }
    /// How much to optimise.
    pub fn opt_level(mut self, level: OptLevel) -> Native {
        self.opt_level = level;
        self
    }
    /// How exactly floats are treated.
    pub fn precision(mut self, precision: Precision) -> Native {
        self.precision = precision;
        self
    }
    /// Tries up to `n` forms of each kernel and takes the quickest, when a program is compiled.
    pub fn search(mut self, n: usize) -> Native {
        self.search = n;
        self
    }
    /// The folder that compiled C and the winners of searches are kept in. Nothing is written to disk without one.
    pub fn cache_dir(mut self, folder: impl Into<PathBuf>) -> Native {
        self.cache = Some(folder.into());
        self.made = Made::default();
        self.memo = self.memo.anew();
        self
    }
    /// Keeps up to so many bytes of compiled kernels for programs that are compiled later, by this value and its clones: a
    /// kernel that an earlier program had is not compiled again. No result depends on it; 0 keeps nothing.
    ///
    /// ```
    /// use evoxc::{Native, prelude::*};
    /// let native = Native::default().memo(1 << 20);
    /// let layer = |x: Sym| (x * 2.0).tanh();
    /// build(layer, spec(F32, [100]), &native)?;
    /// build(layer, spec(F32, [100]), &native)?;
    /// let counts = native.memo_counts();
    /// assert_eq!((counts.compiled, counts.found), (1, 1));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn memo(mut self, bytes: usize) -> Native {
        self.memo = Memo::new(bytes);
        self
    }
    /// How many kernels this value and its clones have compiled, found, and keep.
    pub fn memo_counts(&self) -> MemoCounts {
        self.memo.counts()
    }

    /// For tests: every argument, every result and every value in between is in memory of its own beside a page that nobody
    /// may touch, holds nothing before it is written, and may not be written to where it is only read. What reaches
    /// further than it may ends the process.
    #[doc(hidden)]
    pub fn fenced(mut self, edge: Edge) -> Native {
        self.edge = Some(edge);
        self
    }

    fn renderer(&self) -> Result<Arc<dyn Renderer>> {
        self.made.0.get_or_init(|| self.make()).clone()
    }

    fn make(&self) -> Result<Arc<dyn Renderer>> {
        match self.code {
            Code::Interp => Ok(Arc::new(Interp)),
            Code::C => self.make_c(),
            Code::Narrow => narrow().ok_or_else(|| {
                let why = "this processor does not run x86-64 code of level v3: it lacks AVX2, FMA, F16C or BMI2";
                refuse(OpError::new("compile", why).remedy("use `Native::default()`"))
            }),
            Code::Best => match machine() {
                Some(r) => Ok(r),
                None => self.make_c().map_err(|_| {
                    let why = "there is no code for this processor, and no C compiler";
                    refuse(OpError::new("compile", why).remedy("install gcc or clang, or use `Native::interp()`"))
                }),
            },
        }
    }

    fn make_c(&self) -> Result<Arc<dyn Renderer>> {
        let c = match &self.cache {
            Some(folder) => C::default().with_cache(folder),
            None => C::default(),
        };
        c.available()?;
        Ok(Arc::new(c))
    }

    fn plan(&self, artifact: &NativeArtifact) -> Result<Plan> {
        let NativeProgram { module, schedule } = &artifact.program;
        let mut kernels = Numbered { artifact, next: 0 };
        let mut plan = Plan::build(module, schedule, &mut kernels, SharedPool::new(self.threads), self.edge)?;
        plan.kernels = artifact.kernels.to_vec();
        Ok(plan)
    }

    /// The programs of every replica, each a list of those of its partitions, compiled: their collectives meet in this
    /// process of the operating system, and give what [`Replicas::new`] gives.
    ///
    /// ```
    /// use evoxc::dist::{self, ReplicaGroups};
    /// use evoxc::{Native, ir::Reducer, prelude::*};
    /// let total = |x: Sym| dist::all_reduce(x.exp(), Reducer::Sum, &ReplicaGroups::everyone());
    /// let graph = trace(total, spec(F32, [2]))?;
    /// let grid = Native::default().replicas(&vec![vec![graph.module()]; 3])?;
    /// let results = grid.run(vec![vec![Tensor::zeros(F32, [2])]; 3])?;
    /// assert_eq!(results[2][0].to_vec::<f32>()?, [3.0, 3.0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Replicas::new`], and those of compiling.
    pub fn replicas(&self, programs: &[Vec<&Module>]) -> Result<Replicas> {
        Replicas::compiled(crate::NAME, programs, &mut |module| {
            Ok(Arc::new(self.plan(&self.compile(&self.lower(module)?)?)?))
        })
    }

    fn shape(&self) -> Shape {
        match self.opt_level {
            OptLevel::O0 => Shape { lanes: 1, unroll: 1 },
            OptLevel::O1 | OptLevel::O2 | OptLevel::O3 => Shape::default(),
        }
    }

    /// What decides what is made of kernels.
    fn options(&self, renderer: &dyn Renderer) -> Options {
        let &Native { precision, opt_level: level, search, .. } = self;
        Options { code: renderer.name(), precision, level, search }
    }

    /// The last form of every kernel of a program, each once, and which of them each kernel item is. `known` are the shapes
    /// of a saved program, which has code of its own.
    fn forms(&self, program: &NativeProgram, renderer: &dyn Renderer, known: Option<&[Shape]>) -> Result<Forms> {
        let options = self.options(renderer);
        let mut forms = Forms::default();
        let mut numbers: FxHashMap<Key, u32> = FxHashMap::default();
        let mut loops: FxHashMap<Arc<Lir>, u32> = FxHashMap::default();
        for (routine, item) in kernel_items(&program.schedule) {
            let at = |e: OpError| refuse(e.at(item.loc));
            if item.repeat.is_some() {
                let shape = known.and_then(|known| known.get(forms.list.len())).copied().unwrap_or(self.shape());
                let lir = self.form(item, renderer, shape)?;
                dump::lir(&item.label, &lir);
                let next = forms.list.len() as u32;
                let number = *loops.entry(lir.clone()).or_insert(next);
                if number == next {
                    forms.list.push(Form { lir, shape, code: None });
                }
                forms.numbers.push(number);
                continue;
            }
            let number = match numbers.entry(key(&item.kernel)) {
                Entry::Occupied(e) => *e.get(),
                Entry::Vacant(e) => {
                    dump::kernel(&item.label, &item.kernel);
                    if let Some(Compiled { lir, shape, code }) = match known {
                        None => self.memo.find(e.key(), options),
                        Some(_) => None,
                    } {
                        dump::lir(&item.label, &lir);
                        forms.list.push(Form { lir, shape, code: Some(code) });
                        forms.numbers.push(*e.insert(forms.list.len() as u32 - 1));
                        continue;
                    }
                    let kernel = self.decomposed(&item.kernel).map_err(at)?;
                    let shape = match known.and_then(|known| known.get(forms.list.len())) {
                        Some(&s) => s,
                        None if self.search > 0 => self.quickest(routine, item, &kernel, e.key(), renderer)?,
                        None => self.shape(),
                    };
                    let lir = Arc::new(linearise(&kernel, &renderer.target(), shape).map_err(at)?);
                    dump::lir(&item.label, &lir);
                    forms.list.push(Form { lir, shape, code: None });
                    *e.insert(forms.list.len() as u32 - 1)
                }
            };
            forms.numbers.push(number);
        }
        forms.keys = numbers.into_iter().collect();
        Ok(forms)
    }

    fn decomposed(&self, kernel: &Kernel) -> std::result::Result<Kernel, OpError> {
        let mut kernel = kernel.clone();
        if cfg!(debug_assertions) {
            verify(&kernel, Stage::Scheduled)?;
        }
        decompose(&mut kernel, self.precision)?;
        simplify_kernel(&mut kernel);
        if cfg!(debug_assertions) {
            verify(&kernel, Stage::Decomposed)?;
        }
        Ok(kernel)
    }

    /// The last form of a kernel; that of a loop has those of its kernels inside. Loops nest as deep as regions do.
    fn form(&self, item: &KernelItem, renderer: &dyn Renderer, shape: Shape) -> Result<Arc<Lir>> {
        let at = |e: OpError| refuse(e.at(item.loc));
        let target = renderer.target();
        let Some(r) = &item.repeat else {
            dump::kernel(&item.label, &item.kernel);
            return Ok(Arc::new(linearise(&self.decomposed(&item.kernel).map_err(at)?, &target, shape).map_err(at)?));
        };
        let all = |parts: &[Part]| -> Result<Vec<Arc<Lir>>> {
            let one = |p: &Part| {
                let lir = self.form(&p.item, renderer, shape)?;
                match gathers_widely(p, &lir) {
                    true => self.form(&p.item, renderer, Shape { lanes: 4, ..shape }),
                    false => Ok(lir),
                }
            };
            parts.iter().map(one).collect()
        };
        let (cond, body) = (all(&r.cond)?, all(&r.body)?);
        let dtypes = item.kernel.buffers.iter().map(|b| b.dtype).collect();
        Ok(Arc::new(repeat(r, dtypes, &cond, &body, &target).map_err(at)?))
    }

    /// The shape with which a kernel is quickest, of those that are tried.
    fn quickest(
        &self,
        routine: &Routine,
        item: &KernelItem,
        kernel: &Kernel,
        structure: &Key,
        renderer: &dyn Renderer,
    ) -> Result<Shape> {
        let machine = format!("{} {:?} {}", renderer.name(), self.precision, host_processor());
        let file = self.cache.as_deref().map(|folder| search::file(folder, structure, &machine));
        if let Some(shape) = file.as_deref().and_then(search::remembered) {
            return Ok(shape);
        }
        let Some(bench) = search::Bench::new(item, &routine.types) else { return Ok(self.shape()) };
        let mut best: Option<(Duration, Shape)> = None;
        for shape in candidates(kernel).into_iter().take(self.search.max(1)) {
            let lir = linearise(kernel, &renderer.target(), shape).map_err(|e| refuse(e.at(item.loc)))?;
            let code = renderer.compile(&lir)?;
            if let Some(time) = bench.time(&lir, &*code)
                && best.is_none_or(|(b, _)| time < b)
            {
                best = Some((time, shape));
            }
        }
        let shape = best.map_or(self.shape(), |(_, s)| s);
        if let Some(file) = &file {
            search::remember(file, shape);
        }
        Ok(shape)
    }

    fn lowered(&self, module: &Module) -> Result<NativeProgram> {
        // A private copy: what the user holds and sees stays as it was written.
        let module = match self.opt_level {
            OptLevel::O0 => module.clone(),
            OptLevel::O1 | OptLevel::O2 | OptLevel::O3 => simplify(module),
        };
        let mut schedule = schedule(&module).map_err(refuse)?;
        join_loops(&mut schedule);
        Ok(NativeProgram { module: Arc::new(module), schedule: Arc::new(schedule) })
    }
}

/// The renderer to machine code of this host, which all programs share.
fn machine() -> Option<Arc<dyn Renderer>> {
    #[cfg(all(unix, target_arch = "x86_64"))]
    {
        use crate::render::x86::X86;
        static X86: OnceLock<Option<Arc<X86>>> = OnceLock::new();
        X86.get_or_init(|| X86::new().map(Arc::new)).clone().map(|x| x as Arc<dyn Renderer>)
    }
    #[cfg(not(all(unix, target_arch = "x86_64")))]
    None
}

/// The renderer to code of level v3, for which any wider vectors of this host do not count.
fn narrow() -> Option<Arc<dyn Renderer>> {
    #[cfg(all(unix, target_arch = "x86_64"))]
    {
        use crate::render::x86::{Level, X86};
        static X86: OnceLock<Option<Arc<X86>>> = OnceLock::new();
        X86.get_or_init(|| X86::of(Level::V3).map(Arc::new)).clone().map(|x| x as Arc<dyn Renderer>)
    }
    #[cfg(not(all(unix, target_arch = "x86_64")))]
    None
}

/// The distinct kernels of a program in their last form, and which of them each kernel item is.
#[derive(Default)]
struct Forms {
    list: Vec<Form>,
    numbers: Vec<u32>,
    /// What each is known by, with its number, in no order.
    keys: Vec<(Key, u32)>,
}

/// A kernel in its last form, with its code if that is there already.
struct Form {
    lir: Arc<Lir>,
    shape: Shape,
    code: Option<Arc<dyn render::Code>>,
}

/// The kernels of a plan, in the order of the schedule.
struct Numbered<'a> {
    artifact: &'a NativeArtifact,
    next: usize,
}

impl Kernels for Numbered<'_> {
    fn number(&mut self, _: &KernelItem) -> Result<(u32, Arc<Lir>)> {
        let n = self.artifact.numbers.get(self.next).copied();
        self.next += 1;
        let kernel = n.and_then(|n| Some((n, self.artifact.kernels.get(n as usize)?.lir.clone())));
        kernel.ok_or_else(|| refuse(OpError::new("load", "a kernel has no code; report this")))
    }
}

impl Program for Plan {
    fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        Plan::run(self, args)
    }
    fn profile(&self, args: Vec<Tensor>) -> Result<(Vec<Tensor>, Profile)> {
        Plan::profile(self, args)
    }
}

impl Backend for Native {
    type Lowered = NativeProgram;
    type Artifact = NativeArtifact;

    fn name(&self) -> &str {
        crate::NAME
    }
    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }
    fn abi_key(&self) -> String {
        let code = self.renderer().map_or("none", |r| r.name());
        format!("{code} {:?} {} search {} {}", self.precision, self.opt_level, self.search, host_processor())
    }
    fn runtime_key(&self) -> String {
        let threads = self.threads.map_or_else(String::new, |n| format!("threads {n}"));
        self.edge.map_or_else(|| threads.clone(), |g| format!("{threads} {g:?}"))
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { custom_calls: false, ..Capabilities::all(DeviceKind::Cpu) }
    }
    fn devices(&self) -> Vec<Device> {
        if self.renderer().is_ok() { vec![Device::cpu()] } else { vec![] }
    }
    fn lower(&self, module: &Module) -> Result<NativeProgram> {
        module.verify()?;
        self.lowered(module)
    }
    fn lowered_to_bytes(&self, lowered: &NativeProgram) -> Result<Vec<u8>> {
        lowered.to_bytes()
    }
    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<NativeProgram> {
        self.lowered(&artifact::module_from(bytes, "lowered program")?)
    }
    fn compile(&self, lowered: &NativeProgram) -> Result<NativeArtifact> {
        let renderer = self.renderer()?;
        let Forms { list, numbers, mut keys } = self.forms(lowered, &*renderer, None)?;
        keys.retain(|(_, n)| list.get(*n as usize).is_some_and(|f| f.code.is_none()));
        let missing: Vec<&Lir> = list.iter().filter(|f| f.code.is_none()).map(|f| &*f.lir).collect();
        let mut made = renderer.compile_all(&missing)?.into_iter();
        let kernel = |Form { lir, shape, code }| {
            let none = || refuse(OpError::new("compile", "a kernel has no code; report this"));
            Ok(Compiled { lir, shape, code: code.or_else(|| made.next()).ok_or_else(none)? })
        };
        let kernels: Vec<Compiled> = list.into_iter().map(kernel).collect::<Result<_>>()?;
        kernels.iter().for_each(|k| dump::code(&*k.code));
        let options = self.options(&*renderer);
        for (key, n) in keys {
            self.memo.put(key, options, &kernels[n as usize]);
        }
        Ok(NativeArtifact { program: lowered.clone(), kernels: Arc::new(kernels), numbers: Arc::new(numbers) })
    }
    fn artifact_to_bytes(&self, artifact: &NativeArtifact) -> Result<Vec<u8>> {
        artifact::write(artifact)
    }
    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<NativeArtifact> {
        let (module, saved) = artifact::read(bytes)?;
        let program = self.lowered(&module)?;
        let renderer = self.renderer()?;
        let shapes: Vec<Shape> = saved.iter().map(|s| s.1).collect();
        let Forms { list, numbers, .. } = self.forms(&program, &*renderer, Some(&shapes))?;
        if list.len() != saved.len() {
            return Err(artifact::foreign());
        }
        let load = |(Form { lir, shape, .. }, (hash, _, code)): (Form, artifact::Saved<'_>)| {
            if artifact::hash(&lir) != hash {
                return Err(artifact::foreign());
            }
            Ok(Compiled { code: renderer.load(&lir, code)?, lir, shape })
        };
        let kernels = list.into_iter().zip(saved).map(load).collect::<Result<_>>()?;
        Ok(NativeArtifact { program, kernels: Arc::new(kernels), numbers: Arc::new(numbers) })
    }
    fn load(&self, artifact: &NativeArtifact, device: Device) -> Result<Arc<dyn Program>> {
        if device != Device::cpu() {
            let op = OpError::new("load", format!("programs run on the host only, not on {device}"));
            return Err(refuse(op.remedy("load them with `Device::cpu()`")));
        }
        Ok(Arc::new(self.plan(artifact)?))
    }
}

/// Does a kernel take elements of an entry of its loop by vectors of indices that are too long for the entry's place in its
/// buffer, a number of 64 bits?
fn gathers_widely(part: &Part, lir: &Lir) -> bool {
    lir.body.iter().any(|inst| match inst {
        Inst::Gather { from: Memory::Buffer(b), index, .. } | Inst::Scatter { to: Memory::Buffer(b), index, .. } => {
            let lanes = lir.regs.get(index.0 as usize).map_or(1, |t| t.lanes);
            lanes > 4 && matches!(part.at.get(*b as usize), Some(Slot::Entry(..)))
        }
        _ => false,
    })
}
