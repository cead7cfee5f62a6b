use crate::{Access, Redactor, Rule, Verdict};
use haft_core::{CallId, Decision, Digest, Origin, ReplyStatus, RunId, ToolName};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The most bytes of a text that others chose: a name, a rule, a reason.
const MOST_TEXT: usize = 1024;

/// The most bytes of one printed access.
const MOST_ACCESS: usize = 4 * 1024;

/// The most rules that are printed.
const MOST_RULES: usize = 64;

/// Records that a call began, waits or ended; each record says all there is to know of the call by itself.
///
/// In JSON it is one object, on one line of a [`JsonlJournal`](crate::JsonlJournal). Members may be added without a new
/// version.
///
/// ```
/// use haft_tools_core::{JournalEntry, JournalRecord};
///
/// let line = r#"{"version":1,"record":"begun","sequence":0,"at_ms":1700000000000,"run":"run-1","call":"c1",
///     "called_as":"read_file","tool":"read_file","origin":{"kind":"builtin"},"accesses":["read file:src/lib.rs"],
///     "decided":{"by":"rule","decision":"allow","rules":["read(file:**)"]}}"#;
/// let record: JournalRecord = serde_json::from_str(line)?;
/// assert_eq!(record.entry, JournalEntry::Begun);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JournalRecord {
    /// The version of the record's form: [`JournalRecord::VERSION`].
    pub version: u32,
    /// What is recorded.
    #[serde(flatten)]
    pub entry: JournalEntry,
    /// Counts the records of one [`Journal`](crate::Journal) from 0, in the order in which they were made.
    ///
    /// Records made at the same time may be kept in another order.
    pub sequence: u64,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The run it happened in.
    pub run: RunId,
    /// The run that started that run, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run: Option<RunId>,
    /// The agent that made the call, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The call.
    pub call: CallId,
    /// The tool's name as the call has it, cut to 1,024 bytes.
    pub called_as: String,
    /// The tool's name as the registry has it; `None` where there is no such tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// Where the tool comes from, each name cut to 1,024 bytes; `None` where there is no such tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// What the call touches, as printed; `None` for a call that was never prepared.
    ///
    /// Each is cut to 4 KiB, and all together are kept to 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accesses: Option<Vec<String>>,
    /// How many accesses are left out for want of room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub accesses_omitted: u64,
    /// Who or what decided whether the call may run.
    pub decided: DecidedBy,
    /// What an approval of the call is bound to; `None` for a call that was never prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

impl JournalRecord {
    /// The version of the form that is written.
    pub const VERSION: u32 = 1;

    /// Replaces secrets in every text that has no bound of its own, and then cuts it: a secret that was cut first would
    /// not be found.
    pub(super) fn redact_and_cut(&mut self, redactor: &Redactor) {
        let within = |text: &mut String, most| redact_and_cut(text, most, redactor);
        within(&mut self.called_as, MOST_TEXT);
        for text in self.agent.iter_mut().chain(self.origin.iter_mut().flat_map(names)) {
            within(text, MOST_TEXT);
        }
        for access in self.accesses.iter_mut().flatten() {
            within(access, MOST_ACCESS);
        }
        match &mut self.decided {
            DecidedBy::Rule { rules, access, .. } => {
                rules.iter_mut().chain(access).for_each(|text| within(text, MOST_TEXT));
            }
            DecidedBy::Person { reason, .. } | DecidedBy::Layer { reason } => within(reason, MOST_TEXT),
            DecidedBy::Grant { rules, .. } => rules.iter_mut().for_each(|text| within(text, MOST_TEXT)),
            DecidedBy::Nobody => {}
        }
    }
}

/// The names in an origin, which servers and documents choose.
fn names(origin: &mut Origin) -> Vec<&mut String> {
    match origin {
        Origin::Mcp { server, tool } => vec![server, tool],
        Origin::OpenApi { document, operation } => vec![document, operation],
        Origin::Agent { name } => vec![name],
        // The others have none; an origin that has has to be added above.
        _ => Vec::new(),
    }
}

/// Says what a record of the journal records.
///
/// ```
/// use haft_tools_core::{JournalEntry, JournalRecord};
///
/// /// Counts the calls of which is not known how they ended: they ran when the process died.
/// fn broken_off(records: &[JournalRecord]) -> usize {
///     let begun = records.iter().filter(|record| record.entry == JournalEntry::Begun);
///     let ended = |begun: &&JournalRecord| records.iter().any(|record| {
///         record.call == begun.call && matches!(record.entry, JournalEntry::Ended { .. })
///     });
///     begun.filter(|begun| !ended(begun)).count()
/// }
/// assert_eq!(broken_off(&[]), 0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
#[non_exhaustive]
pub enum JournalEntry {
    /// A permitted call is about to run.
    Begun,
    /// A call waits for a person, who decides later; it begins or ends when it goes on.
    ///
    /// One that had begun before waits for calls below it, and begins again.
    Waiting,
    /// A call was answered.
    Ended {
        /// Whether it had begun to run.
        ran: bool,
        /// How it ended, with the kind of the error if there is one.
        status: ReplyStatus,
        /// How long it took, waiting included, in microseconds.
        duration_us: u64,
        /// For how much of that a person was asked whether it may run, in microseconds.
        ///
        /// That of a call that was left to wait for them is the time between its records.
        #[serde(default, skip_serializing_if = "is_zero")]
        asked_us: u64,
        /// For how much of that it ran, in microseconds by the clock that dates records; what remains it waited for others.
        ///
        /// What its tool asks people while it runs counts as running. `None` where it did not run, and in records of before
        /// this was kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ran_us: Option<u64>,
        /// How many bytes it gave.
        bytes_total: u64,
        /// How many bytes of these the model was given.
        bytes_kept: u64,
    },
}

/// Says who or what decided whether a call may run.
///
/// ```
/// use haft_tools_core::{DecidedBy, PersonAnswer};
///
/// let by = DecidedBy::person(PersonAnswer::Denied, "not on a Friday");
/// let line = r#"{"by":"person","answer":"denied","reason":"not on a Friday"}"#;
/// assert_eq!(serde_json::to_string(&by)?, line);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecidedBy {
    /// The policy.
    Rule {
        /// What it decided; what it has asked, a person decides.
        decision: Decision,
        /// The rules behind it, as printed: all that were needed to allow the call, or the one that was not passed.
        ///
        /// Empty where no rule speaks of it. More than 64 are counted in the last one's place.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<String>,
        /// The access that is not allowed, as printed; `None` where all are, or none is declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        access: Option<String>,
    },
    /// A person, or the approver in their name.
    Person {
        /// The answer.
        answer: PersonAnswer,
        /// What they said with it; empty where nothing was said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// What a person answered before and wanted to be remembered.
    Grant {
        /// The names of the grants.
        ids: Vec<String>,
        /// The rules they hold.
        rules: Vec<String>,
    },
    /// A layer around the running of calls, which answered in the tool's place, or broke or took too long before it.
    Layer {
        /// Which one: its name, as an executor writes it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// Nobody, as it did not come to that: the call named no tool, did not fit it, or was stopped before.
    Nobody,
}

/// Says what a person answered to the question whether a call may run.
///
/// ```
/// use haft_tools_core::PersonAnswer;
///
/// let answer: PersonAnswer = serde_json::from_str(r#""approved_edited""#)?;
/// assert_eq!(answer, PersonAnswer::ApprovedEdited);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PersonAnswer {
    /// Yes, exactly as shown.
    Approved,
    /// Yes, with other arguments.
    ApprovedEdited,
    /// No.
    Denied,
    /// None: nobody was there, or none came in time.
    NoAnswer,
}

impl DecidedBy {
    /// Names the rules behind what the policy decided; takes what it says of every access.
    ///
    /// A journal cuts each to 1,024 bytes when it is written, after secrets were replaced.
    ///
    /// ```
    /// use haft_core::{Schema, ToolSpec};
    /// use haft_tools_core::{Accesses, DecidedBy, Policy, Rule};
    ///
    /// let policy = Policy::new().allow(Rule::tools("now".parse()?));
    /// let spec = ToolSpec::new("now".parse()?, "Tells the time.", Schema::empty());
    /// let by = DecidedBy::verdicts(&policy.explain(&spec, &Accesses::none()));
    /// assert_eq!(serde_json::to_string(&by)?, r#"{"by":"rule","decision":"allow","rules":["now"]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verdicts(verdicts: &[Verdict<'_>]) -> Self {
        let decision = verdicts.iter().map(Verdict::decision).max().unwrap_or(Decision::Ask);
        if decision == Decision::Allow {
            return Self::Rule { decision, rules: printed(verdicts), access: None };
        }
        let decisive = verdicts.iter().find(|verdict| verdict.decision() == decision);
        let access = decisive.and_then(Verdict::access).map(Access::to_string);
        let rules = decisive.map(|verdict| printed(std::slice::from_ref(verdict))).unwrap_or_default();
        Self::Rule { decision, rules, access }
    }

    /// Names a person's answer and what they said with it, which a journal cuts to 1,024 bytes.
    pub fn person(answer: PersonAnswer, reason: &str) -> Self {
        Self::Person { answer, reason: reason.to_owned() }
    }

    /// Names the layer that decided, or gives its reason, which a journal cuts to 1,024 bytes.
    pub fn layer(reason: &str) -> Self {
        Self::Layer { reason: reason.to_owned() }
    }
}

/// Lists the rules behind a decision that allows.
fn printed(verdicts: &[Verdict<'_>]) -> Vec<String> {
    let mut rules: Vec<&Rule> = Vec::new();
    for rule in verdicts.iter().filter_map(Verdict::rule) {
        if !rules.iter().any(|known| std::ptr::eq(*known, rule)) {
            rules.push(rule);
        }
    }
    let mut printed: Vec<String> = rules.iter().take(MOST_RULES).map(ToString::to_string).collect();
    if rules.len() > MOST_RULES {
        printed.push(format!("… and {} more", rules.len() - MOST_RULES));
    }
    printed
}

/// Prints an access without secrets and within bounds.
pub(super) fn print(access: &Access, redactor: &Redactor) -> String {
    let mut printed = access.to_string();
    redact_and_cut(&mut printed, MOST_ACCESS, redactor);
    printed
}

/// Replaces secrets in a text, keeps at most so many bytes of it, and marks that there was more.
fn redact_and_cut(text: &mut String, most: usize, redactor: &Redactor) {
    if let Cow::Owned(redacted) = redactor.redact(text) {
        *text = redacted;
    }
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most - '…'.len_utf8()));
        text.push('…');
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
