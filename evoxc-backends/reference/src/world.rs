//! Where processes that are simulated as threads meet: each collective is one meeting of the members of a group, found
//! by the group, the channel and how often this process has met there before.
//!
//! What a process receives depends on the programs and arguments alone, never on the order in which threads run: a
//! meeting ends when all members have come, and gives their values in the order of the group. Nobody waits for ever: a
//! meeting that a member can no longer come to, because it has ended or because everybody waits, is an error of all who
//! wait.

use evoxc_core::{OpError, Tensor};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The members in ascending order, and the channel (0 is none).
type Place = (Vec<usize>, usize);

/// What a member brings.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    /// The op with its attributes and the group in order: what all members must agree in.
    pub op: String,
    pub values: Vec<Tensor>,
}

/// What all members brought, in the order of the group; or why it came to nothing.
type Outcome = Result<Arc<Vec<Vec<Tensor>>>, OpError>;

struct Meeting {
    offers: FxHashMap<usize, Offer>,
    outcome: Option<Outcome>,
    /// How many members have still to take the outcome.
    left: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Status {
    Runs,
    Waits,
    Ended,
}

struct State {
    meetings: FxHashMap<(Place, u64), Meeting>,
    /// How often each process has met at a place.
    visits: FxHashMap<(usize, Place), u64>,
    status: Vec<Status>,
    /// Who came to a meeting that could not take place.
    left_alone: Vec<bool>,
}

/// The processes of one run.
pub(crate) struct World {
    replicas: usize,
    partitions: usize,
    state: Mutex<State>,
    /// One for each process, so that only those wake that a meeting is about.
    bells: Vec<Condvar>,
}

impl World {
    pub fn new(replicas: usize, partitions: usize) -> World {
        let n = replicas.saturating_mul(partitions);
        let state = State {
            meetings: FxHashMap::default(),
            visits: FxHashMap::default(),
            status: vec![Status::Runs; n],
            left_alone: vec![false; n],
        };
        let bells = (0..n).map(|_| Condvar::new()).collect();
        World { replicas, partitions, state: Mutex::new(state), bells }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is sound between any two statements that may panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Process `me` is done, with or without an error: it comes to no further meeting.
    pub fn end(&self, me: usize) {
        let mut state = self.lock();
        if let Some(s) = state.status.get_mut(me) {
            *s = Status::Ended;
        }
        self.settle(&mut state);
    }

    /// Brings `offer` to the next meeting of `group`, of which process `me` is a member, and waits for the others; gives
    /// what they brought, in the order of the group.
    pub fn meet(&self, me: usize, group: &[usize], channel: usize, offer: Offer) -> Outcome {
        let mut members = group.to_vec();
        members.sort_unstable();
        let place = (members, channel);
        let mut guard = self.lock();
        let state = &mut *guard;
        let visit = state.visits.entry((me, place.clone())).or_default();
        let key = (place, *visit);
        *visit += 1;
        let meeting = state.meetings.entry(key.clone()).or_insert_with(|| Meeting {
            offers: FxHashMap::default(),
            outcome: None,
            left: group.len(),
        });
        if meeting.outcome.is_none() {
            meeting.offers.insert(me, offer);
            if meeting.offers.len() == group.len() {
                meeting.outcome = Some(self.close(group, &mut meeting.offers));
                self.wake(state, &key.0.0);
            } else if let Some(s) = state.status.get_mut(me) {
                *s = Status::Waits;
                self.settle(state);
            }
        }
        let Some(bell) = self.bells.get(me) else { return Err(OpError::new("", "this process is not in the grid")) };
        loop {
            let Some(meeting) = guard.meetings.get_mut(&key) else {
                return Err(OpError::new("", "a meeting of processes was lost"));
            };
            if let Some(outcome) = meeting.outcome.clone() {
                meeting.left = meeting.left.saturating_sub(1);
                // One that came to nothing stays, for members that come later.
                if meeting.left == 0 && outcome.is_ok() {
                    guard.meetings.remove(&key);
                }
                return outcome;
            }
            guard = bell.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The outcome of a meeting to which all have come.
    fn close(&self, group: &[usize], offers: &mut FxHashMap<usize, Offer>) -> Outcome {
        let types = |o: &Offer| o.values.iter().map(|t| t.spec().to_string()).collect::<Vec<_>>().join(", ");
        let mut first: Option<(usize, Offer)> = None;
        let mut all = Vec::with_capacity(group.len());
        for &p in group {
            let Some(offer) = offers.remove(&p) else { return Err(OpError::new("", "a process is in a group twice")) };
            match &first {
                None => first = Some((p, offer.clone())),
                Some((q, f)) if f.op != offer.op => {
                    return Err(self.differ(*q, &f.op, p, &offer.op));
                }
                Some((q, f)) if types(f) != types(&offer) => {
                    return Err(self.differ(*q, &types(f), p, &types(&offer)));
                }
                Some(_) => {}
            }
            all.push(offer.values);
        }
        Ok(Arc::new(all))
    }

    fn differ(&self, p: usize, a: &str, q: usize, b: &str) -> OpError {
        OpError::new("", format!("{} brings {a}, {} brings {b}", self.name(p), self.name(q)))
            .remedy("all processes of a group must run the same collectives, in the same order and on the same types")
    }

    /// Those who wait run again.
    fn wake(&self, state: &mut State, members: &[usize]) {
        for &p in members {
            if let Some(s) = state.status.get_mut(p).filter(|s| **s == Status::Waits) {
                *s = Status::Runs;
            }
            if let Some(bell) = self.bells.get(p) {
                bell.notify_all();
            }
        }
    }

    /// When nobody runs: ends the meetings that a member cannot come to because it has ended or, if there is none such,
    /// all. Not before, so that which of them come to nothing does not depend on who was faster.
    fn settle(&self, state: &mut State) {
        if state.status.contains(&Status::Runs) {
            return;
        }
        let status = &state.status;
        let missing = |place: &Place, m: &Meeting| -> Vec<usize> {
            place.0.iter().copied().filter(|p| !m.offers.contains_key(p)).collect()
        };
        let ended = |p: &usize| status.get(*p) == Some(&Status::Ended);
        let open = || state.meetings.iter().filter(|(_, m)| m.outcome.is_none());
        let lost = open().any(|((place, _), m)| missing(place, m).iter().any(ended));
        let mut ends = vec![];
        for (key, m) in open() {
            let missing = missing(&key.0, m);
            let gone: Vec<String> = missing.iter().filter(|p| ended(p)).map(|&p| self.name(p)).collect();
            let why = match (gone.is_empty(), lost) {
                (false, _) => format!("{} ended without it", gone.join(" and ")),
                (true, true) => continue,
                (true, false) => {
                    let late: Vec<String> = missing.iter().map(|&p| self.name(p)).collect();
                    format!("every process waits for another; here {} did not come", late.join(" and "))
                }
            };
            ends.push((key.clone(), why));
        }
        for (key, why) in ends {
            let remedy = "all processes of a group must run the same collectives, in the same order";
            let Some(m) = state.meetings.get_mut(&key) else { continue };
            m.outcome = Some(Err(OpError::new("", why).remedy(remedy)));
            let woken: Vec<usize> = m.offers.keys().copied().collect();
            for &p in &woken {
                state.left_alone.get_mut(p).into_iter().for_each(|l| *l = true);
            }
            self.wake(state, &woken);
        }
    }

    /// The processes that came to a collective which could not take place because of another.
    pub fn left_alone(&self) -> Vec<bool> {
        self.lock().left_alone.clone()
    }

    /// A process, for messages.
    pub fn name(&self, p: usize) -> String {
        let n = self.partitions.max(1);
        format!("process {p} (replica {}, partition {})", p / n, p % n)
    }
}

/// The process that a program runs in: one of [`Replicas`](crate::Replicas), or the only one.
#[derive(Clone, Copy)]
pub struct Process<'w> {
    /// None for a program that runs alone, as the only replica and partition.
    world: Option<&'w World>,
    /// replica * partitions + partition
    pub(crate) number: usize,
}

impl<'w> Process<'w> {
    /// The process of a program that runs alone.
    pub const ALONE: Process<'static> = Process { world: None, number: 0 };
    pub(crate) fn new(world: &'w World, number: usize) -> Process<'w> {
        Process { world: Some(world), number }
    }
    /// Replicas and partitions.
    pub(crate) fn grid(&self) -> (usize, usize) {
        self.world.map_or((1, 1), |w| (w.replicas, w.partitions))
    }
    /// See [`World::meet`].
    pub(crate) fn meet(&self, group: &[usize], channel: usize, offer: Offer) -> Outcome {
        match self.world {
            Some(w) => w.meet(self.number, group, channel, offer),
            None => Ok(Arc::new(vec![offer.values])),
        }
    }
}
