//! Names and ids as a service takes them, and what they stand for.

use haft_core::{ToolName, ToolSpec};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Which names a service takes, beyond the rule of [`ToolName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    #[cfg_attr(
        not(any(feature = "anthropic", feature = "openai")),
        expect(dead_code, reason = "another service's")
    )]
    Any,
    /// The first character is a letter or `_`: Gemini's rule.
    #[cfg_attr(
        not(any(feature = "genai", feature = "openai")),
        expect(dead_code, reason = "another service's")
    )]
    LetterFirst,
}

impl NameRule {
    /// Writes the name of a tool, or whatever a model took for one, as the service takes it.
    pub(crate) fn written(self, name: &str) -> Cow<'_, str> {
        let is_valid = name.parse::<ToolName>().is_ok();
        let fits = match self {
            Self::Any => true,
            Self::LetterFirst => name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
        };
        match (is_valid, fits) {
            (true, true) => Cow::Borrowed(name),
            (false, true) => Cow::Owned(ToolName::project(name).as_str().to_owned()),
            // The `!` is no character of a name, so that the projection is marked with a hash and is nobody else's name.
            (_, false) => Cow::Owned(ToolName::project(&format!("t_{name}!")).as_str().to_owned()),
        }
    }

    /// Says which written names stand for others.
    pub(crate) fn aliases(self, tools: &[Arc<ToolSpec>]) -> Aliases {
        let names = tools.iter().map(|tool| tool.name().as_str());
        let aliases = names.filter_map(|name| match self.written(name) {
            Cow::Borrowed(_) => None,
            Cow::Owned(written) => Some((written, name.to_owned())),
        });
        Aliases(Arc::new(aliases.collect()))
    }
}

/// The names that had to be written otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Aliases(Arc<HashMap<String, String>>);

impl Aliases {
    /// Reads a name that a model wrote.
    pub(crate) fn read(&self, written: &str) -> String {
        self.0.get(written).map_or(written, String::as_str).to_owned()
    }
}

/// Writes the id of a call as every service takes it: up to 64 of `[A-Za-z0-9_-]`.
pub(crate) fn written_id(id: &str) -> Cow<'_, str> {
    match id.parse::<ToolName>() {
        Ok(_) => Cow::Borrowed(id),
        Err(_) => Cow::Owned(ToolName::project(id).as_str().to_owned()),
    }
}

#[cfg(all(test, feature = "openai"))]
mod tests {
    use super::*;
    use haft_core::Schema;

    #[test]
    fn names_that_a_service_does_not_take_are_written_otherwise_and_read_back() {
        let tools: Vec<Arc<ToolSpec>> = ["read", "3d_view", "-x"]
            .map(|name| Arc::new(ToolSpec::new(name.parse().unwrap(), "d", Schema::empty())))
            .into();
        let aliases = NameRule::LetterFirst.aliases(&tools);
        for tool in &tools {
            let written = NameRule::LetterFirst.written(tool.name().as_str());
            assert!(written.starts_with(|c: char| c.is_ascii_alphabetic()), "{written}");
            assert_eq!(aliases.read(&written), tool.name().as_str());
        }
        assert_eq!(NameRule::Any.written("3d_view"), "3d_view");
        assert_eq!(NameRule::Any.written("no name"), "no_name_f208e82414ce");
        assert_eq!(aliases.read("unknown"), "unknown");
    }
}
