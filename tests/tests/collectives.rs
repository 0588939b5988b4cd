//! What several processes give: StableHLO's collectives in every grouping mode, on simulated replicas and partitions; what
//! is refused instead of waited for; and the laws of transforms over all processes together.

use evoxc::dist::{self, Grouping, Rank, ReplicaGroups};
use evoxc::ir::{Module, Reducer};
use evoxc::prelude::*;
use evoxc::{Error, Native, Replicas};
use evoxc_stage::Backend;
use evoxc_tests::tolerance::{Category, compare};

type Grid = Vec<Vec<Module>>;

/// One program for all processes.
fn uniform(graph: &Graph<impl Tree<Sym>, impl Tree<Sym>>, replicas: usize, partitions: usize) -> Grid {
    vec![vec![graph.module().clone(); partitions]; replicas]
}

/// What the interpreter gives, once native code has given the same: values within the tolerances, errors word for word.
fn run(grid: &Grid, args: Vec<Vec<Tensor>>) -> evoxc::Result<Vec<Vec<Tensor>>> {
    let programs: Vec<Vec<&Module>> = grid.iter().map(|r| r.iter().collect()).collect();
    let expected = Replicas::new(&programs)?.run(args.clone());
    for native in [Native::default(), Native::interp()].iter().filter(|n| !n.devices().is_empty()) {
        let got = native.replicas(&programs)?.run(args.clone());
        let (expected, got) = match (&expected, got) {
            (Ok(expected), Ok(got)) => (expected, got),
            (Err(e), Err(f)) => {
                assert_eq!(e.to_string(), f.to_string());
                continue;
            }
            (e, f) => panic!("interpreter: {e:?}, native: {f:?}"),
        };
        let modules = grid.iter().flatten();
        for (module, (got, expected)) in modules.zip(got.iter().zip(expected)) {
            assert_eq!(got.len(), expected.len());
            let category = Category::of(module);
            got.iter().zip(expected).for_each(|(a, e)| compare(a, e, category).unwrap());
        }
    }
    expected
}

/// One argument and one result a process, as integers.
fn ints(grid: &Grid, args: &[Tensor]) -> Vec<Vec<i64>> {
    let out = run(grid, args.iter().map(|t| vec![t.clone()]).collect()).unwrap();
    out.iter().map(|r| r[0].to_vec::<i64>().unwrap()).collect()
}

/// Process k holds 10 to the k, so that a sum tells who is in it.
fn powers(n: u32) -> Vec<Tensor> {
    (0..n).map(|k| Tensor::from([10i64.pow(k)])).collect()
}

fn groups(ids: &[&[usize]], by: Grouping) -> ReplicaGroups {
    let channel = if by == Grouping::CrossReplica { None } else { Some(1) };
    ReplicaGroups { ids: ids.iter().map(|g| g.to_vec()).collect(), by, channel }
}

/// Source: the StableHLO specification, section "Parallel execution": what each strategy makes of [[0, 1], [2, 3]] and its
/// like on a grid of replicas and partitions.
#[test]
fn every_grouping_mode_sums_over_its_groups() {
    let sum = |g: ReplicaGroups, replicas, partitions| -> Vec<i64> {
        let f = trace(|x: Sym| dist::all_reduce(x, Reducer::Sum, &g), spec(I64, [1])).unwrap();
        let out = ints(&uniform(&f, replicas, partitions), &powers((replicas * partitions) as u32));
        out.into_iter().flatten().collect()
    };
    // Processes in order: (0, 0) (0, 1) (1, 0) (1, 1) ….
    let two = [&[0usize, 1][..]];
    assert_eq!(sum(groups(&two, Grouping::CrossReplica), 2, 2), [101, 1010, 101, 1010]);
    assert_eq!(sum(groups(&two, Grouping::CrossReplicaAndPartition), 2, 2), [1111; 4]);
    assert_eq!(sum(groups(&[&[0, 1], &[2, 3]], Grouping::FlattenedIds), 2, 2), [11, 11, 1100, 1100]);
    assert_eq!(sum(groups(&[&[0, 3], &[2, 1]], Grouping::FlattenedIds), 2, 2), [1001, 110, 110, 1001]);
    let both = groups(&[&[0, 2], &[1, 3]], Grouping::CrossReplicaAndPartition);
    assert_eq!(sum(both, 4, 2), [110011, 110011, 11001100, 11001100, 110011, 110011, 11001100, 11001100]);
    // Ragged: a group of one beside a group of two.
    assert_eq!(sum(groups(&[&[0, 1], &[2]], Grouping::CrossReplica), 3, 1), [11, 11, 100]);
    // No list is one group of all.
    assert_eq!(sum(groups(&[], Grouping::CrossReplica), 3, 1), [111; 3]);
    assert_eq!(sum(ReplicaGroups::everyone(), 2, 2), [1111; 4]);
}

/// Source: StableHLO's grouping of `all_to_all` and `collective_broadcast`: across partitions with a channel.
#[test]
fn partitions_of_each_replica_exchange_among_themselves() {
    let by = |by| groups(&[&[1, 0]], by);
    let f = trace(|x: Sym| dist::collective_broadcast(x, &by(Grouping::CrossPartition)), spec(I64, [1])).unwrap();
    assert_eq!(ints(&uniform(&f, 2, 2), &powers(4)), [[10], [10], [1000], [1000]]);
    let f = trace(|x: Sym| dist::collective_broadcast(x, &by(Grouping::CrossReplica)), spec(I64, [1])).unwrap();
    assert_eq!(ints(&uniform(&f, 2, 2), &powers(4)), [[100], [1000], [100], [1000]]);
}

/// Source: the example of each op in the StableHLO specification.
#[test]
fn the_specifications_examples() {
    let two = ReplicaGroups::across_replicas([[0, 1]]);
    let square = |a: i64| Tensor::from([[a, a + 1], [a + 2, a + 3]]);
    let wide = |a: i64| Tensor::from([[a, a + 1, a + 2, a + 3], [a + 4, a + 5, a + 6, a + 7]]);

    let f = trace(|x: Sym| dist::all_gather(x, 1, 2, &two), spec(I64, [2, 2])).unwrap();
    let out = run(&uniform(&f, 2, 1), vec![vec![square(1)], vec![square(5)]]).unwrap();
    for r in out {
        assert_eq!(r[0].shape(), [2, 4]);
        assert_eq!(r[0].to_vec::<i64>().unwrap(), [1, 2, 5, 6, 3, 4, 7, 8]);
    }

    let f = trace(|x: Sym| dist::all_reduce_with(x, &two, |a, b| a + b), spec(I64, [4])).unwrap();
    let args = [Tensor::from([1i64, 2, 3, 4]), Tensor::from([5i64, 6, 7, 8])];
    assert_eq!(ints(&uniform(&f, 2, 1), &args), [[6, 8, 10, 12]; 2]);

    let sum = [[10, 12, 18, 20], [14, 16, 22, 24]];
    let f = trace(|x: Sym| dist::reduce_scatter(x, Reducer::Sum, 1, 2, &two), spec(I64, [2, 4])).unwrap();
    assert_eq!(ints(&uniform(&f, 2, 1), &[wide(1), wide(9)]), sum);
    let f = trace(|x: Sym| dist::reduce_scatter_with(x, -1, 2, &two, |a, b| a + b), spec(I64, [2, 4])).unwrap();
    assert_eq!(ints(&uniform(&f, 2, 1), &[wide(1), wide(9)]), sum);

    let f = trace(|x: Sym| dist::all_to_all(x, 1, 0, 2, &two), spec(I64, [2, 4])).unwrap();
    let want = [[1, 2, 5, 6, 9, 10, 13, 14], [3, 4, 7, 8, 11, 12, 15, 16]];
    assert_eq!(ints(&uniform(&f, 2, 1), &[wide(1), wide(9)]), want);

    let f = trace(|x: Sym| dist::collective_permute(x, [(0, 1), (1, 2)], None), spec(I64, [2, 2])).unwrap();
    let want = [[0, 0, 0, 0], [1, 2, 3, 4], [5, 6, 7, 8]];
    assert_eq!(ints(&uniform(&f, 3, 1), &[square(1), square(5), square(9)]), want);

    let four = ReplicaGroups::across_replicas([[2, 1]]);
    let f = trace(|x: Sym| dist::collective_broadcast(x, &four), spec(I64, [1, 2])).unwrap();
    let args: Vec<Tensor> = (0..4).map(|k| Tensor::from([[2 * k + 1, 2 * k + 2i64]])).collect();
    assert_eq!(ints(&uniform(&f, 4, 1), &args), [[0, 0], [5, 6], [5, 6], [0, 0]]);
}

/// Source: the definitions, in words: the i-th part goes to the i-th of the group, as the group lists them.
#[test]
fn the_order_is_that_of_the_group() {
    let turned = ReplicaGroups::across_replicas([[1, 0]]);
    let f = trace(|x: Sym| dist::all_gather(x, 0, 2, &turned), spec(I64, [1])).unwrap();
    assert_eq!(ints(&uniform(&f, 2, 1), &powers(2)), [[10, 1]; 2]);
    let f = trace(|x: Sym| dist::reduce_scatter(x, Reducer::Max, 0, 2, &turned), spec(I64, [2])).unwrap();
    let args = [Tensor::from([1i64, 5]), Tensor::from([2i64, 4])];
    assert_eq!(ints(&uniform(&f, 2, 1), &args), [[5], [2]]);
    // A combiner that is not commutative: (a, b) -> 10 a + b.
    let f = trace(|x: Sym| dist::all_reduce_with(x, &turned, |a, b| a * 10 + b), spec(I64, [1])).unwrap();
    assert_eq!(ints(&uniform(&f, 2, 1), &[Tensor::from([1i64]), Tensor::from([2i64])]), [[21]; 2]);
    // Same axis split and joined (StableHLO's test of issue 2433 turns the group).
    let f = trace(|x: Sym| dist::all_to_all(x, 0, 0, 2, &turned), spec(I64, [2])).unwrap();
    let args = [Tensor::from([1i64, 2]), Tensor::from([3i64, 4])];
    assert_eq!(ints(&uniform(&f, 2, 1), &args), [[4, 2], [3, 1]]);
}

/// Source: the sum in the order of the group, in f64 by hand: (1e16 + 1) - 1e16 is 0, (1e16 - 1e16) + 1 is 1.
#[test]
fn floats_add_up_in_the_order_of_the_group_however_threads_run() {
    let sum = |ids: [usize; 3]| {
        let g = ReplicaGroups::across_replicas([ids]);
        // Replica 0 is slow.
        let slow = |x: Sym| {
            let busy = fori_loop(200, x * 0.0, |_, s| (s + 1.0).sin()) * 0.0;
            dist::all_reduce(x + busy, Reducer::Sum, &g)
        };
        let quick = |x: Sym| dist::all_reduce(x, Reducer::Sum, &g);
        let slow = trace(slow, spec(F64, [])).unwrap();
        let quick = trace(quick, spec(F64, [])).unwrap();
        let grid = vec![vec![slow.module().clone()], vec![quick.module().clone()], vec![quick.module().clone()]];
        let args: Vec<Vec<Tensor>> = [1e16, 1.0, -1e16].map(|x| vec![Tensor::from(x)]).into();
        run(&grid, args).unwrap().iter().map(|r| r[0].item::<f64>().unwrap()).collect::<Vec<_>>()
    };
    for _ in 0..10 {
        assert_eq!(sum([0, 1, 2]), [0.0; 3]);
        assert_eq!(sum([0, 2, 1]), [1.0; 3]);
    }
}

/// f16 sums accumulate in f32 and round once: 2048 + 1 + 1 is 2050, while each f16 addition alone would lose the 1
/// (formula: f16 has 11 significant bits).
#[test]
fn half_precision_sums_round_once() {
    let g = ReplicaGroups::everyone();
    let f = trace(|x: Sym| dist::all_reduce(x, Reducer::Sum, &g), spec(F16, [])).unwrap();
    let args = [2048f32, 1.0, 1.0].map(|x| vec![Tensor::from(x).cast(F16).unwrap()]);
    let out = run(&uniform(&f, 3, 1), args.into()).unwrap();
    assert_eq!(out[2][0].cast(F32).unwrap().item::<f32>().unwrap(), 2050.0);
}

/// Source: StableHLO replica_id, partition_id; the process is replica * partitions + partition.
#[test]
fn processes_know_their_numbers() {
    let all =
        || (dist::rank_index(Rank::Replica), dist::rank_index(Rank::Partition), dist::rank_index(Rank::Flattened));
    let f = trace(all, ()).unwrap();
    let out = run(&uniform(&f, 2, 3), vec![vec![]; 6]).unwrap();
    for (p, r) in out.iter().enumerate() {
        let got: Vec<u32> = r.iter().map(|t| t.item().unwrap()).collect();
        assert_eq!(got, [p as u32 / 3, p as u32 % 3, p as u32]);
    }
}

/// Several operands of several types at once, and roots that the program computes.
#[test]
fn trees_are_exchanged_at_once() {
    let two = ReplicaGroups::across_replicas([[0, 1]]);
    let f = |x: Sym, y: Sym, roots: Sym| dist::collective_broadcast_from((x, y), roots, &two);
    let f = trace(f, (spec(I64, [1]), spec(F32, []), spec(I32, [2]))).unwrap();
    let args = |x: i64, y: f32| vec![Tensor::from([x]), Tensor::from(y), Tensor::from([0, 1])];
    let out = run(&uniform(&f, 2, 1), vec![args(1, 1.5), args(2, 2.5)]).unwrap();
    for r in &out {
        assert_eq!((r[0].to_vec::<i64>().unwrap(), r[1].item::<f32>().unwrap()), (vec![1], 2.5));
    }
    let bad = vec![args(1, 1.5), vec![Tensor::from([2i64]), Tensor::from(2.5f32), Tensor::from([0, 2])]];
    let e = run(&uniform(&f, 2, 1), bad).unwrap_err().to_string();
    assert!(e.contains("in process 1 (replica 1, partition 0): root 1 is 2, the group has 2 processes"), "{e}");
}

/// Collectives inside loops, branches and calls meet in the order in which they run. By hand: three steps of a sum over
/// two processes that both have 1, so 2³.
#[test]
fn collectives_run_inside_regions() {
    let g = ReplicaGroups::across_replicas([[0, 1]]);
    let f = |x: Sym| {
        let grown = fori_loop(3, x, |_, s| dist::all_reduce(s, Reducer::Sum, &g));
        cond(grown.gt(0), || dist::all_reduce(grown, Reducer::Max, &g), || grown)
    };
    let f = trace(f, spec(I64, [])).unwrap();
    let out = run(&uniform(&f, 2, 1), vec![vec![Tensor::from(1i64)], vec![Tensor::from(1i64)]]).unwrap();
    assert_eq!(out[1][0].item::<i64>().unwrap(), 8);
}

/// One program for any extent: symbolic axes gather and scatter.
#[test]
fn extents_may_be_symbolic() {
    let g = ReplicaGroups::everyone();
    let f = |x: Sym| dist::reduce_scatter(dist::all_gather(x, 0, 2, &g), Reducer::Sum, 0, 2, &g);
    let f = trace(f, spec(I64, [dim("N")])).unwrap();
    assert_eq!(f.output_specs(), [spec(I64, [dim("N")])]);
    let args = [Tensor::from([1i64, 2, 3]), Tensor::from([4i64, 5, 6])];
    assert_eq!(ints(&uniform(&f, 2, 1), &args), [[2, 4, 6], [8, 10, 12]]);
}

/// Recursive doubling: sums over pairs whose numbers differ in one bit, bit after bit, give the sum over all (formula).
#[test]
fn many_processes_meet_many_times() {
    let pairs = |bit: usize| {
        let firsts = (0..16usize).filter(|p| p & bit == 0);
        ReplicaGroups { ids: firsts.map(|p| vec![p, p | bit]).collect(), ..ReplicaGroups::everyone() }
    };
    let f = |x: Sym| {
        fori_loop(20, x, |_, s| {
            [1, 2, 4, 8].iter().fold(s, |s, &bit| dist::all_reduce(s, Reducer::Sum, &pairs(bit))) % 1009
        })
    };
    let f = trace(f, spec(I64, [1])).unwrap();
    let args: Vec<Tensor> = (0..16).map(|p| Tensor::from([p * p + 1i64])).collect();
    let mut want = (0..16).map(|p| p * p + 1).sum::<i64>() % 1009;
    for _ in 1..20 {
        want = 16 * want % 1009;
    }
    assert_eq!(ints(&uniform(&f, 8, 2), &args), vec![vec![want]; 16]);
}

fn fails(grid: &Grid, args: Vec<Vec<Tensor>>, wanted: &str) {
    // Again and again: the message does not depend on who is faster.
    for _ in 0..5 {
        let e = run(grid, args.clone()).unwrap_err();
        assert!(matches!(e, Error::Run(_)), "{e}");
        assert!(e.to_string().contains(wanted), "{e}\nwanted: {wanted}");
    }
}

fn module<A, B>(f: impl evoxc::GraphFn<Sym, fn(A) -> B, Out = Sym>) -> Module {
    trace(|x: Sym| f.apply(x), spec(I64, [2])).unwrap().module().clone()
}

#[test]
fn what_cannot_take_place_is_an_error_and_no_wait() {
    let g = ReplicaGroups::across_replicas([[0, 1]]);
    let channel = |c| ReplicaGroups { ids: vec![], by: Grouping::FlattenedIds, channel: Some(c) };
    let sum = module(|x: Sym| dist::all_reduce(x, Reducer::Sum, &g));
    let idle = module(|x: Sym| x);
    let x = || vec![Tensor::from([1i64, 2])];
    let args = || vec![x(), x()];
    let grid = |a: &Module, b: &Module| vec![vec![a.clone()], vec![b.clone()]];

    // One that never arrives.
    fails(
        &grid(&sum, &idle),
        args(),
        "in process 0 (replica 0, partition 0): process 1 (replica 1, partition 0) ended without it",
    );
    // One that runs another op, or the same on another type.
    let max = module(|x: Sym| dist::all_reduce(x, Reducer::Max, &g));
    fails(&grid(&sum, &max), args(), "process 0 (replica 0, partition 0) brings all_reduce_sum");
    let part = module(|x: Sym| dist::all_reduce(x.slice(evoxc::s![..1]), Reducer::Sum, &g));
    fails(&grid(&sum, &part), args(), "brings tensor<2xi64>, process 1 (replica 1, partition 0) brings tensor<1xi64>");
    // Two that wait for each other.
    let (a, b) = (channel(1), channel(2));
    let first = module(|x: Sym| dist::all_reduce(dist::all_reduce(x, Reducer::Sum, &a), Reducer::Sum, &b));
    let second = module(|x: Sym| dist::all_reduce(dist::all_reduce(x, Reducer::Sum, &b), Reducer::Sum, &a));
    fails(&grid(&first, &second), args(), "every process waits for another; here process 1");
    // Groups that do not fit the grid.
    fails(&vec![vec![sum.clone()]], vec![x()], "the groups name replica 1, but there are 1");
    let three = vec![vec![sum.clone()], vec![sum.clone()], vec![sum.clone()]];
    fails(&three, vec![x(), x(), x()], "process 2 of 3 × 1 is in none of its groups");
    let wide = ReplicaGroups { by: Grouping::CrossReplicaAndPartition, channel: Some(1), ..g.clone() };
    let gather = module(|x: Sym| dist::all_gather(x, 0, 2, &wide));
    let pairs = vec![vec![gather.clone(), gather.clone()], vec![gather.clone(), gather.clone()]];
    fails(&pairs, vec![x(), x(), x(), x()], "its group has 4 processes here, `count` is 2");
    let permute = module(|x: Sym| dist::collective_permute(x, [(0, 2)], None));
    fails(&grid(&permute, &permute), args(), "the pairs name replica 2, but there are 2");
}

/// The error of a process that fails by itself is the one that is told, not that of those who wait for it.
#[test]
fn the_cause_is_told() {
    let g = ReplicaGroups::across_replicas([[0, 1]]);
    let f = trace(|x: Sym| dist::all_reduce(x, Reducer::Sum, &g), spec(I64, [2])).unwrap();
    let args = vec![vec![Tensor::from([1i64, 2])], vec![Tensor::from([1i64, 2, 3])]];
    let e = run(&uniform(&f, 2, 1), args).unwrap_err().to_string();
    assert!(e.contains("of process 1 (replica 1, partition 0)") && e.contains("tensor<3xi64>"), "{e}");
}

#[test]
fn grids_are_full() {
    let m = module(|x: Sym| x);
    let wanted = |programs: &[Vec<&Module>], text: &str| {
        let e = Replicas::new(programs).unwrap_err();
        assert!(matches!(e, Error::Backend(_)) && e.to_string().contains(text), "{e}");
    };
    wanted(&[], "there is no program");
    wanted(&[vec![]], "there is no program");
    wanted(&[vec![&m, &m], vec![&m]], "replica 0 has 2 partitions, replica 1 has 1");
    wanted(&[vec![&m; 2000]], "more than 1024 processes are not simulated");
    let e = Replicas::new(&[vec![&m]]).unwrap().run(vec![]).unwrap_err().to_string();
    assert!(e.contains("the arguments of 1 processes"), "{e}");
    let e = Native::interp().replicas(&[vec![&m], vec![]]).unwrap_err().to_string();
    assert!(e.contains("native") && e.contains("replica 0 has 1 partitions, replica 1 has 0"), "{e}");
}

/// A program for two replicas and its name.
type Case = (&'static str, Box<dyn Fn(Sym) -> Sym>);

/// What has a derivative, on 4×2 values.
fn linear() -> Vec<Case> {
    let g = || ReplicaGroups::across_replicas([[1, 0]]);
    vec![
        ("all_reduce", Box::new(move |x: Sym| dist::all_reduce(x, Reducer::Sum, &g()))),
        ("all_gather", Box::new(move |x: Sym| dist::all_gather(x, 1, 2, &g()))),
        ("reduce_scatter", Box::new(move |x: Sym| dist::reduce_scatter(x, Reducer::Sum, 0, 2, &g()))),
        ("all_to_all", Box::new(move |x: Sym| dist::all_to_all(x, 0, 1, 2, &g()))),
        ("collective_permute", Box::new(|x: Sym| dist::collective_permute(x, [(1, 0)], None))),
        (
            "ranks",
            Box::new(move |x: Sym| dist::all_reduce(x * dist::rank_index(Rank::Replica).cast(F64), Reducer::Sum, &g())),
        ),
    ]
}

/// Values of a process that no other has.
fn values(seed: usize, shape: &[usize]) -> Tensor {
    let n: usize = shape.iter().product();
    let list: Vec<f64> = (0..n).map(|i| ((i * 7 + seed * 5) % 11) as f64 / 4.0 - 1.0).collect();
    Tensor::from_vec(list, shape).unwrap()
}

fn dot(a: &Tensor, b: &Tensor) -> f64 {
    let (a, b) = (a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap());
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

/// ⟨u, J v⟩ = ⟨Jᵀ u, v⟩, where u and v are what all processes hold together; and J v by differences.
#[test]
fn derivatives_are_those_of_all_processes_together() {
    let sum = |x: Sym| dist::all_reduce(x, Reducer::Sum, &ReplicaGroups::across_replicas([[1, 0]]));
    let mut cases = linear();
    cases.push(("loop", Box::new(move |x: Sym| fori_loop(2, x, |_, s| sum(s.cos()) * s))));
    cases.push(("checkpoint", Box::new(move |x: Sym| checkpoint(move |x: Sym| sum(x.cos()) * x).call(x))));
    cases.push(("branch", Box::new(move |x: Sym| cond(x.sum(..).ge(-100.0), || sum(x.cos() * x), || x))));
    for (name, f) in cases {
        let f = |x: Sym| f(x.sin()) * 2.0;
        let ty = spec(F64, [4, 2]);
        let y = trace(f, ty.clone()).unwrap();
        let out = y.output_specs()[0].clone();
        let forward = trace(|x: Sym, t: Sym| jvp(f).call((x, t)).1, (ty.clone(), ty.clone())).unwrap();
        let back = trace(|x: Sym, u: Sym| vjp(f).call((x, u)), (ty, out.clone())).unwrap();
        let shape: Vec<usize> = out.shape().iter().filter_map(|d| d.get()).collect();
        let x = [values(1, &[4, 2]), values(2, &[4, 2])];
        let v = [values(3, &[4, 2]), values(4, &[4, 2])];
        let u = [values(5, &shape), values(6, &shape)];
        let pair = |a: &[Tensor; 2], b: &[Tensor; 2]| -> Vec<Vec<Tensor>> {
            (0..2).map(|p| vec![a[p].clone(), b[p].clone()]).collect()
        };
        let jv = run(&uniform(&forward, 2, 1), pair(&x, &v)).unwrap();
        let ju = run(&uniform(&back, 2, 1), pair(&x, &u)).unwrap();
        let left: f64 = (0..2).map(|p| dot(&u[p], &jv[p][0])).sum();
        let right: f64 = (0..2).map(|p| dot(&ju[p][0], &v[p])).sum();
        assert!((left - right).abs() < 1e-12 * left.abs().max(1.0), "{name}: {left} {right}");
        let moved = |h: f64| -> Vec<Tensor> {
            let step = |p: usize| {
                let (x, v) = (x[p].to_vec::<f64>().unwrap(), v[p].to_vec::<f64>().unwrap());
                let list: Vec<f64> = x.iter().zip(&v).map(|(x, v)| x + h * v).collect();
                vec![Tensor::from_vec(list, [4, 2]).unwrap()]
            };
            run(&uniform(&y, 2, 1), (0..2).map(step).collect()).unwrap().into_iter().flatten().collect()
        };
        let (a, b) = (moved(1e-5), moved(-1e-5));
        for p in 0..2 {
            let (a, b) = (a[p].to_vec::<f64>().unwrap(), b[p].to_vec::<f64>().unwrap());
            for ((a, b), t) in a.iter().zip(&b).zip(jv[p][0].to_vec::<f64>().unwrap()) {
                assert!(((a - b) / 2e-5 - t).abs() < 1e-8, "{name} process {p}: {} {t}", (a - b) / 2e-5);
            }
        }
    }
}

/// vmap gives what a loop over the rows gives, with one exchange; also of the bodied forms.
#[test]
fn rows_are_exchanged_together() {
    let g = || ReplicaGroups::across_replicas([[1, 0]]);
    let mut cases = linear();
    cases.push(("all_reduce body", Box::new(move |x: Sym| dist::all_reduce_with(x, &g(), |a, b| a * 2.0 - b))));
    cases.push((
        "reduce_scatter body",
        Box::new(move |x: Sym| dist::reduce_scatter_with(x, 1, 2, &g(), |a, b| a * 2.0 - b)),
    ));
    cases.push(("broadcast", Box::new(move |x: Sym| dist::collective_broadcast(x, &g()))));
    let root = |x: Sym| dist::collective_broadcast_from(x, constant(&Tensor::from([1])), &g());
    cases.push(("broadcast from", Box::new(root)));
    for (name, f) in cases {
        let one = trace(&f, spec(F64, [4, 2])).unwrap();
        let all = trace(vmap(&f), spec(F64, [3, 4, 2])).unwrap();
        let exchanges = all.ops().iter().filter(|op| op.prim.has_effect()).count();
        assert_eq!(exchanges, 1, "{name}");
        let x = [values(1, &[3, 4, 2]), values(2, &[3, 4, 2])];
        let rows = run(&uniform(&all, 2, 1), x.iter().map(|x| vec![x.clone()]).collect()).unwrap();
        for k in 0..3 {
            let row = |x: &Tensor| {
                let list = x.to_vec::<f64>().unwrap();
                vec![Tensor::from_vec(list[8 * k..8 * k + 8].to_vec(), [4, 2]).unwrap()]
            };
            let want = run(&uniform(&one, 2, 1), x.iter().map(row).collect()).unwrap();
            for p in 0..2 {
                let want = want[p][0].to_vec::<f64>().unwrap();
                let n = want.len();
                assert_eq!(rows[p][0].to_vec::<f64>().unwrap()[n * k..n * (k + 1)], want, "{name} row {k} process {p}");
            }
        }
    }
}

/// JAX: `psum` under `pmap` transposes to `psum`. Every process computes the loss Σᵢ xᵢ², so all together have twice its
/// gradient.
#[test]
fn the_gradient_of_a_sum_counts_every_process() {
    let g = ReplicaGroups::across_replicas([[0, 1]]);
    let loss = |x: Sym| dist::all_reduce(x * x, Reducer::Sum, &g);
    let f = trace(grad(loss), spec(F64, [])).unwrap();
    let out = run(&uniform(&f, 2, 1), vec![vec![Tensor::from(3.0)], vec![Tensor::from(5.0)]]).unwrap();
    assert_eq!((out[0][0].item::<f64>().unwrap(), out[1][0].item::<f64>().unwrap()), (12.0, 20.0));
}

/// What has no rule says what to write instead.
#[test]
fn refusals_name_a_remedy() {
    let g = ReplicaGroups::everyone();
    let two = ReplicaGroups::across_replicas([[0, 1]]);
    let refused = |e: Error, wanted: &[&str]| {
        let e = e.to_string();
        assert!(wanted.iter().all(|w| e.contains(w)), "{e}");
    };
    let x = spec(F64, []);
    let max = |x: Sym| dist::all_reduce(x, Reducer::Max, &g);
    refused(trace(grad(max), x.clone()).unwrap_err(), &["all_reduce_max", "all_gather"]);
    let body = |x: Sym| dist::all_reduce_with(x, &g, |a, b| a + b);
    refused(trace(grad(body), x.clone()).unwrap_err(), &["all_reduce", "use the named sum"]);
    let send = |x: Sym| dist::collective_broadcast(x, &two);
    refused(trace(grad(send), x.clone()).unwrap_err(), &["collective_broadcast", "all_reduce"]);
    let pick = |x: Sym, r: Sym| dist::collective_broadcast_from(x, r, &two);
    let e = trace(vmap(pick), (spec(F64, [3]), spec(I32, [3, 1]))).unwrap_err();
    refused(e, &["collective_broadcast", "roots of their own", "all_gather"]);
    let sum = trace(|x: Sym| dist::all_reduce(x, Reducer::Sum, &g), x).unwrap();
    let e = batch_functions(&[sum.clone(), sum]).build().unwrap_err();
    refused(e, &["all_reduce_sum", "has an effect"]);
}

/// A collective that nothing uses still runs, so the others of its group do not wait in vain.
#[test]
fn dead_collectives_run() {
    let g = ReplicaGroups::across_replicas([[0, 1]]);
    let unused = |x: Sym| {
        let _ = dist::all_reduce(x, Reducer::Sum, &g);
        x
    };
    let a = trace(unused, spec(I64, [2])).unwrap().simplify();
    let b = trace(|x: Sym| dist::all_reduce(x, Reducer::Sum, &g), spec(I64, [2])).unwrap();
    let grid = vec![vec![a.module().clone()], vec![b.module().clone()]];
    let args = [Tensor::from([1i64, 2]), Tensor::from([10i64, 20])];
    assert_eq!(ints(&grid, &args), [[1, 2], [11, 22]]);
    // Reverse mode keeps those of the values, too: both processes run the same collectives.
    let c = trace(grad(|x: Sym| dist::all_reduce(x, Reducer::Sum, &g).sum(..)), spec(F64, [2])).unwrap();
    assert_eq!(c.simplify().ops().iter().filter(|op| op.prim.has_effect()).count(), 2);
}

/// What needs other processes is refused by the backends that run a program alone; the interpreter does so when it runs.
#[test]
fn compilers_that_run_a_program_alone_refuse_it() {
    use evoxc::stablehlo::{ExportOptions, export_module};
    let two = || ReplicaGroups::across_replicas([[0, 1]]);
    let one = || ReplicaGroups::across_replicas([[0]]);
    let all = ReplicaGroups::everyone;
    let cases: Vec<(Box<dyn Fn(Sym) -> Sym>, bool)> = vec![
        (Box::new(move |x| dist::all_reduce(x, Reducer::Sum, &two())), false),
        (Box::new(move |x| dist::all_reduce(x, Reducer::Sum, &one())), true),
        (Box::new(move |x| dist::all_reduce(x, Reducer::Sum, &all())), true),
        (Box::new(move |x| dist::all_reduce_with(x, &two(), |a, b| a + b)), false),
        (Box::new(move |x| dist::all_gather(x, 0, 2, &two())), false),
        (Box::new(move |x| dist::all_gather(x, 0, 1, &one())), true),
        (Box::new(move |x| dist::reduce_scatter_with(x, 0, 2, &two(), |a, b| a + b)), false),
        (Box::new(move |x| dist::all_to_all(x, 0, 0, 2, &ReplicaGroups::across_replicas::<[usize; 0]>([]))), false),
        (Box::new(move |x| dist::collective_broadcast(x, &two())), false),
        (Box::new(|x| dist::collective_permute(x, [(0, 1)], None)), false),
        (Box::new(|x| dist::collective_permute(x, [(0, 0)], Some(1))), true),
        (Box::new(|x| cond(x.sum(..).gt(0), || dist::collective_permute(x, [(1, 0)], None), || x)), false),
    ];
    for (i, (f, fits)) in cases.into_iter().enumerate() {
        let graph = trace(f, spec(I64, [2])).unwrap();
        let options = ExportOptions { alone: true, ..ExportOptions::default() };
        let text = export_module(graph.module(), &options);
        assert_eq!(text.is_ok(), fits, "{i}: {text:?}");
        assert_eq!(run(&uniform(&graph, 1, 1), vec![vec![Tensor::from([1i64, 2])]]).is_ok(), fits, "{i}");
        let Err(e) = text else { continue };
        let e = e.to_string();
        assert!(e.contains("only partition of the only replica") && e.contains("Replicas"), "{i}: {e}");
        if let Some(xla) = evoxc_tests::plugin::xla() {
            assert!(graph.lower(&xla).is_err(), "{i}");
        }
    }
}
