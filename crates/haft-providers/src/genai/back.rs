//! What an adapter wants back word for word.

use crate::kept::{Kept, Wire};
use genai::chat::ContentPart;
use haft_core::AssistantPart;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Is what an adapter wants back of one turn.
#[derive(Debug, Default)]
pub(super) struct Back {
    /// What comes ahead of all that was said.
    pub(super) parts: Vec<ContentPart>,
    /// What belongs to calls, by their ids.
    pub(super) signatures: HashMap<String, Vec<String>>,
}

impl Back {
    /// Writes it for the transcript; gives nothing where there is nothing to be kept.
    pub(super) fn written(&self, adapter: &str) -> Option<Value> {
        if self.parts.is_empty() && self.signatures.is_empty() {
            return None;
        }
        let Self { parts, signatures } = self;
        Some(Wire::Genai.block(json!({ "adapter": adapter, "parts": parts, "signatures": signatures })))
    }

    /// Reads it from a part of a turn that this adapter wrote.
    pub(super) fn read(part: &AssistantPart, adapter: &str) -> Option<Self> {
        let AssistantPart::Reasoning { text, provider_data } = part else { return None };
        let Kept::Block(mut block) = Wire::Genai.read(text, provider_data) else { return None };
        if block.get("adapter").and_then(Value::as_str) != Some(adapter) {
            return None;
        }
        Some(Self {
            parts: serde_json::from_value(block.remove("parts")?).ok()?,
            signatures: serde_json::from_value(block.remove("signatures")?).ok()?,
        })
    }
}
