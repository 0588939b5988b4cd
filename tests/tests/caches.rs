//! The caches: what is a hit and what is not, what is forgotten, and folders that threads and processes share.

use evoxc::ir::Module;
use evoxc::prelude::*;
use evoxc::{Capabilities, CompileCache, Error, FileCache, Program, build_cached, build_cached_as};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

type Result<T = ()> = evoxc::Result<T>;

/// The interpreter, with options, and a count of what it compiled.
#[derive(Clone, Default)]
struct Counting {
    abi: &'static str,
    runtime: &'static str,
    compiled: Arc<AtomicUsize>,
}

impl Counting {
    fn compiled(&self) -> usize {
        self.compiled.load(Ordering::SeqCst)
    }
}

impl Backend for Counting {
    type Lowered = <Interp as Backend>::Lowered;
    type Artifact = <Interp as Backend>::Artifact;
    fn name(&self) -> &str {
        "counting"
    }
    fn version(&self) -> String {
        Interp.version()
    }
    fn abi_key(&self) -> String {
        self.abi.into()
    }
    fn runtime_key(&self) -> String {
        self.runtime.into()
    }
    fn capabilities(&self) -> Capabilities {
        Interp.capabilities()
    }
    fn devices(&self) -> Vec<Device> {
        Interp.devices()
    }
    fn lower(&self, module: &Module) -> Result<Self::Lowered> {
        Interp.lower(module)
    }
    fn lowered_to_bytes(&self, lowered: &Self::Lowered) -> Result<Vec<u8>> {
        Interp.lowered_to_bytes(lowered)
    }
    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<Self::Lowered> {
        Interp.lowered_from_bytes(bytes)
    }
    fn compile(&self, lowered: &Self::Lowered) -> Result<Self::Artifact> {
        self.compiled.fetch_add(1, Ordering::SeqCst);
        Interp.compile(lowered)
    }
    fn artifact_to_bytes(&self, artifact: &Self::Artifact) -> Result<Vec<u8>> {
        Interp.artifact_to_bytes(artifact)
    }
    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<Self::Artifact> {
        Interp.artifact_from_bytes(bytes)
    }
    fn load(&self, artifact: &Self::Artifact, device: Device) -> Result<Arc<dyn Program>> {
        Interp.load(artifact, device)
    }
}

/// A folder of its own, removed at the end.
struct Folder(PathBuf);
impl Folder {
    fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("evoxc-caches-{name}-{}", std::process::id())))
    }
    fn names(&self) -> Vec<String> {
        let list = std::fs::read_dir(&self.0).unwrap();
        list.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn item(exe: &Executable<Tensor, Tensor>, x: f32) -> f32 {
    exe.run(Tensor::from(x)).unwrap().item::<f32>().unwrap()
}

#[defn]
fn square(x: Sym) -> Sym {
    x * x
}

/// A function that is all in its type.
fn power<const N: usize>(x: Sym) -> Sym {
    (1..N).fold(x, |y, _| y * x)
}

#[test]
fn a_hit_is_the_same_executable() -> Result {
    let (cache, backend) = (CompileCache::new(8), Counting::default());
    let first = build_cached(square, spec(F32, []), &backend, &cache)?;
    let again = build_cached(square, spec(F32, []), &backend, &cache)?;
    assert!(first.same_as(&again));
    assert_eq!((cache.hits(), cache.misses(), backend.compiled(), cache.len()), (1, 1, 1, 1));
    assert_eq!(item(&again, 3.0), 9.0);
    // Transforms of such a function are such functions.
    let slope = || build_cached(grad(square), spec(F32, []), &backend, &cache);
    assert!(slope()?.same_as(&slope()?) && item(&slope()?, 3.0) == 6.0);
    assert_eq!((cache.misses(), backend.compiled()), (2, 2));
    cache.clear();
    assert!(cache.is_empty() && !build_cached(square, spec(F32, []), &backend, &cache)?.same_as(&first));
    Ok(())
}

#[test]
fn functions_of_no_size_are_traced_once() -> Result {
    static TRACED: AtomicUsize = AtomicUsize::new(0);
    let f = |x: Sym| {
        TRACED.fetch_add(1, Ordering::SeqCst);
        -x
    };
    let cache = CompileCache::new(8);
    (0..5).try_for_each(|_| build_cached(f, spec(F32, []), &Interp, &cache).map(drop))?;
    assert_eq!((TRACED.load(Ordering::SeqCst), cache.hits()), (1, 4));
    // By a name, whatever it captures.
    let (cache, k) = (CompileCache::new(8), 3.0);
    for _ in 0..5 {
        build_cached_as("minus", move |x: Sym| f(x) * k, spec(F32, []), &Interp, &cache)?;
    }
    assert_eq!((TRACED.load(Ordering::SeqCst), cache.hits()), (2, 4));
    Ok(())
}

#[test]
fn what_differs_is_never_shared() -> Result {
    let cache = CompileCache::new(100);
    // Both closures have one name of their type; so have functions of a generic number in some versions of the compiler.
    let (a, b) = (|x: Sym| x + 1.0, |x: Sym| x + 2.0);
    assert_eq!(std::any::type_name_of_val(&a), std::any::type_name_of_val(&b));
    let scalar = || spec(F32, []);
    assert_eq!(item(&build_cached(a, scalar(), &Interp, &cache)?, 0.0), 1.0);
    assert_eq!(item(&build_cached(b, scalar(), &Interp, &cache)?, 0.0), 2.0);
    assert_eq!(item(&build_cached(power::<2>, scalar(), &Interp, &cache)?, 3.0), 9.0);
    assert_eq!(item(&build_cached(power::<3>, scalar(), &Interp, &cache)?, 3.0), 27.0);
    // By argument that is differentiated.
    fn f(x: Sym, y: Sym) -> Sym {
        x * y * y
    }
    let both = || (scalar(), scalar());
    let at = || (Tensor::from(2f32), Tensor::from(3f32));
    let dx = build_cached(grad(f), both(), &Interp, &cache)?.run(at())?.item::<f32>()?;
    let dy = build_cached(grad(f).wrt::<1>(), both(), &Interp, &cache)?.run(at())?.item::<f32>()?;
    assert_eq!((dx, dy, cache.misses(), cache.hits()), (9.0, 12.0, 6, 0));

    // Dtypes, shapes, symbols, devices; structures and static values of trees.
    let specs =
        [spec(F32, []), spec(F64, []), spec(F32, [1]), spec(F32, [2]), spec(F32, [dim("B")]), spec(F32, [dim("C")])];
    for s in specs.into_iter().chain([spec(F32, []).on(Device::cpu())]) {
        build_cached(square, s, &Interp, &cache)?;
    }
    assert_eq!((cache.misses(), cache.hits()), (13, 0));
    #[derive(Tree, Clone)]
    struct Scaled<T> {
        x: T,
        #[tree(static)]
        k: i64,
    }
    fn scaled(s: Scaled<Sym>) -> Sym {
        s.x * s.k
    }
    for k in [2, 3] {
        let exe = build_cached(scaled, Scaled { x: scalar(), k }, &Interp, &cache)?;
        assert_eq!(exe.run(Scaled { x: Tensor::from(1f32), k })?.item::<f32>()?, k as f32);
    }
    fn first(list: Vec<Sym>) -> Sym {
        list[0] + 0.5
    }
    fn pair(list: (Sym, Sym)) -> Sym {
        list.0 + 0.5
    }
    build_cached(first, vec![scalar(), scalar()], &Interp, &cache)?;
    build_cached(pair, (scalar(), scalar()), &Interp, &cache)?;
    assert_eq!((cache.misses(), cache.hits()), (17, 0));

    // Backends: another type, other options of the compiler and of the runtime.
    let backends =
        [("", ""), ("x", ""), ("", "x")].map(|(abi, runtime)| Counting { abi, runtime, ..Counting::default() });
    for (i, b) in backends.iter().enumerate() {
        build_cached(square, scalar(), b, &cache)?;
        let k = 5.0;
        build_cached(move |x: Sym| x * k, scalar(), b, &cache)?;
        build_cached_as("one", move |x: Sym| x * k, scalar(), b, &cache)?;
        assert_eq!((cache.misses(), cache.hits(), b.compiled()), (20 + 3 * i as u64, 0, 3));
    }
    let any = evoxc::AnyBackend::new(backends[2].clone());
    assert_eq!(any.runtime_key(), "x");
    build_cached(square, scalar(), &any, &cache)?;
    assert_eq!(cache.hits(), 0);
    // Names.
    build_cached_as("two", square, scalar(), &backends[0], &cache)?;
    assert_eq!(cache.hits(), 0);
    Ok(())
}

#[test]
fn what_captures_is_looked_up_by_its_graph() -> Result {
    let cache = CompileCache::new(100);
    let table = |v: f32| Tensor::from([v, 2.0]);
    let of = |t: &Tensor| build_cached(|x: Sym| x + constant(t), spec(F32, [2]), &Interp, &cache);
    let a = of(&table(1.0))?;
    assert!(a.same_as(&of(&table(1.0))?));
    assert_eq!(of(&table(3.0))?.run(Tensor::zeros(F32, [2]))?.to_vec::<f32>()?, [3.0, 2.0]);
    // Another closure of the same graph, in another line, with other names.
    let t = table(1.0);
    let other = build_cached(|named: Sym| named + constant(&t), spec(F32, [2]), &Interp, &cache)?;
    assert!(other.same_as(&a));
    // A graph, and functions by pointer.
    let graph = trace(|x: Sym| x + constant(&t), spec(F32, [2]))?;
    assert!(build_cached(&graph, spec(F32, [2]), &Interp, &cache)?.same_as(&a));
    assert_eq!((cache.hits(), cache.misses()), (3, 2));
    let pointers: [fn(Sym) -> Sym; 2] = [square, power::<3>];
    for (f, want) in pointers.into_iter().zip([9.0, 27.0]) {
        assert_eq!(item(&build_cached(f, spec(F32, []), &Interp, &cache)?, 3.0), want);
    }
    // Signed zeros and NaNs of other bits are other constants; so are equal results in another structure.
    for bits in [0u32, 1 << 31, 0x7FC0_0000, 0x7FC0_0001] {
        let t = Tensor::from(f32::from_bits(bits));
        build_cached(|x: Sym| x + constant(&t), spec(F32, []), &Interp, &cache)?;
    }
    let k = 2.0;
    let one = build_cached(|x: Sym| x + k, spec(F32, []), &Interp, &cache)?;
    let wrapped = build_cached(|x: Sym| vec![x + k], spec(F32, []), &Interp, &cache)?;
    assert_eq!((item(&one, 1.0), wrapped.run(Tensor::from(1f32))?.len()), (3.0, 1));
    assert_eq!((cache.hits(), cache.misses()), (3, 10));
    Ok(())
}

#[test]
fn the_one_that_was_not_asked_for_the_longest_is_forgotten() -> Result {
    let cache = CompileCache::new(2);
    let ask = |n: usize| build_cached(square, spec(F32, [n]), &Interp, &cache);
    let (one, two) = (ask(1)?, ask(2)?);
    assert!(ask(1)?.same_as(&one)); // now 2 is the oldest
    ask(3)?;
    assert_eq!((cache.len(), cache.capacity()), (2, 2));
    assert!(ask(1)?.same_as(&one));
    assert!(!ask(2)?.same_as(&two)); // in the place of 3
    assert!(ask(1)?.same_as(&one));
    assert_eq!((cache.hits(), cache.misses(), cache.len()), (3, 4, 2));
    assert_eq!(two.run(Tensor::ones(F32, [2]))?.shape(), [2]); // what was forgotten lives where it is held

    let none = CompileCache::new(0);
    for _ in 0..2 {
        build_cached(square, spec(F32, []), &Interp, &none)?;
    }
    assert_eq!((none.hits(), none.misses(), none.len()), (0, 2, 0));
    Ok(())
}

#[test]
fn errors_are_not_remembered_and_name_the_line() -> Result {
    let cache = CompileCache::new(2);
    for _ in 0..2 {
        let e = build_cached(|x: Sym| x.dot(x), spec(F32, [2, 3]), &Interp, &cache).unwrap_err();
        assert!(
            matches!(&e, Error::Trace(t) if t.errors[0].loc.is_some_and(|l| l.file().ends_with("caches.rs"))),
            "{e}"
        );
    }
    let e = build_cached(square, spec(F32, [-1]), &Interp, &cache).unwrap_err();
    assert!(e.to_string().contains("caches.rs"), "{e}");
    assert_eq!((cache.hits(), cache.misses(), cache.len()), (0, 3, 0));
    Ok(())
}

#[test]
fn threads_share_it() -> Result {
    fn of_threads<T: Send + Sync>(t: T) -> T {
        t
    }
    let cache = of_threads(CompileCache::new(4));
    std::thread::scope(|scope| {
        for i in 0..8 {
            let cache = &cache;
            scope.spawn(move || {
                for n in (0..40).map(|j| (i + j) % 6 + 1) {
                    let exe = build_cached(square, spec(F32, [n]), &Interp, cache).unwrap();
                    assert_eq!(exe.run(Tensor::full(F32, [n], 2.0)).unwrap().to_vec::<f32>().unwrap(), vec![4.0; n]);
                }
            });
        }
    });
    assert_eq!((cache.hits() + cache.misses(), cache.len()), (320, 4));
    Ok(())
}

#[test]
fn a_folder_is_found_by_the_next_process() -> Result {
    let folder = Folder::new("next");
    let k = 3.0;
    for compiled in [2, 0] {
        // A new cache, as of a new process.
        let (cache, backend) = (CompileCache::new(8).with_files(FileCache::new(&folder.0)?), Counting::default());
        assert_eq!(item(&build_cached(square, spec(F32, []), &backend, &cache)?, 3.0), 9.0);
        assert_eq!(item(&build_cached(move |x: Sym| x * k, spec(F32, []), &backend, &cache)?, 3.0), 9.0);
        assert_eq!((backend.compiled(), cache.misses(), cache.hits()), (compiled, 2, 0));
        build_cached(square, spec(F32, []), &backend, &cache)?;
        assert_eq!(cache.hits(), 1);
        // The graph decides: another function of the same graph is the same program.
        assert_eq!(item(&build_cached(|x: Sym| x * x, spec(F32, []), &backend, &cache)?, 3.0), 9.0);
        assert_eq!(backend.compiled(), compiled);
    }
    // Options of the compiler have files of their own, those of the runtime have none.
    let cache = CompileCache::new(8).with_files(FileCache::new(&folder.0)?);
    let (other, threads) =
        (Counting { abi: "x", ..Counting::default() }, Counting { runtime: "x", ..Counting::default() });
    for (backend, compiled) in [(other, 1), (threads, 0)] {
        build_cached(square, spec(F32, []), &backend, &cache)?;
        assert_eq!(backend.compiled(), compiled);
    }
    assert_eq!(folder.names().len(), 3);
    Ok(())
}

#[test]
fn damaged_files_are_as_good_as_none() -> Result {
    let folder = Folder::new("damaged");
    let files = FileCache::new(&folder.0)?;
    let graph = trace(|x: Sym| x * 2.0, spec(F32, [2]))?;
    let key = graph.cache_key(&Interp);
    assert!(files.artifact(key, &Interp)?.is_none() && files.lowered(key, &Interp)?.is_none());
    files.keep_lowered(key, graph.lower(&Interp)?)?;
    files.keep_artifact(key, graph.lower(&Interp)?.compile()?)?;
    assert!(files.artifact(key, &Interp)?.is_some() && files.lowered(key, &Interp)?.is_some());

    let path = folder.0.join(format!("{key}.evoxcartifact"));
    let whole = std::fs::read(&path).unwrap();
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        files.artifact(key, &Interp)
    };
    for n in (0..whole.len()).step_by(7) {
        assert!(read(&whole[..n])?.is_none(), "cut at {n}");
        let mut changed = whole.clone();
        changed[n] ^= 1;
        // What differs and is whole would be another JSON text of the same values; there is none one bit away.
        assert!(read(&changed)?.is_none(), "changed at {n}: {}", String::from_utf8_lossy(&changed));
    }
    assert!(read(&whole)?.is_some());
    // What is damaged is replaced.
    for damaged in [&whole[..10], b"", b"{}"] {
        std::fs::write(&path, damaged).unwrap();
        let cache = CompileCache::new(1).with_files(files.clone());
        let backend = Interp;
        let exe = build_cached(&graph, spec(F32, [2]), &backend, &cache)?;
        assert_eq!(exe.run(Tensor::ones(F32, [2]))?.to_vec::<f32>()?, [2.0, 2.0]);
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
    // A whole file of another program under this key is not taken for it.
    let other = trace(|x: Sym| x * 2.0, spec(F32, [3]))?;
    other.lower(&Interp)?.compile()?.save(&path)?;
    let cache = CompileCache::new(1).with_files(files.clone());
    let exe = build_cached(&graph, spec(F32, [2]), &Interp, &cache)?;
    assert_eq!(exe.run(Tensor::ones(F32, [2]))?.shape(), [2]);

    // What a process left that ended while it wrote; and files of others.
    let (left, foreign) = (format!(".{key}.evoxcartifact.1.0.tmp"), "notes.evoxcartifact");
    for name in [left.as_str(), foreign] {
        std::fs::write(folder.0.join(name), b"half").unwrap();
    }
    files.remove(key)?;
    files.remove(key)?;
    assert!(files.artifact(key, &Interp)?.is_none() && files.lowered(key, &Interp)?.is_none());
    files.keep_lowered(key, graph.lower(&Interp)?)?;
    files.clear()?;
    assert_eq!(folder.names(), [foreign]);
    // Something that cannot be read is an error.
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(files.artifact(key, &Interp), Err(Error::Io { .. })));
    assert!(matches!(FileCache::new(folder.0.join(foreign)), Err(Error::Io { .. })));
    Ok(())
}

/// The graph whose artifact several processes write: large, so that writing takes a while.
fn heavy() -> Result<Graph<Sym, Sym>> {
    let table = Tensor::from((0..200_000).map(|i| i as f32).collect::<Vec<f32>>());
    trace(move |x: Sym| x + constant(&table), spec(F32, [200_000]))
}

fn write_often(folder: &Path) -> Result {
    let (files, graph) = (FileCache::new(folder)?, heavy()?);
    let key = graph.cache_key(&Interp);
    (0..10).try_for_each(|_| files.keep_artifact(key, graph.lower(&Interp)?.compile()?).map(drop))
}

/// Two containers that share a folder may both call their process number 1.
#[test]
fn a_file_that_another_process_of_this_number_writes_is_left_alone() -> Result {
    let folder = Folder::new("same-number");
    let (files, graph) = (FileCache::new(&folder.0)?, trace(|x: Sym| x * 2.0, spec(F32, []))?);
    let key = graph.cache_key(&Interp);
    let others: Vec<PathBuf> =
        (0..1000).map(|k| folder.0.join(format!(".{key}.evoxcartifact.{}.{k}.tmp", std::process::id()))).collect();
    others.iter().for_each(|p| std::fs::write(p, "half").unwrap());
    files.keep_artifact(key, graph.lower(&Interp)?.compile()?)?;
    assert!(files.artifact(key, &Interp)?.is_some());
    assert!(others.iter().all(|p| std::fs::read(p).unwrap() == b"half"));
    Ok(())
}

/// What the test below runs in processes of its own; nothing by itself.
#[test]
fn one_of_several_processes() -> Result {
    match std::env::var_os("EVOXC_TEST_CACHE") {
        Some(folder) => write_often(Path::new(&folder)),
        None => Ok(()),
    }
}

#[test]
fn processes_share_a_folder() -> Result {
    let folder = Folder::new("processes");
    let files = FileCache::new(&folder.0)?;
    let program = std::env::current_exe().unwrap();
    let start = || {
        let mut c = Command::new(&program);
        c.args(["--exact", "one_of_several_processes", "--quiet"]).env("EVOXC_TEST_CACHE", &folder.0);
        c.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let mut processes: Vec<_> = (0..4).map(|_| start()).collect();
    let graph = heavy()?;
    let key = graph.cache_key(&Interp); // the same in every process
    let path = files.folder().join(format!("{key}.evoxcartifact"));
    let mut seen = 0;
    while processes.iter_mut().any(|p| p.try_wait().unwrap().is_none()) {
        // Whole or not there, never half.
        match CompiledArtifact::open(&path, &Interp) {
            Ok(_) => seen += 1,
            Err(Error::Io { .. }) => assert_eq!(seen, 0, "it was there, and is gone"),
            Err(e) => panic!("{e}"),
        }
    }
    assert!(processes.iter_mut().all(|p| p.wait().unwrap().success()));
    assert!(seen > 0);
    let exe = files.artifact(key, &Interp)?.expect("it is there").typed::<Tensor, Tensor>()?.load(Device::cpu())?;
    assert_eq!(exe.run(Tensor::ones(F32, [200_000]))?.to_vec::<f32>()?[199_999], 200_000.0);
    assert_eq!(folder.names().len(), 1);
    Ok(())
}
