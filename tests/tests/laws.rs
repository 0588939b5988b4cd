//! Every primitive obeys the laws of derivatives and of vmap: see `evoxc_tests::laws`. `OP=text` in the environment keeps the ops whose name has
//! the text, `LAW=jvp` (vjp, vmap, exchange, second) one law.

use evoxc_tests::laws;

#[test]
fn every_op_obeys_every_law() {
    let failures = laws::failures();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
