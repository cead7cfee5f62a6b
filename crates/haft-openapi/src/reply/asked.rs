use crate::tools::Inner;
use haft_core::Visible;
use haft_tools_core::CallContext;
use url::Url;

/// Is what was asked.
pub(crate) struct Asked<'a> {
    pub(crate) tool: &'a Inner,
    /// The address, without credentials.
    pub(crate) url: &'a Url,
    pub(crate) cx: &'a CallContext,
}

impl Asked<'_> {
    /// Gives what was read of a text that goes on, without secrets and without what may be the beginning of one at its end.
    pub(super) fn cut(&self, text: String) -> String {
        self.tool.shared.redactor.stream().push(text)
    }

    /// Shows what the API says, cut to so many bytes, without hidden characters and without what was sent as a secret.
    pub(super) fn shown(&self, text: &str, most: usize) -> String {
        let redacted = self.tool.shared.redactor.redact(text);
        let kept = &redacted[..redacted.floor_char_boundary(most)];
        let shown = Visible::new(kept).to_string();
        if kept.len() < redacted.len() {
            format!("{shown} [and {} bytes more]", redacted.len() - kept.len())
        } else {
            shown
        }
    }
}
