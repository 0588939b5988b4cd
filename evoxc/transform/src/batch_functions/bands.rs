//! Parting the programs into bands of programs that are alike.

use super::program::Programs;

/// The programs in an order that puts those with equal beginnings next to each other, and how much each has in common
/// with the one before.
pub(super) struct Order {
    programs: Vec<u32>,
    /// For every program but the first: the number of leading ops that it shares with the one before, and itself.
    cuts: Vec<(usize, usize)>,
    /// The number of different programs, constants left out.
    pub distinct: usize,
}

impl Order {
    pub fn new(programs: &Programs) -> Order {
        let words: Vec<Vec<(u32, u32)>> =
            programs.list.iter().map(|p| p.nodes.iter().map(|n| (n.skeleton, n.kind)).collect()).collect();
        let mut order: Vec<u32> = (0..words.len() as u32).collect();
        order.sort_by(|&a, &b| words[a as usize].cmp(&words[b as usize]));
        let mut cuts = vec![];
        let mut distinct = order.len().min(1);
        for (i, pair) in order.windows(2).enumerate() {
            if let &[a, b] = pair {
                let (a, b) = (&words[a as usize], &words[b as usize]);
                distinct += usize::from(a != b);
                let common = if a == b { usize::MAX } else { a.iter().zip(b).take_while(|(x, y)| x == y).count() };
                cuts.push((common, i + 1));
            }
        }
        // Where neighbours have the least in common.
        cuts.sort_by_key(|&(common, at)| (common, at));
        Order { programs: order, cuts, distinct }
    }
    /// At most `k` bands, each in the order of its programs' numbers.
    pub fn bands(&self, k: usize) -> Vec<Vec<u32>> {
        let mut at: Vec<usize> = self.cuts.iter().take(k.max(1) - 1).map(|c| c.1).collect();
        at.sort_unstable();
        at.push(self.programs.len());
        let mut from = 0;
        let mut out = vec![];
        for to in at {
            let mut band = self.programs.get(from..to).unwrap_or_default().to_vec();
            band.sort_unstable();
            out.push(band);
            from = to;
        }
        out
    }
}
