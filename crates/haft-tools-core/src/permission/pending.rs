use super::unique::unique;
use crate::{Access, Accesses, CallScope, Mode, Preview, milliseconds, now_ms};
use haft_core::{Digest, Repair, RunId, ToolCall};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use std::fmt;
use std::time::Duration;

/// Holds a call that waits for a person: plain data that survives the process.
///
/// The digest binds an approval to exactly what was shown: the tool as it was, the input, the accesses and the scope. The
/// serde form is versioned; one that another version wrote is refused by name.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::PendingCall;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (executor, pending) = house::waiting().await?;
/// // It is data: kept, shown to a person elsewhere, and read again.
/// let kept = serde_json::to_string(&pending)?;
/// let read: PendingCall = serde_json::from_str(&kept)?;
/// assert_eq!((read.call.name.as_str(), &read.digest), ("greet", &pending.digest));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The version of the form: [`PendingCall::VERSION`].
    #[serde(deserialize_with = "known_version")]
    pub version: u32,
    /// Names it; no other pending call has this name.
    pub id: PendingId,
    /// What is waited for.
    #[serde(default)]
    pub wants: Wants,
    /// The call, with its input as it was repaired.
    pub call: ToolCall,
    /// What was changed in the input the model wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// The run it belongs to.
    pub run: RunId,
    /// The agent that asks, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The modes that were given to the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// The runs above, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<RunAbove>,
    /// Everything that running it will touch.
    pub accesses: Accesses,
    /// Those accesses that no rule allows.
    pub unmet: Vec<Unmet>,
    /// What the person is shown.
    pub preview: Preview,
    /// Why it is asked again, where it was asked before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// The calls below it that it waited for before it had to be asked about again; nobody need answer them for this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited_for: Vec<PendingCall>,
    /// When it was asked, in milliseconds since the Unix epoch.
    pub asked_at_ms: u64,
    /// Until when an approval counts, in milliseconds since the Unix epoch; for ever if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<u64>,
    /// Binds an approval to exactly this.
    pub digest: Digest,
    /// The names of the executor's layers that have let the call go on, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<String>,
    /// Which of these layers made the input that the call has now, 0-based; it is not asked about its own input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_by: Option<u32>,
    /// What these layers want the model to be told beside the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
}

/// Names a pending call.
///
/// ```
/// use haft_tools_core::PendingId;
///
/// let id = PendingId::new("8f3a");
/// assert_eq!((id.as_str(), id.to_string().as_str()), ("8f3a", "8f3a"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PendingId(Box<str>);

/// Says what a pending call waits for.
///
/// ```
/// use haft_tools_core::Wants;
///
/// let wants = Wants::Authentication { url: "https://login.example".to_owned() };
/// let says = match &wants {
///     Wants::Approval => "may it run?".to_owned(),
///     Wants::Authentication { url } => format!("log in at {url}"),
///     Wants::Below { calls } => format!("{} calls below it are asked about", calls.len()),
///     _ => "see a newer program".to_owned(),
/// };
/// assert_eq!(says, "log in at https://login.example");
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Wants {
    /// A person's word on whether it may run.
    #[default]
    Approval,
    /// That a person makes themselves known to a remote party; approving says that this is done, and runs the call again.
    Authentication {
        /// Where to do so: an `https` address, or one of this machine.
        url: String,
    },
    /// That calls below it are answered, which it has made and which wait themselves; of the call itself nobody is asked
    /// anything, and approving says that it can go on: see [`CallContext::wait_for`](crate::CallContext::wait_for).
    Below {
        /// The calls, as they were when it came to wait; one of them may wait for others in turn.
        calls: Vec<PendingCall>,
    },
}

/// Names a run above that of a call.
///
/// ```
/// use haft_tools_core::RunAbove;
///
/// let above: RunAbove = serde_json::from_str(r#"{"run": "run-1", "agent": "lead", "modes": ["plan"]}"#)?;
/// assert_eq!((above.run.as_str(), above.agent.as_deref()), ("run-1", Some("lead")));
/// assert_eq!(above.modes, [haft_tools_core::Mode::Plan]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunAbove {
    /// The run.
    pub run: RunId,
    /// The agent that works in it, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The modes that were given to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
}

/// Says which access of a call is not allowed, why, and what could be remembered about it.
///
/// ```
/// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
/// use haft_tools_core::Unmet;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (executor, pending) = house::waiting().await?;
/// let lines: Vec<String> = pending.unmet.iter().map(Unmet::printed).collect();
/// assert_eq!(lines, ["nothing outside its own memory"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Unmet {
    /// The access; `None` for a call that declares none, and is asked about as such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Why it has to be asked about, in one sentence.
    pub reason: String,
    /// The rule that a grant which outlives the call would hold; `None` where each call has to be asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
}

impl Unmet {
    /// Says why an access is not allowed, and which rule could be remembered about it.
    ///
    /// ```
    /// use haft_tools_core::Unmet;
    ///
    /// let unmet = Unmet::new(None, "the tool declares nothing", None);
    /// assert_eq!(unmet.printed(), "nothing outside its own memory");
    /// ```
    pub fn new(access: Option<Access>, reason: impl Into<String>, grant: Option<String>) -> Self {
        Self { access, reason: reason.into(), grant }
    }

    /// The access as it is printed, or that there is none.
    pub fn printed(&self) -> String {
        self.access.as_ref().map_or_else(|| "nothing outside its own memory".to_owned(), Access::to_string)
    }
}

impl PendingCall {
    /// The version of the form that is written.
    pub const VERSION: u32 = 1;

    /// Makes a call that waits for a person's word from now on and for ever, for stores and engines of others.
    ///
    /// It touches nothing, and its arguments are all that is shown; what else is known is set in its fields. An executor makes
    /// its pending calls itself, and takes no approval of one whose digest is not that of the call.
    ///
    /// ```
    /// use haft_core::{Digest, ToolCall};
    /// use haft_tools_core::{CallScope, PendingCall, PendingId, Preview, Wants};
    /// use serde_json::json;
    ///
    /// let call = ToolCall::new("c1".parse()?, "send_mail", json!({ "to": "anna" }));
    /// let digest = Digest::of(&call.input);
    /// let scope = CallScope::new("run-1".parse()?).child("run-2".parse()?);
    /// let mut pending = PendingCall::new(PendingId::new("p1"), call, &scope, digest);
    /// pending.preview = Preview::Text("a letter to Anna".to_owned());
    ///
    /// assert_eq!((pending.run.as_str(), pending.above[0].run.as_str()), ("run-2", "run-1"));
    /// assert_eq!(pending.wants, Wants::Approval);
    /// assert!(!pending.is_expired());
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    pub fn new(id: PendingId, call: ToolCall, scope: &CallScope, digest: Digest) -> Self {
        let above = scope.chain().skip(1).map(|above| RunAbove {
            run: above.run().clone(),
            agent: above.agent().map(str::to_owned),
            modes: above.modes().collect(),
        });
        Self {
            version: Self::VERSION,
            id,
            wants: Wants::Approval,
            call,
            repairs: Vec::new(),
            run: scope.run().clone(),
            agent: scope.agent().map(str::to_owned),
            modes: scope.modes().collect(),
            above: above.collect(),
            accesses: Accesses::none(),
            unmet: Vec::new(),
            preview: Preview::Arguments,
            again: None,
            waited_for: Vec::new(),
            asked_at_ms: now_ms(),
            expires_at_ms: None,
            digest,
            layers: Vec::new(),
            input_by: None,
            context: Vec::new(),
        }
    }

    /// Rebuilds the scope the call was made in, without what its host had added to it.
    pub fn scope(&self) -> CallScope {
        let named = |scope: CallScope, agent: &Option<String>, modes: &[Mode]| {
            let scope = modes.iter().fold(scope, |scope, mode| scope.with_mode(*mode));
            match agent {
                Some(agent) => scope.with_agent(agent.as_str()),
                None => scope,
            }
        };
        let own = |scope| named(scope, &self.agent, &self.modes);
        let mut above = self.above.iter().rev();
        let Some(first) = above.next() else { return own(CallScope::new(self.run.clone())) };
        let first = named(CallScope::new(first.run.clone()), &first.agent, &first.modes);
        let nearest =
            above.fold(first, |scope, next| named(scope.child(next.run.clone()), &next.agent, &next.modes));
        own(nearest.child(self.run.clone()))
    }

    /// Iterates over the calls that a person really has to answer for this one to go on, at any depth: itself, unless it only
    /// waits for calls below it, and then what these wait for.
    ///
    /// ```
    /// # use haft_core::{Digest, IdError, ToolCall};
    /// use haft_tools_core::{PendingCall, Wants};
    /// # use haft_tools_core::{CallScope, PendingId};
    /// # use serde_json::json;
    /// # let pending = |id: &str| -> Result<PendingCall, IdError> {
    /// #     let call = ToolCall::new(id.parse()?, "bash", json!({}));
    /// #     Ok(PendingCall::new(PendingId::new(id), call, &CallScope::new("run-1".parse()?), Digest::of(&json!(id))))
    /// # };
    /// let (asked, mut outer) = (pending("p1")?, pending("p2")?);
    /// outer.wants = Wants::Below { calls: vec![asked.clone()] };
    /// assert_eq!(outer.leaves().collect::<Vec<_>>(), [&asked]);
    /// assert_eq!(asked.leaves().collect::<Vec<_>>(), [&asked]);
    /// # Ok::<(), IdError>(())
    /// ```
    pub fn leaves(&self) -> impl Iterator<Item = &Self> {
        let calls = std::slice::from_ref(self);
        walk(calls, Self::waits_for).filter(|call| !call.waits_below())
    }

    /// Tells whether the call only waits for calls below it, so that nobody is to be asked about the call itself.
    pub fn waits_below(&self) -> bool {
        matches!(self.wants, Wants::Below { .. })
    }

    /// Tells whether the call has run, up to where it had to wait for calls below it.
    pub fn has_begun(&self) -> bool {
        self.waits_below() || !self.waited_for.is_empty()
    }

    /// The calls right below it that it waits for.
    fn waits_for(&self) -> &[Self] {
        match &self.wants {
            Wants::Below { calls } => calls,
            _ => &[],
        }
    }

    /// Iterates over the calls below it that it waits for, at any depth, each before those that it waits for itself.
    pub(crate) fn waits_for_all(&self) -> impl Iterator<Item = &Self> {
        walk(self.waits_for(), Self::waits_for)
    }

    /// The calls right below it that it waits for, or waited for last.
    pub(crate) fn below(&self) -> &[Self] {
        if self.waits_below() { self.waits_for() } else { &self.waited_for }
    }

    /// Iterates over the calls below it at any depth, each before those that are below it.
    pub(crate) fn all_below(&self) -> impl Iterator<Item = &Self> {
        walk(self.below(), Self::below)
    }

    /// Tells whether an approval no longer counts.
    pub fn is_expired(&self) -> bool {
        self.expires_at_ms.is_some_and(|end| end <= now_ms())
    }

    /// Tells whether what would be remembered is known for each unmet access, so that a grant can outlive the call.
    pub fn can_be_remembered(&self) -> bool {
        self.wants == Wants::Approval
            && !self.unmet.is_empty()
            && self.unmet.iter().all(|unmet| unmet.grant.is_some())
    }
}

/// Iterates over calls and those below them, each before its own.
fn walk<'a>(
    calls: &'a [PendingCall],
    below: impl Fn(&'a PendingCall) -> &'a [PendingCall],
) -> impl Iterator<Item = &'a PendingCall> {
    let mut open = vec![calls.iter()];
    std::iter::from_fn(move || {
        while let Some(calls) = open.last_mut() {
            if let Some(call) = calls.next() {
                open.push(below(call).iter());
                return Some(call);
            }
            open.pop();
        }
        None
    })
}

/// What is known of a call when it comes to wait.
pub(crate) struct Asked<'a> {
    pub(crate) wants: Wants,
    pub(crate) call: &'a ToolCall,
    pub(crate) repairs: &'a [Repair],
    pub(crate) accesses: &'a Accesses,
    pub(crate) unmet: Vec<Unmet>,
    pub(crate) preview: Preview,
    pub(crate) digest: Digest,
    pub(crate) scope: &'a CallScope,
    pub(crate) lifetime: Option<Duration>,
}

impl From<Asked<'_>> for PendingCall {
    fn from(asked: Asked<'_>) -> Self {
        let Asked { wants, call, repairs, accesses, unmet, preview, digest, scope, lifetime } = asked;
        let pending = Self::new(PendingId(unique().into()), call.clone(), scope, digest);
        let until = |lifetime| pending.asked_at_ms.saturating_add(milliseconds(lifetime));
        Self {
            wants,
            repairs: repairs.to_vec(),
            accesses: accesses.clone(),
            unmet,
            preview,
            expires_at_ms: lifetime.map(until),
            ..pending
        }
    }
}

impl PendingId {
    /// Takes a name that was printed before.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// Borrows the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PendingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        PendingCall::VERSION => Ok(PendingCall::VERSION),
        other => Err(serde::de::Error::custom(format!(
            "this pending call was stored in version {other} of its form; this program reads version {}",
            PendingCall::VERSION
        ))),
    }
}

/// Digests what an approval is bound to.
pub(crate) fn call_digest(
    tool_version: Digest,
    call: &ToolCall,
    accesses: &Accesses,
    scope: &CallScope,
) -> Digest {
    let (tool, accesses) = (json!(tool_version), json!(accesses));
    let link = |link: &CallScope| match link.modes().collect::<Vec<_>>() {
        modes if modes.is_empty() => json!((link.run(), link.agent())),
        modes => json!((link.run(), link.agent(), modes)),
    };
    let scope = json!(scope.chain().map(link).collect::<Vec<_>>());
    // The input may be large, and is read where it is.
    Digest::of_members([("tool", &tool), ("input", &call.input), ("accesses", &accesses), ("scope", &scope)])
}
