use std::time::Duration;

/// Bounds what the calls of one executor may take.
///
/// ```
/// use haft_tools_core::Limits;
/// use std::time::Duration;
///
/// let limits = Limits { timeout: Duration::from_secs(10), ..Limits::default() };
/// assert_eq!(limits.output_bytes, 32 * 1024);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long a call may run when its tool does not ask for a time of its own; 120 s by default.
    pub timeout: Duration,
    /// How long a call may run whatever its tool asks for; one hour by default.
    pub timeout_ceiling: Duration,
    /// How long a call that was told to stop may take to do so before it is abandoned; 2 s by default.
    pub grace: Duration,
    /// How many bytes of text and JSON a reply may have; 32 KiB by default.
    pub output_bytes: usize,
    /// How deep calls made by tools may nest; 8 by default.
    pub nesting: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(2),
            timeout_ceiling: Duration::from_hours(1),
            grace: Duration::from_secs(2),
            output_bytes: 32 * 1024,
            nesting: 8,
        }
    }
}
