//! What may be a secret, told by its name and by itself.

/// Words in names of flags behind which secrets stand.
const WORDS: [&str; 10] =
    ["auth", "cookie", "credential", "header", "key", "passphrase", "passw", "pwd", "secret", "token"];

/// How keys of well-known services begin.
const STARTS: [&str; 12] =
    ["sk-", "sk_", "pk_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "eyJ"];

/// What stands ahead of a secret in the header `Authorization`.
const SCHEMES: [&str; 3] = ["Bearer ", "Basic ", "Token "];

/// Tells whether all of a value that could be a secret is variables: what is around them is punctuation or a scheme.
pub(crate) fn is_reference(value: &str) -> bool {
    without_scheme(value)
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

/// Writes a value with a variable in the place of what may be a secret.
pub(crate) fn reference(value: &str, variable: &str) -> String {
    let scheme = SCHEMES.iter().find(|scheme| value.starts_with(**scheme)).copied().unwrap_or_default();
    format!("{scheme}${{{variable}}}")
}

/// Gives a value without the scheme that stands ahead of a secret.
pub(crate) fn without_scheme(value: &str) -> &str {
    SCHEMES.iter().find_map(|scheme| value.strip_prefix(scheme)).unwrap_or(value)
}

/// Names a variable after what it is for.
pub(crate) fn variable(parts: &[&str]) -> String {
    let mut name = String::new();
    for part in parts {
        if !name.is_empty() {
            name.push('_');
        }
        let upper =
            part.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
        name.extend(upper);
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// Tells whether a text may be a secret by itself.
pub(crate) fn looks_secret(text: &str) -> bool {
    if STARTS.iter().any(|start| text.starts_with(start))
        || SCHEMES.iter().any(|scheme| text.contains(scheme))
    {
        return true;
    }
    // Keys are long and have letters and digits, and paths, addresses and names of packages have other signs.
    let is_long = text.len() >= 24 && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_=+".contains(c));
    is_long && text.chars().any(|c| c.is_ascii_digit()) && text.chars().any(|c| c.is_ascii_alphabetic())
}

/// Tells whether a secret stands behind a name, as in `--api-key`.
pub(crate) fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word)) || name == "-h"
}

/// Tells whether an address holds more than where a service is.
pub(crate) fn address_may_hold_secret(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else { return true };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let without = |text: &str| text.replace("${", "").contains(['?', '#']);
    host.contains('@') || without(rest) || path.split('/').any(looks_secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_are_references() {
        for reference in ["${KEY}", "Bearer ${KEY}", "Basic ${A_1}"] {
            assert!(is_reference(reference), "{reference}");
        }
        for other in
            ["", "key", "${KEY:-sk-123}", "${KEY}x", "x${KEY}", "Bearer sk", "${}", "${A}${B}", "$KEY"]
        {
            assert!(!is_reference(other), "{other}");
        }
    }

    #[test]
    fn what_may_be_a_secret_is_told_from_other_text() {
        for secret in
            ["sk-ant-1", "ghp_x", "Authorization: Bearer x", "0123456789abcdef0123456789abcdef", "eyJhbGciOi"]
        {
            assert!(looks_secret(secret), "{secret}");
        }
        for other in [
            "mcp-server-time",
            "--stdio",
            "/home/ann/projects/one/two/three",
            "@modelcontextprotocol/server-git",
            "-y",
        ] {
            assert!(!looks_secret(other), "{other}");
        }
        for secret in
            ["https://u:p@example.com", "https://example.com/mcp?key=1", "https://example.com/sk-1/mcp", "x"]
        {
            assert!(address_may_hold_secret(secret), "{secret}");
        }
        assert!(!address_may_hold_secret("https://mcp.example.com/v1/mcp"));
        assert_eq!(variable(&["my-server", "X-Api-Key"]), "MY_SERVER_X_API_KEY");
    }
}
