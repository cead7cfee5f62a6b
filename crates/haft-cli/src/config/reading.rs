use super::ConfigFile;
use crate::exit::UsageError;
use anyhow::Result;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use std::fmt::Display;
use std::str::FromStr;

impl ConfigFile {
    /// Reads what a type knows of the file; the tables of others are left alone.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(&self.text).map_err(|error| {
            let place = error.span().map(|span| self.place(span.start)).unwrap_or_default();
            UsageError(format!("{}{place}: {}", self.path, told(error.message()))).into()
        })
    }

    /// Gives the line that a byte is on, 1-based.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
    }

    /// Writes where a byte is, as `:LINE:COLUMN`.
    fn place(&self, offset: usize) -> String {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line = self.line_of(offset);
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let column = 1 + String::from_utf8_lossy(&before[start..]).chars().count();
        format!(":{line}:{column}")
    }
}

/// Says what is wrong with a table, without the value; of a field that is not known, what is meant, and not all that could be.
pub(crate) fn told(message: &str) -> String {
    if let Some((found, expected)) =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected "))
    {
        return format!("this is {}; write {}", kind(found), kind(expected));
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let (true, Some(unknown)) = (message.starts_with("unknown field"), quoted.next()) else {
        return message.to_owned();
    };
    let near = haft::tools_core::listed(haft::tools_core::nearest(unknown, quoted), "or");
    let instead = if near.is_empty() { String::new() } else { format!("; did you mean {near}?") };
    format!("`{unknown}` is not known{instead}")
}

/// Names a kind of value as TOML does; what is no such kind is said in its own words.
fn kind(words: &str) -> &str {
    let kinds = [
        (["string", "a string"], "a text"),
        (["sequence", "a sequence"], "a list"),
        (["map", "a map"], "a table"),
        (["integer", "i64"], "a number"),
        (["floating", "f64"], "a number"),
        (["boolean", "a boolean"], "true or false"),
    ];
    let first = words.split(' ').next().unwrap_or_default();
    let named = kinds.iter().find(|(names, _)| names.iter().any(|name| *name == words || *name == first));
    named.map_or(words, |(_, kind)| kind)
}

/// Reads a text as the command line does.
pub(super) fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    read_by(deserializer, str::parse)
}

/// Reads a text by a function.
pub(super) fn read_by<'de, D: Deserializer<'de>, T, E: Display>(
    deserializer: D,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    read(&text).map(Some).map_err(D::Error::custom)
}

/// Reads a number that is not too small.
pub(super) fn at_least<'de, const LEAST: u64, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    let number = u64::deserialize(deserializer)?;
    if number < LEAST {
        return Err(D::Error::custom(format!("{number} is too small; write {LEAST} or more")));
    }
    Ok(Some(number))
}

/// Reads texts as the command line does.
pub(super) fn all_parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}
