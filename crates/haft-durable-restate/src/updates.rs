//! What running calls tell of themselves, on its way to whoever listens: the worker's side.
//!
//! A workflow can take down nothing while one of its steps runs, so the worker tells the engine from outside, as any client
//! would. What does not arrive is lost: the reply has all that matters.

use crate::ingress::Ingress;
use crate::wire::{HEAR, News, Telling};
use haft_core::{CallId, Event, EventKind, Progress};
use haft_durable::{CallCourse, Pool};
use haft_tools_core::Observer;
use restate_sdk::ingress::{Client, RequestTarget};
use restate_sdk::serde::Json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// How long news is gathered at least and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(250), Duration::from_mins(1)];

/// How much longer a call has run than news of it is gathered, within those bounds: some 270 are told in the first 40 minutes, and
/// then one a minute.
const ONE_OF: u32 = 40;

/// How long is waited after nobody has listened, for the first time and at most.
const UNHEARD: [Duration; 2] = [PAUSES[0], Duration::from_secs(10)];

/// The most bytes of an output so far.
const MOST_TEXT: usize = 4 << 10;

/// Tells an engine what the calls of a worker tell of themselves.
#[derive(Clone)]
pub(crate) struct Updates(Client<Ingress>);

/// Does so for one round of a call.
pub(crate) struct CallUpdates {
    client: Client<Ingress>,
    target: RequestTarget,
    round: u32,
    newest: Arc<Newest>,
}

/// Holds what is not told yet.
struct Newest {
    call: CallId,
    /// All that was ever told, of which the newest counts, and whether some of it is new.
    news: Mutex<(News, bool)>,
    has_news: Notify,
}

impl Updates {
    pub(crate) fn through(client: Client<Ingress>) -> Self {
        Self(client)
    }

    pub(crate) fn of(&self, pool: &Pool, course: &CallCourse) -> CallUpdates {
        let request = course.request();
        CallUpdates {
            client: self.0.clone(),
            target: RequestTarget::workflow(pool.as_str(), request.key().to_string(), HEAR),
            round: course.round_key().round(),
            newest: Arc::new(Newest {
                call: request.call().id.clone(),
                news: Mutex::default(),
                has_news: Notify::new(),
            }),
        }
    }
}

impl CallUpdates {
    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.newest) as _
    }

    /// Tells what comes up while the work goes on, and no longer.
    pub(crate) async fn sent_while<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = work => done,
            never = self.send() => match never {},
        }
    }

    async fn send(&self) -> std::convert::Infallible {
        let began = Instant::now();
        let (mut number, mut unheard) = (0, UNHEARD[0]);
        loop {
            self.newest.has_news.notified().await;
            sleep((began.elapsed() / ONE_OF).clamp(PAUSES[0], PAUSES[1])).await;
            let Some(news) = self.newest.take() else { continue };
            if let Some(next) = self.tell(Telling { round: self.round, number, news }).await {
                (number, unheard) = (next, UNHEARD[0]);
            } else {
                self.newest.is_new_again();
                sleep(unheard).await;
                unheard = UNHEARD[1].min(unheard * 2);
            }
        }
    }

    /// Gives the number of the next news, if these were told.
    async fn tell(&self, telling: Telling) -> Option<u32> {
        let request = self.client.request::<_, Json<Option<u32>>>(self.target.clone(), Json(telling));
        let told = async { request.call().await?.into_body() };
        match told.await {
            Ok(next) => next.into_inner(),
            Err(error) => {
                tracing::debug!(error = &error as &dyn std::error::Error, "news of a call is lost");
                None
            }
        }
    }
}

impl Newest {
    fn change(&self, change: impl FnOnce(&mut News)) {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut news.0);
        news.1 = true;
        drop(news);
        self.has_news.notify_one();
    }

    /// Gives all that counts, if some of it was not given before.
    fn take(&self) -> Option<News> {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut news.1).then(|| news.0.clone())
    }

    fn is_new_again(&self) {
        self.change(|_| {});
    }
}

impl Observer for Newest {
    fn observe(&self, event: &Event) {
        // What calls that this one makes tell is theirs.
        if event.call.as_ref() != Some(&self.call) {
            return;
        }
        match &event.kind {
            EventKind::Progressed { progress } => self.change(|news| {
                let before = news.progress.take().unwrap_or_default();
                news.progress = Some(Progress {
                    message: progress.message.clone().or(before.message),
                    fraction: progress.fraction.or(before.fraction),
                });
            }),
            EventKind::Updated { output } => {
                let text = ending(&output.to_text());
                self.change(|news| news.output = Some(text));
            }
            _ => {}
        }
    }
}

/// Gives the end of a text, with a word where something is missing before it.
fn ending(text: &str) -> String {
    if text.len() <= MOST_TEXT {
        return text.to_owned();
    }
    let least = text.ceil_char_boundary(text.len() - MOST_TEXT);
    // At the beginning of a line, unless a line is longer than that.
    let from = text[least..].find('\n').map_or(least, |end| least + end + 1);
    let from = if from == text.len() { least } else { from };
    format!("[{from} bytes before this are not shown here]\n{}", &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_core::ToolOutput;

    #[test]
    fn the_end_of_a_long_text_is_told_in_whole_lines() {
        assert_eq!(ending("short"), "short");
        let lines = "a line of some length\n".repeat(1000);
        let told = ending(&lines);
        assert!(told.len() <= MOST_TEXT + 64, "{}", told.len());
        let (marker, rest) = told.split_once('\n').unwrap();
        assert!(rest.starts_with("a line"), "{rest}");
        assert_eq!(marker, format!("[{} bytes before this are not shown here]", lines.len() - rest.len()));
        let long = "ä".repeat(MOST_TEXT);
        assert!(ending(&long).ends_with("ää"));
        let ends = format!("{}\n", "x".repeat(2 * MOST_TEXT));
        assert!(ending(&ends).ends_with("xx\n"));
    }

    #[test]
    fn what_a_call_below_tells_is_not_its_own_and_the_newest_counts() {
        let newest = Newest { call: "c".parse().unwrap(), news: Mutex::default(), has_news: Notify::new() };
        let tell = |call: &str, kind| {
            let event = Event::new(0, 0, "r".parse().unwrap(), kind).with_call(call.parse().unwrap());
            newest.observe(&event);
        };
        let progressed = |message: &str, fraction| EventKind::Progressed {
            progress: Progress { message: (!message.is_empty()).then(|| message.to_owned()), fraction },
        };
        tell("below", progressed("not this", None));
        assert_eq!(newest.take(), None);
        tell("c", progressed("compiling", Some(0.1)));
        tell("c", progressed("", Some(0.5)));
        tell("c", EventKind::Updated { output: ToolOutput::text("one") });
        tell("c", EventKind::Updated { output: ToolOutput::text("one\ntwo") });
        let progress = Some(Progress { message: Some("compiling".to_owned()), fraction: Some(0.5) });
        let output = Some("one\ntwo".to_owned());
        assert_eq!(newest.take(), Some(News { progress, output }));
        assert_eq!(newest.take(), None);
        newest.is_new_again();
        assert!(newest.take().is_some());
    }
}
