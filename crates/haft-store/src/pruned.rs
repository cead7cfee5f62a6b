/// Counts what was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// Records of the journal.
    pub records: usize,
    /// Calls that nobody can go on with any more.
    pub pending: usize,
    /// Runs that have ended, or that nobody works on.
    pub runs: usize,
    /// Grants that have expired, or that held for one of these runs.
    pub grants: usize,
}
