use std::time::Duration;

/// Bounds one request and its answer.
///
/// ```
/// use haft_http::{Exchange, Redirects};
/// use std::time::Duration;
///
/// let exchange = Exchange::default()
///     .first_byte(Duration::from_secs(5))
///     .most_bytes(1024)
///     .redirects(Redirects::SameOrigin(3));
/// # let _ = exchange;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    pub(crate) first_byte: Option<Duration>,
    pub(crate) most_bytes: Option<u64>,
    pub(crate) redirects: Redirects,
}

/// Says which redirects of an answer to `GET` or `HEAD` are followed; those of other requests never are.
///
/// Each step is held to the client's address policy, none leads from `https` to `http`, and what authenticates a request
/// is left out once another origin is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// None: the answer that redirects is the answer.
    Never,
    /// At most so many, and only to the scheme, host and port that were asked first.
    SameOrigin(u8),
    /// At most so many, wherever they lead.
    Anywhere(u8),
}

impl Exchange {
    /// How long it may take until the head of the answer is there, connecting included; 30 s by default.
    pub fn first_byte(mut self, within: Duration) -> Self {
        self.first_byte = Some(within);
        self
    }

    /// Waits for the head of the answer without end; for what is bounded by its caller.
    pub fn patient(mut self) -> Self {
        self.first_byte = None;
        self
    }

    /// How many bytes the body of the answer may have; 16 MiB by default.
    pub fn most_bytes(mut self, most: u64) -> Self {
        self.most_bytes = Some(most);
        self
    }

    /// Takes a body without end; for a stream of events, whose reader bounds each of them.
    pub fn endless(mut self) -> Self {
        self.most_bytes = None;
        self
    }

    /// Which redirects are followed; none by default.
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }
}

impl Default for Exchange {
    fn default() -> Self {
        Self {
            first_byte: Some(Duration::from_secs(30)),
            most_bytes: Some(16 * 1024 * 1024),
            redirects: Redirects::Never,
        }
    }
}
