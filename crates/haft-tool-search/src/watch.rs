#[cfg(test)]
mod hook;

#[cfg(test)]
pub(crate) use hook::Hook;

use crate::start::{denies_way_to, is_denied};
use haft_core::ToolError;
use haft_tools_core::{Access, CallContext};
use haft_workdir::{EntryKind, UnreadRules, WalkListing, WorkdirPath};
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// After how many files people are told how far a search has got.
const PROGRESS_FILES: u64 = 1000;

/// Longer than any call.
const FAR_AWAY: Duration = Duration::from_hours(24 * 365);

/// Watches over a running search: says whether it should stop and what it must pass by, and is told how far it got.
///
/// All threads of a search ask it, before each entry and each piece of a file.
pub(crate) trait Watch: Sync {
    /// Tells whether nobody wants the result any more.
    fn is_cancelled(&self) -> bool;

    /// Tells whether the search has taken as long as it may.
    fn is_out_of_time(&self) -> bool;

    /// Tells whether anything may be denied to the search.
    fn sifts(&self) -> bool {
        false
    }

    /// Tells whether an entry, or where a link leads, is denied to the search; of a directory, all that is in it.
    fn denies(&self, _path: &WorkdirPath, _kind: EntryKind) -> bool {
        false
    }

    /// Tells it of what was not met in a directory that was itself let pass.
    fn denies_way_to(&self, path: &WorkdirPath, kind: EntryKind) -> bool {
        denies_way_to(path, kind, |path, kind| self.denies(path, kind))
    }

    /// Says which ignore files in a directory that is searched, and above it, are denied to the search and do not count for it.
    fn unread(&self, _directory: &WorkdirPath) -> UnreadRules {
        UnreadRules::default()
    }

    /// Hears that so many files were looked at so far; each number once, but not always in order.
    fn looked_at(&self, files: u64);
}

/// Says why a search stops before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Nobody wants the result any more.
    Cancelled,
    /// It has taken as long as it may, and what was found is the result.
    OutOfTime,
    /// What was found is all that was asked for.
    Enough,
}

/// Says that a search ended because nobody wants its result any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cancelled;

impl From<Cancelled> for ToolError {
    fn from(_: Cancelled) -> Self {
        Self::cancelled(
            "the search was cancelled before it was done; search again, in a smaller directory if it took long",
        )
    }
}

/// What the threads of one search share to know when to stop.
pub(crate) struct Halt<'a> {
    watch: &'a dyn Watch,
    enough: AtomicBool,
    looked_at: AtomicU64,
}

impl<'a> Halt<'a> {
    pub(crate) fn new(watch: &'a dyn Watch) -> Self {
        Self { watch, enough: AtomicBool::new(false), looked_at: AtomicU64::new(0) }
    }

    /// Says that nothing more is needed.
    pub(crate) fn set_enough(&self) {
        self.enough.store(true, Ordering::Relaxed);
    }

    /// Tells whether to stop, and why.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.watch.is_cancelled() {
            Err(Stop::Cancelled)
        } else if self.enough.load(Ordering::Relaxed) {
            Err(Stop::Enough)
        } else if self.watch.is_out_of_time() {
            Err(Stop::OutOfTime)
        } else {
            Ok(())
        }
    }

    /// Takes out of a directory what is denied to the search.
    pub(crate) fn sift(&self, listing: &mut WalkListing) {
        if self.watch.sifts() {
            listing.hold_back(|path, kind| self.watch.denies(path, kind));
        }
    }

    /// Tells whether it is denied to look at where a link leads.
    pub(crate) fn denies(&self, path: &WorkdirPath, kind: EntryKind) -> bool {
        self.watch.denies(path, kind)
    }

    /// Counts files that were looked at.
    pub(crate) fn look_at(&self, files: usize) {
        let files = files as u64;
        let before = self.looked_at.fetch_add(files, Ordering::Relaxed);
        (before + 1..=before + files).for_each(|number| self.watch.looked_at(number));
    }
}

/// Watches on behalf of a call.
struct CallWatch {
    cx: CallContext,
    /// A token would be locked each time it is asked.
    stop: Arc<AtomicBool>,
    until: Instant,
    /// Whether a rule denies something of what is searched. Where none does, nothing is asked for each entry.
    sifts: bool,
}

impl Watch for CallWatch {
    fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn is_out_of_time(&self) -> bool {
        Instant::now() >= self.until
    }

    fn sifts(&self) -> bool {
        self.sifts
    }

    fn denies(&self, path: &WorkdirPath, kind: EntryKind) -> bool {
        is_denied(&self.cx, path, kind)
    }

    fn unread(&self, directory: &WorkdirPath) -> UnreadRules {
        let (cx, sifts, directory) = (self.cx.clone(), self.sifts, directory.clone());
        UnreadRules::new(move |file| {
            let may_be_denied = sifts || !file.starts_with(&directory);
            may_be_denied && denies_way_to(file, EntryKind::File, |path, kind| is_denied(&cx, path, kind))
        })
    }

    fn looked_at(&self, files: u64) {
        if files.is_multiple_of(PROGRESS_FILES) {
            self.cx.progress(format!("looked at {files} files"));
        }
    }
}

/// Tells a search to stop, at the latest when nobody waits for it any more.
struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    fn tell(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.tell();
    }
}

/// Runs a search on a blocking thread; it is told to stop when the call is cancelled or this future is dropped.
///
/// It may take so long as `deadline` says, from now on, and looks at what is `searched` but for what is denied.
pub(crate) async fn run_blocking<T: Send + 'static>(
    cx: CallContext,
    deadline: Duration,
    searched: impl IntoIterator<Item = Access>,
    search: impl FnOnce(&dyn Watch) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stop = StopOnDrop(Arc::default());
    let (stopped, token) = (Arc::clone(&stop.0), cx.cancellation().clone());
    let now = Instant::now();
    // What is too far away to be told is never.
    let until = now.checked_add(deadline).unwrap_or_else(|| now + FAR_AWAY);
    let sifts = searched.into_iter().any(|access| cx.denies(&access));
    let search = move || search(&CallWatch { cx, stop: stopped, until, sifts });
    let mut task = tokio::task::spawn_blocking(search);
    let mut cancelled = pin!(token.cancelled());
    let mut is_told = false;
    let ended = poll_fn(|context| {
        if !is_told && cancelled.as_mut().poll(context).is_ready() {
            is_told = true;
            stop.tell();
        }
        Pin::new(&mut task).poll(context)
    });
    match ended.await {
        Ok(result) => result,
        // The executor answers for a tool that breaks.
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // Only a runtime that is shutting down gives the task up.
        Err(_) => Err(Cancelled.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_tools_core::CallScope;
    use std::sync::mpsc;

    fn context() -> CallContext {
        CallContext::detached("c1".parse().unwrap(), CallScope::new("run-1".parse().unwrap()))
    }

    /// Starts a search that only ends when it is told to, and sends whether it was.
    fn endless(cx: CallContext) -> (impl Future<Output = Result<(), ToolError>>, mpsc::Receiver<()>) {
        let (sender, receiver) = mpsc::channel();
        let search = move |watch: &dyn Watch| {
            while !watch.is_cancelled() {
                std::thread::yield_now();
            }
            sender.send(()).unwrap();
            Err(Cancelled.into())
        };
        (run_blocking(cx, Duration::MAX, [], search), receiver)
    }

    #[tokio::test]
    async fn a_search_ends_when_its_call_is_cancelled() {
        let cx = context();
        let (search, _ended) = endless(cx.clone());
        cx.cancellation().cancel();
        assert_eq!(search.await.unwrap_err().kind(), haft_core::ToolErrorKind::Cancelled);
    }

    #[tokio::test]
    async fn a_search_without_time_is_told_so_and_gives_what_it_has() {
        let search = |watch: &dyn Watch| Ok((watch.is_cancelled(), watch.is_out_of_time()));
        assert_eq!(run_blocking(context(), Duration::ZERO, [], search).await.unwrap(), (false, true));
    }

    #[tokio::test]
    async fn a_search_ends_when_nobody_waits_for_it() {
        let (search, ended) = endless(context());
        let mut search = Box::pin(search);
        let waker = std::task::Waker::noop();
        assert!(search.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        drop(search);
        ended.recv().unwrap();
    }
}
