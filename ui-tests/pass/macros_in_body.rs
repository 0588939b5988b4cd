#![deny(warnings)]
use evoxc::prelude::*;

macro_rules! twice {
    ($e:expr) => {
        $e + $e
    };
}

macro_rules! define {
    ($name:ident, $param:ident, $limit:expr) => {
        #[defn]
        fn $name($param: usize) -> bool {
            $param < $limit && $param != 3
        }
    };
}

define!(small, n, 5 + 5);

#[defn]
fn f(x: Sym, n: usize) -> Sym {
    assert!(n > 3, "n is {n}");
    debug_assert!(n != 4 && n < 1000);
    assert_eq!(n % 2, 1);
    let parts: Vec<Sym> = vec![x > 0.0, twice!(x) < 1.0].into_iter().rev().collect();
    let zeros = vec![0.0; n];
    let y = if matches!(n, 5 | 7) { twice!(x) } else { x };
    println!("{} {}", n < 3, zeros.len());
    parts[0].select(y, parts[1].select(x, 0))
}

#[defn]
fn check(n: usize) -> usize {
    assert!(n > 3);
    n
}

fn main() {
    let _ = f;
    assert!(small(4) && !small(3));
    let message = std::panic::catch_unwind(|| check(1)).unwrap_err();
    assert_eq!(message.downcast_ref::<&str>(), Some(&"assertion failed: n > 3"));
}
