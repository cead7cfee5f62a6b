use std::time::Duration;

/// Bounds what one call of an operation takes.
///
/// ```
/// use haft_openapi::OperationLimits;
/// use std::time::Duration;
///
/// let limits = OperationLimits { idle_timeout: Duration::from_secs(5), ..OperationLimits::default() };
/// assert_eq!(limits.most_bytes, 8 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationLimits {
    /// How long the whole call may take; 2 minutes by default. The executor's ceiling still holds.
    pub timeout: Duration,
    /// How long it may take until the head of the reply is there; 30 s by default.
    pub first_byte_timeout: Duration,
    /// How long the reply may then stand still; 30 s by default.
    pub idle_timeout: Duration,
    /// How long a stream of events is listened to; 1 minute by default. What came until then is the reply.
    pub stream: Duration,
    /// The most bytes that are read of a reply, decompressed; 8 MiB by default. A text is cut there, and says so.
    pub most_bytes: usize,
    /// The most bytes of an error's body that a model is shown; 4 KiB by default.
    pub most_error_bytes: usize,
}

impl Default for OperationLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(2),
            first_byte_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(30),
            stream: Duration::from_mins(1),
            most_bytes: 8 << 20,
            most_error_bytes: 4 << 10,
        }
    }
}
