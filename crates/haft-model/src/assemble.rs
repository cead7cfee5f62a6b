use crate::{Delta, DeltaStream, ModelError, ProtocolError, arguments};
use haft_core::{AssistantPart, CallId, Message, StopReason, ToolCall, Usage};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The most bytes of one turn; the longest answers that providers give today are under one mebibyte.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What a part counts as in addition to its text, in bytes, so that many empty parts are bounded as well.
const PART_BYTES: usize = 128;

/// Holds a whole turn of a model.
///
/// ```
/// use haft_core::{AssistantPart, StopReason, Usage};
/// use haft_model::ModelTurn;
///
/// let parts = vec![AssistantPart::Text { text: "It rains.".to_owned() }];
/// let turn = ModelTurn::new(parts, Usage::default(), StopReason::EndTurn);
/// assert_eq!(turn.message.assistant_text(), "It rains.");
/// assert_eq!(turn.stop, StopReason::EndTurn);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelTurn {
    /// What the model said: always [`Message::Assistant`].
    pub message: Message,
    /// What the turn cost; zero where the model did not say.
    pub usage: Usage,
    /// Why the model stopped.
    pub stop: StopReason,
}

impl ModelTurn {
    /// Makes a turn of these parts.
    pub fn new(parts: Vec<AssistantPart>, usage: Usage, stop: StopReason) -> Self {
        Self { message: Message::Assistant { parts }, usage, stop }
    }
}

/// Reads a stream to its end and puts the turn together.
///
/// Parts come in the order in which they first appeared; text that nothing interrupts is one part. Arguments that are
/// empty become `{}`, and those that are not JSON stay as they are in a JSON string. `observer` sees each delta that
/// keeps the rules, before the next one is asked for.
///
/// ```
/// use haft_core::StopReason;
/// use haft_model::{Delta, DeltaStream, assemble};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft_model::ModelError> {
/// let deltas = ["Good ", "morning."].map(|text| Delta::Text(text.into()));
/// let stream = DeltaStream::from_deltas(deltas.into_iter().chain([Delta::Stop(StopReason::EndTurn)]));
/// let mut seen = 0;
/// let turn = assemble(stream, |_| seen += 1).await?;
/// assert_eq!((turn.message.assistant_text().as_str(), seen), ("Good morning.", 3));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The stream's own error; [`ModelError::Truncated`] if it ends without a stop; [`ModelError::Protocol`] if it breaks a
/// rule written at [`Delta`], holds more than 16 MiB, or has a provider want back what is nested in more than 100 levels.
///
/// # Cancel safety
///
/// Dropping the future drops the stream and what was read of it. To keep that, use an [`Assembler`].
pub async fn assemble(
    mut stream: DeltaStream,
    mut observer: impl FnMut(&Delta),
) -> Result<ModelTurn, ModelError> {
    let mut assembler = Assembler::new();
    while let Some(delta) = stream.next().await {
        let delta = delta?;
        let size = assembler.admit(&delta)?;
        observer(&delta);
        assembler.apply(delta, size);
    }
    assembler.finish()
}

/// Puts a turn together from its deltas, one at a time: [`assemble`] without the stream.
///
/// ```
/// use haft_core::StopReason;
/// use haft_model::{Assembler, Delta};
///
/// let mut assembler = Assembler::new();
/// assembler.push(Delta::Text("Done.".into()))?;
/// assembler.push(Delta::Stop(StopReason::EndTurn))?;
/// assert_eq!(assembler.finish()?.message.assistant_text(), "Done.");
/// # Ok::<(), haft_model::ModelError>(())
/// ```
#[derive(Debug, Default)]
pub struct Assembler {
    parts: Vec<Part>,
    /// Where in `parts` the call of an index is.
    calls: HashMap<u32, usize>,
    ids: HashSet<CallId>,
    usage: Usage,
    stop: Option<StopReason>,
    bytes: usize,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Reasoning { text: String, provider_data: Value },
    Call { id: CallId, name: String, arguments: String },
}

impl Assembler {
    /// Starts a turn.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next delta.
    ///
    /// # Errors
    ///
    /// [`ModelError::Protocol`] if the delta breaks a rule written at [`Delta`], or the turn grows over 16 MiB; it is
    /// then as if the delta had not come.
    pub fn push(&mut self, delta: Delta) -> Result<(), ModelError> {
        let size = self.admit(&delta)?;
        self.apply(delta, size);
        Ok(())
    }

    /// Ends the turn.
    ///
    /// # Errors
    ///
    /// [`ModelError::Truncated`] if there was no stop.
    pub fn finish(self) -> Result<ModelTurn, ModelError> {
        let Some(stop) = self.stop else {
            return Err(ModelError::Truncated);
        };
        let parts = self.parts.into_iter().map(AssistantPart::from).collect();
        Ok(ModelTurn::new(parts, self.usage, stop))
    }

    /// Checks a delta against what came so far, and gives the bytes it adds.
    fn admit(&self, delta: &Delta) -> Result<usize, ProtocolError> {
        if self.stop.is_some() {
            return Err(ProtocolError::AfterStop);
        }
        let size = match delta {
            Delta::Text(text) => {
                let goes_on = matches!(self.parts.last(), Some(Part::Text(_)));
                text.len() + new_part(goes_on || text.is_empty())
            }
            Delta::Reasoning { text, provider_data } => {
                if !arguments::fits(provider_data) {
                    return Err(ProtocolError::TooDeep { limit: arguments::MAX_LEVELS });
                }
                let is_empty = text.is_empty() && provider_data.is_null();
                text.len() + weight(provider_data) + new_part(self.reasoning_is_open() || is_empty)
            }
            Delta::ToolCallStart { index, id, name } => {
                if self.calls.contains_key(index) {
                    return Err(ProtocolError::StartedTwice { index: *index });
                }
                if self.ids.contains(id) {
                    return Err(ProtocolError::RepeatedId { id: id.clone() });
                }
                id.as_str().len() + name.len() + PART_BYTES
            }
            Delta::ToolCallArguments { index, fragment } => {
                if !self.calls.contains_key(index) {
                    return Err(ProtocolError::UnknownCall { index: *index });
                }
                fragment.len()
            }
            Delta::Usage(_) => 0,
            Delta::Stop(stop) => {
                check_stop(*stop, self.calls.len())?;
                0
            }
        };
        if self.bytes.saturating_add(size) > MAX_BYTES {
            return Err(ProtocolError::TooLarge { limit: MAX_BYTES });
        }
        Ok(size)
    }

    /// Adds a delta that was admitted.
    fn apply(&mut self, delta: Delta, size: usize) {
        self.bytes += size;
        match delta {
            Delta::Text(text) => match self.parts.last_mut() {
                Some(Part::Text(whole)) => whole.push_str(&text),
                _ if text.is_empty() => {}
                _ => self.parts.push(Part::Text(text)),
            },
            Delta::Reasoning { text, provider_data } => match self.parts.last_mut() {
                Some(Part::Reasoning { text: whole, provider_data: data @ Value::Null }) => {
                    whole.push_str(&text);
                    *data = provider_data;
                }
                _ if text.is_empty() && provider_data.is_null() => {}
                _ => self.parts.push(Part::Reasoning { text, provider_data }),
            },
            Delta::ToolCallStart { index, id, name } => {
                self.calls.insert(index, self.parts.len());
                self.ids.insert(id.clone());
                self.parts.push(Part::Call { id, name, arguments: String::new() });
            }
            Delta::ToolCallArguments { index, fragment } => {
                let part = self.calls.get(&index).and_then(|position| self.parts.get_mut(*position));
                if let Some(Part::Call { arguments, .. }) = part {
                    arguments.push_str(&fragment);
                }
            }
            Delta::Usage(usage) => self.usage = usage,
            Delta::Stop(stop) => self.stop = Some(stop),
        }
    }

    fn reasoning_is_open(&self) -> bool {
        matches!(self.parts.last(), Some(Part::Reasoning { provider_data: Value::Null, .. }))
    }
}

impl From<Part> for AssistantPart {
    fn from(part: Part) -> Self {
        match part {
            Part::Text(text) => Self::Text { text },
            Part::Reasoning { text, provider_data } => Self::Reasoning { text, provider_data },
            Part::Call { id, name, arguments } => {
                Self::ToolCall { call: ToolCall::new(id, name, arguments::parse(arguments)) }
            }
        }
    }
}

/// Checks that a turn with this many calls can stop for this reason.
fn check_stop(stop: StopReason, calls: usize) -> Result<(), ProtocolError> {
    match (stop, calls) {
        (StopReason::ToolCalls, 0) => Err(ProtocolError::NoCalls),
        (StopReason::EndTurn, 1..) => Err(ProtocolError::UnexpectedCalls { calls }),
        _ => Ok(()),
    }
}

/// Estimates the bytes a value keeps.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Bool(_) | Value::Number(_) => 32,
        Value::String(text) => 32 + text.len(),
        Value::Array(items) => 32 + items.iter().map(|item| 32 + weight(item)).sum::<usize>(),
        Value::Object(members) => {
            32 + members.iter().map(|(key, member)| 64 + key.len() + weight(member)).sum::<usize>()
        }
    }
}

/// The bytes to count for a delta's own part: none where it has none.
fn new_part(has_none: bool) -> usize {
    if has_none { 0 } else { PART_BYTES }
}
