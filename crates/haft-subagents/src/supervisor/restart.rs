//! Goes on with what a process that ended has left.

use super::Supervisor;
use super::drive::Order;
use super::house::House;
use crate::ChildRecord;
use haft_core::RunId;
use haft_tools_core::{CallScope, StoreError};
use tokio_util::sync::CancellationToken;

impl Supervisor {
    /// Goes on with the runs in the background of the tree below a run that had not ended, and gives which these are: those
    /// whose process ended, and those that wait for a person who may have answered meanwhile.
    ///
    /// It needs the scope of the run at the top, since what bounds the runs below is in there. A run that cannot be gone on
    /// with ends as [lost](crate::ChildEnd::Lost). One that is not in the background is gone on with by the call that waits
    /// for it, when that is [made again](Self::MADE_AGAIN).
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
        let open: Vec<&ChildRecord> =
            tree.iter().filter(|record| record.background && !record.has_ended()).collect();
        let sharers = open.len() as u64 + 1;
        for record in &open {
            let order = Order {
                record: (*record).clone(),
                above: self.house().scope_above(top, &tree, record),
                call: None,
                is_awaited: false,
                token: CancellationToken::new(),
                sharers,
                handle: None,
                drive: None,
            };
            self.spawn(order);
        }
        Ok(open.into_iter().map(|record| record.run.clone()).collect())
    }

    /// Takes what a run is to be told of runs in the background that have ended, for a host that prompts it; each is told once.
    ///
    /// A run that is at work when they end is told by itself.
    ///
    /// # Errors
    ///
    /// When what is kept of them cannot be read.
    ///
    /// # Cancel safety
    ///
    /// What was taken and not given is told to nobody.
    pub async fn news(&self, run: &CallScope) -> Result<Vec<String>, StoreError> {
        let mut news = Vec::new();
        for record in self.house().untold(run).await? {
            news.push(crate::tools::news(&record));
            self.house().tell(std::slice::from_ref(&record)).await;
        }
        Ok(news)
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
    fn scope_above(&self, top: &CallScope, tree: &[ChildRecord], record: &ChildRecord) -> CallScope {
        let Some(parent) = tree.iter().find(|parent| parent.run == record.parent) else {
            return top.clone();
        };
        let above = self.scope_above(top, tree, parent);
        let scope = above.child(parent.run.clone()).with_agent(parent.agent.as_str());
        match self.agents.get(&*parent.agent).and_then(|spec| spec.mode) {
            Some(mode) => scope.with_mode(mode),
            None => scope,
        }
    }

    /// Lists the runs in the background that have ended, and of which the run that started them was not told.
    pub(crate) async fn untold(&self, scope: &CallScope) -> Result<Vec<ChildRecord>, StoreError> {
        let mut children = self.children_of(scope).await?;
        children.retain(|record| record.background && record.has_ended() && !record.told);
        Ok(children)
    }
}
