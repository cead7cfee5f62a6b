mod cut_outputs;

pub use cut_outputs::CutOutputs;

use async_trait::async_trait;
use haft_core::{Content, Message, ToolReply};
use haft_tools_core::CallScope;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::sync::Arc;

/// Makes less of what a model is told, when it comes near to what a request can hold.
///
/// What it gives is a view: the transcript keeps every message, and each message can be told otherwise, or not at all. Calls
/// and their replies have to stay together. It may do something of its own for it, such as storing an output or asking a
/// model for a summary.
///
/// ```
/// use async_trait::async_trait;
/// use haft_agent::{CompactError, Compaction, CompactionContext, Told};
/// use haft_core::Message;
/// use std::sync::Arc;
///
/// /// Forgets everything but the first message and the last turns.
/// struct Forgetful;
///
/// #[async_trait]
/// impl Compaction for Forgetful {
///     async fn compact(&self, context: CompactionContext<'_>) -> Result<Vec<Told>, CompactError> {
///         let turns: Vec<usize> = context
///             .told()
///             .filter(|(_, message)| matches!(***message, Message::Assistant { .. }))
///             .map(|(index, _)| index)
///             .collect();
///         let Some(first_kept) = turns.iter().rev().nth(3) else { return Ok(Vec::new()) };
///         let before = context.told().map(|(index, _)| index).filter(|index| (1..*first_kept).contains(index));
///         Ok(before.map(Told::nothing).collect())
///     }
/// }
/// ```
#[async_trait]
pub trait Compaction: Send + Sync + 'static {
    /// Says what the model is told in the place of which message; nothing if there is nothing to be made less.
    ///
    /// # Errors
    ///
    /// When it cannot be said. The run goes on with what it has.
    ///
    /// # Cancel safety
    ///
    /// It is dropped when the run is cancelled.
    async fn compact(&self, context: CompactionContext<'_>) -> Result<Vec<Told>, CompactError>;

    /// Looks whether what is told in the place of messages is still right, and says what is told in their place from now on;
    /// nothing by default.
    ///
    /// Asked once whenever somebody begins to drive a run of which less is told: it may be another process than the one that
    /// compacted it, in which what is told there leads nowhere.
    ///
    /// # Errors
    ///
    /// When it cannot be said. The run goes on with what it has.
    ///
    /// # Cancel safety
    ///
    /// It is dropped when the run is cancelled.
    async fn renew(&self, context: CompactionContext<'_>) -> Result<Vec<Told>, CompactError> {
        let _ = context;
        Ok(Vec::new())
    }
}

/// Says why a context was not compacted.
///
/// ```
/// use haft_agent::CompactError;
///
/// let error: CompactError = "the model that writes summaries is not there".into();
/// assert_eq!(error.to_string(), "the model that writes summaries is not there");
/// ```
pub type CompactError = Box<dyn Error + Send + Sync>;

/// Is what a model would be told next.
///
/// ```
/// use haft_agent::{CompactionContext, Told};
/// use haft_core::Message;
///
/// /// Leaves out what the user said, but for the first and the last time.
/// fn shorter(context: CompactionContext<'_>) -> Vec<Told> {
///     let said = context.told().filter(|(_, message)| matches!(***message, Message::User { .. }));
///     let said: Vec<usize> = said.map(|(index, _)| index).collect();
///     match said.as_slice() {
///         [_, between @ .., _] => between.iter().copied().map(Told::nothing).collect(),
///         _ => Vec::new(),
///     }
/// }
/// # let _ = shorter;
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CompactionContext<'a> {
    /// On whose behalf the run works; outputs are stored for it.
    pub scope: &'a CallScope,
    /// What a request takes up, in estimated tokens.
    pub tokens: u64,
    /// What it should take up at most, in estimated tokens.
    pub target: u64,
    messages: &'a [Arc<Message>],
    instead: &'a Instead,
}

/// Says what a model is told in the place of one message.
///
/// ```
/// use haft_agent::Told;
/// use haft_core::Message;
///
/// let summary = Told::instead_of(3, Message::user("So far: the parser was mended."));
/// assert_eq!((summary.message, summary.instead.is_some()), (3, true));
/// assert_eq!(Told::nothing(4).instead, None);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Told {
    /// The message's place in the transcript, from 0.
    pub message: usize,
    /// What is told; nothing if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Arc<Message>>,
}

/// Is what one compaction changed in what a model is told.
///
/// ```
/// use haft_agent::{LogEntry, RunEvent, RunState, Told};
/// use haft_core::Message;
///
/// let mut state = RunState::new();
/// state.step(RunEvent::Prompted { text: "Mend it.".to_owned() })?;
/// let told = vec![Told::instead_of(0, Message::user("Mend the parser."))];
/// state.step(RunEvent::Compacted { told: told.clone() })?;
/// let entries: Vec<LogEntry> = state.log_from(1).collect();
/// assert!(matches!(&entries[..], [LogEntry::Compacted(compacted)] if compacted.told == told));
/// # Ok::<(), haft_agent::StepError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Compacted {
    /// What is told in the place of which message.
    pub told: Vec<Told>,
}

/// Holds what is told otherwise, by the place of the message.
pub(crate) type Instead = std::collections::BTreeMap<usize, Option<Arc<Message>>>;

impl Told {
    /// Has this told in the place of a message.
    pub fn instead_of(message: usize, instead: impl Into<Arc<Message>>) -> Self {
        Self { message, instead: Some(instead.into()) }
    }

    /// Leaves a message out.
    pub fn nothing(message: usize) -> Self {
        Self { message, instead: None }
    }
}

impl<'a> CompactionContext<'a> {
    pub(crate) fn new(
        scope: &'a CallScope,
        (tokens, target): (u64, u64),
        messages: &'a [Arc<Message>],
        instead: &'a Instead,
    ) -> Self {
        Self { scope, tokens, target, messages, instead }
    }

    /// Iterates over the messages in whose place something else is told, oldest first, each with its place in the transcript and
    /// with what is told; messages that are left out are not among them.
    pub fn replaced(&self) -> impl Iterator<Item = (usize, &'a Arc<Message>, &'a Arc<Message>)> + use<'a> {
        let messages = self.messages;
        self.instead
            .iter()
            .filter_map(|(index, instead)| Some((*index, messages.get(*index)?, instead.as_ref()?)))
    }

    /// Iterates over what would be told, oldest first, each with its place in the transcript.
    pub fn told(&self) -> impl DoubleEndedIterator<Item = (usize, &'a Arc<Message>)> + use<'a> {
        told(self.messages, self.instead)
    }
}

/// Iterates over what is told, each with its place in the transcript.
pub(crate) fn told<'a>(
    messages: &'a [Arc<Message>],
    instead: &'a Instead,
) -> impl DoubleEndedIterator<Item = (usize, &'a Arc<Message>)> + use<'a> {
    messages.iter().enumerate().filter_map(|(index, message)| match instead.get(&index) {
        None => Some((index, message)),
        Some(instead) => Some((index, instead.as_ref()?)),
    })
}

/// Says what is wrong with a view in which calls and replies do not belong together.
pub(crate) fn mismatch(told: &[Arc<Message>]) -> Option<String> {
    let replies = |message: Option<&Arc<Message>>| match message.map(|message| &**message) {
        Some(Message::Tool { replies }) => replies.iter().map(|reply| reply.call_id.clone()).collect(),
        _ => Vec::new(),
    };
    for (place, message) in told.iter().enumerate() {
        let next = replies(told.get(place + 1));
        let calls: Vec<_> = message.tool_calls().map(|call| call.id.clone()).collect();
        if calls != next {
            return Some(match told.get(place + 1) {
                None => "the calls of the last message have no replies".to_owned(),
                Some(_) => {
                    format!(
                        "the message {place} of the view has other calls than those that follow it answer"
                    )
                }
            });
        }
    }
    match told.first().map(|message| &**message) {
        Some(Message::Tool { .. }) => {
            Some("the view begins with replies to calls that are not in it".to_owned())
        }
        _ => None,
    }
}

/// Estimates how many tokens a message takes up: a fourth of its bytes, what an image takes up for each, and a little for
/// what stands around it.
pub(crate) fn estimate(message: &Message) -> u64 {
    let (bytes, images) = match message {
        Message::User { content } => size(content),
        Message::Tool { replies } => replies.iter().fold((0, 0), |(bytes, images), reply: &ToolReply| {
            let (more, other) = size(&reply.output.content);
            (bytes + more + 16, images + other)
        }),
        other => (serde_json::to_vec(other).map_or(0, |json| json.len()), 0),
    };
    (bytes as u64).div_ceil(BYTES_A_TOKEN) + images * IMAGE_TOKENS + AROUND
}

/// Counts the bytes of what is no image, and the images.
fn size(content: &[Content]) -> (usize, u64) {
    content.iter().fold((0, 0), |(bytes, images), part| match part {
        Content::Image { .. } => (bytes, images + 1),
        other => (bytes + other.size_bytes(), images),
    })
}

/// Bytes of English and code that make a token, on average, in the byte-pair encodings in use.
pub(crate) const BYTES_A_TOKEN: u64 = 4;

/// The most tokens that an image takes up: 1,568 of 750 pixels each, to which Anthropic scales larger ones down (Vision,
/// 2025).
const IMAGE_TOKENS: u64 = 1_568;

/// Tokens that a message takes up beside what it says.
const AROUND: u64 = 4;
