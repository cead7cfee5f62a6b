//! Goes on with what a process that ended has left.

use super::Supervisor;
use super::drive::{DrawsOn, Order};
use super::ending::named;
use super::house::House;
use crate::{ChildRecord, ChildStatus, Isolation, Share};
use haft_agent::Purse;
use haft_core::RunId;
use haft_tools_core::{CallScope, Mode, StoreError};
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

impl Supervisor {
    /// Goes on with the runs in the background of the tree below a run that had not ended, and gives which these are: those
    /// whose process ended, and those that wait for a person who may have answered meanwhile.
    ///
    /// It needs the scope of the run at the top, since what bounds the runs below is in there. Where that has a budget, give its
    /// [purse](haft_agent::Agent::purse) with the scope, so that the runs draw on what it has left; otherwise they draw on what
    /// it had left when it asked for the last of them, and what is set aside for them is taken from it before its next turn. In
    /// either case a run counts what those below it have spent when it is driven again, also by another process.
    ///
    /// A run that cannot be gone on with ends as [lost](crate::ChildEnd::Lost). One that is not in the background is gone on with by the call that waits
    /// for it, when that is [made again](Self::MADE_AGAIN); one that works in the place of another run, or is to be told of the
    /// run above it and has not begun, when that run is driven again and looks after it.
    ///
    /// # Errors
    ///
    /// When what is kept of them cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the runs are driven by tasks of the supervisor.
    pub async fn go_on_all(&self, top: &CallScope) -> Result<Vec<RunId>, StoreError> {
        let tree = self.house().store.tree(top.run()).await?;
        let open: Vec<&ChildRecord> = tree
            .iter()
            .filter(|record| record.background && !record.has_ended())
            .filter(|record| self.house().stands_alone(&tree, record))
            .collect();
        if top.extension::<Purse>().is_some() {
            let own: Vec<ChildRecord> =
                tree.iter().filter(|record| record.parent == *top.run()).cloned().collect();
            self.house().charge(top, &own).await;
        }
        let mut of_parents: HashMap<&RunId, (u64, DrawsOn)> = HashMap::new();
        for record in &open {
            let above = self.house().scope_above(top, &tree, record);
            let (sharers, draws_on) = if let Some(known) = of_parents.get(&record.parent) {
                known.clone()
            } else {
                let beside = open.iter().filter(|other| other.parent == record.parent).count() as u64;
                let has_purse = record.parent == *top.run() && top.extension::<Purse>().is_some();
                let draws_on = if has_purse {
                    DrawsOn::Above
                } else {
                    let left = self.house().left_for_children(&tree, &record.parent).await?;
                    left.map_or(DrawsOn::Own, DrawsOn::Shared)
                };
                of_parents.entry(&record.parent).or_insert((beside + 1, draws_on)).clone()
            };
            let order = Order {
                record: (*record).clone(),
                above,
                call: None,
                is_awaited: false,
                token: CancellationToken::new(),
                sharers,
                draws_on,
                handle: None,
                drive: None,
                apart: None,
            };
            self.spawn(order);
        }
        Ok(open.into_iter().map(|record| record.run.clone()).collect())
    }

    /// Takes what a run is to be told of runs in the background that have ended, for a host that tells it itself.
    ///
    /// Each is told once, but for what was taken last by a process that ended: nobody knows whether the run has it, so it is
    /// given again until the run's transcript is seen to have it, or the same process has asked for more.
    ///
    /// A run that an agent of this process drives when they end is told by itself, and one whose agent [has
    /// it](haft_agent::Agent::news) before its next turn.
    ///
    /// # Errors
    ///
    /// When what is kept of them cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: what was not given is given the next time.
    pub async fn untold_news(&self, run: &CallScope) -> Result<Vec<String>, StoreError> {
        let children = self.house().children_of(run).await?;
        Ok(self.house().news_of(&children, None).await)
    }

    /// Waits until no run of the tree below a run is driven; those that wait for a person are not.
    ///
    /// # Errors
    ///
    /// When what is kept of them cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn idle(&self, root: &RunId) -> Result<(), StoreError> {
        let live = &self.house().live;
        let mut changes = live.changes();
        loop {
            let tree = self.house().store.tree(root).await?;
            if !tree.iter().any(|record| live.is_driven(&record.run)) {
                return Ok(());
            }
            // The supervisor lives as long as this does, so there is always a next change.
            let _ = changes.changed().await;
        }
    }
}

impl House {
    /// Rebuilds the scope of the run that has started another, below the one at the top.
    pub(super) fn scope_above(
        &self,
        top: &CallScope,
        tree: &[ChildRecord],
        record: &ChildRecord,
    ) -> CallScope {
        let Some(parent) = tree.iter().find(|parent| parent.run == record.parent) else {
            return top.clone();
        };
        let above = self.scope_above(top, tree, parent);
        match self.agents.get(&*parent.agent) {
            Some(spec) => named(&above, parent, spec),
            // Nobody knows any more what it was held to, so those below it only look.
            None => above.child(parent.run.clone()).with_agent(parent.agent.as_str()).with_mode(Mode::Plan),
        }
    }

    /// Tells whether a run needs nothing of the run above it but its scope.
    fn stands_alone(&self, tree: &[ChildRecord], record: &ChildRecord) -> bool {
        let spec = |record: &ChildRecord| self.agents.get(&*record.agent);
        let above = |record: &ChildRecord| tree.iter().find(|parent| parent.run == record.parent);
        let is_apart =
            |parent: &&ChildRecord| spec(parent).is_some_and(|spec| spec.isolation != Isolation::Shared);
        let is_to_be_told = record.status == ChildStatus::Queued
            && spec(record).is_some_and(|spec| spec.context != Share::Fresh);
        !is_to_be_told
            && !std::iter::successors(above(record), |parent| above(parent)).any(|parent| is_apart(&parent))
    }
}
