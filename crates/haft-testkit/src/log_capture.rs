use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::Level;
use tracing::subscriber::set_default;

/// Keeps all that is logged, to tell that a secret is not.
///
/// ```
/// use haft_testkit::LogCapture;
///
/// let log = LogCapture::default();
/// let _listening = log.listen();
/// tracing::trace!("something is logged");
/// assert!(log.text().contains("something is logged"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct LogCapture(Arc<Mutex<Vec<u8>>>);

impl LogCapture {
    /// Keeps what this thread logs, of every level, until the guard is dropped.
    #[must_use = "nothing is kept once it is dropped"]
    pub fn listen(&self) -> impl Sized + use<> {
        let log = self.clone();
        let subscriber =
            tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(move || log.clone()).finish();
        set_default(subscriber)
    }

    /// Keeps another line, for what is logged in another way.
    pub fn push(&self, line: &str) {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }

    /// What was logged so far; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl io::Write for LogCapture {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
