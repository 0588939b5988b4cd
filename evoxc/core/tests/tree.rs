//! Trees: structure, paths, differences, static values, erased forms, and structures read from files.

use evoxc_core::{
    ArgAt, Dyn, Error, F32, Flatten, Leaf, MAX_TREE_DEPTH, Result, Tensor, TensorSpec, Tree, TreeDef, TreeKind,
    TreeToken, Unflatten, spec,
};
use std::collections::BTreeMap;

/// A struct as the derive implements it: two children, a static field, an optional list.
#[derive(Clone, Debug)]
struct Params<T> {
    w: T,
    layers: Vec<T>,
    heads: usize,
    name: String,
    bias: Option<T>,
}

impl<L: Leaf, T: Tree<L>> Tree<L> for Params<T> {
    type Map<U: Leaf> = Params<T::Map<U>>;
    fn flatten(self, out: &mut Flatten<L>) {
        out.open_struct("Params", None, 5);
        out.field("w", self.w);
        out.field("layers", self.layers);
        out.stat("heads", self.heads);
        out.stat("name", self.name);
        out.field("bias", self.bias);
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        src.open_struct("Params")?;
        let p = Params {
            w: src.field("w")?,
            layers: src.field("layers")?,
            heads: src.stat("heads")?,
            name: src.stat("name")?,
            bias: src.field("bias")?,
        };
        src.close()?;
        Ok(p)
    }
}

fn params(layers: usize, heads: usize) -> Params<TensorSpec> {
    let s = |n: usize| spec(F32, [n]);
    Params { w: s(1), layers: (2..2 + layers).map(s).collect(), heads, name: "a\"b".into(), bias: Some(s(9)) }
}

fn def(t: impl Tree<TensorSpec>) -> TreeDef {
    TreeDef::flatten(t).1
}

fn tree_error<T>(r: Result<T>) -> (String, String, String) {
    match r {
        Err(Error::Tree(e)) => (e.path, e.expected, e.got),
        Err(e) => panic!("another error: {e}"),
        Ok(_) => panic!("no error"),
    }
}

#[test]
fn round_trip_of_every_kind() {
    let mut map = BTreeMap::new();
    map.insert("b".to_string(), spec(F32, [1]));
    map.insert("a".to_string(), spec(F32, [2]));
    let t = (params(2, 4), [spec(F32, []), spec(F32, [3])], map, Box::new(spec(F32, [4])), None::<TensorSpec>, ());
    let (leaves, d) = TreeDef::flatten(t.clone());
    // Source: the documented order: fields in order, maps by key.
    assert_eq!(d.paths(), ["0.w", "0.layers[0]", "0.layers[1]", "0.bias", "1[0]", "1[1]", "2[\"a\"]", "2[\"b\"]", "3"]);
    assert_eq!(d.leaf_count(), leaves.len());
    type T =
        (Params<TensorSpec>, [TensorSpec; 2], BTreeMap<String, TensorSpec>, Box<TensorSpec>, Option<TensorSpec>, ());
    let back: T = d.unflatten(leaves.clone()).unwrap();
    assert_eq!(back.0.name, "a\"b");
    let (again, d2) = TreeDef::flatten(back);
    assert_eq!((again, d2), (leaves, d.clone()));
    assert_eq!(TreeDef::from_tokens(d.tokens().to_vec()).unwrap(), d);
}

#[test]
fn paths_of_roots_and_nested_tuples() {
    assert_eq!(def(spec(F32, [])).paths(), [""]);
    assert_eq!(def(vec![spec(F32, []), spec(F32, [])]).paths(), ["[0]", "[1]"]);
    assert_eq!(def(((spec(F32, []), vec![(spec(F32, []),)]),)).paths(), ["0.0", "0.1[0].0"]);
}

#[test]
fn the_leaf_is_a_parameter() {
    // `()` is a tree of any leaf; a struct of specs maps to one of tensors.
    let (_, d) = TreeDef::flatten::<TensorSpec, _>(());
    let () = d.unflatten::<Tensor, ()>(vec![]).unwrap();
    fn data(p: Params<TensorSpec>) -> Result<<Params<TensorSpec> as Tree<TensorSpec>>::Map<Tensor>> {
        let (specs, d) = TreeDef::flatten(p);
        d.unflatten(specs.iter().map(|s| Tensor::zeros(s.dtype, &s.shape)).collect())
    }
    let p: Params<Tensor> = data(params(1, 4)).unwrap();
    assert_eq!((p.heads, p.layers[0].shape()), (4, [2].as_slice()));
}

#[test]
fn arguments_are_the_children_of_a_tuple() {
    let d = def((params(1, 1), spec(F32, []), vec![spec(F32, [])]));
    let args = d.arguments();
    assert_eq!(args.len(), 3);
    assert_eq!(args[0], def(params(1, 1)));
    assert_eq!(args[1], TreeDef::leaf());
    assert_eq!(TreeDef::tuple(args), d);
    assert_eq!(def(spec(F32, [])).arguments(), [TreeDef::leaf()]);
    assert_eq!(TreeDef::leaves_tuple(2), def((spec(F32, []), spec(F32, []))));
    assert!(def(()).arguments().is_empty());
    fn first<T: ArgAt<0>>(_: &T) -> &'static str {
        std::any::type_name::<T::Arg>()
    }
    assert_eq!(first(&(1u8, 2u16)), "u8");
}

#[test]
fn a_tree_that_never_closes_has_no_arguments() {
    let mut f = Flatten::<TensorSpec>::new();
    f.open(TreeKind::Tuple, 3);
    assert!(f.finish().1.arguments().is_empty());
}

#[test]
fn differences_name_the_first_path() {
    let d = |t: &TreeDef, o: &TreeDef| {
        let e = t.difference(o).unwrap();
        (e.path, e.expected, e.got)
    };
    let s = |a: &str, b: &str, c: &str| (a.to_string(), b.to_string(), c.to_string());
    let base = def((params(2, 4), spec(F32, [])));
    assert_eq!(base.difference(&base), None);
    assert_eq!(d(&base, &def((params(3, 4), spec(F32, [])))), s("0.layers", "a list of 2", "a list of 3"));
    assert_eq!(d(&base, &def((params(2, 8), spec(F32, [])))), s("0.heads", "the static value 4", "the static value 8"));
    assert_eq!(d(&base, &def((params(2, 4), (spec(F32, []),)))), s("1", "a tensor", "a tuple of 1"));
    assert_eq!(d(&base, &def(spec(F32, []))), s("", "a tuple of 2", "a tensor"));
    let no_bias = Params { bias: None, ..params(2, 4) };
    assert_eq!(d(&base, &def((no_bias, spec(F32, [])))), s("0.bias", "Some", "None"));
    assert_eq!(d(&TreeDef::leaf(), &TreeDef::default()), s("", "a tensor", "nothing"));
    assert_eq!(d(&TreeDef::default(), &TreeDef::leaf()), s("", "the end", "a tensor"));
    let map = |k: &str| def(BTreeMap::from([(k.to_string(), spec(F32, []))]));
    assert_eq!(d(&map("a"), &map("b")), s("", "`a`", "`b`"));
}

#[test]
fn unflatten_refuses_other_types_with_the_path() {
    let s = |a: &str, b: &str, c: &str| (a.to_string(), b.to_string(), c.to_string());
    let t = || Tensor::from(1f32);
    let two = TreeDef::leaves_tuple(2);
    assert_eq!(tree_error(two.unflatten::<Tensor, Tensor>(vec![t(), t()])), s("", "a tensor", "a tuple of 2"));
    assert_eq!(
        tree_error(two.unflatten::<Tensor, (Tensor, Vec<Tensor>)>(vec![t(), t()])),
        s("1", "a list", "a tensor")
    );
    assert_eq!(
        tree_error(two.unflatten::<Tensor, (Tensor, Option<Tensor>)>(vec![t(), t()])),
        s("1", "an Option", "a tensor")
    );
    assert_eq!(
        tree_error(two.unflatten::<Tensor, (Tensor, Tensor, Tensor)>(vec![t(), t()])),
        s("", "a tuple of 3", "a tuple of 2")
    );
    assert_eq!(tree_error(two.unflatten::<Tensor, (Tensor, Tensor)>(vec![t()])), s("", "2 leaves", "1"));
    let list = def((vec![spec(F32, []), spec(F32, [])],));
    assert_eq!(
        tree_error(list.unflatten::<Tensor, ([Tensor; 3],)>(vec![t(), t()])),
        s("0", "a list of 3", "a list of 2")
    );
    assert_eq!(
        tree_error(list.unflatten::<Tensor, (Params<Tensor>,)>(vec![t(), t()])),
        s("0", "`Params`", "a list of 2")
    );
    assert_eq!(
        tree_error(list.unflatten::<Tensor, (Option<Tensor>,)>(vec![t(), t()])),
        s("0", "an Option", "a list of 2")
    );
}

#[test]
fn static_values_live_in_memory_and_as_text_in_files() {
    let (leaves, d) = TreeDef::flatten(params(1, 4));
    let text = serde_json::to_string(&d).unwrap();
    let read: TreeDef = serde_json::from_str(&text).unwrap();
    assert_eq!(read, d);
    // `heads` is a number, which comes back from its text; `name` is a `String`, which does not.
    let e = tree_error(read.unflatten::<TensorSpec, Params<TensorSpec>>(leaves.clone()));
    assert_eq!(e.0, "name");
    assert!(e.2.contains("typed_like"), "{}", e.2);
    assert_eq!(d.unflatten::<TensorSpec, Params<TensorSpec>>(leaves).unwrap().heads, 4);
}

#[test]
fn erased_trees() {
    let p = params(1, 4);
    let d = Dyn::of((p.clone(), spec(F32, [7])));
    assert_eq!(d.leaves().len(), 4);
    assert_eq!(d.def(), &def((p.clone(), spec(F32, [7]))));
    // A Dyn inside a tuple is a part of the tree, not a leaf.
    let (leaves, outer) = TreeDef::flatten((spec(F32, []), Dyn::of(p.clone())));
    assert_eq!(outer, def((spec(F32, []), p)));
    let (_, inner): (TensorSpec, Dyn<TensorSpec>) = outer.unflatten(leaves).unwrap();
    assert_eq!(inner.def().paths(), ["w", "layers[0]", "bias"]);
    let back: Params<TensorSpec> = inner.into().unwrap();
    assert_eq!(back.heads, 4);
    assert_eq!(tree_error(Dyn::of(spec(F32, [])).into::<()>()).0, "");
}

#[test]
fn tokens_from_files_are_checked() {
    use TreeToken::{Close, Key, Leaf, Open};
    let stat = || TreeToken::Static("1".into(), None);
    let key = |k: &'static str| Key(k.into());
    let st = |n| Open(TreeKind::Struct("S".into(), None), n);
    let (tuple, map) = (|n| Open(TreeKind::Tuple, n), |n| Open(TreeKind::Map, n));
    let good: Vec<Vec<TreeToken>> = vec![
        vec![Leaf],
        vec![tuple(0), Close],
        vec![st(2), key("a"), Leaf, key("b"), stat(), Close],
        vec![map(2), key("a"), Leaf, key("b"), Leaf, Close],
        vec![Open(TreeKind::Some, 1), Open(TreeKind::None, 0), Close, Close],
    ];
    for t in good {
        assert!(TreeDef::from_tokens(t.clone()).is_ok(), "{t:?}");
    }
    let bad: Vec<Vec<TreeToken>> = vec![
        vec![],
        vec![Leaf, Leaf],
        vec![Close],
        vec![stat()],
        vec![key("a")],
        vec![tuple(1), Close],
        vec![tuple(0), Leaf, Close],
        vec![tuple(2), Leaf, Close],
        vec![tuple(1), Leaf],
        vec![tuple(usize::MAX), Leaf, Close],
        vec![tuple(1), stat(), Close],
        vec![tuple(1), key("a"), Leaf, Close],
        vec![tuple(0), Close, Close],
        vec![st(1), Leaf, Close],
        vec![st(0), key("a"), Close],
        vec![st(1), key("a"), Close],
        vec![st(1), key("a"), key("b"), Leaf, Close],
        vec![map(1), key("a"), stat(), Close],
        vec![map(2), key("a"), Leaf, key("a"), Leaf, Close],
        vec![Open(TreeKind::Some, 0), Close],
        vec![Open(TreeKind::None, 1), Leaf, Close],
    ];
    for t in bad {
        assert!(TreeDef::from_tokens(t.clone()).is_err(), "{t:?}");
    }
    let deep = |n: usize| {
        let mut t: Vec<_> = (0..n).map(|_| tuple(1)).collect();
        t.push(Leaf);
        t.extend((0..n).map(|_| Close));
        TreeDef::from_tokens(t)
    };
    assert!(deep(MAX_TREE_DEPTH).is_ok());
    assert!(deep(MAX_TREE_DEPTH + 1).is_err());
    assert!(serde_json::from_str::<TreeDef>("[\"Leaf\", \"Close\"]").is_err());
}
