use crate::ModelError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Is told each time that a provider is asked again for the same turn, before any of its answer has come.
///
/// A model may wait for minutes where a service limits the rate of requests or is overloaded. Whoever waits for the turn
/// learns of it by the observer of the [request](crate::ModelRequest::on_retry), which an agent makes an event of; by default
/// nobody is told.
///
/// ```
/// use haft_model::{ModelError, RetryObserver};
/// use std::sync::mpsc;
/// use std::time::Duration;
///
/// let (tells, told) = mpsc::channel();
/// let observer = RetryObserver::new(move |error, pause| {
///     let _ = tells.send(format!("again in {} s: {error}", pause.as_secs()));
/// });
/// observer.asked_again(&ModelError::Truncated, Duration::from_secs(2));
/// assert_eq!(told.recv()?, "again in 2 s: the model's answer broke off before it was finished; ask again");
/// # Ok::<(), mpsc::RecvError>(())
/// ```
#[derive(Clone, Default)]
pub struct RetryObserver(Option<Arc<Tells>>);

type Tells = dyn Fn(&ModelError, Duration) + Send + Sync;

impl RetryObserver {
    /// Calls a function, where the model is asked: it must not block.
    pub fn new(tells: impl Fn(&ModelError, Duration) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tells)))
    }

    /// Says what went wrong, and how long is waited before the provider is asked again, unless that is cancelled. For what
    /// implements a [`Model`](crate::Model).
    pub fn asked_again(&self, error: &ModelError, pause: Duration) {
        if let Some(tells) = &self.0 {
            tells(error, pause);
        }
    }
}

/// All are equal: who is told is no part of what is asked.
impl PartialEq for RetryObserver {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for RetryObserver {}

impl fmt::Debug for RetryObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Some(..)" } else { "None" })
    }
}
