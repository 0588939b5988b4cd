//! Groups of processes: what the ids of a collective op stand for in a grid of replicas and partitions, and how they are
//! made of StableHLO's attributes.

use crate::{Grouping, Prim, ReplicaGroups};

impl ReplicaGroups {
    /// Groups of replicas, without a channel: StableHLO's `cross_replica`.
    pub fn across_replicas<G: Into<Vec<usize>>>(ids: impl IntoIterator<Item = G>) -> ReplicaGroups {
        let ids = ids.into_iter().map(Into::into).collect();
        ReplicaGroups { ids, by: Grouping::CrossReplica, channel: None }
    }
    /// One group of all processes.
    ///
    /// ```
    /// use evoxc::ir::ReplicaGroups;
    /// assert_eq!(ReplicaGroups::everyone().processes(2, 2), Ok(vec![vec![0, 1, 2, 3]]));
    /// ```
    pub fn everyone() -> ReplicaGroups {
        ReplicaGroups { ids: vec![], by: Grouping::FlattenedIds, channel: Some(1) }
    }
    /// The groups that StableHLO's attributes of `all_reduce`, `all_gather` and `reduce_scatter` say: rows of
    /// `replica_groups`, padded with -1.
    ///
    /// ```
    /// use evoxc::ir::{Grouping, ReplicaGroups};
    /// let groups = ReplicaGroups::reducing(&[vec![0, 1], vec![2, -1]], 1, false).unwrap();
    /// assert_eq!((groups.ids, groups.by), (vec![vec![0, 1], vec![2]], Grouping::CrossReplicaAndPartition));
    /// ```
    ///
    /// # Errors
    /// A message: an id below -1, or global ids without a channel.
    pub fn reducing(rows: &[Vec<i64>], channel_id: i64, use_global_device_ids: bool) -> Result<ReplicaGroups, String> {
        let channel = usize::try_from(channel_id).ok().filter(|&c| c > 0);
        let by = match (channel, use_global_device_ids) {
            (None, false) => Grouping::CrossReplica,
            (Some(_), false) => Grouping::CrossReplicaAndPartition,
            (Some(_), true) => Grouping::FlattenedIds,
            (None, true) => return Err(format!("global device ids need a channel above 0, it is {channel_id}")),
        };
        Ok(ReplicaGroups { ids: unpadded(rows)?, by, channel })
    }
    /// The groups that StableHLO's attributes of `all_to_all` and `collective_broadcast` say.
    ///
    /// # Errors
    /// A message: an id below -1.
    pub fn exchanging(rows: &[Vec<i64>], channel_id: i64) -> Result<ReplicaGroups, String> {
        let channel = usize::try_from(channel_id).ok().filter(|&c| c > 0);
        let by = if channel.is_some() { Grouping::CrossPartition } else { Grouping::CrossReplica };
        Ok(ReplicaGroups { ids: unpadded(rows)?, by, channel })
    }
    /// The rows of StableHLO's `replica_groups`: of one length, padded with -1.
    ///
    /// ```
    /// use evoxc::ir::ReplicaGroups;
    /// let groups = ReplicaGroups::across_replicas([vec![0, 1], vec![2]]);
    /// assert_eq!(groups.padded(), [[0, 1], [2, -1]]);
    /// ```
    pub fn padded(&self) -> Vec<Vec<i64>> {
        let longest = self.ids.iter().map(Vec::len).max().unwrap_or(0);
        let row = |ids: &Vec<usize>| {
            let known = ids.iter().map(|&i| i64::try_from(i).unwrap_or(i64::MAX));
            known.chain(std::iter::repeat(-1)).take(longest).collect()
        };
        self.ids.iter().map(row).collect()
    }
    /// The processes of every group, in its order, in a grid of `replicas` × `partitions`; process
    /// replica * partitions + partition.
    ///
    /// # Errors
    /// A message: an id that the grid does not have.
    pub fn processes(&self, replicas: usize, partitions: usize) -> Result<Vec<Vec<usize>>, String> {
        let (limit, what) = match self.by {
            Grouping::CrossReplica | Grouping::CrossReplicaAndPartition => (replicas, "replica"),
            Grouping::CrossPartition => (partitions, "partition"),
            Grouping::FlattenedIds => (replicas.saturating_mul(partitions), "process"),
        };
        if let Some(id) = self.ids.iter().flatten().find(|&&id| id >= limit) {
            return Err(format!("the groups name {what} {id}, but there are {limit}, counted from 0"));
        }
        let all = [(0..limit).collect::<Vec<_>>()];
        let ids: &[Vec<usize>] = if self.ids.is_empty() { &all } else { &self.ids };
        let at = |r: usize, p: usize| r * partitions + p;
        Ok(match self.by {
            Grouping::CrossReplica => {
                ids.iter().flat_map(|g| (0..partitions).map(move |p| g.iter().map(|&r| at(r, p)).collect())).collect()
            }
            Grouping::CrossPartition => {
                ids.iter().flat_map(|g| (0..replicas).map(move |r| g.iter().map(|&p| at(r, p)).collect())).collect()
            }
            Grouping::CrossReplicaAndPartition => {
                ids.iter().map(|g| (0..partitions).flat_map(|p| g.iter().map(move |&r| at(r, p))).collect()).collect()
            }
            Grouping::FlattenedIds => ids.to_vec(),
        })
    }
}

fn unpadded(rows: &[Vec<i64>]) -> Result<Vec<Vec<usize>>, String> {
    let row = |row: &Vec<i64>| {
        let ids = row.iter().filter(|&&id| id != -1);
        ids.map(|&id| usize::try_from(id).map_err(|_| format!("{id} is no id of a process"))).collect()
    };
    rows.iter().map(row).collect()
}

impl Prim {
    /// The groups of a collective op that has some.
    pub fn groups(&self) -> Option<&ReplicaGroups> {
        match self {
            Prim::AllReduce { groups, .. }
            | Prim::AllReduceBody { groups }
            | Prim::AllGather { groups, .. }
            | Prim::ReduceScatter { groups, .. }
            | Prim::ReduceScatterBody { groups, .. }
            | Prim::AllToAll { groups, .. }
            | Prim::CollectiveBroadcast { groups, .. } => Some(groups),
            _ => None,
        }
    }
}
