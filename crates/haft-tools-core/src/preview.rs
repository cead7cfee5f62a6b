use crate::Redactor;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The most bytes of a preview's text.
const MOST_BYTES: usize = 256 * 1024;

/// Shows a person what a call is about to do; a text of over 256 KiB has its middle cut out.
///
/// ```
/// use haft_tools_core::Preview;
///
/// let preview = Preview::Command("git push origin main".to_owned());
/// assert_eq!(preview.as_text(), "git push origin main");
/// assert_eq!(serde_json::to_value(&preview)?["kind"], "command");
/// assert_eq!(Preview::Arguments.as_text(), "");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Preview {
    /// The call's arguments say it all.
    Arguments,
    /// A change, as a unified diff.
    Diff(String),
    /// A command, as it will run.
    Command(String),
    /// A request, as it will be sent, without secrets.
    Request(String),
    /// Anything else, in words.
    Text(String),
}

impl Preview {
    /// Borrows the text; empty where the arguments are shown.
    pub fn as_text(&self) -> &str {
        match self {
            Self::Arguments => "",
            Self::Diff(text) | Self::Command(text) | Self::Request(text) | Self::Text(text) => text,
        }
    }

    /// Replaces secrets in a text: what is shown is kept, too.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
        if let Some(text) = self.text_mut()
            && let Cow::Owned(redacted) = redactor.redact(text)
        {
            *text = redacted;
        }
        self
    }

    /// Cuts the middle out of a text that no person would read to its end, and says so.
    pub(crate) fn bounded(mut self) -> Self {
        if let Some(text) = self.text_mut().filter(|text| text.len() > MOST_BYTES) {
            let head = text.floor_char_boundary(MOST_BYTES / 2);
            let tail = text.ceil_char_boundary(text.len() - MOST_BYTES / 2);
            let cut = format!("\n[… {} bytes are not shown …]\n", tail - head);
            text.replace_range(head..tail, &cut);
        }
        self
    }

    fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Arguments => None,
            Self::Diff(text) | Self::Command(text) | Self::Request(text) | Self::Text(text) => Some(text),
        }
    }
}
