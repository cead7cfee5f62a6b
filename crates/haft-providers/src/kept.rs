//! What a provider wants back word for word, marked with the wire format it belongs to.
//!
//! It is kept with transcripts, so that its form stays: what cannot be read any more is sent as text.

use serde_json::{Map, Value, json};

/// The wire formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    #[cfg(feature = "anthropic")]
    AnthropicMessages,
    #[cfg(feature = "openai")]
    OpenAiChat,
    #[cfg(feature = "openai")]
    OpenAiResponses,
    /// Whatever an adapter of the crate `genai` speaks; the block says which.
    #[cfg(feature = "genai")]
    Genai,
}

impl Wire {
    fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "anthropic")]
            Self::AnthropicMessages => "anthropic_messages",
            #[cfg(feature = "openai")]
            Self::OpenAiChat => "openai_chat",
            #[cfg(feature = "openai")]
            Self::OpenAiResponses => "openai_responses",
            #[cfg(feature = "genai")]
            Self::Genai => "genai",
        }
    }

    /// Marks a block that the model wrote.
    pub(crate) fn block(self, block: Value) -> Value {
        self.mark("block", block)
    }

    /// Marks what is said about other parts of the turn; there is nothing in it to read.
    #[cfg(feature = "openai")]
    pub(crate) fn about(self, about: Value) -> Value {
        self.mark("about", about)
    }

    fn mark(self, member: &str, value: Value) -> Value {
        let mut marked = Map::new();
        marked.insert("wire".to_owned(), json!(self.name()));
        marked.insert(member.to_owned(), value);
        marked.into()
    }

    /// Reads what a part of reasoning holds for this wire format.
    pub(crate) fn read(self, text: &str, data: &Value) -> Kept {
        if data["wire"] == self.name() {
            match (&data["block"], &data["about"]) {
                (Value::Object(block), _) => return Kept::Block(block.clone()),
                (_, Value::Object(about)) => return Kept::About(about.clone()),
                _ => {}
            }
        }
        Kept::of_another(text, data)
    }
}

/// What a part of reasoning holds for one wire format.
#[derive(Debug, PartialEq)]
pub(crate) enum Kept {
    /// A block of its own, to be sent back as it is.
    Block(Map<String, Value>),
    /// What belongs to other parts of the turn.
    About(Map<String, Value>),
    /// Another's reasoning, as text.
    Foreign(String),
    /// What only concerns another wire format.
    Nothing,
}

impl Kept {
    /// What a part of reasoning says to those who cannot give it back as it came.
    pub(crate) fn of_another(text: &str, data: &Value) -> Self {
        match (text.is_empty(), data.is_null() || data["about"].is_object()) {
            (true, true) => Self::Nothing,
            (true, false) => Self::Foreign("[earlier reasoning that cannot be read here]".to_owned()),
            (false, _) => Self::Foreign(format!("[earlier reasoning]\n{text}\n[end of reasoning]")),
        }
    }
}

/// Makes a JSON object of a call's arguments, which are one unless the model made a mistake.
pub(crate) fn arguments(input: &Value) -> Value {
    match input {
        Value::Object(_) => input.clone(),
        other => json!({ "unparsed_arguments": other }),
    }
}

/// Adds what the host wants to say besides, in the place of what was said; the members named stay as they are.
#[cfg(any(feature = "anthropic", feature = "openai"))]
pub(crate) fn add_extra(body: &mut Map<String, Value>, extra: &Map<String, Value>, fixed: &[&str]) {
    for (name, value) in extra {
        if !fixed.contains(&name.as_str()) {
            body.insert(name.clone(), value.clone());
        }
    }
}
