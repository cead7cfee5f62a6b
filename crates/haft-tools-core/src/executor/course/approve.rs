use super::layered::Layered;
use super::rest::{Halt, Rest};
use super::{Front, Said};
use crate::executor::asking::{self, Approved, Waits};
use crate::executor::decide::{Authorized, Decided};
use crate::executor::frame::Frame;
use crate::executor::prepare::prepare;
use crate::executor::run::{Failure, Interruption};
use crate::executor::{CallOutcome, Refusal};
use crate::permission::Remembered;
use crate::registry::Entry;
use crate::{Approval, PendingCall, Prepared, Preview, Seat, Wants};
use haft_core::{Decision, Digest};
use tokio_util::sync::CancellationToken;

/// Says what a person is asked.
enum Asking {
    /// Whether the call may run.
    First,
    /// Whether it may run, once more, as it is not the same any more.
    Again,
    /// Whether it may go on, as it may not without being asked about any more.
    GoOn,
    /// To make themselves known, so that it can run.
    WhoItIs { url: String },
}

impl<'a> Rest<'a> {
    /// Gets a person's word where the policy wants it.
    pub(super) async fn permit(
        &mut self,
        mut front: Front<'a>,
        layered: Option<&Layered>,
        token: &CancellationToken,
    ) -> Result<(&'a Entry, Authorized), Halt> {
        loop {
            let Front { entry, decided, said } = front;
            let approved = match (decided, said) {
                (Decided::Allowed(authorized), Said::Nothing | Said::Wrote) => Approved::Run(authorized),
                (Decided::Allowed(authorized), Said::Given(given)) if given.0.approves() => {
                    Approved::Run(authorized)
                }
                (Decided::ByMode(prepared), Said::Nothing) => {
                    Approved::Run(self.recall(entry, prepared).await?.unwrap_or_else(Authorized::by_policy))
                }
                (Decided::ByMode(prepared), Said::Wrote) => Approved::Run(Authorized::by_policy(prepared)),
                (Decided::Asked(prepared), Said::Wrote) => {
                    self.record.edited();
                    self.approved = Some(self.digest(entry, &prepared).into());
                    Approved::Run(Authorized::by_approval(prepared))
                }
                (decided, Said::Given(given)) => {
                    let (approval, pending) = *given;
                    let asked = matches!(decided, Decided::Asked(_));
                    let prepared = decided.into_prepared();
                    if self.digest(entry, &prepared) == pending.digest
                        && (!asked || !pending.unmet.is_empty())
                        && (!approval.approves()
                            || self.is_as_shown(entry, &prepared, &pending, token).await?)
                    {
                        self.record.answered(&approval);
                        asking::remember(self.frame, self.modes, entry, &prepared, &approval, &pending).await;
                        self.apply(approval, prepared, pending)?
                    } else {
                        self.ask(entry, prepared, Asking::Again, layered, token).await?
                    }
                }
                (Decided::Asked(prepared), Said::Nothing) => match self.recall(entry, prepared).await? {
                    Ok(authorized) => Approved::Run(authorized),
                    Err(prepared) if self.was_let_run(entry, &prepared) => {
                        Approved::Run(Authorized::by_approval(prepared))
                    }
                    Err(prepared) => {
                        let asking = if self.waited.is_some() { Asking::GoOn } else { Asking::First };
                        self.ask(entry, prepared, asking, layered, token).await?
                    }
                },
            };
            match approved {
                Approved::Run(authorized) => return Ok((entry, authorized)),
                Approved::Waits(waits) => return Err(Halt::Waits(waits)),
                Approved::Again(input) => {
                    self.repairs = vec![asking::edited(&self.record.call.input, &input)];
                    front = self.take_input(input, Said::Wrote)?;
                }
            }
        }
    }

    /// Lets a call run, or refuses it, if people have answered before about all that it has to be asked for.
    async fn recall(
        &mut self,
        entry: &Entry,
        prepared: Prepared,
    ) -> Result<Result<Authorized, Prepared>, Refusal> {
        match asking::recall(self.frame, self.modes, entry, &prepared).await? {
            Remembered::Nothing => Ok(Err(prepared)),
            Remembered::Granted(grants) => {
                self.record.remembered(Decision::Allow, &grants);
                Ok(Ok(Authorized::by_approval(prepared)))
            }
            Remembered::Never(grant) => {
                let refusal = asking::never(&grant);
                self.record.remembered(Decision::Deny, &[grant]);
                Err(refusal)
            }
        }
    }

    /// Asks the approver, for as long as the call is not cancelled; the clocks of calls that wait for this one stand still.
    async fn ask(
        &mut self,
        entry: &Entry,
        prepared: Prepared,
        asking: Asking,
        layered: Option<&Layered>,
        token: &CancellationToken,
    ) -> Result<Approved, Refusal> {
        let (again, wants) = match asking {
            Asking::First => (None, Wants::Approval),
            Asking::Again => {
                (Some("what it would do is no longer what was approved".to_owned()), Wants::Approval)
            }
            Asking::GoOn => {
                let why = "it has begun, and what it does now was not approved when it began";
                (Some(why.to_owned()), Wants::Approval)
            }
            Asking::WhoItIs { url } => (None, Wants::Authentication { url }),
        };
        let (approval, pending) = {
            let Frame { control, .. } = &**self.frame;
            let asking = async {
                let (call, repairs) = (&self.record.call, &self.repairs);
                let pending =
                    asking::pending_call(self.frame, self.modes, entry, call, repairs, &prepared, wants)
                        .await?;
                let pending = match layered {
                    Some(layered) => layered.noted(pending, self.frame.layers()),
                    None => pending,
                };
                let waited_for =
                    self.waited.as_ref().map(|waited| waited.below().to_vec()).unwrap_or_default();
                let pending = PendingCall { again, waited_for, ..pending };
                self.record.asked(&pending);
                let stopped = self.frame.stop_clocks();
                let asked = asking::ask(self.frame.approver(), &pending);
                let approval = Seat::lent(&self.frame.scope, asked).await;
                drop(stopped);
                Ok::<_, Refusal>((approval, pending))
            };
            tokio::select! {
                biased;
                refusal = control.halts(token) => return Err(refusal),
                asked = asking => asked?,
            }
        };
        self.record.answered(&approval);
        asking::remember(self.frame, self.modes, entry, &prepared, &approval, &pending).await;
        self.apply(approval, prepared, pending)
    }

    /// Applies a person's answer to the very call that they were shown.
    fn apply(
        &mut self,
        approval: Approval,
        prepared: Prepared,
        pending: PendingCall,
    ) -> Result<Approved, Refusal> {
        match approval {
            Approval::Approve | Approval::ApproveFor { .. } => {
                // Who has only made themselves known has not approved anything.
                self.approved = (!pending.unmet.is_empty()).then(|| pending.digest.into());
                Ok(Approved::Run(Authorized::by_approval(prepared)))
            }
            // What the tool keeps for the call was begun with the input it has.
            Approval::Edit { .. } if self.waited.is_some() => Err(super::outer::cannot_be_edited()),
            Approval::Edit { input } => Ok(Approved::Again(input)),
            Approval::Later => Ok(Approved::Waits(Waits { pending: Box::new(pending), is_kept: false })),
            Approval::KeptAs { id } => {
                let pending = Box::new(PendingCall { id, ..pending });
                Ok(Approved::Waits(Waits { pending, is_kept: true }))
            }
            approval => Err(asking::unapproved(&approval)),
        }
    }

    /// Tells whether the change that a person was shown is still the one that would be made: what it would be made in may have
    /// become another since.
    async fn is_as_shown(
        &self,
        entry: &Entry,
        prepared: &Prepared,
        pending: &PendingCall,
        token: &CancellationToken,
    ) -> Result<bool, Refusal> {
        if !matches!(pending.preview, Preview::Diff(_)) {
            return Ok(true);
        }
        let preview = tokio::select! {
            biased;
            refusal = self.frame.control.halts(token) => return Err(refusal),
            preview = asking::preview(self.frame, entry, prepared) => preview?,
        };
        Ok(preview == pending.preview)
    }

    pub(super) fn digest(&self, entry: &Entry, prepared: &Prepared) -> Digest {
        asking::digest(entry, &self.record.call, prepared, &self.frame.scope)
    }

    /// Has a person make themselves known to whom the call needs them to, after which it can go on.
    async fn make_known(
        &mut self,
        entry: &'a Entry,
        (refusal, url): (Refusal, Box<str>),
        layered: Option<&Layered>,
        token: &CancellationToken,
    ) -> Result<Front<'a>, Halt> {
        /// A remote party that asks again and again is not asked for more often than this.
        const MOST: u32 = 3;
        self.made_known += 1;
        if self.made_known > MOST {
            return Err(refusal.into());
        }
        let prepared = prepare(entry, &self.record.call, &self.frame.scope)?;
        self.turn.enter(prepared.accesses());
        let front = self.decide(entry, prepared, Said::Nothing)?;
        let prepared = match front.decided {
            Decided::Allowed(authorized) => authorized.into_prepared(),
            Decided::ByMode(prepared) => self
                .recall(entry, prepared)
                .await?
                .map_or_else(|prepared| prepared, Authorized::into_prepared),
            Decided::Asked(prepared) if self.approved.as_deref() == Some(&self.digest(entry, &prepared)) => {
                prepared
            }
            // What it would do now was not asked about, which comes before who does it.
            Decided::Asked(prepared) => match self.recall(entry, prepared).await? {
                Ok(authorized) => authorized.into_prepared(),
                Err(prepared) => {
                    let decided = Decided::Asked(prepared);
                    return Ok(Front { entry, decided, said: Said::Nothing });
                }
            },
        };
        let url = url.into_string();
        match self.ask(entry, prepared, Asking::WhoItIs { url }, layered, token).await {
            Ok(Approved::Run(authorized)) => {
                Ok(Front { entry, decided: Decided::Allowed(authorized), said: Said::Nothing })
            }
            Ok(Approved::Waits(waits)) => Err(Halt::Waits(waits)),
            Ok(Approved::Again(input)) => Ok(self.take_input(input, Said::Wrote)?),
            // What the remote party said tells the model more than that nobody made themselves known.
            Err(_) if !token.is_cancelled() => Err(refusal.into()),
            Err(cancelled) => Err(cancelled.into()),
        }
    }

    /// Gets a call that ended, and can go on, what it needs for that; or leaves it to wait.
    pub(super) async fn interrupted(
        &mut self,
        entry: &'a Entry,
        failure: Failure,
        layered: Option<&Layered>,
        token: &CancellationToken,
    ) -> Result<Front<'a>, Halt> {
        let Failure { refusal, interruption, .. } = failure;
        match interruption {
            Some(Interruption::Authentication(url)) => {
                self.make_known(entry, (refusal, url), layered, token).await
            }
            Some(Interruption::Below(below)) => Err(self.wait_below(entry, refusal, *below, layered, token)),
            None => Err(refusal.into()),
        }
    }

    /// Goes on with a call that ended at its first go, and needs something else before it can go on.
    pub(super) async fn go_on_after(mut self, entry: &'a Entry, failure: Failure) -> CallOutcome {
        let token =
            self.frame.control.token().map_or_else(CancellationToken::new, CancellationToken::child_token);
        match Box::pin(self.interrupted(entry, failure, None, &token)).await {
            Ok(front) => self.finish(Box::new(Ok(front)), None).await,
            Err(halt) => Box::pin(self.stop(halt, None, &token)).await,
        }
    }
}
