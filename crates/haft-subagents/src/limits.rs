use std::time::Duration;

/// Bounds how many runs the runs of one tree may start, and how many of them are at work at once.
///
/// A tree is a run that no other run started, with all that are below it.
///
/// ```
/// use haft_subagents::SpawnLimits;
///
/// let limits = SpawnLimits { depth: 2, ..SpawnLimits::default() };
/// assert_eq!(limits.width, 4);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnLimits {
    /// How many runs may lie one below the other, the first one not counted; 1 by default, so that an agent that was
    /// delegated to does not delegate (as `agents.max_depth` of Codex has it).
    ///
    /// With 0 nothing can be delegated.
    pub depth: u32,
    /// How many runs of a tree may be at work at once; 4 by default, and at least 1.
    ///
    /// One that waits for those it has started, or for a person, is not at work.
    pub width: usize,
    /// How many tasks one call of `delegate` may have; 16 by default.
    pub tasks: usize,
    /// How many runs one run may start in all; 64 by default.
    pub children: usize,
    /// How long a run may be at work that has no limit of its own; 30 minutes by default.
    pub wall_time: Duration,
}

impl Default for SpawnLimits {
    fn default() -> Self {
        Self { depth: 1, width: 4, tasks: 16, children: 64, wall_time: Duration::from_mins(30) }
    }
}
