/// Variables that change at most how a program shows what it has to say; so do those that begin with `LC_`.
const HARMLESS: [&str; 18] = [
    "CI",
    "CLICOLOR",
    "COLORTERM",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NODE_NO_WARNINGS",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "TERM",
    "TZ",
];

/// Whether a program that gets `NAME=VALUE` in its environment, or a name alone, does the same as without it.
pub(crate) fn is_harmless_assignment(text: &str) -> bool {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    // Some of them are read as paths, and a terminal's description is looked for below them.
    (HARMLESS.contains(&name) || name.starts_with("LC_")) && !value.contains('/')
}

/// Whether a variable is one of the script's own, which no program looks at.
pub(in super::super) fn is_own_variable(name: &str) -> bool {
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name.bytes().all(is_lower)
        && !name.ends_with("_proxy")
        && !name.starts_with("npm_")
}
