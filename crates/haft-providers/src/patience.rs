use std::time::Duration;

/// Says how long a model is waited for, and how often it is asked again.
///
/// A request is made again only as long as nothing of an answer has come, and only for what passes by itself: a limit of
/// rate, an overloaded or failing server, a connection that could not be made or that broke. What a service says by
/// `Retry-After` is waited for; where it says nothing, the wait begins at half a second and doubles up to eight, less up to
/// a quarter at random, as the libraries of OpenAI and Anthropic do it. Whoever waits is told by
/// [`ModelRequest::on_retry`](haft_model::ModelRequest::on_retry).
///
/// ```
/// use haft_providers::Patience;
/// use std::time::Duration;
///
/// let patience = Patience::default().retries(1).idle_timeout(Duration::from_secs(60));
/// assert_ne!(patience, Patience::default());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    pub(crate) retries: u32,
    pub(crate) delay: Duration,
    pub(crate) longest_delay: Duration,
    pub(crate) first_byte_timeout: Duration,
    pub(crate) idle_timeout: Duration,
}

impl Patience {
    /// How often a request is made again; 4 times by default.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// How long is waited before the first time that a service said nothing of waiting; 0.5 s by default.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// How long is waited at most; 60 s by default. A service that asks for more is not asked again, and its error says how
    /// long it wants to be left alone.
    pub fn longest_delay(mut self, delay: Duration) -> Self {
        self.longest_delay = delay;
        self
    }

    /// How long it may take until an answer begins; 600 s by default, as in OpenAI's and Anthropic's libraries.
    pub fn first_byte_timeout(mut self, within: Duration) -> Self {
        self.first_byte_timeout = within;
        self
    }

    /// How long an answer that has begun may stand still; 300 s by default. Whatever keeps a connection alive counts as going
    /// on.
    pub fn idle_timeout(mut self, within: Duration) -> Self {
        self.idle_timeout = within;
        self
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            retries: 4,
            delay: Duration::from_millis(500),
            longest_delay: Duration::from_mins(1),
            first_byte_timeout: Duration::from_mins(10),
            idle_timeout: Duration::from_mins(5),
        }
    }
}
