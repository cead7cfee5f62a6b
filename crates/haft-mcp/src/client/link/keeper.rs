use super::framed::Parting;
use super::{Ending, tail::Tail};
use crate::client::session::Farewell;
use haft_process::{Alongside, ProcessTree};
use std::os::unix::process::ExitStatusExt as _;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How much of the end of stderr is kept, in bytes.
const MOST_STDERR: usize = 64 * 1024;

/// How long a program may take to end by itself once its standard input is closed.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long what is told to end may take to clean up.
const GRACE: Duration = Duration::from_secs(1);

/// The same, where nobody can wait.
const SHORT_GRACE: Duration = Duration::from_millis(100);

/// How long what a program has written is waited for after it has ended, if another process holds its outputs.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Keeps the processes of one server: sees them end, and ends them.
///
/// Dropped, it kills them.
pub(super) struct Keeper {
    orders: Arc<Orders>,
    /// Holds the one task that does it.
    _task: JoinSet<()>,
}

/// Is what a keeper is told.
#[derive(Default)]
struct Orders {
    is_hung_up: CancellationToken,
    parting: OnceLock<Parting>,
}

impl Keeper {
    /// Keeps the processes until they have ended, which is then said.
    pub(super) fn new(processes: ProcessTree, stderr: Receiver, ending: Arc<Ending>) -> Self {
        let orders = Arc::<Orders>::default();
        let mut task = JoinSet::new();
        task.spawn(keep(processes, stderr, orders.clone(), ending));
        Self { orders, _task: task }
    }

    /// Says that nothing more is read or written; what is left then ends.
    pub(super) fn hang_up(&self, parting: Parting) {
        // Who hung up first did.
        let _ = self.orders.parting.set(parting);
        self.orders.is_hung_up.cancel();
    }
}

async fn keep(mut processes: ProcessTree, stderr: Receiver, orders: Arc<Orders>, ending: Arc<Ending>) {
    let tail = Mutex::new(Tail::new(MOST_STDERR));
    let draining = pin!(drain(stderr, &tail));
    let mut drain = Alongside::new(draining);

    let hung_up = &orders.is_hung_up;
    let ended_first = drain
        .during(async {
            tokio::select! {
                () = processes.exited() => true,
                () = hung_up.cancelled() => false,
            }
        })
        .await;
    let grace = if ending.hurry().is_cancelled() { SHORT_GRACE } else { GRACE };
    let is_ended = ended_first || drain.during(ends_by_itself(&mut processes, &ending)).await;
    if ended_first {
        // Its last answers may still be unread.
        let _ = drain.during(timeout(LAST_WORDS, hung_up.cancelled())).await;
    }
    drain.during(processes.end(grace)).await;
    let status = processes.reap();
    processes.let_go();
    drain.during_at_most(LAST_WORDS).await;

    let how = match orders.parting.get() {
        // Whether it was faster than that says nothing about it.
        Some(Parting::ByHost) if ending.hurry().is_cancelled() => "it was ended".to_owned(),
        Some(parting) if !is_ended => format!("{parting}, did not end by itself, and was ended"),
        Some(parting @ Parting::ByHost) if !ended_first => parting.to_string(),
        _ => in_words(status),
    };
    let stderr = tail.lock().unwrap_or_else(PoisonError::into_inner).text();
    ending.finish(Farewell { how, stderr });
}

/// Waits for the program to end because nobody speaks to it any more; tells whether it did.
async fn ends_by_itself(processes: &mut ProcessTree, ending: &Ending) -> bool {
    tokio::select! {
        () = processes.exited() => true,
        () = async {
            tokio::select! {
                () = sleep(PATIENCE) => {}
                () = ending.hurry().cancelled() => {}
            }
        } => false,
    }
}

fn in_words(status: Option<ExitStatus>) -> String {
    let code = status.and_then(|status| status.code()).map(|code| format!("it exited with code {code}"));
    let signal = || Some(format!("it was ended by the signal {}", status?.signal()?));
    code.or_else(signal).unwrap_or_else(|| "it ended in a way that was not seen".to_owned())
}

/// Takes what a program writes to its standard error until nobody can write any more.
async fn drain(mut from: Receiver, tail: &Mutex<Tail>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        tail.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
    }
}
