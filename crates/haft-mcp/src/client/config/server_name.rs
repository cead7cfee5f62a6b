use haft_core::namespace;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The most characters that are told of a text that is no name.
const MOST_TOLD: usize = 64;

/// Names a server in the configuration of this host: at most 32 letters, digits, `-` and `_`.
///
/// No two `_` stand together and none at an end, since they part the server's name from that of a tool.
///
/// ```
/// use haft_mcp::ServerName;
///
/// let name: ServerName = "git-hub_2".parse()?;
/// assert_eq!(format!("{name}__create_issue"), "git-hub_2__create_issue");
/// # Ok::<(), haft_mcp::ServerNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(Arc<str>);

/// Says that a text cannot name a server.
///
/// ```
/// let error = "git hub".parse::<haft_mcp::ServerName>().map_err(|error| error.to_string());
/// assert!(error.is_err_and(|text| text.ends_with("rename it, for example to `git_hub`")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a server cannot be called `{text}`: a name has 1 to 32 letters, digits, `-` and single `_` inside; rename it, for \
     example to `{example}`"
)]
pub struct ServerNameError {
    text: String,
    example: String,
}

impl ServerName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name that is most like a text.
    pub(crate) fn nearest_to(text: &str) -> Self {
        Self(nearest(text).into())
    }
}

impl FromStr for ServerName {
    type Err = ServerNameError;

    fn from_str(text: &str) -> Result<Self, ServerNameError> {
        let example = nearest(text);
        if example == text { Ok(Self(text.into())) } else { Err(ServerNameError::of(text, example)) }
    }
}

impl ServerNameError {
    fn of(text: &str, example: String) -> Self {
        Self { text: text.chars().take(MOST_TOLD).collect(), example }
    }
}

/// The name that is most like a text; the text itself if it is one.
fn nearest(text: &str) -> String {
    let name = namespace(text);
    if name.is_empty() { "server".to_owned() } else { name }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_part_of_the_names_of_tools() {
        for name in ["github", "a", "my-server_2", &"x".repeat(32)] {
            assert_eq!(name.parse::<ServerName>().unwrap().as_str(), name);
        }
        for (text, example) in [
            ("", "server"),
            ("a__b", "a_b"),
            ("_a_", "a"),
            ("a b/c", "a_b_c"),
            ("é", "server"),
            (&*"y".repeat(33), &"y".repeat(32)),
        ] {
            let error = text.parse::<ServerName>().unwrap_err();
            assert_eq!(error.example, example);
            assert!(error.example.parse::<ServerName>().is_ok());
        }
    }
}
