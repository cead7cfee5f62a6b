use crate::exit::UsageError;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use std::env;
use std::fmt;

/// Is a header that is sent to a service with every request; nothing shows or keeps its value.
#[derive(Clone)]
pub(crate) struct Header {
    name: String,
    value: Written,
}

/// How a value is written on the command line.
#[derive(Clone)]
enum Written {
    /// As it is.
    Plainly(String),
    /// What stands ahead of the name of a variable, and that name.
    With { before: String, variable: String },
}

/// Holds what is kept of a header: its value only where it is the name of a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptHeader {
    name: String,
    /// What stands ahead of the variable, such as `Bearer `.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    before: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variable: Option<String>,
}

/// Is a header with its value.
pub(crate) struct SentHeader {
    pub(crate) name: String,
    pub(crate) value: String,
    /// What a variable gave of the value: whoever does not write it out wants it shown nowhere.
    variable: Option<String>,
}

/// What stands ahead of a secret in the header `Authorization`; anything else might be a part of one.
const SCHEMES: [&str; 4] = ["", "Bearer ", "Basic ", "Token "];

impl Header {
    /// Reads `NAME: VALUE`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let Some((name, value)) = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()))
        else {
            // It is not quoted: it may be a value.
            let message = "a header is its name, a colon and its value; write `--header 'NAME: VALUE'`";
            return Err(UsageError(message.to_owned()).into());
        };
        let value = match value.rsplit_once('$') {
            Some((before, variable)) if SCHEMES.contains(&before) && is_variable(variable) => {
                Written::With { before: before.to_owned(), variable: variable.to_owned() }
            }
            _ => Written::Plainly(value.to_owned()),
        };
        Ok(Self { name: name.to_ascii_lowercase(), value })
    }

    /// What of its value must be shown nowhere, as far as the environment has it.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let sent = SentHeader::of(&self.kept(), std::slice::from_ref(self)).ok();
        sent.iter().flat_map(SentHeader::secrets).map(str::to_owned).collect()
    }

    pub(super) fn kept(&self) -> KeptHeader {
        let (before, variable) = match &self.value {
            Written::Plainly(_) => (String::new(), None),
            Written::With { before, variable } => (before.clone(), Some(variable.clone())),
        };
        KeptHeader { name: self.name.clone(), before, variable }
    }
}

/// Shows the name only.
impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Header({})", self.name)
    }
}

impl SentHeader {
    /// Finds the values of headers, in what is given now and in the environment.
    ///
    /// # Errors
    ///
    /// When a variable is not set.
    pub(super) fn find(kept: &[KeptHeader], given: &[Header]) -> Result<Vec<Self>> {
        let new = given.iter().filter(|header| kept.iter().all(|kept| kept.name != header.name));
        let new: Vec<KeptHeader> = new.map(Header::kept).collect();
        kept.iter().chain(&new).map(|kept| Self::of(kept, given)).collect()
    }

    /// Finds the values of headers as they are written, in the environment where they name a variable.
    ///
    /// # Errors
    ///
    /// When one is no header, or a variable is not set.
    pub(crate) fn written(headers: &[String]) -> Result<Vec<Self>> {
        let given = headers.iter().map(|header| Header::parse(header)).collect::<Result<Vec<_>>>()?;
        Self::find(&[], &given)
    }

    fn of(kept: &KeptHeader, given: &[Header]) -> Result<Self> {
        let name = &kept.name;
        let given = given.iter().rfind(|header| header.name == *name).map(|header| &header.value);
        let (before, variable) = match (given, &kept.variable) {
            (Some(Written::Plainly(value)), _) => (value.as_str(), None),
            (Some(Written::With { before, variable }), _) => {
                (before.as_str(), Some(variable_of(name, variable)?))
            }
            (None, Some(variable)) => (kept.before.as_str(), Some(variable_of(name, variable)?)),
            (None, None) => bail!(UsageError(format!(
                "the value of the header `{name}` was not kept; give it again with `--header '{name}: VALUE'`"
            ))),
        };
        let value = format!("{before}{}", variable.as_deref().unwrap_or_default());
        Ok(Self { name: name.clone(), value, variable })
    }

    /// Tells whether it says who asks, so that no key is needed beside it.
    pub(super) fn is_key(&self) -> bool {
        ["authorization", "x-api-key", "api-key"].contains(&self.name.as_str())
    }

    /// What of its value must be shown nowhere: what a variable gave, and all behind the scheme if its name says that it is a
    /// secret; of cookies each value.
    pub(super) fn secrets(&self) -> Vec<&str> {
        const SECRET: [&str; 8] =
            ["auth", "cookie", "credential", "key", "password", "secret", "signature", "token"];
        let mut secrets: Vec<&str> = self.variable.iter().map(String::as_str).collect();
        if SECRET.iter().any(|word| self.name.contains(word)) {
            let has_scheme = |scheme: &&str| {
                let start = self.value.get(..scheme.len());
                !scheme.is_empty() && start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            };
            let scheme = SCHEMES.iter().find(|scheme| has_scheme(scheme)).map_or(0, |scheme| scheme.len());
            secrets.push(self.value[scheme..].trim());
        }
        if self.name.contains("cookie") {
            let cookies = self.value.split(';').filter_map(|cookie| cookie.split_once('='));
            secrets.extend(cookies.map(|(_, value)| value.trim().trim_matches('"')));
        }
        secrets.retain(|secret| !secret.is_empty());
        secrets
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn variable_of(header: &str, variable: &str) -> Result<String> {
    let value = env::var(variable).ok().filter(|value| !value.trim().is_empty());
    let message =
        || format!("the header `{header}` is made of the variable `{variable}`, which is not set; set it");
    Ok(value.ok_or_else(|| UsageError(message()))?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &str, expected: &[&str]) {
        let given = Header::parse(header).unwrap();
        let kept = given.kept();
        assert_eq!(SentHeader::of(&kept, &[given]).unwrap().secrets(), expected, "{header}");
    }

    #[test]
    fn nothing_behind_the_scheme_is_shown() {
        check("Authorization: Bearer abc def", &["abc def"]);
        check("authorization: basic YWJj", &["YWJj"]);
        check("Authorization: AWS4-HMAC Credential=x, Signature=y", &["AWS4-HMAC Credential=x, Signature=y"]);
        check("X-Api-Key: two words", &["two words"]);
        check(
            "Cookie: session=abc; theme=\"dark blue\"",
            &["session=abc; theme=\"dark blue\"", "abc", "dark blue"],
        );
        check("X-Team: ours", &[]);
    }

    #[test]
    fn what_a_variable_gives_is_shown_nowhere() {
        // A variable that every environment has.
        let path = env::var("PATH").unwrap();
        check("X-Team: $PATH", &[path.trim()]);
        check("Authorization: Bearer $PATH", &[path.trim(), path.trim()]);
    }
}
