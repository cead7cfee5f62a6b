use std::fmt;

/// The most bytes of a text with its variables replaced.
const MOST_BYTES: usize = 64 * 1024;

/// Why a text cannot be expanded: names the variable and never a value.
///
/// ```
/// use haft_mcp::{ExpansionError, expand_variables};
///
/// let none_is_set = |_: &str| None;
/// let error = expand_variables("Bearer ${KEY}", &none_is_set);
/// assert_eq!(error, Err(ExpansionError::Unset("KEY".to_owned())));
/// assert_eq!(expand_variables("${KEY", &none_is_set), Err(ExpansionError::Unclosed));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpansionError {
    /// The variable is not set, and no default is written.
    Unset(String),
    /// A `${` has no `}`.
    Unclosed,
    /// What stands in the braces is no name of a variable.
    NotAName(String),
    /// The text is longer than 64 KiB once its variables are replaced.
    TooLong,
}

impl std::error::Error for ExpansionError {}

/// Replaces `${VAR}` by the variable's value and `${VAR:-default}` by the default if the variable is unset or empty.
///
/// `${env:VAR}`, as some editors write it, is `${VAR}`; `$${` stands for `${` itself. Values are not expanded again. This is how
/// files of servers are read; it is here for other files of the same host.
///
/// ```
/// let variable = |name: &str| (name == "KEY").then(|| "k-123".to_owned());
/// assert_eq!(haft_mcp::expand_variables("Bearer ${KEY}", &variable)?, "Bearer k-123");
/// assert_eq!(haft_mcp::expand_variables("${ZONE:-UTC}", &variable)?, "UTC");
/// # Ok::<(), haft_mcp::ExpansionError>(())
/// ```
///
/// # Errors
///
/// If a variable is not set and has no default, or if it is written in another way.
pub fn expand_variables(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, ExpansionError> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, behind) = (&rest[..at], &rest[at + 2..]);
        if let Some(before) = before.strip_suffix('$') {
            expanded.push_str(before);
            expanded.push_str("${");
            rest = behind;
            continue;
        }
        expanded.push_str(before);
        let (inner, behind) = behind.split_once('}').ok_or(ExpansionError::Unclosed)?;
        expanded.push_str(&value(inner, variable)?);
        if expanded.len() > MOST_BYTES {
            return Err(ExpansionError::TooLong);
        }
        rest = behind;
    }
    expanded.push_str(rest);
    if expanded.len() > MOST_BYTES { Err(ExpansionError::TooLong) } else { Ok(expanded) }
}

fn value(inner: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, ExpansionError> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    let name = name.strip_prefix("env:").unwrap_or(name);
    if !is_name(name) {
        return Err(ExpansionError::NotAName(name.chars().take(60).collect()));
    }
    match (variable(name), default) {
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(ExpansionError::Unset(name.to_owned())),
    }
}

fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
}

impl fmt::Display for ExpansionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset(name) => {
                write!(
                    f,
                    "the variable `{name}` is not set; set it, or write a default as in `${{{name}:-…}}`"
                )
            }
            Self::Unclosed => {
                f.write_str("a `${` is not closed by `}`; close it, or write `$${` for the text")
            }
            Self::NotAName(name) => {
                write!(
                    f,
                    "`${{{name}}}` is not a variable of the environment; write a name of letters, digits and `_`"
                )
            }
            Self::TooLong => {
                write!(f, "it has more than {} KiB with its variables replaced", MOST_BYTES / 1024)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<String, String> {
        let variable = |name: &str| match name {
            "TOKEN" => Some("s3cret".to_owned()),
            "NESTED" => Some("${TOKEN}".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        expand_variables(text, &variable).map_err(|error| error.to_string())
    }

    #[test]
    fn replaces_variables_by_their_values_once() {
        for (text, expanded) in [
            ("Bearer ${TOKEN}", "Bearer s3cret"),
            ("${TOKEN}${TOKEN}", "s3crets3cret"),
            ("${env:TOKEN}", "s3cret"),
            ("${MISSING:-a:-b}", "a:-b"),
            ("${EMPTY:-x}${EMPTY}", "x"),
            ("${NESTED}", "${TOKEN}"),
            ("$TOKEN costs $5 {x} $${TOKEN}", "$TOKEN costs $5 {x} ${TOKEN}"),
        ] {
            assert_eq!(check(text).as_deref(), Ok(expanded));
        }
    }

    #[test]
    fn fails_closed_and_names_only_the_variable() {
        for (text, error) in [
            (
                "${TOKEN} ${MISSING}",
                "the variable `MISSING` is not set; set it, or write a default as in `${MISSING:-…}`",
            ),
            ("${TOKEN", "a `${` is not closed by `}`; close it, or write `$${` for the text"),
            (
                "${input:key}",
                "`${input:key}` is not a variable of the environment; write a name of letters, digits and `_`",
            ),
            ("${}", "`${}` is not a variable of the environment; write a name of letters, digits and `_`"),
        ] {
            assert_eq!(check(text), Err(error.to_owned()));
        }
        assert!(check(&"${TOKEN}".repeat(20_000)).unwrap_err().contains("64 KiB"));
    }
}
