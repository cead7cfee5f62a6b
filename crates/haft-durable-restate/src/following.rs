use crate::RestateExecutor;
use crate::executor::{is_passing, taken, unavailable};
use crate::ingress::Ingress;
use crate::wire::{Ended, Heard, LISTEN, Listening, News, OUTCOME, RoundEnd, STOP};
use haft_core::{Digest, EventKind, ToolCall, ToolOutput};
use haft_durable::{Pool, RoundKey};
use haft_tools_core::CallOutcome;
use restate_sdk::ingress::{ClientError, InvocationHandle, RequestTarget};
use restate_sdk::serde::Json;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a call runs before it is listened to: most are answered by then.
const LISTENED_AFTER: Duration = Duration::from_millis(250);

/// Follows a call from a round on, until it is answered or waits.
pub(crate) struct Following<'a> {
    pub(crate) executor: &'a RestateExecutor,
    pub(crate) pool: Pool,
    /// The round in which it is, or will be.
    pub(crate) round: RoundKey,
    pub(crate) workflow: InvocationHandle<Ingress, Json<Ended>>,
    pub(crate) stop: CancellationToken,
    /// Is told what the call tells of itself, if anybody is to be.
    pub(crate) listener: Option<&'a (dyn Fn(EventKind) + Sync)>,
}

impl Following<'_> {
    /// Gives what becomes of the call; one of another request than this is refused.
    pub(crate) async fn outcome(&self, call: &ToolCall, request: Option<Digest>) -> CallOutcome {
        let is_other = |digest: Digest| request.is_some_and(|request| request != digest);
        let mut ended = pin!(self.ended());
        let mut waits = pin!(self.waits());
        let mut stopping = pin!(self.stopping());
        let mut listening = pin!(async {
            match self.listener {
                Some(listener) => Box::pin(self.listen(listener)).await,
                None => std::future::pending().await,
            }
        });
        let (began, mut has_waited) = (Instant::now(), false);
        let ended = loop {
            tokio::select! {
                ended = &mut ended => break ended,
                end = &mut waits, if !has_waited => match end {
                    Ok(RoundEnd { request, .. }) if is_other(request) => return taken(call),
                    Ok(RoundEnd { pending: Some(pending), .. }) => return CallOutcome::Pending(Box::new(pending)),
                    // It has ended in this round, which is about to be said.
                    Ok(RoundEnd { pending: None, .. }) => has_waited = true,
                    Err(error) => return unavailable(call, &error),
                },
                // It only returns when the engine cannot be told.
                error = &mut stopping => return unavailable(call, &error),
                never = &mut listening => match never {},
            }
        };
        match ended {
            Ok(Ended { request, .. }) if is_other(request) => taken(call),
            Ok(Ended { reply, .. }) => {
                self.executor.soon().took(began.elapsed());
                CallOutcome::Replied(reply)
            }
            Err(error) if has_failed(&error) => {
                tracing::error!(call = %self.round, error = &error as &dyn std::error::Error, "a call was given up");
                CallOutcome::lost(call)
            }
            Err(error) => unavailable(call, &error),
        }
    }

    async fn ended(&self) -> Result<Ended, ClientError> {
        let ended = self.executor.insist(|| self.workflow.attach()).await?;
        Ok(ended.into_body().into_inner())
    }

    async fn waits(&self) -> Result<RoundEnd, ClientError> {
        tokio::time::sleep(self.executor.soon().get()).await;
        let target = self.handler(OUTCOME);
        let end = self.executor.insist(|| async {
            let request =
                self.executor.client().request::<_, Json<RoundEnd>>(target.clone(), Json(self.round.round()));
            request.call().await?.into_body()
        });
        Ok(end.await?.into_inner())
    }

    /// Tells the call to stop, once it is to, and then never returns.
    async fn stopping(&self) -> ClientError {
        self.stop.cancelled().await;
        let target = self.handler(STOP);
        let told = self.executor.insist(|| async {
            let workflow = self.workflow.invocation_id().clone();
            self.executor.client().request::<_, ()>(target.clone(), Json(workflow)).call().await?.into_body()
        });
        match told.await {
            Ok(()) => std::future::pending().await,
            Err(error) => error,
        }
    }

    /// Tells on what the call tells of itself, as long as that can be heard.
    async fn listen(&self, listener: &(dyn Fn(EventKind) + Sync)) -> Infallible {
        tokio::time::sleep(LISTENED_AFTER.max(self.executor.soon().get())).await;
        let mut next = Listening { round: self.round.round(), number: 0 };
        loop {
            let target = self.handler(LISTEN);
            let heard = self.executor.insist(|| async {
                let request = self.executor.client().request::<_, Json<Heard>>(target.clone(), Json(next));
                request.call().await?.into_body()
            });
            match heard.await.map(Json::into_inner) {
                Ok(Heard::News { news, next: after }) => {
                    next = after;
                    let News { progress, output } = news.shown();
                    if let Some(output) = output {
                        listener(EventKind::Updated { output: ToolOutput::text(output) });
                    }
                    if let Some(progress) = progress {
                        listener(EventKind::Progressed { progress });
                    }
                }
                Ok(Heard::Nothing { next: after }) => next = after,
                Ok(Heard::Over) => break,
                Err(error) => {
                    tracing::debug!(error = &error as &dyn std::error::Error, "a call cannot be listened to");
                    break;
                }
            }
        }
        std::future::pending().await
    }

    fn handler(&self, handler: &str) -> RequestTarget {
        RequestTarget::workflow(self.pool.as_str(), self.round.call().to_string(), handler)
    }
}

/// Tells whether the workflow itself failed, as one does that an operator killed.
fn has_failed(error: &ClientError) -> bool {
    matches!(error, ClientError::Status { .. }) && !is_passing(error)
}
