use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Counts the tokens that a model turn cost; all counts are in tokens.
///
/// `input` counts every token of the prompt, those read from a cache included, so that turns of different providers
/// can be added up.
///
/// ```
/// use haft_core::Usage;
///
/// let mut total = Usage::default();
/// total += Usage { input: 1200, output: 40, ..Usage::default() };
/// assert_eq!(total.total(), 1240);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input: u64,
    /// Tokens the model wrote.
    pub output: u64,
    /// Those of the prompt that were read from the provider's cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    /// Those of the prompt that were written to the provider's cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write: u64,
}

impl Usage {
    /// Adds the prompt and what the model wrote.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
