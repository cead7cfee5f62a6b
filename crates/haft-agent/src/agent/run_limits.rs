use haft_tools_core::CallScope;

/// Limits the runs that are started below a [scope](CallScope::extension) that has this.
///
/// Wherever an [`Agent`](crate::Agent) begins a run or goes on with one, it looks at the scope of the run and at those above
/// it: the strictest limit counts, so none below can take it away. A run outside the limits ends as
/// [failed](crate::RunEnd::Failed) before a model is asked or a call is made.
///
/// ```
/// use haft_agent::RunLimits;
/// use haft_tools_core::CallScope;
///
/// let scope = CallScope::new("run-1".parse()?).with_extension(RunLimits::new().depth(1));
/// assert_eq!(RunLimits::of(&scope.child("run-2".parse()?)).depth, Some(1));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RunLimits {
    /// How many runs may be above a run, as [`CallScope::depth`] counts them; any number if `None`.
    pub depth: Option<u32>,
}

impl RunLimits {
    /// Limits nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits how many runs may be above a run: with 0 no run may start another.
    pub fn depth(mut self, depth: u32) -> Self {
        self.depth = Some(depth);
        self
    }

    /// The strictest limits of a scope and those above it.
    pub fn of(scope: &CallScope) -> Self {
        let limits = scope.chain().filter_map(CallScope::extension::<Self>);
        Self { depth: limits.filter_map(|limits| limits.depth).min() }
    }

    /// Says why a run of this scope may not be at work, if it may not.
    pub(super) fn refuse(scope: &CallScope) -> Option<String> {
        let (depth, most) = (scope.depth(), Self::of(scope).depth?);
        (depth > most).then(|| {
            format!("this run has {depth} runs above it, and at most {most} are allowed; have a run above it do the work")
        })
    }
}
