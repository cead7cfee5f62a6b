use super::Finding;
use std::pin::Pin;
use std::time::Duration;
use tokio::task::{JoinError, JoinHandle, spawn, spawn_blocking};
use tokio::time::timeout;

/// Is one look at something.
pub(super) enum Look {
    /// Reads files, which may block.
    Blocking(Box<dyn FnOnce() -> Vec<Finding> + Send>),
    /// Waits for others.
    Waiting(Pin<Box<dyn Future<Output = Vec<Finding>> + Send>>),
}

/// Holds looks that are all taken at once, each by itself and for so long at most.
#[derive(Default)]
pub(super) struct Looks(Vec<(&'static str, JoinHandle<Vec<Finding>>)>);

impl Looks {
    /// Begins to look.
    pub(super) fn add(&mut self, about: &'static str, time: Duration, look: Look) {
        let bounded = spawn(async move {
            let looking = match look {
                Look::Blocking(look) => spawn_blocking(look),
                Look::Waiting(look) => spawn(look),
            };
            let end = looking.abort_handle();
            match timeout(time, looking).await {
                Ok(Ok(findings)) => findings,
                Ok(Err(error)) => vec![broken(about, error)],
                Err(_) => {
                    // One that blocks goes with the process.
                    end.abort();
                    vec![late(about, time)]
                }
            }
        });
        self.0.push((about, bounded));
    }

    /// Waits for all, and gives what was found in the order in which they were begun.
    pub(super) async fn all(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (about, look) in self.0 {
            match look.await {
                Ok(found) => findings.extend(found),
                Err(error) => findings.push(broken(about, error)),
            }
        }
        findings
    }
}

fn late(about: &str, time: Duration) -> Finding {
    let text = format!("it was not looked at within {} s", time.as_secs_f64());
    Finding::error(about, text).next("see whether a disk or a network that it is on hangs, then try again")
}

fn broken(about: &str, error: JoinError) -> Finding {
    let finding = Finding::error(about, "looking at it failed, which is a fault of haft's own");
    let said = error.try_into_panic().ok().and_then(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned())
    });
    let finding = match said {
        Some(said) => finding.because(said),
        None => finding,
    };
    finding.next("report it with what is said here; the other findings hold")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[tokio::test]
    async fn one_look_that_hangs_or_fails_does_not_keep_the_others_from_being_told() {
        let (held, hangs) = channel::<()>();
        let mut looks = Looks::default();
        let found = |text: &'static str| vec![Finding::ok("x", text)];
        looks.add("first", Duration::from_mins(1), Look::Blocking(Box::new(move || found("first"))));
        looks.add(
            "blocks",
            Duration::from_millis(50),
            Look::Blocking(Box::new(move || {
                let _ = hangs.recv();
                Vec::new()
            })),
        );
        looks.add("waits", Duration::from_millis(60), Look::Waiting(Box::pin(std::future::pending())));
        looks.add("fails", Duration::from_mins(1), Look::Waiting(Box::pin(async { panic!("out of order") })));
        looks.add("last", Duration::from_mins(1), Look::Waiting(Box::pin(async move { found("last") })));
        let told =
            looks.all().await.into_iter().map(|finding| (finding.about, finding.text, finding.because));
        let told: Vec<_> = told.collect();
        let expected = [
            ("x", "first", vec![]),
            ("blocks", "it was not looked at within 0.05 s", vec![]),
            ("waits", "it was not looked at within 0.06 s", vec![]),
            (
                "fails",
                "looking at it failed, which is a fault of haft's own",
                vec!["out of order".to_owned()],
            ),
            ("x", "last", vec![]),
        ];
        let expected = expected.map(|(about, text, because)| (about.to_owned(), text.to_owned(), because));
        assert_eq!(told, expected);
        drop(held);
    }
}
