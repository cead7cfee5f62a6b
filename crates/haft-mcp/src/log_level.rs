use std::fmt;

/// Says how important a message of a log is, as RFC 5424 does; the least important first.
///
/// ```
/// use haft_mcp::LogLevel;
///
/// let told = [LogLevel::Debug, LogLevel::Warning, LogLevel::Alert];
/// let shown: Vec<&str> = told.into_iter().filter(|level| *level >= LogLevel::Notice).map(LogLevel::as_str).collect();
/// assert_eq!(shown, ["warning", "alert"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Each step of the way.
    Debug,
    /// What goes on.
    Info,
    /// What is out of the ordinary.
    Notice,
    /// What may become an error.
    Warning,
    /// What did not work.
    Error,
    /// What keeps a part of the server from working.
    Critical,
    /// What somebody has to do something about at once.
    Alert,
    /// What keeps the server from working.
    Emergency,
}

impl LogLevel {
    /// All of them, the least important first.
    #[cfg(feature = "client")]
    pub(crate) const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// Its name in the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
