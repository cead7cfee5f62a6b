use std::sync::Arc;
use std::time::Duration;

use haft_process::ProcessSignal;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Job;
use crate::report::Ending;
use crate::running::{DRAIN, Running};
use crate::withheld;

/// How often is looked whether what a script left behind has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What a job waits for.
enum Next {
    Stop,
    Signal(ProcessSignal),
    Exited,
    Look,
}

/// Takes what a job prints until everything that came of it has ended, or it is told to end.
pub(super) async fn drive(
    running: Running,
    job: Arc<Job>,
    mut ending: Option<Ending>,
    mut signals: Receiver<ProcessSignal>,
    run: CancellationToken,
    most: Duration,
) {
    let Running { mut processes, mut output, mut confined, started, environment, .. } = running;
    let deadline = Instant::now() + most;
    let mut look = Duration::ZERO;
    loop {
        let next = output.collect_until(async {
            tokio::select! {
                biased;
                () = run.cancelled() => Next::Stop,
                () = job.stopped() => Next::Stop,
                () = sleep_until(deadline) => Next::Stop,
                Some(signal) = signals.recv() => Next::Signal(signal),
                () = processes.exited(), if ending.is_none() => Next::Exited,
                () = sleep(look), if ending.is_some() => Next::Look,
            }
        });
        match next.await {
            Next::Signal(signal) => output.collect_until(processes.signal(signal)).await,
            Next::Exited => {
                output.drain(DRAIN).await;
                ending = Some(Ending::from(processes.reap()));
                output.flush().await;
                job.has_exited(ending);
            }
            Next::Look => {
                if output.collect_until(processes.are_gone(Duration::ZERO)).await {
                    // What they held, such as a port, is free when it is told that they have ended.
                    output.collect_until(processes.end(Duration::ZERO)).await;
                    processes.let_go();
                    break;
                }
                look = LOOK_AGAIN;
            }
            Next::Stop => {
                let environment = environment.clone();
                let running = Running { processes, output, confined, input: None, started, environment };
                let (ended, held, status) = running.end_all().await;
                (output, confined) = (ended, held);
                ending = ending.or(Some(status));
                break;
            }
        }
    }
    output.finish().await;
    let failed = ending != Some(Ending::Exited(0));
    let (text, ending) = (output.to_plain_text(), ending.unwrap_or(Ending::Unknown));
    let mut remarks = match &mut confined {
        Some(confined) => confined.remarks(&text, failed),
        None => String::new(),
    };
    remarks.push_str(&withheld::remark(&text, ending, &environment));
    job.end(ending, remarks).await;
}
