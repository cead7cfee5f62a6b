//! Signs that every terminal can show: those of Unicode where it says that it knows them, and of ASCII elsewhere.

use std::env;
use std::ffi::OsStr;
use std::io::{IsTerminal as _, stdout};
use std::sync::OnceLock;

/// Gives the sign of Unicode, or what stands for it on a terminal that does not know it.
pub(crate) fn of(unicode: &'static str, ascii: &'static str) -> &'static str {
    static KNOWS_UNICODE: OnceLock<bool> = OnceLock::new();
    // Whoever reads a file or a pipe reads UTF-8, whatever the locale of the one that writes it.
    let knows = KNOWS_UNICODE
        .get_or_init(|| !stdout().is_terminal() || terminal_knows_unicode(|name| env::var_os(name)));
    if *knows { unicode } else { ascii }
}

/// Tells whether the terminal can do no more than print one line behind the other.
pub(crate) fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Tells whether the locale of a terminal is one of UTF-8; the first of these variables that says something counts.
fn terminal_knows_unicode<T: AsRef<OsStr>>(variable: impl Fn(&str) -> Option<T>) -> bool {
    if variable("TERM").is_some_and(|term| term.as_ref() == "dumb") {
        return false;
    }
    let said = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(&variable);
    let locale =
        said.map(|value| value.as_ref().to_string_lossy().to_lowercase()).find(|value| !value.is_empty());
    locale.is_some_and(|locale| locale.contains("utf-8") || locale.contains("utf8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], knows: bool) {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        assert_eq!(terminal_knows_unicode(variable), knows, "{variables:?}");
    }

    #[test]
    fn the_locale_says_which_signs_can_be_shown() {
        check(&[("LANG", "en_US.UTF-8")], true);
        check(&[("LANG", "C.utf8")], true);
        check(&[("LANG", "en_US.UTF-8"), ("LC_ALL", "C")], false);
        check(&[("LC_ALL", ""), ("LC_CTYPE", "C.UTF-8"), ("LANG", "C")], true);
        check(&[("LANG", "de_DE.ISO-8859-1")], false);
        check(&[("LANG", "C.UTF-8"), ("TERM", "dumb")], false);
        check(&[], false);
    }
}
