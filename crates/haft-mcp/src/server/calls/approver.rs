use super::approval_form::{self, Asked};
use super::elsewhere::answered;
use super::question_form;
use super::relay::{RESERVED, Relay};
use crate::server::ask::{Ask, AskKind, ClientAskError};
use crate::server::caller::Ability;
use crate::server::line::Line as _;
use crate::shown::shown;
use async_trait::async_trait;
use haft_core::{CallId, Digest};
use haft_tools_core::{
    Answered, Approval, Approver, AskedQuestion, Claim, PendingCall, PendingId, PendingStore,
    QuestionOutcome, Wants,
};
use serde_json::Value;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// For how long a person is waited for where the request stays open meanwhile.
const ANSWERING: Duration = Duration::from_mins(10);

/// The most calls that wait for somebody who is not there: of one run, and of all.
const MOST_WAITING: usize = 100;
const MOST_WAITING_OF_ALL: usize = 1_000;

/// The most bytes of a message beside an address.
const MOST_MESSAGE_BYTES: usize = 1024;

/// Asks the person before the client about one of its calls, and about those that it makes.
pub(super) struct ClientApprover {
    pub(super) call: CallId,
    pub(super) relay: Arc<Relay>,
    pub(super) store: Arc<dyn PendingStore>,
    state: Mutex<State>,
    questions: AtomicU32,
    approvals: AtomicU32,
    /// Whether others than the client answer, too.
    is_attended: bool,
}

/// Is what a person answered in this round, and about what.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) id: PendingId,
    pub(super) digest: Digest,
    pub(super) approval: Option<Approval>,
}

struct State {
    given: Option<Given>,
    /// What was approved in this request or those before it.
    used: Option<(PendingId, Digest)>,
    /// Whether the round is to end with the question whether the call may run.
    asks: Option<Asked>,
    /// Whether what was answered is not what the call would do now.
    is_changed: bool,
}

impl ClientApprover {
    pub(super) fn new(
        call: CallId,
        relay: Arc<Relay>,
        store: Arc<dyn PendingStore>,
        given: Option<Given>,
    ) -> Self {
        let state = Mutex::new(State { given, used: None, asks: None, is_changed: false });
        let (questions, approvals) = (AtomicU32::new(1), AtomicU32::new(1));
        Self { call, relay, store, state, questions, approvals, is_attended: false }
    }

    /// Says that others than the client answer, too: what is asked is kept for them.
    pub(super) fn attended(self) -> Self {
        Self { is_attended: true, ..self }
    }

    /// What was approved, if anything was.
    pub(super) fn used(&self) -> Option<(PendingId, Digest)> {
        self.state().used.clone()
    }

    /// Whether the call waits for this client, and what it is to be told.
    pub(super) fn asks(&self) -> Option<Asked> {
        self.state().asks
    }

    /// Makes the question whether a call may run.
    pub(super) fn ask_for(&self, pending: &PendingCall, asked: Asked, key: String) -> Ask {
        let schema = approval_form::schema(pending, self.has_session());
        Ask::form(key, approval_form::message(pending, asked), schema)
    }

    fn has_session(&self) -> bool {
        self.relay.caller().session.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the one right to go on with a call by an answer to it.
    async fn claims(&self, pending: &PendingCall, id: PendingId) -> Option<Claim> {
        let mut claimed = pending.clone();
        claimed.id.clone_from(&id);
        match self.store.claim(&claimed).await {
            Ok(claim) => {
                if claim == Claim::Taken {
                    self.state().used = Some((id, pending.digest));
                }
                Some(claim)
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "an approval cannot be claimed, so the call is asked about again");
                None
            }
        }
    }

    /// Takes what the client answered to the question of the round before.
    async fn given(&self, pending: &PendingCall) -> Option<Approval> {
        let given = self.state().given.take()?;
        if given.digest != pending.digest {
            self.note_change();
            self.retire(pending, given.id, given.digest).await;
            return None;
        }
        let mut approval = given.approval?;
        if self.is_attended {
            approval = self.first(&given.id, &given.digest, approval).await;
        } else if !self.relay.asks_in_rounds() {
            // It was answered to this very request, and can be used by no other.
            self.state().used = Some((given.id, given.digest));
            return Some(approval);
        }
        match self.claims(pending, given.id).await? {
            Claim::Taken => Some(approval),
            Claim::TakenBefore => Some(Approval::Deny { reason: USED.to_owned() }),
            // Put in with another digest, or not to be gone on with for a reason that is newer than this: it is asked again.
            _ => None,
        }
    }

    /// Notes that what was answered is not what the call would do now.
    fn note_change(&self) {
        let mut state = self.state();
        state.is_changed = true;
        // Who cannot be asked is not asked again.
        if self.relay.caller().can.have(Ability::Forms) {
            state.asks = Some(Asked::Changed);
        }
    }

    /// Gives the answer that counts: that of whoever answered first.
    async fn first(&self, id: &PendingId, digest: &Digest, approval: Approval) -> Approval {
        let before = match self.store.answer_first(id, digest, &approval).await {
            Ok(Answered::Before) => self.store.answer_to(id).await,
            // One that is not kept, or was gone on with, is claimed by one answer alone.
            Ok(_) => return approval,
            Err(error) => Err(error),
        };
        match before {
            Ok(before) => before.unwrap_or_else(|| Approval::Deny { reason: USED.to_owned() }),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "it cannot be told who answered first, so the call is not run");
                Approval::Deny { reason: "it cannot be told what was answered first".to_owned() }
            }
        }
    }

    /// Keeps a call for others to answer; gives whether it is kept.
    async fn offer(&self, pending: &PendingCall, asked: Asked) -> bool {
        if self.is_full(pending).await {
            return false;
        }
        let mut offered = pending.clone();
        if asked == Asked::Changed {
            offered.again = Some("what it would do has changed since it was answered".to_owned());
        }
        match self.store.put(&offered).await {
            Ok(()) => true,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "a call cannot be kept, so only the client is asked about it");
                false
            }
        }
    }

    /// Has a call wait no more that nobody makes any longer as it was shown.
    async fn retire(&self, pending: &PendingCall, id: PendingId, digest: Digest) {
        if self.is_attended {
            let mut retired = pending.clone();
            (retired.id, retired.digest) = (id, digest);
            // It has to be answered in any case.
            let _ = self.store.claim(&retired).await;
        }
    }

    /// Has a call wait no more that the client has cancelled.
    pub(super) async fn withdraw(&self, pending: &PendingCall) {
        self.retire(pending, pending.id.clone(), pending.digest).await;
    }

    /// Waits for the client's answer, or for that of others where they are asked, too.
    async fn first_of(&self, id: &PendingId, client: impl Future<Output = Approval> + Send) -> Approval {
        if !self.is_attended {
            return client.await;
        }
        tokio::select! {
            biased;
            approval = answered(&*self.store, id) => return approval,
            approval = client => if approval != Approval::Nobody { return approval },
        }
        // It is the others alone who can be asked.
        let late = Approval::TimedOut { after_ms: haft_tools_core::milliseconds(ANSWERING) };
        tokio::time::timeout(ANSWERING, answered(&*self.store, id)).await.unwrap_or(late)
    }

    /// Asks, by a request of ours, whether a call may run that the executor has left.
    pub(super) async fn ask_at_once(&self, pending: &PendingCall, asked: Asked) -> Approval {
        let client = async {
            let ask = self.ask_for(pending, asked, RESERVED.to_owned());
            let answer = tokio::time::timeout(ANSWERING, self.relay.ask_ours(ask)).await;
            self.said(answer.unwrap_or(Err(ClientAskError::TimedOut(ANSWERING))))
        };
        self.first_of(&pending.id, client).await
    }

    /// Reads what came of the question whether a call may run.
    fn said(&self, answer: Result<Value, ClientAskError>) -> Approval {
        let content = match answer {
            Ok(content) => content,
            Err(error) => return approval_form::unanswered(&error),
        };
        approval_form::approval(&content, self.has_session())
            .unwrap_or_else(|| Approval::Deny { reason: "the answer is none of the choices".to_owned() })
    }

    /// Asks while the request, or the call between two of them, stays open.
    async fn ask_inline(&self, pending: &PendingCall, asked: Asked) -> Approval {
        let number = self.approvals.fetch_add(1, Ordering::Relaxed);
        let key = format!("{RESERVED}-{number}");
        let ask = match &pending.wants {
            Wants::Authentication { url } => {
                let message = format!("The tool `{}` needs you to log in there.", pending.call.name);
                Ask::address(key, shown(&message, MOST_MESSAGE_BYTES), url.as_str())
            }
            _ => self.ask_for(pending, asked, key),
        };
        let is_address = matches!(ask.kind, AskKind::Address { .. });
        let client = async {
            let answer = tokio::time::timeout(ANSWERING, self.relay.ask_ours(ask)).await;
            match answer.unwrap_or(Err(ClientAskError::TimedOut(ANSWERING))) {
                Ok(_) if is_address => Approval::Approve,
                answer => self.said(answer),
            }
        };
        if self.is_attended && !is_address && self.offer(pending, asked).await {
            let approval = self.first_of(&pending.id, client).await;
            let approval = self.first(&pending.id, &pending.digest, approval).await;
            return match self.claims(pending, pending.id.clone()).await {
                Some(Claim::Taken) => approval,
                _ => Approval::Deny { reason: USED.to_owned() },
            };
        }
        let approval = client.await;
        if approval.approves() {
            self.state().used = Some((pending.id.clone(), pending.digest));
        }
        approval
    }

    /// Leaves the call to somebody who answers by another way, under the name by which it waits already.
    async fn leave(&self, pending: &PendingCall, waiting: Option<PendingId>) -> Approval {
        if let Some(id) = waiting {
            return Approval::KeptAs { id };
        }
        if self.is_full(pending).await {
            return Approval::Deny {
                reason: "too many calls wait for an approval already; have these answered first".to_owned(),
            };
        }
        // The executor says it, if it cannot keep the call.
        let is_changed = self.is_attended && self.state().is_changed;
        if is_changed && self.offer(pending, Asked::Changed).await {
            return Approval::KeptAs { id: pending.id.clone() };
        }
        Approval::Later
    }

    /// Tells whether too many calls wait already.
    async fn is_full(&self, pending: &PendingCall) -> bool {
        match self.store.waiting().await {
            Ok(all) => {
                // A client can have many sessions, and so many runs.
                let of_client = all.iter().filter(|other| other.agent == pending.agent).count();
                of_client >= MOST_WAITING || all.len() >= MOST_WAITING_OF_ALL
            }
            // The executor says it, when it cannot keep the call either.
            Err(_) => false,
        }
    }
}

/// Tells that an answer counts once.
pub(super) const USED: &str = "this answer was used before";

#[async_trait]
impl Approver for ClientApprover {
    async fn approve(&self, pending: &PendingCall) -> Approval {
        let (is_own, is_approval) = (pending.call.id == self.call, pending.wants == Wants::Approval);
        if is_own
            && is_approval
            && let Some(approval) = self.given(pending).await
        {
            return approval;
        }
        let mut waiting = None;
        match self.store.waiting_as(&pending.digest).await {
            Ok(Some((id, Some(approval)))) if is_approval && !approval.waits() => {
                if self.claims(pending, id).await == Some(Claim::Taken) {
                    return approval;
                }
            }
            Ok(found) => waiting = found.map(|(id, _)| id),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "the calls that wait cannot be read, so the call is asked about");
            }
        }
        let ability = if is_approval { Ability::Forms } else { Ability::Addresses };
        if !self.relay.caller().can.have(ability) {
            return self.leave(pending, waiting).await;
        }
        let (asked, is_outside) = {
            let mut state = self.state();
            let asked = state.asks.unwrap_or(Asked::First);
            let is_outside = is_own && is_approval && state.used.is_none();
            if is_outside {
                // Nothing runs yet, so nothing has to wait here: it is asked outside, and the call is begun anew.
                state.asks = Some(asked);
            }
            (asked, is_outside)
        };
        if is_outside {
            if let Some(id) = waiting.filter(|_| self.is_attended) {
                return Approval::KeptAs { id };
            }
            if self.is_attended {
                self.offer(pending, asked).await;
            }
            return Approval::KeptAs { id: pending.id.clone() };
        }
        self.ask_inline(pending, asked).await
    }

    async fn answer(&self, asked: &AskedQuestion) -> QuestionOutcome {
        let question = &asked.question;
        let Some(schema) = question_form::schema(question) else { return QuestionOutcome::Nobody };
        let key = question
            .key
            .clone()
            .unwrap_or_else(|| format!("q{}", self.questions.fetch_add(1, Ordering::Relaxed)));
        let ask = Ask::form(key.clone(), question_form::message(question), schema);
        let answer = tokio::time::timeout(ANSWERING, self.relay.ask(vec![ask])).await;
        let answer = match answer {
            Ok(mut answers) => answers.remove(&key),
            Err(_) => Some(Err(ClientAskError::TimedOut(ANSWERING))),
        };
        question_form::response(question, answer.unwrap_or(Ok(Value::Null)))
    }
}
