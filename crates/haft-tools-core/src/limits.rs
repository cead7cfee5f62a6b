use crate::events::RateLimit;
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
    /// How long a call may run without telling, by an update or progress, that it gets on; without limit by default.
    pub idle_timeout: Option<Duration>,
    /// How long a call that was told to stop may take to do so before it is abandoned; 2 s by default.
    pub grace: Duration,
    /// How many bytes of text and JSON a reply may have whose tool leaves it to the executor to bound it; 32 KiB by default.
    ///
    /// The addresses and names of documents may have 32 KiB beside it. What says that something was cut comes on top.
    pub output_bytes: usize,
    /// How many bytes of text and JSON the reply of a tool may have that [bounds its replies](crate::Tool::bounds_replies)
    /// itself; 66 KiB by default, and never less than [`output_bytes`](Self::output_bytes).
    ///
    /// Such a tool leaves out what is too much where a person would, and says how to go on there.
    pub bounded_output_bytes: usize,
    /// How many lines of text a reply may have; 2,000 by default.
    ///
    /// What is over it by less than a 256th is let pass: so much may stand around the lines that a tool bounds itself.
    pub output_lines: usize,
    /// How many bytes a line of text may have; 2,000 by default. JSON parts are on one line, and are not bound by it.
    ///
    /// A line that is over it by 64 bytes at most is let pass: the note on a cut would take as much.
    pub line_bytes: usize,
    /// How many bytes of images, sounds and other binary documents a reply may have; 5 MiB by default, which is what
    /// Anthropic's API takes of one image. Images, documents and links together are 100 at most. What is over it is left
    /// out and not kept: stores of outputs take text.
    pub media_bytes: usize,
    /// How many bytes the result as data, and what is told to the host alone, may each have as JSON; 1 MiB by default.
    ///
    /// A result that is over it is stored. What is told to the host is not, since the model could read it there: it is
    /// replaced by a note on its size, and the reply's truncation counts it.
    pub data_bytes: usize,
    /// How deep calls made by tools may nest; 8 by default.
    pub nesting: u32,
    /// How many bytes of text a call's arguments may have, names of members included; 16 MiB by default.
    pub input_bytes: usize,
    /// How long after an update of a call its next one is not shown; 50 ms by default.
    pub update_interval: Duration,
    /// How long an approval of a call that was left to wait counts; seven days by default, and for ever if `None`.
    pub approval_lifetime: Option<Duration>,
    /// How a call is tried again that failed, may be repeated, and could succeed then.
    pub retries: ToolRetries,
}

/// Bounds what one tool's calls may take, where that differs from [`Limits`].
///
/// What is `None` is as for all tools. A call that wishes for a shorter time has it, and none has a longer one.
///
/// ```
/// use haft_tools_core::{LocalExecutor, ToolLimits, ToolRegistry};
/// use std::time::Duration;
///
/// let builds = ToolLimits { timeout: Some(Duration::from_mins(20)), ..ToolLimits::default() };
/// let executor = LocalExecutor::builder(ToolRegistry::new()).tool_limits("bash".parse()?, builds).build();
/// # drop(executor);
/// # Ok::<(), haft_tools_core::SelectorError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolLimits {
    /// How long a call may run, whatever its tool asks for; the ceiling for all calls still holds.
    pub timeout: Option<Duration>,
    /// How long a call may run without telling that it gets on.
    pub idle_timeout: Option<Duration>,
    /// How many bytes of text and JSON a reply may have, also of a tool that bounds its replies itself.
    pub output_bytes: Option<usize>,
    /// How many lines of text a reply may have.
    pub output_lines: Option<usize>,
}

impl Limits {
    /// The same for tools that bound their replies themselves.
    pub(crate) fn for_bounded(&self) -> Self {
        Self { output_bytes: self.output_bytes.max(self.bounded_output_bytes), ..self.clone() }
    }
}

impl ToolLimits {
    /// Completes these limits with those of all tools.
    pub(crate) fn within(self, all: &Limits) -> Limits {
        Limits {
            timeout: self.timeout.unwrap_or(all.timeout),
            timeout_ceiling: self.timeout.unwrap_or(all.timeout_ceiling).min(all.timeout_ceiling),
            idle_timeout: self.idle_timeout.or(all.idle_timeout),
            output_bytes: self.output_bytes.unwrap_or(all.output_bytes),
            bounded_output_bytes: self.output_bytes.unwrap_or(all.bounded_output_bytes),
            output_lines: self.output_lines.unwrap_or(all.output_lines),
            ..all.clone()
        }
    }
}

/// Bounds how often and when a call is tried again.
///
/// A call is tried again only if its tool [says](crate::Prepared::repeatable) that doing it twice is doing it once, the
/// error [says](haft_core::ToolError::can_retry) that this can help, and it would touch the same things again. The time
/// for the whole call goes on meanwhile.
///
/// ```
/// use haft_tools_core::{Limits, ToolRetries};
///
/// let never = Limits { retries: ToolRetries { most: 0, ..ToolRetries::default() }, ..Limits::default() };
/// assert_eq!(never.retries.most, 0);
/// assert_eq!(Limits::default().retries.most, 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRetries {
    /// How often, after the first time; 2 by default.
    pub most: u32,
    /// How long to wait before the first, where the error does not say; doubled for each further one; 200 ms by default.
    pub delay: Duration,
    /// How long to wait at most; an error that asks for more is not tried again; 5 s by default.
    pub longest_delay: Duration,
}

impl Default for ToolRetries {
    fn default() -> Self {
        Self { most: 2, delay: Duration::from_millis(200), longest_delay: Duration::from_secs(5) }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(2),
            timeout_ceiling: Duration::from_hours(1),
            idle_timeout: None,
            grace: Duration::from_secs(2),
            output_bytes: 32 * 1024,
            bounded_output_bytes: 66 * 1024,
            output_lines: 2_000,
            line_bytes: 2_000,
            media_bytes: 5 << 20,
            data_bytes: 1 << 20,
            nesting: 8,
            input_bytes: 16 << 20,
            update_interval: RateLimit::DEFAULT_INTERVAL,
            approval_lifetime: Some(Duration::from_hours(7 * 24)),
            retries: ToolRetries::default(),
        }
    }
}

impl ToolRetries {
    /// Says how long to wait before the next attempt, after so many that failed; `None` if there is to be none.
    pub(crate) fn after(&self, failed: u32, wished: Option<Duration>) -> Option<Duration> {
        if failed > self.most {
            return None;
        }
        let doubled = self.delay.saturating_mul(1_u32.checked_shl(failed - 1).unwrap_or(u32::MAX));
        match wished {
            Some(delay) => (delay <= self.longest_delay).then_some(delay),
            None => Some(doubled.min(self.longest_delay)),
        }
    }
}
