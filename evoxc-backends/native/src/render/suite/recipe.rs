//! Descriptions of random kernels. Every one can be built, whatever its numbers are, so that a smaller one can too: numbers
//! choose among what there is.

use proptest::collection::vec;
use proptest::prelude::*;

/// A kernel to build.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    /// Half as many lanes as the target has.
    pub half: bool,
    /// Lanes of the outermost loop's step, rather than 1.
    pub by_lanes: bool,
    /// Is the range of iterations asked for after what stands before the loop, rather than first?
    pub late: bool,
    pub extent: u8,
    /// Where the iterations are divided into two calls.
    pub split: u8,
    pub params: [u8; 2],
    /// The dtypes that values mostly have.
    pub dtypes: Vec<u8>,
    pub before: Vec<Stmt>,
    pub body: Vec<Stmt>,
    pub after: Vec<Stmt>,
    pub seed: u64,
}

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub dtype: u8,
    pub vector: bool,
}

/// A place in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub scratch: bool,
    pub index: u16,
    pub offset: i8,
    /// 0 is side by side, one is a register's, the others are constants.
    pub stride: u8,
    /// Reached by an index far below and an offset far above.
    pub far: bool,
}

/// A value that a loop or condition changes: what it is at first, and by what it is changed, or replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub kind: Kind,
    pub first: u16,
    pub op: u8,
    pub by: u16,
}

#[derive(Clone, Debug)]
pub(super) enum Stmt {
    Const { kind: Kind, pattern: u8 },
    Alu { op: u8, kind: Kind, src: [u16; 3] },
    Cast { from: Kind, to: u8, src: u16 },
    Bitcast { kind: Kind, to: u8, src: u16 },
    Splat { dtype: u8, src: u16 },
    Extract { dtype: u8, src: u16, lane: u8 },
    Across { dtype: u8, op: u8, src: u16 },
    Lanes { wide: bool },
    Index { src: u16 },
    Load { kind: Kind, spot: Spot },
    Store { kind: Kind, src: u16, spot: Spot },
    Gather { kind: Kind, wide: bool, scratch: bool, index: u16, gate: Option<(u16, u16)> },
    Scatter { kind: Kind, wide: bool, scratch: bool, index: u16, src: u16, gate: Option<u16> },
    Call { function: u8, vector: bool, src: [u16; 2] },
    Assign { variable: u16, src: u16 },
    Loop { from: u8, to: u8, step: u8, other_lanes: bool, variables: Vec<Variable>, body: Vec<Stmt> },
    If { condition: u16, variables: Vec<Variable>, body: Vec<Stmt> },
}

fn kind() -> impl Strategy<Value = Kind> {
    (any::<u8>(), any::<bool>()).prop_map(|(dtype, vector)| Kind { dtype, vector })
}
fn spot() -> impl Strategy<Value = Spot> {
    let (scratch, far) = (prop::bool::weighted(0.3), prop::bool::weighted(0.05));
    (scratch, any::<u16>(), -48..48i8, prop_oneof![2 => Just(0u8), 1 => any::<u8>()], far)
        .prop_map(|(scratch, index, offset, stride, far)| Spot { scratch, index, offset, stride, far })
}
fn variable() -> impl Strategy<Value = Variable> {
    (kind(), any::<u16>(), any::<u8>(), any::<u16>()).prop_map(|(kind, first, op, by)| Variable { kind, first, op, by })
}

fn simple() -> impl Strategy<Value = Stmt> {
    let n = any::<u16>;
    prop_oneof![
        1 => (kind(), any::<u8>()).prop_map(|(kind, pattern)| Stmt::Const { kind, pattern }),
        8 => (any::<u8>(), kind(), [n(), n(), n()]).prop_map(|(op, kind, src)| Stmt::Alu { op, kind, src }),
        3 => (kind(), any::<u8>(), n()).prop_map(|(from, to, src)| Stmt::Cast { from, to, src }),
        1 => (kind(), any::<u8>(), n()).prop_map(|(kind, to, src)| Stmt::Bitcast { kind, to, src }),
        1 => (any::<u8>(), n()).prop_map(|(dtype, src)| Stmt::Splat { dtype, src }),
        1 => (any::<u8>(), n(), any::<u8>()).prop_map(|(dtype, src, lane)| Stmt::Extract { dtype, src, lane }),
        1 => (any::<u8>(), any::<u8>(), n()).prop_map(|(dtype, op, src)| Stmt::Across { dtype, op, src }),
        1 => any::<bool>().prop_map(|wide| Stmt::Lanes { wide }),
        1 => n().prop_map(|src| Stmt::Index { src }),
        4 => (kind(), spot()).prop_map(|(kind, spot)| Stmt::Load { kind, spot }),
        2 => (kind(), n(), spot()).prop_map(|(kind, src, spot)| Stmt::Store { kind, src, spot }),
        1 => (kind(), any::<[bool; 2]>(), n(), any::<Option<(u16, u16)>>()).prop_map(
            |(kind, [wide, scratch], index, gate)| Stmt::Gather { kind, wide, scratch, index, gate }),
        1 => (kind(), any::<[bool; 2]>(), n(), n(), any::<Option<u16>>()).prop_map(
            |(kind, [wide, scratch], index, src, gate)| Stmt::Scatter { kind, wide, scratch, index, src, gate }),
        1 => (any::<u8>(), any::<bool>(), [n(), n()]).prop_map(
            |(function, vector, src)| Stmt::Call { function, vector, src }),
        1 => (n(), n()).prop_map(|(variable, src)| Stmt::Assign { variable, src }),
    ]
}

fn stmt() -> impl Strategy<Value = Stmt> {
    simple().prop_recursive(2, 24, 6, |inner| {
        let (variables, other) = (vec(variable(), 0..4), prop::bool::weighted(0.2));
        let conditions = (any::<u16>(), vec(variable(), 0..3), vec(inner.clone(), 0..6));
        prop_oneof![
            3 => inner.clone(),
            2 => (0..4u8, 0..10u8, 0..4u8, other, variables, vec(inner, 0..8)).prop_map(
                |(from, to, step, other_lanes, variables, body)| {
                    Stmt::Loop { from, to, step, other_lanes, variables, body }
                }),
            1 => conditions.prop_map(|(condition, variables, body)| Stmt::If { condition, variables, body }),
        ]
    })
}

/// Any recipe.
pub(super) fn recipe() -> impl Strategy<Value = Recipe> {
    let shape = (any::<[bool; 3]>(), 0..24u8, any::<u8>(), [0..32u8, 0..32u8]);
    let body = (vec(stmt(), 0..4), vec(stmt(), 0..14), vec(simple(), 0..4));
    (shape, vec(any::<u8>(), 1..5), body, any::<u64>()).prop_map(
        |(([half, by_lanes, late], extent, split, params), dtypes, (before, body, after), seed)| Recipe {
            half,
            by_lanes,
            late,
            extent,
            split,
            params,
            dtypes,
            before,
            body,
            after,
            seed,
        },
    )
}
