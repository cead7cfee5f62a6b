use super::{REDACTED, Redactor};
use std::fmt;

/// Replaces secrets in a text that comes in pieces, also where one is split over several of them.
///
/// Holds back what could be the beginning of a secret, at most as much as the longest secret has, until it is known.
/// All that it gives, put together, is what [`Redactor::redact`] makes of the whole text. Without secrets every piece
/// is given back as it is.
///
/// ```
/// use haft_tools_core::Redactor;
///
/// let redactor = Redactor::new();
/// redactor.add("hunter2")?;
/// let mut stream = redactor.stream();
/// assert_eq!(stream.push("it is hun".to_owned()), "it is ");
/// assert_eq!(stream.push("ter2, as".to_owned()), "[redacted], as");
/// assert_eq!(stream.finish(), "");
/// # Ok::<(), haft_tools_core::SecretError>(())
/// ```
#[must_use = "what is held back is only given at the end"]
pub struct RedactedStream(Vec<Stage>);

/// Replaces the secrets of one redactor.
struct Stage {
    redactor: Redactor,
    held: String,
}

impl RedactedStream {
    /// Puts each piece through these redactors, one after the other.
    pub(crate) fn new(redactors: impl IntoIterator<Item = Redactor>) -> Self {
        Self(redactors.into_iter().map(|redactor| Stage { redactor, held: String::new() }).collect())
    }

    /// Takes the next piece and gives what is known to be free of secrets by now, which can be nothing.
    pub fn push(&mut self, piece: String) -> String {
        self.0.iter_mut().fold(piece, |piece, stage| stage.push(piece))
    }

    /// Gives what was held back, now that nothing follows.
    pub fn finish(self) -> String {
        self.0.into_iter().fold(String::new(), |rest, mut stage| {
            let mut given = stage.push(rest);
            given.push_str(&stage.redactor.redact(&stage.held));
            given
        })
    }
}

impl Stage {
    fn push(&mut self, piece: String) -> String {
        let Some(secrets) = self.redactor.secrets() else { return piece };
        let text = if self.held.is_empty() { piece } else { std::mem::take(&mut self.held) + &piece };
        let (mut given, mut done) = (String::new(), 0);
        let mut unfinished = secrets.unfinished(&text, 0);
        // A secret before what is unfinished is whole: none begins before it, or with it and is longer, that can still come.
        while let Some(found) = secrets.find(&text, done).filter(|found| found.start < unfinished) {
            given.push_str(&text[done..found.start]);
            given.push_str(REDACTED);
            done = found.end;
            if done > unfinished {
                unfinished = secrets.unfinished(&text, done);
            }
        }
        if done == 0 && unfinished == text.len() {
            return text;
        }
        given.push_str(&text[done..unfinished]);
        self.held.push_str(&text[unfinished..]);
        given
    }
}

/// Does not show what is held back.
impl fmt::Debug for RedactedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held: usize = self.0.iter().map(|stage| stage.held.len()).sum();
        write!(f, "RedactedStream({held} bytes held back)")
    }
}
