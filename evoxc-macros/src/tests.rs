//! Unit tests of the macros, on token streams: what can be checked without rustc. The rest is in `ui-tests`.

use crate::args::distance;
use crate::krate::Krate;
use crate::rewrite::Rewrite;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse_quote;
use syn::visit_mut::VisitMut;

/// The rewritten block, with a short name for the crate.
fn rewritten(mut block: syn::Block) -> String {
    let krate = Krate::Given(parse_quote!(e));
    let mut errors = Vec::new();
    Rewrite { krate: &krate, errors: &mut errors, iterates: false }.visit_block_mut(&mut block);
    assert!(errors.is_empty());
    block.to_token_stream().to_string().replace("e :: __private :: ", "")
}

fn same(block: syn::Block, expected: TokenStream) {
    assert_eq!(rewritten(block), expected.to_string());
}

#[test]
fn comparisons() {
    same(parse_quote!({ a < b }), quote!({ lt(&a, &b) }));
    same(parse_quote!({ a + 1 == b.c }), quote!({ eq(&(a + 1), &b.c) }));
    same(parse_quote!({ (a < b) | (c >= d) }), quote!({ (lt(&a, &b)) | (ge(&c, &d)) }));
}

#[test]
fn conditions() {
    same(parse_quote!({ if c {} }), quote!({ if static_bool(c) {} }));
    same(parse_quote!({ if (c) {} }), quote!({ if static_bool(c) {} }));
    same(parse_quote!({ while a && b {} }), quote!({ while static_bool(a) && static_bool(b) {} }));
    same(
        parse_quote!({
            if let Some(n) = o
                && n > 3
                && c
            {}
        }),
        quote!({
            if let Some(n) = o
                && static_bool(gt(&n, &3))
                && static_bool(c)
            {}
        }),
    );
    same(
        parse_quote!({
            match n {
                0 => a,
                _ if n > 3 => b,
                _ => c,
            }
        }),
        quote!({
            match *StaticMatch::get(&n) {
                0 => a,
                _ if static_bool(gt(&n, &3)) => b,
                _ => c,
            }
        }),
    );
    same(
        parse_quote!({
            match o {
                Some(x) => x,
                None => y,
            }
        }),
        quote!({
            match o {
                Some(x) => x,
                None => y,
            }
        }),
    );
}

#[test]
fn loops_and_macros() {
    same(parse_quote!({ for i in 0..n {} }), quote!({ for i in IterOf(0..n).iterate() {} }));
    same(parse_quote!({ f(vec![a < b, c]) }), quote!({ f(vec![lt(&a, &b), c]) }));
    same(parse_quote!({ f(vec![a < b; 3]) }), quote!({ f(vec![a < b; 3]) }));
    same(
        parse_quote!({
            assert!(n > 3);
        }),
        quote!({
            assert!(static_bool(gt(&n, &3)), "assertion failed: n > 3");
        }),
    );
    same(
        parse_quote!({
            println!("{}", a < b);
        }),
        quote!({
            println!("{}", a < b);
        }),
    );
}

#[test]
fn names() {
    same(
        parse_quote!({
            let y = x + 1;
        }),
        quote!({
            let y = named("y", x + 1);
        }),
    );
    same(
        parse_quote!({
            let (q, _) = x.qr();
        }),
        quote!({
            let (q, _) = named("q,_", x.qr());
        }),
    );
    same(
        parse_quote!({
            let (a, b) = (f(), c);
        }),
        quote!({
            let (a, b) = (named("a", f()), c);
        }),
    );
    same(
        parse_quote!({
            let y = if c { x + 1 } else { x };
        }),
        quote!({
            let y = if static_bool(c) { named("y", x + 1) } else { x };
        }),
    );
    same(
        parse_quote!({
            let r = &f();
            let s = *r;
        }),
        quote!({
            let r = &f();
            let s = *r;
        }),
    );
}

#[test]
fn what_is_not_evaluated_stays() {
    same(
        parse_quote!({
            fn g(a: u8) -> bool {
                a < 3
            }
            let z: [u8; (3 < 4) as usize] = [0; (3 < 4) as usize];
        }),
        quote!({
            fn g(a: u8) -> bool {
                a < 3
            }
            let z: [u8; (3 < 4) as usize] = [0; (3 < 4) as usize];
        }),
    );
}

#[test]
fn edit_distance() {
    assert_eq!(distance("krate", "crate"), 1);
    assert_eq!(distance("crat", "crate"), 1);
    assert_eq!(distance("", "crate"), 5);
    assert_eq!(distance("statik", "static"), 1);
    assert_eq!(distance("name", "crate"), 3);
}

/// Items that are wrong in every way still give tokens.
#[test]
fn nothing_panics() {
    let items = [
        quote!(
            struct S;
        ),
        quote!(
            const X: u8 = 1;
        ),
        quote!(
            fn f(x: Sym);
        ),
        quote!(
            fn f(x: Sym, ...) {}
        ),
        quote!(fn f(x: Sym) { let = ; }),
        quote!(union U<T> { a: T }),
        quote!(
            enum E {}
        ),
        quote!(),
    ];
    for item in items {
        for args in [quote!(), quote!(crate), quote!(crate =), quote!(= 3), quote!(crate = a::b, crate = c)] {
            assert!(!crate::defn::expand(args, item.clone()).is_empty());
        }
        assert!(!crate::derive_tree::expand(item).is_empty());
    }
    assert!(!crate::slice::expand(quote!(1.., ..;2, 3;4)).is_empty());
}
