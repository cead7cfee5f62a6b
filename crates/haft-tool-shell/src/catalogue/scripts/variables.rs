/// Variables that change how things are shown and nothing else.
const HARMLESS: [&str; 19] = [
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "RUST_BACKTRACE",
    "TERM",
    "TZ",
];

/// Whether a program that gets `NAME=VALUE` in its environment, or a name alone, does the same as without it.
pub(in super::super) fn is_harmless_assignment(text: &str) -> bool {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    // Some of them are read as paths, and a terminal's description is looked for below them.
    HARMLESS.contains(&name) && !value.contains('/')
}

/// Whether a variable is one of the script's own, which no program looks at.
pub(in super::super) fn is_own_variable(name: &str) -> bool {
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name.bytes().all(is_lower)
        && !name.ends_with("_proxy")
        && !name.starts_with("npm_")
}
