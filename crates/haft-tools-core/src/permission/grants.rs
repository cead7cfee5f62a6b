use super::grant::{Grant, GrantPlace, GrantTerm};
use super::grant_store::{GrantStore, MemoryGrants};
use super::rule::Rule;
use super::store_error::StoreError;
use crate::{Access, CallScope, RuleLanguage, Unmet, milliseconds, now_ms};
use haft_core::{Decision, ToolSpec};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Says where the grants of an executor are kept, and which session and workspace its runs belong to.
///
/// By default they are kept in memory, and there is no session and no workspace: grants hold for a run, or for as long as
/// the process lives.
///
/// ```
/// use haft_tools_core::{Grants, LocalExecutor, MemoryGrants, ToolRegistry};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// let grants = Grants::kept_in(Arc::new(MemoryGrants::new()))
///     .session("desk-1")
///     .workspace("/home/ann/project")
///     .lifetime(Duration::from_hours(8));
/// let executor = LocalExecutor::builder(ToolRegistry::new()).grants(grants).build();
/// # let _ = executor;
/// ```
#[derive(Clone)]
pub struct Grants {
    store: Arc<dyn GrantStore>,
    session: Option<Arc<str>>,
    workspace: Option<Arc<str>>,
    lifetime: Option<Duration>,
}

/// Says what people have answered before about all that a call is asked for.
pub(crate) enum Remembered {
    /// All of it is granted; which grants.
    Granted(Vec<Arc<Grant>>),
    /// Some of it is never to be; which grant.
    Never(Arc<Grant>),
    /// Nothing, or not about all of it.
    Nothing,
}

impl Default for Grants {
    fn default() -> Self {
        Self::kept_in(Arc::new(MemoryGrants::new()))
    }
}

impl Grants {
    /// Keeps grants in this store.
    pub fn kept_in(store: Arc<dyn GrantStore>) -> Self {
        Self { store, session: None, workspace: None, lifetime: None }
    }

    /// Names the session that runs belong to, for grants that hold for a session.
    pub fn session(mut self, session: impl Into<Arc<str>>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Names the workspace that runs work in, for grants that hold for a workspace.
    pub fn workspace(mut self, workspace: impl Into<Arc<str>>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }

    /// Lets grants expire after this time; otherwise they hold until they are revoked.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    /// Tells what is remembered about accesses that have to be asked about, and about those that only the mode allows.
    ///
    /// A grant of a tool by its name answers for its calls that declare no access, which is what was shown when it was given.
    pub(crate) async fn recall(
        &self,
        language: &RuleLanguage,
        scope: &CallScope,
        tool: &ToolSpec,
        asked: &[Option<&Access>],
        by_mode: &[Option<&Access>],
    ) -> Result<Remembered, StoreError> {
        if asked.is_empty() && by_mode.is_empty() {
            return Ok(Remembered::Nothing);
        }
        let held = self.store.holding(scope.agent(), &self.places(scope)).await?;
        // A rule that can no longer be read answers nothing.
        let held: Vec<(Arc<Grant>, Rule)> = held
            .into_iter()
            .filter_map(|grant| language.rule(&grant.rule).ok().map(|rule| (grant, rule)))
            .collect();
        let answers = |rule: &Rule, access: Option<&Access>| access.is_none() || !rule.chooses_tools();
        let never = held.iter().find(|(grant, rule)| {
            let touches = |access: Option<&Access>| answers(rule, access) && rule.touches(tool, access);
            grant.decision == Decision::Deny && asked.iter().chain(by_mode).copied().any(touches)
        });
        if let Some((grant, _)) = never {
            return Ok(Remembered::Never(Arc::clone(grant)));
        }
        if asked.is_empty() {
            return Ok(Remembered::Nothing);
        }
        let granting = |access: Option<&Access>| {
            let mut grants = held.iter().filter(|(grant, _)| grant.decision == Decision::Allow);
            grants
                .find(|(_, rule)| answers(rule, access) && rule.contains(tool, access))
                .map(|(grant, _)| Arc::clone(grant))
        };
        let granted: Option<Vec<Arc<Grant>>> = asked.iter().copied().map(granting).collect();
        Ok(granted.map_or(Remembered::Nothing, Remembered::Granted))
    }

    /// Remembers an answer about unmet accesses: exactly the rules that were shown, for the agent that asked.
    ///
    /// What has no rule is not remembered.
    pub(crate) async fn remember(
        &self,
        decision: Decision,
        term: GrantTerm,
        scope: &CallScope,
        unmet: &[Unmet],
    ) -> Result<(), StoreError> {
        let place = self.place(term, scope);
        for rule in unmet.iter().filter_map(|unmet| unmet.grant.as_deref()) {
            let mut grant = Grant::new(decision, rule, scope.agent().map(str::to_owned), place.clone());
            grant.expires_at_ms =
                self.lifetime.map(|lifetime| now_ms().saturating_add(milliseconds(lifetime)));
            self.store.add(&grant).await?;
        }
        Ok(())
    }

    /// The place of a term; where there is no such place, the nearest narrower one.
    fn place(&self, term: GrantTerm, scope: &CallScope) -> GrantPlace {
        let run = || GrantPlace::Run(scope.run().clone());
        let session = || self.session.as_deref().map(|name| GrantPlace::Session(name.to_owned()));
        let workspace = || self.workspace.as_deref().map(|name| GrantPlace::Workspace(name.to_owned()));
        match term {
            GrantTerm::Run => run(),
            GrantTerm::Session => session().unwrap_or_else(run),
            GrantTerm::Workspace => workspace().or_else(session).unwrap_or_else(run),
            GrantTerm::Always => GrantPlace::Always,
        }
    }

    fn places(&self, scope: &CallScope) -> Vec<GrantPlace> {
        let terms = [GrantTerm::Run, GrantTerm::Session, GrantTerm::Workspace, GrantTerm::Always];
        let mut places: Vec<GrantPlace> = terms.into_iter().map(|term| self.place(term, scope)).collect();
        places.dedup();
        places
    }
}

impl fmt::Debug for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grants")
            .field("session", &self.session)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}
