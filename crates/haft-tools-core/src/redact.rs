mod apply;
mod secrets;
mod stream;

pub use stream::RedactedStream;

use crate::rewrite;
use haft_core::{EventKind, Repair, ToolOutput, ToolReply};
use secrets::Secrets;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// What stands where a secret was.
const REDACTED: &str = "[redacted]";

/// The fewest bytes of a secret: shorter ones would be found in ordinary text everywhere.
const LEAST_BYTES: usize = 4;

/// The most bytes of a secret; a private key of 16,384 bits in PEM form has 13 KiB.
const MOST_BYTES: usize = 64 * 1024;

/// Replaces secrets that a host has registered by `[redacted]`, wherever they come up.
///
/// Cheap to clone; clones share the secrets, so one that is registered while calls run, such as a token that was just
/// fetched, is redacted from then on everywhere. Where secrets overlap, the one that begins first is replaced, and of
/// those that begin at the same place the longest. While none is registered, nothing is looked at.
///
/// Found are a secret as it is and as JSON writes it, also with slashes or all but ASCII escaped, with line ends of either
/// kind, and within a number; of one of several lines also each line by itself that is one word of at least 16 bytes, as those
/// of a private key are. One that is encoded in another way (base64, percent signs), cut in
/// pieces by other text, or within an image is not: a redactor is a net below careful tools, not in place of them.
///
/// ```
/// use haft_tools_core::Redactor;
///
/// let redactor = Redactor::new();
/// redactor.add("hunter2")?;
/// assert_eq!(redactor.redact("the password is hunter2!"), "the password is [redacted]!");
/// # Ok::<(), haft_tools_core::SecretError>(())
/// ```
#[derive(Clone, Default)]
pub struct Redactor(Arc<Registered>);

#[derive(Default)]
struct Registered {
    /// Tells without a lock that there is something to look for.
    any: AtomicBool,
    secrets: RwLock<Option<Arc<Secrets>>>,
}

/// Says why a text cannot be registered as a secret.
///
/// ```
/// use haft_tools_core::{Redactor, SecretError};
///
/// let redactor = Redactor::new();
/// assert_eq!(redactor.add("abc"), Err(SecretError::TooShort { bytes: 3 }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// It would be found in ordinary text everywhere.
    #[error("a secret has at least {LEAST_BYTES} bytes beside white space around it, not {bytes}")]
    TooShort {
        /// Its length in bytes, without the white space around it.
        bytes: usize,
    },
    /// It is longer than any key or token.
    #[error("a secret has at most {MOST_BYTES} bytes, not {bytes}")]
    TooLong {
        /// Its length in bytes, without the white space around it.
        bytes: usize,
    },
    /// All secrets together are more than can be looked for.
    #[error("there are too many secrets to look for all of them")]
    TooMany,
}

impl Redactor {
    /// Starts without secrets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a secret; white space around it is no part of it.
    ///
    /// Costs a pass over all secrets that are registered. One that is registered already changes nothing and costs little.
    ///
    /// # Errors
    ///
    /// When the secret has less than 4 bytes or more than 64 KiB, or when all together are too many.
    pub fn add(&self, secret: &str) -> Result<(), SecretError> {
        let secret = secret.trim();
        match secret.len() {
            bytes @ ..LEAST_BYTES => return Err(SecretError::TooShort { bytes }),
            bytes if bytes > MOST_BYTES => return Err(SecretError::TooLong { bytes }),
            _ => {}
        }
        // Most are added again and again, with each request that they are sent in.
        if self.secrets().is_some_and(|secrets| secrets.has(secret)) {
            return Ok(());
        }
        let mut secrets = self.0.secrets.write().unwrap_or_else(PoisonError::into_inner);
        *secrets = Some(Arc::new(Secrets::with(secrets.as_deref(), secret)?));
        self.0.any.store(true, Ordering::Release);
        Ok(())
    }

    /// Tells whether no secret is registered.
    pub fn is_empty(&self) -> bool {
        !self.0.any.load(Ordering::Acquire)
    }

    /// Replaces every secret in a text; borrows it where there is none.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.secrets() {
            Some(secrets) => secrets.redact(text),
            None => Cow::Borrowed(text),
        }
    }

    /// Replaces every secret in the strings and the names of a JSON value, and each number with one in it as a whole.
    ///
    /// Names that become the same are kept apart by a number: `[redacted]`, `[redacted] (2)`.
    pub fn redact_value(&self, value: &mut Value) {
        if let Some(secrets) = self.secrets() {
            rewrite::value(value, &*secrets);
        }
    }

    /// Replaces every secret in an output: in texts, JSON and addresses, in the structured result and in the details.
    ///
    /// A secret that is split over texts, documents included, that follow each other is found too; the first of them then says that it
    /// was there.
    pub fn redact_output(&self, output: &mut ToolOutput) {
        if let Some(secrets) = self.secrets() {
            apply::to_output(output, &secrets);
        }
    }

    /// Replaces every secret in a reply: in its output and in what it tells of repairs.
    pub fn redact_reply(&self, reply: &mut ToolReply) {
        if let Some(secrets) = self.secrets() {
            apply::to_reply(reply, &secrets);
        }
    }

    /// Gives at most so many bytes from the end of a text, without secrets.
    ///
    /// Costs no more than what is given and the longest secret, however long the text is, so it is for one that grows while
    /// its end is shown. A secret that is cut by where the tail begins is not in it, nor is a part of it.
    ///
    /// ```
    /// use haft_tools_core::Redactor;
    ///
    /// let redactor = Redactor::new();
    /// redactor.add("hunter2")?;
    /// assert_eq!(redactor.redact_tail("it is hunter2, as ever", 9), ", as ever");
    /// # Ok::<(), haft_tools_core::SecretError>(())
    /// ```
    pub fn redact_tail(&self, text: &str, most: usize) -> String {
        match self.secrets() {
            Some(secrets) => secrets.tail(text, most),
            None => text[text.ceil_char_boundary(text.len().saturating_sub(most))..].to_owned(),
        }
    }

    /// Replaces every secret in what is told of repairs.
    pub(crate) fn redact_repairs(&self, repairs: &mut [Repair]) {
        if let Some(secrets) = self.secrets() {
            apply::to_repairs(repairs, &secrets);
        }
    }

    /// Replaces every secret in what an event tells.
    ///
    /// Each event is looked at by itself; text that comes in pieces, such as what a model writes, goes through
    /// [`Self::stream`] first. What is emitted by [`Events`](crate::Events) goes through the redactors given to them.
    pub fn redact_event(&self, kind: &mut EventKind) {
        if let Some(secrets) = self.secrets() {
            apply::to_event(kind, &secrets);
        }
    }

    /// Starts to replace secrets in a text that comes in pieces.
    pub fn stream(&self) -> RedactedStream {
        RedactedStream::new([self.clone()])
    }

    /// Tells whether both share their secrets.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Tells whether it has no secrets, and nobody else can add one.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_empty() && Arc::strong_count(&self.0) == 1
    }

    fn secrets(&self) -> Option<Arc<Secrets>> {
        if self.is_empty() {
            return None;
        }
        self.0.secrets.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Tells only whether there are secrets.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Redactor(no secrets)" } else { "Redactor(secrets)" })
    }
}

#[cfg(test)]
mod tests;
